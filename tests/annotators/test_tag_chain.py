"""Tags as a Markov chain: against enumeration."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import polars as pl
import pytest

from crowdlogic.errors import LabelError
from crowdlogic.numerics.logspace import dirichlet_mean, expected_log
from crowdlogic.truth.word_hmm import TagChain, tag_grammar

TAGS = ("B-X", "I-X", "B-Y", "I-Y", "O")
OFFSETS = np.array([0, 3, 3, 5])  # the second sequence is empty
NAMES = pl.Series(["s0", "s1", "s2"])


def chain(count: float = 1.0) -> TagChain:
    return TagChain(tag_grammar(TAGS), OFFSETS, count)


def test_an_inner_tag_follows_its_own_type_only() -> None:
    grammar = tag_grammar(TAGS)

    forbidden = {(TAGS[a], TAGS[b]) for a, b in zip(*np.nonzero(~grammar.allowed), strict=True)}
    assert forbidden == {(a, f"I-{kind}") for kind in "XY" for a in TAGS if a not in (f"B-{kind}", f"I-{kind}")}
    assert grammar.may_start.tolist() == [True, False, True, False, True]


def test_a_type_with_a_beginning_must_begin_with_it_and_one_without_may_begin_inside() -> None:
    grammar = tag_grammar(("B-LOC", "I-LOC", "I-PER", "O"))

    assert grammar.may_start.tolist() == [True, False, True, True]
    assert grammar.allowed[3].tolist() == [True, False, True, True]


def test_types_without_a_beginning_may_begin_inside() -> None:
    assert tag_grammar(("I-X", "O")).allowed.all()


def test_a_span_that_needs_an_end_must_come_to_it() -> None:
    tags = ("B-X", "E-X", "O", "S-X")

    allowed = tag_grammar(tags).allowed

    assert {tags[b] for b in np.flatnonzero(allowed[0])} == {"E-X"}
    assert {tags[b] for b in np.flatnonzero(allowed[2])} == {"B-X", "O", "S-X"}


def test_the_grammar_of_bioes_closes_what_it_opens() -> None:
    tags = ("B-X", "E-X", "I-X", "O", "S-X")
    grammar = tag_grammar(tags)
    allowed = {(a, b) for i, a in enumerate(tags) for j, b in enumerate(tags) if grammar.allowed[i, j]}

    free, on = {"B-X", "O", "S-X"}, {"I-X", "E-X"}
    assert allowed == {(a, b) for a in ("O", "E-X", "S-X") for b in free} | {(a, b) for a in ("B-X", "I-X") for b in on}
    assert {tag for tag, fine in zip(tags, grammar.may_start, strict=True) if fine} == free


def test_other_tag_sets_have_no_grammar() -> None:
    grammar = tag_grammar(("NOUN", "VERB"))

    assert grammar.allowed.all()
    assert grammar.may_start.all()


def test_counts_come_from_neighbours_within_a_sequence() -> None:
    q = np.eye(5)[[0, 1, 4, 2, 4]]  # B-X I-X O | B-Y O

    found = chain(count=0.5).from_beliefs(q)

    pairs = {(0, 1), (1, 4), (2, 4)}
    for a, b in product(range(5), repeat=2):
        expected = 0.5 + ((a, b) in pairs) if tag_grammar(TAGS).allowed[a, b] else 0.0
        assert found["transitions"][a, b] == expected
    assert found["start"].tolist() == [1.5, 0.0, 1.5, 0.0, 0.5]


def paths(length: int) -> list[tuple[int, ...]]:
    return list(product(range(5), repeat=length))


def test_marginals_and_the_best_path_are_those_of_all_valid_paths() -> None:
    rng = np.random.default_rng(0)
    unary = rng.normal(size=(5, 5))
    made = chain()
    state = made.from_beliefs(rng.dirichlet(np.ones(5), size=5))

    found, best = made.marginals(unary, state, NAMES).q, made.decode(unary, state)

    with np.errstate(divide="ignore"):
        mean = {name: np.log(dirichlet_mean(state[name], axis=-1)) for name in state}
    expected = {name: expected_log(state[name], axis=-1) for name in state}
    for first, last in ((0, 3), (3, 5)):

        def weight(path: tuple[int, ...], logs: dict[str, np.ndarray], first: int = first) -> float:
            steps = sum(logs["transitions"][a, b] for a, b in pairwise(path))
            return float(np.exp(logs["start"][path[0]] + steps + sum(unary[first + t, k] for t, k in enumerate(path))))

        total = np.zeros((last - first, 5))
        for path in paths(last - first):
            for t, k in enumerate(path):
                total[t, k] += weight(path, expected)
        np.testing.assert_allclose(found[first:last], total / total.sum(axis=1, keepdims=True), rtol=0, atol=1e-9)
        top = max(paths(last - first), key=lambda path: weight(path, mean))
        assert tuple(best[first:last]) == top


def test_an_anchor_that_is_no_valid_sequence_is_named() -> None:
    made = chain()
    unary = np.zeros((5, 5))
    unary[3] = np.where(np.arange(5) == 3, 0.0, -np.inf)  # I-Y begins the last sequence

    with pytest.raises(LabelError) as refused:
        made.marginals(unary, made.prior(), NAMES)

    assert str(refused.value) == "The anchor of 's2' is not a valid sequence of tags. Correct it, or remove it."


def test_the_divergence_is_zero_at_the_prior_and_positive_after_counts() -> None:
    made = chain()

    assert made.divergence(made.prior()) == pytest.approx(0.0, abs=1e-12)
    assert made.divergence(made.from_beliefs(np.eye(5)[[0, 1, 4, 2, 4]])) > 0.1
