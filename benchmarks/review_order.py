"""Measure the mistakes removed by a reviewer who answers with gold, for several orders of the items.

    python -m benchmarks.review_order            # measures what is missing, prints the tables, draws the curves

There are 20 runs on each of eleven public data sets, each with a random 80 % of the items with gold and 100 decisions
(half of the items for bluebird). After every ten decisions, the method is refitted from the last estimate. The orders
are random, lowest agreement of the votes, lowest confidence of the method, and ours. Only the reviewer sees the truth.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.figures_file import Figures, FiguresFile
from benchmarks.machine import describe_machine
from benchmarks.truth_accuracy import SETS
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.extensions.paper.benchmarks import load_benchmark
from crowdlogic.extensions.review.review_queue import (
    NO_DECISIONS,
    Committee,
    Decisions,
    expected_mistakes_removed,
    make_committee,
    refit,
)
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.reporting.charts import Curve, line_chart
from crowdlogic.reporting.figures import write_plots
from crowdlogic.truth.dawid_skene import DawidSkene
from crowdlogic.truth.methods import TruthMethod
from crowdlogic.truth.pool import Ensemble

RESULTS = Path("benchmarks/results")
FOLDER = Path("docs/images")
RUNS, DECISIONS, BATCH, SHARE = 20, 100, 10, 0.8
CONVERGENCE = Convergence(tolerance=1e-6)
METHODS: dict[str, TruthMethod] = {
    "dawid-skene": DawidSkene(convergence=CONVERGENCE),
    "ensemble": Ensemble(convergence=CONVERGENCE),
}
FIXED = ("random", "lowest agreement")
"""Orders that do not depend on the beliefs, which are only refitted after every fifty decisions, for the curve."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Moment:
    """Input of an order: the labels, the beliefs and the decisions, without the truth of open items."""

    labels: CrowdLabels
    estimate: Estimate
    decisions: Decisions
    committee: Committee
    rng: np.random.Generator


def by_chance(moment: Moment) -> Floats:
    """Return a random order."""
    return moment.rng.random(moment.labels.n_units)


def by_agreement(moment: Moment) -> Floats:
    """Return the order by share of the most frequent label, lowest first."""
    votes = moment.labels.votes()
    return np.asarray(1.0 - votes.max(axis=1) / np.maximum(votes.sum(axis=1), 1.0))


def by_confidence(moment: Moment) -> Floats:
    """Return the order by confidence, lowest first."""
    return np.asarray(1.0 - moment.estimate.beliefs.max(axis=1))


def by_planning(moment: Moment) -> Floats:
    """Return the order by expected mistakes removed, highest first."""
    return expected_mistakes_removed(
        moment.labels, moment.estimate, decisions=moment.decisions, before=moment.committee
    )


ORDERS: dict[str, Callable[[Moment], Floats]] = {
    "random": by_chance,
    "lowest agreement": by_agreement,
    "lowest confidence": by_confidence,
    "expected mistakes removed": by_planning,
}


def draw_part(labels: CrowdLabels, truth: Ints, seed: int) -> tuple[CrowdLabels, Ints]:
    """Return a random 80 % of the items with gold, and all other items."""
    known = np.flatnonzero(truth >= 0)
    dropped = np.random.default_rng(1000 + seed).permutation(known)[int(len(known) * SHARE) :]
    kept = np.setdiff1d(np.arange(labels.n_units), dropped)
    return labels.take_items(kept), truth[kept]


def decide(labels: CrowdLabels, truth: Ints, units: Ints) -> Decisions:
    """Return the decisions of a reviewer who knows the truth."""
    return Decisions(truth={labels.items[i]: labels.classes[int(truth[i])] for i in units.tolist()})


@lru_cache(maxsize=1)
def begin(name: str, method: str, seed: int) -> tuple[CrowdLabels, Ints, Estimate, Committee]:
    """Return the start that all orders of a run share: labels, truth, first estimate, and the committee."""
    data = load_benchmark(name)
    labels, truth = draw_part(data.labels, np.asarray(data.corpus.gold), seed)
    estimate = refit(METHODS[method], labels, None, NO_DECISIONS)
    return labels, truth, estimate, make_committee(labels, estimate)


def review(name: str, order: str, method: str, seed: int) -> Figures:
    """Return the number of wrong answers after 0, 10, 20, ... decisions; 0, 50, 100 for orders without refits."""
    labels, truth, estimate, committee = begin(name, method, seed)
    known = truth >= 0
    rng = np.random.default_rng(seed)
    tie_break = 1e-9 * rng.random(labels.n_units)
    done, wrong = np.zeros(0, dtype=np.int64), [_mistakes(estimate, truth)]
    goal = min(DECISIONS, int(known.sum()) // 2 // BATCH * BATCH)
    while len(done) < goal:
        moment = Moment(
            labels=labels, estimate=estimate, decisions=decide(labels, truth, done), committee=committee, rng=rng
        )
        worth = np.where(known, ORDERS[order](moment) + tie_break, -np.inf)
        worth[done] = -np.inf
        done = np.concatenate([done, np.argsort(-worth)[: 5 * BATCH if order in FIXED else BATCH]])
        estimate = refit(METHODS[method], labels, estimate, decide(labels, truth, done), recalibrate=False)
        wrong.append(_mistakes(estimate, truth))
    return {"wrong": wrong}


def _mistakes(estimate: Estimate, truth: Ints) -> int:
    return int(np.count_nonzero((truth >= 0) & (estimate.answer != truth)))


def measure(file: FiguresFile, method: str, sets: Sequence[str], runs: int) -> dict[str, dict[str, Floats]]:
    """Return wrong[run, d] by data set and order."""
    found: dict[str, dict[str, list[Any]]] = {name: {order: [] for order in ORDERS} for name in sets}
    for name in sets:
        for seed in range(runs):
            for order, rows in found[name].items():
                work = partial(review, name, order, method, seed)
                rows.append(file.get(f"{method} | {name} | {order} | {seed}", work)["wrong"])
    return {
        name: {order: np.array(rows, dtype=np.float64) for order, rows in one.items()} for name, one in found.items()
    }


def print_table(found: dict[str, dict[str, Floats]]) -> None:
    """Print the mistakes removed, and their ratio to those of the order by lowest confidence."""
    print(f"| set | decisions | {' | '.join(ORDERS)} | times lowest confidence |")
    print(f"|---|---|{'---|' * (len(ORDERS) + 1)}")
    ratios = []
    for name, curves in found.items():
        removed = {order: float((curve[:, 0] - curve[:, -1]).mean()) for order, curve in curves.items()}
        base = removed["lowest confidence"]
        ratios.append([value / base for value in removed.values()])
        cells = " | ".join(f"{value:.1f}" for value in removed.values())
        decisions = BATCH * (curves["lowest confidence"].shape[1] - 1)
        print(f"| {name.removeprefix('truth/')} | {decisions} | {cells} | {ratios[-1][-1]:.2f} |")
    mean = np.mean(ratios, axis=0)
    print(f"| **mean of ratios** | | {' | '.join(f'{value:.2f}' for value in mean)} | **{mean[-1]:.3f}** |")
    least = min(row[-1] for row in ratios)
    print(f"\nOurs: {mean[-1]:.3f} times lowest confidence on average, {least:.2f} at least;", end=" ")
    print(f"lowest confidence: {np.mean([row[2] / row[0] for row in ratios]):.2f} times random.\n")


def draw_curves(found: dict[str, dict[str, Floats]], method: str) -> None:
    """Draw docs/images/review-order-*.svg: the share of mistakes removed by number of decisions, mean over the sets."""
    curves = []
    for order in ORDERS:
        step = 5 * BATCH if order in FIXED else BATCH
        length = DECISIONS // step + 1
        shares = [1.0 - _padded(one[order].mean(axis=0) / one[order][:, 0].mean(), length) for one in found.values()]
        mean = np.mean(shares, axis=0)
        curves.append(Curve(order, [(float(step * at), float(value)) for at, value in enumerate(mean)]))
    plot = line_chart(
        f"review-order-{method}", f"Mistakes removed, {method}", curves, x="decisions", y="share of all mistakes"
    )
    write_plots([plot], FOLDER, png=False)


def _padded(curve: Floats, length: int) -> Floats:
    """Return a curve extended by its last value, for data sets with fewer decisions."""
    return np.concatenate([curve, np.full(length - len(curve), curve[-1])])


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--method", choices=list(METHODS), nargs="*", default=list(METHODS))
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument(
        "--sets", choices=SETS, nargs="*", default=SETS, help="measure only these data sets, without drawing"
    )
    chosen = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    for method in chosen.method:
        file = FiguresFile(RESULTS / f"review_order_{method.replace('-', '_')}.json")
        found = measure(file, method, chosen.sets, chosen.runs)
        print(f"\n{method}, {chosen.runs} runs\n")
        print_table(found)
        if len(found) == len(SETS):
            draw_curves(found, method)
    print(f"Measured {describe_machine()}.")


if __name__ == "__main__":
    main()
