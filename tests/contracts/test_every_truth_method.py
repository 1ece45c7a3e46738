"""What every truth method must do, whatever it believes about annotators."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from tests.truth.planted import planted

from crowdlogic.data.frames import from_arrays, from_matrix
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import OptionError
from crowdlogic.registry import TRUTH_METHODS
from crowdlogic.truth.ebcc import EBCC
from crowdlogic.truth.fitting import Fitting
from crowdlogic.truth.majority import MajorityVote
from crowdlogic.truth.methods import TruthMethod, needs_sequences, truth_method, uses_anchors

ALL = [
    MajorityVote(ties="first"),
    *(truth_method(name) for name in TRUTH_METHODS if name != "majority" and not needs_sequences(name)),
]


ITERATIVE = [method for method in ALL if uses_anchors(method.name)]
"""The methods that maximise an objective: those that can use anchors."""


def crowd(seed: int, *, units: int = 40, annotators: int = 7, classes: int = 3) -> CrowdLabels:
    """A crowd that is right 8 times in 10, with holes."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(classes, size=units)
    given = np.where(
        rng.random((units, annotators)) < 0.8, truth[:, None], rng.integers(classes, size=(units, annotators))
    )
    given[rng.random((units, annotators)) < 0.3] = -1
    return from_matrix(given, classes=tuple("abcdefgh"[:classes]))


@pytest.fixture(params=ALL, ids=lambda method: method.name)
def method(request: pytest.FixtureRequest) -> TruthMethod:
    return request.param


@pytest.fixture(params=ITERATIVE, ids=lambda method: method.name)
def iterative(request: pytest.FixtureRequest) -> TruthMethod:
    return request.param


@pytest.mark.parametrize("seed", range(5))
def test_beliefs_are_distributions(method: TruthMethod, seed: int) -> None:
    beliefs = method.infer(crowd(seed)).beliefs

    assert (beliefs >= 0).all()
    np.testing.assert_allclose(beliefs.sum(axis=1), 1.0, rtol=0, atol=1e-9)


def test_the_answer_is_the_most_probable_class(method: TruthMethod) -> None:
    estimate = method.infer(crowd(0))
    chosen = estimate.beliefs[np.arange(len(estimate.answer)), np.maximum(estimate.answer, 0)]

    np.testing.assert_allclose(chosen, estimate.beliefs.max(axis=1), rtol=0, atol=1e-9)


def test_permuting_annotators_changes_nothing(method: TruthMethod) -> None:
    labels = crowd(1)
    order = np.random.default_rng(0).permutation(len(labels.annotators)).astype(np.int32)
    permuted = replace(labels, annotator=order[labels.annotator])

    np.testing.assert_allclose(method.infer(permuted).beliefs, method.infer(labels).beliefs, rtol=0, atol=1e-7)


def test_permuting_items_permutes_the_beliefs(method: TruthMethod) -> None:
    labels = crowd(2)
    order = np.random.default_rng(0).permutation(labels.n_units)

    moved = method.infer(labels.take_items(order)).beliefs

    np.testing.assert_allclose(moved, method.infer(labels).beliefs[order], rtol=0, atol=1e-7)


def test_renaming_classes_permutes_the_columns(method: TruthMethod) -> None:
    labels = crowd(3)

    turned = method.infer(labels.with_classes(("c", "a", "b"))).beliefs

    np.testing.assert_allclose(turned, method.infer(labels).beliefs[:, [2, 0, 1]], rtol=0, atol=1e-7)


def test_an_item_without_labels_gets_no_answer_but_a_distribution(method: TruthMethod) -> None:
    labels = crowd(4)
    empty = replace(labels, items=pl.concat([labels.items, pl.Series([999])]))

    estimate = method.infer(empty)

    assert estimate.answer[-1] == -1
    assert estimate.answer_names()[-1] is None
    assert np.isnan(estimate.confidence[-1])
    np.testing.assert_allclose(estimate.beliefs[-1].sum(), 1.0, rtol=0, atol=1e-9)
    assert (estimate.answer[:-1][labels.labels_per_unit() > 0] >= 0).all()


def test_a_single_vote_is_not_overturned(method: TruthMethod) -> None:
    labels = from_arrays(["lone", *"uuuvvv"], ["a", *"abcabc"], ["x", *"xxxyyy"])

    assert method.infer(labels).answer_names()[0] == "x"


def test_a_unanimous_crowd_is_believed(method: TruthMethod) -> None:
    given = np.repeat(np.array([0, 1, 2, 1])[:, None], 5, axis=1)

    assert method.infer(from_matrix(given)).answer.tolist() == [0, 1, 2, 1]


def test_one_class_is_certain(method: TruthMethod) -> None:
    labels = from_arrays(["u", "v"], ["a", "b"], ["yes", "yes"])

    np.testing.assert_allclose(method.infer(labels).beliefs, 1.0, rtol=0, atol=1e-9)


def test_an_empty_table_gives_an_empty_estimate(method: TruthMethod) -> None:
    estimate = method.infer(from_arrays([], [], []))

    assert estimate.beliefs.shape == (0, 0)
    assert estimate.answer_names() == []


@pytest.mark.parametrize("names", [[True, False, True], [3, 1, 3], ["b", "a", "b"]], ids=["bool", "int", "text"])
def test_class_names_keep_their_type(method: TruthMethod, names: list[object]) -> None:
    labels = from_arrays(["u", "v", "w"], ["a", "a", "a"], names)

    assert method.infer(labels).answer_names() == names


def test_the_same_input_gives_the_same_output(method: TruthMethod) -> None:
    labels = crowd(5)

    np.testing.assert_array_equal(method.infer(labels).beliefs, method.infer(labels).beliefs)


@pytest.mark.parametrize("seed", range(5))
def test_the_objective_never_falls(iterative: TruthMethod, seed: int) -> None:
    labels = planted(seed, units=80, annotators=6, classes=3, right=0.5, given=0.6).labels
    method = EBCC(restarts=2) if iterative.name == "ebcc" else iterative

    trace = method.infer(labels).trace

    assert len(trace) > 2
    assert (np.diff(trace) > -1e-7).all()


def test_anchors_are_believed(iterative: TruthMethod) -> None:
    labels = planted(0, units=200, annotators=3, classes=2, right=0.55, given=1.0)
    anchors = {item: "ab"[labels.truth[item]] for item in range(150)}

    estimate = iterative.infer(labels.labels, fitting=Fitting(anchors=anchors))

    np.testing.assert_array_equal(estimate.answer[:150], labels.truth[:150])


@pytest.mark.extension("compat")
@pytest.mark.parametrize("name", ["majority", "wawa", "pm", "catd", "zero-based-skill", "kos", "m-msr"])
def test_methods_that_cannot_use_anchors_say_so(name: str) -> None:
    with pytest.raises(OptionError) as refused:
        truth_method(name).infer(crowd(0), fitting=Fitting(anchors={0: "a"}))

    assert str(refused.value) == (
        f"{name} does not support anchors. Methods that do: pool, ensemble, dawid-skene, one-coin, ibcc, ebcc, glad, mace, hmm-crowd, "
        f"bsc-seq."
    )


def test_two_threads_find_what_one_finds(iterative: TruthMethod) -> None:
    labels = planted(9, units=150).labels
    method = EBCC(restarts=2) if iterative.name == "ebcc" else iterative

    one, two = (method.infer(labels, fitting=Fitting(threads=threads)) for threads in (1, 2))

    np.testing.assert_allclose(two.beliefs, one.beliefs, rtol=0, atol=1e-6)


def with_a_newcomer(frequency: int) -> CrowdLabels:
    """120 items on which three annotators agree, and one vote for the rarer class by somebody new."""
    rows = [(f"i{i}", f"w{j}", "a" if i % (frequency + 1) else "b") for i in range(120) for j in range(3)]
    items, annotators, given = zip(*rows, strict=True)
    return from_arrays([*items, "new"], [*annotators, "newcomer"], [*given, "b"])


def test_one_vote_by_a_newcomer_outweighs_a_class_twice_as_frequent(method: TruthMethod) -> None:
    assert method.infer(with_a_newcomer(2)).answer_names()[-1] == "b"


@pytest.mark.parametrize("name", ["dawid-skene", "ibcc", "ebcc"])
def test_a_newcomer_is_never_read_backwards(name: str) -> None:
    """Against a class nineteen times as frequent one vote loses, but nobody is taken to say the opposite."""
    confusion = truth_method(name).infer(with_a_newcomer(19)).confusion[-1]

    assert (np.diagonal(confusion) > 0.5).all()


def test_labels_of_no_weight_are_no_labels(method: TruthMethod) -> None:
    labels = from_arrays(["u", "u", "v", "v", "w", "w"], list("ababab"), list("xxyyxx"), weight=[1, 1, 1, 1, 0, 0])

    assert method.infer(labels).answer_names() == ["x", "y", None]
