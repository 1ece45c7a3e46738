"""Which truth methods there are, and which one is chosen when none is named."""

from __future__ import annotations

import numpy as np
import pytest

from crowdlogic.data.frames import from_arrays, from_sequences
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import OptionError
from crowdlogic.registry import TRUTH_METHODS, registry_serving
from crowdlogic.truth.methods import (
    ENOUGH,
    FEW,
    TruthMethod,
    applicable_methods,
    as_truth_method,
    choose_method,
    infer_truth,
    needs_sequences,
    truth_method,
    uses_anchors,
)


def documents(labels_per_cell: float) -> CrowdLabels:
    """Two annotators and two classes, with so many labels per annotator and class."""
    count = round(4 * labels_per_cell)
    # every item is labelled once; annotators take turns in pairs of items, classes item by item
    return from_arrays(np.arange(count), np.arange(count) // 2 % 2, np.arange(count) % 2, classes=[0, 1])


def tagged(count: int, tags: tuple[str, str, str]) -> CrowdLabels:
    """One annotator and three tags, over sentences of one token each."""
    return from_sequences([(s, "w", [tags[s % 3]]) for s in range(count)], classes=tags)


@pytest.mark.parametrize("name", TRUTH_METHODS)
def test_methods_are_known_by_the_name_they_have(name: str) -> None:
    assert truth_method(name).name == name
    assert registry_serving(TruthMethod) is TRUTH_METHODS


def test_an_unknown_method_is_named_with_its_neighbour() -> None:
    with pytest.raises(OptionError, match="No truth method is called 'dawidskene'"):
        truth_method("dawidskene")


@pytest.mark.extension("compat")
def test_two_methods_need_sequences_and_seven_cannot_use_anchors() -> None:
    assert {name for name in TRUTH_METHODS if needs_sequences(name)} == {"hmm-crowd", "bsc-seq"}
    assert {name for name in TRUTH_METHODS if not uses_anchors(name)} == {
        "majority",
        "wawa",
        "pm",
        "catd",
        "zero-based-skill",
        "kos",
        "m-msr",
    }


def test_sequence_methods_apply_to_sequences_only() -> None:
    every = list(TRUTH_METHODS)

    assert applicable_methods(tagged(3, ("B-X", "I-X", "O"))) == every
    assert applicable_methods(documents(2)) == [name for name in every if name not in ("hmm-crowd", "bsc-seq")]


def test_the_thresholds_are_2_and_15_labels_per_annotator_and_class() -> None:
    assert (FEW, ENOUGH) == (2, 15)


@pytest.mark.parametrize("labels_per_cell", [1.75, 15, 100])
def test_the_pool_is_chosen_for_documents(labels_per_cell: float) -> None:
    assert choose_method(documents(labels_per_cell)) == (
        "pool",
        "on average it was more accurate than counting votes on public crowds and panels",
    )


@pytest.mark.parametrize(("count", "method"), [(5, "majority"), (6, "hmm-crowd"), (44, "hmm-crowd"), (45, "bsc-seq")])
def test_tags_at_the_boundaries(count: int, method: str) -> None:
    """Tags that are no spans, such as parts of speech, count as single items."""
    found, why = choose_method(tagged(count, ("B-X", "I-X", "O")))

    assert found == method
    assert why == f"it suits {count / 3:.1f} labels per annotator and class"
    assert choose_method(tagged(count, ("NOUN", "VERB", "X")))[0] == "ensemble"


@pytest.mark.parametrize(("n_types", "method"), [(49, "bsc-seq"), (50, "mace")])
def test_tables_of_tags_beyond_the_limit_of_cells_are_not_chosen(n_types: int, method: str) -> None:
    """50 annotators by 2 x 50 tags cubed are 50 million cells, and the tag O more than that."""
    tags = ["O", *(f"{mark}-{kind}" for kind in range(n_types) for mark in "BI")]
    rows = [(who, who, tags * ENOUGH) for who in range(50)]

    found, why = choose_method(from_sequences(rows, classes=tags))

    assert found == method
    if method == "mace":
        assert why == "confusion matrices of 101 classes are too large"


@pytest.mark.parametrize(("one_sided", "method"), [(40, "pool"), (41, "mace")])
def test_labelling_functions_are_not_taken_for_people(one_sided: int, method: str) -> None:
    """More than half of the labels by annotators who only ever give one class."""
    annotators = ["function"] * one_sided + ["person"] * 40
    given = ["x"] * one_sided + ["x", "y"] * 20
    labels = from_arrays(np.arange(len(given)), annotators, given)

    found, why = choose_method(labels)

    assert found == method
    if method == "mace":
        assert why == "most labels are by annotators who only give one class"


class Bare:
    """A truth method that gives an array."""

    name = "bare"

    def infer(self, labels, corpus=None, *, fitting=None):
        return labels.votes()


def test_what_an_own_method_gives_must_be_an_estimate_of_the_labels() -> None:
    labels = from_arrays(["u", "v"], ["a", "a"], ["x", "y"])

    with pytest.raises(
        OptionError, match=r"^truth: infer of bare returned a ndarray. A truth method has a name and infer"
    ):
        infer_truth(Bare(), labels)
    with pytest.raises(OptionError, match=r"^truth: bare returned beliefs of shape \(2, 2\) for 1 units and 1 classes"):
        infer_truth(Estimated(), from_arrays(["u"], ["a"], ["x"]))


class Estimated(Bare):
    """A truth method that always gives an estimate of two items."""

    def infer(self, labels, corpus=None, *, fitting=None):
        return truth_method("majority").infer(from_arrays(["u", "v"], ["a", "a"], ["x", "y"]))


@pytest.mark.parametrize("name", list(TRUTH_METHODS))
def test_every_method_is_taken_as_it_is(name: str) -> None:
    method = truth_method(name)

    assert as_truth_method(method) is method
