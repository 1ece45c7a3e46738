"""spaCy reads the DocBin that we write, and we read it again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.heavy

WRITE_AND_READ = """
import sys
import spacy
from spacy.tokens import DocBin
from crowdlogic.data.corpus import documents, sentences
from crowdlogic.data.frames import from_frame, from_sequences
from crowdlogic.data.reading import read_answers
from crowdlogic.data.reading import write_estimate
from crowdlogic.truth.majority import MajorityVote

texts = ["two  spaces\\nand a line", "שלום 😀", "e\\u0301 combined\\r\\n"]
labels = from_frame({"item": ["u", "v", "w"], "annotator": ["a"] * 3, "label": ["good", "bad", "good"]})
write_estimate("docs.spacy", MajorityVote().infer(labels), corpus=documents(["u", "v", "w"], texts))
docs = list(DocBin().from_disk("docs.spacy").get_docs(spacy.blank("xx").vocab))
assert [doc.text for doc in docs] == texts, [doc.text for doc in docs]
assert [doc.cats for doc in docs] == [{"bad": 0.0, "good": 1.0}, {"bad": 1.0, "good": 0.0}, {"bad": 0.0, "good": 1.0}]
again = read_answers("docs.spacy")
assert [again.classes[code] for code in again.answer] == ["good", "bad", "good"]
assert again.items.to_list() == ["u", "v", "w"]

tags = from_sequences([("s", "a", ["B-ORG", "I-ORG", "O", "B-ORG"]), ("t", "a", ["O"])])
corpus = sentences(["s", "t"], [["X", "Corp", "rejects", "EU"], ["😀"]])
write_estimate("tags.spacy", MajorityVote().infer(tags), corpus=corpus)
docs = list(DocBin().from_disk("tags.spacy").get_docs(spacy.blank("xx").vocab))
assert [[(e.text, e.label_) for e in doc.ents] for doc in docs] == [[("X Corp", "ORG"), ("EU", "ORG")], []]
again = read_answers("tags.spacy")
assert [again.classes[code] for code in again.answer] == ["B-ORG", "I-ORG", "O", "B-ORG", "O"]
assert again.tokens == corpus.tokens

from crowdlogic.extensions.tools.collector import Collector
from crowdlogic.data.formats.protocol import ReadOptions
collector = Collector("made", ReadOptions())
collector.spans(collector.item("s", text="Ann, Lee sing."), "a", [(0, 3, "PER")], record=1)
made = collector.crowd()
write_estimate("text.spacy", MajorityVote().infer(made.labels), corpus=made.corpus)
(doc,) = DocBin().from_disk("text.spacy").get_docs(spacy.blank("xx").vocab)
assert doc.text == "Ann, Lee sing.", doc.text
assert [(e.text, e.start_char) for e in doc.ents] == [("Ann", 0)]

pos = from_sequences([("s", "a", ["NOUN", "VERB"])])
write_estimate("pos.spacy", MajorityVote().infer(pos), corpus=sentences(["s"], [["dogs", "bark"]]))
docs = list(DocBin().from_disk("pos.spacy").get_docs(spacy.blank("xx").vocab))
assert [token.tag_ for token in docs[0]] == ["NOUN", "VERB"]
print("fine")
"""


def test_spacy_reads_our_docbin(tools: Callable[..., str], tmp_path: Path) -> None:
    assert tools(WRITE_AND_READ).strip() == "fine"
    assert (tmp_path / "tags.spacy").is_file()
