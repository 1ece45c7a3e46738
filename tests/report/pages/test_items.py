"""Items in detail: the evidence of a run is that of the fit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.report.small_crowds import report_on

from crowdlogic.data.evidence import MIN_REST, EvidenceSource
from crowdlogic.data.simulate import simulate_ner, simulate_sentiment
from crowdlogic.learning.algorithm import ConstantImitation, LogicLNCL
from crowdlogic.learning.baselines import TwoStage
from crowdlogic.learning.method import TrainingData
from crowdlogic.learning.saved_run import Run, train_run
from crowdlogic.learning.stopping import TrainingLimits
from crowdlogic.reporting.inputs import inputs_from_run
from crowdlogic.reporting.report import Report
from crowdlogic.rules.parser import parse_rules
from crowdlogic.workflows.report import report_explainer


def test_evidence_adds_up_to_the_odds(run: Run, run_report: Report) -> None:
    q_a, stated, items = run.learned.epoch.q_a, run.estimate.beliefs, run.learned.task.corpus.items.to_list()
    names = [str(name) for name in run.estimate.classes]
    given = (EvidenceSource.classifier, EvidenceSource.annotator)

    for one in run_report.pages["labels"].doubts:
        found, i = one.evidence, items.index(one.name)
        answer, rival = names.index(found.answer), names.index(found.rival)
        learnt = np.log2(q_a[i, answer] / q_a[i, rival]) * run.explain(one.name).sharpness[0]
        assert sum(term.bits for term in found.terms if term.source in given) == pytest.approx(learnt, abs=1e-4)
        assert found.bits == pytest.approx(np.log2(stated[i, answer] / stated[i, rival]), abs=1e-4)
        assert sum(term.bits for term in found.terms) == pytest.approx(found.bits, abs=MIN_REST)
        assert found.terms[0].source is EvidenceSource.classifier
        votes = [(term.name, term.said) for term in found.terms if term.source is EvidenceSource.annotator]
        assert votes == [(vote.annotator, vote.label) for vote in one.votes]
    sources = {term.source for one in run_report.pages["labels"].doubts for term in one.evidence.terms}
    assert {EvidenceSource.rule, EvidenceSource.rest} <= sources


def test_a_method_that_cannot_be_explained_is_reported_without_evidence(tmp_path: Path) -> None:
    made = simulate_sentiment(3, items=40, annotators=6, labels_per_item=3)
    run = train_run(
        tmp_path / "run",
        TwoStage(limits=TrainingLimits(epochs=2)),
        TrainingData(corpus=made.corpus, labels=made.labels),
    )

    report = report_on(inputs_from_run(run.record), explain=report_explainer(run.learned))

    assert "rules" not in report.pages
    assert all(one.evidence is None for one in report.pages["labels"].doubts)


def test_the_evidence_of_a_sentence_is_that_of_its_least_sure_token(tmp_path: Path) -> None:
    made = simulate_ner(3, items=30, annotators=5, labels_per_item=3)
    given = TrainingData(corpus=made.corpus, labels=made.labels, rules=parse_rules("1: include bio"))
    run = train_run(
        tmp_path / "run", LogicLNCL(imitation=ConstantImitation(0.4), limits=TrainingLimits(epochs=2)), given
    )

    report = report_on(inputs_from_run(run.record), explain=report_explainer(run.learned))

    for one in report.pages["labels"].doubts:
        assert one.evidence.token == one.token
        assert one.evidence.answer == one.beliefs[0].name
        assert one.evidence.rival == one.beliefs[1].name
        if None not in (one.evidence.bits, *(term.bits for term in one.evidence.terms)):
            assert one.evidence.bits == pytest.approx(sum(term.bits for term in one.evidence.terms), abs=MIN_REST)
