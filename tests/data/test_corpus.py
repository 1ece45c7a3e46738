from __future__ import annotations

import numpy as np
import pytest
from tests.data.test_labels import triples

from crowdlogic.data.corpus import align, documents, merge_corpora, sentences
from crowdlogic.data.frames import from_dict, from_sequences
from crowdlogic.errors import CorpusError


def test_labels_move_to_the_corpus_order_and_keep_their_meaning() -> None:
    labels = from_dict({"v": {"a": "x"}, "u": {"a": "y", "b": "x"}})
    corpus = documents(["u", "w", "v"], ["one", "two", "three"], gold=["y", None, "x"])

    moved, same = align(labels, corpus)

    assert triples(moved) == triples(labels)
    assert moved.items.to_list() == ["u", "w", "v"]
    assert moved.labels_per_unit().tolist() == [2, 0, 1]
    assert same.gold is not None
    assert [same.classes[k] if k >= 0 else None for k in same.gold] == ["y", None, "x"]


def test_a_gold_class_nobody_gave_joins_the_classes() -> None:
    labels, corpus = align(from_dict({"u": {"a": "x"}}), documents(["u"], ["t"], gold=["a"]))

    assert labels.classes == corpus.classes == ("a", "x")
    assert triples(labels) == {("u", "a", "x")}


def test_sentences_are_aligned_token_by_token() -> None:
    labels = from_sequences([("t", "a", ["B-X"]), ("s", "a", ["O", "B-X"])])
    corpus = sentences(["s", "t"], [["New", "York"], ["Rome"]], gold=[["B-X", "I-X"], ["B-X"]])

    moved, same = align(labels, corpus)

    assert triples(moved) == triples(labels)
    assert moved.unit.tolist() == [0, 1, 2]
    assert same.classes == moved.classes == ("B-X", "I-X", "O")


@pytest.mark.parametrize(
    ("labels", "corpus", "message"),
    [
        (
            from_dict({"u": {"a": "x"}, "v": {"a": "x"}}),
            documents(["u"], ["t"]),
            "Item 'v' has labels but no text (1 such items). Add the items to the corpus, or select the labels of its items.",
        ),
        (
            from_sequences([("s", "a", ["O", "O"])]),
            sentences(["s"], [["Hi"]]),
            "Sequence 's' has 2 tags and 1 token (1 such sequence). Give one tag per token.",
        ),
        (
            from_dict({"u": {"a": "x"}}),
            sentences(["u"], [["Hi"]]),
            "The labels are of documents, but the corpus contains sequences. Give both of the same kind.",
        ),
    ],
)
def test_labels_that_do_not_fit_are_refused(labels: object, corpus: object, message: str) -> None:
    with pytest.raises(CorpusError) as caught:
        align(labels, corpus)  # type: ignore[arg-type]

    assert str(caught.value) == message


def test_selected_sentences_keep_tokens_and_gold() -> None:
    corpus = sentences(
        ["s", "t", "u"], [["New", "York"], ["Rome"], ["a", "b", "c"]], gold=[["B-X", "I-X"], ["B-X"], ["O", "O", "O"]]
    )

    chosen = corpus.select(["u", "s"])

    assert chosen.tokens == ("a", "b", "c", "New", "York")
    assert chosen.sentence(1) == ("New", "York")
    assert chosen.gold is not None
    assert [chosen.classes[k] for k in chosen.gold] == ["O", "O", "O", "B-X", "I-X"]


def test_splits_are_numpys_permutation() -> None:
    corpus = documents(list(range(9)), [str(i) for i in range(9)], features=np.arange(18.0).reshape(9, 2))

    dev, test = corpus.split(4, seed=3)

    order = np.random.default_rng(3).permutation(9)
    assert dev.items.to_list() == order[:4].tolist()
    assert test.texts == tuple(str(i) for i in order[4:])
    assert test.features is not None
    assert test.features[:, 0].tolist() == (2.0 * order[4:]).tolist()


def test_an_item_twice_is_refused() -> None:
    with pytest.raises(CorpusError) as caught:
        documents(["u", "u"], ["a", "b"])

    assert str(caught.value) == "Item 'u' appears twice in the corpus. Give each item once."


def test_gold_over_other_classes_means_the_same() -> None:
    corpus = documents(["u", "v"], ["a", "b"], gold=["x", None])

    turned = corpus.with_classes(("y", "x"))

    assert turned.gold is not None
    assert turned.gold.tolist() == [1, -1]
    with pytest.raises(CorpusError, match="The gold class 'x' is not among the classes y"):
        corpus.with_classes(("y",))


def test_classes_are_compared_as_text() -> None:
    labels, corpus = align(
        from_dict({"u": {"a": 0}, "v": {"a": 1}}), documents(["u", "v"], ["s", "t"], gold=["1", "0"])
    )

    assert labels.classes == corpus.classes == (0, 1)
    assert corpus.gold is not None
    assert corpus.gold.tolist() == [1, 0]


def test_items_known_to_both_are_taken_once() -> None:
    one, two = (
        sentences(["s", "t"], [["a"], ["b", "c"]], gold=[["O"], ["O", "X"]]),
        sentences(["t", "u"], [["z", "z"], ["d"]]),
    )

    both = merge_corpora(one, two)

    assert both is not None
    assert both.items.to_list() == ["s", "t", "u"]
    assert both.tokens == ("a", "b", "c", "d")
    assert both.gold is not None
    assert both.gold.tolist() == [0, 0, 1, -1]
