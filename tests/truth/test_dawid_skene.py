"""Dawid-Skene: exact on tiny tables, planted confusion matrices recovered."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from tests.truth.planted import planted, tagged_sentences

from crowdlogic.data.frames import from_arrays, from_matrix
from crowdlogic.errors import OptionError
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.truth.dawid_skene import DawidSkene
from crowdlogic.truth.fitting import Fitting


def test_the_objective_is_the_posterior_of_the_parameters_by_enumeration() -> None:
    """Summing p(truth, labels) over all truths of a tiny table gives the trace's last value."""
    labels = from_matrix(np.array([[0, 1, 0], [1, 1, -1], [0, 0, 1]]))
    method = DawidSkene(smoothing=0.3, trust=0.7)
    estimate = method.infer(labels)
    confusion, prior = estimate.confusion, estimate.prior

    total = 0.0
    for truth in itertools.product(range(2), repeat=3):
        p = np.prod([prior[m] for m in truth])
        for unit, j, n in zip(labels.unit, labels.annotator, labels.label, strict=True):
            p *= confusion[j, truth[unit], n]
        total += p
    density = 0.3 * (np.log(confusion).sum() + np.log(prior).sum())
    density += 0.7 * np.log(np.diagonal(confusion, axis1=1, axis2=2)).sum()

    np.testing.assert_allclose(estimate.trace[-1], np.log(total) + density, rtol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_maximum_likelihood_never_falls(seed: int) -> None:
    labels = planted(seed, units=80, annotators=6, classes=3, right=0.5, given=0.6).labels

    trace = DawidSkene(smoothing=0, trust=0, convergence=Convergence(max_iterations=300)).infer(labels).trace

    assert len(trace) > 2
    assert (np.diff(trace) > -1e-7).all()


@pytest.mark.parametrize("seed", range(3))
def test_planted_confusion_is_recovered_with_a_thousand_labels_per_annotator_and_class(seed: int) -> None:
    """20 annotators, so that the truth is nearly certain; each labels about 1,000 units of each class."""
    crowd = planted(seed, units=3000, annotators=20, classes=3, right=0.7, given=1.0)

    confusion = DawidSkene().infer(crowd.labels).confusion

    np.testing.assert_allclose(confusion, crowd.counted_confusion, rtol=0, atol=0.005)
    assert np.abs(confusion - crowd.confusion).mean() < 0.02
    assert np.abs(confusion - crowd.confusion).max() < 0.05


def test_anchors_improve_the_confusion_matrices() -> None:
    """Annotators who are right 55 times in 100 are known from 150 items of known truth."""
    crowd = planted(0, units=200, annotators=3, classes=2, right=0.55, given=1.0)
    anchors = {item: "ab"[crowd.truth[item]] for item in range(150)}

    anchored = DawidSkene().infer(crowd.labels, fitting=Fitting(anchors=anchors))

    assert np.abs(anchored.confusion - crowd.confusion).max() < 0.15
    assert np.abs(DawidSkene().infer(crowd.labels).confusion - crowd.confusion).max() > 0.15


def test_an_anchor_may_leave_tokens_open() -> None:
    labels, _ = tagged_sentences()

    estimate = DawidSkene().infer(labels, fitting=Fitting(anchors={"s0": ["O", None, None, "B-X"]}))

    assert [estimate.answer_names()[i] for i in (0, 3)] == ["O", "B-X"]
    np.testing.assert_allclose(estimate.beliefs[[0, 3]].max(axis=1), 1.0, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"smoothing": -1.0}, "dawid-skene: smoothing must be at least 0, got -1.0."),
        ({"trust": float("nan")}, "dawid-skene: trust must be at least 0, got nan."),
    ],
)
def test_options_out_of_range_are_refused(options: dict[str, float], message: str) -> None:
    with pytest.raises(OptionError) as refused:
        DawidSkene(**options)  # type: ignore[arg-type]

    assert str(refused.value) == message


def test_a_single_vote_outweighs_a_class_up_to_three_times_as_frequent() -> None:
    """What docs/concepts/truth-methods.md says of the default trust of one label on the diagonal."""

    def newcomer_answer(frequency: int) -> str:
        rows = [(f"i{i}", f"w{j}", "b" if i % (frequency + 1) == 0 else "a") for i in range(120) for j in range(3)]
        items, annotators, given = zip(*rows, strict=True)
        labels = from_arrays([*items, "new"], [*annotators, "stranger"], [*given, "b"])
        return str(DawidSkene().infer(labels).answer_names()[-1])

    assert [newcomer_answer(frequency) for frequency in (1, 2, 4, 5)] == ["b", "b", "a", "a"]
