"""Which format a file is in: by name, by suffix, by content; and how a format of another package joins in."""

from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest

from crowdlogic.data.corpus import documents
from crowdlogic.data.files import InputFile
from crowdlogic.data.formats.detection import all_suffixes, detect_format, find_format, formats_by_suffix
from crowdlogic.data.formats.protocol import Crowd, FileFormat, ReadOptions, assemble_crowd
from crowdlogic.data.frames import from_dict
from crowdlogic.data.intake.contract import TableSource
from crowdlogic.data.reading import read_crowd, read_labels
from crowdlogic.data.writing import write_labels
from crowdlogic.errors import FormatError, OptionError
from crowdlogic.registry import FORMATS


class Votes(FileFormat):
    """A tool that exports lines of item|annotator|label|text, below a first line that says VOTES."""

    name, title, suffixes = "votes", "Votes", (".jsonl", ".votes")

    def recognises(self, head: bytes) -> bool:
        return head.startswith(b"VOTES")

    def read_crowd(self, file: InputFile, options: ReadOptions) -> Crowd:
        rows = [line.split("|") for line in file.content.decode().splitlines()[1:]]
        table = pl.DataFrame(rows, schema=["item", "annotator", "label", "text"], orient="row")
        texts = dict(zip(table["item"], table["text"], strict=True))
        corpus = documents(list(texts), list(texts.values()), gold=["x"] * len(texts))
        source = TableSource(file.name, first_row=2, word="line")
        return assemble_crowd(table.drop("text"), source, options, corpus=corpus, notices=("One task was skipped.",))


VOTES = Votes()


@pytest.fixture
def with_votes() -> object:
    FORMATS.add("votes", f"{__name__}:VOTES")
    yield
    FORMATS._places.pop("votes")


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("l.csv", "csv"),
        ("l.CSV.gz", "csv"),
        ("l.tab", "tsv"),
        ("l.pq", "parquet"),
        ("l.ndjson", "jsonl"),
        ("l.bio", "conll"),
        ("-", "csv"),
    ],
)
def test_the_suffix_says_the_format(path: str, name: str) -> None:
    assert find_format(path).name == name


def test_every_format_of_the_registry_has_its_own_name_and_a_suffix() -> None:
    for name in FORMATS:
        found = FORMATS.load(name)
        assert found.name == name
        assert found.suffixes
        assert found in formats_by_suffix(f"file{found.suffixes[0]}")
        assert set(found.suffixes) <= set(all_suffixes())


def test_a_name_beats_the_suffix() -> None:
    assert find_format("l.csv", "jsonl").name == "jsonl"


def test_an_unknown_name_lists_the_formats() -> None:
    with pytest.raises(OptionError) as caught:
        find_format("l.csv", "xml")

    assert str(caught.value) == f"format: 'xml' is none of {', '.join(FORMATS)}."


def test_a_file_of_unknown_suffix_is_recognised_by_its_content(tmp_path: Path) -> None:
    table = pl.DataFrame({"item": ["u"], "annotator": ["a"], "label": ["x"]})
    table.write_parquet(tmp_path / "labels.data")
    packed = tmp_path / "packed.data.gz"
    packed.write_bytes(gzip.compress((tmp_path / "labels.data").read_bytes()))

    assert detect_format(InputFile(tmp_path / "labels.data")).name == "parquet"
    assert read_labels(packed).items.to_list() == ["u"]


def test_a_format_of_another_package_is_found_by_content_where_a_suffix_is_shared(
    with_votes: object, tmp_path: Path
) -> None:
    (tmp_path / "v.jsonl").write_text("VOTES\nu|a|x|some text\nu|b|y|some text\n")
    (tmp_path / "plain.jsonl").write_text('{"item": "u", "annotator": "a", "label": "x"}\n')

    crowd = read_crowd(tmp_path / "v.jsonl")

    assert crowd.labels.n_labels == 2
    assert crowd.corpus is not None
    assert crowd.corpus.texts == ("some text",)
    assert crowd.corpus.gold is not None
    assert crowd.labels.intake.messages() == ["One task was skipped."]
    assert read_labels(tmp_path / "plain.jsonl").n_labels == 1


def test_the_first_format_of_a_shared_suffix_writes(with_votes: object) -> None:
    assert find_format("l.jsonl").name == "jsonl"
    assert find_format("l.votes").name == "votes"


def test_a_problem_in_another_packages_file_names_its_line(with_votes: object, tmp_path: Path) -> None:
    (tmp_path / "v.votes").write_text("VOTES\nu|a|x|t\nu|a|y|t\n")

    with pytest.raises(ValueError, match=r"v\.votes, line 3: annotator 'a' labels item 'u' again, after line 2"):
        read_labels(tmp_path / "v.votes")


def test_what_a_format_cannot_do_is_refused_in_a_sentence(with_votes: object, tmp_path: Path) -> None:
    labels = from_dict({"u": {"a": "x"}})

    with pytest.raises(OptionError) as caught:
        write_labels(tmp_path / "l.votes", labels)
    with pytest.raises(FormatError, match="Votes holds no such thing as a table, which is needed here"):
        VOTES.read_table(InputFile("v.votes"))

    assert str(caught.value) == (
        f"{tmp_path / 'l.votes'}: labels cannot be written as votes. Use .csv, .tsv, .parquet, .jsonl or .conll."
    )
