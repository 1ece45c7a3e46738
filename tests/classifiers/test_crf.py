from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import polars as pl
import pytest

from crowdlogic.classifiers import linear
from crowdlogic.classifiers.crf import (
    CRF,
    CRFClassifier,
    CRFPotentials,
    ExpectedCounts,
    counts_from_targets,
    objective,
)
from crowdlogic.data.corpus import Corpus, sentences
from crowdlogic.errors import FormatError, OptionError
from crowdlogic.numerics.arrays import Floats, Ints

TAGS = 3
OFFSETS = np.array([0, 3, 3, 4, 8])
"""Four sequences: of three, no, one and four units."""


def potentials(seed: int = 0, features: int = 5) -> CRFPotentials:
    rng = np.random.default_rng(seed)
    return CRFPotentials(*(rng.normal(size=shape) for shape in ((features, TAGS), (TAGS,), (TAGS, TAGS))))


def features_of(seed: int = 1, units: int = 8) -> Floats:
    return np.random.default_rng(seed).normal(size=(units, 5))


def score_of(model: CRFPotentials, unary: Floats, tags: tuple[int, ...]) -> float:
    """By the formula of the module's docstring."""
    total = model.start[tags[0]] + sum(unary[t, tag] for t, tag in enumerate(tags))
    return float(total + sum(model.transitions[one, two] for one, two in pairwise(tags)))


def all_paths(model: CRFPotentials, unary: Floats) -> dict[tuple[int, ...], float]:
    """The log probability of every tagging of one sequence, by enumeration."""
    scores = {tags: score_of(model, unary, tags) for tags in product(range(TAGS), repeat=len(unary))}
    total = np.log(sum(np.exp(score) for score in scores.values()))
    return {tags: score - total for tags, score in scores.items()}


def classifier(model: CRFPotentials, features: Floats, offsets: Ints = OFFSETS) -> tuple[CRFClassifier, Corpus]:
    items = pl.Series(range(len(offsets) - 1))
    tokens = tuple("x" for _ in range(len(features)))
    corpus = Corpus(items, tokens=tokens, offsets=offsets, features=features)
    made = CRF().build(corpus, ("a", "b", "c"), seed=0)
    made.potentials = model
    return made, corpus


def loss_by_hand(
    model: CRFPotentials, features: Floats, said: list[tuple[float, int, int, dict]], ridge: float
) -> float:
    """sum of weight * E[-log p] over (weight, first unit, end, probability of each tagging), with the ridge."""
    unary = features @ model.weights
    total = 0.5 * ridge * sum((part**2).sum() for part in model)
    for weight, begin, end, probability in said:
        log_p = all_paths(model, unary[begin:end])
        total -= weight * sum(q * log_p[tags] for tags, q in probability.items())
    return float(total)


def independent(targets: Floats) -> dict[tuple[int, ...], float]:
    """The probability of every tagging when units are independent."""
    taggings = product(range(TAGS), repeat=len(targets))
    return {tags: float(np.prod([targets[t, tag] for t, tag in enumerate(tags)])) for tags in taggings}


def slope(model: CRFPotentials, features: Floats, counts: ExpectedCounts, ridge: float, step: float = 1e-6) -> Floats:
    """The gradient by central differences."""
    found = np.zeros(model.flat.size)
    for n in range(len(found)):
        move = np.zeros_like(found)
        move[n] = step
        up, down = (
            objective(model.unflatten(model.flat + sign * move), features, counts, ridge)[0] for sign in (1, -1)
        )
        found[n] = (up - down) / (2 * step)
    return found


def test_marginals_and_best_paths_are_those_of_all_taggings() -> None:
    model, features = potentials(), features_of()
    made, corpus = classifier(model, features)

    p, best = made.predict_proba(corpus), made.best_path(corpus)

    for begin, end in ((0, 3), (3, 4), (4, 8)):
        log_p = all_paths(model, (features @ model.weights)[begin:end])
        for t, tag in product(range(end - begin), range(TAGS)):
            expected = sum(np.exp(one) for tags, one in log_p.items() if tags[t] == tag)
            np.testing.assert_allclose(p[begin + t, tag], expected, rtol=1e-10)
        assert tuple(best[begin:end]) == max(log_p, key=log_p.__getitem__)


def test_the_loss_of_soft_targets_is_expected_over_independent_tags() -> None:
    rng = np.random.default_rng(2)
    model, features = potentials(), features_of()
    targets, weights = rng.dirichlet(np.ones(TAGS), size=8), np.array([2.0, 2, 2, 1, 0.5, 0.5, 0, 3])

    loss, _ = objective(model, features[[0, 1, 2, 3, 4, 5, 7]], counts_from_targets(OFFSETS, targets, weights), 0.1)

    # the last sequence is cut where its weight changes, and unit 6 is left out
    runs = [(2.0, 0, 3), (1.0, 3, 4), (0.5, 4, 6), (3.0, 7, 8)]
    said = [(weight / 11.0, begin, end, independent(targets[begin:end])) for weight, begin, end in runs]
    np.testing.assert_allclose(loss, loss_by_hand(model, features, said, 0.1), rtol=1e-10)


def test_the_gradient_is_that_of_differences() -> None:
    rng = np.random.default_rng(3)
    model, features = potentials(4), features_of()
    weights = rng.choice([0.5, 1.0], size=8)
    counts = counts_from_targets(OFFSETS, rng.dirichlet(np.ones(TAGS), size=8), weights)

    _, gradient = objective(model, features[counts.unit], counts, 0.1)

    np.testing.assert_allclose(gradient.flat, slope(model, features[counts.unit], counts, 0.1), rtol=1e-5, atol=1e-8)


def test_sequences_of_one_are_multinomial_regression() -> None:
    rng = np.random.default_rng(5)
    model, features = potentials(), features_of()
    targets, weights = rng.dirichlet(np.ones(TAGS), size=8), rng.random(8)

    loss, gradient = objective(model, features, counts_from_targets(np.arange(9), targets, weights), 0.0)

    plain = linear.objective(
        model.weights, model.start, features, targets=targets, share=weights / weights.sum(), ridge=0.0
    )
    np.testing.assert_allclose(loss, plain[0], rtol=1e-10)
    np.testing.assert_allclose(np.concatenate([gradient.weights.ravel(), gradient.start]), plain[1], rtol=1e-8)


def test_tags_that_only_their_neighbours_tell_are_learnt() -> None:
    """All words but the first are alike: which of two tags follows is told by the tag before."""
    rng = np.random.default_rng(0)
    first = rng.integers(2, size=200)
    words = [["ab"[one], *("x" * 6)] for one in first]
    truth = np.concatenate([(one + np.arange(7)) % 2 for one in first])
    corpus = sentences(range(200), words)
    with_chain, without = (
        kind.build(corpus, ("even", "odd"), seed=0) for kind in (CRF(steps=40), linear.Linear(steps=40))
    )

    for made in (with_chain, without):
        made.fit_epoch(corpus, np.eye(2)[truth])

    assert (with_chain.predict_proba(corpus).argmax(axis=1) == truth).all()
    assert (without.predict_proba(corpus).argmax(axis=1) == truth).mean() < 0.9


def test_options_that_mean_nothing_are_refused() -> None:
    with pytest.raises(OptionError) as caught:
        CRF(steps=0)

    assert str(caught.value) == "crf: ridge must be at least 0, steps and max_ngram at least 1, hash_bits from 1 to 30."


def test_arrays_of_another_crf_are_refused() -> None:
    made, _ = classifier(potentials(), features_of())
    arrays = made.arrays() | {"model.start": np.zeros(2)}

    with pytest.raises(FormatError) as caught:
        made.restore(arrays)

    assert str(caught.value) == (
        "These arrays belong to a different classifier: model.start is (2,) where (3,) is expected."
    )
