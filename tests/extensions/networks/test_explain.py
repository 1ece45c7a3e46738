"""The terms of an answer add up to it, and each is what a slow loop over its definition gives."""

from __future__ import annotations

from itertools import pairwise, product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from crowdlogic.annotators.sequential import Sequential
from crowdlogic.data.corpus import sentences
from crowdlogic.data.frames import from_sequences
from crowdlogic.data.simulate import simulate_ner
from crowdlogic.learning.algorithm import ConstantImitation, LogicLNCL
from crowdlogic.learning.explain import Evidence, explain_all, is_explicable
from crowdlogic.learning.learned import Learned
from crowdlogic.learning.stopping import TrainingLimits
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.predicates import Vocabulary

SENTENCES = simulate_ner(3, items=40, annotators=6, labels_per_item=3, test_items=5)


def opening(length: int) -> SimpleNamespace:
    """The first few tokens of each sentence with what was said of them: short enough to enumerate all labellings."""
    corpus, labels = SENTENCES.corpus, SENTENCES.labels
    item, annotator, pair = labels.annotations()
    tags = [[str(labels.classes[k]) for k in labels.label[pair == n]] for n in range(len(item))]
    rows = [
        (corpus.items[int(s)], labels.annotators[int(j)], t[:length])
        for s, j, t in zip(item, annotator, tags, strict=True)
    ]
    cut = sentences(corpus.items.to_list(), [corpus.sentence(s)[:length] for s in range(len(corpus.items))])
    return SimpleNamespace(corpus=cut, labels=from_sequences(rows))


def fitted(made: Any, rules: str | None, *, vocabulary: Vocabulary | None = None, **options: Any) -> Learned:
    method = LogicLNCL(imitation=ConstantImitation(0.4), **options, limits=TrainingLimits(epochs=2))
    return method.fit(
        made.corpus, made.labels, rules=None if rules is None else parse_rules(rules), vocabulary=vocabulary
    )


def added_up(found: Evidence) -> tuple[np.ndarray, np.ndarray]:
    """q_a and q_b from their terms, by plain addition."""
    log_a = found.classifier - found.normaliser[:, None]
    log_a = log_a if found.neighbours is None else log_a + found.neighbours
    for unit, term in zip(found.crowd.unit, found.crowd.term, strict=True):
        log_a[unit] = log_a[unit] + term
    if found.rules is None:
        return np.exp2(log_a), np.exp2(log_a)
    rules = found.rules
    log_b = rules.base + rules.residual - rules.normaliser[:, None]
    for share in rules.share:
        log_b = log_b + share
    return np.exp2(log_a), np.exp2(log_b if rules.transitions is None else log_b + rules.transitions)


def check_all(learned: Learned) -> list[Evidence]:
    """Every item's terms add up to its beliefs, in logs."""
    everything = explain_all(learned, learned.task.corpus.items.to_list(), calibrated=False)
    check_stated(learned)
    offsets = learned.task.corpus.offsets
    for s, found in enumerate(everything):
        units = slice(s, s + 1) if offsets is None else slice(*offsets[s : s + 2])
        q_a, q_b = added_up(found)
        with np.errstate(divide="ignore"):
            np.testing.assert_allclose(np.log2(q_a), np.log2(learned.epoch.q_a[units]), rtol=0, atol=1e-9)
            np.testing.assert_allclose(np.log2(q_b), np.log2(learned.epoch.q_b[units]), rtol=0, atol=1e-9)
        np.testing.assert_allclose(0.6 * q_a + 0.4 * q_b, learned.epoch.q_f[units], rtol=0, atol=1e-9)
        np.testing.assert_array_equal(found.answer, learned.estimate.answer[units])
    return everything


def check_stated(learned: Learned) -> None:
    """Every item's bits, all of them times the sharpness of their unit, add up to what is stated."""
    raw = explain_all(learned, learned.task.corpus.items.to_list(), calibrated=False)
    stated = explain_all(learned, learned.task.corpus.items.to_list())
    offsets = learned.task.corpus.offsets
    for s, (one, before) in enumerate(zip(stated, raw, strict=True)):
        units = slice(s, s + 1) if offsets is None else slice(*offsets[s : s + 2])
        total = one.added_up()
        possible = np.isfinite(total)  # what the rules exclude has beliefs from doubt alone
        expected = np.log2(learned.estimate.beliefs[units])
        np.testing.assert_allclose(total[possible], expected[possible], rtol=0, atol=1e-9)
        assert possible[np.arange(len(one.answer)), one.answer].all()
        np.testing.assert_array_equal(one.answer, before.answer)
        scaled = before.crowd.term * one.sharpness[one.crowd.unit, None]
        np.testing.assert_allclose(one.crowd.term, scaled, rtol=1e-12)
        assert (one.sharpness[one.crowd.unit] <= 1).all()
        assert (one.doubt[np.arange(len(one.answer)), one.answer] < 0).all()


@pytest.mark.parametrize("rules", [None, "1.0: include bio"])
@pytest.mark.parametrize("correlation", [0.0, 1.0])
def test_bits_of_chains_add_up_and_neighbours_say_what_messages_say(rules: str | None, correlation: float) -> None:
    pytest.importorskip("torch")
    from crowdlogic.extensions.networks.bilstm_crf import BiLSTMCRF
    from crowdlogic.extensions.networks.network import Training

    quick = BiLSTMCRF(vector_size=8, hidden_size=6, training=Training(learning_rate=1e-2, batch_size=4))
    learned = fitted(opening(4), rules, classifier=quick, annotators=Sequential(correlation=correlation))

    assert is_explicable(learned)
    everything = check_all(learned)
    scores = learned.classifier.chain_scores(learned.task.corpus)
    evidence = learned.epoch.annotators.evidence(learned.model.observe(learned.task.labels))
    heard = []
    for s, found in enumerate(everything[:10]):
        units = slice(*learned.task.corpus.offsets[s : s + 2])
        with_crowd, without = (
            messages(scores.unary[units] + part[units], scores.transitions, scores.start)
            for part in (evidence, np.zeros_like(evidence))
        )
        # p holds the messages of the classifier's own chain; what is beyond them came from labels of other tokens
        said = (with_crowd - without) / np.log(2)
        assert found.neighbours is not None
        np.testing.assert_allclose(
            said - said.mean(axis=1, keepdims=True),
            found.neighbours - found.neighbours.mean(axis=1, keepdims=True),
            rtol=0,
            atol=1e-4,
        )
        heard.append(np.abs(found.neighbours).max())
    assert max(heard) > 0.1


def messages(unary: np.ndarray, transitions: np.ndarray, start: np.ndarray) -> np.ndarray:
    """log messages[t, k] from all other tokens, by enumeration of their tags."""
    length, tags = unary.shape
    found = np.full((length, tags), -np.inf)
    for path in product(range(tags), repeat=length):
        score = start[path[0]] + sum(unary[t, k] for t, k in enumerate(path))
        score += sum(transitions[a, b] for a, b in pairwise(path))
        for t, k in enumerate(path):
            found[t, k] = np.logaddexp(found[t, k], score - unary[t, k])
    return found
