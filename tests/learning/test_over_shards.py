"""The annotators' part of Algorithm 1 shard by shard: eq. 12, 13 and 15 give what they give on the whole table."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.truth.planted import planted, tagged_sentences

from crowdlogic.annotators.confusion import ConfusionMatrices
from crowdlogic.annotators.protocol import AnnotatorModel
from crowdlogic.annotators.sequential import Sequential
from crowdlogic.data.corpus import documents, sentences
from crowdlogic.data.names import Classes
from crowdlogic.learning.posterior import crowd_posterior
from crowdlogic.registry import ANNOTATOR_MODELS
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.projection.projector import Projector

MODELS = [name for name in ANNOTATOR_MODELS if name not in ("sequential",)]


def m_and_e_step(model: AnnotatorModel, labels, shards: int) -> tuple[np.ndarray, float]:  # type: ignore[no-untyped-def]
    """q_a and the objective after eq. 12 and 13, from drawn beliefs and predictions."""
    rng = np.random.default_rng(0)
    q_f, p = (rng.dirichlet(np.ones(labels.n_classes), size=labels.n_units) for _ in range(2))
    crowd = model.observe(labels, threads=shards)
    return crowd_posterior(p, model.m_step(crowd, q_f), crowd)  # type: ignore[return-value]


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 20), shards=st.integers(2, 9))
def test_annotators_and_posterior_of_every_sharding_are_those_of_the_whole(name: str, seed: int, shards: int) -> None:
    labels = planted(seed, units=40, given=0.6).labels
    whole, objective = m_and_e_step(ANNOTATOR_MODELS.create(name), labels, 1)

    found, found_objective = m_and_e_step(ANNOTATOR_MODELS.create(name), labels, shards)

    np.testing.assert_allclose(found, whole, rtol=0, atol=1e-8)
    assert found_objective == pytest.approx(objective, abs=1e-8)


@pytest.mark.parametrize("model", [Sequential(), ConfusionMatrices()], ids=lambda model: model.name)
def test_so_are_those_of_sentences(model: AnnotatorModel) -> None:
    labels, _ = tagged_sentences()
    whole, _ = m_and_e_step(model, labels, 1)

    for shards in (2, 3):
        np.testing.assert_allclose(m_and_e_step(model, labels, shards)[0], whole, rtol=0, atol=1e-8)


def project_parts(projector: Projector, texts: list, classes: Classes, q: np.ndarray, cuts: list[int]) -> np.ndarray:
    """q_b of each part of the items, projected by itself."""
    found = []
    sizes = np.cumsum([0, *(1 if isinstance(text, str) else len(text) for text in texts)])
    for begin, end in pairwise([0, *cuts, len(texts)]):
        names, part = [f"i{n}" for n in range(begin, end)], texts[begin:end]
        corpus = documents(names, part) if isinstance(part[0], str) else sentences(names, part)
        found.append(projector.project(q[sizes[begin] : sizes[end]], projector.ground(corpus, classes)).q_b)
    return np.concatenate(found)


@pytest.mark.parametrize("cuts", [[1], [3, 4], [2, 5, 7]])
def test_rules_within_a_shard_project_it_as_they_project_the_whole(cuts: list[int]) -> None:
    rng = np.random.default_rng(1)
    texts = ["good but bad", "bad", "so good", "fine", "bad but good", "but", "good", "bad bad"]
    by_item = Projector(rules=parse_rules("1.0: Contains(S, 'but') & Label(S, 'pos') -> Label(S, 'neg')"), strength=3.0)
    words = [text.split() for text in texts]
    by_sentence = Projector(rules=parse_rules("include bio"), strength=5.0)
    q, q_tags = rng.dirichlet(np.ones(2), size=8), rng.dirichlet(np.ones(3), size=sum(map(len, words)))

    for projector, items, classes, beliefs in (
        (by_item, texts, ("neg", "pos"), q),
        (by_sentence, words, ("B-X", "I-X", "O"), q_tags),
    ):
        whole = project_parts(projector, items, classes, beliefs, [])
        assert np.abs(whole - beliefs).max() > 0.01
        np.testing.assert_allclose(project_parts(projector, items, classes, beliefs, cuts), whole, rtol=0, atol=1e-8)
