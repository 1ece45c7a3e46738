"""What each rule contributed."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from crowdlogic.data.corpus import documents, sentences
from crowdlogic.rules.contributions import rule_contributions
from crowdlogic.rules.grounding import ground_rules
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.projection.projector import Projector
from crowdlogic.rules.transitions import TransitionTable

CLASSES = ("neg", "pos")
TEXTS = documents(["a", "b"], ["bad but good", "fine"])


def predict(texts):
    return np.array([[0.1, 0.9]])


def test_shares_of_single_units_are_exact_and_add_up() -> None:
    q_a = np.array([[0.7, 0.3], [0.4, 0.6]])
    ground = ground_rules(
        parse_rules("include contrast('but')\n0.5: Contains(S, 'bad') -> Label(S, 'neg')\n0.2: !Label(S, 'pos')"),
        TEXTS,
        CLASSES,
    )

    found = rule_contributions(Projector(strength=2.0), q_a, ground, predict=predict)

    # For item a: 2 * (1 - 0.1) against neg and 2 * (1 - 0.9) against pos; then 1 against pos; then 0.4 against pos.
    difference = found.per_rule[:, 0, 1] - found.per_rule[:, 0, 0]
    np.testing.assert_allclose(difference, [1.6, -1.0, -0.4], rtol=0, atol=1e-12)
    q_b = Projector(strength=2.0).project(q_a, ground, predict=predict).q_b
    log_odds = np.log(q_b[:, 1] / q_b[:, 0]) - np.log(q_a[:, 1] / q_a[:, 0])
    np.testing.assert_allclose(
        (found.per_rule[:, :, 1] - found.per_rule[:, :, 0]).sum(axis=0), log_odds, rtol=0, atol=1e-12
    )
    np.testing.assert_allclose(found.per_rule.mean(axis=2), 0.0, rtol=0, atol=1e-12)


def test_a_hard_rule_takes_a_class_away() -> None:
    ground = ground_rules(parse_rules("Contains(S, 'bad') -> Label(S, 'neg') .\n1: !Label(S, 'neg')"), TEXTS, CLASSES)

    found = rule_contributions(Projector(), np.full((2, 2), 0.5), ground)

    assert found.per_rule[0, 0].tolist() == [0.0, -np.inf]
    assert found.per_rule[0, 1].tolist() == [0.0, 0.0]


def test_in_a_chain_a_rule_is_credited_with_what_is_lost_without_it() -> None:
    tags = ("B", "I", "O")
    ground = ground_rules(
        parse_rules(
            "1: Label(T, 'I') & Previous(T, P) -> Label(P, 'B') | Label(P, 'I')\n0.5: First(T) -> !Label(T, 'I')"
        ),
        sentences(["s"], [["a", "b", "c"]]),
        tags,
    )
    q_a = np.random.default_rng(0).dirichlet(np.ones(3), size=3)

    found = rule_contributions(Projector(strength=2.0), q_a, ground)

    lost = np.log(found.projection.q_b) - np.log(Projector(strength=2.0).project(q_a, ground.only([1])).q_b)
    np.testing.assert_allclose(found.per_rule[0], lost - lost.mean(axis=1, keepdims=True), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "text", ["1: Contains(S, 'zebra') -> Label(S, 'neg')", "0: Contains(S, 'bad') -> Label(S, 'neg')"]
)
def test_an_idle_rule_has_no_share(text: str) -> None:
    found = rule_contributions(
        Projector(), np.array([[0.7, 0.3], [0.4, 0.6]]), ground_rules(parse_rules(text), TEXTS, CLASSES)
    )

    np.testing.assert_allclose(found.per_rule, 0.0, rtol=0, atol=1e-12)


def test_no_rules_have_no_shares() -> None:
    found = rule_contributions(
        Projector(), np.array([[0.7, 0.3], [0.4, 0.6]]), ground_rules(parse_rules(""), TEXTS, CLASSES)
    )

    assert found.per_rule.shape == (0, 2, 2)


TAGS = ("B", "I", "O")
SENTENCE = sentences(["s", "t"], [["a", "b", "c"], ["d", "e"]])
CHAIN = "1: Label(T, 'I') & Previous(T, P) -> Label(P, 'B') | Label(P, 'I')\n0.5: First(T) -> !Label(T, 'I')"


def chain_case() -> tuple[np.ndarray, np.ndarray, TransitionTable]:
    rng = np.random.default_rng(3)
    q_a, p = rng.dirichlet(np.ones(3), size=5), rng.dirichlet(np.ones(3), size=5)
    return q_a, p, TransitionTable(TAGS, rng.dirichlet(np.ones(3), size=3), rng.dirichlet(np.ones(3)), strength=0.7)


@pytest.mark.parametrize("preset", ["paper", "released", "transitions"])
@pytest.mark.parametrize("has_table", [False, True])
def test_the_projection_and_its_start_are_those_of_the_projector(preset: str, has_table: bool) -> None:
    q_a, p, table = chain_case()
    ground = ground_rules(parse_rules(CHAIN), SENTENCE, TAGS)

    found = rule_contributions(
        Projector(strength=2.0, preset=preset, transitions=table if has_table else None), q_a, ground, classifier=p
    )

    start = q_a if preset == "paper" else p
    q_b = (
        Projector(strength=2.0, preset=preset, transitions=table if has_table else None)
        .project(q_a, ground, classifier=p)
        .q_b
    )
    assert found.from_classifier is (preset != "paper")
    np.testing.assert_array_equal(found.start, start)
    np.testing.assert_array_equal(found.projection.q_b, q_b)


def test_a_table_of_transitions_is_credited_with_what_is_lost_without_it() -> None:
    q_a, p, table = chain_case()
    ground = ground_rules(parse_rules(CHAIN), SENTENCE, TAGS)

    found = rule_contributions(Projector(preset="transitions", transitions=table), q_a, ground, classifier=p)

    without = Projector(preset="transitions").project(q_a, ground, classifier=p).q_b
    lost = np.log(found.projection.q_b) - np.log(without)
    np.testing.assert_allclose(found.transitions, lost - lost.mean(axis=1, keepdims=True), rtol=0, atol=1e-12)


def test_averaged_groundings_have_averaged_shares() -> None:
    near = Vocabulary().table("Word", pl.DataFrame({"s": ["a", "a", "a", "a"], "w": ["1", "2", "3", "4"]}))
    ground = ground_rules(parse_rules("1: Word(S, W) -> Label(S, 'neg')"), TEXTS, CLASSES, vocabulary=near)
    q_a = np.array([[0.7, 0.3], [0.4, 0.6]])

    summed = rule_contributions(Projector(strength=1.0), q_a, ground)
    averaged = rule_contributions(Projector(strength=1.0, per_unit="mean"), q_a, ground)

    np.testing.assert_allclose(summed.per_rule[0], 4 * averaged.per_rule[0], rtol=0, atol=1e-12)
    assert averaged.per_rule[0, 0, 0] - averaged.per_rule[0, 0, 1] == pytest.approx(1.0, abs=1e-12)
    change = np.log(averaged.projection.q_b) - np.log(q_a)
    change -= change.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(averaged.per_rule.sum(axis=0), change, rtol=0, atol=1e-12)
