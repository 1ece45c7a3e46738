"""What a format that overrides one method does, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from tests.data.formats.votes import VOTES

from crowdlogic.data.corpus import documents
from crowdlogic.data.files import InputFile
from crowdlogic.data.formats.protocol import ReadOptions, assemble_crowd, usual_suffixes
from crowdlogic.data.frames import from_dict
from crowdlogic.data.intake.contract import TableSource
from crowdlogic.data.reading import read_labels, write_labels
from crowdlogic.errors import CorpusError, FormatError, OptionError


def test_a_problem_in_another_packages_file_names_its_line(with_votes: object, tmp_path: Path) -> None:
    (tmp_path / "v.votes").write_text("VOTES\nu|a|x|t\nu|a|y|t\n")

    with pytest.raises(
        ValueError, match=r"v\.votes, line 3: annotator 'a' labels item 'u' again, with another label than in line 2"
    ):
        read_labels(tmp_path / "v.votes")


def test_what_a_format_cannot_do_is_refused_in_a_sentence(with_votes: object, tmp_path: Path) -> None:
    labels = from_dict({"u": {"a": "x"}})

    with pytest.raises(OptionError) as caught:
        write_labels(tmp_path / "l.votes", labels)
    with pytest.raises(FormatError, match="Votes does not contain a table, which is needed here"):
        VOTES.read_table(InputFile("v.votes"))

    *able, last = usual_suffixes("encode_labels")
    assert str(caught.value) == (
        f"{tmp_path / 'l.votes'}: labels cannot be written as votes. Use {', '.join(able)} or {last}."
    )


def test_the_formats_that_can_write_are_listed_by_their_suffix() -> None:
    assert usual_suffixes("encode_table")[:5] == [".csv", ".tsv", ".xlsx", ".parquet", ".jsonl"]
    assert ".conll" not in usual_suffixes("encode_table")
    assert ".conll" in usual_suffixes("encode_labels")


def test_a_crowd_is_labels_over_the_items_of_its_corpus() -> None:
    table = pl.DataFrame({"item": ["v", "u"], "annotator": ["a", "a"], "label": ["x", "y"]})

    crowd = assemble_crowd(
        table, TableSource("f"), ReadOptions(), corpus=documents(["u", "v", "w"], ["1", "2", "3"]), notices=["Noted."]
    )

    assert crowd.labels.items.to_list() == ["u", "v", "w"]
    assert [crowd.labels.classes[k] for k in crowd.labels.label] == ["y", "x"]
    assert crowd.labels.intake.messages() == ["Noted."]


def test_a_label_without_its_item_is_refused() -> None:
    table = pl.DataFrame({"item": ["u"], "annotator": ["a"], "label": ["x"]})

    with pytest.raises(CorpusError, match="Item 'u' has labels but no text"):
        assemble_crowd(table, TableSource("f"), ReadOptions(), corpus=documents(["v"], ["text"]))


def test_abstentions_need_a_wide_table() -> None:
    with pytest.raises(OptionError, match="goes with a wide table"):
        ReadOptions(abstain="-1")
