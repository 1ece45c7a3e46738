"""The same answers for any order of rows and items, any names of annotators, and one or two threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from crowdlogic.data.corpus import documents
from crowdlogic.data.frames import from_arrays, from_sequences
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.learning.algorithm import LogicLNCL
from crowdlogic.learning.stopping import TrainingLimits
from crowdlogic.numerics.arrays import Floats
from crowdlogic.registry import TRUTH_METHODS
from crowdlogic.truth.ebcc import EBCC
from crowdlogic.truth.fitting import Fitting
from crowdlogic.truth.methods import TruthMethod, needs_sequences, truth_method

BY_GRADIENT = ("glad",)
"""The methods that maximise by gradients, which carry the last bits of sums further."""

EXACT, NEAR = 1e-12, 1e-8

METHODS = [EBCC(restarts=2) if name == "ebcc" else truth_method(name) for name in TRUTH_METHODS]


def example_rows(seed: int, *, is_sequential: bool) -> list[tuple[str, str, Any]]:
    """Return (item, annotator, label or tags): eight annotators of falling accuracy, four labels in ten missing."""
    rng = np.random.default_rng(seed)
    names = ["O", "B-X", "I-X"] if is_sequential else ["x", "y", "z"]
    rows: list[tuple[str, str, Any]] = []
    for item in range(20 if is_sequential else 120):
        truth = rng.integers(3, size=int(rng.integers(1, 7)) if is_sequential else 1)
        for annotator, accuracy in enumerate(np.linspace(0.9, 0.5, 8)):
            given = np.where(rng.random(len(truth)) < accuracy, truth, rng.integers(3, size=len(truth)))
            if rng.random() < 0.6:
                tags = [names[tag] for tag in given]
                rows.append((f"i{item}", f"a{annotator}", tags if is_sequential else tags[0]))
    return rows


def build(rows: list[tuple[str, str, Any]], *, is_sequential: bool) -> CrowdLabels:
    """Return the labels of rows."""
    return from_sequences(rows) if is_sequential else from_arrays(*map(list, zip(*rows, strict=True)))


def shuffled(rows: list[tuple[str, str, Any]], seed: int) -> list[tuple[str, str, Any]]:
    """Return the rows in another order, with the annotators' names dealt out anew."""
    rng = np.random.default_rng(seed)
    names = sorted({row[1] for row in rows})
    renamed = dict(zip(names, rng.permutation([f"{name}'" for name in names]).tolist(), strict=True))
    return [(rows[n][0], renamed[rows[n][1]], rows[n][2]) for n in rng.permutation(len(rows))]


def sorted_beliefs(labels: CrowdLabels, beliefs: Floats) -> Floats:
    """Return beliefs with items and classes in the order of their names."""
    columns = np.argsort(np.array(labels.classes))
    rows = np.split(beliefs, labels.offsets[1:-1]) if labels.offsets is not None else list(beliefs[:, None])
    order = np.argsort(labels.items.to_numpy().astype(str))
    return np.concatenate([rows[item] for item in order])[:, columns]


def infer(method: TruthMethod, rows: list[tuple[str, str, Any]], threads: int | None = None) -> Floats:
    """Return the beliefs, sorted by names."""
    labels = build(rows, is_sequential=needs_sequences(method.name))
    fitting = Fitting() if threads is None else Fitting(threads=threads)
    return sorted_beliefs(labels, method.infer(labels, fitting=fitting).beliefs)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
@pytest.mark.parametrize("seed", range(2))
def test_order_of_rows_names_and_threads_change_no_belief(method: TruthMethod, seed: int) -> None:
    rows = example_rows(seed, is_sequential=needs_sequences(method.name))
    tolerance = NEAR if method.name in BY_GRADIENT else EXACT
    found = infer(method, rows, threads=1)

    for other in (infer(method, shuffled(rows, 1)), infer(method, shuffled(rows, 2)), infer(method, rows, threads=2)):
        np.testing.assert_allclose(other, found, rtol=0, atol=tolerance)


def test_order_of_labels_and_names_change_no_prediction_of_a_training() -> None:
    rows = example_rows(3, is_sequential=False)
    items = sorted({row[0] for row in rows})
    truth = {item: label for item, _, label in reversed(rows)}
    corpus = documents(items, [f"word {truth[item]} and {truth[item]} {item}" for item in items])
    method = LogicLNCL(limits=TrainingLimits(epochs=4, held_out=None))

    runs = [method.fit(corpus, build(given, is_sequential=False)) for given in (rows, shuffled(rows, 1))]

    one, two = (run.predict(corpus)[:, np.argsort(np.array(run.estimate.classes))] for run in runs)
    np.testing.assert_allclose(two, one, rtol=0, atol=NEAR)
