from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdlogic.data.frames import from_arrays, from_dict, from_sequences
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import LabelError, OptionError

ROWS = st.lists(
    st.tuples(st.sampled_from("uvwxyz"), st.sampled_from("abcd"), st.sampled_from(["no", "yes", "maybe"])),
    unique_by=lambda row: row[:2],
    max_size=24,
)


def triples(labels: CrowdLabels) -> set[tuple[object, object, object]]:
    """The table as a set of (item, annotator, label) names; for sequences the item is (sequence, position)."""
    item = labels.item_of_unit[labels.unit]
    within = labels.unit - (item if labels.offsets is None else labels.offsets[item])
    return {
        (
            labels.items[int(s)] if labels.offsets is None else (labels.items[int(s)], int(p)),
            labels.annotators[int(a)],
            labels.classes[c],
        )
        for s, p, a, c in zip(item, within, labels.annotator, labels.label, strict=True)
    }


def tagged() -> CrowdLabels:
    return from_sequences(
        [
            ("s1", "ann", ["O", "B-PER", "I-PER"]),
            ("s1", "bob", ["O", "O", "O"]),
            ("s2", "bob", ["B-LOC"]),
            ("s3", "ann", ["O", "O"]),
        ]
    )


@given(ROWS)
def test_names_survive_coding(rows: list[tuple[str, str, str]]) -> None:
    labels = from_arrays(*zip(*rows, strict=True)) if rows else from_arrays([], [], [])

    assert triples(labels) == set(rows)
    assert labels.n_labels == len(rows)


@given(ROWS)
def test_votes_count_the_labels(rows: list[tuple[str, str, str]]) -> None:
    labels = from_arrays(*zip(*rows, strict=True)) if rows else from_arrays([], [], [])
    counted = Counter((item, label) for item, _, label in rows)

    votes = labels.votes()

    for i, item in enumerate(labels.items):
        for k, name in enumerate(labels.classes):
            assert votes[i, k] == counted[item, name]


def test_votes_weigh_labels() -> None:
    labels = from_arrays(["u", "u", "v"], ["a", "b", "a"], ["x", "y", "y"], weight=[0.5, 2.0, 3.0])

    np.testing.assert_array_equal(labels.votes(), [[0.5, 2.0], [0.0, 3.0]])
    np.testing.assert_array_equal(labels.votes(weighted=False), [[1, 1], [0, 1]])


def test_rows_are_sorted_by_unit_then_annotator() -> None:
    labels = from_arrays(["v", "u", "v", "u"], ["b", "b", "a", "a"], ["1", "2", "3", "4"])

    assert labels.items.to_list() == ["v", "u"]
    assert labels.unit.tolist() == [0, 0, 1, 1]
    assert labels.annotator.tolist() == [0, 1, 0, 1]
    assert [labels.classes[k] for k in labels.label] == ["1", "3", "2", "4"]


def test_arrays_cannot_be_changed() -> None:
    labels = from_arrays(["u"], ["a"], ["x"])

    with pytest.raises(ValueError, match="read-only"):
        labels.label[0] = 1


def test_a_sequence_seen_without_entities_differs_from_one_not_seen() -> None:
    labels = tagged()
    _, annotator, _ = labels.annotations()
    seen = {(labels.items[int(s)], labels.annotators[int(a)]) for s, a in zip(*labels.annotations()[:2], strict=True)}

    assert ("s1", "bob") in seen
    assert ("s2", "ann") not in seen
    assert len(annotator) == 4


def test_units_of_sequences_belong_to_their_items() -> None:
    labels = tagged()

    assert labels.offsets is not None
    assert labels.offsets.tolist() == [0, 3, 4, 6]
    assert labels.item_of_unit.tolist() == [0, 0, 0, 1, 2, 2]
    assert labels.n_units == 6


@pytest.mark.parametrize(
    "make", [tagged, lambda: from_dict({"u": {"a": "x", "b": "y"}, "v": {"b": "x"}, "w": {"a": "y"}})]
)
def test_selected_items_keep_their_labels(make: object) -> None:
    labels = make()  # type: ignore[operator]
    wanted = labels.items.to_list()[::-1][:2]

    chosen = labels.select(items=wanted)

    assert chosen.items.to_list() == wanted
    expected = {t for t in triples(labels) if (t[0][0] if labels.is_sequential else t[0]) in wanted}
    assert triples(chosen) == expected


def test_selected_annotators_keep_their_labels() -> None:
    labels = tagged()

    chosen = labels.select(annotators=["bob"])

    assert triples(chosen) == {t for t in triples(labels) if t[1] == "bob"}
    assert chosen.annotators.to_list() == ["bob"]
    assert chosen.items.to_list() == labels.items.to_list()


def test_an_unknown_name_gets_the_nearest_one() -> None:
    labels = from_dict({"review_1": {"ann": "x"}})

    with pytest.raises(LabelError) as caught:
        labels.select(items=["reviev_1"])

    assert str(caught.value) == "No item is called 'reviev_1'. Did you mean 'review_1'?"


def test_a_subsample_keeps_sentences_whole() -> None:
    labels = tagged()

    half = labels.subsample(2, seed=1)

    item, _, pair = half.annotations()
    assert len(item) == 2
    lengths = np.diff(labels.offsets)
    np.testing.assert_array_equal(np.bincount(pair), lengths[item])
    assert triples(half) < triples(labels)


def test_a_subsample_depends_on_its_seed_alone() -> None:
    labels = from_dict({f"u{i}": {f"a{j}": "x" for j in range(5)} for i in range(20)})

    assert triples(labels.subsample(0.3, seed=4)) == triples(labels.subsample(0.3, seed=4))
    assert triples(labels.subsample(0.3, seed=4)) != triples(labels.subsample(0.3, seed=5))
    assert labels.subsample(0.3, seed=4).n_labels == 30


def test_a_subsample_larger_than_the_table_is_refused() -> None:
    with pytest.raises(OptionError) as caught:
        from_dict({"u": {"a": "x"}}).subsample(2, seed=0)

    assert str(caught.value) == "subsample: 2 requested, but there are 1 annotations. Give at most that."


def test_splits_cover_every_item_once() -> None:
    labels = from_dict({f"u{i}": {"a": "x"} for i in range(10)})

    parts = labels.split(3, 4, seed=0)

    assert [len(part.items) for part in parts] == [3, 4, 3]
    assert sorted(name for part in parts for name in part.items) == sorted(labels.items)
    assert sum(part.n_labels for part in parts) == labels.n_labels


def test_splits_follow_numpys_permutation() -> None:
    labels = from_dict({i: {"a": "x"} for i in range(10)})

    first, _ = labels.split(4, seed=7)

    assert first.items.to_list() == np.random.default_rng(7).permutation(10)[:4].tolist()


def test_classes_in_another_order_mean_the_same() -> None:
    labels = from_dict({"u": {"a": "x", "b": "y"}})

    turned = labels.with_classes(["y", "z", "x"])

    assert triples(turned) == triples(labels)
    assert turned.classes == ("y", "z", "x")


def test_a_class_in_use_cannot_be_left_out() -> None:
    with pytest.raises(LabelError) as caught:
        from_dict({"u": {"a": "x", "b": "y"}}).with_classes(["x"])

    assert str(caught.value) == "The class 'y' is in use and cannot be left out. Keep it, or drop its labels first."


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"unit": np.array([2])}, "unit contains codes from 2 to 2, expected 0 to 0."),
        ({"label": np.array([-1])}, "label contains codes from -1 to -1, expected 0 to 0."),
        ({"annotator": np.array([0, 0])}, "annotator has 2 rows and unit has 1. Give arrays of one length."),
        (
            {"weight": np.array([np.inf])},
            "A weight is negative or not finite. Give weights of 0 or more.",
        ),
        ({"classes": ("x", "x")}, "A class is named twice. Give each class once."),
        ({"kind": ("robot",)}, "kind needs one of human, llm, code for each of 1 annotator."),
        (
            {"offsets": np.array([0, 1, 2])},
            "offsets must increase from 0 and have one entry more than there are items.",
        ),
    ],
)
def test_codes_that_make_no_sense_are_refused(change: dict[str, object], message: str) -> None:
    fine = {
        "unit": np.array([0]),
        "annotator": np.array([0]),
        "label": np.array([0]),
        "items": pl.Series(["u"]),
        "annotators": pl.Series(["a"]),
        "classes": ("x",),
    }

    with pytest.raises(LabelError) as caught:
        CrowdLabels(**{**fine, **change})  # type: ignore[arg-type]

    assert str(caught.value) == message


def test_kinds_move_with_their_annotators() -> None:
    labels = replace(from_dict({"u": {"a": "x", "b": "y", "c": "x"}}), kind=("human", "llm", "code"))

    assert labels.select(annotators=["c", "a"]).kind == ("code", "human")


def test_codes_out_of_order_are_sorted_with_their_weights() -> None:
    labels = CrowdLabels(
        unit=np.array([1, 0]),
        annotator=np.array([0, 0]),
        label=np.array([1, 0]),
        items=pl.Series(["u", "v"]),
        annotators=pl.Series(["a"]),
        classes=("x", "y"),
        weight=np.array([5.0, 7.0]),
        time=np.array([1.0, 2.0]),
    )

    assert labels.label.tolist() == [0, 1]
    assert labels.weights.tolist() == [7.0, 5.0]
    assert labels.time is not None
    assert labels.time.tolist() == [2.0, 1.0]
