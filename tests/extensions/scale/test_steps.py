"""Steps over shards: the sums of any sharding are those of one, and a unit that stands for several counts as several."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.extensions.scale.shardings import as_patterns, cut_at
from tests.truth.planted import planted

from crowdlogic.annotators.label_sums import (
    EvidenceStep,
    HitStep,
    TallyStep,
    compiled_match_step,
    compiled_table_step,
    match_evidence_step,
)
from crowdlogic.data.blocks import Arrays, make_shards
from crowdlogic.truth import dawid_skene, one_coin
from crowdlogic.truth.glad import compiled_em_step, em_step
from crowdlogic.truth.majority import VoteStep
from crowdlogic.truth.weighting import DistanceStep

ANNOTATORS, CLASSES = 5, 3


def parameters() -> Arrays:
    """Parameters for every step."""
    rng = np.random.default_rng(0)
    log_table = np.log(rng.dirichlet(np.ones(CLASSES), size=(ANNOTATORS, CLASSES)))
    agree, differ = np.log(rng.uniform(0.1, 0.9, size=(2, ANNOTATORS, CLASSES)))
    per_annotator = {name: rng.uniform(0.5, 2.0, size=ANNOTATORS) for name in ("ability", "weight", "previous")}
    log_prior = np.log(rng.dirichlet(np.ones(CLASSES)))
    return {
        "log_table": log_table,
        "log_agree": agree,
        "log_differ": differ,
        "log_prior": log_prior,
        **per_annotator,
    }


SIZES = {"n_annotators": ANNOTATORS, "n_classes": CLASSES}
STEPS: dict[str, Any] = {
    "table": partial(dawid_skene.e_step, keep=True),
    "table, compiled": partial(compiled_table_step, keep=True),
    "match": partial(one_coin.e_step, keep=True),
    "match, compiled": partial(compiled_match_step, keep=True),
    "tally": TallyStep(**SIZES, n_codes=CLASSES),
    "tally, compiled": TallyStep(**SIZES, n_codes=CLASSES, compiled=True),
    "hits": HitStep(**SIZES),
    "evidence": EvidenceStep(),
    "evidence, compiled": EvidenceStep(compiled=True),
    "match evidence": match_evidence_step,
    "difficulty": partial(em_step, n_classes=CLASSES, keep=True),
    "difficulty, compiled": partial(compiled_em_step, n_classes=CLASSES, keep=True),
    "votes": VoteStep(CLASSES),
    "distance": DistanceStep(**SIZES, keep=True),
}
EVERY_STEP = pytest.mark.parametrize("step", STEPS.values(), ids=list(STEPS))


@EVERY_STEP
@settings(max_examples=10, deadline=None)
@given(cuts=st.lists(st.integers(0, 40), max_size=6), weighted=st.booleans())
def test_every_sharding_has_the_same_sums_and_states(step: Any, cuts: list[int], weighted: bool) -> None:
    labels = planted(2, units=40, given=0.5).labels
    if weighted:
        labels = replace(labels, weight=np.random.default_rng(0).choice([0.0, 0.5, 2.0], size=labels.n_labels))
    one, cut = make_shards(labels), cut_at(labels, cuts)
    ease = {"ease": np.linspace(0, 2, 40)}

    counts, states = one.sum(step, parameters(), one.scatter(ease))
    cut_counts, cut_states = cut.sum(step, parameters(), cut.scatter(ease))

    assert counts.keys() == cut_counts.keys()
    for name in counts:
        np.testing.assert_allclose(cut_counts[name], counts[name], rtol=1e-9, atol=1e-9)
    if states[0]:
        for name, array in one.gather(states).items():
            np.testing.assert_allclose(cut.gather(cut_states)[name], array, rtol=1e-9, atol=1e-12)


@EVERY_STEP
def test_a_unit_that_stands_for_several_counts_as_several(step: Any) -> None:
    labels = planted(5, units=200, given=0.5).labels
    whole, (patterns, pattern) = make_shards(labels), as_patterns(labels)
    ease = np.ones(200)

    counts, states = whole.sum(step, parameters(), whole.scatter({"ease": ease}))
    fewer, pattern_states = patterns.sum(step, parameters(), patterns.scatter({"ease": ease[: patterns.n_units]}))

    assert patterns.n_units < 150
    for name in counts:
        np.testing.assert_allclose(fewer[name], counts[name], rtol=1e-9, atol=1e-9)
    if states[0]:
        for name, array in whole.gather(states).items():
            np.testing.assert_allclose(patterns.gather(pattern_states)[name][pattern], array, rtol=1e-9, atol=1e-12)
