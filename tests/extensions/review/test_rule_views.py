"""What rules say of items, and how often decisions contradict them."""

from __future__ import annotations

import numpy as np
import pytest
from tests.workflows.conftest import Trained

from crowdlogic.data.corpus import UNKNOWN, documents
from crowdlogic.extensions.review.evidence import (
    count_contradictions,
    read_review_rules,
    rule_name,
    rules_of_run,
)
from crowdlogic.learning.saved_run import load_run


def test_a_rule_speaks_for_a_class_where_it_applies(tmp_path: object) -> None:
    path = f"{tmp_path}/a.rules"
    with open(path, "w", encoding="utf-8") as file:
        file.write("2: Contains(S, 'good') -> Label(S, 'pos')\n")
    corpus = documents(["a", "b", "c"], ["so good", "so bad", "good good"])
    rules, _ = read_review_rules(path, (), corpus, ("neg", "pos"))

    bits = rules.say(np.array([2, 1, 0]), np.full((3, 2), 0.5))

    assert bits[0, :, 1] - bits[0, :, 0] == pytest.approx([10 / np.log(2), 0, 10 / np.log(2)])  # C w = 5 x 2 nats
    assert rules.units[0].tolist() == [0, 2]


def test_the_rules_of_a_run_ask_its_classifier(trained: Trained) -> None:
    learned = load_run(trained.file("run")).learned
    rules = rules_of_run(learned)
    assert rules is not None
    touched = rules.units[0]

    bits = rules.say(np.arange(learned.task.corpus.n_units), learned.epoch.q_a, learned)

    speaks = np.ptp(bits, axis=2)[0] > 1e-9
    assert speaks[touched].any()
    assert not np.delete(speaks, touched).any()


def test_a_rule_contradicts_what_it_speaks_against() -> None:
    bits = np.array([[[0.0, 1.0], [1.0, 0.0], [0.0, 0.0], [0.0, 1.0]], [[-np.inf, 0.0]] * 4])
    truths = np.array([0, 0, 1, UNKNOWN])

    assert count_contradictions(bits, truths) == [(1, 2), (2, 3)]


def test_a_rule_is_called_by_the_word_that_it_quotes() -> None:
    assert rule_name("1.0: Label(S, C) & After(S, 'but', B) -> Predicted(B, C)") == "the rule about 'but'"
    assert rule_name("Label(S, C) .") == "the rule Label(S, C) ."
