"""What groundings add up to at a unit and at a pair."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tests.rules.enumeration import CLASSES, vocabulary_of

from crowdlogic.data.corpus import documents, sentences
from crowdlogic.rules.grounding import ground_rules
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.potentials import SMALL_RANGE, potentials, renumber
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.projection.projector import Projector

BIO = ("B-PER", "I-PER", "O")


def bio_ground(tokens: list[list[str]], text: str = "include bio"):
    return ground_rules(parse_rules(text), sentences([f"s{n}" for n in range(len(tokens))], tokens), BIO)


@pytest.mark.parametrize("truth", [1.0, 0.9])
def test_groundings_that_meet_at_one_pair_add_up(truth: float) -> None:
    shared = {("u0", "v"): 1.0, ("u1", "v"): 1.0, ("u0", "w"): truth, ("u1", "w"): 1.0}
    ground = ground_rules(
        parse_rules("1: Noted(A, W) & Noted(B, W) & Label(A, 'x') & A != B -> Label(B, 'x')"),
        documents(["u0", "u1"], ["t", "t"]),
        CLASSES,
        vocabulary=vocabulary_of({"Noted": shared}),
    )

    found = Projector(strength=1.0).project(np.full((2, 3), 1 / 3), ground).q_b

    # Two words, so two groundings each way: x beside another class costs 1 + truth, from either side.
    cost = np.exp(-(1 + truth))
    joint = np.array([[1, cost, cost], [cost, 1, 1], [cost, 1, 1]])
    np.testing.assert_allclose(found[0], joint.sum(axis=1) / joint.sum(), rtol=0, atol=1e-12)


def test_the_mean_per_unit_keeps_fifty_neighbours_from_drowning_a_unit() -> None:
    frame = pl.DataFrame({"a": [f"u{n}" for n in range(1, 51)], "b": ["u0"] * 50})
    ground = ground_rules(
        parse_rules("1: Similar(A, B) & Label(A, C) -> Label(B, C)"),
        documents([f"u{i}" for i in range(51)], ["t"] * 51),
        CLASSES,
        vocabulary=Vocabulary().table("Similar", frame),
    )
    beliefs = np.vstack([[[0.9, 0.05, 0.05]], np.tile([[0.05, 0.9, 0.05]], (50, 1))])

    added = Projector(strength=1.0).project(beliefs, ground).q_b[0]
    averaged = Projector(strength=1.0, per_unit="mean").project(beliefs, ground).q_b[0]

    assert added[1] > 0.99
    # Each of the 50 counts a fiftieth, so together they say about as much as one neighbour with the same belief.
    one = (
        np.array([0.9, 0.05, 0.05]) * (np.exp(-1 / 50) * 1 + (1 - np.exp(-1 / 50)) * np.array([0.05, 0.9, 0.05])) ** 50
    )
    np.testing.assert_allclose(averaged, one / one.sum(), rtol=0, atol=1e-9)


def test_the_mean_per_unit_averages_rows_over_one_unit() -> None:
    tables = {"Noted": {("u0", "a"): 1.0, ("u0", "b"): 0.5, ("u1", "a"): 1.0}}
    ground = ground_rules(
        parse_rules("1: Noted(S, W) -> Label(S, 'x')"),
        documents(["u0", "u1"], ["t"] * 2),
        CLASSES,
        vocabulary=vocabulary_of(tables),
    )
    beliefs = np.full((2, 3), 1 / 3)

    found = Projector(strength=1.0, per_unit="mean").project(beliefs, ground).q_b

    np.testing.assert_allclose(found[0, 1] / found[0, 0], np.exp(-0.75), rtol=1e-12)
    np.testing.assert_allclose(found[1, 1] / found[1, 0], np.exp(-1.0), rtol=1e-12)


def test_what_the_classifier_has_no_say_in_is_added_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    ground = bio_ground([["a", "b", "c"]])
    beliefs = np.full((3, 3), 1 / 3)
    first = Projector().project(beliefs, ground).q_b

    monkeypatch.setattr("crowdlogic.rules.potentials.distances", None)
    again = Projector().project(beliefs, ground).q_b

    np.testing.assert_array_equal(again, first)


@pytest.mark.parametrize("per_unit", ["sum", "mean"])
@pytest.mark.parametrize("seed", range(4))
def test_penalties_are_the_sum_over_groundings_of_weight_times_distance(per_unit: str, seed: int) -> None:
    """Against a loop over groundings, one at a time."""
    rng = np.random.default_rng(seed)
    pairs = sorted({(int(a), int(b)) for a, b in rng.integers(0, 4, size=(8, 2)) if a != b})
    truth = rng.choice([1.0, 0.5, 0.25], size=len(pairs))
    frame = pl.DataFrame({"a": [f"u{a}" for a, _ in pairs], "b": [f"u{b}" for _, b in pairs], "truth": truth})
    ground = ground_rules(
        parse_rules("0.7: Near(A, B) & Label(A, 'x') -> Label(B, 'x')\n0.3: !Label(A, 'y')"),
        documents([f"u{i}" for i in range(4)], ["t"] * 4),
        CLASSES,
        vocabulary=Vocabulary().table("Near", frame),
    )

    found = potentials(ground, per_unit=per_unit)

    counts = np.bincount(np.array(pairs).ravel(), minlength=4)
    expected = np.zeros((4, 4, 3, 3))
    for (a, b), value in zip(pairs, truth, strict=True):
        share = 1.0 if per_unit == "sum" else 1.0 / max(counts[a], counts[b])
        for k, n in np.ndindex(3, 3):
            broken = 0.7 * share * value * (k == 0 and n != 0)
            first, second, at = (a, b, (k, n)) if a < b else (b, a, (n, k))
            expected[(first, second, *at)] += broken
    assert found.pairs is not None
    dense = np.zeros_like(expected)
    dense[found.pairs.first, found.pairs.second] = found.pairs.penalty[found.pairs.which]
    np.testing.assert_allclose(dense, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.penalty, np.tile([0.0, 0.3, 0.0], (4, 1)), rtol=0, atol=1e-12)
    assert not found.forbidden.any()


def test_hard_rules_forbid_and_are_not_scaled() -> None:
    ground = bio_ground([["a", "b"]], "include bio .")

    found = potentials(ground)

    assert found.forbidden[0].tolist() == [False, True, False]
    assert not found.penalty.any()
    applied = found.apply(np.zeros((2, 3)), 0.0)
    assert applied[0].tolist() == [0.0, -np.inf, 0.0]
    assert found.pairs is not None
    assert found.pairs.log_potential(0.0)[0].tolist() == [[0, 0, 0], [0, 0, 0], [0, -np.inf, 0]]


@pytest.mark.parametrize("span", [10, SMALL_RANGE + 1])
def test_codes_are_renumbered_in_order(span: int) -> None:
    distinct, renumbered = renumber(np.array([7, 2, 7, 9]), span)

    assert distinct.tolist() == [2, 7, 9]
    assert renumbered.tolist() == [1, 0, 1, 2]
