"""Methods that add to a network have one built, and refuse what is none."""

from __future__ import annotations

import numpy as np
import pytest
from tests.classifiers.planted_labels import label_task, symmetric_confusion
from tests.classifiers.planted_tasks import blob_task

pytest.importorskip("torch", reason="torch is not installed: pip install crowdlogic[torch]")

from crowdlogic.classifiers.linear import Linear
from crowdlogic.errors import OptionError
from crowdlogic.extensions.networks.crowd_methods import build_network
from crowdlogic.extensions.networks.mlp import MLP
from crowdlogic.learning.stopping import TrainingLimits
from crowdlogic.learning.task import prepare_task

GIVEN = blob_task()
LABELS = label_task(GIVEN, np.stack([symmetric_confusion(0.8, 3)] * 2))
TASK = prepare_task(GIVEN.corpus, LABELS, limits=TrainingLimits(held_out=None))


def test_a_network_is_built_for_the_task_from_its_seed() -> None:
    made, same, other = (build_network("mine", MLP(hidden_size=4), TASK, seed=seed) for seed in (0, 0, 1))

    p = made.predict_proba(GIVEN.corpus)
    assert p.shape == (60, 3)
    np.testing.assert_array_equal(same.predict_proba(GIVEN.corpus), p)
    assert (other.predict_proba(GIVEN.corpus) != p).any()


def test_a_classifier_that_is_no_network_is_refused() -> None:
    with pytest.raises(OptionError) as refused:
        build_network("mine", Linear(), TASK, seed=0)

    assert str(refused.value) == (
        "mine requires a neural network, which linear is not. Choose kim-cnn, cnn-gru, mlp or transformer."
    )
