"""Evidence on the scale of the calibrated confidence."""

from __future__ import annotations

import numpy as np
import pytest

from crowdlogic.data.simulate import simulate_sentiment
from crowdlogic.errors import OptionError
from crowdlogic.learning.algorithm import LogicLNCL
from crowdlogic.learning.explain import Evidence, state
from crowdlogic.learning.stopping import TrainingLimits
from crowdlogic.numerics.logspace import temper

SHARPNESS, DOUBT = np.array([0.5]), 0.1


@pytest.fixture(scope="module")
def learnt() -> Evidence:
    made = simulate_sentiment(3, items=60, annotators=8, labels_per_item=3)
    learned = LogicLNCL(limits=TrainingLimits(epochs=2)).fit(made.corpus, made.labels)
    return learned.explain(made.corpus.items[0], calibrated=False)


def test_bits_are_multiplied_by_the_sharpness_and_doubt_is_a_term(learnt: Evidence) -> None:
    stated = temper(learnt.q_f, SHARPNESS, DOUBT)

    found = state(learnt, SHARPNESS, DOUBT, stated)

    np.testing.assert_allclose(found.classifier, learnt.classifier / 2)
    np.testing.assert_allclose(found.crowd.term, learnt.crowd.term / 2)
    np.testing.assert_allclose(found.added_up(), np.log2(stated), rtol=0, atol=1e-9)


def test_beliefs_that_are_not_those_of_the_evidence_are_refused(learnt: Evidence) -> None:
    with pytest.raises(OptionError, match="the calibrated confidence does not match its evidence"):
        state(learnt, SHARPNESS, DOUBT, learnt.q_f[:, ::-1])
