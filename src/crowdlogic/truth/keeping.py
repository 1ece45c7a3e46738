"""An Estimate on disk: arrays in estimate.safetensors, names and the rest in estimate.json. Nothing in them can run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.data.estimate import Estimate
from crowdlogic.data.files import write_bytes
from crowdlogic.errors import FormatError, MissingDataError

ARRAYS, NAMES = "estimate.safetensors", "estimate.json"
FIELDS = ("beliefs", "answer", "offsets", "confusion", "reliability", "prior", "trace")
VERSION = 1


def save_estimate(folder: str | Path, estimate: Estimate) -> None:
    """Write an Estimate into a folder, which is made when it is not there."""
    from safetensors.numpy import save

    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    arrays = {name: getattr(estimate, name) for name in FIELDS}
    arrays |= {f"parameters.{name}": array for name, array in estimate.parameters.items()}
    present = {name: np.ascontiguousarray(array) for name, array in arrays.items() if array is not None}
    names = {
        "version": VERSION,
        "method": estimate.method,
        "classes": list(estimate.classes),
        "items": estimate.items.to_list(),
        "annotators": estimate.annotators.to_list(),
        "converged": estimate.converged,
        "tied": estimate.tied,
    }
    write_bytes(target / ARRAYS, save(present))
    write_bytes(target / NAMES, json.dumps(names, ensure_ascii=False).encode())


def load_estimate(folder: str | Path) -> Estimate:
    """Read what `save_estimate` wrote."""
    home = Path(folder)
    for file in (ARRAYS, NAMES):
        if not (home / file).is_file():
            raise MissingDataError(f"{home}: no {file} in it, so it holds no estimate. Name a folder that was saved.")
    names = _names(home / NAMES)
    arrays = _arrays(home / ARRAYS)
    missing = [name for name in ("beliefs", "answer", "trace") if name not in arrays]
    if missing:
        raise FormatError(f"{home / ARRAYS}: holds no {missing[0]}. Save the estimate again.")
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
        parameters={n.removeprefix("parameters."): a for n, a in arrays.items() if n.startswith("parameters.")},
    )


def _names(path: Path) -> dict[str, Any]:
    try:
        names = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, UnicodeDecodeError) as problem:
        raise FormatError(f"{path}: is no JSON ({problem}). Save the estimate again.") from problem
    needed = ("method", "classes", "items", "annotators", "converged", "tied")
    if not isinstance(names, dict) or names.get("version") != VERSION or any(name not in names for name in needed):
        raise FormatError(f"{path}: is no estimate of version {VERSION}. Save the estimate again.")
    return names


def _arrays(path: Path) -> dict[str, Any]:
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        return dict(load(path.read_bytes()))
    except SafetensorError as problem:
        raise FormatError(f"{path}: holds no arrays ({problem}). Save the estimate again.") from problem


def _series(names: list[Any]) -> pl.Series:
    return pl.Series(names) if names else pl.Series(names, dtype=pl.String)
