"""File formats of the store: every file is written atomically and synced to disk. Data only.

A file that cannot be decoded raises a FormatError with its name, a missing file a MissingDataError. Both messages end
with the `remedy`, which depends on the kind of data that the file belongs to.
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
"""Pattern of the number of a system error in messages of safetensors, which is written in Rust."""


def put_bytes(path: Path, content: bytes) -> str:
    """Write a file atomically and return its SHA-256."""
    with atomic_write(path) as draft, draft.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    return hashlib.sha256(content).hexdigest()


def put_json(path: Path, value: Any) -> str:
    """Write plain data as JSON, with null for NaN and infinities, and return the file's SHA-256."""
    return put_bytes(path, json_bytes(value))


def json_bytes(value: Any) -> bytes:
    """Return the bytes that `put_json` writes."""
    return (json.dumps(to_plain(value), ensure_ascii=False, indent=1, allow_nan=False) + "\n").encode()


def put_lines(path: Path, rows: Iterable[Any]) -> str:
    """Write one JSON object per line and return the file's SHA-256."""
    lines = (json.dumps(to_plain(row), ensure_ascii=False, allow_nan=False) + "\n" for row in rows)
    return put_bytes(path, "".join(lines).encode())


def put_arrays(path: Path, arrays: Arrays, *, metadata: Mapping[str, str] | None = None) -> str:
    """Write named arrays and text metadata, and return the file's SHA-256."""
    from safetensors import SafetensorError
    from safetensors.numpy import save_file

    with atomic_write(path) as draft:
        # asarray instead of ascontiguousarray, which would convert a scalar to a vector
        contiguous = {name: np.asarray(array, order="C") for name, array in arrays.items()}
        try:
            save_file(contiguous, draft, metadata=None if metadata is None else dict(metadata))
        except SafetensorError as problem:
            number = OS_ERROR.search(str(problem))  # such as that of a full disk
            code = errno.EIO if number is None else int(number[1])
            raise OSError(code, os.strerror(code)) from problem
        return sync_file(draft)


def put_table(path: Path, table: pl.DataFrame) -> str:
    """Write a table as Parquet and return the file's SHA-256."""
    buffer = io.BytesIO()
    table.write_parquet(buffer)
    return put_bytes(path, buffer.getvalue())


def sync_file(draft: Path) -> str:
    """Sync a file to disk, since a rename may reach the disk before the content; return the file's SHA-256."""
    with draft.open("rb+") as file:
        os.fsync(file.fileno())
        return hashlib.file_digest(file, "sha256").hexdigest()


def to_plain(value: Any) -> Any:
    """Convert values for JSON: numpy numbers to Python numbers, NaN and infinities to null."""
    if isinstance(value, Mapping):
        return {str(key): to_plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(entry) for entry in value]
    if isinstance(value, np.ndarray | np.generic):
        return to_plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value


def get_json(path: Path, *, remedy: str = DAMAGED_RUN) -> Any:
    """Read JSON written by `put_json`."""
    content = read_own_bytes(path)
    try:
        return json.loads(content.decode("utf-8"), parse_int=_parse_whole_number)
    except (ValueError, RecursionError) as problem:  # not UTF-8, not JSON, or nested too deeply
        raise FormatError(f"{path}: is not valid JSON ({json_reason(problem)}). {remedy}") from problem


def get_lines(path: Path, *, remedy: str = DAMAGED_RUN) -> list[Any]:
    """Read lines written by `put_lines`."""
    content = read_own_bytes(path)
    try:
        lines = content.decode("utf-8").splitlines()
        return [json.loads(line, parse_int=_parse_whole_number) for line in lines]
    except (ValueError, RecursionError) as problem:
        raise FormatError(f"{path}: a line is not valid JSON ({json_reason(problem)}). {remedy}") from problem


MOST_DIGITS = 80
"""Maximum number of digits of an integer in a run. Seeds have up to 39 digits."""


def _parse_whole_number(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"a number with {len(digits):,} digits")
    return int(digits)


def get_arrays(path: Path, *, remedy: str = DAMAGED_RUN) -> NamedArrays:
    """Read arrays written by `put_arrays`."""
    return get_arrays_and_metadata(path, remedy=remedy)[0]


def get_arrays_and_metadata(path: Path, *, remedy: str = DAMAGED_RUN) -> tuple[NamedArrays, dict[str, str]]:
    """Read arrays and their text metadata, written by `put_arrays`."""
    from safetensors import SafetensorError, safe_open

    found = _existing(path)
    try:
        with safe_open(found, framework="numpy") as file:
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (no mapping)
            return arrays, dict(file.metadata() or {})
    except (SafetensorError, KeyError) as problem:  # KeyError: a number type without an equivalent in numpy
        raise FormatError(f"{path}: cannot be read as safetensors ({problem}). {remedy}") from problem


def get_table(path: Path, *, remedy: str = DAMAGED_RUN) -> pl.DataFrame:
    """Read a table written by `put_table`."""
    found = _existing(path)
    try:
        with open_regular(found, follow=False) as file:  # polars would interpret brackets in a path as a pattern
            return read_parquet(file, str(path))
    except FormatError as problem:
        raise FormatError(f"{str(problem).rstrip('.')}. {remedy}") from problem
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as problem:
        raise FormatError(f"{path}: is not a Parquet table ({problem}). {remedy}") from problem


def read_own_bytes(path: Path) -> bytes:
    """Return the content of a file of a run; symbolic links raise an error."""
    with open_regular(_existing(path), follow=False) as file:
        return file.read()


def _existing(path: Path) -> Path:
    if path.is_symlink():
        raise FormatError(f"{path}: is a symbolic link. A run may only contain regular files.")
    if not path.is_file():
        raise MissingDataError(f"{path.parent}: {path.name} is missing. {MISSING_FILE}")
    return path


# Damaged runs are reported in one line with the run, the file and the problem.
#
# A file is damaged if it cannot be decoded, or if a value has the wrong type, shape or range. Only errors while reading
# are reported in this way: an AttributeError in a classifier is a bug, not a damaged file.


class InvalidValueError(DataError):
    """A value in a file is invalid. `reading` adds the name of the run."""


@contextmanager
def reading(run: str | Path) -> Iterator[None]:
    """Report invalid values and undecodable files within the context as damage of a run.

    Args:
        run: Folder of the run.
    """
    try:
        yield
    except (FormatError, MissingDataError, MissingExtraError):
        raise  # these messages already name the file, or the missing package
    except CrowdLogicError as problem:
        if str(problem).startswith(f"{run}: "):
            raise
        raise damage_error(run, str(problem).rstrip(".")) from problem


def damage_error(run: str | Path, what: str) -> FormatError:
    """Return the error for a damaged run."""
    return FormatError(f"{run}: the run is damaged ({what}). Train it again, or restore the file.")


def require(value: Any, kind: type | tuple[type, ...], name: str) -> Any:
    """Return a value from a file after checking its type.

    Args:
        value: The value.
        kind: The expected type.
        name: Name in messages.
    """
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise InvalidValueError(f"{name} is {value!r:.80}")
    return value


def require_entry(stored: Any, name: str, kind: type | tuple[type, ...] = object, *, where: str = "") -> Any:
    """Return an entry of a mapping from a file after checking that it exists and has the right type.

    Args:
        stored: The mapping.
        name: Name of the entry.
        kind: The expected type.
        where: Name of the mapping in messages.
    """
    mapping = require(stored, Mapping, where or "what holds " + name)
    if name not in mapping:
        raise InvalidValueError(f"no {name!r}")
    return require(mapping[name], kind, f"{where}: {name}" if where else name)


def require_numbers(stored: Any, name: str, *, entries: Sequence[str] | None = None) -> dict[str, Any]:
    """Return a mapping of numbers from a file, with NaN instead of null.

    Args:
        stored: The mapping.
        name: Name in messages.
        entries: Expected names of the numbers; any names if None.
    """
    found = require(stored, Mapping, name)
    if entries is not None and set(found) != set(entries):
        raise InvalidValueError(f"{name} contains {name_list(found)}, but {name_list(entries)} are expected")
    return {
        key: float("nan") if value is None else require(value, (int, float), f"{name}: {key}")
        for key, value in found.items()
    }


def require_bounded(options: Any, name: str, *, most: int = 100_000) -> None:
    """Raise an error for options with numbers that would take forever, such as huge networks or iterations.

    Args:
        options: The nested options.
        name: Name in messages.
        most: Maximum of integers; seeds may be larger.
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
        raise InvalidValueError(f"{name} is {options!r:.80}, which is more than {most:,}")


LARGEST = 1e100
"""Upper bound of all numbers in the result of a fit, for validation."""


def are_class_names(classes: Sequence[Any]) -> bool:
    """Return whether these are valid class names: unique text, integers or booleans."""
    kinds = {type(one) for one in classes}
    fit = kinds <= {str} or kinds <= {bool} or (kinds <= {int} and all(-(2**63) <= one < 2**63 for one in classes))
    is_text = not any("\ud800" <= sign <= "\udfff" for one in classes if isinstance(one, str) for sign in one)
    return fit and is_text and len(set(map(str, classes))) == len(classes)


def require_finite(value: Any, name: str) -> Any:
    """Return a nested value from a file after checking that its numbers are finite, and not so large as to overflow."""
    if isinstance(value, int | float) and abs(value) > LARGEST:
        raise InvalidValueError(f"{name} contains an infinite number")
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    for one in inner:
        require_finite(one, name)
    return value


ROUNDING = 1e-6
"""Tolerance for probabilities outside 0 and 1."""


def require_floats(array: NDArray[Any], shape: tuple[int, ...], name: str, *, gaps: bool = False) -> NDArray[Any]:
    """Return an array from a file after checking that it has finite numbers and this shape.

    Args:
        array: The array.
        shape: The expected shape; -1 for any length.
        name: Name in messages.
        gaps: Whether the array may contain NaN.
    """
    expected = tuple(found if size == -1 else size for found, size in zip(array.shape, shape, strict=False))
    require_shape(array, expected if array.ndim == len(shape) else shape, name)
    if array.dtype not in (np.float32, np.float64):
        raise InvalidValueError(f"{name} has type {array.dtype}, expected floating-point numbers")
    if not (np.isfinite(array) | (gaps & np.isnan(array))).all():
        raise InvalidValueError(f"{name} contains {'infinities' if gaps else 'NaN or infinities'}")
    return array


def require_shares(array: NDArray[Any], shape: tuple[int, ...], name: str, *, gaps: bool = False) -> NDArray[Any]:
    """Return an array from a file after checking that it has probabilities and this shape; see `require_floats`."""
    found = require_floats(array, shape, name, gaps=gaps)
    with np.errstate(invalid="ignore"):
        if (found < -ROUNDING).any() or (found > 1 + ROUNDING).any():
            raise InvalidValueError(f"{name} contains values that are not probabilities")
    return found


def require_distributions(array: NDArray[Any], shape: tuple[int, ...], name: str) -> NDArray[Any]:
    """Return an array from a file after checking that its last axis has probabilities that sum to one."""
    found = require_shares(array, shape, name)
    if found.shape[-1] and not (np.abs(found.sum(axis=-1) - 1) < 1e3 * ROUNDING).all():
        raise InvalidValueError(f"{name} contains probabilities that do not sum to one")
    return found


def require_codes(array: NDArray[Any], shape: tuple[int, ...], name: str, *, least: int, most: int) -> NDArray[Any]:
    """Return an array from a file after checking that it has integers from `least` to `most` and this shape."""
    require_shape(array, shape, name)
    if array.dtype.kind not in "iu":
        raise InvalidValueError(f"{name} has type {array.dtype}, expected integers")
    if array.size and not (least <= int(array.min()) and int(array.max()) <= most):
        raise InvalidValueError(f"{name} contains values that are not from {least} to {most}")
    return array


def require_shape(array: NDArray[Any], shape: tuple[int, ...], name: str) -> None:
    """Raise an error for an array with another shape.

    Args:
        array: The array.
        shape: The expected shape.
        name: Name in messages.
    """
    if array.shape != shape:
        raise InvalidValueError(f"{name} has shape {array.shape}, expected {shape}")


# Files of a run must be regular files in its folder, because a run may come from an untrusted source.
#
# A run with a symbolic link, a pipe or a device among its files is rejected before anything is read or changed. Only
# files with names that runs use are ever removed.


def check_own_files(folder: Path, subfolders: tuple[str, ...]) -> None:
    """Raise an error for a folder with anything but regular files and folders in it or in its subfolders.

    Args:
        folder: The run.
        subfolders: Names of the subfolders that the run writes to; others are ignored.
    """
    for entry in _entries(folder):
        is_folder = entry.is_dir(follow_symlinks=False)
        if entry.name in subfolders:
            if not is_folder:
                raise _foreign_error(folder, entry.name, "not a folder")
            for inner in _entries(folder / entry.name):
                if not inner.is_file(follow_symlinks=False):
                    raise _foreign_error(folder, f"{entry.name}/{inner.name}", "not a regular file")
        elif not is_folder and not entry.is_file(follow_symlinks=False):
            raise _foreign_error(folder, entry.name, "not a regular file")


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as found:
        yield from sorted(found, key=lambda entry: entry.name)


def _foreign_error(folder: Path, name: str, what: str) -> FormatError:
    kind = "a symbolic link" if (folder / name).is_symlink() else what
    return FormatError(
        f"{folder}: {name} in it is {kind}. A run may only contain regular files: remove it, or use another copy of "
        f"the run."
    )


def make_own_folder(folder: Path, name: str) -> Path:
    """Return a subfolder of a run, created if needed; raise an error if it is a link or a file."""
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    if place.is_symlink():
        raise _foreign_error(folder, name, "not a folder")
    return place


def remove_own_files(folder: Path, is_own: Callable[[str], bool]) -> None:
    """Remove the files in a folder with names used by crowdlogic, and drafts of these; keep all others.

    Args:
        folder: The folder; symbolic links are ignored.
        is_own: Function that returns whether a file with this name is removed.
    """
    _remove_files(folder, lambda name: is_own(draft_target(name) or name))


def _remove_files(folder: Path, is_removed: Callable[[str], bool]) -> None:
    """Remove the files in a folder for which the function returns True; symbolic links to folders are ignored."""
    if folder.is_symlink() or not folder.is_dir():
        return
    for entry in _entries(folder):
        if is_removed(entry.name) and not entry.is_dir(follow_symlinks=False):
            (folder / entry.name).unlink(missing_ok=True)


def remove_drafts(folder: Path, subfolders: tuple[str, ...]) -> None:
    """Remove incomplete files that a killed process left in a run and in its subfolders."""
    for place in (folder, *(folder / name for name in subfolders)):
        _remove_files(place, lambda name: draft_target(name) is not None)


# Layout of a run directory, and the status of a run.
#
# config.json              method, model, seed, classes, rules and transitions, names of the inputs; status of the run
# model.safetensors        arrays of the classifier
# labels.parquet           item, answer, confidence, p_<class>, and the beliefs of classifier, crowd and rules
# truth.csv, truth.jsonl   answers (jsonl for sentences) for users and other programs; never read by crowdlogic
# annotators.parquet       one row per annotator
# annotators.safetensors   arrays of the annotator model, including confusion[j, m, n]
# crowd.parquet            encoded labels for training
# items.parquet            items
# items.safetensors        features of the items, if any
# rules.json               audit of every rule
# history.jsonl            one line per epoch
# refit.jsonl              one line per epoch of the second pass, with all labels, if any
# tables/, words/          facts and word lists used by rules
# SHA256SUMS               checksums of all these files, once the run is done
# checkpoint/              exists during the fit; checkpoint-refit/ during the second pass
#
# Every file is written atomically. A run may be moved, because it needs no other files.
#
# Axes: j annotator, m true class, n given label.

CONFIG, HISTORY, REFIT_HISTORY, RULES = "config.json", "history.jsonl", "refit.jsonl", "rules.json"
MODEL, ANNOTATOR_ARRAYS, FEATURES = "model.safetensors", "annotators.safetensors", "items.safetensors"
CLEAN_LABELS, CLEAN_TAGS = "truth.csv", "truth.jsonl"
ANSWERS, ANNOTATORS, CROWD, ITEMS = "labels.parquet", "annotators.parquet", "crowd.parquet", "items.parquet"
TABLES, WORDS, CHECKPOINT, REFIT_CHECKPOINT = "tables", "words", "checkpoint", "checkpoint-refit"
FOLDERS = (TABLES, WORDS, CHECKPOINT, REFIT_CHECKPOINT)
"""Subfolders of a run; others are never changed."""

VERSION = 3
"""Version of the layout; runs of other versions are rejected."""


class Status(StrEnum):
    """Status of a run."""

    running = "running"
    interrupted = "interrupted"
    done = "done"


def is_run(folder: Path) -> bool:
    """Return whether a folder contains a run."""
    return (folder / CONFIG).is_file()


def read_config(folder: Path) -> dict[str, Any]:
    """Return the content of the run's config.json."""
    if not is_run(folder):
        raise MissingDataError(f"{folder}: contains no {CONFIG}, so it is not a run. Name a folder written by `train`.")
    check_own_files(folder, FOLDERS)
    config = get_json(folder / CONFIG)
    if not isinstance(config, dict) or config.get("version") != VERSION or config.get("status") not in list(Status):
        raise FormatError(f"{folder / CONFIG}: is not a run of version {VERSION}. Train it again with this version.")
    return config


def set_status(folder: Path, status: Status) -> None:
    """Record the status of a run, if it is a run already."""
    if is_run(folder):
        put_json(folder / CONFIG, read_config(folder) | {"status": status})


def last_epoch(folder: Path) -> str:
    """Describe the last finished epoch of a run; empty if there is none."""
    paths = (folder / HISTORY, folder / REFIT_HISTORY)
    first, refit = (len(get_lines(path)) if path.is_file() else 0 for path in paths)
    if refit:
        return f"epoch {refit} of the second pass"
    return f"epoch {first}" if first else ""
