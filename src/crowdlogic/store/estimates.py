"""An Estimate on disk: arrays in estimate.safetensors, names and the rest in estimate.json. Nothing in them can run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl

from crowdlogic.data.estimate import Estimate
from crowdlogic.errors import FormatError, MissingDataError
from crowdlogic.store.files import NamedArrays, get_arrays, get_json, put_arrays, put_bytes

ARRAYS, NAMES = "estimate.safetensors", "estimate.json"
FIELDS = ("beliefs", "answer", "offsets", "confusion", "reliability", "prior", "trace")
PARAMETERS = "parameters."
VERSION = 1
REMEDY = "Save the estimate again."

KINDS = {"method": str, "classes": list, "items": list, "annotators": list, "converged": bool, "tied": int}
"""What estimate.json holds, beside the version."""


def save_estimate(folder: str | Path, estimate: Estimate) -> None:
    """Write an Estimate into a folder, which is made when it is not there."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
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
    }
    put_arrays(target / ARRAYS, {name: array for name, array in arrays.items() if array is not None})
    put_bytes(target / NAMES, json.dumps(names, ensure_ascii=False).encode())


def load_estimate(folder: str | Path) -> Estimate:
    """Read what `save_estimate` wrote."""
    home = Path(folder)
    for file in (ARRAYS, NAMES):
        if not (home / file).is_file():
            raise MissingDataError(f"{home}: no {file} in it, so it holds no estimate. Name a folder that was saved.")
    names, arrays = _read_names(home / NAMES), _read_arrays(home / ARRAYS)
    return Estimate(
        method=names["method"],
        beliefs=arrays["beliefs"],
        answer=arrays["answer"],
        items=_series(names["items"]),
        classes=tuple(names["classes"]),
        offsets=arrays.get("offsets"),
        annotators=_series(names["annotators"]),
        confusion=arrays.get("confusion"),
        reliability=arrays.get("reliability"),
        prior=arrays.get("prior"),
        trace=arrays["trace"],
        converged=names["converged"],
        tied=names["tied"],
        parameters={n.removeprefix(PARAMETERS): a for n, a in arrays.items() if n.startswith(PARAMETERS)},
    )


def _read_names(path: Path) -> dict[str, Any]:
    names = get_json(path, remedy=REMEDY)
    fits = isinstance(names, dict) and names.get("version") == VERSION
    if not fits or not all(isinstance(names.get(name), kind) for name, kind in KINDS.items()):
        raise FormatError(f"{path}: is no estimate of version {VERSION}. {REMEDY}")
    return dict(names)


def _read_arrays(path: Path) -> NamedArrays:
    arrays = get_arrays(path, remedy=REMEDY)
    missing = [name for name in ("beliefs", "answer", "trace") if name not in arrays]
    if missing:
        raise FormatError(f"{path}: holds no {missing[0]}. {REMEDY}")
    return arrays


def _series(names: list[Any]) -> pl.Series:
    return pl.Series(names) if names else pl.Series(names, dtype=pl.String)
