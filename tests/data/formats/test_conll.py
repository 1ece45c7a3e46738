from __future__ import annotations

from pathlib import Path

import pytest
from tests.data.test_labels import triples

from crowdlogic.data.corpus import sentences
from crowdlogic.data.frames import from_sequences
from crowdlogic.data.reading import read_corpus, read_crowd, write_corpus, write_estimate, write_labels
from crowdlogic.errors import FormatError, OptionError, SizeLimitError
from crowdlogic.truth.majority import MajorityVote


def tagged() -> tuple[object, object]:
    labels = from_sequences([("s1", "a", ["B-X", "I-X"]), ("s2", "a", ["O"])])
    corpus = sentences(["s1", "s2"], [["New", "York"], ["is"]])
    return MajorityVote().infer(labels), corpus


CONLL = "Ann O B-PER ?\nLee O I-PER ?\n\nParis ? B-LOC B-LOC\n"


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_a_sentence_seen_in_part_goes_into_conll_alone(tmp_path: Path) -> None:
    (tmp_path / "c.conll").write_text("New B-X ?\nYork I-X O\n")
    crowd = read_crowd(tmp_path / "c.conll")

    write_labels(tmp_path / "d.conll", crowd.labels, corpus=crowd.corpus)

    assert (tmp_path / "d.conll").read_text() == "New B-X ?\nYork I-X O\n"
    with pytest.raises(OptionError, match="tagged only a part of sentence 0"):
        write_labels(tmp_path / "d.csv", crowd.labels)


@pytest.mark.parametrize(
    ("rows", "tokens", "message"),
    [
        (
            [("s", "John Smith", ["O"])],
            [["a"]],
            "The annotator 'John Smith' contains white space, which CoNLL does not support. Write .jsonl instead.",
        ),
        (
            [("s", "a", ["B X"])],
            [["a"]],
            "The tag 'B X' contains white space, which CoNLL does not support. Write .jsonl instead.",
        ),
        (
            [("s\nt", "a", ["O"])],
            [["a"]],
            "The sentence name 's\\nt' cannot be stored in CoNLL. Write .jsonl instead.",
        ),
    ],
)
def test_what_conll_cannot_hold_is_refused(
    tmp_path: Path, rows: list[tuple[str, str, list[str]]], tokens: list[list[str]], message: str
) -> None:
    corpus = sentences([rows[0][0]], tokens)

    with pytest.raises(FormatError) as caught:
        write_labels(tmp_path / "l.conll", from_sequences(rows), corpus=corpus)

    assert str(caught.value) == message


def test_an_empty_sentence_cannot_be_written_as_conll(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="Sentence 't' is empty, which CoNLL does not support"):
        write_corpus(tmp_path / "c.conll", sentences(["s", "t"], [["a"], []], gold=[["O"], []]))


def test_conll_columns_are_annotators(tmp_path: Path) -> None:
    crowd = read_crowd(write(tmp_path, "c.conll", CONLL))

    assert triples(crowd.labels) == {
        ((0, 0), "annotator_1", "O"),
        ((0, 1), "annotator_1", "O"),
        ((0, 0), "annotator_2", "B-PER"),
        ((0, 1), "annotator_2", "I-PER"),
        ((1, 0), "annotator_2", "B-LOC"),
        ((1, 0), "annotator_3", "B-LOC"),
    }
    assert crowd.corpus is not None
    assert crowd.corpus.tokens == ("Ann", "Lee", "Paris")


@pytest.mark.parametrize(
    "variant",
    [
        "\n\n" + CONLL + "\n\n",
        CONLL.replace("\n", "\r\n"),
        CONLL.replace(" ", "\t"),
        CONLL.replace("\n\n", "\n \n\n"),
        CONLL.rstrip("\n"),
    ],
    ids=["blank around", "crlf", "tabs", "blank with a space", "no last break"],
)
def test_white_space_in_conll_does_not_matter(tmp_path: Path, variant: str) -> None:
    plain = read_crowd(write(tmp_path, "c.conll", CONLL))

    other = read_crowd(write(tmp_path, "v.conll", variant))

    assert triples(other.labels) == triples(plain.labels)
    assert other.corpus is not None
    assert plain.corpus is not None
    assert other.corpus.tokens == plain.corpus.tokens


def test_tokens_that_look_like_line_breaks_or_comments_stay_tokens(tmp_path: Path) -> None:
    crowd = read_crowd(write(tmp_path, "c.conll", "# O\n\u2028 O\n\u00a0 O\n\n# id = s2\n#1 B-X\n"))

    assert crowd.corpus is not None
    assert crowd.corpus.tokens == ("#", "\u2028", "\u00a0", "#1")
    assert crowd.corpus.items.to_list() == ["0", "s2"]


def test_gold_must_have_one_column(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"expected one column of tags, got 3\."):
        read_corpus(write(tmp_path, "c.conll", CONLL))


def test_columns_that_are_no_annotators_are_pointed_out(tmp_path: Path) -> None:
    crowd = read_crowd(write(tmp_path, "c03.conll", "EU NNP B-NP B-ORG\nrejects VBZ B-VP O\n"))

    assert crowd.labels.intake.messages() == [
        "The column of annotator_1 shares no tag with the others. Does every column contain the tags of an annotator?"
    ]


def test_tags_are_written_as_conll(tmp_path: Path) -> None:
    estimate, corpus = tagged()

    write_estimate(tmp_path / "o.conll", estimate, corpus=corpus)  # type: ignore[arg-type]

    assert (tmp_path / "o.conll").read_text() == "# id = s1\nNew B-X\nYork I-X\n\n# id = s2\nis O\n"


def test_conll_without_tokens_is_refused(tmp_path: Path) -> None:
    estimate, _ = tagged()

    with pytest.raises(OptionError, match=r"CoNLL needs the tokens"):
        write_estimate(tmp_path / "o.conll", estimate)  # type: ignore[arg-type]


def test_tokens_without_tags_are_sentences_without_gold(tmp_path: Path) -> None:
    corpus = read_corpus(write(tmp_path, "n.conll", "# id = first\nNew\nYork\n\nParis\n"))

    assert corpus.items.to_list() == ["first", "1"]
    assert corpus.tokens == ("New", "York", "Paris")
    assert corpus.offsets is not None
    assert corpus.offsets.tolist() == [0, 2, 3]
    assert corpus.gold is None


def test_a_token_without_a_tag_among_tagged_ones_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError) as caught:
        read_corpus(write(tmp_path, "n.conll", "New\nYork B-LOC\n"))

    assert str(caught.value) == (
        f"{tmp_path}/n.conll, line 2: 2 columns, but the first line has 1. Give every token the same number of tags, "
        f"? for not seen."
    )


def test_too_many_columns_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x.conll").write_text("t" + " O" * 9_000)

    with pytest.raises(SizeLimitError, match=r"x\.conll: 9,001 columns or fields, but at most 8,192 are supported\."):
        read_crowd(tmp_path / "x.conll")
