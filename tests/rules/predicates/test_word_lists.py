"""Word lists in files, and in the vocabulary."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from crowdlogic.data.corpus import documents
from crowdlogic.errors import RuleError
from crowdlogic.rules.grounding import ground_rules
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.predicates.word_lists import in_list, read_word_list


def test_a_word_list_is_read_once_per_line(tmp_path: Path) -> None:
    (tmp_path / "cities.txt").write_text("Paris\n\n Rome \nNew York\n", encoding="utf-8")

    words = read_word_list(tmp_path / "cities.txt")
    found = in_list(pl.Series(["Paris", "paris", "Rome", "in Rome today", ""]), words)

    assert found.to_list() == [True, False, True, True, False]


def test_a_missing_word_list_is_named(tmp_path: Path) -> None:
    with pytest.raises(RuleError, match=r"^there is no word list 'none\.txt' beside the rule file\.$"):
        read_word_list(tmp_path / "none.txt")


def test_a_word_list_that_was_changed_is_read_again(tmp_path: Path) -> None:
    (tmp_path / "w.txt").write_text("fine\n")
    before = read_word_list(tmp_path / "w.txt")

    (tmp_path / "w.txt").write_text("awful\n")

    assert before == ("fine",)
    assert read_word_list(tmp_path / "w.txt") == ("awful",)


def test_a_word_list_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "w.txt").write_bytes(b"\xff\xfe\x00")

    with pytest.raises(RuleError, match=r"^the word list 'w\.txt' cannot be read as UTF-8 text\.$"):
        read_word_list(tmp_path / "w.txt")


def test_rules_from_no_file_read_the_word_lists_of_the_vocabulary() -> None:
    vocabulary = Vocabulary().word_list("cities", ["Rome", "Paris", "Rome"])

    found = ground_rules(
        parse_rules("1: InList(S, 'cities') -> Label(S, 'x')"),
        documents(["a", "b"], ["in Rome", "in Bonn"]),
        ("x", "y"),
        vocabulary=vocabulary,
    )

    assert found.rules[0].units.tolist() == [0]
    assert vocabulary.word_lists == {"cities": ("Paris", "Rome")}
