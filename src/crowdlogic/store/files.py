"""The one codec: every file is written whole or not at all, and is on the disk before it takes its name. Data only.

A file that cannot be decoded raises a FormatError that names it, a missing file a MissingDataError. Both end with the
`remedy`, which depends on what the file is part of.
"""

from __future__ import annotations

import errno
import hashlib
import io
import json
import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crowdlogic.data.files import atomic_write, draft_target, open_regular
from crowdlogic.data.formats.parquet import read_parquet
from crowdlogic.errors import (
    CrowdLogicError,
    DataError,
    FormatError,
    MissingDataError,
    MissingExtraError,
    json_reason,
    name_list,
)

Arrays: TypeAlias = Mapping[str, NDArray[Any]]
NamedArrays: TypeAlias = dict[str, NDArray[Any]]

DAMAGED_RUN = "The run is damaged."
MISSING_FILE = "The run is damaged, or it is not a run."


OS_ERROR = re.compile(r"\(os error ([0-9]+)\)")
"""How safetensors, which is written in Rust, quotes an error of the system: its number."""


def put_bytes(path: Path, content: bytes) -> str:
    """Write a file whole; its SHA-256."""
    with atomic_write(path) as draft, draft.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    return hashlib.sha256(content).hexdigest()


def put_json(path: Path, value: Any) -> str:
    """Write what JSON can hold; NaN and infinities become null. The file's SHA-256."""
    return put_bytes(path, json_bytes(value))


def json_bytes(value: Any) -> bytes:
    """Return what `put_json` writes."""
    return (json.dumps(to_plain(value), ensure_ascii=False, indent=1, allow_nan=False) + "\n").encode()


def put_lines(path: Path, rows: Iterable[Any]) -> str:
    """Write one JSON object per line; the file's SHA-256."""
    lines = (json.dumps(to_plain(row), ensure_ascii=False, allow_nan=False) + "\n" for row in rows)
    return put_bytes(path, "".join(lines).encode())


def put_arrays(path: Path, arrays: Arrays, *, metadata: Mapping[str, str] | None = None) -> str:
    """Write named arrays, and texts about them by name; the file's SHA-256."""
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    with atomic_write(path) as draft:
        # asarray and not ascontiguousarray, which would make a row out of a single number
        contiguous = {name: np.asarray(array, order="C") for name, array in arrays.items()}
        try:
            save_file(contiguous, draft, metadata=None if metadata is None else dict(metadata))
        except SafetensorError as problem:
            raise _system_error(problem) from problem
        return sync_file(draft)


def _system_error(problem: Exception) -> OSError:
    """Return what the system said when safetensors could not write, such as that the disk is full."""
    number = OS_ERROR.search(str(problem))
    code = errno.EIO if number is None else int(number[1])
    return OSError(code, os.strerror(code))


def put_table(path: Path, table: pl.DataFrame) -> str:
    """Write a table as Parquet; the file's SHA-256."""
    buffer = io.BytesIO()
    table.write_parquet(buffer)
    return put_bytes(path, buffer.getvalue())


def sync_file(draft: Path) -> str:
    """Have the file on the disk: a rename may otherwise overtake the content when a machine goes down. Its SHA-256."""
    with draft.open("rb+") as file:
        os.fsync(file.fileno())
        return hashlib.file_digest(file, "sha256").hexdigest()


def to_plain(value: Any) -> Any:
    """Return what JSON can hold: numbers of numpy as Python's, and null for NaN and infinities."""
    if isinstance(value, Mapping):
        return {str(key): to_plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(entry) for entry in value]
    if isinstance(value, np.ndarray | np.generic):
        return to_plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value


def get_json(path: Path, *, remedy: str = DAMAGED_RUN) -> Any:
    """Return what `put_json` wrote."""
    content = read_own_bytes(path)
    try:
        return json.loads(content.decode("utf-8"), parse_int=_parse_whole_number)
    except (ValueError, RecursionError) as problem:  # no UTF-8, no JSON, or nested too deep
        raise FormatError(f"{path}: is not valid JSON ({json_reason(problem)}). {remedy}") from problem


def get_lines(path: Path, *, remedy: str = DAMAGED_RUN) -> list[Any]:
    """Return what `put_lines` wrote."""
    content = read_own_bytes(path)
    try:
        lines = content.decode("utf-8").splitlines()
        return [json.loads(line, parse_int=_parse_whole_number) for line in lines]
    except (ValueError, RecursionError) as problem:
        raise FormatError(f"{path}: a line is not valid JSON ({json_reason(problem)}). {remedy}") from problem


MOST_DIGITS = 80
"""Digits that a whole number of a run may have: seeds are the longest, with 39. Floats end at 308."""


def _parse_whole_number(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"a number of {len(digits):,} digits")
    return int(digits)


def get_arrays(path: Path, *, remedy: str = DAMAGED_RUN) -> NamedArrays:
    """Return what `put_arrays` wrote."""
    return get_arrays_and_metadata(path, remedy=remedy)[0]


def get_arrays_and_metadata(path: Path, *, remedy: str = DAMAGED_RUN) -> tuple[NamedArrays, dict[str, str]]:
    """Return what `put_arrays` wrote: the arrays, and the texts about them."""
    from safetensors import SafetensorError, safe_open

    found = _existing(path)
    try:
        with safe_open(found, framework="numpy") as file:
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no mapping)
            return arrays, dict(file.metadata() or {})
    except (SafetensorError, KeyError) as problem:  # KeyError: a type of numbers that numpy does not have
        raise FormatError(f"{path}: holds no arrays ({problem}). {remedy}") from problem


def get_table(path: Path, *, remedy: str = DAMAGED_RUN) -> pl.DataFrame:
    """Return what `put_table` wrote."""
    found = _existing(path)
    try:
        with open_regular(found, follow=False) as file:  # a path would be taken for a pattern where it has brackets
            return read_parquet(file, str(path))
    except FormatError as problem:
        raise FormatError(f"{str(problem).rstrip('.')}. {remedy}") from problem
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as problem:
        raise FormatError(f"{path}: is not a Parquet table ({problem}). {remedy}") from problem


def read_own_bytes(path: Path) -> bytes:
    """Return the content of a file of a run, which is not a link to another."""
    with open_regular(_existing(path), follow=False) as file:
        return file.read()


def _existing(path: Path) -> Path:
    if path.is_symlink():
        raise FormatError(f"{path}: is a symbolic link. A run holds files of its own and nothing else.")
    if not path.is_file():
        raise MissingDataError(f"{path.parent}: no {path.name} in it. {MISSING_FILE}")
    return path


# Checksums: a SHA-256 of every file of a run or an estimate, so that a flipped bit or a mixed-up file is noticed.
#
# They are kept in SHA256SUMS, in the layout that `sha256sum --check` reads. They guard against accidents: who can
# change a file can change its checksum, too, so whatever is read is validated all the same.

CHECKSUMS = "SHA256SUMS"
OTHER_FILE = "is not the file that was written (its SHA-256 differs)."
LINE = re.compile(r"(?P<digest>[0-9a-f]{64})  (?P<name>[^\x00-\x1f]+)")


def sha256(content: bytes) -> str:
    """Return the checksum of bytes, in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def file_sha256(path: Path) -> str:
    """Return the checksum of a file."""
    with open_regular(path, follow=False) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def arrays_sha256(arrays: Arrays) -> str:
    """Return the checksum of named arrays: their names, types, shapes and numbers."""
    made = hashlib.sha256()
    for name in sorted(arrays):
        array = np.asarray(arrays[name], order="C")
        made.update(f"{name} {array.dtype.str} {array.shape} ".encode())
        made.update(array.reshape(-1).view(np.uint8).data)
    return made.hexdigest()


def write_checksums(folder: Path, sums: Mapping[str, str]) -> None:
    """Write the checksums of the files of a folder.

    Args:
        folder: The folder.
        sums: The SHA-256 of each file by its name in the folder, such as tables/Near.parquet.
    """
    lines = (f"{digest}  {name}\n" for name, digest in sorted(sums.items()))
    put_bytes(folder / CHECKSUMS, "".join(lines).encode())


def check_checksums(folder: Path, *, remedy: str = DAMAGED_RUN) -> frozenset[str]:
    """Return the names of the files that have a checksum, if each is byte by byte the one that was written.

    Args:
        folder: The folder.
        remedy: Advice in the error message.
    """
    listed = _read_checksums(folder / CHECKSUMS, remedy)
    for name, expected in listed.items():
        path = folder / name
        if not path.is_file():
            raise MissingDataError(f"{path.parent}: no {path.name} in it. {MISSING_FILE}")
        if file_sha256(path) != expected:
            raise FormatError(f"{path}: {OTHER_FILE} {remedy}")
    return frozenset(listed)


def _read_checksums(path: Path, remedy: str) -> dict[str, str]:
    """Return the checksum of each file by its name, which cannot lead out of the folder."""
    lines = read_own_bytes(path).decode("utf-8", errors="replace").splitlines()
    found = [LINE.fullmatch(line) for line in lines]
    sums = {match["name"]: match["digest"] for match in found if match is not None}
    if not sums or len(sums) != len(lines) or any(_leads_out(name) for name in sums):
        raise FormatError(f"{path}: is not a list of checksums. {remedy}")
    return sums


def _leads_out(name: str) -> bool:
    return name.startswith("/") or "\\" in name or any(part in ("", ".", "..") for part in name.split("/"))


# Damaged runs: one line that names the run, the file and what is wrong with it.
#
# A file is damaged if its decoder fails, or if a value has the wrong type, shape or range. Both are checked while a
# file is read and nowhere else: an AttributeError in a classifier is a bug and not reported as a damaged file.


class InvalidValueError(DataError):
    """A value of a file is not what was written. `reading` says of which run."""


@contextmanager
def reading(run: str | Path) -> Iterator[None]:
    """Decode and validate files of a run: a value that does not fit is reported as damage to that run.

    Args:
        run: Its folder.
    """
    try:
        yield
    except (FormatError, MissingDataError, MissingExtraError):
        raise  # these name the file, or what is not installed
    except CrowdLogicError as problem:
        if str(problem).startswith(f"{run}: "):
            raise
        raise damage_error(run, str(problem).rstrip(".")) from problem


def damage_error(run: str | Path, what: str) -> FormatError:
    """Return the error for a run that is not as it was written."""
    return FormatError(f"{run}: the run is damaged ({what}). Train it again, or bring back the file.")


def require(value: Any, kind: type | tuple[type, ...], name: str) -> Any:
    """Return a value of a file, if it is of its kind.

    Args:
        value: The value that was read.
        kind: The expected type.
        name: Name in messages.
    """
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise InvalidValueError(f"{name} is {value!r:.80}")
    return value


def require_entry(stored: Any, name: str, kind: type | tuple[type, ...] = object, *, where: str = "") -> Any:
    """Return an entry of a mapping in a file, if it is there and of its kind.

    Args:
        stored: The mapping that was read.
        name: The entry's name.
        kind: The expected type.
        where: Name of the mapping in messages.
    """
    mapping = require(stored, Mapping, where or "what holds " + name)
    if name not in mapping:
        raise InvalidValueError(f"no {name!r}")
    return require(mapping[name], kind, f"{where}: {name}" if where else name)


def require_numbers(stored: Any, name: str, *, entries: Sequence[str] | None = None) -> dict[str, Any]:
    """Return a mapping of numbers, where null, which JSON has for NaN, is NaN again.

    Args:
        stored: The mapping that was read.
        name: Name in messages.
        entries: The names of the numbers; any when not given.
    """
    found = require(stored, Mapping, name)
    if entries is not None and set(found) != set(entries):
        raise InvalidValueError(f"{name} has {name_list(found)} where {name_list(entries)} are expected")
    return {
        key: float("nan") if value is None else require(value, (int, float), f"{name}: {key}")
        for key, value in found.items()
    }


def require_bounded(options: Any, name: str, *, most: int = 100_000) -> None:
    """Refuse options of a run with a number that would take for ever: sizes of networks, numbers of iterations.

    Args:
        options: The options, nested.
        name: Name in messages.
        most: The largest whole number; seeds may be larger.
    """
    if isinstance(options, Mapping):
        for key, value in options.items():
            least = 10_000 if "iterations" in str(key) else most
            if "seed" not in str(key) and key != "random_state":
                require_bounded(value, f"{name}.{key}", most=least)
    elif isinstance(options, list):
        for value in options:
            require_bounded(value, name, most=most)
    elif isinstance(options, int | float) and abs(options) > most and math.isfinite(options):
        raise InvalidValueError(f"{name} is {options!r:.80}, which is beyond {most:,}")


LARGEST = 1e100
"""No number that a fit leaves is anywhere near this."""


def are_class_names(classes: Sequence[Any]) -> bool:
    """Return whether these can name classes: texts, or whole numbers, or true and false, each once."""
    kinds = {type(one) for one in classes}
    fit = kinds <= {str} or kinds <= {bool} or (kinds <= {int} and all(-(2**63) <= one < 2**63 for one in classes))
    is_text = not any("\ud800" <= sign <= "\udfff" for one in classes if isinstance(one, str) for sign in one)
    return fit and is_text and len(set(map(str, classes))) == len(classes)


def require_finite(value: Any, name: str) -> Any:
    """A value of a file, nested, if no number in it is infinite, or so large that arithmetic would make it so."""
    if isinstance(value, int | float) and abs(value) > LARGEST:
        raise InvalidValueError(f"{name} holds an infinite number")
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    for one in inner:
        require_finite(one, name)
    return value


ROUNDING = 1e-6
"""Tolerance for probabilities outside 0 and 1."""


def require_floats(array: NDArray[Any], shape: tuple[int, ...], name: str, *, gaps: bool = False) -> NDArray[Any]:
    """Return an array of a file, if it holds finite numbers in this shape.

    Args:
        array: The array that was read.
        shape: What is expected; -1 for any length.
        name: Name in messages.
        gaps: Whether it may hold NaN, too.
    """
    expected = tuple(found if size == -1 else size for found, size in zip(array.shape, shape, strict=False))
    require_shape(array, expected if array.ndim == len(shape) else shape, name)
    if array.dtype not in (np.float32, np.float64):
        raise InvalidValueError(f"{name} holds {array.dtype} where numbers with a fraction are expected")
    if not (np.isfinite(array) | (gaps & np.isnan(array))).all():
        raise InvalidValueError(f"{name} holds {'infinities' if gaps else 'NaN or infinities'}")
    return array


def require_shares(array: NDArray[Any], shape: tuple[int, ...], name: str, *, gaps: bool = False) -> NDArray[Any]:
    """An array of a file, if it holds probabilities in this shape; the arguments are those of `require_floats`."""
    found = require_floats(array, shape, name, gaps=gaps)
    with np.errstate(invalid="ignore"):
        if (found < -ROUNDING).any() or (found > 1 + ROUNDING).any():
            raise InvalidValueError(f"{name} contains values that are not probabilities")
    return found


def require_distributions(array: NDArray[Any], shape: tuple[int, ...], name: str) -> NDArray[Any]:
    """Return an array of a file, if its last axis holds probabilities that sum to one."""
    found = require_shares(array, shape, name)
    if found.shape[-1] and not (np.abs(found.sum(axis=-1) - 1) < 1e3 * ROUNDING).all():
        raise InvalidValueError(f"{name} holds probabilities that do not sum to one")
    return found


def require_codes(array: NDArray[Any], shape: tuple[int, ...], name: str, *, least: int, most: int) -> NDArray[Any]:
    """Return an array of a file, if it holds whole numbers from `least` to `most` in this shape."""
    require_shape(array, shape, name)
    if array.dtype.kind not in "iu":
        raise InvalidValueError(f"{name} holds {array.dtype} where whole numbers are expected")
    if array.size and not (least <= int(array.min()) and int(array.max()) <= most):
        raise InvalidValueError(f"{name} contains values that are not from {least} to {most}")
    return array


def require_shape(array: NDArray[Any], shape: tuple[int, ...], name: str) -> None:
    """Refuse an array of another shape.

    Args:
        array: The array that was read.
        shape: What is expected.
        name: Name in messages.
    """
    if array.shape != shape:
        raise InvalidValueError(f"{name} is {array.shape} where {shape} is expected")


# Files of a run must be regular files in its own folder, because a run may come from an untrusted source.
#
# Nothing in a run is followed that leads out of it: a symbolic link, a pipe or a device among its files is refused
# before anything is read, written or removed. Only files whose names the run itself gives are removed.


def check_own_files(folder: Path, subfolders: tuple[str, ...]) -> None:
    """Raise an error for a folder that contains, itself or in one of its subfolders, anything but files and folders.

    Args:
        folder: The run.
        subfolders: The names of the folders in it that the run writes to; others are left alone.
    """
    for entry in _entries(folder):
        if entry.name in subfolders:
            _require_folder(folder, entry)
            for inner in _entries(folder / entry.name):
                _require_file(folder, inner, f"{entry.name}/{inner.name}")
        elif not entry.is_dir(follow_symlinks=False):
            _require_file(folder, entry, entry.name)


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as found:
        yield from sorted(found, key=lambda entry: entry.name)


def _require_folder(folder: Path, entry: os.DirEntry[str]) -> None:
    if not entry.is_dir(follow_symlinks=False):
        raise _foreign_error(folder, entry.name, "no folder")


def _require_file(folder: Path, entry: os.DirEntry[str], name: str) -> None:
    if not entry.is_file(follow_symlinks=False):
        raise _foreign_error(folder, name, "no regular file")


def _foreign_error(folder: Path, name: str, what: str) -> FormatError:
    kind = "a symbolic link" if (folder / name).is_symlink() else what
    return FormatError(
        f"{folder}: {name} in it is {kind}. A run holds files of its own and nothing else: remove it, or take another "
        f"copy of the run."
    )


def make_own_folder(folder: Path, name: str) -> Path:
    """Return a folder of a run, made when it is not there; refused when it is a link or a file."""
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    if place.is_symlink():
        raise _foreign_error(folder, name, "no folder")
    return place


def remove_own_files(folder: Path, is_own: Callable[[str], bool]) -> None:
    """Remove the files in a folder that have a name of ours, and drafts of such; everything else stays.

    Args:
        folder: The folder; a link to another is left alone.
        is_own: Whether a file of this name is to go.
    """
    if folder.is_symlink() or not folder.is_dir():
        return
    for entry in _entries(folder):
        if is_own(draft_target(entry.name) or entry.name) and not entry.is_dir(follow_symlinks=False):
            (folder / entry.name).unlink(missing_ok=True)


def remove_drafts(folder: Path, subfolders: tuple[str, ...]) -> None:
    """Remove what a killed process left half-written in a run and in its own subfolders."""
    for place in (folder, *(folder / name for name in subfolders)):
        if place.is_symlink() or not place.is_dir():
            continue
        for entry in _entries(place):
            if draft_target(entry.name) is not None and entry.is_file(follow_symlinks=False):
                (place / entry.name).unlink(missing_ok=True)


# A run directory: the files in it, and how far the run is.
#
# config.json              method, model, seed, classes, rules and transitions, names of the inputs; the run's status
# model.safetensors        the classifier's arrays
# labels.parquet           item, answer, confidence, p_<class>; and the beliefs of classifier, crowd and rules
# truth.csv, truth.jsonl   the answers (of sentences: jsonl), for people and other programs; nothing here reads them
# annotators.parquet       one row per annotator
# annotators.safetensors   the annotator model's arrays, confusion[j, m, n] among them
# crowd.parquet            the labels that it learnt from, as codes
# items.parquet            the items themselves
# items.safetensors        their features, where they have any
# rules.json               the audit of every rule
# history.jsonl            one line per epoch
# refit.jsonl              the same of the second pass, with all labels, where there was one
# tables/, words/          the facts and word lists that rules speak of
# SHA256SUMS               the checksum of each of these, once the run is done
# checkpoint/              there while the fit runs; checkpoint-refit/ that of the second pass
#
# Every file is written whole or not at all. A directory may be moved: it needs nothing from outside, and a link to
# something outside is refused.
#
# Axes: j annotator, m true class, n given label.

CONFIG, HISTORY, REFIT_HISTORY, RULES = "config.json", "history.jsonl", "refit.jsonl", "rules.json"
MODEL, ANNOTATOR_ARRAYS, FEATURES = "model.safetensors", "annotators.safetensors", "items.safetensors"
CLEAN_LABELS, CLEAN_TAGS = "truth.csv", "truth.jsonl"
ANSWERS, ANNOTATORS, CROWD, ITEMS = "labels.parquet", "annotators.parquet", "crowd.parquet", "items.parquet"
TABLES, WORDS, CHECKPOINT, REFIT_CHECKPOINT = "tables", "words", "checkpoint", "checkpoint-refit"
FOLDERS = (TABLES, WORDS, CHECKPOINT, REFIT_CHECKPOINT)
"""The folders of a run; it touches no other."""

VERSION = 3
"""Of the layout: a run of another version is refused and not misread."""


class Status(StrEnum):
    """How far a run is."""

    running = "running"
    interrupted = "interrupted"
    done = "done"


def is_run(folder: Path) -> bool:
    """Return whether a run is here."""
    return (folder / CONFIG).is_file()


def read_config(folder: Path) -> dict[str, Any]:
    """Return the run's config.json."""
    if not is_run(folder):
        raise MissingDataError(f"{folder}: no {CONFIG} in it, so it is not a run. Name a folder that `train` wrote.")
    check_own_files(folder, FOLDERS)
    config = get_json(folder / CONFIG)
    if not isinstance(config, dict) or config.get("version") != VERSION or config.get("status") not in list(Status):
        raise FormatError(f"{folder / CONFIG}: is not a run of version {VERSION}. Train it again with this version.")
    return config


def set_status(folder: Path, status: Status) -> None:
    """Note how far the run is, if it is a run yet."""
    if is_run(folder):
        put_json(folder / CONFIG, read_config(folder) | {"status": status})


def last_epoch(folder: Path) -> str:
    """Return the last epoch of a run that is finished, in words; empty before the first."""
    first, refit = (_count_lines(folder / name) for name in (HISTORY, REFIT_HISTORY))
    if refit:
        return f"epoch {refit} of the second pass"
    return f"epoch {first}" if first else ""


def _count_lines(path: Path) -> int:
    return len(get_lines(path)) if path.is_file() else 0
