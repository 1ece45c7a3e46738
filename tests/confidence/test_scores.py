"""Votes of the others: by hand, and who guesses no longer hides behind an own vote."""

from __future__ import annotations

import numpy as np
import pytest
from tests.report.small_crowds import context_of, estimate_with, inputs_by, small_crowd

from crowdlogic.confidence.annotator_verdicts import SHARES_OF_VOTES, leave_one_out
from crowdlogic.data.simulate import simulate_crowd
from crowdlogic.reporting.pages.annotators import compute_annotators
from crowdlogic.truth.dependence import state_confidence
from crowdlogic.truth.majority import MajorityVote
from crowdlogic.truth.methods import truth_method


def test_each_label_is_set_against_the_votes_of_the_others() -> None:
    labels = small_crowd()

    found = leave_one_out(labels, truth_method("majority").infer(labels))

    # Rows are by item and annotator: three voted x on u1; ann x, bob y, cat x on u2; two y on u3; u4 has one vote only.
    assert found is not None
    compared, estimate = found
    assert compared.n_labels == 8
    assert [compared.annotators[j] for j in compared.annotator.tolist()] == [
        "ann",
        "bob",
        "cat",
        "ann",
        "bob",
        "cat",
        "ann",
        "bob",
    ]
    expected = [[1, 0], [1, 0], [1, 0], [0.5, 0.5], [1, 0], [0.5, 0.5], [0, 1], [0, 1]]
    assert estimate.beliefs == pytest.approx(np.array(expected))


def test_a_method_that_models_annotators_is_left_alone() -> None:
    labels = small_crowd()

    assert leave_one_out(labels, truth_method("dawid-skene").infer(labels)) is None
    assert leave_one_out(labels, estimate_with(labels, reliability=np.full(3, 0.7))) is None


def test_a_method_of_ones_own_that_says_nothing_of_annotators_is_judged_by_the_others() -> None:
    labels = small_crowd()
    shares = truth_method("majority").infer(labels).beliefs

    by_name, own = (
        leave_one_out(labels, one) for one in (truth_method("majority").infer(labels), estimate_with(labels, shares))
    )

    assert by_name is not None
    assert own is not None
    assert (own[1].beliefs == by_name[1].beliefs).all()


def test_a_truth_that_is_known_of_every_item_is_judged_by_as_it_is() -> None:
    labels = small_crowd()

    assert leave_one_out(labels, estimate_with(labels, [[1, 0], [0, 1], [0, 1], [1, 0]])) is None


def test_known_items_are_judged_by_their_truth_and_the_others_by_votes() -> None:
    labels = small_crowd()
    stated = state_confidence(labels, truth_method("majority").infer(labels), anchors={"u1": "y"})

    found = leave_one_out(labels, stated)

    # All three said x of u1, where the truth is y.
    assert found is not None
    assert found[1].beliefs[:3].tolist() == [[0, 1]] * 3


def test_the_method_whose_beliefs_are_shares_of_votes_is_majority_vote() -> None:
    assert MajorityVote.name == SHARES_OF_VOTES


def test_spammers_do_not_hide_behind_their_own_votes() -> None:
    # Three labels for each item: who guesses decides a third of every share that they are judged by.
    made = simulate_crowd(
        np.random.default_rng(4),
        units=1500,
        annotators=15,
        classes=2,
        labels_per_unit=3,
        mix={"expert": 0.8, "spammer": 0.2},
    )
    planted = dict(zip(made.labels.annotators, made.characters, strict=True))

    found = compute_annotators(context_of(inputs_by("majority", made.labels)))

    grave = ("spammer", "one class", "adversary")
    flagged = {row.name for row in found.rows if row.flags and row.flags[0].kind in grave}
    assert found.by_others
    assert flagged == {name for name, who in planted.items() if who == "spammer"}
