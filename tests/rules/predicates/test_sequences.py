"""The structure of sequences, against enumeration."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from crowdlogic.data.corpus import Corpus, documents, sentences
from crowdlogic.errors import RuleError
from crowdlogic.rules.predicates.sequences import (
    first_facts,
    last_facts,
    next_facts,
    previous_facts,
    same_sequence_facts,
)

LENGTHS = [3, 1, 0, 2]
MANY = 1000


def corpus() -> Corpus:
    return sentences([f"s{n}" for n in range(len(LENGTHS))], [["w"] * length for length in LENGTHS])


def runs() -> list[list[int]]:
    """The units of each sequence."""
    ends = np.cumsum(LENGTHS)
    return [list(range(end - length, end)) for end, length in zip(ends, LENGTHS, strict=True)]


def pairs(found: object) -> set[tuple[int, ...]]:
    return set(zip(*(column.tolist() for column in found.columns), strict=True))  # type: ignore[attr-defined]


def test_first_and_last_units() -> None:
    assert pairs(first_facts(corpus(), MANY)) == {(run[0],) for run in runs() if run}
    assert pairs(last_facts(corpus(), MANY)) == {(run[-1],) for run in runs() if run}


def test_neighbours() -> None:
    neighbours = {(one, other) for run in runs() for one, other in itertools.pairwise(run)}

    assert pairs(next_facts(corpus(), MANY)) == neighbours
    assert pairs(previous_facts(corpus(), MANY)) == {(other, one) for one, other in neighbours}


def test_pairs_of_one_sequence() -> None:
    found = same_sequence_facts(corpus(), MANY)

    assert pairs(found) == {pair for run in runs() for pair in itertools.permutations(run, 2)}
    assert len(found.columns[0]) == 8


def test_too_many_pairs_are_refused_before_they_are_made() -> None:
    with pytest.raises(
        RuleError,
        match=r"^SameSequence has 8 pairs of tokens, and the limit is 7 \(max_rows\)\. Use .* raise the limit\.$",
    ):
        same_sequence_facts(corpus(), 7)


def test_documents_have_no_sequences() -> None:
    with pytest.raises(RuleError, match="this predicate is about tokens, and the items are documents"):
        first_facts(documents(["a"], ["t"]), MANY)


def test_an_empty_corpus_has_no_last_unit() -> None:
    assert last_facts(sentences([], []), MANY).columns[0].tolist() == []
