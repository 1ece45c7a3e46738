"""Units that hard rules leave no class are named, with the rules."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tests.rules.enumeration import CLASSES

from crowdlogic.data.corpus import documents, sentences
from crowdlogic.errors import RuleError
from crowdlogic.rules.grounding import ground_rules
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.projection.projector import Projector

BIO = ("B-PER", "I-PER", "O")


def bio_ground(tokens: list[list[str]], text: str = "include bio"):
    return ground_rules(parse_rules(text), sentences([f"s{n}" for n in range(len(tokens))], tokens), BIO)


def test_a_unit_whose_every_class_is_forbidden_names_the_rules() -> None:
    text = "First(T) -> Label(T, 'O') .\nLast(T) -> Label(T, 'B-PER') .\n1: First(T) -> Label(T, 'I-PER')"

    with pytest.raises(RuleError) as caught:
        Projector().project(np.full((3, 3), 1 / 3), bio_ground([["a", "b"], ["c"]], text))

    assert str(caught.value) == (
        "Sequence 's1', token 1: the hard rules forbid every class that the beliefs allow. The rules there:\n"
        "    the rules:1:1: First(T) -> Label(T, 'O') .\n"
        "    the rules:2:1: Last(T) -> Label(T, 'B-PER') ."
    )


def test_a_chain_that_is_forbidden_as_a_whole_names_its_sequence() -> None:
    text = "Label(T, C) & Previous(T, P) -> !Label(P, C) .\nPrevious(T, P) -> Label(T, 'O') ."

    with pytest.raises(RuleError, match=r"^Sequence 's0', token 1: the hard rules forbid every class"):
        Projector().project(np.full((3, 3), 1 / 3), bio_ground([["a", "b", "c"]], text))


def test_a_forbidden_pair_of_documents_names_the_rules() -> None:
    frame = pl.DataFrame({"a": ["u0", "u0"], "b": ["u1", "u2"]})
    ground = ground_rules(
        parse_rules("Similar(A, B) & Label(A, C) -> Label(B, C) .\nSimilar(A, B) & Label(A, C) -> !Label(B, C) ."),
        documents(["u0", "u1", "u2"], ["t"] * 3),
        CLASSES,
        vocabulary=Vocabulary().table("Similar", frame),
    )

    with pytest.raises(RuleError, match=r"(?s)Item 'u0': the hard rules.*2 more units.*rules:1:1.*rules:2:1"):
        Projector().project(np.full((3, 3), 1 / 3), ground)


def test_beliefs_of_zero_are_no_fault_of_the_rules() -> None:
    with pytest.raises(RuleError, match=r"^Item 'u': the beliefs are 0 for every class\.$"):
        Projector().project(
            np.zeros((1, 3)), ground_rules(parse_rules("1: !Label(S, 'x')"), documents(["u"], ["t"]), CLASSES)
        )
