"""Every classifier's options as plain data and back: what a run directory has of it."""

from __future__ import annotations

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from crowdlogic.classifiers.scikit import Scikit
from crowdlogic.errors import OptionError
from crowdlogic.registry import CLASSIFIERS
from crowdlogic.store.options import decode_options, encode_options, find_python_object

torch = pytest.importorskip("torch", reason="torch is not installed: pip install crowdlogic[torch]")


@pytest.mark.extension("networks")
@pytest.mark.parametrize(
    ("name", "options", "start"),
    [
        (
            "linear",
            {"ridg": 1},
            "ridg: unknown option. Did you mean 'ridge'? There are ridge, steps, max_ngram, hash_bits, idf_power, ngram_weight.",
        ),
        ("linear", {"ridge": "much"}, "ridge: expected a number, got 'much'."),
        ("linear", {"steps": 2.5}, "steps: expected an integer, got 2.5."),
        ("linear", {"steps": True}, "steps: expected an integer, got True."),
        ("mlp", {"standardise": 1}, "standardise: expected true or false, got 1."),
        ("kim-cnn", {"windows": 3}, "windows: expected a list, got 3."),
        ("kim-cnn", {"windows": [3, "4"]}, "windows: expected a list, got [3, '4']."),
        ("kim-cnn", {"vectors": "glove.txt"}, "vectors: word vectors cannot be set as an option."),
        ("kim-cnn", {"training": 3}, "training: expected a table, got 3."),
        ("kim-cnn", {"training": {"epochs": 3}}, "training.epochs: unknown option."),
        (
            "kim-cnn",
            {"training": {"batch_size": "x"}},
            "training.batch_size: expected an integer, got 'x'.",
        ),
        ("transformer", {"folder": 3}, "folder: expected a text"),
    ],
)
def test_options_that_do_not_fit_are_refused(name: str, options: dict[str, object], start: str) -> None:
    with pytest.raises(OptionError) as caught:
        decode_options(CLASSIFIERS.create(name), options)

    assert str(caught.value).startswith(start)


def test_an_estimator_that_is_no_plain_option_is_told_of() -> None:
    made = Scikit(make_pipeline(StandardScaler(), LogisticRegression()))

    assert find_python_object(encode_options(made)) == "Pipeline"
