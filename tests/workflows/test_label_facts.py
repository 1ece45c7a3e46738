"""How much a table of labels holds."""

from __future__ import annotations

import pytest

from crowdlogic.data.corpus import documents
from crowdlogic.data.formats.protocol import Crowd
from crowdlogic.data.frames import from_frame, from_sequences
from crowdlogic.workflows.doctor import count_labels, count_spans


def test_items_annotators_labels_and_gold_are_counted() -> None:
    labels = from_frame(
        {"item": ["u", "u", "v", "w"], "annotator": ["a", "b", "a", "a"], "label": ["x", "y", "x", None],
         "kind": ["human", "llm", "human", "human"]}
    )  # fmt: skip
    corpus = documents(["u", "v", "w"], ["one", "two", "three"], gold=["x", None, None])

    facts = count_labels(Crowd(labels, corpus))

    assert (facts.items, facts.unlabelled, facts.single) == (3, 1, 1)
    assert (facts.annotators, facts.kinds) == (2, {"human": 1, "llm": 1})
    assert (facts.labels, facts.annotations, facts.fewest) == (3, 3, 1)
    assert (facts.tokens, facts.spans, facts.texts, facts.gold) == (None, None, True, 1)
    assert ("items", "3 (1 with one annotator only, 1 without labels)") in facts.rows()


@pytest.mark.parametrize(
    ("tags", "count"),
    [
        ([["B-X", "I-X", "O"], ["B-X", "B-X", "O"]], 3),
        ([["O", "O", "B-X"], ["I-X", "O", "O"]], 2),
        ([["B-X", "?", "I-X"], ["O", "O", "O"]], 2),
        ([["N", "V", "N"], ["N", "N", "N"]], None),
    ],
    ids=["adjacent", "at the border of two annotators", "cut by a token not seen", "no span tags"],
)
def test_every_annotators_spans_are_counted(tags: list[list[str]], count: int | None) -> None:
    labels = from_sequences([("s", "a", tags[0]), ("s", "b", tags[1])])

    assert count_spans(labels) == count
