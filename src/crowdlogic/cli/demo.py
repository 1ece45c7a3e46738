"""`crowdlogic demo`: the whole job once, on simulated data, in under a minute."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from crowdlogic.cli.console import percent, say, show_json, show_table
from crowdlogic.cli.options import JsonOption, SeedOption
from crowdlogic.cli.simulate import write_simulation
from crowdlogic.data.answers import write_estimate
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.simulate import Simulation, simulate_sentiment
from crowdlogic.metrics.agreement import agreement
from crowdlogic.metrics.scores import TieCredit, accuracy, calibration_error
from crowdlogic.truth.methods import METHODS

SHOWN = ("majority", "wawa", "glad", "one-coin", "dawid-skene", "ebcc")
"""From counting votes to ever more of a model of who answers how."""


def command(
    out: Annotated[str | None, typer.Option("--out", "-o", help="A folder for the data and the answers.")] = None,
    items: Annotated[int, typer.Option("--items", help="How many reviews.")] = 1000,
    seed: SeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Simulate a crowd on which majority vote fails, infer the truth, and compare with what was planted."""
    made = simulate_sentiment(seed, items=items)
    estimates = [METHODS[name].infer(made.labels) for name in SHOWN]
    rows = [row_of(estimate, made) for estimate in estimates]
    if out is not None:
        write_simulation(made, Path(out))
        for estimate in estimates:
            write_estimate(Path(out) / f"{estimate.method}.csv", estimate)
        say(f"data and answers -> {out}")
    if json:
        show_json({"simulated": made.description, "agreement": agreed(made), "methods": rows})
        return
    say(f"{made.description}.")
    say(f"Krippendorff's alpha is {agreed(made)['value']:.3f}: {people(made)}.")
    cells = [(row["method"], percent(row["accuracy"]), percent(row["calibration_error"])) for row in rows]
    show_table("against the planted truth (simulated data)", ["method", "accuracy", "calibration error"], cells)


def row_of(estimate: Estimate, made: Simulation) -> dict[str, Any]:
    """A method's scores against the planted truth; ties count in part."""
    gold = np.asarray(made.corpus.gold)
    right = accuracy(gold, estimate.answer, beliefs=estimate.beliefs, ties=TieCredit.half)
    return {
        "method": estimate.method,
        "accuracy": right,
        "calibration_error": calibration_error(gold, estimate.beliefs),
    }


def agreed(made: Simulation) -> dict[str, float]:
    """Krippendorff's alpha and its interval."""
    alpha = next(one for one in agreement(made.labels) if one.name == "alpha")
    return {"value": alpha.value, "low": alpha.low, "high": alpha.high}


def people(made: Simulation) -> str:
    """Who is in the crowd, in words."""
    counts = made.annotators["character"].value_counts(sort=True)
    return ", ".join(f"{n} {character}" for character, n in counts.iter_rows())
