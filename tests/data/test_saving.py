from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.data.test_labels import triples

from crowdlogic.data.corpus import documents, sentences
from crowdlogic.data.files import atomic_write
from crowdlogic.data.frames import from_arrays, from_frame, from_sequences
from crowdlogic.data.reading import read_corpus, read_crowd, read_labels
from crowdlogic.data.writing import write_corpus, write_labels
from crowdlogic.errors import FormatError, OptionError

NAMES = st.text(st.characters(blacklist_categories=["Cs", "Cc"]), min_size=1, max_size=6).filter(lambda t: t.strip())


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet", "csv.gz"])
def test_any_names_survive_a_file(suffix: str, tmp_path: Path) -> None:
    @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
    @given(
        st.lists(
            st.tuples(NAMES, NAMES, NAMES.map(lambda t: f"c{t}")), min_size=1, max_size=8, unique_by=lambda row: row[:2]
        )
    )
    def check(rows: list[tuple[str, str, str]]) -> None:
        write_labels(tmp_path / f"l.{suffix}", from_arrays(*zip(*rows, strict=True)))

        assert triples(read_labels(tmp_path / f"l.{suffix}")) == set(rows)

    check()


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
@pytest.mark.parametrize("names", [[1, 0], [True, False], ["b", "a"]])
def test_typed_files_keep_the_type_of_classes(tmp_path: Path, suffix: str, names: list[object]) -> None:
    labels = from_arrays(["u", "v"], ["a", "a"], names)

    write_labels(tmp_path / f"l.{suffix}", labels)

    assert read_labels(tmp_path / f"l.{suffix}").classes == labels.classes


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_weight_time_and_kind_survive_a_file(tmp_path: Path, suffix: str) -> None:
    labels = from_frame(
        pl.DataFrame(
            {
                "item": ["u", "v"],
                "annotator": ["a", "b"],
                "label": ["x", "y"],
                "weight": [0.5, 2.0],
                "time": [1.5, None],
                "kind": ["llm", "human"],
            }
        )
    )

    write_labels(tmp_path / f"l.{suffix}", labels)
    again = read_labels(tmp_path / f"l.{suffix}")

    np.testing.assert_array_equal(again.weight, labels.weight)
    np.testing.assert_array_equal(again.time, labels.time)
    assert again.kind == labels.kind


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet", "conll"])
def test_tags_survive_a_file(tmp_path: Path, suffix: str) -> None:
    labels = from_sequences([("s1", "ann", ["B-X", "I-X"]), ("s2", "bob", ["O"]), ("s1", "bob", ["O", "O"])])
    corpus = sentences(["s1", "s2"], [["New", "York"], ["is"]])

    write_labels(tmp_path / f"l.{suffix}", labels, corpus=corpus)

    assert triples(read_labels(tmp_path / f"l.{suffix}")) == triples(labels)


def test_a_sentence_seen_in_part_goes_into_conll_alone(tmp_path: Path) -> None:
    (tmp_path / "c.conll").write_text("New B-X ?\nYork I-X O\n")
    crowd = read_crowd(tmp_path / "c.conll")

    write_labels(tmp_path / "d.conll", crowd.labels, corpus=crowd.corpus)

    assert (tmp_path / "d.conll").read_text() == "New B-X ?\nYork I-X O\n"
    with pytest.raises(OptionError, match="saw only a part of sentence 0"):
        write_labels(tmp_path / "d.csv", crowd.labels)


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_documents_survive_a_file(tmp_path: Path, suffix: str) -> None:
    corpus = documents(["1", "2", "3"], ['say "hi",\nthere', "b", "c"], gold=["x", None, "y"])

    write_corpus(tmp_path / f"c.{suffix}", corpus)
    again = read_corpus(tmp_path / f"c.{suffix}")

    assert again.texts == corpus.texts
    assert again.classes == corpus.classes
    assert again.gold is not None
    assert again.gold.tolist() == [0, -1, 1]


@pytest.mark.parametrize("suffix", ["conll", "jsonl"])
def test_sentences_survive_a_file(tmp_path: Path, suffix: str) -> None:
    corpus = sentences(["s1", "s2"], [["New", "York"], ["is"]], gold=[["B-X", "I-X"], ["O"]])

    write_corpus(tmp_path / f"c.{suffix}", corpus)
    again = read_corpus(tmp_path / f"c.{suffix}")

    assert again.tokens == corpus.tokens
    assert again.items.to_list() == ["s1", "s2"]
    assert again.gold is not None
    assert [again.classes[k] for k in again.gold] == ["B-X", "I-X", "O"]


def test_nothing_is_left_behind_when_writing_fails(tmp_path: Path) -> None:
    corpus = sentences(["s1"], [["New York"]], gold=[["B-X"]])

    with pytest.raises(ValueError, match="holds white space, which CoNLL cannot"):
        write_corpus(tmp_path / "c.conll", corpus)

    assert list(tmp_path.iterdir()) == []


def test_an_old_file_stays_whole_when_writing_fails_midway(tmp_path: Path) -> None:
    path = tmp_path / "o.csv"
    path.write_text("old")

    def write_half() -> None:
        with atomic_write(path) as draft:
            draft.write_text("half")
            raise RuntimeError("midway")

    with pytest.raises(RuntimeError, match="midway"):
        write_half()

    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["o.csv"]


def test_a_written_file_has_the_usual_permissions(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    write_labels(tmp_path / "l.csv", from_arrays(["u"], ["a"], ["x"]))

    assert (tmp_path / "l.csv").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_name_that_ends_in_gz_is_gzipped(tmp_path: Path) -> None:
    write_labels(tmp_path / "l.csv.gz", from_arrays(["u"], ["a"], ["x"]))

    assert (tmp_path / "l.csv.gz").read_bytes()[:2] == b"\x1f\x8b"


@pytest.mark.parametrize(
    ("rows", "tokens", "message"),
    [
        (
            [("s", "John Smith", ["O"])],
            [["a"]],
            "The annotator 'John Smith' holds white space, which CoNLL cannot. Write .jsonl instead.",
        ),
        ([("s", "a", ["B X"])], [["a"]], "The tag 'B X' holds white space, which CoNLL cannot. Write .jsonl instead."),
        (
            [("s\nt", "a", ["O"])],
            [["a"]],
            "The sentence name 's\\nt' would not survive in CoNLL. Write .jsonl instead.",
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


@pytest.mark.parametrize("suffix", ["conll", "csv"])
def test_a_sentence_tagged_twice_cannot_be_written_in_one_column(tmp_path: Path, suffix: str) -> None:
    labels = from_sequences([("s", "a", ["O"]), ("s", "a", ["B-X"])], duplicates="keep")

    with pytest.raises(OptionError, match="Annotator 'a' tagged sentence 's' twice"):
        write_labels(tmp_path / f"l.{suffix}", labels, corpus=sentences(["s"], [["x"]]))


def test_an_empty_sentence_cannot_be_written_as_conll(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="Sentence 't' is empty, which CoNLL cannot say"):
        write_corpus(tmp_path / "c.conll", sentences(["s", "t"], [["a"], []], gold=[["O"], []]))


def test_sentences_survive_parquet(tmp_path: Path) -> None:
    corpus = sentences(["s1", "s2"], [["New", "York"], ["is"]], gold=[["B-X", "I-X"], ["O"]])

    write_corpus(tmp_path / "c.parquet", corpus)

    assert read_corpus(tmp_path / "c.parquet").tokens == corpus.tokens


def test_sentences_do_not_go_into_a_csv(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"sentences are written as \.conll, \.jsonl or \.parquet"):
        write_corpus(tmp_path / "c.csv", sentences(["s"], [["a"]]))
