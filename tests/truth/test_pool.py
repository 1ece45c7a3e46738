"""The pool: the mean of vote shares, MACE and Dawid-Skene."""

from __future__ import annotations

import numpy as np
import pytest
from tests.confidence.planted_crowds import crowd, judges

from crowdlogic.data.estimate import vote_shares
from crowdlogic.errors import OptionError
from crowdlogic.truth.dawid_skene import DawidSkene
from crowdlogic.truth.mace import MACE
from crowdlogic.truth.majority import MajorityVote
from crowdlogic.truth.pool import MethodPool


def test_the_pool_is_the_mean_of_its_members() -> None:
    table, _ = judges(0, skills=[0.7, 0.8, 0.6], items=300)
    labels, pool = crowd(table, 3), MethodPool(dependence=None)

    weight = pool.confusion_weight(labels)

    members = vote_shares(labels.votes()) + MACE().infer(labels).beliefs + weight * DawidSkene().infer(labels).beliefs
    np.testing.assert_allclose(pool.infer(labels).beliefs, members / (2 + weight))
    assert weight == pytest.approx(100**2 / (100**2 + 3**2))


def test_the_vote_holds_back_confusion_matrices_that_found_something_else() -> None:
    rng = np.random.default_rng(1)
    truth, topic = rng.integers(2, size=1500), rng.integers(2, size=1500)
    # Four judges follow the topic and seven, who are worse, the truth
    table = np.stack(
        [np.where(rng.random(1500) < 0.93, topic, 1 - topic) for _ in range(4)]
        + [np.where(rng.random(1500) < 0.68, truth, 1 - truth) for _ in range(7)],
        axis=1,
    )
    labels = crowd(table, 2)

    right = {m.name: np.mean(m.infer(labels).answer == truth) for m in (MethodPool(), DawidSkene(), MajorityVote())}

    assert right["dawid-skene"] < 0.6
    assert right["pool"] >= right["dawid-skene"]


def test_over_shards_the_pool_is_the_same() -> None:
    from crowdlogic.data.blocks import make_shards
    from crowdlogic.truth.fitting import estimate_of_fit

    table, _ = judges(2, skills=[0.7, 0.8, 0.6, 0.65], items=400)
    labels = crowd(table, 3)

    over = estimate_of_fit(MethodPool(), MethodPool().fit_over(make_shards(labels)), labels)

    np.testing.assert_allclose(over.beliefs, MethodPool().infer(labels).beliefs, atol=1e-9)


def test_half_is_positive() -> None:
    with pytest.raises(OptionError, match="half"):
        MethodPool(half=0.0)
