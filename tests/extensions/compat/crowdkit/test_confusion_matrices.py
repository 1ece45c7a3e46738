from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from tests.extensions.compat.crowdkit.small_answers import YES_NO, planted_answers

from crowdlogic.errors import OptionError
from crowdlogic.extensions.compat.crowdkit import DawidSkene, MajorityVote, OneCoinDawidSkene
from crowdlogic.extensions.compat.crowdkit.aggregation import normalise_errors
from crowdlogic.extensions.compat.crowdkit.answers import code_answers


def em_by_hand(answers: pd.DataFrame, iterations: int) -> tuple[pd.DataFrame, pd.Series, dict]:
    """Dawid and Skene's EM with plain loops: q, prior and p(said | worker, truth)."""
    q = MajorityVote().fit_predict_proba(answers)
    labels = list(q.columns)
    for _ in range(iterations + 1):
        prior = q.mean()
        errors = {}
        for worker, given in answers.groupby("worker"):
            for truth in labels:
                counts = {
                    said: max(sum(q.loc[row.task, truth] for row in given.itertuples() if row.label == said), 1e-10)
                    for said in given["label"].unique()
                }
                errors |= {(worker, said, truth): count / sum(counts.values()) for said, count in counts.items()}
        if _ == iterations:
            return q, prior, errors
        scores = pd.DataFrame(1.0, index=q.index, columns=labels) * prior
        for row in answers.itertuples():
            for truth in labels:
                scores.loc[row.task, truth] *= errors[row.worker, row.label, truth]
        q = scores.div(scores.sum(axis=1), axis=0)
    raise AssertionError


@pytest.mark.parametrize("iterations", [0, 1, 3])
def test_every_iteration_is_dawid_and_skenes(iterations: int) -> None:
    answers, _ = planted_answers(5, tasks=30, workers=5, each=3)
    q, prior, errors = em_by_hand(answers, iterations)

    made = DawidSkene(n_iter=iterations, tol=-1).fit(answers)

    np.testing.assert_allclose(made.probas_.loc[q.index], q, rtol=0, atol=1e-9)
    np.testing.assert_allclose(made.priors_, prior, rtol=0, atol=1e-9)
    for (worker, said), row in made.errors_.iterrows():
        np.testing.assert_allclose(row, [errors[worker, said, truth] for truth in q.columns], rtol=0, atol=1e-8)
    assert len(made.loss_history_) == iterations


def test_the_loss_rises_until_it_stops() -> None:
    made = DawidSkene().fit(planted_answers(6)[0])

    assert 2 < len(made.loss_history_) < 100
    assert (np.diff(made.loss_history_)[:-1] >= 1e-5).all()


def test_known_tasks_are_certain_and_may_have_a_label_of_their_own() -> None:
    known = pd.Series({"t1": "no", "t3": "maybe", "elsewhere": "no"})

    for iterations in (0, 5):
        made = DawidSkene(n_iter=iterations).fit(YES_NO, known)

        assert made.labels_[["t1", "t3"]].to_dict() == {"t1": "no", "t3": "maybe"}
        np.testing.assert_allclose(made.probas_.loc["t1"].max(), 1.0, rtol=0, atol=1e-9)


def test_earlier_errors_are_added_or_assigned() -> None:
    index = pd.MultiIndex.from_product([["w1", "w2", "w3"], ["no", "yes"]], names=["worker", "label"])
    sure = pd.DataFrame(np.tile([[99.0, 1.0], [1.0, 99.0]], (3, 1)), index=index, columns=["no", "yes"])

    added = DawidSkene(n_iter=0, initial_error_strategy="addition").fit(YES_NO, initial_error=sure)
    assigned = DawidSkene(n_iter=0, initial_error_strategy="assign").fit(YES_NO, initial_error=sure / 100)

    counts = MajorityVote().fit_predict_proba(YES_NO)
    w1_no = counts.loc["t1", "no"] + counts.loc["t3", "no"]  # what w1 called no, by the share of no
    np.testing.assert_allclose(
        added.errors_.loc[("w1", "no"), "no"], (99 + w1_no) / (100 + counts["no"].sum()), rtol=1e-9
    )
    pd.testing.assert_frame_equal(assigned.errors_, sure / 100)


@pytest.mark.parametrize(
    ("strategy", "change", "words"),
    [
        ("assign", lambda frame: frame.head(3), "has no matrix for 2 workers"),
        ("assign", lambda frame: frame * 0, "must sum to 1.0"),
        ("multiply", lambda frame: frame, "expected one of assign, addition"),
        ("assign", lambda frame: frame.rename_axis(["who", "label"]), "must be indexed by worker and label"),
    ],
)
def test_earlier_errors_that_do_not_fit_are_refused(strategy: str, change: object, words: str) -> None:
    index = pd.MultiIndex.from_product([["w1", "w2", "w3"], ["no", "yes"]], names=["worker", "label"])
    errors = change(pd.DataFrame(0.5, index=index, columns=["no", "yes"]))

    with pytest.raises(OptionError, match=words):
        DawidSkene(initial_error_strategy=strategy).fit(YES_NO, initial_error=errors)


def test_nothing_gives_nothing() -> None:
    empty = pd.DataFrame([], columns=["task", "worker", "label"])

    assert DawidSkene().fit(empty).labels_.empty
    assert OneCoinDawidSkene().fit(empty).probas_.empty


def test_one_coin_is_the_share_of_right_answers() -> None:
    answers, _ = planted_answers(7)

    made = OneCoinDawidSkene().fit(answers)

    right = [made.probas_.loc[row.task, row.label] for row in answers.itertuples()]
    by_hand = pd.Series(right).groupby(answers["worker"].to_numpy()).mean()
    np.testing.assert_allclose(made.skills_.sort_index(), by_hand, rtol=1e-9)
    skill = made.skills_["w0"]
    np.testing.assert_allclose(made.errors_.loc[("w0", "cat")], [skill, (1 - skill) / 2, (1 - skill) / 2], rtol=1e-9)


def test_errors_sum_to_one_over_the_labels_that_were_given() -> None:
    table = code_answers(YES_NO).table()

    errors = normalise_errors(table, np.random.default_rng(0).random((len(table.label), 2)))

    np.testing.assert_allclose(table.sum_by_worker(errors), 1.0, rtol=1e-12)
