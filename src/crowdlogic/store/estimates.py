"""Estimates on disk: arrays in estimate.safetensors, names and other data in estimate.json. Nothing can be executed."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import MISSING, asdict, fields
from enum import Enum
from pathlib import Path
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
import polars as pl

from crowdlogic.data.estimate import NO_ANSWER, Calibration, Estimate
from crowdlogic.data.files import make_folder, new_folder, written_together
from crowdlogic.errors import FormatError, MissingDataError, require_kind
from crowdlogic.store.checksums import CHECKSUMS, check_checksums, write_checksums
from crowdlogic.store.files import (
    InvalidValueError,
    NamedArrays,
    are_class_names,
    check_own_files,
    get_arrays,
    get_json,
    put_arrays,
    put_bytes,
    require,
    require_codes,
    require_distributions,
    require_floats,
    require_numbers,
    require_shares,
)

# Conversion of flat dataclasses to rows of JSON and back: the lines of a history, the audit of a rule.
#
# A row contains numbers, text, booleans and mappings of numbers. If a number is expected, null means NaN.

Record = TypeVar("Record")

JSON_TYPES: Mapping[Any, Any] = {float: (int, float), int: int, str: str, bool: bool}
"""JSON types of each Python type of a field."""


def decode_record(kind: type[Record], row: Any, name: str) -> Record:
    """Convert a row from a file to a dataclass; raise an error if a value has the wrong type.

    Args:
        kind: The dataclass.
        row: The row from the file.
        name: Name of the row in messages.
    """
    stored = require(row, Mapping, name)
    hints, known = get_type_hints(kind), {field.name: field for field in fields(kind)}  # type: ignore[arg-type]
    for entry in stored:
        if entry not in known:
            raise InvalidValueError(f"{name}: unknown entry {entry!r:.80}")
    for entry, field in known.items():
        if entry not in stored and field.default is MISSING and field.default_factory is MISSING:
            raise InvalidValueError(f"{name}: no {entry!r}")
    return kind(**{entry: _decode(hints[entry], value, f"{name}: {entry}") for entry, value in stored.items()})


def _decode(hint: Any, value: Any, name: str) -> Any:
    if get_origin(hint) is Mapping:
        return require_numbers(value, name)
    if NoneType in get_args(hint):
        return None if value is None else _decode(get_args(hint)[0], value, name)
    if hint is float and value is None:
        return float("nan")
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _decode_choice(hint, value, name)
    return require(value, JSON_TYPES[hint], name)


def _decode_choice(kind: type[Enum], value: Any, name: str) -> Enum:
    if value not in [one.value for one in kind]:
        raise InvalidValueError(f"{name} is {value!r:.80}")
    return kind(value)


ARRAYS, NAMES = "estimate.safetensors", "estimate.json"
FIELDS = ("beliefs", "answer", "offsets", "confusion", "reliability", "prior", "trace")
PARAMETERS = "parameters."
VERSION = 1
REMEDY = "Save the estimate again."

KINDS = {"method": str, "classes": list, "items": list, "annotators": list, "converged": bool, "tied": int}
"""Entries of estimate.json apart from the version."""


def save_estimate(folder: str | Path, estimate: Estimate) -> None:
    """Write an Estimate to a folder, which is created if needed."""
    require_kind(folder, (str, Path), "save_estimate", "The folder comes first: save_estimate(folder, estimate).")
    require_kind(
        estimate, Estimate, "save_estimate", "The second argument must be an Estimate: save_estimate(folder, estimate)."
    )
    target = Path(folder)
    arrays = {name: getattr(estimate, name) for name in FIELDS}
    arrays |= {f"{PARAMETERS}{name}": array for name, array in estimate.parameters.items()}
    names = {
        "version": VERSION,
        "method": estimate.method,
        "classes": list(estimate.classes),
        "items": estimate.items.to_list(),
        "annotators": estimate.annotators.to_list(),
        "converged": estimate.converged,
        "tied": estimate.tied,
        "calibration": None if estimate.calibration is None else asdict(estimate.calibration),
    }
    is_new = not target.exists() or (target.is_dir() and not any(target.iterdir()))
    with written_together():
        make_folder(target.parent)
        with new_folder(target) if is_new else nullcontext(target) as home:
            sums = {
                ARRAYS: put_arrays(home / ARRAYS, {name: array for name, array in arrays.items() if array is not None}),
                NAMES: put_bytes(home / NAMES, json.dumps(names, ensure_ascii=False).encode()),
            }
            write_checksums(home, sums)


def load_estimate(folder: str | Path) -> Estimate:
    """Read an Estimate written by `save_estimate`."""
    home = Path(folder)
    for file in (ARRAYS, NAMES):
        if not (home / file).is_file():
            raise MissingDataError(
                f"{home}: contains no {file}, so it is not an estimate. Name a folder written by "
                f"save_estimate or `aggregate --save`."
            )
    check_own_files(home, ())
    if check_checksums(home, remedy=REMEDY) != {ARRAYS, NAMES}:
        raise FormatError(f"{home / CHECKSUMS}: does not belong to an estimate. {REMEDY}")
    names, arrays = _read_names(home / NAMES), _read_arrays(home / ARRAYS)
    try:
        return _build(names, arrays)
    except (InvalidValueError, TypeError, OverflowError, ValueError, pl.exceptions.PolarsError) as problem:
        raise FormatError(f"{home}: the estimate is damaged ({problem!s:.200}). {REMEDY}") from problem


def _build(names: dict[str, Any], arrays: NamedArrays) -> Estimate:
    """Return the Estimate after checking the types, shapes and values of all arrays."""
    classes, items, annotators = tuple(names["classes"]), _series(names, "items"), _series(names, "annotators")
    if not are_class_names(classes):
        raise InvalidValueError(f"classes is {names['classes']!r:.80}")
    _check_arrays(arrays, n_items=len(items), n_annotators=len(annotators), n_classes=len(classes))
    return Estimate(
        method=names["method"],
        beliefs=arrays["beliefs"],
        answer=arrays["answer"],
        items=items,
        classes=classes,
        offsets=arrays.get("offsets"),
        annotators=annotators,
        confusion=arrays.get("confusion"),
        reliability=arrays.get("reliability"),
        prior=arrays.get("prior"),
        trace=arrays["trace"],
        converged=names["converged"],
        tied=names["tied"],
        calibration=read_calibration(names.get("calibration")),
        parameters={n.removeprefix(PARAMETERS): a for n, a in arrays.items() if n.startswith(PARAMETERS)},
    )


def _read_names(path: Path) -> dict[str, Any]:
    names = get_json(path, remedy=REMEDY)
    fits = isinstance(names, dict) and names.get("version") == VERSION
    if not fits or not all(isinstance(names.get(name), kind) for name, kind in KINDS.items()):
        raise FormatError(f"{path}: is not an estimate of version {VERSION}. {REMEDY}")
    return dict(names)


SHARPEST = 100.0
"""Upper bound of a fitted sharpness, for validation."""


def read_calibration(saved: Any) -> Calibration | None:
    """Return the calibration from plain data after checking its numbers; None for the method's own posterior."""
    if saved is None:
        return None
    found = decode_record(Calibration, saved, "calibration")
    shares = (found.correlation, found.doubt, found.counted)
    positive = (found.sharpness, found.span_slope)
    counts = [one for one in (found.fewest_wrong, found.most_wrong, found.effective_votes) if one is not None]
    fits = all(0 <= one <= 1 for one in shares) and all(0 < one < math.inf for one in positive)
    fits = fits and all(0 <= one < math.inf for one in counts)
    fits = fits and found.sharpness <= SHARPEST and min(found.anchors, found.checked) >= 0
    if not fits or not math.isfinite(found.span_shift):
        raise InvalidValueError(f"calibration is {saved!r:.80}")
    return found


def _read_arrays(path: Path) -> NamedArrays:
    arrays = get_arrays(path, remedy=REMEDY)
    missing = [name for name in ("beliefs", "answer", "trace") if name not in arrays]
    if missing:
        raise FormatError(f"{path}: {missing[0]} is missing. {REMEDY}")
    return arrays


def _check_arrays(arrays: NamedArrays, *, n_items: int, n_annotators: int, n_classes: int) -> None:
    """Raise an error unless every array has the expected shape and valid numbers."""
    n_units = n_items
    if "offsets" in arrays:
        n_units = sum(arrays["answer"].shape[:1])
        offsets = require_codes(arrays["offsets"], (n_items + 1,), "offsets", least=0, most=n_units)
        if offsets[0] != 0 or offsets[-1] != n_units or (np.diff(offsets.astype(np.int64)) < 0).any():
            raise InvalidValueError("offsets do not increase from 0 to the number of units")
    require_distributions(arrays["beliefs"], (n_units, n_classes), "beliefs")
    require_codes(arrays["answer"], (n_units,), "answer", least=NO_ANSWER, most=n_classes - 1)
    require_floats(arrays["trace"], (-1,), "trace", gaps=True)
    shapes = {"confusion": (n_annotators, n_classes, n_classes), "prior": (n_classes,)}
    for name in shapes.keys() & arrays.keys():
        require_shares(arrays[name], shapes[name], name, gaps=True)
    if "reliability" in arrays:
        require_floats(arrays["reliability"], (n_annotators,), "reliability", gaps=True)
    for name, array in arrays.items():
        if name.startswith(PARAMETERS):
            require_floats(array, (-1,) * array.ndim, name, gaps=True)


def _series(names: dict[str, Any], what: str) -> pl.Series:
    """Return the names of items or annotators, which must be unique text, numbers or booleans."""
    found = pl.Series(names[what], strict=True) if names[what] else pl.Series(names[what], dtype=pl.String)
    if found.dtype.is_nested() or found.dtype == pl.Object or found.null_count() or found.n_unique() != len(found):
        raise InvalidValueError(f"the names of the {what} must be different values, got {names[what]!r:.80}")
    return found
