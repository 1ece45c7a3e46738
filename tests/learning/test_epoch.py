"""What is believed after an epoch."""

from __future__ import annotations

import numpy as np

from crowdlogic.annotators.confusion import ConfusionMatrices
from crowdlogic.data.frames import from_dict
from crowdlogic.learning.training import Epoch


def test_an_epoch_shows_its_figures_and_not_its_arrays() -> None:
    labels = from_dict({"u": {"a": "x"}, "v": {"a": "y"}})
    q = np.eye(2)
    annotators = ConfusionMatrices().m_step(ConfusionMatrices().observe(labels), q)

    epoch = Epoch(loss=0.25, k=0.5, p=q, q_a=q, q_b=q, q_f=q, annotators=annotators)

    assert repr(epoch) == "Epoch(loss 0.2500, k 0.50, beliefs of 2 units in 2 classes)"
