"""Tables of the paper's further studies from finished runs: sample efficiency, C and k, annotators, patience, time."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from crowdlogic.extensions.paper.published import (
    SAMPLE_INFERENCE,
    SAMPLES,
    SIZES,
    sensitivity_rows,
    table_rows,
)
from crowdlogic.extensions.paper.results import FinishedRuns, RunResult, format_table, mean_interval, run_digest
from crowdlogic.extensions.paper.tables import format_cell, metric_names, percentages

AnnotatorScore: TypeAlias = dict[str, Any]
"""Record of an annotator in a run: name, labels, items, skill, estimated and real reliability."""

FEW_LABELS = 5
"""Annotators with at most this many labels are excluded, as in the paper, since these are too few for an estimate."""


def sample_table(runs: FinishedRuns, task: str) -> str:
    """Return the table of Logic-LNCL and AggNet with fewer training items, with the paper's inference scores."""
    metric = metric_names(task)[-1]
    lines = []
    for size in sample_sizes(task):
        logic, aggnet = (runs.row_runs(task, row_with_samples(row, size, task)) for row in ("logic-lncl", "aggnet"))
        if logic or aggnet:
            cells = [format_cell(percentages(logic, part, metric)) for part in ("student", "teacher")]
            paper = SAMPLE_INFERENCE.get(task, {}).get(size)
            cells.append(format_cell(percentages(logic, "inference", metric), paper))
            cells += [format_cell(percentages(aggnet, part, metric)) for part in ("student", "inference")]
            lines.append((f"{size:,}", f"{len(logic)}/{len(aggnet)}", *cells))
    columns = ["samples", "seeds", "student", "teacher", "inference", "AggNet", "AggNet's inference"]
    return format_table(columns, lines)


def sample_sizes(task: str) -> tuple[int, ...]:
    """Return the numbers of training items in the study, all items last."""
    return (*SAMPLES[task], SIZES[task])


def row_with_samples(row: str, size: int, task: str) -> str:
    """Return the row name for a number of training items; the row itself for all items."""
    return row if size == SIZES[task] else f"{row}, {size} samples"


def sensitivity_table(runs: FinishedRuns, task: str) -> str:
    """Return the table of dev scores with other values of C or k, after those of Table 2."""
    metric = metric_names(task)[-1]
    lines = []
    for row in ("logic-lncl", *sensitivity_rows()):
        own = runs.row_runs(task, row)
        if own:
            cells = [
                format_cell(percentages(own, part, metric)) for part in ("dev student", "dev teacher", "inference")
            ]
            lines.append((row.partition(", ")[2] or "as in Table 2", len(own), *cells))
    return format_table(["", "seeds", "dev student", "dev teacher", "inference"], lines)


def patience_table(runs: FinishedRuns, task: str, row: str) -> str:
    """Return the table of a row with and without early stopping: the best dev epoch of all, and with patience 5."""
    metric = metric_names(task)[-1]
    lines = []
    for label, name in (("patience 5", row), ("all epochs", f"{row}, all epochs")):
        own = runs.row_runs(task, name)
        epoch = f"{mean_interval([run['chosen'] for run in own]).mean:.1f}" if own else ""
        cells = [format_cell(percentages(own, part, metric)) for part in ("student", "inference")]
        lines.append((label, len(own), epoch, *cells))
    return format_table([row, "seeds", "epoch", "prediction", "inference"], lines)


def scored_annotators(run: RunResult) -> list[AnnotatorScore]:
    """Return the annotators of a run with enough labels and known reliability."""
    return [
        one
        for one in run["annotators"]["each"]
        if one["labels"] > FEW_LABELS and one["estimated"] is not None and one["real"] is not None
    ]


def reliability_correlation(annotators: list[AnnotatorScore]) -> float:
    """Return Pearson's correlation of estimated and real overall reliability over annotators."""
    pairs = np.array([(one["estimated"], one["real"]) for one in annotators])
    return float(np.corrcoef(pairs.T)[0, 1])


def reliability_table(runs: FinishedRuns, tasks: tuple[str, ...]) -> str:
    """Return the table of correlations of estimated and real reliability."""
    lines = []
    for task in tasks:
        by_run = [scored_annotators(run) for run in runs.row_runs(task, "annotators")]
        if by_run:
            correlation = mean_interval([reliability_correlation(annotators) for annotators in by_run])
            apart = [[abs(one["estimated"] - one["real"]) for one in annotators] for annotators in by_run]
            distance = mean_interval([float(np.mean(gaps)) for gaps in apart])
            said = f"{correlation.mean:.3f} ± {correlation.half_width:.3f}"
            lines.append((task, len(by_run), len(by_run[0]), said, f"{distance.mean:.3f}"))
    return format_table(["task", "seeds", "annotators", "correlation", "mean distance"], lines)


def time_table(runs: FinishedRuns, tasks: tuple[str, ...], *, seed: int = 0) -> str:
    """Return the table of the total time for one seed of every row, run sequentially."""
    lines: list[tuple[object, ...]] = []
    total = 0.0
    for task in tasks:
        rows = set(table_rows(task))
        seconds = [run["seconds"] for run in runs.task_runs(task) if run["row"] in rows and run["seed"] == seed]
        total += sum(seconds)
        lines.append((task, len(seconds), f"{sum(seconds) / 60:.1f}"))
    lines.append(("together", "", f"{total / 60:.1f}"))
    return format_table(["task", "rows", "minutes of one process"], lines)


def run_list(runs: FinishedRuns, task: str) -> list[dict[str, Any]]:
    """Return one entry per finished run: its scores, its time and the SHA-256 of its line in the results."""
    return [_run_entry(run) for run in runs.task_runs(task)]


def _run_entry(run: RunResult) -> dict[str, Any]:
    scores = {
        f"{part} {metric}": round(value, 6) for part, own in run["scores"].items() for metric, value in own.items()
    }
    entry = {key: run[key] for key in ("task", "row", "seed", "chosen")}
    return entry | {"seconds": round(run["seconds"], 2), "sha256": run_digest(run)} | scores
