"""What is stated after training is calibrated, and no answer changes."""

from __future__ import annotations

import pytest

from crowdlogic.data.simulate import simulate_ner
from crowdlogic.learning.algorithm import LogicLNCL
from crowdlogic.learning.confidence import (
    CHAIN_SPAN_SHIFT,
    CHAIN_SPAN_SLOPE,
)
from crowdlogic.learning.stopping import TrainingLimits

SHORT = TrainingLimits(epochs=3)


def test_the_spans_of_chains_have_a_scale_of_their_own() -> None:
    pytest.importorskip("torch")
    from crowdlogic.extensions.networks.bilstm_crf import BiLSTMCRF

    made = simulate_ner(0, items=30, annotators=5)
    learned = LogicLNCL(classifier=BiLSTMCRF(vector_size=4, hidden_size=4), limits=SHORT).fit(made.corpus, made.labels)

    calibration = learned.estimate.calibration
    assert calibration is not None
    assert (calibration.span_shift, calibration.span_slope) == (CHAIN_SPAN_SHIFT, CHAIN_SPAN_SLOPE)
