"""Tables of docs/evidence/learning.md, built from the runs kept by `benchmarks.learning_scores`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crowdlogic.extensions.paper.results import (
    FinishedRuns,
    RunResult,
    fill_section,
    format_table,
    mean_interval,
    paired_difference,
)
from crowdlogic.extensions.paper.tables import pair_by_seed, percentages

Runs = Sequence[RunResult]

PRESET = {"sentiment": ", k 0.2", "sentiment-published": ", k 0.2"}
"""Option that the preset of each task adds to the row of the paper's Table 2."""

HELD_OUT_ROWS = {
    "no gold, held-out items": "gold-free items",
    "no gold, held-out items, no averaging": "gold-free without a mean",
    "no gold, held-out annotations": "gold-free annotations",
}
"""Rows with early stopping by held-out labels, by name in the table."""

NO_INFERENCE = ("gold", "majority", "dawid-skene", "glad")
"""Rows whose inference does not depend on the epoch."""


def headline(task: str) -> str:
    """Return the main metric of a task."""
    return "f1" if task == "ner" else "accuracy"


def format_mean(values: Sequence[float]) -> str:
    """Format a mean ± half its 95 % interval."""
    found = mean_interval(values)
    if not found.count:
        return ""
    return f"{found.mean:.2f} ± {found.half_width:.2f}" if found.count > 1 else f"{found.mean:.2f}"


def best_inference(runs: Runs) -> list[float]:
    """Return the best inference over all epochs, chosen by the training gold (an oracle)."""
    return [100 * max(epoch["scores"]["inference"] for epoch in run["history"]) for run in runs]


def methods_table(runs: FinishedRuns, task: str, rows: Sequence[str], seeds: int) -> str:
    """Return one line per method: student, teacher, inference at the chosen epoch; for tags also the strict scores."""
    found = [(row, runs.row_runs(task, row, seeds=seeds)) for row in rows]
    strict = ["inference, strict"] if task == "ner" else []
    columns = ["method", "seeds", "student", "teacher", "inference", *strict, "oracle inference", "epoch", "seconds"]
    return format_table(columns, [_method_cells(task, row, own) for row, own in found if own])


def _method_cells(task: str, row: str, runs: Runs) -> list[object]:
    metric = headline(task)
    cells: list[object] = [row, len(runs)]
    cells += [format_mean(percentages(runs, part, metric)) for part in ("student", "teacher", "inference")]
    if task == "ner":
        cells.append(format_mean(percentages(runs, "inference", "strict f1")))
    cells.append("" if row in NO_INFERENCE else format_mean(best_inference(runs)))
    cells.append(f"{mean_interval([run['chosen'] for run in runs]).mean:.1f}")
    return [*cells, f"{mean_interval([run['seconds'] for run in runs]).mean:.0f}"]


def comparisons(task: str) -> list[tuple[str, str, str]]:
    """Return which part of which row is compared with which other row, or with the student of the same row."""
    if task == "ner":
        return [(part, "logic-lncl", "aggnet") for part in ("student", "teacher", "inference")]
    return [
        pair
        for row in (f"logic-lncl{PRESET.get(task, '')}", "logic-lncl")
        for pair in (
            ("teacher", row, f"student of {row}"),
            ("student", row, "aggnet"),
            ("teacher", row, "aggnet"),
            ("teacher", row, "student of gold"),
            ("teacher", row, "gold"),
            ("inference", row, "aggnet"),
        )
    ]


def difference_table(runs: FinishedRuns, task: str, seeds: int) -> str:
    """Return the table of paired differences by seed."""
    metric = headline(task)
    lines = []
    for part, first, second in comparisons(task):
        is_student = second.startswith("student of ")
        own, other = pair_by_seed(
            runs.row_runs(task, first, seeds=seeds),
            runs.row_runs(task, second.removeprefix("student of "), seeds=seeds),
        )
        if len(own) < 2:
            continue
        against = "student" if is_student else part
        found = paired_difference(percentages(own, part, metric), percentages(other, against, metric))
        names = (f"{first} {part}", second if is_student else f"{second} {against}")
        difference = f"{found.mean:+.2f} ± {found.half_width:.2f}"
        lines.append((*names, found.count, difference, f"{found.t:.1f}", f"{found.p:.4f}"))
    return format_table(["", "against", "seeds", "difference", "t", "p (one-sided)"], lines)


def tagger_table(runs: FinishedRuns, rows: Sequence[str], seeds: int) -> str:
    """Return the table of the tagger of `--preset ner` without each of its parts."""
    found = [(row, runs.row_runs("ner", row, seeds=seeds)) for row in rows]
    columns = ["method", "seeds", "dev teacher", "student", "teacher", "inference", "epoch"]
    lines = []
    for row, own in found:
        if own:
            parts = ("dev teacher", "student", "teacher", "inference")
            cells = [format_mean(percentages(own, part, "f1")) for part in parts]
            lines.append((row, len(own), *cells, f"{mean_interval([run['chosen'] for run in own]).mean:.1f}"))
    return format_table(columns, lines)


def part_table(runs: FinishedRuns, rows: Sequence[str], seeds: int) -> str:
    """Return the paired differences by seed between the full tagger (first row) and each other row."""
    whole, lines = runs.row_runs("ner", rows[0], seeds=seeds), []
    for row in rows[1:]:
        own, other = pair_by_seed(whole, runs.row_runs("ner", row, seeds=seeds))
        if len(own) < 2:
            continue
        for part in ("teacher",) if row.startswith("gold-bilstm") else ("teacher", "inference"):
            found = paired_difference(percentages(own, part, "f1"), percentages(other, part, "f1"))
            difference = f"{found.mean:+.2f} ± {found.half_width:.2f}"
            lines.append((part, row, found.count, difference, f"{found.t:.1f}", f"{found.p:.4f}"))
    return format_table([f"{rows[0]}", "against", "seeds", "difference", "t", "p (one-sided)"], lines)


def stopping_table(runs: FinishedRuns, task: str, seeds: int) -> str:
    """Return the teacher's test scores by stopping criterion, which shows the loss from stopping without gold."""
    preset = PRESET.get(task, "")
    whole = runs.row_runs(task, f"logic-lncl{preset}, all epochs", seeds=seeds)
    if not whole:
        return ""
    tests = [[100 * epoch["scores"]["test teacher"] for epoch in run["history"]] for run in whole]
    dev = [[epoch["stopping"] for epoch in run["history"]] for run in whole]
    criteria = {
        "dev gold, patience 5": [scores[chosen_epoch(by, 5)] for scores, by in zip(tests, dev, strict=True)],
        "the last of 30 epochs": [scores[-1] for scores in tests],
        "a random epoch (mean of all)": [sum(scores) / len(scores) for scores in tests],
    }
    for name, row in HELD_OUT_ROWS.items():
        own = runs.row_runs(task, f"{row}{preset}", seeds=seeds)
        criteria |= {name: percentages(own, "teacher", headline(task))} if own else {}
    lines = [(name, len(scores), format_mean(scores)) for name, scores in criteria.items()]
    return format_table(["stopped by", "seeds", "teacher on test"], lines)


def chosen_epoch(scores: Sequence[float], patience: int) -> int:
    """Return the epoch (from 0) chosen by early stopping with this patience."""
    best = 0
    for epoch, score in enumerate(scores):
        if score > scores[best]:
            best = epoch
        elif epoch - best >= patience:
            break
    return best


def weak_table(runs: FinishedRuns, task: str, rows: Sequence[str], seeds: int) -> str:
    """Return one line per method: accuracy and F1 of the second class, on the test items and by inference."""
    lines = []
    for row in rows:
        own = runs.row_runs(task, row, seeds=seeds)
        if own:
            cells = [
                format_mean(percentages(own, part, metric))
                for part in ("student", "inference")
                for metric in ("accuracy", "f1")
            ]
            lines.append((row, len(own), *cells))
    return format_table(["method", "seeds", "accuracy", "F1", "inference accuracy", "inference F1"], lines)


def render_tagger(page: str, runs: FinishedRuns, rows: Sequence[str], seeds: int) -> str:
    """Return the page with the tables of the tagger filled in."""
    tables = (tagger_table(runs, rows, seeds), part_table(runs, rows, seeds))
    return fill_section(page, "tagger", "\n\n".join(tables))


def render_page(page: str, runs: FinishedRuns, grid: Mapping[str, Sequence[str]], seeds: Mapping[str, int]) -> str:
    """Return the page with the tables of every task filled in."""
    for task, rows in grid.items():
        if task.startswith(("weak", "labelme")):
            page = fill_section(page, task, weak_table(runs, task, rows, seeds[task]))
            continue
        shown = [row for row in rows if not row.startswith("gold-free") and not row.endswith("all epochs")]
        parts = [
            methods_table(runs, task, shown, seeds[task]),
            difference_table(runs, task, seeds[task]),
            stopping_table(runs, task, seeds[task]),
        ]
        page = fill_section(page, task, "\n\n".join(part for part in parts if part.count("\n") > 1))
    return page
