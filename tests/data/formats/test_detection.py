"""Which format a file is in: by name, by suffix, by content; and how a format of another package joins in."""

from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest

from crowdlogic.data.files import InputFile
from crowdlogic.data.formats.protocol import (
    COMMON_SUFFIXES,
    all_suffixes,
    detect_format,
    find_format,
    formats_by_suffix,
)
from crowdlogic.data.reading import read_crowd, read_labels
from crowdlogic.errors import OptionError
from crowdlogic.registry import FORMATS, extensions


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

    assert str(caught.value) == f"format: expected one of {', '.join(FORMATS)}; got 'xml'."


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


def test_formats_of_common_suffixes_are_known_without_loading_the_others() -> None:
    exports = {name for one in extensions() for name in getattr(one, "CSV_COLUMNS", {})}

    for suffix, common in COMMON_SUFFIXES.items():
        having = [name for name in FORMATS if suffix in FORMATS.load(name).suffixes]
        assert [name for name in having if name not in exports] == [common]
