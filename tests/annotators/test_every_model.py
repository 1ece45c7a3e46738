"""What every annotator model must do, whatever it believes of annotators."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdlogic.annotators.protocol import AnnotatorModel
from crowdlogic.data.frames import from_sequences
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.numerics.arrays import sum_by
from crowdlogic.numerics.logspace import normalise
from crowdlogic.registry import ANNOTATOR_MODELS

TAGS = ("B-PER", "I-PER", "O")


def tagged(seed: int, *, sentences: int = 12, annotators: int = 4, weighted: bool = False) -> CrowdLabels:
    """Sentences of 1 to 6 tokens, each tagged by two or three annotators at random."""
    rng = np.random.default_rng(seed)
    rows = {
        (s, j): [TAGS[k] for k in rng.integers(3, size=length)]
        for s, length in enumerate(rng.integers(1, 7, size=sentences))
        for j in rng.choice(annotators, size=rng.integers(2, 4), replace=False)
    }
    labels = from_sequences([(s, f"ann{j}", tags) for (s, j), tags in rows.items()], classes=TAGS)
    return replace(labels, weight=rng.integers(0, 3, size=labels.n_labels).astype(float)) if weighted else labels


def beliefs(seed: int, labels: CrowdLabels) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.ones(labels.n_classes), size=labels.n_units)


@pytest.fixture(params=ANNOTATOR_MODELS.names())
def model(request: pytest.FixtureRequest) -> AnnotatorModel:
    return ANNOTATOR_MODELS.load(request.param)()


@pytest.mark.parametrize("weighted", [False, True])
def test_terms_add_up_to_the_evidence_up_to_a_constant_per_unit(model: AnnotatorModel, weighted: bool) -> None:
    labels = tagged(0, weighted=weighted)
    shards = model.observe(labels)
    annotators = model.m_step(shards, beliefs(1, labels))

    terms = annotators.terms(shards)
    total = np.stack([sum_by(labels.unit, labels.n_units, terms[:, k]) for k in range(3)], axis=1)

    evidence = annotators.evidence(shards)
    np.testing.assert_allclose(normalise(total)[0], normalise(evidence)[0], rtol=0, atol=1e-12)


def test_threads_change_nothing(model: AnnotatorModel) -> None:
    labels = tagged(2)
    q = beliefs(3, labels)
    one, two = model.observe(labels), model.observe(labels, threads=2)

    np.testing.assert_allclose(model.m_step(two, q).evidence(two), model.m_step(one, q).evidence(one), atol=1e-12)
    np.testing.assert_allclose(model.m_step(two, q).terms(two), model.m_step(one, q).terms(one), atol=1e-12)


def test_parameters_are_the_same_after_saving_and_loading(model: AnnotatorModel) -> None:
    labels = tagged(4)
    shards = model.observe(labels)
    annotators = model.m_step(shards, beliefs(5, labels))

    loaded = model.load(annotators.arrays())

    np.testing.assert_array_equal(loaded.evidence(shards), annotators.evidence(shards))
    np.testing.assert_array_equal(loaded.confusion, annotators.confusion)


def test_confusion_has_a_row_for_each_annotator_and_true_class(model: AnnotatorModel) -> None:
    labels = tagged(6)
    confusion = model.m_step(model.observe(labels), beliefs(7, labels)).confusion

    assert confusion.shape == (len(labels.annotators), 3, 3)
    assert (confusion > 0).all()
    assert (confusion.sum(axis=2) <= 1 + 1e-12).all()


def test_an_anchor_is_certain(model: AnnotatorModel) -> None:
    labels = tagged(8)
    known = int(np.diff(labels.offsets)[0])
    shards = model.observe(labels, anchors={0: ["O"] * known})
    annotators = model.m_step(shards, beliefs(9, labels))

    np.testing.assert_array_equal(normalise(annotators.evidence(shards))[0][:known, 2], 1.0)


def test_annotators_who_are_always_right_are_seen_to_be(model: AnnotatorModel) -> None:
    labels = tagged(10, sentences=200)
    truth = np.random.default_rng(11).integers(3, size=labels.n_units)
    labels = replace(labels, label=truth[labels.unit].astype(np.int32))
    shards = model.observe(labels)

    annotators = model.m_step(shards, np.eye(3)[truth])

    labelled = labels.labels_per_unit() > 0
    np.testing.assert_array_equal(annotators.evidence(shards).argmax(axis=1)[labelled], truth[labelled])
