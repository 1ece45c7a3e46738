"""Word lists in files, and in the vocabulary."""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl
import pytest

from crowdlogic.data.corpus import documents
from crowdlogic.errors import RuleError
from crowdlogic.rules.grounding import ground_rules
from crowdlogic.rules.packing import pack_rules
from crowdlogic.rules.parser import parse_rules, read_rules
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.predicates.tokens import in_list, read_word_list


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


def test_a_pipe_is_no_word_list(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "words.txt")

    with pytest.raises(RuleError, match=r"the word list 'words\.txt' cannot be read"):
        read_word_list(tmp_path / "words.txt")


@pytest.mark.parametrize("name", ["/etc/hostname", "../secret.txt", "link.txt"])
def test_a_rule_reads_no_word_list_outside_of_its_folder(tmp_path: Path, name: str) -> None:
    home = tmp_path / "rules"
    home.mkdir()
    (tmp_path / "secret.txt").write_text("secret\n")
    (home / "link.txt").symlink_to(tmp_path / "secret.txt")
    (home / "my.rules").write_text(f"1: InList(S, '{name}') -> Label(S, 'a')")
    rules, corpus = read_rules(home / "my.rules"), documents(["u"], ["a secret"])

    for use in (lambda: ground_rules(rules, corpus, ("a", "b")), lambda: pack_rules(rules)):
        with pytest.raises(RuleError, match=r"is outside the folder of the rule file, so it is not read"):
            use()
    if name == "../secret.txt":
        allowed = read_rules(home / "my.rules", allow_outside=True)
        assert pack_rules(allowed).word_lists == {"secret.txt": b"secret\n"}
