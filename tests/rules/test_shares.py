"""What each rule contributed."""

from __future__ import annotations

import numpy as np
import pytest

from crowdlogic.data.corpus import documents, sentences
from crowdlogic.rules.grounding import ground_rules
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.project import project
from crowdlogic.rules.shares import rule_shares

CLASSES = ("neg", "pos")
TEXTS = documents(["a", "b"], ["bad but good", "fine"])


def predict(texts):
    return np.array([[0.1, 0.9]])


def test_shares_of_single_units_are_exact_and_add_up() -> None:
    q_a = np.array([[0.7, 0.3], [0.4, 0.6]])
    ground = ground_rules(
        parse_rules("include contrast('but')\n0.5: Contains(S, 'bad') -> Label(S, 'neg')\n0.2: !Label(S, 'pos')"), TEXTS,
        CLASSES,
    )  # fmt: skip

    found = rule_shares(q_a, ground, predict=predict, strength=2.0)

    # For item a: 2 * (1 - 0.1) against neg and 2 * (1 - 0.9) against pos; then 1 against pos; then 0.4 against pos.
    difference = found.share[:, 0, 1] - found.share[:, 0, 0]
    np.testing.assert_allclose(difference, [1.6, -1.0, -0.4], rtol=0, atol=1e-12)
    q_b = project(q_a, ground, predict=predict, strength=2.0).q_b
    log_odds = np.log(q_b[:, 1] / q_b[:, 0]) - np.log(q_a[:, 1] / q_a[:, 0])
    np.testing.assert_allclose((found.share[:, :, 1] - found.share[:, :, 0]).sum(axis=0), log_odds, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.residual, 0.0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.share.mean(axis=2), 0.0, rtol=0, atol=1e-12)


def test_a_hard_rule_takes_a_class_away() -> None:
    ground = ground_rules(parse_rules("Contains(S, 'bad') -> Label(S, 'neg') .\n1: !Label(S, 'neg')"), TEXTS, CLASSES)

    found = rule_shares(np.full((2, 2), 0.5), ground)

    assert found.share[0, 0].tolist() == [0.0, -np.inf]
    assert found.share[0, 1].tolist() == [0.0, 0.0]
    assert np.isfinite(found.residual).all()


def test_in_a_chain_a_rule_is_credited_with_what_is_lost_without_it() -> None:
    tags = ("B", "I", "O")
    ground = ground_rules(
        parse_rules("1: Label(T, 'I') & Previous(T, P) -> Label(P, 'B') | Label(P, 'I')\n0.5: First(T) -> !Label(T, 'I')"),
        sentences(["s"], [["a", "b", "c"]]), tags,
    )  # fmt: skip
    q_a = np.random.default_rng(0).dirichlet(np.ones(3), size=3)

    found = rule_shares(q_a, ground, strength=2.0)

    lost = np.log(found.projection.q_b) - np.log(project(q_a, ground.only([1]), strength=2.0).q_b)
    np.testing.assert_allclose(found.share[0], lost - lost.mean(axis=1, keepdims=True), rtol=0, atol=1e-12)
    whole = np.log(found.projection.q_b) - np.log(q_a)
    whole -= whole.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(found.share.sum(axis=0) + found.residual, whole, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "text", ["1: Contains(S, 'zebra') -> Label(S, 'neg')", "0: Contains(S, 'bad') -> Label(S, 'neg')"]
)
def test_an_idle_rule_has_no_share(text: str) -> None:
    found = rule_shares(np.array([[0.7, 0.3], [0.4, 0.6]]), ground_rules(parse_rules(text), TEXTS, CLASSES))

    np.testing.assert_allclose(found.share, 0.0, rtol=0, atol=1e-12)


def test_no_rules_have_no_shares() -> None:
    found = rule_shares(np.array([[0.7, 0.3], [0.4, 0.6]]), ground_rules(parse_rules(""), TEXTS, CLASSES))

    assert found.share.shape == (0, 2, 2)
    np.testing.assert_allclose(found.residual, 0.0, rtol=0, atol=1e-12)
