"""Tables of the paper with our scores from finished runs: Tables 3, 4 and 5, and those of its further studies.

The studies are about sample efficiency, C and k, annotators, patience and time. A cell has our mean over seeds ± half
its 95 % interval (standard deviation of single runs) / the paper's score.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np

from crowdlogic.extensions.paper.published import (
    BEYOND_TABLES,
    NER,
    SAMPLE_INFERENCE,
    SAMPLES,
    SENTIMENT,
    SIZES,
    T_VALUES,
    TABLE_5,
    TABLES,
    AblationLine,
    MethodLine,
    is_simulated,
    paper_task,
    sensitivity_rows,
    table_rows,
)
from crowdlogic.extensions.paper.results import (
    FinishedRuns,
    MeanInterval,
    RunResult,
    format_table,
    mean_interval,
    paired_difference,
    run_digest,
)

Runs: TypeAlias = Sequence[RunResult]

SPANS = ("precision", "recall", "f1")

INTERVAL = re.compile(r" ± [\d.]+( \([\d.]+\))?")
"""Pattern of the half-width and the standard deviation after a mean."""

CLEAR_DIFFERENCE = 1.0
"""Minimum difference in points for comparing the order of two methods with the paper's."""


def metric_names(task: str) -> tuple[str, ...]:
    """Return the metrics of a task, the headline metric last."""
    return SPANS if paper_task(task) == NER else ("accuracy",)


def percentages(runs: Runs, part: str, metric: str) -> list[float]:
    """Return one score of every run, in percent.

    Args:
        runs: The runs.
        part: Scored part: student, teacher, inference, dev student or dev teacher.
        metric: The metric.
    """
    return [100 * run["scores"][part][metric] for run in runs]


def format_cell(values: Sequence[float], paper: float | None = None) -> str:
    """Format our mean, followed by a slash and the paper's score."""
    suffix = "" if paper is None else f" / {paper:.2f}"
    if not values:
        return f"-{suffix}" if suffix else ""
    return format_mean(mean_interval(values)) + suffix


def format_mean(found: MeanInterval) -> str:
    """Format a mean ± half its interval (standard deviation)."""
    if found.count < 2:
        return f"{found.mean:.2f}"
    return f"{found.mean:.2f} ± {found.half_width:.2f} ({found.deviation:.2f})"


def methods_table(runs: FinishedRuns, task: str) -> str:
    """Return Table 3 or 4."""
    metrics = metric_names(task)
    columns = ["paradigm", "method", "seeds"]
    columns += [f"{part}: {metric}" for part in ("prediction", "inference") for metric in metrics]
    columns += ["average"] + (["inference: strict F1"] if len(metrics) > 1 else [])
    columns += ["oracle inference", "seconds"]
    table = format_table(columns, [_method_cells(runs, task, line) for line in _lines(runs, task)])
    return drop_intervals(table) if is_simulated(task) else table


def _lines(runs: FinishedRuns, task: str) -> tuple[MethodLine, ...]:
    """Return the lines of the paper's table, and finished ones beyond it."""
    beyond = BEYOND_TABLES[paper_task(task)]
    return (*TABLES[paper_task(task)], *(line for line in beyond if runs.row_runs(task, line.row)))


def drop_intervals(table: str) -> str:
    """Remove the intervals from a table, which are meaningless for a few runs on simulated data."""
    return INTERVAL.sub("", table)


def _method_cells(runs: FinishedRuns, task: str, line: MethodLine) -> list[object]:
    metrics = metric_names(task)
    if is_simulated(task):  # other data: not comparable with the paper's scores
        line = replace(line, prediction=(), inference=())
    own = runs.row_runs(task, line.row)
    inferring = own if line.inference_row is None else runs.row_runs(task, line.inference_row)
    cells: list[object] = [line.paradigm, line.name + (" (quoted)" if line.quoted else ""), len(own)]
    for index, metric in enumerate(metrics):
        values = [] if line.part is None else percentages(own, line.part, metric)
        cells.append(format_cell(values, line.prediction[index] if line.prediction else None))
    for index, metric in enumerate(metrics):
        values = percentages(inferring, "inference", metric)
        cells.append(format_cell(values, line.inference[index] if line.inference else None))
    cells.append(_average_cell(line, own, inferring, metrics[-1]))
    if len(metrics) > 1:
        cells.append(format_cell(percentages(inferring, "inference", "strict f1")))
    seconds = f"{mean_interval([run['seconds'] for run in own]).mean:.1f}" if own else ""
    return [*cells, format_cell(oracle_inference(own)), seconds]


def _average_cell(line: MethodLine, own: Runs, inferring: Runs, metric: str) -> str:
    """Format the mean of prediction and inference, ours and the paper's."""
    if line.part is None:
        return ""
    paper = (line.prediction[-1] + line.inference[-1]) / 2 if line.prediction and line.inference else None
    pairs = zip(percentages(own, line.part, metric), percentages(inferring, "inference", metric), strict=False)
    return format_cell([(a + b) / 2 for a, b in pairs], paper)


def oracle_inference(runs: Runs) -> list[float]:
    """Return the best inference score over all epochs (an oracle), if inference changes between epochs."""
    histories = [[epoch["scores"].get("inference") for epoch in run["history"]] for run in runs]
    return [100 * max(scores) for scores in histories if len(set(scores)) > 1]


def ablation_table(runs: FinishedRuns, tasks: tuple[str, str] = (SENTIMENT, NER)) -> str:
    """Return Table 5."""
    columns = ["method", "seeds"]
    columns += [f"{task} {part}" for task in ("sentiment", "NER") for part in ("prediction", "inference")]
    return format_table([*columns, "average"], [_ablation_cells(runs, line, tasks) for line in TABLE_5])


def _ablation_cells(runs: FinishedRuns, line: AblationLine, tasks: tuple[str, str]) -> list[object]:
    counts, columns = [], []
    for task, row, inference_row in zip(tasks, (line.sentiment, line.ner), line.inference_rows, strict=True):
        own = runs.row_runs(task, row)
        inferring = own if inference_row is None else runs.row_runs(task, inference_row)
        metric = metric_names(task)[-1]
        counts.append(str(len(own)))
        columns += [percentages(own, line.part, metric), percentages(inferring, "inference", metric)]
    average = f"{np.mean([np.mean(values) for values in columns]):.2f}" if all(columns) else "-"
    if is_simulated(tasks[0]):
        return [line.name, "/".join(counts), *map(format_cell, columns), average]
    cells = [format_cell(values, paper) for values, paper in zip(columns, line.paper, strict=False)]
    return [line.name, "/".join(counts), *cells, f"{average} / {line.paper[4]:.2f}"]


def significance_table(runs: FinishedRuns, tasks: tuple[str, ...] = (SENTIMENT, NER)) -> str:
    """Return one-sided t-tests of Logic-LNCL against AggNet, paired by seed, with the paper's t if available."""
    lines = [
        _significance_cells(runs, task, who, part)
        for task in tasks
        for who, part in (("student", "prediction"), ("teacher", "prediction"), ("student", "inference"))
    ]
    columns = ["task", "Logic-LNCL's", "pairs", "over AggNet's", "t", "p (one-sided)", "the paper's"]
    return format_table(columns, lines)


def _significance_cells(runs: FinishedRuns, task: str, who: str, part: str) -> list[object]:
    metric = metric_names(task)[-1]
    own, other = pair_by_seed(runs.row_runs(task, "logic-lncl"), runs.row_runs(task, "aggnet"))
    is_prediction = part == "prediction"
    found = paired_difference(
        percentages(own, who if is_prediction else "inference", metric),
        percentages(other, "student" if is_prediction else "inference", metric),
    )
    paper = T_VALUES.get((who, part)) if task == SENTIMENT else None
    name = f"{who}'s prediction" if is_prediction else "inference"
    if is_simulated(task):
        return [task, name, found.count, f"{found.mean:+.2f}", "too few seeds", "", ""]
    return [
        task,
        name,
        found.count,
        f"{found.mean:+.2f} ± {found.half_width:.2f}",
        f"{found.t:.2f}",
        f"{found.p:.2g}",
        "" if paper is None else f"t = {paper}, p < 0.01",
    ]


def pair_by_seed(first: Runs, second: Runs) -> tuple[Runs, Runs]:
    """Return the runs of two rows with common seeds, in the same order."""
    others = {run["seed"]: run for run in second}
    pairs = [(run, others[run["seed"]]) for run in first if run["seed"] in others]
    return [a for a, _ in pairs], [b for _, b in pairs]


def order_table(runs: FinishedRuns, task: str) -> str:
    """Return the pairs of methods that differ by more than a point in the paper and have the opposite order here."""
    if is_simulated(task):
        return "Not compared with the paper's order: these data are simulated."
    lines = []
    for part in ("prediction", "inference"):
        scores = [pair for line in TABLES[paper_task(task)] if (pair := _paper_and_ours(runs, task, line, part))]
        for (one, paper, own), (other, other_paper, other_own) in combinations(scores, 2):
            by, here = paper - other_paper, own - other_own
            if abs(by) > CLEAR_DIFFERENCE and by * here < 0:
                better, worse = (one, other) if by > 0 else (other, one)
                lines.append((part, better, worse, f"{abs(by):+.2f}", f"{-abs(here):+.2f}"))
    if not lines:
        return "All pairs of methods that differ by more than one point in the paper have the same order here."
    return format_table(["", "better in the paper", "than", "by", "here by"], list(dict.fromkeys(lines)))


def _paper_and_ours(runs: FinishedRuns, task: str, line: MethodLine, part: str) -> tuple[str, float, float] | None:
    """Return a method's name, the paper's headline score and ours; None if one of them is missing."""
    is_prediction = part == "prediction"
    paper = line.prediction if is_prediction else line.inference
    own = runs.row_runs(task, line.row if is_prediction else line.inference_row or line.row)
    scored = line.part if is_prediction else "inference"
    if not paper or not own or scored is None:
        return None
    return line.name, paper[-1], mean_interval(percentages(own, scored, metric_names(task)[-1])).mean


# Further studies: sample efficiency, C and k, annotators, patience, time.

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
