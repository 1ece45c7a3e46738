"""Partial labels ("not X"): evidence for the complement in methods with a confusion matrix, refused by name elsewhere."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.simulate.crowds import simulate_crowd
from crowdlogic.errors import LabelError
from crowdlogic.extensions.networks.crowd_methods import CrowdLayer, DoctorNets
from crowdlogic.extensions.networks.kim_cnn import KimCNN
from crowdlogic.extensions.paper.crf_ma import CRFMA
from crowdlogic.learning.method import LearningMethod, TrainingData


def planted(seed: int = 0, *, classes: int = 3, sequences: bool = False) -> tuple[CrowdLabels, np.ndarray]:
    """A crowd in which half of the labels are answers to a random suggestion: the class, or "not this one"."""
    rng = np.random.default_rng(seed)
    crowd = simulate_crowd(rng, units=240, annotators=6, classes=classes)
    labels = crowd.labels
    suggested = rng.integers(classes, size=labels.n_labels).astype(np.int32)
    asked = rng.random(labels.n_labels) < 0.5
    negated = asked & (suggested != labels.label)
    offsets = np.arange(0, 241, 6) if sequences else None
    items = pl.Series(np.arange(40)) if sequences else labels.items
    return replace(
        labels, label=np.where(negated, suggested, labels.label), negated=negated, offsets=offsets, items=items
    ), crowd.truth


@pytest.mark.parametrize(
    "method", [CRFMA(), CrowdLayer(KimCNN()), DoctorNets(KimCNN())], ids=lambda method: method.name
)
def test_learning_methods_without_a_confusion_matrix_refuse_them(method: LearningMethod) -> None:
    labels, truth = planted(sequences=isinstance(method, CRFMA))
    corpus = Corpus(labels.items, offsets=labels.offsets, features=np.eye(3)[truth])

    with pytest.raises(LabelError, match=f"^{method.name} does not support partial labels"):
        method.learn(TrainingData(corpus=corpus, labels=labels))
