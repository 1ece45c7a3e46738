"""What is true, given classifier and annotators: against products made by hand."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

from crowdlogic.annotators.confusion import Confusion, ConfusionMatrices
from crowdlogic.annotators.sequential import Sequential
from crowdlogic.data.chain_beliefs import ChainBeliefs, ChainScores
from crowdlogic.data.corpus import sentences
from crowdlogic.data.frames import from_arrays, from_sequences
from crowdlogic.errors import OptionError
from crowdlogic.learning.algorithm import mix
from crowdlogic.learning.posterior import FixedPosterior, chain_posterior, crowd_posterior
from crowdlogic.numerics.logspace import expected_log
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.projection.projector import Projector
from crowdlogic.rules.transitions import transition_table

LABELS = from_arrays(["a", "a", "b"], ["x", "y", "x"], [0, 1, 1])
CROWD = ConfusionMatrices().observe(LABELS)
# confusion[j, m, n] of x and y; a table has the given label before the true class
ANNOTATORS = Confusion(np.array([[[0.9, 0.1], [0.3, 0.7]], [[0.6, 0.4], [0.2, 0.8]]]).transpose(0, 2, 1))
P = np.array([[0.25, 0.75], [0.5, 0.5]])


def test_q_a_is_the_product_of_classifier_and_annotators() -> None:
    q_a, objective = crowd_posterior(P, ANNOTATORS, CROWD)

    a = np.array([0.25 * 0.9 * 0.4, 0.75 * 0.3 * 0.8])
    b = np.array([0.5 * 0.1, 0.5 * 0.7])
    np.testing.assert_allclose(q_a, [a / a.sum(), b / b.sum()], rtol=1e-12)
    assert objective == pytest.approx((np.log(a.sum()) + np.log(b.sum())) / 3, rel=1e-12)


def test_what_the_classifier_rules_out_stays_ruled_out() -> None:
    q_a, _ = crowd_posterior(np.array([[0.0, 1.0], [1.0, 0.0]]), ANNOTATORS, CROWD)

    np.testing.assert_array_equal(q_a, [[0, 1], [1, 0]])


def test_fixed_beliefs_stay_and_the_classifier_answers_where_there_are_none() -> None:
    fixed = np.array([[0.9, 0.1], [0.5, 0.5]])

    q_a, objective = FixedPosterior(fixed, np.array([True, False]))(
        np.array([[0.2, 0.8], [0.3, 0.7]]), ANNOTATORS, CROWD
    )

    assert q_a.tolist() == [[0.9, 0.1], [0.3, 0.7]]
    assert np.isnan(objective)


TAGS = ("B-X", "I-X", "O")
SAID = {"x": ["O", "B-X", "I-X", "O"], "y": ["B-X", "I-X", "I-X", "B-X"]}
RULE = (
    "1.5: Label(T, 'I-X') & Previous(T, P) -> Label(P, 'B-X') | Label(P, 'I-X')\n0.7: Token(T, 'may') -> Label(T, 'O')"
)
FOLLOWS = {("O", "B-X"): 0.4, ("B-X", "I-X"): 0.5, ("I-X", "O"): 0.3, ("O", "O"): 0.6, ("B-X", "O"): 0.5}


def scores_of_classifier() -> ChainScores:
    rng = np.random.default_rng(8)
    unary, transitions, start = rng.normal(size=(4, 3)), rng.normal(size=(3, 3)), rng.normal(size=3)
    return ChainScores(unary=unary, transitions=transitions, start=start, offsets=np.array([0, 4]))


def penalty(tags: tuple[str, ...], words: list[str]) -> float:
    """The weights of the violated groundings of RULE, one by one."""
    total = sum(1.5 for before, now in pairwise(tags) if now == "I-X" and before == "O")
    return total + sum(0.7 for tag, word in zip(tags, words, strict=True) if word == "may" and tag != "O")


@pytest.mark.parametrize("correlation", [0.0, 0.6])
def test_the_posterior_of_chains_is_that_of_all_taggings(correlation: float) -> None:
    """Classifier, two sequential annotators, rules and a table of transitions at once."""
    words = ["this", "Will", "may", "win"]
    corpus, labels = sentences(["s"], [words]), from_sequences([("s", who, tags) for who, tags in SAID.items()])
    model, chain = Sequential(correlation=correlation), scores_of_classifier()
    crowd = model.observe(labels)
    annotators = model.m_step(crowd, np.random.default_rng(3).dirichlet(np.ones(3), 4))
    table = transition_table(FOLLOWS, TAGS, start={"O": 0.9, "B-X": 0.1}, strength=0.3)
    projector = Projector(rules=parse_rules(RULE), transitions=table, strength=2.0)
    log_table = expected_log(annotators.table, axis=1)

    log_a, log_b = {}, {}
    for path in product(range(3), repeat=4):
        score = chain.start[path[0]] + sum(chain.unary[t, k] for t, k in enumerate(path))
        score += sum(chain.transitions[a, b] for a, b in pairwise(path))
        for j, tags in enumerate(SAID.values()):
            codes = [2, *(TAGS.index(tag) for tag in tags)]  # before the first token: O
            said = sum(log_table[3 * j + codes[t], codes[t + 1], k] for t, k in enumerate(path))
            score += said / (1 + correlation)  # the design effect of two labels
        log_a[path] = score
        named = tuple(TAGS[k] for k in path)
        weight = -2.0 * penalty(named, words) + 0.3 * np.log({"O": 0.9, "B-X": 0.1}.get(named[0], 1e-10))
        log_b[path] = score + weight + sum(0.3 * np.log(FOLLOWS.get(pair, 1e-10)) for pair in pairwise(named))

    q_a, objective = crowd_posterior(chain.beliefs(), annotators, crowd)
    q_b = projector.project(q_a, projector.ground(corpus, TAGS), classifier=chain.beliefs()).chain
    assert isinstance(q_a, ChainBeliefs)
    assert q_b is not None
    q_f = mix(q_a, q_b, 0.3)
    assert isinstance(q_f, ChainBeliefs)

    found = {}
    for name, logs in (("a", log_a), ("b", log_b)):
        total = np.logaddexp.reduce(list(logs.values()))
        q, pair = np.zeros((4, 3)), np.zeros((4, 3, 3))
        for path, score in logs.items():
            for t, k in enumerate(path):
                q[t, k] += np.exp(score - total)
                if t:
                    pair[t, path[t - 1], k] += np.exp(score - total)
        found[name] = (q, pair, total)
    for made, (q, pair, _) in ((q_a, found["a"]), (q_b, found["b"])):
        np.testing.assert_allclose(made.q, q, rtol=0, atol=1e-9)
        np.testing.assert_allclose(made.pair, pair, rtol=0, atol=1e-9)
    np.testing.assert_allclose(q_f.q, 0.7 * found["a"][0] + 0.3 * found["b"][0], rtol=0, atol=1e-9)
    np.testing.assert_allclose(q_f.pair, 0.7 * found["a"][1] + 0.3 * found["b"][1], rtol=0, atol=1e-9)
    alone = chain.beliefs().log_partition
    assert alone is not None
    assert objective == pytest.approx((found["a"][2] - alone[0]) / 8, rel=1e-9)
    assert q_a.best_path(corpus.offsets).tolist() == list(max(log_a, key=lambda path: log_a[path]))


def test_a_mixture_has_no_posterior() -> None:
    chain = scores_of_classifier().beliefs()

    with pytest.raises(OptionError) as caught:
        chain_posterior(0.5 * chain + 0.5 * chain, np.zeros((4, 3)), 1)

    expected = (
        "The posterior (eq. 13 of the paper) needs the scores of one chain, which a mixture of chains does not "
        "have. Pass the beliefs of the classifier."
    )
    assert str(caught.value) == expected
