"""Rules on the paper's two data sets: the counts that the reading notes state."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from crowdlogic.data.tagging import sequence_starts
from crowdlogic.extensions.paper.benchmarks import is_present, load_benchmark
from crowdlogic.learning.rule_verdicts import fit_without_rules, judge_rules
from crowdlogic.rules import Projector, conll_transitions, ground_rules, parse_rules
from crowdlogic.rules.audit import Outcome
from crowdlogic.truth.majority import MajorityVote

ROOT = os.environ.get("CROWDLOGIC_DATA")


def needs(name: str) -> pytest.MarkDecorator:
    missing = ROOT is None or not Path(ROOT).is_dir() or not is_present(name)
    return pytest.mark.skipif(missing, reason=f"CROWDLOGIC_DATA does not hold {name}")


@pytest.mark.data
@needs("sentiment_mturk")
def test_768_sentences_read_a_but_b_and_7_a_however_b() -> None:
    task = load_benchmark("sentiment_mturk")

    ground = ground_rules(
        parse_rules("include contrast('but')\ninclude contrast('however')"), task.corpus, task.labels.classes
    )

    assert [len(rule.units) for rule in ground.rules] == [768, 7]


@pytest.mark.data
@needs("ner_conll_mturk")
def test_hard_bio_rules_leave_no_invalid_tag() -> None:
    task = load_benchmark("ner_conll_mturk")
    classes = task.labels.classes
    beliefs = MajorityVote(ties="first").infer(task.labels).beliefs * 0.99 + 0.01 / 9
    offsets = task.corpus.offsets
    assert offsets is not None

    hard = Projector().project(beliefs, ground_rules(parse_rules("include bio ."), task.corpus, classes)).q_b
    best = (
        Projector(preset="released")
        .project(beliefs, ground_rules(parse_rules("include bio ."), task.corpus, classes), classifier=beliefs)
        .path
    )

    assert best is not None
    names = np.array([str(name) for name in classes])
    tags, begins = names[best], sequence_starts(len(best), offsets)
    inside = np.char.startswith(tags, "I-")
    follows = np.char.replace(np.roll(tags, 1), "B-", "I-") == tags
    assert inside.any()
    assert (follows | ~inside | begins).all()
    assert not (inside & begins).any()
    np.testing.assert_allclose(hard.sum(axis=1), 1.0, rtol=0, atol=1e-9)
    assert hard[begins][:, [k for k, name in enumerate(names) if name.startswith("I-")]].max() == 0.0


@pytest.mark.data
@needs("ner_conll_mturk")
def test_the_audit_names_the_rule_that_ruins_the_task() -> None:
    task = load_benchmark("ner_conll_mturk")
    ground = ground_rules(
        parse_rules(
            "1: Label(T, 'O') & Previous(T, P) -> Label(P, 'B-PER')\n"
            "1: Label(T, 'B-LOC') & Previous(T, P) -> Label(P, 'O')"
        ),
        task.corpus,
        task.labels.classes,
    )

    bad, good = judge_rules(ground, fit_without_rules(task.labels, task.corpus))

    # It holds in 2 % of its cases, where chance is 3 %: as good as never
    assert bad.outcome is Outcome.contradicts
    assert bad.new_weight == 0.0
    assert bad.holds < bad.chance < 0.05
    assert good.outcome is Outcome.helps


@pytest.mark.data
@needs("ner_conll_mturk")
def test_the_authors_transitions_move_the_beliefs_of_real_sentences() -> None:
    task = load_benchmark("ner_conll_mturk")
    beliefs = MajorityVote(ties="first").infer(task.labels).beliefs * 0.9 + 0.1 / 9

    found = Projector(preset="transitions", transitions=conll_transitions(task.labels.classes)).project(
        beliefs, ground_rules(parse_rules(""), task.corpus, task.labels.classes), classifier=beliefs
    )

    changed = (found.q_b.argmax(axis=1) != beliefs.argmax(axis=1)).mean()
    assert found.method == "chain"
    assert 0.001 < changed < 0.05
