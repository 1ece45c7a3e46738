"""The paper's further studies, from the files of finished runs: fewer samples, other C and k, annotators, time."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from crowdlogic.experiments.markdown import markdown
from crowdlogic.experiments.paper import (
    SAMPLE_INFERENCE,
    SAMPLES,
    SIZES,
    sensitivity_rows,
    table_rows,
)
from crowdlogic.experiments.statistics import mean_of
from crowdlogic.experiments.tables import cell, measures, percents, runs_of

FEW = 5
"""Annotators with as many labels or fewer are left out, as in the paper: nothing can be known of them."""


def sample_table(folder: Path, task: str) -> str:
    """How good Logic-LNCL and AggNet are with fewer training items, and what the paper infers there."""
    name = measures(task)[-1]
    lines = []
    for size in sizes_of(task):
        logic, aggnet = (runs_of(folder, task, sized(row, size, task)) for row in ("logic-lncl", "aggnet"))
        if logic or aggnet:
            parts = [cell(percents(logic, part, name)) for part in ("student", "teacher")]
            said = SAMPLE_INFERENCE.get(task, {}).get(size)
            parts += [cell(percents(logic, "inference", name), said), cell(percents(aggnet, "student", name))]
            parts.append(cell(percents(aggnet, "inference", name)))
            lines.append((f"{size:,}", f"{len(logic)}/{len(aggnet)}", *parts))
    columns = ["samples", "seeds", "student", "teacher", "inference", "AggNet", "AggNet's inference"]
    return markdown(columns, lines)


def sizes_of(task: str) -> tuple[int, ...]:
    """The sizes of the study, the whole one last."""
    return (*SAMPLES[task], SIZES[task])


def sized(row: str, size: int, task: str) -> str:
    """A row with so many training items; the row itself when these are all."""
    return row if size == SIZES[task] else f"{row}, {size} samples"


def sensitivity_table(folder: Path, task: str) -> str:
    """The dev scores with another C or another k; those of Table 2 first."""
    name = measures(task)[-1]
    lines = []
    for row in ("logic-lncl", *sensitivity_rows()):
        runs = runs_of(folder, task, row)
        if runs:
            parts = [cell(percents(runs, part, name)) for part in ("dev student", "dev teacher", "inference")]
            lines.append((row.partition(", ")[2] or "as in Table 2", len(runs), *parts))
    return markdown(["", "seeds", "dev student", "dev teacher", "inference"], lines)


def patience_table(folder: Path, task: str, row: str) -> str:
    """What a row gains when it is not stopped: the best dev epoch of all that there are, beside patience 5."""
    name = measures(task)[-1]
    lines = []
    for label, found in (("patience 5", row), ("all epochs", f"{row}, all epochs")):
        runs = runs_of(folder, task, found)
        epoch = f"{mean_of([run['chosen'] for run in runs]).mean:.1f}" if runs else ""
        lines.append(
            (label, len(runs), epoch, *(cell(percents(runs, part, name)) for part in ("student", "inference")))
        )
    return markdown([row, "seeds", "epoch", "prediction", "inference"], lines)


def reliabilities(folder: Path, task: str) -> list[list[dict[str, Any]]]:
    """For each run, the annotators with more than a few labels."""
    runs = runs_of(folder, task, "annotators")
    return [[one for one in run["annotators"]["each"] if _is_known(one)] for run in runs]


def _is_known(one: dict[str, Any]) -> bool:
    return one["labels"] > FEW and one["estimated"] is not None and one["real"] is not None


def correlation(each: list[dict[str, Any]]) -> float:
    """Pearson's correlation of estimated and real overall reliability over annotators."""
    pairs = np.array([(one["estimated"], one["real"]) for one in each]).T
    return float(np.corrcoef(pairs)[0, 1])


def reliability_table(folder: Path, tasks: tuple[str, ...]) -> str:
    """The correlation of estimated with real reliability."""
    lines = []
    for task in tasks:
        found = reliabilities(folder, task)
        if found:
            values = [correlation(each) for each in found]
            apart = [float(np.mean([abs(one["estimated"] - one["real"]) for one in each])) for each in found]
            mean, gap = mean_of(values), mean_of(apart)
            lines.append((task, len(found), len(found[0]), f"{mean.mean:.3f} ± {mean.half:.3f}", f"{gap.mean:.3f}"))
    return markdown(["task", "seeds", "annotators", "correlation", "mean distance"], lines)


def time_table(folder: Path, tasks: tuple[str, ...], seed: int = 0) -> str:
    """How long one seed of every row of the tables takes, one process after the other."""
    lines: list[tuple[object, ...]] = []
    total = 0.0
    for task in tasks:
        each = [run["seconds"] for row in table_rows(task) for run in runs_of(folder, task, row) if run["seed"] == seed]
        total += sum(each)
        lines.append((task, len(each), f"{sum(each) / 60:.1f}"))
    lines.append(("together", "", f"{total / 60:.1f}"))
    return markdown(["task", "rows", "minutes of one process"], lines)


def file_table(folder: Path, task: str) -> list[dict[str, Any]]:
    """One entry per finished run: its scores, its time and the hash of its file."""
    found = []
    for path in sorted((folder / task).glob("*/seed*.json")):
        run = json.loads(path.read_text(encoding="utf-8"))
        scores = {
            f"{part} {name}": round(value, 6) for part, own in run["scores"].items() for name, value in own.items()
        }
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        known = {key: run[key] for key in ("task", "row", "seed", "chosen")}
        found.append(known | {"seconds": round(run["seconds"], 2), "sha256": digest} | scores)
    return sorted(found, key=lambda one: (one["row"], one["seed"]))
