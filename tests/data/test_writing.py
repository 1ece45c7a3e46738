from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.data.test_labels import triples

from crowdlogic.data.corpus import documents, sentences
from crowdlogic.data.frames import from_arrays, from_dict, from_frame, from_sequences
from crowdlogic.data.reading import read_corpus, read_labels, write_corpus, write_estimate, write_labels
from crowdlogic.errors import OptionError
from crowdlogic.truth.majority import MajorityVote

VOTES = {"u": {"a": "x", "b": "x", "c": "y"}, "v": {"a": "y"}, "w": {"a": None}}


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

    with pytest.raises(ValueError, match="contains white space, which CoNLL does not support"):
        write_corpus(tmp_path / "c.conll", corpus)

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("suffix", ["conll", "csv"])
def test_a_sentence_tagged_twice_cannot_be_written_in_one_column(tmp_path: Path, suffix: str) -> None:
    labels = from_sequences([("s", "a", ["O"]), ("s", "a", ["B-X"])], duplicates="keep")

    with pytest.raises(OptionError, match="Annotator 'a' tagged sentence 's' twice"):
        write_labels(tmp_path / f"l.{suffix}", labels, corpus=sentences(["s"], [["x"]]))


def test_sentences_survive_parquet(tmp_path: Path) -> None:
    corpus = sentences(["s1", "s2"], [["New", "York"], ["is"]], gold=[["B-X", "I-X"], ["O"]])

    write_corpus(tmp_path / "c.parquet", corpus)

    assert read_corpus(tmp_path / "c.parquet").tokens == corpus.tokens


def test_sentences_do_not_go_into_a_csv(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"sentences cannot be written as csv\. Use \.conll, \.jsonl or \.parquet"):
        write_corpus(tmp_path / "c.csv", sentences(["s"], [["a"]]))


def test_a_folder_that_is_not_there_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"the folder .* does not exist\. Create it first\."):
        write_estimate(tmp_path / "no" / "o.csv", MajorityVote().infer(from_dict(VOTES)))
