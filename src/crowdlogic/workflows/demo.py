"""The whole job once, on simulated data: what annotator models, a classifier and a rule each add to majority vote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from crowdlogic.data.answers import Answers
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.files import write_bytes
from crowdlogic.data.reading import write_estimate
from crowdlogic.data.simulate import Simulation, simulate_sentiment
from crowdlogic.errors import OptionError
from crowdlogic.learning.algorithm import LogicLNCL
from crowdlogic.learning.learned import Learned
from crowdlogic.learning.method import TrainingData
from crowdlogic.learning.saved_run import Run
from crowdlogic.learning.stopping import TrainingLimits
from crowdlogic.learning.training_run import train_run
from crowdlogic.metrics.agreement import agreement
from crowdlogic.metrics.scores import score
from crowdlogic.report.inputs import inputs_from_run
from crowdlogic.report.report import make_report
from crowdlogic.rules.parser import parse_rules
from crowdlogic.truth.comparison import MethodResult, compare_methods
from crowdlogic.truth.dependence import state_confidence
from crowdlogic.truth.methods import truth_method
from crowdlogic.workflows.inputs import ResultTable, check_outputs, percent
from crowdlogic.workflows.report import compare_itself, describe_page, report_explainer, timestamp, write_page
from crowdlogic.workflows.simulate import write_simulation

SHOWN_METHODS = ("majority", "wawa", "glad", "one-coin", "dawid-skene", "ebcc")
"""From counting votes to ever more of a model of who answers how."""

RULES = "# In \"A but B\", the clause B decides.\n1.0: Label(S, C) & After(S, 'but', B) -> Predicted(B, C)\n"

LABELS_PER_ITEM, CONTRAST = 3, 0.4
"""Three labels per review, as budgets go; four reviews in ten praise and blame, which is what the rule is about."""

DEFAULT_FOLDER = "crowdlogic-demo"

WITHOUT_RULE, WITH_RULE = "logic-lncl without rules", "logic-lncl"

SCORES = {"accuracy": "accuracy", "calibration_error": "calibration error", "new": "on new reviews"}
"""The scores and their names in the table."""


@dataclass(frozen=True, kw_only=True)
class DemoOptions:
    """The options of `run_demo`.

    Attributes:
        out: A folder for everything; None for a new one here.
        items: Number of reviews.
        seed: Random seed.
    """

    out: str | None = None
    items: int = 1000
    seed: int = 0


@dataclass(frozen=True, kw_only=True, eq=False)
class DemoResult:
    """What the demo shows.

    Attributes:
        simulation: The crowd.
        rows: The scores of each method.
        folder: Where everything is.
        example: An item whose answer the rule changed, if there is one.
    """

    simulation: Simulation
    rows: Sequence[dict[str, Any]]
    folder: Path
    example: Any

    @property
    def introduction(self) -> tuple[str, ...]:
        """The crowd in words."""
        alpha = krippendorff_alpha(self.simulation)["value"]
        counts = self.simulation.annotators["character"].value_counts(sort=True)
        crowd = ", ".join(f"{n} {character}" for character, n in counts.iter_rows())
        return f"{self.simulation.description}.", f"Krippendorff's alpha is {alpha:.3f}: {crowd}."

    @property
    def verdict(self) -> tuple[str, ...]:
        """What each part adds, in words."""
        points = {name: f"{100 * share:+.1f}" for name, share in gains(self.rows).items()}
        return (
            f"A model of the annotators (dawid-skene over majority): {points['annotators']} points.",
            f"A classifier that reads the reviews beside it: {points['classifier']} points.",
            f"Training with the rule that in 'A but B' B decides, over training without it: {points['rule']} points, "
            f"{points['rule_on_new']} on new reviews.",
        )

    @property
    def places(self) -> tuple[str, ...]:
        """Where everything is, and what to do next."""
        run, page = self.folder / "run", self.folder / "report.html"
        return (
            f"data, answers and a run -> {self.folder}; next: crowdlogic explain {run} {self.example}",
            f"whom to trust, which labels to check, which rules to keep -> {describe_page(page)}",
        )

    def table(self) -> ResultTable:
        """One row per method."""
        rows = [(row["method"], *(percent(row[name]) for name in SCORES)) for row in self.rows]
        title = "against the planted truth (simulated data)"
        return ResultTable(title=title, columns=["method", *SCORES.values()], rows=rows)

    def figures(self) -> dict[str, Any]:
        """The same as plain data."""
        return {
            "simulated": self.simulation.description,
            "agreement": krippendorff_alpha(self.simulation),
            "methods": list(self.rows),
            "gains": gains(self.rows),
        }


def run_demo(options: DemoOptions) -> DemoResult:
    """Simulate a crowd on which majority vote fails; run the methods; write data, answers, a run and a report on it."""
    folder = Path(options.out) if options.out is not None else free_folder(Path(DEFAULT_FOLDER))
    if (folder / "run").exists():
        raise OptionError(f"{options.out}: holds a run already. Name another folder, or remove it.")
    check_outputs((folder,))
    made = simulate_sentiment(options.seed, items=options.items, labels_per_item=LABELS_PER_ITEM, contrast=CONTRAST)
    compared = compare_methods([truth_method(name) for name in SHOWN_METHODS], made.labels, gold=_planted_truth(made))
    # The same calibrated confidence as `aggregate` writes, not the methods' own posteriors
    compared = [replace(one, estimate=state_confidence(made.labels, one.estimate)) for one in compared]
    data = TrainingData(corpus=made.corpus, labels=made.labels, rules=parse_rules(RULES, source="contrast.rules"))
    method = LogicLNCL(limits=TrainingLimits(seed=options.seed))
    without_rule = method.fit(data.corpus, data.labels)
    _write_data(folder, made, [one.estimate for one in compared])
    run = train_run(folder / "run", method, data)
    _write_report(folder, run, compared)
    rows = [score_row(one.name, one.estimate, made) for one in compared]
    for name, learned in ((WITHOUT_RULE, without_rule), (WITH_RULE, run.learned)):
        rows.append(score_row(name, learned.estimate, made, learned))
    return DemoResult(simulation=made, rows=rows, folder=folder, example=changed_item(run.learned))


def free_folder(wanted: Path) -> Path:
    """The folder of that name, or with the first number behind it that is still free."""
    names = (wanted.with_name(f"{wanted.name}-{n}") for n in count(2))
    return wanted if not wanted.exists() else next(name for name in names if not name.exists())


def _planted_truth(made: Simulation) -> Answers:
    return Answers(made.corpus.items, made.corpus.classes, np.asarray(made.corpus.gold), source="the planted truth")


def _write_data(folder: Path, made: Simulation, estimates: Sequence[Estimate]) -> None:
    """The data, the answers of every truth method, and the rule."""
    write_simulation(made, folder)
    write_bytes(folder / "contrast.rules", RULES.encode())
    for estimate in estimates:
        write_estimate(folder / f"{estimate.method}.csv", estimate)


def _write_report(folder: Path, run: Run, compared: Sequence[MethodResult]) -> None:
    inputs = inputs_from_run(run.record)
    report = make_report(
        inputs,
        title="demo",
        made_at=timestamp(),
        explain=report_explainer(run.learned),
        compared=[*compared, *compare_itself(inputs, set())],
    )
    write_page(folder / "report.html", report)


def score_row(name: str, estimate: Estimate, made: Simulation, learned: Learned | None = None) -> dict[str, Any]:
    """Score answers against the planted truth, as `evaluate` does; with what was learnt, also on unlabelled reviews."""
    scores = score(np.asarray(made.corpus.gold), estimate.answer, estimate.beliefs)
    new = None
    if learned is not None and made.test is not None:
        new = float((learned.predict(made.test).argmax(axis=1) == np.asarray(made.test.gold)).mean())
    return {"method": name, "accuracy": scores.accuracy, "calibration_error": scores.calibration_error, "new": new}


def gains(rows: Sequence[dict[str, Any]]) -> dict[str, float]:
    """What each part of the method adds to the accuracy."""
    by = {row["method"]: row for row in rows}
    return {
        "annotators": by["dawid-skene"]["accuracy"] - by["majority"]["accuracy"],
        "classifier": by[WITHOUT_RULE]["accuracy"] - by["dawid-skene"]["accuracy"],
        "rule": by[WITH_RULE]["accuracy"] - by[WITHOUT_RULE]["accuracy"],
        "rule_on_new": by[WITH_RULE]["new"] - by[WITHOUT_RULE]["new"],
    }


def changed_item(learned: Learned) -> Any:
    """An item whose answer the rule changed, if there is one: something to look into."""
    changed = learned.epoch.q_a.argmax(axis=1) != learned.epoch.q_f.argmax(axis=1)
    return learned.task.corpus.items[int(changed.argmax())]


def krippendorff_alpha(made: Simulation) -> dict[str, float]:
    """Krippendorff's alpha and its interval."""
    alpha = next(one for one in agreement(made.labels) if one.name == "alpha")
    return {"value": alpha.value, "low": alpha.low, "high": alpha.high}
