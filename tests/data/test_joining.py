from __future__ import annotations

import pytest
from tests.data.test_labels import triples

from crowdlogic.data.frames import from_arrays, from_dict, from_sequences
from crowdlogic.data.joining import concatenate
from crowdlogic.errors import LabelError


def test_joined_tables_hold_the_labels_of_both() -> None:
    one = from_dict({"u": {"a": "x"}, "v": {"b": "y"}})
    two = from_dict({"v": {"a": "z"}, "w": {"c": "x"}})

    joined = concatenate([one, two])

    assert triples(joined) == triples(one) | triples(two)
    assert joined.classes == ("x", "y", "z")
    assert joined.items.to_list() == ["u", "v", "w"]
    assert joined.intake.rows == 4


def test_a_split_table_joins_to_itself() -> None:
    whole = from_sequences([("s", "a", ["O", "B-X"]), ("t", "a", ["O"]), ("t", "b", ["B-X"]), ("u", "b", ["O"])])

    assert triples(concatenate(whole.split(1, 1, seed=0))) == triples(whole)


@pytest.mark.parametrize(("policy", "label"), [("first", {"x"}), ("last", {"y"}), ("keep", {"x", "y"})])
def test_a_pair_in_two_tables_follows_the_policy(policy: str, label: set[str]) -> None:
    one, two = from_dict({"u": {"a": "x"}}), from_dict({"u": {"a": "y"}})

    joined = concatenate([one, two], duplicates=policy)

    assert {name for _, _, name in triples(joined)} == label
    assert joined.intake.duplicates == 1


def test_a_pair_in_two_tables_is_refused_by_default() -> None:
    with pytest.raises(LabelError) as caught:
        concatenate([from_dict({"u": {"a": "x"}}), from_dict({"u": {"a": "y"}})])

    assert str(caught.value) == (
        "Annotator 'a' labels item 'u' in two tables, with different labels (1 of 1 repeated label). "
        "Choose which labels count: "
        'duplicates="first", "last" or "keep".'
    )


def test_the_same_label_in_two_tables_counts_once() -> None:
    tags = [("s", "a", ["B-X", "O"])]

    joined = concatenate([from_dict({"u": {"a": "x"}}), from_dict({"u": {"a": "x"}, "v": {"a": "y"}})])
    sentences = concatenate([from_sequences(tags), from_sequences(tags)])

    assert triples(joined) == {("u", "a", "x"), ("v", "a", "y")}
    assert joined.intake.messages() == [
        "1 row repeats a label (same item, annotator and label): each label was counted once."
    ]
    assert sentences.n_labels == 2


def test_weights_are_one_where_a_table_has_none() -> None:
    joined = concatenate([from_dict({"u": {"a": "x"}}), from_arrays(["v"], ["a"], ["x"], weight=[0.5])])

    assert joined.weights.tolist() == [1.0, 0.5]


@pytest.mark.parametrize(
    ("two", "message"),
    [
        (
            from_sequences([("s", "a", ["O"])]),
            "Sequence 's' has 2 units in one table and 1 in another. Sequences with the same name must have the same units.",
        ),
        (
            from_dict({"s": {"b": "x"}}),
            "Labels of documents and of sequences cannot be concatenated. Give tables of one kind.",
        ),
        (from_sequences([(1, "b", ["O"])]), "Names are numbers in one table, but text in another. Give both as text."),
    ],
)
def test_tables_that_do_not_fit_are_refused(two: object, message: str) -> None:
    with pytest.raises(LabelError) as caught:
        concatenate([from_sequences([("s", "b", ["O", "O"])]), two], duplicates="keep")  # type: ignore[list-item]

    assert str(caught.value) == message
