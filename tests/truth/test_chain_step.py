"""Forward-backward shard by shard: the sums of the whole table, wherever it is cut between sequences."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdlogic.annotators.label_sums import COUNTS, EVIDENCE, Q
from crowdlogic.data.blocks import make_shards
from crowdlogic.data.frames import from_sequences
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.numerics.chain import marginals
from crowdlogic.numerics.logspace import safe_log
from crowdlogic.truth.word_hmm import ChainStep, chain_sweep, count_feature

TAGS = ("A", "B", "O")


def tagged(rng: np.random.Generator, sentences: int) -> CrowdLabels:
    lengths = rng.integers(1, 6, size=sentences)
    rows = [
        (s, j, np.array(TAGS)[rng.integers(3, size=lengths[s])].tolist())
        for s in range(sentences)
        for j in range(3)
        if s == 0 or j == s % 3 or rng.random() < 0.7
    ]
    return from_sequences(rows, classes=TAGS)


def drawn_parameters(rng: np.random.Generator) -> tuple[np.ndarray, dict[str, Any]]:
    log_table = safe_log(rng.dirichlet(np.ones(3), size=(3, 3))).transpose(0, 2, 1)
    chain = {"transitions": safe_log(rng.dirichlet(np.ones(3), size=3)), "start": safe_log(rng.dirichlet(np.ones(3)))}
    return log_table, chain | {"feature0": safe_log(rng.dirichlet(np.ones(7), size=3)).T}


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 1000), shards=st.integers(1, 7), sentences=st.integers(1, 9))
def test_every_sharding_gives_the_sums_of_the_whole(seed: int, shards: int, sentences: int) -> None:
    rng = np.random.default_rng(seed)
    labels = tagged(rng, sentences)
    log_table, chain = drawn_parameters(rng)
    word = rng.integers(7, size=labels.n_units)
    unary = np.zeros((labels.n_units, 3)) + chain["feature0"][word]
    for i, j, n in zip(labels.unit, labels.annotator, labels.label, strict=True):
        unary[i] += log_table[j, n]
    whole = marginals(unary, chain["transitions"], np.asarray(labels.offsets), start=chain["start"])
    expected = np.zeros((3, 3, 3))
    np.add.at(expected, (labels.annotator, labels.label), whole.q[labels.unit])

    engine = make_shards(labels, threads=shards)
    sums, q = chain_sweep(engine, log_table, chain, features=engine.scatter({"feature0": word}), keep=True)

    assert q is not None
    np.testing.assert_allclose(q, whole.q, rtol=0, atol=1e-10)
    np.testing.assert_allclose(sums[COUNTS], expected, rtol=0, atol=1e-9)
    np.testing.assert_allclose(sums["transitions"], whole.transitions, rtol=0, atol=1e-9)
    np.testing.assert_allclose(sums["start"], whole.q[np.asarray(labels.offsets)[:-1]].sum(axis=0), rtol=0, atol=1e-9)
    np.testing.assert_allclose(sums["feature0"], count_feature(word, 7, whole.q), rtol=0, atol=1e-9)
    np.testing.assert_allclose(sums[EVIDENCE], whole.log_partition.sum(), rtol=0, atol=1e-9)


def test_a_step_can_be_sent_to_a_worker_and_keeps_beliefs_only_if_asked() -> None:
    rng = np.random.default_rng(0)
    shard = make_shards(tagged(rng, 4), threads=1).parts[0]
    log_table, chain = drawn_parameters(rng)
    parameters = {"log_table": log_table, **{name: chain[name] for name in ("transitions", "start")}}
    step = ChainStep(n_annotators=3, n_classes=3, n_codes=3, keep=True)

    kept = step(shard, parameters, {})[1]

    assert all(type(getattr(step, field.name)) in (int, bool) for field in fields(step))
    assert set(kept) == {Q}
    assert ChainStep(n_annotators=3, n_classes=3, n_codes=3)(shard, parameters, {})[1] == {}


def test_a_feature_is_counted_by_value_and_tag() -> None:
    q = np.array([[1.0, 0.0], [0.25, 0.75], [0.5, 0.5]])

    assert count_feature(np.array([2, 0, 2]), 3, q).tolist() == [[0.25, 0.75], [0.0, 0.0], [1.5, 0.5]]
