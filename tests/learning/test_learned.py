"""The outcome of a fit, as tables and for notebooks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdlogic.data.simulate import simulate_sentiment
from crowdlogic.learning.algorithm import LogicLNCL
from crowdlogic.learning.learned import Learned
from crowdlogic.learning.stopping import HeldOut, TrainingLimits
from crowdlogic.rules.parser import parse_rules

MADE = simulate_sentiment(3, items=60, annotators=8, test_items=20)


@pytest.fixture(scope="module")
def learned() -> Learned:
    method = LogicLNCL(limits=TrainingLimits(epochs=3, held_out=HeldOut(0.2)))
    return method.fit(
        MADE.corpus, MADE.labels, rules=parse_rules("1.0: include contrast('but')"), watched={"test": MADE.test}
    )


def test_the_answers_are_a_table(learned: Learned) -> None:
    table = learned.to_frame()

    assert table["item"].to_list() == MADE.corpus.items.to_list()
    np.testing.assert_array_equal(table["p_positive"].to_numpy(), learned.estimate.beliefs[:, 1])
    answers = [str(learned.estimate.classes[k]) for k in learned.epoch.q_f.argmax(axis=1)]
    assert table["label"].to_list() == answers


def test_the_answers_are_a_pandas_frame() -> None:
    pytest.importorskip("pandas")
    learned = LogicLNCL(limits=TrainingLimits(epochs=1, held_out=None)).fit(MADE.corpus, MADE.labels)

    frame = learned.to_pandas()

    assert list(frame["item"]) == MADE.corpus.items.to_list()


def test_the_history_is_a_table_of_both_passes(learned: Learned) -> None:
    table = learned.history_frame()

    rows = [*learned.history, *learned.refit_history]
    assert table.columns == [
        *("epoch", "loss", "k", "stopping", "change", "objective", "seconds", "kept", "refit"),
        *("inference", "test student", "test teacher"),
    ]
    assert table["epoch"].to_list() == [row.epoch for row in rows]
    assert table["refit"].to_list() == [False] * len(learned.history) + [True] * len(learned.refit_history)
    assert table["test teacher"].to_list() == [row.scores["test teacher"] for row in rows]
    np.testing.assert_array_equal(learned.estimate.trace, [row.stopping for row in learned.history])


def test_scores_that_an_epoch_lacks_are_null(learned: Learned) -> None:
    first, *rest = learned.history

    table = replace(learned, history=(replace(first, scores={}), *rest), refit_history=()).history_frame()

    assert table["inference"].to_list()[0] is None
    assert table["inference"].null_count() == 1


def test_it_says_in_one_line_what_was_learnt(learned: Learned) -> None:
    assert repr(learned) == f"Learned(logic-lncl: 60 items, epoch {learned.chosen} of {len(learned.history)})"


def test_html_shows_the_final_scores_and_escapes_what_came_with_the_data(learned: Learned) -> None:
    estimate = replace(learned.estimate, method="<b>mine</b>")
    last = replace(learned.final, scores={"<script>x</script> student": 0.12345})
    odd = replace(learned, estimate=estimate, refit_history=(*learned.refit_history[:-1], last))

    page = odd._repr_html_()

    assert page == (
        f"<p>Learned(&lt;b&gt;mine&lt;/b&gt;: 60 items, epoch {learned.chosen} of {len(learned.history)})</p>"
        "<table><tr><td>&lt;script&gt;x&lt;/script&gt; student</td><td>0.1235</td></tr></table>"
    )


def test_html_without_scores_has_no_table(learned: Learned) -> None:
    bare = replace(learned, refit_history=(replace(learned.final, scores={}),))

    assert "<table>" not in bare._repr_html_()


def test_the_student_predicts_alone_and_the_teacher_with_the_rules(learned: Learned) -> None:
    student, teacher = (learned.predict(MADE.test, student=who, calibrated=False) for who in (True, False))

    np.testing.assert_array_equal(student, learned.classifier.predict_proba(MADE.test))
    np.testing.assert_array_equal(teacher, learned.teacher.predict(MADE.test, learned.classifier))
    assert np.abs(teacher - student).max() > 0.01


def test_the_verdicts_on_rules_and_annotators_are_tables(learned: Learned) -> None:
    rules, annotators = learned.rule_table(), learned.annotator_table()

    assert rules["rule"].to_list() == [one.rule for one in learned.audit]
    assert rules["verdict"].to_list() == [str(one.outcome) for one in learned.audit]
    assert annotators["annotator"].to_list() == MADE.labels.annotators.to_list()
    assert learned.audit is learned.audit  # it is audited once


def test_without_rules_there_is_no_verdict_on_any() -> None:
    learned = LogicLNCL(limits=TrainingLimits(epochs=1)).fit(MADE.corpus, MADE.labels)

    assert learned.audit == ()
    assert learned.rule_table().height == 0
