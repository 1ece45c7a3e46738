"""The evidence of votes adds up to what is stated; that of a run is the run's."""

from __future__ import annotations

import numpy as np
import pytest
from tests.extensions.review.small_reviews import simulated, small_material, tagged
from tests.workflows.conftest import Trained

from crowdlogic.extensions.review.evidence import annotator_confusion, run_evidence, vote_evidence
from crowdlogic.extensions.review.review_queue import Decisions
from crowdlogic.learning.saved_run import load_run
from crowdlogic.truth.dawid_skene import DawidSkene


def test_bits_add_up_to_the_stated_odds() -> None:
    material, _ = simulated(items=60)
    estimate, labels = material.fit.estimate, material.labels
    confusion = annotator_confusion(labels, estimate)
    assert confusion is not None

    for item in range(20):
        (found,) = vote_evidence(labels, estimate, confusion, item)
        best, rival = np.sort(estimate.beliefs[item])[::-1][:2]
        assert found.bits == pytest.approx(np.log2(best / rival), abs=1e-5)
        assert sum(term.bits or 0.0 for term in found.terms) == pytest.approx(found.bits, abs=NEGLIGIBLE)
        assert [term.source for term in found.terms][:2] == ["prior", "annotator"]


NEGLIGIBLE = 6e-3


def test_a_vote_counts_as_its_annotators_confusion_says() -> None:
    labels = small_material().labels
    estimate = DawidSkene().infer(labels)  # as fitted: nothing is scaled
    confusion = annotator_confusion(labels, estimate)
    assert confusion is estimate.confusion
    assert confusion is not None

    (found,) = vote_evidence(labels, estimate, confusion, 0)

    a, r = (labels.classes.index(name) for name in (found.answer, found.rival))
    for term, j in zip(found.terms[1:4], range(3), strict=True):
        n = labels.classes.index(term.said)
        assert term.bits == pytest.approx(np.log2(confusion[j, a, n] / confusion[j, r, n]), abs=1e-6)
    assert len(found.terms) == 4  # nothing is left over


def test_what_somebody_decided_has_votes_and_no_odds() -> None:
    material = small_material()
    fit = material.fitter.refit(material.fit, Decisions(truth={"u1": "y"}))
    confusion = annotator_confusion(material.labels, fit.estimate)
    assert confusion is not None

    (found,) = vote_evidence(material.labels, fit.estimate, confusion, 0)

    assert (found.answer, found.rival, found.bits) == ("y", "x", None)
    assert len([term for term in found.terms if term.source == "annotator"]) == 3


def test_a_method_without_confusion_matrices_is_explained_by_expected_ones() -> None:
    labels = small_material().labels
    estimate = DawidSkene().infer(labels)
    plain = type(estimate)(**{**vars(estimate), "confusion": None, "prior": None})

    confusion = annotator_confusion(labels, plain)

    assert confusion is not None
    np.testing.assert_allclose(confusion.sum(axis=2), 1.0)
    assert next(term.source for term in vote_evidence(labels, plain, confusion, 1)[0].terms) == "annotator"


def test_every_token_of_a_sentence_has_its_own() -> None:
    material, _ = tagged()
    confusion = annotator_confusion(material.labels, material.fit.estimate)
    assert confusion is not None

    found = vote_evidence(material.labels, material.fit.estimate, confusion, 2)

    assert [one.token for one in found] == list(range(len(found)))
    assert len(found) == np.diff(material.labels.offsets)[2]  # type: ignore[arg-type]


def test_the_evidence_of_a_run_is_what_explain_gives(trained: Trained) -> None:
    learned = load_run(trained.file("run")).learned

    (found,) = run_evidence(learned, learned.task.corpus.items[3])

    best, rival = np.sort(learned.estimate.beliefs[3])[::-1][:2]
    assert found.bits == pytest.approx(np.log2(best / rival), abs=1e-5)
    assert {term.source for term in found.terms} >= {"classifier", "annotator"}
    for item in learned.task.corpus.items[:20]:
        for unit in run_evidence(learned, item):
            assert sum(term.bits or 0.0 for term in unit.terms) == pytest.approx(unit.bits, abs=NEGLIGIBLE)
