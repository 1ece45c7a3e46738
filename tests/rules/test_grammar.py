"""The grammar of span tags is found, and only where tags follow it."""

from __future__ import annotations

import pytest

from crowdlogic.data.frames import from_dict, from_sequences
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.transitions import find_grammar, includes_grammar


@pytest.mark.parametrize(
    ("tags", "grammar"),
    [
        ("B-PER I-PER O B-ORG", "bio"),
        ("B-PER I-PER O I-PER", "bio"),  # a slip now and then
        ("B-PER E-PER O S-PER", "bioes"),
        ("I-PER I-PER O O", None),  # no tag begins a span
        ("I-PER O I-PER B-PER", None),  # IOB1: B- only between neighbours
        ("B-PER O B-ORG O", None),  # nothing inside
        ("NOUN VERB NOUN VERB", None),
    ],
)
def test_tags_have_the_grammar_that_they_follow(tags: str, grammar: str | None) -> None:
    assert find_grammar(from_sequences([("s", "a", tags.split())])) == grammar


def test_documents_have_no_grammar() -> None:
    assert find_grammar(from_dict({"u": {"a": "B-PER", "b": "I-PER"}})) is None


def test_rules_that_include_a_grammar_are_recognised() -> None:
    assert includes_grammar(parse_rules("2.0: include bio"))
    assert not includes_grammar(parse_rules("include contrast('but')"))
