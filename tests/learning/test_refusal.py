"""Methods without a place for rules."""

from __future__ import annotations

import numpy as np
import pytest

from crowdlogic.classifiers.class_prior import ClassPrior
from crowdlogic.data.corpus import documents
from crowdlogic.data.frames import from_arrays
from crowdlogic.errors import OptionError
from crowdlogic.learning.method import TrainingData, idle_teacher, refuse_rules
from crowdlogic.learning.stopping import TrainingLimits
from crowdlogic.learning.task import prepare_task
from crowdlogic.rules.parser import parse_rules

CORPUS, LABELS = documents(["a", "b"], ["one", "two"]), from_arrays(["a", "b"], ["x", "x"], [0, 1])


def test_rules_are_refused_and_their_absence_is_not() -> None:
    rules = parse_rules("1: Contains(S, 'one') -> Label(S, '0')")

    with pytest.raises(OptionError) as refused:
        refuse_rules("mine", TrainingData(corpus=CORPUS, labels=LABELS, rules=rules))
    for nothing in (None, parse_rules("")):
        refuse_rules("mine", TrainingData(corpus=CORPUS, labels=LABELS, rules=nothing))

    assert str(refused.value) == "mine does not support rules. Use logic-lncl, or leave the rules out."


def test_without_rules_predictions_are_the_classifiers() -> None:
    task = prepare_task(CORPUS, LABELS, limits=TrainingLimits(held_out=None))
    classifier = ClassPrior().build(CORPUS, task.labels.classes, seed=0)
    teacher = idle_teacher(task)

    assert teacher.is_idle
    np.testing.assert_array_equal(teacher.predict(CORPUS, classifier), classifier.predict_proba(CORPUS))
