"""One pass or two: the second pass, averaged weights, and resuming."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.frames import from_arrays
from crowdlogic.errors import DataError
from crowdlogic.extensions.networks.mlp import MLP
from crowdlogic.extensions.networks.network import Training
from crowdlogic.learning.algorithm import LogicLNCL
from crowdlogic.learning.stopping import TrainingLimits


def test_a_network_that_diverges_is_told_to_learn_slower() -> None:
    fast = MLP(training=Training(optimiser="adam", learning_rate=1e30))
    corpus = Corpus(pl.Series(range(4)), features=np.array([[1e6, 0.0], [0.0, 1e6], [1e6, 1.0], [1.0, 1e6]]))
    labels = from_arrays([0, 1, 2, 3], ["a"] * 4, ["x", "y", "y", "x"])

    with pytest.raises(DataError) as refused:
        LogicLNCL(classifier=fast, limits=TrainingLimits(epochs=9, held_out=None)).fit(corpus, labels)

    assert re.sub(r"^Epoch \d", "Epoch N", str(refused.value)) == (
        "Epoch N diverged: its loss or its beliefs are not finite. Lower the learning rate (--set "
        "classifier.training.learning_rate=...), or look for extreme values among the features."
    )
