"""Rules, facts and word lists travel with the run."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from crowdlogic.data.corpus import documents
from crowdlogic.errors import FormatError, OptionError
from crowdlogic.learning.carried_rules import carried_rules, carry_rules
from crowdlogic.rules.grounding import ground_rules
from crowdlogic.rules.parser import read_rules
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.projection.projector import Projector
from crowdlogic.rules.syntax import RuleSet

CLASSES = ("neg", "pos")
TEXTS = documents(["a", "b", "c"], ["awful thing", "fine it's", "plain"])
RULES = """
$BAD = {'awful', 'poor'}
include 'sub/more.rules'
0.5: InList(S, 'words.txt') -> Label(S, 'pos')
2: Near(A, B) & Label(A, C) -> Label(B, C)
1: Contains(S, $BAD) -> Label(S, 'neg') ^2
include contrast('it\\'s')
Label(S, 'pos') + Label(S, 'neg') = 1 .
"""
MORE = "0.7: InList(S, 'words.txt') & !InList(S, '../words.txt') -> Label(S, 'neg')\n"


def written(folder: Path) -> tuple[RuleSet, Vocabulary]:
    (folder / "sub").mkdir(parents=True)
    (folder / "my.rules").write_text(RULES)
    (folder / "sub" / "more.rules").write_text(MORE)
    (folder / "words.txt").write_text("fine\n")
    (folder / "sub" / "words.txt").write_text("plain\n")
    near = pl.DataFrame({"x": ["a", "b"], "y": ["b", "c"], "truth": [0.5, 1.0]})
    return read_rules(folder / "my.rules"), Vocabulary().table("Near", near)


def beliefs(rules: RuleSet, vocabulary: Vocabulary) -> np.ndarray:
    q_a = np.array([[0.4, 0.6], [0.7, 0.3], [0.5, 0.5]])
    ground = ground_rules(rules, TEXTS, CLASSES, vocabulary=vocabulary)
    return Projector(strength=1.0).project(q_a, ground, predict=lambda texts: np.tile([0.2, 0.8], (len(texts), 1))).q_b


def test_rules_mean_the_same_in_a_run_that_was_moved(tmp_path: Path) -> None:
    rules, vocabulary = written(tmp_path / "given")
    before = beliefs(rules, vocabulary)
    (tmp_path / "run").mkdir()

    noted = json.loads(json.dumps(carry_rules(tmp_path / "run", rules, vocabulary)))
    shutil.rmtree(tmp_path / "given")
    (tmp_path / "run").rename(tmp_path / "elsewhere")

    after = beliefs(*carried_rules(tmp_path / "elsewhere", noted))
    np.testing.assert_array_equal(after, before)
    assert sorted(f.name for f in (tmp_path / "elsewhere" / "words").iterdir()) == ["words-2.txt", "words.txt"]


def test_a_group_of_word_lists_travels_and_stays_a_group_of_words_elsewhere(tmp_path: Path) -> None:
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
    before = beliefs(rules, Vocabulary())
    (tmp_path / "run").mkdir()

    noted = json.loads(json.dumps(carry_rules(tmp_path / "run", rules, Vocabulary())))
    shutil.rmtree(given)
    (tmp_path / "run").rename(tmp_path / "elsewhere")

    np.testing.assert_array_equal(beliefs(*carried_rules(tmp_path / "elsewhere", noted)), before)
    assert len({tuple(row) for row in before.round(6).tolist()}) == 3  # each text is touched by other lists and words
    words = {file.name: file.read_text().strip() for file in (tmp_path / "elsewhere" / "words").iterdir()}
    assert sorted(words.values()) == ["awful", "it's", "plain"]


def test_facts_about_new_items_may_take_the_place_of_the_runs_own(tmp_path: Path) -> None:
    rules, vocabulary = written(tmp_path / "given")
    (tmp_path / "run").mkdir()
    noted = carry_rules(tmp_path / "run", rules, vocabulary)
    other = Vocabulary().table("Near", pl.DataFrame({"x": ["c"], "y": ["a"]}))

    _, words = carried_rules(tmp_path / "run", noted, other)

    assert words.tables["near"].arguments[0].to_list() == ["c"]
    assert words is not other


def test_functions_of_python_must_be_brought_along(tmp_path: Path) -> None:
    (tmp_path / "r.rules").write_text("1: Shouting(S) -> Label(S, 'neg')\n")
    vocabulary = Vocabulary()
    vocabulary.predicate("Shouting")(lambda texts: [text.isupper() for text in texts])
    noted = carry_rules(tmp_path, read_rules(tmp_path / "r.rules"), vocabulary)

    with pytest.raises(OptionError) as refused:
        carried_rules(tmp_path, noted)
    rules, words = carried_rules(tmp_path, noted, vocabulary)

    assert str(refused.value) == (
        f"{tmp_path}: its rules speak of Shouting, which was registered from Python. Load the run from Python with a "
        f"vocabulary that has it."
    )
    assert len(rules) == 1
    assert words.find("Shouting") is not None


@pytest.mark.parametrize(
    ("text", "tables", "said"),
    [
        ("include '{outside}'\n", {}, "its rules cannot be read"),
        ("1: InList(S, '{outside}') -> Label(S, 'neg')\n", {}, "which is not in its folder 'words'"),
        ("1: InList(S, '../secret.txt') -> Label(S, 'neg')\n", {}, "the word list '../secret.txt', which is not in"),
        ("1: InList(S, 'words/../../secret.txt') -> Label(S, 'neg')\n", {}, "which is not in its folder"),
        ("1: InList(S, 'words/link.txt') -> Label(S, 'neg')\n", {}, "the word list 'words/link.txt', which is not in"),
        ("$L = {{'../secret.txt'}}\n1: inlist(S, $L) -> Label(S, 'neg')\n", {}, "which is not in its folder"),
        ("1: Label(S, 'neg')\n", {"../../secret": "x"}, "'../../secret' cannot name a table"),
    ],
)
def test_nothing_outside_the_run_is_read(tmp_path: Path, text: str, tables: dict[str, str], said: str) -> None:
    (tmp_path / "secret.txt").write_text("a secret\n")
    (tmp_path / "run" / "words").mkdir(parents=True)
    (tmp_path / "run" / "words" / "link.txt").symlink_to(tmp_path / "secret.txt")
    outside = tmp_path / "secret.txt"
    noted = {"source": "r", "text": text.format(outside=outside), "tables": tables, "functions": []}

    with pytest.raises(FormatError) as refused:
        carried_rules(tmp_path / "run", noted)

    assert str(refused.value).startswith(f"{tmp_path / 'run'}: the run is damaged (")
    assert said in str(refused.value)
    assert "a secret" not in str(refused.value)
