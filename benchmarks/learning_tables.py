"""The tables of docs/learning.md, from the files that `benchmarks.learning_scores` keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.truth_tables import markdown, put_between
from crowdlogic.experiments.jobs import results
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


PAIRS = {
    "ner": [
        ("student", "logic-lncl, transitions", "aggnet"), ("teacher", "logic-lncl, transitions", "aggnet"),
        ("inference", "logic-lncl, transitions", "aggnet"),
    ],
    "sentiment": [
        ("teacher", "logic-lncl", "student of logic-lncl"), ("student", "logic-lncl", "aggnet"),
        ("teacher", "logic-lncl", "aggnet"), ("teacher", "logic-lncl", "gold"), ("inference", "logic-lncl", "aggnet"),
    ],
}  # fmt: skip


def differences(folder: Path, task: str, seeds: int) -> str:
    """Paired differences, seed by seed."""
    lines = []
    for part, first, second in PAIRS.get(task, []):
        name = headline(task)
        own = results(folder, task, first, range(seeds))
        other = own if second.startswith("student of") else results(folder, task, second, range(seeds))
        pairs = [(a, b) for a in own for b in other if a["seed"] == b["seed"]]
        if len(pairs) < 2:
            continue
        against = "student" if second.startswith("student of") else part
        found = paired(values([a for a, _ in pairs], part, name), values([b for _, b in pairs], against, name))
        lines.append((
            f"{first} {part}", f"{second}" if second.startswith("student of") else f"{second} {against}", found.count,
            f"{found.difference:+.2f} ± {found.half:.2f}", f"{found.t:.1f}", f"{found.p:.4f}",
        ))  # fmt: skip
    return markdown(["", "against", "seeds", "difference", "t", "p (one-sided)"], lines)


def stopping(folder: Path, task: str, rows: Sequence[str], seeds: int, patience: int = 5) -> str:
    """What stopping without gold gives: the teacher's test score at the epoch that each way of stopping takes."""
    lines = []
    for row in rows:
        runs = [run for run in results(folder, task, row, range(seeds)) if row.startswith("gold-free")]
        if not runs:
            continue
        ways: dict[str, list[float]] = {"labels kept apart": [], "dev gold": [], "last epoch": [], "random epoch": []}
        for run in runs:
            scores = [100 * epoch["scores"]["test teacher"] for epoch in run["history"]]
            ways["labels kept apart"].append(scores[stopped([e["stopping"] for e in run["history"]], patience)])
            dev = [e["scores"]["dev gold student"] for e in run["history"]]
            ways["dev gold"].append(scores[stopped(dev, patience)])
            ways["last epoch"].append(scores[-1])
            ways["random epoch"].append(sum(scores) / len(scores))
        lines.append((row, len(runs), *(cell(mean_of(found)) for found in ways.values())))
    columns = ["kept apart", "seeds", "by labels kept apart", "by dev gold", "last epoch", "random epoch"]
    return markdown(columns, lines)


def stopped(scores: Sequence[float], patience: int) -> int:
    """The epoch (from 0) that patience would have kept."""
    best = 0
    for epoch, score in enumerate(scores):
        if score > scores[best]:
            best = epoch
        elif epoch - best >= patience:
            break
    return best


def write_tables(folder: Path, grid: Mapping[str, Sequence[str]], seeds: Mapping[str, int]) -> None:
    """Put every table into its place."""
    for task, rows in grid.items():
        parts = [
            table(folder, task, [row for row in rows if not row.startswith("gold-free")], seeds[task]),
            differences(folder, task, seeds[task]),
            stopping(folder, task, rows, seeds[task]),
        ]
        put_between(PAGE, task, "\n\n".join(part for part in parts if part.count("\n") > 1))
