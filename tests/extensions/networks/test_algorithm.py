"""Algorithm 1 against its equations written out, its special cases, and every annotator model in it."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from tests.data.simulate.tagged_words import simulate_tags

from crowdlogic.classifiers.linear import Linear
from crowdlogic.classifiers.protocol import Architecture
from crowdlogic.learning.algorithm import LogicLNCL
from crowdlogic.learning.stopping import TrainingLimits
from crowdlogic.learning.task import score
from crowdlogic.truth.majority import MajorityVote


def limits(epochs: int, **more: Any) -> TrainingLimits:
    return TrainingLimits(epochs=epochs, **{"held_out": None, **more})


def tag_models() -> list[Architecture]:
    if find_spec("torch") is None:
        return [Linear()]
    from crowdlogic.extensions.networks.cnn_gru import CNNGRU
    from crowdlogic.extensions.networks.network import Training as Schedule

    quick = Schedule(learning_rate=1e-2, batch_size=16)
    return [Linear(), CNNGRU(filters=32, hidden_size=16, vector_size=24, training=quick)]


@pytest.mark.parametrize("model", tag_models(), ids=lambda model: model.name)
def test_parts_of_speech_are_learnt_and_predicted(model: Architecture) -> None:
    made = simulate_tags(np.random.default_rng(0), sentences=200, annotators=10, labels_per_unit=3)
    parts = made.corpus.split(150, seed=0)
    learnt, new = parts[0], parts[1].with_classes(made.crowd.labels.classes)
    labels = made.crowd.labels.select(items=learnt.items.to_list())

    learned = LogicLNCL(model, limits=limits(8)).fit(learnt, labels)

    vote = score(learnt.with_classes(labels.classes), MajorityVote(ties="soft").infer(labels).beliefs)
    assert score(learned.task.corpus, learned.epoch.q_f) > vote
    assert score(new, learned.predict(new)) > 0.9
