"""Several methods on the same labels."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from tests.truth.planted import planted

from crowdlogic.data.estimate import Answers
from crowdlogic.data.frames import corpus_from_frame, from_arrays, from_sequences
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.truth.comparison import compare_methods, pairwise_agreement, score_estimate
from crowdlogic.truth.dawid_skene import DawidSkene
from crowdlogic.truth.majority import MajorityVote
from crowdlogic.truth.weighting import Wawa


def test_each_method_gives_the_estimate_it_gives_alone() -> None:
    labels = planted(0).labels
    methods = [MajorityVote(), DawidSkene(), Wawa()]

    compared = compare_methods(methods, labels)

    assert [one.name for one in compared] == ["majority", "dawid-skene", "wawa"]
    for method, one in zip(methods, compared, strict=True):
        np.testing.assert_array_equal(one.estimate.beliefs, method.infer(labels).beliefs)
        assert one.scores == {}
        assert one.seconds > 0


def test_a_fit_that_does_not_converge_is_marked_without_a_warning() -> None:
    early = DawidSkene(convergence=Convergence(max_iterations=2))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (found,) = compare_methods([early], planted(0).labels)

    assert not found.estimate.converged


def test_gold_gives_the_accuracy_of_the_answers_as_they_are() -> None:
    labels = from_arrays(["u", "u", "v", "v", "w"], list("ababa"), ["x", "y", "y", "y", "x"])
    gold = Answers(pl.Series(["u", "v", "w"]), ("x", "y"), np.array([0, 1, 1]))

    (found,) = compare_methods([MajorityVote(ties="soft")], labels, gold=gold)

    # u is a tie, answered x, which is right; w is wrong
    assert found.scores == {"accuracy": pytest.approx(2 / 3), "coverage": 1.0, "accuracy_all": pytest.approx(2 / 3)}


def test_span_tags_are_scored_by_both_schemes() -> None:
    """Of two true spans one is found; conlleval also takes the I-X that begins a span for one, strict does not."""
    labels = from_sequences([("s", "a", ["B-X", "I-X", "O", "I-X"])], classes=["B-X", "I-X", "O"])
    gold = Answers(pl.Series(["s"]), ("B-X", "I-X", "O"), np.array([0, 1, 2, 0]), offsets=np.array([0, 4]))

    scores = score_estimate(MajorityVote().infer(labels), gold)

    assert scores == {"F1 conll": pytest.approx(1.0), "F1 strict": pytest.approx(2 / 3), "coverage": 1.0}


def test_other_tags_are_scored_token_by_token() -> None:
    labels = from_sequences([("s", "a", ["N", "V", "N"])])
    gold = Answers(pl.Series(["s"]), ("N", "V"), np.array([0, 1, 1]), offsets=np.array([0, 3]))

    assert score_estimate(MajorityVote().infer(labels), gold)["accuracy"] == pytest.approx(2 / 3)


def test_agreement_is_the_share_of_units_that_both_answer_alike() -> None:
    labels = from_arrays(["u", "v", "w", "z"], list("aaaa"), ["x", "y", "x", "y"])
    one, two = compare_methods([MajorityVote(), MajorityVote()], labels)
    two = replace(two, estimate=replace(two.estimate, answer=np.array([0, 0, 0, -1])))

    np.testing.assert_allclose(pairwise_agreement([one, two]), [[1.0, 2 / 3], [2 / 3, 1.0]], rtol=1e-12)


def test_frames_names_and_gold_of_every_kind_are_taken() -> None:
    frame = pl.DataFrame(
        {"item": ["u", "u", "v", "v"], "annotator": ["a", "b", "a", "b"], "label": ["x", "x", "y", "y"]}
    )
    kinds = [
        {"u": "x", "v": "x"},
        pl.DataFrame({"item": ["u", "v"], "gold": ["x", "x"]}),
        pl.DataFrame({"item": ["u", "v"], "label": ["x", "x"]}).to_pandas(),
        corpus_from_frame(pl.DataFrame({"item": ["u", "v"], "text": ["1", "2"], "gold": ["x", "x"]})),
    ]

    for gold in kinds:
        found = compare_methods(["majority", DawidSkene()], frame, gold=gold)

        assert [one.name for one in found] == ["majority", "dawid-skene"]
        assert found[0].scores["accuracy"] == 0.5
    assert [one.name for one in compare_methods("mace", frame)] == ["mace"]


def test_gold_tags_of_sentences_are_taken_by_item() -> None:
    labels = from_sequences([("s", "a", ["N", "V", "N"])])

    (found,) = compare_methods(["majority"], labels, gold={"s": ["N", "V", "V"]})

    assert found.scores["accuracy"] == pytest.approx(2 / 3)
