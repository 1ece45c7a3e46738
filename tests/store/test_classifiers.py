"""Every classifier's options as plain data and back: what a run directory has of it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.classifiers.planted_tasks import OTHERS, random_vectors, review_task

from crowdlogic.classifiers.class_prior import ClassPrior
from crowdlogic.classifiers.linear import Linear
from crowdlogic.classifiers.protocol import Architecture
from crowdlogic.classifiers.scikit import Scikit
from crowdlogic.errors import OptionError
from crowdlogic.registry import CLASSIFIERS
from crowdlogic.store.options import decode_options, encode_options, find_python_object

torch = pytest.importorskip("torch", reason="torch is not installed: pip install crowdlogic[torch]")

from crowdlogic.classifiers.crf import CRF  # noqa: E402
from crowdlogic.extensions.networks.bilstm_crf import BiLSTMCRF  # noqa: E402
from crowdlogic.extensions.networks.cnn_gru import CNNGRU  # noqa: E402
from crowdlogic.extensions.networks.kim_cnn import KimCNN  # noqa: E402
from crowdlogic.extensions.networks.mlp import MLP  # noqa: E402
from crowdlogic.extensions.networks.network import Training  # noqa: E402
from crowdlogic.extensions.networks.transformer import Transformer  # noqa: E402

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
    ("name", "options", "start"),
    [
        (
            "linear",
            {"ridg": 1},
            "ridg: there is no such option. Did you mean 'ridge'? There are ridge, steps, max_ngram, hash_bits, idf_power, ngram_weight.",
        ),
        ("linear", {"ridge": "much"}, "ridge: 'much' given where a number is expected."),
        ("linear", {"steps": 2.5}, "steps: 2.5 given where a whole number is expected."),
        ("linear", {"steps": True}, "steps: True given where a whole number is expected."),
        ("mlp", {"standardise": 1}, "standardise: 1 given where true or false is expected."),
        ("kim-cnn", {"windows": 3}, "windows: 3 given where a list is expected."),
        ("kim-cnn", {"windows": [3, "4"]}, "windows: [3, '4'] given where a list is expected."),
        ("kim-cnn", {"vectors": "glove.txt"}, "vectors: word vectors are data, and no option."),
        ("kim-cnn", {"training": 3}, "training: 3 given where a table is expected."),
        ("kim-cnn", {"training": {"epochs": 3}}, "training.epochs: there is no such option."),
        (
            "kim-cnn",
            {"training": {"batch_size": "x"}},
            "training.batch_size: 'x' given where a whole number is expected.",
        ),
        ("transformer", {"folder": 3}, "folder: 3 given where a text"),
    ],
)
def test_options_that_do_not_fit_are_refused(name: str, options: dict[str, object], start: str) -> None:
    with pytest.raises(OptionError) as caught:
        decode_options(CLASSIFIERS.create(name), options)

    assert str(caught.value).startswith(start)


def test_an_estimator_that_is_no_plain_option_is_told_of() -> None:
    made = Scikit(make_pipeline(StandardScaler(), LogisticRegression()))

    assert find_python_object(encode_options(made)) == "Pipeline"


@pytest.mark.parametrize(
    "options", [Linear(), KimCNN(vectors=random_vectors(OTHERS, 6), filters=4), Scikit()], ids=lambda made: made.name
)
def test_a_classifier_is_loaded_from_its_name_options_and_arrays_alone(options: Any) -> None:
    task = review_task()
    made = options.build(task.corpus, task.classes, seed=0)
    made.fit_epoch(task.corpus, task.targets)

    loaded = again(options).load(made.arrays(), task.classes)

    np.testing.assert_array_equal(loaded.predict_proba(task.corpus), made.predict_proba(task.corpus))
