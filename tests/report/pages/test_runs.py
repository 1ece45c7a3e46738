"""The report of a run: rules, training and evidence, checked against what the fit left."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.report.small_crowds import report_on

from crowdlogic.data.simulate import simulate_ner, simulate_sentiment
from crowdlogic.learning.logic_lncl import LogicLNCL
from crowdlogic.learning.saved_run import Run, load_run
from crowdlogic.learning.schedules import Constant
from crowdlogic.learning.training_run import TrainingData, train_run
from crowdlogic.learning.two_stage import TwoStage
from crowdlogic.report.evidence import EvidenceSource
from crowdlogic.report.inputs import inputs_from_run
from crowdlogic.report.pages.rules.computation import explain_verdict, gold_verdict
from crowdlogic.report.pages.training.computation import explain_stop, stopping_criterion
from crowdlogic.report.report import Report
from crowdlogic.rules.audit import RuleAudit, Verdict
from crowdlogic.rules.parser import parse_rules
from crowdlogic.workflows.report_evidence import report_explainer

RULES = "1: include contrast('but')\n2: Contains(S, 'the') -> Label(S, 'negative')"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    made = simulate_sentiment(3, items=120, annotators=10, labels_per_item=3, test_items=40)
    folder = tmp_path_factory.mktemp("runs") / "run"
    given = TrainingData(made.corpus, made.labels, parse_rules(RULES), watched={"test": made.test})
    train_run(folder, LogicLNCL(epochs=4, imitation=Constant(0.4)), given)
    return load_run(folder)


@pytest.fixture(scope="module")
def report(run: Run) -> Report:
    return report_on(inputs_from_run(run.record), explain=report_explainer(run.learned))


def test_evidence_adds_up_to_the_odds(run: Run, report: Report) -> None:
    epoch, items = run.learned.epoch, run.learned.task.corpus.items.to_list()
    names = [str(name) for name in run.estimate.classes]

    for one in report.pages["labels"].doubts:
        found, i = one.evidence, items.index(one.name)
        answer, rival = names.index(found.answer), names.index(found.rival)
        assert found.crowd_bits == pytest.approx(sum(term.bits for term in found.crowd), abs=1e-4)
        assert found.crowd_bits == pytest.approx(np.log2(epoch.q_a[i, answer] / epoch.q_a[i, rival]), abs=1e-4)
        assert found.rules_bits == pytest.approx(found.crowd_bits + sum(term.bits for term in found.rules), abs=1e-4)
        assert found.bits == pytest.approx(np.log2(epoch.q_f[i, answer] / epoch.q_f[i, rival]), abs=1e-4)
        assert [(term.name, term.said) for term in found.crowd[1:]] == [(v.annotator, v.label) for v in one.votes]
        assert found.crowd[0].source is EvidenceSource.classifier
    assert any(one.evidence.rules for one in report.pages["labels"].doubts)


def test_rules_that_contradict_come_first_and_flips_are_those_of_the_views(run: Run, report: Report) -> None:
    before, after = (run.record.views[view].argmax(axis=1) for view in ("q_a", "q_b"))
    gold = run.record.corpus.gold
    flipped = np.flatnonzero(before != after)

    found = report.pages["rules"]

    assert found.n_flips == len(flipped) > 0
    assert found.flips_right == int((after[flipped] == gold[flipped]).sum())
    assert found.flips_wrong == int((before[flipped] == gold[flipped]).sum())
    assert {flip.item for flip in found.flips} <= {run.record.corpus.items[int(i)] for i in flipped}
    order = [Verdict.contradicts, Verdict.helps, Verdict.neutral]
    places = [order.index(Verdict(row.verdict)) for row in found.rows]
    assert places == sorted(places)
    assert {row.rule for row in found.rows} == {one.rule for one in run.audit}
    for row in found.rows:
        assert all(flip.rule == row.rule and flip.bits > 0 for flip in row.examples)
    assert sum(len(row.examples) for row in found.rows) > 0


def test_training_is_the_history(run: Run, report: Report) -> None:
    found = report.pages["training"]

    assert [row.epoch for row in found.epochs] == [row["epoch"] for row in run.record.history]
    assert [row.loss for row in found.epochs] == pytest.approx([row["loss"] for row in run.record.history], abs=1e-6)
    assert found.chosen == run.learned.chosen
    chosen = run.learned.again[-1].scores
    assert run.learned.since is not None
    assert f"for {len(run.record.refit_history)} epochs, with the classifier's weights averaged from" in found.stopped
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
        config = {**kept.config, "outcome": outcome, "method": {**kept.config["method"], "epochs": most, **method}}
        other = replace(
            kept, config=config, history=kept.history[:1] * epochs, refit_history=kept.refit_history[:again]
        )
        return explain_stop(other, chosen, stopping_criterion(other))

    assert after(9, 30, 4) == (
        "It stopped after epoch 9, since the log-likelihood of the held-out labels had been worse by more than a standard "
        "error for 5 epochs; epoch 4 is the latest as good as the best and is kept."
    )
    assert after(30, 30, 28, again=1) == (
        "All 30 epochs that were allowed were run; epoch 28 is the latest as good as the best, so the model was "
        "refit on all labels for as many epochs."
    )
    assert after(30, 30, 2, again=3, since=1) == (
        "All 30 epochs that were allowed were run; epoch 2 is the latest as good as the best, so the model was "
        "refit on all labels for 3 epochs, with the classifier's weights averaged from epoch 1 on."
    )
    assert after(1, 1, 1, held_out=None) == (
        "No stopping criterion was set: the one epoch was run, and the last one is kept."
    )


def test_a_method_that_cannot_be_explained_is_reported_without_evidence(tmp_path: Path) -> None:
    made = simulate_sentiment(3, items=40, annotators=6, labels_per_item=3)
    run = train_run(tmp_path / "run", TwoStage(epochs=2), TrainingData(made.corpus, made.labels))

    report = report_on(inputs_from_run(run.record), explain=report_explainer(run.learned))

    assert "rules" not in report.pages
    assert all(one.evidence is None for one in report.pages["labels"].doubts)


def test_the_evidence_of_a_sentence_is_that_of_its_least_sure_token(tmp_path: Path) -> None:
    made = simulate_ner(3, items=30, annotators=5, labels_per_item=3)
    given = TrainingData(made.corpus, made.labels, parse_rules("1: include bio"))
    run = train_run(tmp_path / "run", LogicLNCL(epochs=2, imitation=Constant(0.4)), given)

    report = report_on(inputs_from_run(run.record), explain=report_explainer(run.learned))

    for one in report.pages["labels"].doubts:
        assert one.evidence.token == one.token
        assert one.evidence.answer == one.beliefs[0].name
        assert one.evidence.rival == one.beliefs[1].name
        if one.evidence.rules_bits is not None and all(term.bits is not None for term in one.evidence.rules):
            total = one.evidence.crowd_bits + sum(term.bits for term in one.evidence.rules)
            assert one.evidence.rules_bits == pytest.approx(total, abs=0.02)  # a slight rest is left out


def audited(**changes: object) -> RuleAudit:
    base = RuleAudit(
        rule="r",
        place="f:1",
        groundings=10,
        units=10,
        coverage=0.1,
        applications=10.0,
        satisfaction=0.9,
        low=0.7,
        high=0.99,
        chance=0.5,
        moved=3.0,
        flipped=4,
        flipped_right=None,
        flipped_wrong=None,
        verdict=Verdict.helps,
    )
    return replace(base, **changes)  # type: ignore[arg-type]


def test_verdicts_in_words() -> None:
    assert explain_verdict(audited()) == (
        "Keep it: it holds in 90% of the cases where it applies (50% by chance), and changes 4 answers."
    )
    assert explain_verdict(
        audited(verdict=Verdict.contradicts, satisfaction=0.2, flipped_right=1, flipped_wrong=3)
    ) == (
        "Drop it, or mend it: it holds in 20% of the cases where it applies (50% by chance), and changes 4 answers, by "
        "gold 1 made right and 3 made wrong."
    )
    assert explain_verdict(audited(verdict=Verdict.neutral, flipped=0)) == (
        "It makes no difference here: it holds in 90% of the cases where it applies (50% by chance), and changes no "
        "answer."
    )
    assert explain_verdict(audited(groundings=0)).startswith("It says nothing here")
    assert explain_verdict(audited(satisfaction=float("nan"))).startswith("It never applies here")


def test_gold_is_heard_against_a_rule_that_the_crowd_agrees_with() -> None:
    alone = explain_verdict(audited(flipped=20, flipped_right=2, flipped_wrong=18))
    among = explain_verdict(audited(flipped=20), (4, 7))

    assert alone == (
        "Gold speaks against it, though the crowd agrees: it holds in 90% of the cases where it applies (50% by chance), "
        "and changes 20 answers, by gold 2 made right and 18 made wrong. Look at what it changes before you keep it."
    )
    assert among == (
        "Gold rather speaks against it, though the crowd agrees: it holds in 90% of the cases where it applies (50% by "
        "chance), and changes 20 answers; of the answers that all rules together change and it pushes most, gold calls 4 "
        "right and 7 wrong. Look at what it changes before you keep it."
    )
    assert [gold_verdict(one) for one in ((2, 18), (4, 7), (5, 5), (None, None))] == [
        "against",
        "rather against",
        None,
        None,
    ]
