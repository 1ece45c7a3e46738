"""Every classifier's options as plain data and back: what a run directory has of it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from tests.classifiers.planted_tasks import OTHERS, random_vectors, review_task

from crowdlogic.classifiers.class_prior import ClassPrior
from crowdlogic.classifiers.crf import CRF
from crowdlogic.classifiers.linear import Linear
from crowdlogic.classifiers.protocol import Architecture
from crowdlogic.classifiers.scikit import Scikit
from crowdlogic.extensions.networks.bilstm_crf import BiLSTMCRF
from crowdlogic.extensions.networks.cnn_gru import CNNGRU
from crowdlogic.extensions.networks.kim_cnn import KimCNN
from crowdlogic.extensions.networks.mlp import MLP
from crowdlogic.extensions.networks.network import Training
from crowdlogic.extensions.networks.transformer import Transformer
from crowdlogic.registry import CLASSIFIERS
from crowdlogic.store.options import decode_options, encode_options

VARIED = [
    Linear(),
    Linear(ridge=0.5, steps=3, max_ngram=1, hash_bits=10),
    KimCNN(),
    KimCNN(
        windows=(2, 7),
        tune_vectors=True,
        max_norm=3.0,
        tokenizer="plain",
        training=Training("adam", learning_rate=0.01, clip_norm=2.5),
    ),
    KimCNN(vectors=random_vectors(OTHERS, 3), filters=7),
    BiLSTMCRF(),
    CNNGRU(),
    CNNGRU(
        vectors=random_vectors(OTHERS, 3),
        bidirectional=True,
        shape_size=4,
        case_sensitive=True,
        training=Training(batch_size=8),
    ),
    MLP(),
    MLP(hidden_size=3, standardise=False),
    Scikit(),
    Scikit(LogisticRegression(C=2.0, class_weight="balanced"), min_probability=0.01, refit=True),
    Scikit("RandomForestClassifier", {"n_estimators": 7, "max_depth": None}),
    Transformer("some/folder", pooling="mean", max_length=64),
    ClassPrior(),
    CRF(),
    CRF(ridge=0.1, steps=3, max_ngram=1, hash_bits=10),
]


def again(made: Architecture) -> Any:
    """The same, by way of JSON."""
    options = json.loads(json.dumps(encode_options(made)))
    return decode_options(CLASSIFIERS.create(options["name"]), options)


@pytest.mark.parametrize("made", VARIED, ids=lambda made: made.name)
def test_options_make_the_same_again_but_for_vectors(made: Architecture) -> None:
    found = again(made)

    assert found == (replace(made, vectors=None) if hasattr(made, "vectors") else made)
    assert type(found) is type(made)


def test_every_architecture_is_among_them() -> None:
    assert {made.name for made in VARIED} == set(CLASSIFIERS)


def test_what_training_leaves_out_is_as_the_architecture_has_it() -> None:
    made = decode_options(KimCNN(), {"training": {"batch_size": 20}})

    assert made == KimCNN(training=replace(KimCNN().training, batch_size=20))
    assert made.training.optimiser == "adadelta"
    assert decode_options(CNNGRU(), {"training": {"learning_rate": 1}}).training.learning_rate == 1


@pytest.mark.parametrize(
    "options", [Linear(), KimCNN(vectors=random_vectors(OTHERS, 6), filters=4), Scikit()], ids=lambda made: made.name
)
def test_a_classifier_is_loaded_from_its_name_options_and_arrays_alone(options: Any) -> None:
    task = review_task()
    made = options.build(task.corpus, task.classes, seed=0)
    made.fit_epoch(task.corpus, task.targets)

    loaded = again(options).load(made.arrays(), task.classes)

    np.testing.assert_array_equal(loaded.predict_proba(task.corpus), made.predict_proba(task.corpus))
