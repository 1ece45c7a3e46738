"""`crowdlogic demo`: the whole job once, on simulated data, in well under a minute and without torch."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from crowdlogic.cli.console import percent, say, show_json, show_table
from crowdlogic.cli.options import JsonOption, SeedOption
from crowdlogic.cli.report import now, own, write_report
from crowdlogic.cli.reported_evidence import explainer
from crowdlogic.cli.simulate import write_simulation
from crowdlogic.data.answers import Answers
from crowdlogic.data.estimate import Beliefs, Estimate
from crowdlogic.data.files import write_bytes
from crowdlogic.data.simulate import Simulation, simulate_sentiment
from crowdlogic.data.writing import write_estimate
from crowdlogic.errors import OptionError
from crowdlogic.learning.learned import Learned
from crowdlogic.learning.logic_lncl import LogicLNCL
from crowdlogic.learning.saved_run import Run
from crowdlogic.learning.training_run import TrainingData, train_run
from crowdlogic.metrics.agreement import agreement
from crowdlogic.metrics.calibration import calibration_error
from crowdlogic.metrics.scores import TieCredit, accuracy
from crowdlogic.report.inputs import inputs_from_run
from crowdlogic.report.report import make_report
from crowdlogic.rules.parser import parse_rules
from crowdlogic.truth.comparison import MethodResult, compare_methods
from crowdlogic.truth.methods import truth_method

SHOWN = ("majority", "wawa", "glad", "one-coin", "dawid-skene", "ebcc")
"""From counting votes to ever more of a model of who answers how."""

RULES = "# In \"A but B\", the clause B decides.\n1.0: Label(S, C) & After(S, 'but', B) -> Predicted(B, C)\n"

FEW, MIXED = 3, 0.4
"""Three labels a review, as budgets go, and four reviews in ten of two minds: what the rule is about."""

FOLDER = "crowdlogic-demo"
"""Where the demo goes when nobody says."""

WITHOUT, WITH = "logic-lncl without rules", "logic-lncl"


def command(
    out: Annotated[
        str | None,
        typer.Option(
            "--out", "-o", help="A folder for the data, the answers, a run and a report on it; a new one here."
        ),
    ] = None,
    items: Annotated[int, typer.Option("--items", help="How many reviews.")] = 1000,
    seed: SeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Simulate a crowd on which majority vote fails; see what annotator models, a classifier and a rule add."""
    folder = Path(out) if out is not None else free_folder(Path(FOLDER))
    if (folder / "run").exists():
        raise OptionError(f"{out}: holds a run already. Name another folder, or remove it.")
    made = simulate_sentiment(seed, items=items, labels_per_item=FEW, contrast=MIXED)
    compared = compare_methods([truth_method(name) for name in SHOWN], made.labels, gold=_gold(made))
    given = TrainingData(made.corpus, made.labels, parse_rules(RULES, source="contrast.rules"))
    method = LogicLNCL(seed=seed)
    without = method.fit(given.corpus, given.labels)
    _write(folder, made, [one.estimate for one in compared])
    run = train_run(folder / "run", method, given)
    rows = [row_of(one.estimate, made) for one in compared]
    rows += [learned_row(name, one, made) for name, one in ((WITHOUT, without), (WITH, run.learned))]
    page = _report(folder, run, compared)
    if json:
        show_json({"simulated": made.description, "agreement": agreed(made), "methods": rows, "bought": bought(rows)})
    else:
        _show(made, rows)
    say(f"data, answers and a run -> {folder}; next: crowdlogic explain {folder / 'run'} {turned(run.learned)}")
    say(f"whom to trust, which labels to check, which rules to keep -> {page}")


def _show(made: Simulation, rows: list[dict[str, Any]]) -> None:
    say(f"{made.description}.")
    say(f"Krippendorff's alpha is {agreed(made)['value']:.3f}: {people(made)}.")
    cells = [(row["method"], *(percent(row[name]) for name in FIGURES)) for row in rows]
    show_table("against the planted truth (simulated data)", ["method", *FIGURES.values()], cells)
    for sentence in verdict(bought(rows)):
        say(sentence)


def free_folder(wanted: Path) -> Path:
    """The folder of that name, or with the first number behind it that is still free."""
    names = (wanted.with_name(f"{wanted.name}-{n}") for n in count(2))
    return wanted if not wanted.exists() else next(name for name in names if not name.exists())


def _gold(made: Simulation) -> Answers:
    return Answers(made.corpus.items, made.corpus.classes, np.asarray(made.corpus.gold), source="the planted truth")


def _report(folder: Path, run: Run, compared: list[MethodResult]) -> str:
    material = inputs_from_run(run.record)
    others = [*compared, *own(material, set())]
    report = make_report(material, title="demo", made_at=now(), explain=explainer(run.learned), compared=others)
    return write_report(folder / "report.html", report)


FIGURES = {"accuracy": "accuracy", "calibration_error": "calibration error", "new": "on new reviews"}


def row_of(estimate: Estimate, made: Simulation) -> dict[str, Any]:
    """A truth method's scores against the planted truth; ties count in part, and of new reviews it knows nothing."""
    return {"method": estimate.method, **_scores(estimate.answer, estimate.beliefs, made), "new": None}


def learned_row(name: str, learned: Learned, made: Simulation) -> dict[str, Any]:
    """The scores of a fit: on what the crowd labelled, and on reviews that nobody labelled."""
    q_f = learned.epoch.q_f
    new = learned.predict(made.test).argmax(axis=1) if made.test is not None else np.empty(0)
    right = float((new == np.asarray(made.test.gold)).mean()) if made.test is not None else None
    return {"method": name, **_scores(q_f.argmax(axis=1), q_f, made), "new": right}


def _scores(answer: Any, beliefs: Beliefs, made: Simulation) -> dict[str, float]:
    gold = np.asarray(made.corpus.gold)
    right = accuracy(gold, answer.astype(np.int32), beliefs=beliefs, ties=TieCredit.half)
    return {"accuracy": float(right), "calibration_error": float(calibration_error(gold, beliefs))}


def bought(rows: list[dict[str, Any]]) -> dict[str, float]:
    """What each part of the method added to the accuracy."""
    by = {row["method"]: row for row in rows}
    return {
        "annotators": by["dawid-skene"]["accuracy"] - by["majority"]["accuracy"],
        "classifier": by[WITHOUT]["accuracy"] - by["dawid-skene"]["accuracy"],
        "rule": by[WITH]["accuracy"] - by[WITHOUT]["accuracy"],
        "rule_on_new": by[WITH]["new"] - by[WITHOUT]["new"],
    }


def verdict(parts: dict[str, float]) -> list[str]:
    """The same in words."""
    points = {name: f"{100 * share:+.1f}" for name, share in parts.items()}
    return [
        f"A model of the annotators (dawid-skene over majority): {points['annotators']} points.",
        f"A classifier that reads the reviews beside it: {points['classifier']} points.",
        f"The rule that in 'A but B' B decides: {points['rule']} points, {points['rule_on_new']} on new reviews.",
    ]


def _write(folder: Path, made: Simulation, estimates: list[Estimate]) -> None:
    """The data, the answers of every truth method, and the rule."""
    write_simulation(made, folder)
    write_bytes(folder / "contrast.rules", RULES.encode())
    for estimate in estimates:
        write_estimate(folder / f"{estimate.method}.csv", estimate)


def turned(learned: Learned) -> Any:
    """An item whose answer the rule turned, if there is one: something to look into."""
    changed = learned.epoch.q_a.argmax(axis=1) != learned.epoch.q_f.argmax(axis=1)
    return learned.task.corpus.items[int(changed.argmax())]


def agreed(made: Simulation) -> dict[str, float]:
    """Krippendorff's alpha and its interval."""
    alpha = next(one for one in agreement(made.labels) if one.name == "alpha")
    return {"value": alpha.value, "low": alpha.low, "high": alpha.high}


def people(made: Simulation) -> str:
    """Who is in the crowd, in words."""
    counts = made.annotators["character"].value_counts(sort=True)
    return ", ".join(f"{n} {character}" for character, n in counts.iter_rows())
