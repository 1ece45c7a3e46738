"""Training: the history of the run, and why it stopped."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.report.small_crowds import context_of

from crowdlogic.learning.saved_run import Run
from crowdlogic.reporting.findings import Urgency
from crowdlogic.reporting.inputs import inputs_from_run
from crowdlogic.reporting.pages.training import compute_training, explain_stop, score_title, stopping_criterion
from crowdlogic.reporting.report import Report


def test_training_is_the_history(run: Run, run_report: Report) -> None:
    found = run_report.pages["training"]

    assert [row.epoch for row in found.epochs] == [row["epoch"] for row in run.record.history]
    assert [row.loss for row in found.epochs] == pytest.approx([row["loss"] for row in run.record.history], abs=1e-6)
    assert found.chosen == run.learned.chosen
    chosen = run.learned.refit_history[-1].scores
    assert f"from all labels, for {len(run.record.refit_history)} epochs" in found.stopped
    assert ("; what it knew after epochs" in found.stopped) == (run.learned.averaged_from is not None)
    (watched,) = found.watched
    assert (watched.name, watched.student, watched.teacher) == (
        "test",
        pytest.approx(chosen["test student"]),
        pytest.approx(chosen["test teacher"]),
    )
    views = {view.name: view.score for view in found.views}
    for name, beliefs in run.record.views.items():
        assert views[name] == pytest.approx((beliefs.argmax(axis=1) == run.record.corpus.gold).mean(), abs=1e-6)


def test_why_it_stopped_is_said(run: Run) -> None:
    kept = run.record

    def after(epochs: int, most: int, chosen: int, again: int = 0, since: int | None = None, **method: object) -> str:
        outcome = {**kept.config["outcome"], "averaged_from": since}
        limits = {**kept.config["method"]["limits"], "epochs": most, **method}
        config = {**kept.config, "outcome": outcome, "method": {**kept.config["method"], "limits": limits}}
        other = replace(
            kept, config=config, history=kept.history[:1] * epochs, refit_history=kept.refit_history[:again]
        )
        return explain_stop(other, chosen, stopping_criterion(other))

    assert after(9, 30, 4) == (
        "The model stopped learning after 9 epochs: its prediction of held-out labels no longer got better. No other epoch "
        "was clearly better than epoch 4, which is kept."
    )
    assert after(30, 30, 28, again=1) == (
        "The model learnt for 30 epochs, as many as it was given. It then learnt once more, from all labels, for 1 epoch."
    )
    assert after(30, 30, 2, again=3, since=1) == (
        "The model learnt for 30 epochs, as many as it was given. It then learnt once more, from all labels, for 3 epochs; "
        "what it knew after epochs 1 to 3 was averaged."
    )
    assert after(1, 1, 1, held_out=None) == (
        "The model learnt for 1 epoch, as many as it was given; the last one is kept."
    )


@pytest.mark.parametrize(
    ("epochs", "best", "is_late"), [(100, 91, True), (100, 90, False), (10, 9, False), (10, 10, True)]
)
def test_a_best_epoch_in_the_last_tenth_suggests_more_epochs(run: Run, epochs: int, best: int, is_late: bool) -> None:
    record = run.record
    history = [{"epoch": n + 1, "stopping": float(n + 1 == best)} for n in range(epochs)]
    limits = {**record.config["method"]["limits"], "epochs": epochs}
    method = {**record.config["method"], "limits": limits}
    late = replace(record, config={**record.config, "method": method}, history=history, refit_history=())

    found = compute_training(context_of(inputs_from_run(late)))

    text = f"The best of {epochs} epochs was number {best}: more epochs may do better."
    assert (text in [one.text for one in found.findings]) is is_late


@pytest.mark.parametrize(("points", "severity"), [(-0.06, Urgency.look), (-0.04, Urgency.know), (1.0, Urgency.know)])
def test_rules_that_lower_a_score_call_for_a_look(run: Run, points: float, severity: Urgency) -> None:
    scores = {"test student": 0.5, "test teacher": 0.5 + points / 100}
    record = replace(run.record, history=[{"epoch": 1, "scores": scores}], refit_history=[{"scores": scores}])

    found = compute_training(context_of(inputs_from_run(record)))

    (finding,) = [one for one in found.findings if one.about == "test"]
    assert finding.severity is severity
    assert finding.text == (
        f"On test items the rules change the classifier's score by {points:+.1f} points, to {50 + points:.1f}%."
    )


def test_scores_have_titles_in_words() -> None:
    assert [score_title(name) for name in ("inference", "test student", "dev teacher", "speed")] == [
        "the answers, by gold",
        "test: the classifier alone",
        "dev: corrected by the rules",
        "speed",
    ]
