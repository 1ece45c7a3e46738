"""Changes to options: from --set, from TOML files, and several of them put together."""

from __future__ import annotations

from pathlib import Path

import pytest

from crowdlogic.errors import FormatError, MissingDataError, OptionError
from crowdlogic.store.options import merge_changes, parse_changes, read_toml


def test_dotted_texts_are_nested_changes() -> None:
    found = parse_changes(
        [
            "strength=4",
            "classifier=linear",
            "classifier.ridge = 0.5",
            "loss=annotators",
            "imitation.base=.9",
            "start.order=['a', 'b']",
            "held_out=none",
            'preset="paper"',
        ]
    )

    assert found == {
        "strength": 4,
        "classifier": {"name": "linear", "ridge": 0.5},
        "loss": "annotators",
        "imitation": {"base": 0.9},
        "start": {"order": ["a", "b"]},
        "held_out": "none",
        "preset": "paper",
    }


@pytest.mark.parametrize("text", ["strength", "=4", "classifier.=3", ".x=3"])
def test_a_text_without_a_name_is_refused(text: str) -> None:
    with pytest.raises(OptionError) as refused:
        parse_changes([text])

    assert (
        str(refused.value)
        == f"--set {text!r}: write name=value, such as projector.strength=4 or classifier.filters=50."
    )


def test_changes_are_merged_and_the_second_wins() -> None:
    first = {"a": 1, "classifier": {"name": "linear", "ridge": 1.0}, "imitation": {"base": 0.5}}
    second = {"a": 2, "classifier": {"name": "kim-cnn"}, "imitation": {"maximum": 0.5}}

    assert merge_changes(first, second) == {
        "a": 2,
        "classifier": {"name": "kim-cnn"},
        "imitation": {"base": 0.5, "maximum": 0.5},
    }


def test_a_toml_file_is_read_or_refused(tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text("seed = 3\n[set]\nclassifier.ridge = 0.5\n")
    (tmp_path / "bad.toml").write_text("seed = \n")

    assert read_toml(tmp_path / "run.toml") == {"seed": 3, "set": {"classifier": {"ridge": 0.5}}}
    with pytest.raises(FormatError, match=r"bad.toml: is not valid TOML \(Invalid value"):
        read_toml(tmp_path / "bad.toml")
    with pytest.raises(MissingDataError, match=r"no.toml: no such file."):
        read_toml(tmp_path / "no.toml")


def test_merging_changes_neither_of_the_two() -> None:
    first, second = {"classifier": {"ridge": 1.0}}, {"classifier": {"steps": 3}}

    merge_changes(first, second)

    assert (first, second) == ({"classifier": {"ridge": 1.0}}, {"classifier": {"steps": 3}})


@pytest.mark.parametrize("value", ["[" * 5000, "9" * 5000, "\ud800"], ids=["deep", "long", "half a character"])
def test_what_toml_cannot_read_is_the_text_itself(value: str) -> None:
    assert parse_changes([f"x={value}"]) == {"x": value}


@pytest.mark.parametrize("content", [b"x = " + b"[" * 5000, b"x = " + b"9" * 5000, b"\xff", b"x"])
def test_a_toml_file_that_is_none_is_one_line(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "o.toml").write_bytes(content)

    with pytest.raises(FormatError, match=r"o\.toml: is not valid TOML"):
        read_toml(tmp_path / "o.toml")
