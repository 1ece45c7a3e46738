"""The conformance checks for other packages: our own parts pass, and parts that are wrong in one way do not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from tests.contracts.test_every_truth_method import ALL

from crowdlogic.classifiers.class_prior import ClassPrior
from crowdlogic.classifiers.crf import CRF
from crowdlogic.classifiers.linear import Linear
from crowdlogic.classifiers.scikit import Scikit
from crowdlogic.data.formats.protocol import load_format
from crowdlogic.registry import FORMATS, PREDICATES
from crowdlogic.rules.predicates.definition import Role, derived_predicate, truth_predicate
from crowdlogic.testing import (
    CLASSIFIER_CHECKS,
    FORMAT_CHECKS,
    PREDICATE_CHECKS,
    TRUTH_METHOD_CHECKS,
    ClassifierCase,
    ConformanceError,
    check_classifier,
    check_format,
    check_predicate,
    check_truth_method,
    planted_items,
)
from crowdlogic.truth.majority import MajorityVote

OF_TEXTS = {"Contains": ("x",), "Matches": ("x+",), "After": ("text",), "Before": ("text",)}
"""Our predicates of texts, with a constant for each."""


@pytest.mark.parametrize("check", TRUTH_METHOD_CHECKS)
@pytest.mark.parametrize("method", ALL, ids=lambda method: method.name)
def test_our_truth_methods_conform(method: Any, check: str) -> None:
    TRUTH_METHOD_CHECKS[check](method)


@pytest.mark.parametrize("kind", ["texts", "tokens", "features"])
@pytest.mark.parametrize("options", [Linear(steps=10), CRF(steps=10), Scikit("LogisticRegression", {"C": 100.0})])
def test_our_classifiers_conform(options: Any, kind: str) -> None:
    check_classifier(options, items=kind)


@pytest.mark.parametrize("name", OF_TEXTS)
def test_our_predicates_conform(name: str) -> None:
    predicate = PREDICATES.load(name)

    assert predicate.role is Role.text
    check_predicate(predicate, constants=OF_TEXTS[name])


@pytest.mark.parametrize("name", FORMATS)
def test_our_formats_conform(name: str) -> None:
    if name == "spacy":
        pytest.importorskip("spacy")

    check_format(load_format(name))


@dataclass(frozen=True)
class Wrong:
    """Majority vote with a mistake in its estimate."""

    mistake: Any
    name = "wrong"

    def infer(self, labels: Any, corpus: Any = None, **_: Any) -> Any:
        return self.mistake(MajorityVote(ties="first").infer(labels))


@pytest.mark.parametrize(
    ("mistake", "check"),
    [
        (lambda e: replace(e, beliefs=e.beliefs[:, ::-1]), "answers_are_most_probable"),
        (lambda e: replace(e, answer=np.zeros_like(e.answer)), "answers_are_most_probable"),
        (lambda e: replace(e, answer=np.maximum(e.answer, 0)), "items_without_labels"),
    ],
)
def test_a_wrong_truth_method_is_found(mistake: Any, check: str) -> None:
    with pytest.raises(ConformanceError, match=check):
        check_truth_method(Wrong(mistake), skip=[name for name in TRUTH_METHOD_CHECKS if name != check])


@dataclass(frozen=True)
class Leaky(ClassPrior):
    """A classifier whose arrays are not copies."""

    def build(self, corpus: Any, classes: Any, *, seed: int) -> Any:
        return LeakyModel(len(classes))

    def load(self, arrays: Any, classes: Any) -> Any:
        return LeakyModel(len(classes))


class LeakyModel:
    def __init__(self, n_classes: int) -> None:
        self.share = np.full(n_classes, 1 / n_classes)

    def fit_epoch(self, corpus: Any, targets: Any, weights: Any = None) -> float:
        self.share[:] = np.random.default_rng().dirichlet(np.ones(len(self.share)))
        return 0.5

    def predict_proba(self, corpus: Any) -> Any:
        return np.tile(self.share, (corpus.n_units, 1))

    def arrays(self) -> Any:
        return {"model.share": self.share}

    def restore(self, arrays: Any) -> None:
        self.share = np.array(arrays["model.share"])


@pytest.mark.parametrize(
    "check",
    ["planted_classes_are_learnt", "one_seed_one_classifier", "arrays_restore_the_state", "arrays_are_a_snapshot"],
)
def test_a_wrong_classifier_is_found(check: str) -> None:
    with pytest.raises(ConformanceError):
        CLASSIFIER_CHECKS[check](ClassifierCase(Leaky(), planted_items(), 3))


@pytest.mark.parametrize(
    ("predicate", "check"),
    [
        (truth_predicate("Half", lambda texts: [0.5 for _ in texts[1:]]), "one_value_per_text"),
        (truth_predicate("Long", lambda texts: [float(len(text)) for text in texts]), "values_are_in_range"),
        (truth_predicate("First", lambda texts: [float(not at) for at in range(len(texts))]), "texts_are_independent"),
        (derived_predicate("Size", lambda texts: [len(text) for text in texts]), "values_are_in_range"),
    ],
)
def test_a_wrong_predicate_is_found(predicate: Any, check: str) -> None:
    with pytest.raises(ConformanceError, match=check):
        check_predicate(predicate, skip=[name for name in PREDICATE_CHECKS if name != check])


def test_a_wrong_format_is_found() -> None:
    tsv = load_format("tsv")
    broken = type("Broken", (type(tsv),), {"read_crowd": lambda *_: {}[0]})
    wrong = object.__new__(broken)
    vars(wrong).update(vars(tsv))

    with pytest.raises(ConformanceError, match="raised KeyError"):
        FORMAT_CHECKS["junk_is_refused"](wrong)


def test_a_check_can_be_skipped_and_an_unknown_one_is_an_error() -> None:
    with pytest.raises(ConformanceError, match="are not checks"):
        check_truth_method(MajorityVote(ties="first"), skip=["nothing"])
