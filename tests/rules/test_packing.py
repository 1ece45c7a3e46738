"""Rules as plain data and back: they mean the same, need no file and read none."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.rules.written_rules import project_rules, write_rules

from crowdlogic.errors import FormatError, OptionError, RuleError
from crowdlogic.rules.packing import check_packing, pack_rules, unpack_rules
from crowdlogic.rules.parser import parse_rules, read_rules
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.syntax import LogicalRule
from crowdlogic.store.runs import PackedRules


def test_unpacked_rules_mean_the_same_without_their_files(tmp_path: Path) -> None:
    rules, vocabulary = write_rules(tmp_path / "given")
    before = project_rules(rules, vocabulary)

    packed = pack_rules(rules, vocabulary)
    shutil.rmtree(tmp_path / "given")

    np.testing.assert_array_equal(project_rules(*unpack_rules(packed)), before)
    assert packed.word_lists == {"words.txt": b"plain\n", "words-2.txt": b"fine\n"}
    assert packed.source == "my.rules"
    assert packed.tables["Near"].to_dict(as_series=False) == {"1": ["a", "b"], "2": ["b", "c"], "truth": [0.5, 1.0]}


def test_packing_what_was_unpacked_changes_nothing(tmp_path: Path) -> None:
    packed = pack_rules(*write_rules(tmp_path / "given"))

    again = pack_rules(*unpack_rules(packed))

    assert (again.text, again.source, again.word_lists) == (packed.text, packed.source, packed.word_lists)
    assert again.table_sources == packed.table_sources
    assert again.tables["Near"].equals(packed.tables["Near"])


def test_a_group_of_word_lists_stays_a_group_of_words_elsewhere(tmp_path: Path) -> None:
    given = tmp_path / "given"
    (given / "sub").mkdir(parents=True)
    (given / "my.rules").write_text(
        "$LISTS = {'fine', 'plain'}\n$LISTS_LISTS = {'thing'}\ninclude 'sub/more.rules'\n"
        "0.5: InList(S, $LISTS) -> Label(S, 'pos')\n1: Contains(S, $LISTS) -> Label(S, 'neg')\n"
        "2: Contains(S, $LISTS_LISTS) -> Label(S, 'neg')\n"
    )
    (given / "sub" / "more.rules").write_text("$OTHERS = {'fine'}\n0.7: InList(S, $OTHERS) -> Label(S, 'neg')\n")
    for name, word in {"fine": "awful", "plain": "it's", "sub/fine": "plain"}.items():
        (given / name).write_text(f"{word}\n")
    rules = read_rules(given / "my.rules")
    before = project_rules(rules, Vocabulary())

    packed = pack_rules(rules)
    shutil.rmtree(given)

    np.testing.assert_array_equal(project_rules(*unpack_rules(packed)), before)
    assert len({tuple(row) for row in before.round(6).tolist()}) == 3  # each text is touched by other lists and words
    assert sorted(packed.word_lists.values()) == [b"awful\n", b"it's\n", b"plain\n"]


def test_a_table_that_is_brought_along_takes_the_place_of_the_packed_one(tmp_path: Path) -> None:
    packed = pack_rules(*write_rules(tmp_path / "given"))
    other = Vocabulary().table("Near", pl.DataFrame({"x": ["c"], "y": ["a"]}))

    _, words = unpack_rules(packed, other)

    assert words.tables["near"].arguments[0].to_list() == ["c"]
    assert words is not other


def test_functions_of_python_must_be_brought_along() -> None:
    vocabulary = Vocabulary()
    vocabulary.predicate("Shouting")(lambda texts: [text.isupper() for text in texts])
    packed = pack_rules(parse_rules("1: Shouting(S) -> Label(S, 'neg')"), vocabulary)

    with pytest.raises(OptionError) as refused:
        unpack_rules(packed, where="runs/1")
    _, words = unpack_rules(packed, vocabulary)

    assert packed.functions == ("Shouting",)
    assert str(refused.value) == (
        "runs/1: its rules use Shouting, which was registered from Python and is not saved with the run. Load it with a vocabulary that contains it: crowdlogic.load_run('runs/1', vocabulary=vocabulary). Commands only know the predicates of installed packages: name it in an entry point of the group crowdlogic.predicates."
    )
    assert words.find("Shouting") is not None


def test_functions_that_no_rule_uses_are_not_missed() -> None:
    vocabulary = Vocabulary()
    vocabulary.predicate("Shouting")(lambda texts: [text.isupper() for text in texts])

    packed = pack_rules(parse_rules("1: Contains(S, 'x') -> Label(S, 'neg')"), vocabulary)

    assert packed.functions == ()
    assert len(unpack_rules(packed)[0].rules) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("include '{outside}'\n", "its rules cannot be read"),
        ("1: InList(S, '{outside}') -> Label(S, 'neg')\n", "its rules name the word list '{outside}', which is not"),
        ("$L = {{'../w.txt'}}\n1: inlist(S, $L) -> Label(S, 'neg')\n", "the word list '../w.txt', which is not among"),
        ("1: Label(S, ", "its rules cannot be read"),
    ],
)
def test_no_file_is_read_whatever_the_text_says(tmp_path: Path, text: str, said: str) -> None:
    outside = tmp_path / "secret.txt"
    outside.write_text("1: !Label(S, 'neg')\n")

    with pytest.raises(FormatError) as refused:
        unpack_rules(PackedRules(text=text.format(outside=outside)), where="runs/1")

    assert str(refused.value).startswith("runs/1: the run is damaged (")
    assert said.format(outside=outside) in str(refused.value)


def test_a_word_list_that_is_damaged_or_missing_is_named() -> None:
    text = "1: InList(S, 'w.txt') -> Label(S, 'neg')\n"

    with pytest.raises(FormatError, match=r"the word list 'w\.txt' cannot be read as UTF-8 text"):
        unpack_rules(PackedRules(text=text, word_lists={"w.txt": b"\xff"}))
    with pytest.raises(RuleError, match=r"name the word list 'w\.txt', which the vocabulary does not contain"):
        pack_rules(parse_rules(text))


def test_rules_that_cannot_be_read_again_are_refused_before_a_training(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = parse_rules("1.0: Label(S, C) & Contains(S, 'ugly') -> C != 'positive'\n")
    check_packing(rules)

    monkeypatch.setattr(LogicalRule, "__str__", lambda self: "1.0: A(X) -> ")
    with pytest.raises(RuleError, match="these rules could not be read again from a run"):
        check_packing(rules)
    monkeypatch.setattr(LogicalRule, "__str__", lambda self: "1: A(X)" if self.weight else "2.0: B(X)")
    with pytest.raises(RuleError, match="these rules would change when saved in a run"):
        check_packing(parse_rules("1: A(X)\nB(X) ."))
