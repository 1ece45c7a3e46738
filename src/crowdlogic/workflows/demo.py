"""Run all methods once on simulated data, to show what annotator models, a classifier and a rule add to majority vote.

All data are simulated: reviews with positive and negative sentiment, and the labels of a crowd.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Answers, Estimate
from crowdlogic.data.files import write_bytes
from crowdlogic.data.reading import write_estimate
from crowdlogic.data.simulate import Simulation, simulate_sentiment
from crowdlogic.errors import OptionError
from crowdlogic.learning.algorithm import LogicLNCL
from crowdlogic.learning.learned import Learned
from crowdlogic.learning.method import TrainingData
from crowdlogic.learning.saved_run import train_run
from crowdlogic.learning.stopping import TrainingLimits
from crowdlogic.metrics.agreement import agreement
from crowdlogic.metrics.scores import score
from crowdlogic.numerics.arrays import Bools
from crowdlogic.reporting.inputs import inputs_from_run
from crowdlogic.reporting.report import make_report
from crowdlogic.rules.parser import parse_rules
from crowdlogic.truth.comparison import compare_methods
from crowdlogic.truth.dependence import state_confidence
from crowdlogic.truth.methods import choose_method, truth_method
from crowdlogic.workflows.inputs import ResultTable, check_outputs, percent
from crowdlogic.workflows.report import compare_itself, describe_page, report_explainer, timestamp, write_page
from crowdlogic.workflows.simulate import write_simulation

SHOWN_METHODS = ("majority", "wawa", "glad", "one-coin", "dawid-skene", "ebcc", "ensemble", "pool")
"""Truth methods in the table, from counting votes to richer models of the annotators; includes the default method."""

RULES = "# In \"A but B\", the clause B decides.\n1.0: Label(S, C) & After(S, 'but', B) -> Predicted(B, C)\n"

LABELS_PER_ITEM, CONTRAST = 3, 0.4
"""A typical budget of three labels per review; the rule applies to the 40 % of reviews that are contrasts."""

DEFAULT_FOLDER = "crowdlogic-demo"

WITHOUT_RULE, WITH_RULE = "logic-lncl without the rule", "logic-lncl"

SCORES = {"accuracy": "accuracy", "calibration_error": "calibration error", "new": "on new reviews"}
"""Scores and their column names in the table."""


@dataclass(frozen=True, kw_only=True)
class DemoOptions:
    """The options of `run_demo`.

    Attributes:
        out: Output folder; None for a new one in the working directory.
        items: Number of reviews.
        seed: Random seed.
    """

    out: str | None = None
    items: int = 1000
    seed: int = 0


@dataclass(frozen=True, kw_only=True)
class ChangedAnswer:
    """An answer that differs between training with and without the rule.

    Attributes:
        item: Name of the item.
        text: Its text.
        before: Answer without the rule.
        after: Answer with the rule.
        truth: Planted truth.
    """

    item: str
    text: str
    before: str
    after: str
    truth: str

    def __str__(self) -> str:
        return f'{self.item} "{self.text}" {self.before} -> {self.after}; the planted truth is {self.truth}.'


@dataclass(frozen=True, kw_only=True, eq=False)
class RuleEffect:
    """The answers that change when the classifier is trained with the rule instead of without it.

    Attributes:
        corrected: Number of wrong answers that became right.
        spoiled: Number of right answers that became wrong.
        corrected_example: The corrected answer with the largest change in belief; None if there is none.
        spoiled_example: The same for spoiled answers.
    """

    corrected: int
    spoiled: int
    corrected_example: ChangedAnswer | None
    spoiled_example: ChangedAnswer | None

    @property
    def sentences(self) -> tuple[str, ...]:
        """The number of corrected and of spoiled answers, and one example of each."""
        counts = (
            f"Compared with training without it, {self.corrected:,} answers are corrected, {self.spoiled:,} spoiled:"
        )
        shown = {"corrected": self.corrected_example, "spoiled": self.spoiled_example}
        return counts, *(f"  {kind}: {one}" for kind, one in shown.items() if one is not None)


@dataclass(frozen=True, kw_only=True, eq=False)
class DemoResult:
    """The figures of the demo and the folder that it wrote.

    Attributes:
        simulation: The simulated reviews and their labels.
        rows: Scores of each method.
        folder: Folder with the data, the answers, the run and the report.
        default: Name of the default truth method.
        rule_effect: The answers that the rule changed.
    """

    simulation: Simulation
    rows: Sequence[dict[str, Any]]
    folder: Path
    default: str
    rule_effect: RuleEffect

    @property
    def introduction(self) -> tuple[str, ...]:
        """A description of the simulated crowd."""
        alpha = krippendorff_alpha(self.simulation)["value"]
        counts = self.simulation.annotators["character"].value_counts(sort=True)
        crowd = ", ".join(f"{n} {character}" for character, n in counts.iter_rows())
        return f"{self.simulation.description}.", f"Annotators: {crowd}. Krippendorff's alpha is {alpha:.3f}."

    @property
    def verdict(self) -> tuple[str, ...]:
        """What each part adds, one sentence each, and examples of what the rule changed."""
        points = {name: f"{100 * share:+.1f}" for name, share in gains(self.rows, self.default).items()}
        return (
            f"Modelling the annotators ({self.default}, the default, instead of majority): "
            f"{points['annotators']} points.",
            f"Training a classifier on the texts as well: {points['classifier']} points.",
            f"Training with the rule that clause B decides in 'A but B': {points['rule']} points, "
            f"{points['rule_on_new']} on new reviews.",
            *self.rule_effect.sentences,
        )

    @property
    def places(self) -> tuple[str, ...]:
        """Where the outputs are, and a command to try next."""
        run, page = self.folder / "run", self.folder / "report.html"
        effect = self.rule_effect
        example = effect.corrected_example or effect.spoiled_example
        item = self.simulation.corpus.items[0] if example is None else example.item
        return (
            f"data, answers and a run -> {self.folder}; next: crowdlogic explain {run} {item}",
            f"whom to trust, which labels to check, which rules to keep -> {describe_page(page)}",
        )

    def table(self) -> ResultTable:
        """Return one row per method."""
        titles = {self.default: f"{self.default} (default)", WITH_RULE: f"{WITH_RULE} with the rule"}
        rows = [
            (titles.get(row["method"], row["method"]), *(percent(row[name], digits=1) for name in SCORES))
            for row in self.rows
        ]
        title = "against the planted truth (simulated data)"
        return ResultTable(title=title, columns=["method", *SCORES.values()], rows=rows)

    def figures(self) -> dict[str, Any]:
        """Return the results as plain data."""
        return {
            "simulated": self.simulation.description,
            "agreement": krippendorff_alpha(self.simulation),
            "methods": list(self.rows),
            "default": self.default,
            "gains": gains(self.rows, self.default),
            "rule": asdict(self.rule_effect),
        }


def run_demo(options: DemoOptions) -> DemoResult:
    """Simulate a crowd on which majority vote fails, run the methods, and write data, answers, a run and a report."""
    folder = Path(options.out) if options.out is not None else free_folder(Path(DEFAULT_FOLDER))
    if (folder / "run").exists():
        raise OptionError(f"{options.out}: this folder already contains a run. Name another folder, or remove it.")
    check_outputs((folder,))
    made = simulate_sentiment(options.seed, items=options.items, labels_per_item=LABELS_PER_ITEM, contrast=CONTRAST)
    truth = Answers(made.corpus.items, made.corpus.classes, np.asarray(made.corpus.gold), source="the planted truth")
    compared = compare_methods([truth_method(name) for name in SHOWN_METHODS], made.labels, gold=truth)
    # The same calibrated confidence as `aggregate` writes, not the methods' own posteriors
    compared = [replace(one, estimate=state_confidence(made.labels, one.estimate)) for one in compared]
    data = TrainingData(corpus=made.corpus, labels=made.labels, rules=parse_rules(RULES, source="contrast.rules"))
    method = LogicLNCL(limits=TrainingLimits(seed=options.seed))
    without_rule = method.fit(data.corpus, data.labels)
    write_simulation(made, folder)
    write_bytes(folder / "contrast.rules", RULES.encode())
    for one in compared:
        write_estimate(folder / f"{one.estimate.method}.csv", one.estimate)
    run = train_run(folder / "run", method, data)
    inputs = inputs_from_run(run.record)
    shown = [*compared, *compare_itself(inputs, set())]
    explain = report_explainer(run.learned)
    report = make_report(inputs, title="demo", made_at=timestamp(), explain=explain, compared=shown)
    write_page(folder / "report.html", report)
    rows = [score_row(one.name, one.estimate, made) for one in compared]
    for name, learned in ((WITHOUT_RULE, without_rule), (WITH_RULE, run.learned)):
        rows.append(score_row(name, learned.estimate, made, learned))
    return DemoResult(
        simulation=made,
        rows=rows,
        folder=folder,
        default=choose_method(made.labels)[0],
        rule_effect=compare_answers(without_rule.estimate, run.learned.estimate, made.corpus),
    )


def free_folder(wanted: Path) -> Path:
    """Return the path, with the first free number appended if it already exists."""
    names = (wanted.with_name(f"{wanted.name}-{n}") for n in count(2))
    return wanted if not wanted.exists() else next(name for name in names if not name.exists())


def score_row(name: str, estimate: Estimate, made: Simulation, learned: Learned | None = None) -> dict[str, Any]:
    """Score answers against the planted truth; given a trained model, also score it on unlabelled reviews."""
    scores = score(np.asarray(made.corpus.gold), estimate.answer, estimate.beliefs)
    new = None
    if learned is not None and made.test is not None:
        new = float((learned.predict(made.test).argmax(axis=1) == np.asarray(made.test.gold)).mean())
    return {"method": name, "accuracy": scores.accuracy, "calibration_error": scores.calibration_error, "new": new}


def gains(rows: Sequence[dict[str, Any]], default: str) -> dict[str, float]:
    """Return the accuracy that each part adds."""
    by = {row["method"]: row for row in rows}
    return {
        "annotators": by[default]["accuracy"] - by["majority"]["accuracy"],
        "classifier": by[WITHOUT_RULE]["accuracy"] - by[default]["accuracy"],
        "rule": by[WITH_RULE]["accuracy"] - by[WITHOUT_RULE]["accuracy"],
        "rule_on_new": by[WITH_RULE]["new"] - by[WITHOUT_RULE]["new"],
    }


def compare_answers(without: Estimate, with_rule: Estimate, corpus: Corpus) -> RuleEffect:
    """Count the answers that the rule corrected and spoiled, and pick the clearest example of each."""
    truth = np.asarray(corpus.gold)
    was_right, is_right = without.answer == truth, with_rule.answer == truth
    # change[i]: how much belief in the truth of review i the rule added or took away
    rows = np.arange(len(truth))
    change = np.abs(with_rule.beliefs[rows, truth] - without.beliefs[rows, truth])

    def example(changed: Bools) -> ChangedAnswer | None:
        if not changed.any() or corpus.texts is None:
            return None
        i = int(np.where(changed, change, -1.0).argmax())
        before, after, gold = (str(corpus.classes[int(one[i])]) for one in (without.answer, with_rule.answer, truth))
        return ChangedAnswer(item=str(corpus.items[i]), text=corpus.texts[i], before=before, after=after, truth=gold)

    corrected, spoiled = is_right & ~was_right, was_right & ~is_right
    return RuleEffect(
        corrected=int(corrected.sum()),
        spoiled=int(spoiled.sum()),
        corrected_example=example(corrected),
        spoiled_example=example(spoiled),
    )


def krippendorff_alpha(made: Simulation) -> dict[str, float]:
    """Return Krippendorff's alpha and its interval."""
    alpha = next(one for one in agreement(made.labels) if one.name == "alpha")
    return {"value": alpha.value, "low": alpha.low, "high": alpha.high}
