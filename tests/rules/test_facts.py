"""Facts about a corpus: names become codes, and what does not fit is refused with its row."""

from __future__ import annotations

import polars as pl
import pytest

from crowdlogic.data.corpus import documents, sentences
from crowdlogic.errors import RuleError
from crowdlogic.rules.facts import Pool, World
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.predicates.definition import Kind
from crowdlogic.rules.syntax import Atom, Constant, Place

CLASSES = ("x", "y")
HERE = Place("r", 1, 1, "")


def atom(text: str) -> Atom:
    (rule,) = parse_rules(f"1: {text} -> Label(S, 'x')").rules
    return rule.atoms[0]


def test_a_text_keeps_its_code() -> None:
    pool = Pool()

    first = pool.codes(pl.Series(["b", "a", "b"]))
    second = pool.codes(pl.Series(["c", "a"]))

    assert first.tolist() == [0, 1, 0]
    assert second.tolist() == [2, 1]
    assert pool.texts.to_list() == ["b", "a", "c"]


def test_tokens_are_named_by_item_and_number_and_documents_by_item() -> None:
    tokens = World(sentences(["s", "t"], [["a", "b"], ["c"]]), CLASSES, Vocabulary())
    items = World(documents(["d", "e"], ["t"] * 2), CLASSES, Vocabulary())

    assert tokens.unit_names.to_list() == ["s:1", "s:2", "t:1"]
    assert items.unit_names.to_list() == ["d", "e"]
    assert tokens.unit(Constant("t:1", HERE)) == 2
    with pytest.raises(RuleError, match=r"there is no item or token 'f'\."):
        items.unit(Constant("f", HERE))


def test_facts_are_coded_by_what_stands_at_each_place() -> None:
    vocabulary = Vocabulary().table(
        "Says", pl.DataFrame({"item": ["e", "d", "zz"], "class": ["y", "x", "x"], "truth": [0.5, 1.0, 1.0]})
    )
    world = World(documents(["d", "e"], ["t"] * 2), CLASSES, vocabulary)
    predicate = vocabulary.find("Says")
    assert predicate is not None

    found = world.facts(atom("Says(S, C)"), predicate, [Kind.unit, Kind.label])

    assert [column.tolist() for column in found.columns] == [[1, 0], [1, 0]]
    assert found.truth is not None
    assert found.truth.tolist() == [0.5, 1.0]
    assert [one.what for one in world.notices] == [
        "the table of Says: 1 of 3 facts are about items that are not here, such as 'zz', and were left out (here are d, e, ...)."
    ]


def test_facts_are_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    vocabulary = Vocabulary()
    vocabulary.predicate("Long")(lambda texts: [calls.append(1) or len(text) > 2 for text in texts])
    world = World(documents(["d", "e"], ["abc", "a"]), CLASSES, vocabulary)
    predicate = vocabulary.find("Long")
    assert predicate is not None

    first = world.facts(atom("Long(S)"), predicate, [Kind.unit])
    again = world.facts(atom("Long(S)"), predicate, [Kind.unit])

    assert again is first
    assert first.columns[0].tolist() == [0]
    assert len(calls) == 2
