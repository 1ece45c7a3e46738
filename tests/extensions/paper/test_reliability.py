"""Annotators' estimated and real reliability, checked against counts by hand."""

import numpy as np
import pytest

from crowdlogic.data.corpus import align
from crowdlogic.extensions.paper.jobs import Job
from crowdlogic.extensions.paper.runs import BUSIEST, load_task, overall_reliability, real_confusion, run_job

pytest.importorskip("torch")


def test_annotators_are_compared_with_what_they_really_did():
    found = run_job(Job("quick-sentiment", "annotators", 0))["annotators"]

    data, _ = load_task("quick-sentiment")
    labels, corpus = align(data.labels, data.corpus)
    gold = np.asarray(corpus.gold)
    for entry in found["each"][:5]:
        own = labels.select(annotators=[entry["name"]])
        right = own.label == gold[own.unit]
        by_class = [right[gold[own.unit] == m].mean() for m in range(2) if (gold[own.unit] == m).any()]
        assert entry["skill"] == pytest.approx(right.mean(), abs=1e-4)
        assert entry["real"] == pytest.approx(np.mean(by_class), abs=1e-4)
        assert entry["labels"] == entry["items"] == own.n_labels
    pairs = [(one["estimated"], one["real"]) for one in found["each"]]
    assert np.corrcoef(np.array(pairs).T)[0, 1] > 0.8


@pytest.mark.usefixtures("tiny_tasks")
def test_the_f1_of_an_annotator_is_that_of_the_annotators_own_sentences():
    found = run_job(Job("quick-ner", "annotators", 0))["annotators"]

    best = max(found["each"], key=lambda one: one["skill"])
    worst = min(found["each"], key=lambda one: one["skill"])
    assert 0 <= worst["skill"] < best["skill"] <= 1
    assert len(found["busiest"]) == BUSIEST == 6
    assert len(found["busiest"][0]["real"]) == len(found["classes"])


def test_classes_without_labels_are_left_out_of_a_reliability():
    confusion = np.array([[0.8, 0.2], [np.nan, np.nan]])

    assert overall_reliability(confusion, np.array([10.0, 0.0])) == 0.8
    assert np.isnan(overall_reliability(confusion, np.zeros(2)))


def test_the_real_confusion_is_counted():
    data, _ = load_task("quick-sentiment")
    labels, corpus = align(data.labels, data.corpus)
    gold = np.asarray(corpus.gold)

    real, seen = real_confusion(labels, gold)

    j = int(labels.annotator[0])
    own = labels.annotator == j
    for m in range(2):
        here = own & (gold[labels.unit] == m)
        assert seen[j, m] == here.sum()
        for n in range(2):
            assert real[j, m, n] == pytest.approx((labels.label[here] == n).mean())
