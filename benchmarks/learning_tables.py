"""The tables of docs/learning.md, from the files that `benchmarks.learning_scores` keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from crowdlogic.experiments.jobs import results
from crowdlogic.experiments.markdown import markdown, put_between
from crowdlogic.experiments.statistics import Mean, mean_of, paired

PAGE = Path("docs/learning.md")
Runs = Sequence[Mapping[str, Any]]


def headline(task: str) -> str:
    """The score that a task is judged by."""
    return "f1" if task == "ner" else "accuracy"


def values(runs: Runs, part: str, name: str) -> list[float]:
    """A score of every run at its chosen epoch, in percent."""
    return [100 * run["scores"][part][name] for run in runs]


def cell(found: Mean) -> str:
    """A mean and its interval."""
    return "" if not found.count else f"{found.mean:.2f} ± {found.half:.2f}" if found.count > 1 else f"{found.mean:.2f}"


def oracle(runs: Runs) -> list[float]:
    """The best inference over all epochs by training gold: an oracle choice."""
    return [100 * max(row["scores"]["inference"] for row in run["history"]) for run in runs]


def table(folder: Path, task: str, rows: Sequence[str], seeds: int) -> str:
    """One line per method: student, teacher, inference at the chosen epoch; for tags the strict scores, too."""
    name = headline(task)
    lines = []
    for row in rows:
        runs = results(folder, task, row, range(seeds))
        if not runs:
            continue
        learns = row not in ("gold", "majority", "dawid-skene", "glad")
        parts = [cell(mean_of(values(runs, part, name))) for part in ("student", "teacher", "inference")]
        strict = [cell(mean_of(values(runs, "inference", "strict f1")))] if task == "ner" else []
        best = cell(mean_of(oracle(runs))) if learns else ""
        seconds = f"{mean_of([run['seconds'] for run in runs]).mean:.0f}"
        epochs = f"{mean_of([run['chosen'] for run in runs]).mean:.1f}"
        lines.append((row, len(runs), *parts, *strict, best, epochs, seconds))
    extra = ["inference, strict"] if task == "ner" else []
    columns = ["method", "seeds", "student", "teacher", "inference", *extra, "oracle inference", "epoch", "seconds"]
    return markdown(columns, lines)


PRESET = {"sentiment": ", k 0.2", "sentiment-published": ", k 0.2"}
"""What the preset changes in the row of a task, which is the paper's Table 2."""


def pairs_of(task: str) -> list[tuple[str, str, str]]:
    """Which part of which row is compared with which other row."""
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


def differences(folder: Path, task: str, seeds: int) -> str:
    """Paired differences, seed by seed."""
    lines = []
    for part, first, second in pairs_of(task):
        name = headline(task)
        own = results(folder, task, first, range(seeds))
        other = results(folder, task, second.removeprefix("student of "), range(seeds))
        pairs = [(a, b) for a in own for b in other if a["seed"] == b["seed"]]
        if len(pairs) < 2:
            continue
        against = "student" if second.startswith("student of") else part
        found = paired(values([a for a, _ in pairs], part, name), values([b for _, b in pairs], against, name))
        lines.append(
            (
                f"{first} {part}",
                f"{second}" if second.startswith("student of") else f"{second} {against}",
                found.count,
                f"{found.difference:+.2f} ± {found.half:.2f}",
                f"{found.t:.1f}",
                f"{found.p:.4f}",
            )
        )
    return markdown(["", "against", "seeds", "difference", "t", "p (one-sided)"], lines)


FREE = {
    "no gold, items kept apart": "gold-free items",
    "no gold, items kept apart, no mean": "gold-free without a mean",
    "no gold, annotations kept apart": "gold-free annotations",
}
"""The rows that stop without gold, as the table calls them."""


def stopping(folder: Path, task: str, seeds: int) -> str:
    """What stopping without gold costs: the teacher's test score when each way of stopping is done."""
    whole = results(folder, task, f"logic-lncl{PRESET.get(task, '')}, all epochs", range(seeds))
    if not whole:
        return ""
    scores = [[100 * row["scores"]["test teacher"] for row in run["history"]] for run in whole]
    dev = [[row["stopping"] for row in run["history"]] for run in whole]
    ways = {
        "dev gold, patience 5": [own[kept(said, 5)] for own, said in zip(scores, dev, strict=True)],
        "the last of 30 epochs": [own[-1] for own in scores],
        "a random epoch (mean of all)": [sum(own) / len(own) for own in scores],
    }
    for way, row in FREE.items():
        runs = results(folder, task, f"{row}{PRESET.get(task, '')}", range(seeds))
        ways |= {way: values(runs, "teacher", headline(task))} if runs else {}
    lines = [(way, len(found), cell(mean_of(found))) for way, found in ways.items()]
    return markdown(["stopped by", "seeds", "teacher on test"], lines)


def kept(scores: Sequence[float], patience: int) -> int:
    """The epoch (from 0) that patience keeps."""
    best = 0
    for epoch, score in enumerate(scores):
        if score > scores[best]:
            best = epoch
        elif epoch - best >= patience:
            break
    return best


def weak(folder: Path, task: str, rows: Sequence[str], seeds: int) -> str:
    """One line per method: accuracy and F1 of the second class, on test and by inference."""
    lines = []
    for row in rows:
        runs = results(folder, task, row, range(seeds))
        if runs:
            parts = [("student", "accuracy"), ("student", "f1"), ("inference", "accuracy"), ("inference", "f1")]
            lines.append((row, len(runs), *(cell(mean_of(values(runs, *part))) for part in parts)))
    return markdown(["method", "seeds", "accuracy", "F1", "inference accuracy", "inference F1"], lines)


def write_tables(folder: Path, grid: Mapping[str, Sequence[str]], seeds: Mapping[str, int]) -> None:
    """Put every table into its place."""
    for task, rows in grid.items():
        if task.startswith(("weak", "labelme")):
            put_between(PAGE, task, weak(folder, task, rows, seeds[task]))
            continue
        shown = [row for row in rows if not row.startswith("gold-free") and not row.endswith("all epochs")]
        parts = [
            table(folder, task, shown, seeds[task]),
            differences(folder, task, seeds[task]),
            stopping(folder, task, seeds[task]),
        ]
        put_between(PAGE, task, "\n\n".join(part for part in parts if part.count("\n") > 1))
