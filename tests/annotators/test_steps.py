"""Steps over shards: the sums of any sharding are those of one, and a unit that stands for several counts as several."""

from __future__ import annotations

import pickle
from functools import partial
from typing import Any

import numpy as np
import pytest
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
def test_a_step_can_be_sent_to_another_process(step: Any) -> None:
    shard = make_shards(planted(2, units=40, given=0.5).labels).parts[0]
    ease = {"ease": np.ones(40)}

    sent = pickle.loads(pickle.dumps(step))  # noqa: S301 (as Ray and Spark do with their own tasks)

    for own, other in zip(step(shard, parameters(), ease), sent(shard, parameters(), ease), strict=True):
        assert own.keys() == other.keys()
        for name in own:
            np.testing.assert_array_equal(own[name], other[name])
