"""`crowdlogic demo`: the whole job once, on simulated data, in well under a minute and without torch."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from crowdlogic.cli.console import percent, say, show_json, show_table
from crowdlogic.cli.options import JsonOption, SeedOption
from crowdlogic.cli.simulate import write_simulation
from crowdlogic.data.answers import write_estimate
from crowdlogic.data.estimate import Beliefs, Estimate
from crowdlogic.data.simulate import Simulation, simulate_sentiment
from crowdlogic.data.writing import write_bytes
from crowdlogic.errors import OptionError
from crowdlogic.learning.learned import Learned
from crowdlogic.learning.logic_lncl import LogicLNCL
from crowdlogic.learning.running import Given, train_run
from crowdlogic.metrics.agreement import agreement
from crowdlogic.metrics.scores import TieCredit, accuracy, calibration_error
from crowdlogic.rules.parser import parse_rules
from crowdlogic.truth.methods import METHODS

SHOWN = ("majority", "wawa", "glad", "one-coin", "dawid-skene", "ebcc")
"""From counting votes to ever more of a model of who answers how."""

RULES = "# In \"A but B\", the clause B decides.\n1.0: Label(S, C) & After(S, 'but', B) -> Predicted(B, C)\n"

FEW, MIXED = 3, 0.4
"""Three labels a review, as budgets go, and four reviews in ten of two minds: what the rule is about."""

WITHOUT, WITH = "logic-lncl without rules", "logic-lncl"


def command(
    out: Annotated[
        str | None, typer.Option("--out", "-o", help="A folder for the data, the answers and a run.")
    ] = None,
    items: Annotated[int, typer.Option("--items", help="How many reviews.")] = 1000,
    seed: SeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Simulate a crowd on which majority vote fails; see what modelling annotators, a classifier and a rule buy."""
    if out is not None and (Path(out) / "run").exists():
        raise OptionError(f"{out}: holds a run already. Name another folder, or remove it.")
    made = simulate_sentiment(seed, items=items, labels_per_item=FEW, contrast=MIXED)
    estimates = [METHODS[name].infer(made.labels) for name in SHOWN]
    given = Given(made.corpus, made.labels, parse_rules(RULES, source="contrast.rules"))
    method = LogicLNCL(seed=seed)
    learned = {
        WITHOUT: method.fit(given.corpus, given.labels),
        WITH: method.fit(given.corpus, given.labels, rules=given.rules),
    }
    rows = [row_of(estimate, made) for estimate in estimates]
    rows += [learned_row(name, one, made) for name, one in learned.items()]
    if out is not None:
        _write(Path(out), made, estimates)
        train_run(Path(out) / "run", method, given)
        say(f"data, answers and a run -> {out}; next: crowdlogic explain {Path(out) / 'run'} {turned(learned[WITH])}")
    if json:
        show_json({"simulated": made.description, "agreement": agreed(made), "methods": rows, "bought": bought(rows)})
        return
    say(f"{made.description}.")
    say(f"Krippendorff's alpha is {agreed(made)['value']:.3f}: {people(made)}.")
    cells = [(row["method"], *(percent(row[name]) for name in FIGURES)) for row in rows]
    show_table("against the planted truth (simulated data)", ["method", *FIGURES.values()], cells)
    for sentence in verdict(bought(rows)):
        say(sentence)


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
