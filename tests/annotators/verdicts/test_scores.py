"""Votes of the others: by hand, and who guesses no longer hides behind an own vote."""

from __future__ import annotations

import numpy as np
import pytest
from tests.report.small_crowds import context_of, estimate_with, inputs_by, small_crowd

from crowdlogic.annotators.verdicts.scores import SHARES_OF_VOTES, leave_one_out
from crowdlogic.data.simulate import simulate_crowd
from crowdlogic.report.pages.annotators.computation import compute_annotators
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

    assert leave_one_out(labels, estimate_with(labels)) is None


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
