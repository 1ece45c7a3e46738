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
        ("linear", {"ridge": "much"}, "ridge: 'much' given where a number is expected."),
        ("linear", {"steps": 2.5}, "steps: 2.5 given where a whole number is expected."),
        ("linear", {"steps": True}, "steps: True given where a whole number is expected."),
        ("mlp", {"standardise": 1}, "standardise: 1 given where true or false is expected."),
        ("kim-cnn", {"windows": 3}, "windows: 3 given where a list is expected."),
        ("kim-cnn", {"windows": [3, "4"]}, "windows: [3, '4'] given where a list is expected."),
        ("kim-cnn", {"vectors": "glove.txt"}, "vectors: word vectors are data, and no option."),
        ("kim-cnn", {"training": 3}, "training: 3 given where a table is expected."),
        ("kim-cnn", {"training": {"epochs": 3}}, "training.epochs: unknown option."),
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
