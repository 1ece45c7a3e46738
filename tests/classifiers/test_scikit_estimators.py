"""scikit-learn's classifiers by name, and as plain parameters."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from crowdlogic.classifiers.scikit import (
    build_estimator,
    describe_estimator,
    find_class,
    sample_weight_name,
    seed_estimator,
)
from crowdlogic.errors import OptionError


def test_names_find_scikit_learn_s_classes() -> None:
    assert find_class("RandomForestClassifier") is RandomForestClassifier
    assert build_estimator("LogisticRegression", {"C": 3}).C == 3


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("LogisticRegresion", "scikit-learn has no classifier 'LogisticRegresion'. Did you mean 'LogisticRegression'?"),
        ("LinearRegression", "scikit-learn has no classifier 'LinearRegression'."),
        ("os.system", "scikit-learn has no classifier 'os.system'."),
    ],
)
def test_names_of_other_things_are_refused(name: str, message: str) -> None:
    with pytest.raises(OptionError) as caught:
        find_class(name)

    assert str(caught.value).startswith(message)


def test_a_description_makes_an_equal_estimator() -> None:
    name, parameters = describe_estimator(LogisticRegression(C=2.0, class_weight="balanced"))

    assert (name, parameters) == ("LogisticRegression", {"C": 2.0, "class_weight": "balanced"})
    assert (
        build_estimator(name, parameters).get_params()
        == LogisticRegression(C=2.0, class_weight="balanced").get_params()
    )


def test_pipelines_and_parameters_that_are_no_plain_values_have_no_description() -> None:
    assert describe_estimator(make_pipeline(StandardScaler(), LogisticRegression())) is None
    assert describe_estimator(RandomForestClassifier(random_state=np.random.RandomState(0))) is None


def test_every_random_state_but_a_given_number_is_seeded() -> None:
    pipeline = make_pipeline(StandardScaler(), RandomForestClassifier())

    seeded, own = seed_estimator(pipeline, 5), seed_estimator(RandomForestClassifier(random_state=3), 5)

    assert seeded.get_params()["randomforestclassifier__random_state"] == 5
    assert own.random_state == 3
    assert pipeline[-1].random_state is None


def test_sample_weights_of_a_pipeline_go_to_its_last_step() -> None:
    assert sample_weight_name(LogisticRegression()) == "sample_weight"
    assert (
        sample_weight_name(make_pipeline(StandardScaler(), LogisticRegression())) == "logisticregression__sample_weight"
    )
    with pytest.raises(OptionError, match="KNeighborsClassifier does not accept sample weights"):
        sample_weight_name(KNeighborsClassifier())
