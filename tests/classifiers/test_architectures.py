"""Architectures by name, from plain options and back."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.classifiers.tasks import OTHERS, random_vectors, review_task

from crowdlogic.classifiers import ARCHITECTURES, architecture, architecture_class, options_of
from crowdlogic.classifiers.linear import Linear
from crowdlogic.classifiers.prior import ClassPrior
from crowdlogic.classifiers.protocol import Architecture
from crowdlogic.classifiers.scikit import Scikit
from crowdlogic.errors import MissingExtraError, OptionError

torch = pytest.importorskip("torch", reason="torch is not installed: pip install crowdlogic[torch]")

from crowdlogic.classifiers.cnn_gru import CNNGRU  # noqa: E402
from crowdlogic.classifiers.kim_cnn import KimCNN  # noqa: E402
from crowdlogic.classifiers.mlp import MLP  # noqa: E402
from crowdlogic.classifiers.training import Training  # noqa: E402
from crowdlogic.classifiers.transformer import Transformer  # noqa: E402

VARIED = [
    Linear(),
    Linear(ridge=0.5, steps=3, grams=1, bits=10),
    KimCNN(),
    KimCNN(windows=(2, 7), tuned=True, norm=3.0, words="plain", training=Training("adam", rate=0.01, clip=2.5)),
    KimCNN(vectors=random_vectors(OTHERS, 3), filters=7),
    CNNGRU(),
    CNNGRU(vectors=random_vectors(OTHERS, 3), bidirectional=True, shapes=4, exact=True, training=Training(batch=8)),
    MLP(),
    MLP(hidden=3, standardise=False),
    Scikit(),
    Scikit(LogisticRegression(C=2.0, class_weight="balanced"), least=0.01, anew=True),
    Scikit("RandomForestClassifier", {"n_estimators": 7, "max_depth": None}),
    Transformer("some/folder", pool="mean", length=64),
    ClassPrior(),
]


@pytest.mark.parametrize("made", VARIED, ids=lambda made: made.name)
def test_options_make_the_same_again_but_for_vectors(made: Architecture) -> None:
    options = json.loads(json.dumps(options_of(made)))

    again = architecture(made.name, **options)

    assert again == (replace(made, vectors=None) if hasattr(made, "vectors") else made)
    assert type(again) is type(made)


def test_every_architecture_has_its_name() -> None:
    assert {made.name for made in VARIED} == set(ARCHITECTURES)
    assert all(architecture_class(name).name == name for name in ARCHITECTURES)


def test_vectors_may_be_given_as_they_are() -> None:
    vectors = random_vectors(OTHERS, 3)

    made = architecture("kim-cnn", vectors=vectors, filters=5)

    assert made == KimCNN(vectors=vectors, filters=5)
    assert "vectors" not in options_of(made)


def test_what_training_leaves_out_is_as_the_architecture_has_it() -> None:
    made = architecture("kim-cnn", training={"batch": 20})

    assert made == KimCNN(training=replace(KimCNN().training, batch=20))
    assert made.training.optimiser == "adadelta"
    assert architecture("cnn-gru", training={"rate": 1}).training.rate == 1


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        (
            "kim_cnn",
            {},
            "No classifier is called 'kim_cnn'. Did you mean 'kim-cnn'? "
            "There are: linear, kim-cnn, cnn-gru, mlp, scikit, transformer, prior.",
        ),
        (
            "linear",
            {"ridg": 1},
            "linear has no option 'ridg'. Did you mean 'ridge'? It has: ridge, steps, grams, bits.",
        ),
        ("prior", {"x": 1}, "prior has no option 'x'. It has: none."),
        ("linear", {"ridge": "much"}, "linear: ridge: 'much' is no number."),
        ("linear", {"steps": 2.5}, "linear: steps: 2.5 is no whole number."),
        ("linear", {"steps": True}, "linear: steps: True is no whole number."),
        ("mlp", {"standardise": 1}, "mlp: standardise: 1 is no truth value (true or false)."),
        ("kim-cnn", {"windows": 3}, "kim-cnn: windows: 3 is no list, each entry a whole number."),
        ("kim-cnn", {"windows": [3, "4"]}, "kim-cnn: windows: (3, '4') is no list, each entry a whole number."),
        ("kim-cnn", {"vectors": "glove.txt"}, "kim-cnn: vectors: 'glove.txt' is no WordVectors."),
        ("kim-cnn", {"training": 3}, "kim-cnn: training: 3 is no Training."),
        (
            "kim-cnn",
            {"training": {"epochs": 3}},
            "kim-cnn: training has no option 'epochs'. "
            "It has: optimiser, rate, halve_every, batch, clip, decay, device.",
        ),
        ("kim-cnn", {"training": {"batch": "x"}}, "kim-cnn: training: batch: 'x' is no whole number."),
        ("transformer", {}, "transformer needs the option 'folder'."),
        ("transformer", {"folder": 3}, "transformer: folder: 3 is no text or path."),
    ],
)
def test_options_that_do_not_fit_are_refused(name: str, options: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError) as caught:
        architecture(name, **options)

    assert str(caught.value) == message


def test_an_estimator_that_is_no_plain_option_cannot_be_written() -> None:
    made = Scikit(make_pipeline(StandardScaler(), LogisticRegression()))

    with pytest.raises(OptionError) as caught:
        options_of(made)

    assert str(caught.value) == (
        "estimator: a Pipeline cannot be written as a plain value. Give it by name and parameters."
    )


def test_without_torch_its_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("crowdlogic.classifiers.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)

    with pytest.raises(MissingExtraError) as caught:
        architecture("cnn-gru")

    assert str(caught.value) == (
        "cnn-gru needs the package torch, which is not installed: pip install crowdlogic[torch]"
    )


def test_nothing_heavy_is_imported_before_it_is_asked_for() -> None:
    program = (
        "import sys, crowdlogic.classifiers as c\n"
        "assert not {'torch', 'sklearn', 'transformers'} & set(sys.modules), 'on import'\n"
        "c.architecture('linear'); c.options_of(c.architecture('linear'))\n"
        "assert 'torch' not in sys.modules, 'for linear'\n"
        "c.architecture('scikit')\n"
        "assert 'torch' not in sys.modules, 'for scikit'\n"
        "c.architecture('kim-cnn')\n"
        "assert 'transformers' not in sys.modules\n"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)

    assert done.stderr == ""


@pytest.mark.parametrize("name", ["linear", "kim-cnn", "scikit"])
def test_a_classifier_is_loaded_from_its_name_options_and_arrays_alone(name: str) -> None:
    """What a run directory has."""
    task = review_task()
    given = {"vectors": random_vectors(OTHERS, 6), "filters": 4} if name == "kim-cnn" else {}
    options = architecture(name, **given)
    made = options.build(task.corpus, task.classes, seed=0)
    made.fit_epoch(task.corpus, task.targets)

    again = architecture(name, **options_of(options)).load(made.arrays(), task.classes)

    np.testing.assert_array_equal(again.predict_proba(task.corpus), made.predict_proba(task.corpus))
