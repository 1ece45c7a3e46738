"""The paper's Tables 3, 4 and 5 with our figures: from the files of finished runs, never by hand.

A cell is our mean over seeds ± half its 95 % interval (standard deviation of single runs), a slash, and the paper's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from crowdlogic.experiments.jobs import results
from crowdlogic.experiments.markdown import markdown
from crowdlogic.experiments.paper import NER, SENTIMENT, T_VALUES, TABLE_5, TABLES, Ablation, Line, kind_of
from crowdlogic.experiments.statistics import Mean, mean_of, paired

Runs = Sequence[Mapping[str, Any]]

MOST_SEEDS = 1000

SPANS = ("precision", "recall", "f1")

CLEAR = 1.0
"""Points of difference from which on the paper's order of two methods should be ours, too."""


def measures(task: str) -> tuple[str, ...]:
    """What a task is scored by, the headline last."""
    return SPANS if kind_of(task) == NER else ("accuracy",)


def runs_of(folder: Path, task: str, row: str) -> Runs:
    """All runs of a row that are there, by seed."""
    return results(folder, task, row, range(MOST_SEEDS))


def percents(runs: Runs, part: str, measure: str) -> list[float]:
    """A score of every run, in percent."""
    return [100 * run["scores"][part][measure] for run in runs]


def cell(values: Sequence[float], paper: float | None = None) -> str:
    """Ours, and the paper's behind a slash."""
    said = "" if paper is None else f" / {paper:.2f}"
    if not values:
        return f"-{said}" if said else ""
    return shown(mean_of(values)) + said


def shown(found: Mean) -> str:
    """A mean ± half its interval (standard deviation)."""
    if found.count < 2:
        return f"{found.mean:.2f}"
    return f"{found.mean:.2f} ± {found.half:.2f} ({found.deviation:.2f})"


def results_table(folder: Path, task: str) -> str:
    """Table 3 or 4."""
    names = measures(task)
    columns = ["paradigm", "method", "seeds"]
    columns += [f"{part}: {name}" for part in ("prediction", "inference") for name in names]
    columns += ["average"] + (["inference: strict F1"] if len(names) > 1 else [])
    columns += ["oracle inference", "seconds"]
    return markdown(columns, [_result_line(folder, task, line) for line in TABLES[kind_of(task)]])


def _result_line(folder: Path, task: str, line: Line) -> list[object]:
    names = measures(task)
    own = runs_of(folder, task, line.row)
    inferring = own if line.inference is None else runs_of(folder, task, line.inference)
    cells: list[object] = [line.paradigm, line.name + (" (quoted)" if line.quoted else ""), len(own)]
    for place, name in enumerate(names):
        values = [] if line.part is None else percents(own, line.part, name)
        cells.append(cell(values, line.prediction[place] if line.prediction else None))
    for place, name in enumerate(names):
        cells.append(cell(percents(inferring, "inference", name), line.inferred[place] if line.inferred else None))
    cells.append(_average(line, own, inferring, names[-1]))
    if len(names) > 1:
        cells.append(cell(percents(inferring, "inference", "strict f1")))
    return [*cells, oracle(own), _seconds(own)]


def _average(line: Line, own: Runs, inferring: Runs, name: str) -> str:
    """The mean of prediction and inference, ours and the paper's."""
    if line.part is None:
        return ""
    said = (line.prediction[-1] + line.inferred[-1]) / 2 if line.prediction and line.inferred else None
    pairs = zip(percents(own, line.part, name), percents(inferring, "inference", name), strict=False)
    return cell([(a + b) / 2 for a, b in pairs], said)


def oracle(runs: Runs) -> str:
    """The best inference of any epoch, chosen by the training gold: nobody could choose so."""
    learning = [run for run in runs if len({row["scores"].get("inference") for row in run["history"]}) > 1]
    return cell([100 * max(row["scores"]["inference"] for row in run["history"]) for run in learning])


def _seconds(runs: Runs) -> str:
    return f"{mean_of([run['seconds'] for run in runs]).mean:.1f}" if runs else ""


def ablation_table(folder: Path, tasks: tuple[str, str] = (SENTIMENT, NER)) -> str:
    """Table 5."""
    columns = ["method", "seeds"]
    columns += [f"{task} {part}" for task in ("sentiment", "NER") for part in ("prediction", "inference")]
    return markdown([*columns, "average"], [_ablation_line(folder, line, tasks) for line in TABLE_5])


def _ablation_line(folder: Path, line: Ablation, tasks: tuple[str, str]) -> list[object]:
    counts, columns = [], []
    for task, row, other in zip(tasks, (line.sentiment, line.ner), line.inference, strict=True):
        own = runs_of(folder, task, row)
        counts.append(str(len(own)))
        name = measures(task)[-1]
        columns.append(percents(own, line.part, name))
        columns.append(percents(own if other is None else runs_of(folder, task, other), "inference", name))
    average = f"{np.mean([np.mean(values) for values in columns]):.2f}" if all(columns) else "-"
    cells = [cell(values, said) for values, said in zip(columns, line.paper, strict=False)]
    return [line.name, "/".join(counts), *cells, f"{average} / {line.paper[4]:.2f}"]


def against_aggnet(folder: Path, tasks: tuple[str, ...] = (SENTIMENT, NER)) -> str:
    """Logic-LNCL against AggNet: paired by seed, one-sided, with the paper's t where it has one."""
    lines = []
    for task in tasks:
        name = measures(task)[-1]
        for who, part in (("student", "prediction"), ("teacher", "prediction"), ("student", "inference")):
            mine, other = together(runs_of(folder, task, "logic-lncl"), runs_of(folder, task, "aggnet"))
            own = percents(mine, who if part == "prediction" else "inference", name)
            found = paired(own, percents(other, "student" if part == "prediction" else "inference", name))
            said = T_VALUES.get((who, part)) if kind_of(task) == SENTIMENT else None
            label = f"{who}'s prediction" if part == "prediction" else "inference"
            lines.append(
                (
                    task,
                    label,
                    found.count,
                    f"{found.difference:+.2f} ± {found.half:.2f}",
                    f"{found.t:.2f}",
                    f"{found.p:.2g}",
                    "" if said is None else f"t = {said}, p < 0.01",
                )
            )
    return markdown(["task", "Logic-LNCL's", "pairs", "over AggNet's", "t", "p (one-sided)", "the paper's"], lines)


def together(first: Runs, second: Runs) -> tuple[Runs, Runs]:
    """The runs of two rows with the seeds that both have."""
    other = {run["seed"]: run for run in second}
    pairs = [(run, other[run["seed"]]) for run in first if run["seed"] in other]
    return [a for a, _ in pairs], [b for _, b in pairs]


def order_table(folder: Path, task: str) -> str:
    """The pairs of methods that the paper sets more than a point apart and that stand the other way round with us."""
    lines = []
    for part in ("prediction", "inference"):
        found = [entry for line in TABLES[kind_of(task)] if (entry := _standing(folder, task, line, part)) is not None]
        for (one, said, own), (other, other_said, other_own) in combinations(found, 2):
            if abs(said - other_said) > CLEAR and (said - other_said) * (own - other_own) < 0:
                better, worse = (one, other) if said > other_said else (other, one)
                lines.append((part, better, worse, f"{abs(said - other_said):+.2f}", f"{-abs(own - other_own):+.2f}"))
    if not lines:
        return "In every pair of methods that the paper sets more than one point apart, the order is the same here."
    return markdown(["", "better in the paper", "than", "by", "here by"], list(dict.fromkeys(lines)))


def _standing(folder: Path, task: str, line: Line, part: str) -> tuple[str, float, float] | None:
    """A method's name, the paper's figure and ours; None where one of them is missing."""
    said = line.prediction if part == "prediction" else line.inferred
    own = runs_of(folder, task, line.row if part == "prediction" else line.inference or line.row)
    who = line.part if part == "prediction" else "inference"
    if not said or not own or who is None:
        return None
    return line.name, said[-1], mean_of(percents(own, who, measures(task)[-1])).mean
