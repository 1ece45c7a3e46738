"""Measure how many labels, bought batch by batch, are needed to reach the accuracy with all labels.

    python -m benchmarks.next_label              # measure what is missing and print the tables

For each public data set, one random label per item is known. The others are bought in batches from the existing labels:
at random, by `next` (which chooses item and annotator), or by ActiveLab (cleanlab, in the peers' environment; it ranks
items, given our beliefs as pred_probs, and the annotator is random). After each batch, the ensemble is refitted. A
second table compares the predicted gain of batches with the real gain.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.figures_file import Figures, FiguresFile
from benchmarks.machine import PEERS, describe_machine
from crowdlogic.confidence.calibration import infer_calibrated
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.simulate.crowds import SimulatedCrowd, draw_labels, simulate_crowd, simulate_hard_crowd
from crowdlogic.extensions.paper.benchmarks import load_benchmark
from crowdlogic.extensions.review.next import (
    NextLabels,
    annotator_skills,
    batch_gains,
    choose_next,
    item_gains,
    spread,
)
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.numerics.logspace import safe_log
from crowdlogic.truth.dependence import PUBLIC_CROWDS, Dependence
from crowdlogic.truth.pool import Ensemble
from crowdlogic.workflows.aggregate import configured_method

RESULTS = Path("benchmarks/results")
RUNS, BATCHES = 20, 16
SETS = (
    "truth/bluebird", "truth/dog", "truth/rte", "truth/temp", "truth/weather_amt", "truth/sp_amt",
    "truth/music_genre", "truth/labelme", "truth/trec", "truth/adult2",
)  # fmt: skip
REDUNDANT = SETS[:6]
"""Data sets with at least ten labels per item, of which half can be known and a fifth bought for the forecast."""
METHOD = Ensemble(convergence=Convergence(tolerance=1e-5))


@dataclass(frozen=True, eq=False, kw_only=True)
class Market:
    """Known labels, and labels that can be bought.

    Attributes:
        labels: All labels of the set.
        bought: bought[n], whether label n is known.
        estimate: Estimate from the known labels.
        rng: Random number generator.
    """

    labels: CrowdLabels
    bought: Ints
    estimate: Estimate
    rng: np.random.Generator

    @property
    def known(self) -> CrowdLabels:
        """Return the known labels."""
        return self.labels.take(self.bought.astype(bool))


def buy_at_random(market: Market, count: int) -> Ints:
    """Buy random labels."""
    return market.rng.permutation(np.flatnonzero(market.bought == 0))[:count]


def buy_next(market: Market, count: int) -> Ints:
    """Buy the labels with the largest gains by the most informative annotators; repeated labels count half."""
    known = market.known
    skills = annotator_skills(known, market.estimate)
    gains = spread(item_gains(known, market.estimate, skills))
    offered = np.flatnonzero(market.bought == 0)
    unit, annotator = market.labels.unit[offered], market.labels.annotator[offered]
    worth = pair_information(market.estimate.beliefs[unit], skills.confusion[annotator])
    # Within an item, labels are bought in the order of their information
    order = np.lexsort((-worth, unit))
    first = np.concatenate([[0], np.flatnonzero(np.diff(unit[order])) + 1])
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order)) - np.repeat(first, np.diff(np.concatenate([first, [len(order)]])))
    gain = gains[unit, np.minimum(place, gains.shape[1] - 1)] * np.where(place < gains.shape[1], 1.0, 1e-3)
    return offered[np.lexsort((-worth, -gain))[:count]]


def pair_information(q: Floats, confusion: Floats) -> Floats:
    """Return information[p] in nats of a label with confusion[p, m, n] about a unit with beliefs q[p, m]."""
    label = np.einsum("pm,pmn->pn", q, confusion)
    entropy = -np.einsum("pmn,pmn->pm", confusion, safe_log(confusion))
    return np.asarray(-(label * safe_log(label)).sum(axis=1) - (q * entropy).sum(axis=1))


ACTIVE_LAB = """
import contextlib, json, os, sys, warnings
import numpy as np, pandas as pd
warnings.simplefilter("ignore")
from cleanlab.multiannotator import get_active_learning_scores
for line in sys.stdin:
    asked = json.loads(line)
    table = np.full((asked["units"], asked["annotators"]), np.nan)
    table[asked["unit"], asked["annotator"]] = asked["label"]
    frame = pd.DataFrame(table).dropna(axis=1, how="all")
    with contextlib.redirect_stdout(open(os.devnull, "w")):
        scores, _ = get_active_learning_scores(frame, np.array(asked["beliefs"]))
    print(json.dumps(np.asarray(scores).tolist()), flush=True)
"""


@lru_cache(maxsize=1)
def active_lab() -> subprocess.Popen[str]:
    """Start cleanlab in the peers' environment, waiting for requests."""
    return subprocess.Popen(
        [str(PEERS), "-c", ACTIVE_LAB], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )


def buy_by_active_lab(market: Market, count: int) -> Ints:
    """Buy one label per item by a random annotator, lowest ActiveLab score first; repeat until the batch is full."""
    known, peer = market.known, active_lab()
    asked = {"units": known.n_units, "annotators": len(known.annotators), "beliefs": market.estimate.beliefs.tolist()}
    asked |= {"unit": known.unit.tolist(), "annotator": known.annotator.tolist(), "label": known.label.tolist()}
    if peer.stdin is None or peer.stdout is None:
        raise RuntimeError("The peer has no pipes.")
    peer.stdin.write(json.dumps(asked) + "\n")
    peer.stdin.flush()
    score = np.array(json.loads(peer.stdout.readline()))
    offered = market.rng.permutation(np.flatnonzero(market.bought == 0))
    unit = market.labels.unit[offered]
    order = np.argsort(unit, kind="stable")
    first = np.concatenate([[0], np.flatnonzero(np.diff(unit[order])) + 1])
    turn = np.empty(len(order), dtype=np.int64)
    turn[order] = np.arange(len(order)) - np.repeat(first, np.diff(np.concatenate([first, [len(order)]])))
    return offered[np.lexsort((score[unit], turn))[:count]]


ORDERS: dict[str, Callable[[Market, int], Ints]] = {
    "random": buy_at_random,
    "next": buy_next,
    "ActiveLab": buy_by_active_lab,
}


def first_labels(labels: CrowdLabels, rng: np.random.Generator) -> Ints:
    """Return bought[n]: one random label of each item."""
    order = rng.permutation(labels.n_labels)
    _, first = np.unique(labels.unit[order], return_index=True)
    bought = np.zeros(labels.n_labels, dtype=np.int64)
    bought[order[first]] = 1
    return bought


def buy_all(name: str, order: str, seed: int) -> Figures:
    """Return the number of known labels and the share of right answers after each batch."""
    data = load_benchmark(name)
    labels, truth = one_label_each(data.labels), np.asarray(data.corpus.gold)
    rng = np.random.default_rng(seed)
    bought = first_labels(labels, rng)
    counts, right = [], []
    size = -(-(labels.n_labels - int(bought.sum())) // BATCHES)
    estimate = None
    while True:
        known = labels.take(bought.astype(bool))
        estimate = infer_calibrated(METHOD, known)
        counts.append(int(bought.sum()))
        right.append(score(estimate, truth))
        if bought.all():
            return {"labels": counts, "accuracy": right}
        bought[ORDERS[order](Market(labels=labels, bought=bought, estimate=estimate, rng=rng), size)] = 1


def one_label_each(labels: CrowdLabels) -> CrowdLabels:
    """Return the first label of every annotator for every item, since an annotator can be asked once."""
    _, _, pair = labels.annotations()
    _, first = np.unique(pair, return_index=True)
    return labels.take(np.sort(first))


def score(estimate: Estimate, truth: Ints) -> float:
    """Return the share of right answers among the items with gold."""
    return float((estimate.answer == truth)[truth >= 0].mean())


def labels_needed(counts: Sequence[int], accuracy: Floats, slack: float) -> int:
    """Return the number of labels from which the mean accuracy stays within a slack of that of all labels."""
    below = np.flatnonzero(accuracy < accuracy[-1] - slack - 1e-9)
    return int(counts[int(below[-1]) + 1]) if len(below) else int(counts[0])


def print_sets(sets: Sequence[str], orders: Sequence[str], runs: int) -> None:
    """Print how many labels each order needs: for the accuracy of all labels, and for 0.25 points less."""
    found: dict[str, dict[str, tuple[Sequence[int], Floats]]] = {}
    for name in sets:
        found[name] = {}
        file = FiguresFile(RESULTS / f"next_label_{name.removeprefix('truth/')}.json")
        for order in orders:
            rows = [file.get(f"{name} | {order} | {seed}", partial(buy_all, name, order, seed)) for seed in range(runs)]
            found[name][order] = rows[0]["labels"], np.mean([row["accuracy"] for row in rows], axis=0)
    for slack, words in ((0.0, "accuracy of all labels"), (0.0025, "within a quarter of a point of it")):
        print(f"\nLabels until the mean of {runs} runs stays there: {words}\n")
        print(f"| set | labels | accuracy of all (%) | {' | '.join(orders)} | next saves against random |")
        print(f"|---|---|---|{'---|' * (len(orders) + 1)}")
        for name, curves in found.items():
            need = {order: labels_needed(*curve, slack) for order, curve in curves.items()}
            counts, mean = curves["next"]
            cells = " | ".join(f"{value:,}" for value in need.values())
            saved = f"{100 * (1 - need['next'] / need['random']):.0f} %"
            print(f"| {name.removeprefix('truth/')} | {counts[-1]:,} | {100 * mean[-1]:.2f} | {cells} | {saved} |")


def print_predictions(file: FiguresFile, sets: Sequence[str]) -> None:
    """Print the predicted and the real gain of batches: simulated crowds of 10,000 items, then real data sets."""
    print("\n| crowd | labels bought | predicted (mistakes removed) | came true | ratio |")
    print("|---|---|---|---|---|")
    for (name, (draw, dependence)), method in product(SIMULATED.items(), SIMULATED_METHODS):
        for count in (300, 1000, 5000):
            work = partial(predict_simulated, draw, dependence, count=count, method=method)
            _print_prediction(f"{name}, {method}", count, file.get(f"{name}, {method} | {count}", work))
    for name in sets:
        each = [file.get(f"predict {name} | {seed}", partial(predict_real, name, seed)) for seed in range(RUNS)]
        mean = {key: float(np.mean([one[key] for one in each])) for key in ("count", "predicted", "true")}
        _print_prediction(name.removeprefix("truth/"), round(mean["count"]), mean)


def _print_prediction(name: str, count: int, found: Figures) -> None:
    ratio = found["predicted"] / found["true"] if found["true"] > 0 else float("nan")
    print(f"| {name} | {count:,} | {found['predicted']:.1f} | {found['true']:.1f} | {ratio:.2f} |")


@dataclass(frozen=True, eq=False)
class Crowd:
    """Simulated crowd that can be asked for more labels: `ask` returns the labels of units by annotators."""

    labels: CrowdLabels
    truth: Ints
    ask: Callable[[Ints, Ints], Ints]


def independent(classes: int, each: float) -> Crowd:
    """Return a crowd of annotators who err independently of each other."""
    rng = np.random.default_rng(classes)
    drawn = simulate_crowd(rng, units=10_000, annotators=100, classes=classes, labels_per_unit=each)
    return _crowd(rng, drawn)


def hard() -> Crowd:
    """Return a crowd on which majority vote fails."""
    rng = np.random.default_rng(9)
    return _crowd(rng, simulate_hard_crowd(rng, rng.integers(3, size=10_000).astype(np.int32), 3, annotators=100))


def traps(share: float, classes: int = 3, each: float = 5) -> Crowd:
    """Return a crowd in which, for a share of the items, most annotators tend to the same wrong class."""
    rng = np.random.default_rng(1)
    drawn = simulate_crowd(rng, units=10_000, annotators=100, classes=classes, labels_per_unit=each)
    decoy = (drawn.truth + rng.integers(1, classes, size=10_000)) % classes
    pull = 0.8 * rng.random(10_000) * (rng.random(10_000) < share)

    def mislead(unit: Ints, label: Ints) -> Ints:
        return np.where(rng.random(len(unit)) < pull[unit], decoy[unit], label).astype(np.int32)

    clean = _crowd(rng, drawn)
    labels = replace(drawn.labels, label=mislead(drawn.labels.unit, drawn.labels.label))
    return Crowd(labels, drawn.truth, lambda unit, annotator: mislead(unit, clean.ask(unit, annotator)))


def _crowd(rng: np.random.Generator, drawn: SimulatedCrowd) -> Crowd:
    def ask(unit: Ints, annotator: Ints) -> Ints:
        return draw_labels(rng, drawn.truth, drawn.confusion, unit=unit, annotator=annotator)

    return Crowd(drawn.labels, drawn.truth, ask)


SIMULATED: dict[str, tuple[Callable[[], Crowd], Dependence | None]] = {
    "independent, 2 classes, 3 labels, dependence none": (partial(independent, 2, 3), None),
    "independent, 3 classes, 5 labels, dependence none": (partial(independent, 3, 5), None),
    "independent, 5 classes, 4 labels, dependence none": (partial(independent, 5, 4), None),
    "adversaries and spammers, dependence none": (hard, None),
    "independent, 2 classes, 3 labels": (partial(independent, 2, 3), PUBLIC_CROWDS),
    "independent, 3 classes, 5 labels": (partial(independent, 3, 5), PUBLIC_CROWDS),
    "independent, 5 classes, 4 labels": (partial(independent, 5, 4), PUBLIC_CROWDS),
    "30 % of the items are traps": (partial(traps, 0.3), PUBLIC_CROWDS),
    "50 % of the items are traps": (partial(traps, 0.5), PUBLIC_CROWDS),
    "30 % are traps, 2 classes, 4 labels": (partial(traps, 0.3, 2, 4), PUBLIC_CROWDS),
    "later: independent, 4 classes, 6 labels": (partial(independent, 4, 6), PUBLIC_CROWDS),
    "later: independent, 6 classes, 3 labels": (partial(independent, 6, 3), PUBLIC_CROWDS),
    "later: 20 % are traps, 4 classes, 3 labels": (partial(traps, 0.2, 4, 3), PUBLIC_CROWDS),
    "later: 40 % are traps, 3 classes, 8 labels": (partial(traps, 0.4, 3, 8), PUBLIC_CROWDS),
}
"""Those called *later* were drawn after `next.SHARED_DOUBT` had been set by the others.
`next.FORECAST_SHARED` was set by
other draws, some with the same settings, with an eye on these (docs/decisions/0043)."""


SIMULATED_METHODS = ("dawid-skene", "ensemble")
DRAWS = 5
"""Number of draws of the labels of a batch, since the gain of a single draw varies by a tenth."""


def predict_simulated(draw: Callable[[], Crowd], dependence: Dependence | None, *, count: int, method: str) -> Figures:
    """Return the predicted and the real gain of a batch for a simulated crowd: mean over draws of its labels."""
    crowd, fitted = draw(), configured_method(method, dependence=dependence)
    estimate = infer_calibrated(fitted, crowd.labels, dependence=dependence)
    batch = choose_next(crowd.labels, estimate, annotator_skills(crowd.labels, estimate), count=count)
    before = int((estimate.answer != crowd.truth).sum())
    removed = []
    for _ in range(DRAWS):
        after = infer_calibrated(fitted, _bought(crowd, batch), dependence=dependence)
        removed.append(before - int((after.answer != crowd.truth).sum()))
    return {"predicted": batch.total, "true": float(np.mean(removed)), "draws": removed}


def _bought(crowd: Crowd, batch: NextLabels) -> CrowdLabels:
    """Return the labels of a crowd with those of a batch added."""
    labels, asked = crowd.labels, crowd.ask(batch.item, batch.annotator)
    return replace(
        labels,
        unit=np.concatenate([labels.unit, batch.item]),
        annotator=np.concatenate([labels.annotator, batch.annotator]),
        label=np.concatenate([labels.label, asked]),
    )


def predict_real(name: str, seed: int) -> Figures:
    """Return the predicted and the real gain on a real data set: half of its labels are known, a fifth is bought."""
    data = load_benchmark(name)
    labels, truth = one_label_each(data.labels), np.asarray(data.corpus.gold)
    rng = np.random.default_rng(seed)
    bought = (rng.random(labels.n_labels) < 0.5).astype(np.int64)
    estimate = infer_calibrated(METHOD, labels.take(bought.astype(bool)))
    market = Market(labels=labels, bought=bought, estimate=estimate, rng=rng)
    rows = buy_next(market, labels.n_labels // 5)
    known = market.known
    predicted = predicted_gain(known, estimate, labels, rows, truth >= 0)
    bought[rows] = 1
    after = infer_calibrated(METHOD, labels.take(bought.astype(bool)))
    removed = (score(after, truth) - score(estimate, truth)) * int((truth >= 0).sum())
    return {"count": len(rows), "predicted": predicted, "true": removed}


def predicted_gain(known: CrowdLabels, estimate: Estimate, labels: CrowdLabels, rows: Ints, counted: Any) -> float:
    """Return the predicted gain of labels of given annotators, over the selected units."""
    gain = batch_gains(known, estimate, annotator_skills(known, estimate), labels.unit[rows], labels.annotator[rows])
    return float(gain[counted[labels.unit[rows]]].sum())


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", choices=SETS, nargs="*", default=SETS)
    parser.add_argument("--orders", choices=list(ORDERS), nargs="*", default=list(ORDERS))
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--predictions", action="store_true", help="compare predicted and real gains instead")
    chosen = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    if chosen.predictions:
        print_predictions(FiguresFile(RESULTS / "next_label_predictions.json"), REDUNDANT)
    else:
        print_sets(chosen.sets, chosen.orders, chosen.runs)
    print(f"\nMeasured {describe_machine()}.")


if __name__ == "__main__":
    main()
