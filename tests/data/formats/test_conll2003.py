"""CoNLL-2003: four columns, of which the first and the last are used."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdlogic.data.corpus import sentences
from crowdlogic.data.files import InputFile
from crowdlogic.data.formats.conll import CONLL2003
from crowdlogic.data.frames import from_sequences
from crowdlogic.data.reading import read_answers, read_corpus, write_estimate
from crowdlogic.errors import FormatError, OptionError
from crowdlogic.truth.majority import MajorityVote

EXAMPLE = "-DOCSTART- -X- -X- O\r\n\r\nEU NNP B-NP B-ORG\r\nrejects VBZ B-VP O\r\n\r\nPeter NNP B-NP B-PER\r\n"


def test_the_shared_tasks_own_layout_is_read(tmp_path: Path) -> None:
    (tmp_path / "eng.conll").write_bytes(EXAMPLE.encode())

    corpus = read_corpus(tmp_path / "eng.conll")

    assert corpus.tokens == ("EU", "rejects", "Peter")
    assert [corpus.classes[code] for code in corpus.gold] == ["B-ORG", "O", "B-PER"]  # type: ignore[union-attr]
    assert corpus.offsets is not None
    assert corpus.offsets.tolist() == [0, 2, 3]


def test_answers_are_written_with_empty_parts_of_speech_and_chunks(tmp_path: Path) -> None:
    labels = from_sequences([("s", "a", ["B-X", "O"]), ("t", "a", ["O"])])
    corpus = sentences(["s", "t"], [["Ann", "😀"], ["שלום"]])

    write_estimate(tmp_path / "f.conll", MajorityVote().infer(labels), corpus=corpus, format="conll2003")

    expected = "-DOCSTART- -X- -X- O\n\nAnn -X- _ B-X\n😀 -X- _ O\n\nשלום -X- _ O\n"
    assert (tmp_path / "f.conll").read_text() == expected
    assert read_answers(tmp_path / "f.conll").answer.tolist() == [0, 1, 1]


TOKEN = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zs", "Zl", "Zp"]), min_size=1, max_size=5)
TAGGED = st.tuples(TOKEN.filter(lambda word: word != "-DOCSTART-"), st.sampled_from(["O", "B-X", "I-X"]))


@given(st.lists(st.lists(TAGGED, min_size=1, max_size=5), min_size=1, max_size=4))
def test_tokens_and_tags_are_read_again(tagged: list[list[tuple[str, str]]]) -> None:
    gold = [[tag for _, tag in one] for one in tagged]
    corpus = sentences(range(len(tagged)), [[token for token, _ in one] for one in tagged], gold=gold)
    file = InputFile("f.conll")
    file.__dict__["content"] = CONLL2003.encode_corpus(corpus, "f.conll")

    found = CONLL2003.read_corpus(file)

    assert found.tokens == corpus.tokens
    assert [found.classes[code] for code in found.gold] == [tag for tags in gold for tag in tags]  # type: ignore[union-attr]


def test_a_token_without_a_tag_is_named(tmp_path: Path) -> None:
    (tmp_path / "f.conll").write_text("-DOCSTART- -X- -X- O\n\nEU NNP B-NP B-ORG\nrejects\n")

    with pytest.raises(FormatError) as raised:
        read_answers(tmp_path / "f.conll")

    assert str(raised.value) == f"{tmp_path}/f.conll, line 4: a token without a tag. Give each token its columns."


def test_documents_cannot_be_written() -> None:
    estimate = MajorityVote().infer(from_sequences([("s", "a", ["O"])]))

    with pytest.raises(OptionError, match="needs sentences with their tokens"):
        CONLL2003.encode_estimate(estimate, None, "f.conll")
