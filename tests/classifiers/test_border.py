"""Classifiers of other people: whatever they give that is none is one sentence, and no error from deep inside."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import crowdlogic as cl
from crowdlogic.classifiers.protocol import WHAT_IT_IS

LABELS = cl.data.from_dict({"u": {"a": "x", "b": "x"}, "v": {"a": "y", "b": "x"}, "w": {"a": "y", "b": "y"}})
CORPUS = cl.data.documents(["u", "v", "w"], ["one", "two", "three"])
ONE = cl.learning.TrainingLimits(epochs=1, held_out=None)
EVEN = [[0.5, 0.5]] * 3


class Model:
    """A classifier that learns nothing."""

    def fit_epoch(self, corpus: Any, targets: Any, weights: Any = None) -> Any:
        return 0.5

    def predict_proba(self, corpus: Any) -> Any:
        return np.full((corpus.n_units, 2), 0.5)

    def arrays(self) -> Any:
        return {"model.weight": np.zeros(2)}

    def restore(self, arrays: Any) -> None:
        pass


class Own:
    """Options of it; `changed` takes the place of its verbs."""

    name = "own"

    def __init__(self, **changed: Callable[..., Any]) -> None:
        self.changed = {verb: (called if called is None else staticmethod(called)) for verb, called in changed.items()}

    def build(self, corpus: Any, classes: Any, *, seed: int) -> Any:
        return type("Mine", (Model,), {"__module__": "mine", **self.changed})()

    def load(self, arrays: Any, classes: Any) -> Any:
        return self.build(None, classes, seed=0)


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"fit_epoch": None}, f"own: build made a Mine, which has no fit_epoch. {WHAT_IT_IS}"),
    ({"fit_epoch": lambda corpus: 0.5}, f"own: build made a Mine, which has fit_epoch(corpus). {WHAT_IT_IS}"),
    (
        {"fit_epoch": lambda corpus, targets, weights: None},
        "Mine: fit_epoch returned a NoneType. Return the mean loss of the epoch as a number.",
    ),
    (
        {"fit_epoch": lambda corpus, targets, weights: float("nan")},
        "Mine: fit_epoch returned a loss of nan. Look for a logarithm of 0, a division by 0 or extreme values in it.",
    ),
    (
        {"predict_proba": lambda corpus: None},
        "Mine: predict_proba returned nothing. Return one row per unit and one column per class.",
    ),
    (
        {"predict_proba": lambda corpus: [["much", "little"]] * 3},
        "Mine: predict_proba returned a list that is not a table of numbers. Return one row per unit and one column per class.",
    ),
    (
        {"predict_proba": lambda corpus: np.array(EVEN).T},
        "Mine: predict_proba returned an array of shape (2, 3) for 3 units and 2 classes. Return one row per unit and one column per class.",
    ),
    (
        {"predict_proba": lambda corpus: np.ones((3, 1))},
        "Mine: predict_proba returned an array of shape (3, 1) for 3 units and 2 classes. Return one row per unit and one column per class.",
    ),
    (
        {"predict_proba": lambda corpus: [[0.5, 0.5], [np.nan, 0.5], [0.5, 0.5]]},
        "Mine: predict_proba returned numbers that are not finite in row 1. Look for a logarithm of 0, a division by 0 or extreme values in it.",
    ),
    (
        {"predict_proba": lambda corpus: [[0.5, 0.5], [0.5, 0.5], [1.5, -0.5]]},
        "Mine: predict_proba returned -0.5 in row 2, which is below 0. Return probabilities.",
    ),
    (
        {"predict_proba": lambda corpus: [[0.5, 0.5], [3, 4], [0.5, 0.5]]},
        "Mine: predict_proba returned probabilities that sum to 7 in row 1, not to 1. Divide each row by its sum.",
    ),
    (
        {"arrays": lambda: None},
        'Mine: arrays() returned a NoneType. Return the state as named arrays: {"model.weights": np.array(...)}.',
    ),
    (
        {"arrays": lambda: {"model.weight": [1.0]}},
        "Mine: arrays() returned a list as 'model.weight'. Return arrays of numbers: {\"model.weights\": np.array(...)}.",
    ),
    (
        {"arrays": lambda: {"model.words": np.array(["a"])}},
        "Mine: arrays() returned an array of <U1 as 'model.words'. Return arrays of numbers: {\"model.weights\": np.array(...)}.",
    ),
    (
        {"arrays": lambda: {7: np.zeros(2)}},
        'Mine: arrays() returned the name 7, which is not a string. Name the arrays as in {"model.weights": np.array(...)}.',
    ),
]


@pytest.mark.filterwarnings("ignore:.*is not saved with the run")
@pytest.mark.parametrize("folds", [1, 2])
@pytest.mark.parametrize(("changed", "message"), WRONG)
def test_what_a_classifier_gives_wrongly_is_one_whole_sentence(
    changed: dict[str, Any], message: str, folds: int, tmp_path: Path
) -> None:
    method = cl.LogicLNCL(classifier=Own(**changed), limits=ONE, folds=folds)

    with pytest.raises(cl.CrowdLogicError) as refused:
        method.fit(CORPUS, LABELS, save=tmp_path / "run")

    assert str(refused.value) == message


@pytest.mark.parametrize("folds", [1, 2])
def test_lists_and_whole_numbers_are_taken_as_they_are_meant(folds: int) -> None:
    sure = Own(predict_proba=lambda corpus: [[1, 0]] * corpus.n_units, fit_epoch=lambda corpus, targets, weights: 1)

    learned = cl.LogicLNCL(classifier=sure, limits=ONE, folds=folds).fit(CORPUS, LABELS)

    np.testing.assert_array_equal(learned.epoch.p, [[1.0, 0.0]] * 3)
    np.testing.assert_allclose(learned.predict(["four"], student=True, calibrated=False), [[1.0, 0.0]])


def test_a_classifier_of_the_wrong_number_of_classes_is_refused_for_new_items() -> None:
    learned = cl.LogicLNCL(classifier=Own(), limits=ONE).fit(CORPUS, LABELS)
    learned.classifier.predict_proba = lambda corpus: np.ones((1, 1))

    with pytest.raises(cl.CrowdLogicError) as refused:
        learned.predict(["four"])

    assert str(refused.value) == (
        "Mine: predict_proba returned an array of shape (1, 1) for 1 unit and 2 classes. Return one row per unit and one "
        "column per class."
    )
