"""Partial labels ("not X"): evidence for the complement in methods with a confusion matrix, refused by name elsewhere."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.annotators.sweeps import table_sweep

from crowdlogic.annotators.confusion import ConfusionMatrices
from crowdlogic.classifiers.linear import Linear
from crowdlogic.confidence.annotator_verdicts import annotator_table
from crowdlogic.data.blocks import make_shards
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.frames import from_frame
from crowdlogic.data.joining import concatenate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.reading import read_labels, write_labels
from crowdlogic.data.simulate.crowds import simulate_crowd
from crowdlogic.errors import LabelError
from crowdlogic.learning.algorithm import LogicLNCL
from crowdlogic.learning.method import TrainingData, TrainingLimits
from crowdlogic.metrics.agreement import agreement
from crowdlogic.numerics.logspace import normalise
from crowdlogic.registry import TRUTH_METHODS
from crowdlogic.truth.dawid_skene import DawidSkene
from crowdlogic.truth.ibcc import IBCC
from crowdlogic.truth.methods import (
    applicable_methods,
    choose_method,
    needs_sequences,
    takes_partial_labels,
    truth_method,
)

TAKERS = ["dawid-skene", "ibcc", "ebcc", "bsc-seq"]


def planted(seed: int = 0, *, classes: int = 3, sequences: bool = False) -> tuple[CrowdLabels, np.ndarray]:
    """A crowd in which half of the labels are answers to a random suggestion: the class, or "not this one"."""
    rng = np.random.default_rng(seed)
    crowd = simulate_crowd(rng, units=240, annotators=6, classes=classes)
    labels = crowd.labels
    suggested = rng.integers(classes, size=labels.n_labels).astype(np.int32)
    asked = rng.random(labels.n_labels) < 0.5
    negated = asked & (suggested != labels.label)
    offsets = np.arange(0, 241, 6) if sequences else None
    items = pl.Series(np.arange(40)) if sequences else labels.items
    return replace(
        labels, label=np.where(negated, suggested, labels.label), negated=negated, offsets=offsets, items=items
    ), crowd.truth


@pytest.mark.parametrize("name", TAKERS)
@pytest.mark.parametrize("seed", range(3))
def test_the_objective_never_falls(name: str, seed: int) -> None:
    labels, _ = planted(seed, sequences=needs_sequences(name))

    trace = truth_method(name).infer(labels).trace

    assert len(trace) > 1
    assert (np.diff(trace) > -1e-7).all()


@pytest.mark.parametrize("name", TAKERS)
def test_partial_labels_help_to_find_the_truth(name: str) -> None:
    labels, truth = planted(1, sequences=needs_sequences(name))
    assert labels.negated is not None

    whole = truth_method(name).infer(labels.take(~labels.negated))
    both = truth_method(name).infer(labels)

    def score(answer: np.ndarray) -> float:
        return float((answer == truth).mean())

    assert score(both.answer) > score(whole.answer) + 0.01
    assert score(both.answer) > 0.85


@pytest.mark.parametrize("name", ["dawid-skene", "ibcc"])
def test_with_two_classes_not_one_is_the_other(name: str) -> None:
    labels, _ = planted(2, classes=2)
    assert labels.negated is not None
    other = replace(labels, label=np.where(labels.negated, 1 - labels.label, labels.label), negated=None)

    partial, whole = truth_method(name).infer(labels), truth_method(name).infer(other)

    np.testing.assert_allclose(partial.beliefs, whole.beliefs, rtol=0, atol=1e-9)


@pytest.mark.parametrize("anchored", [False, True])
def test_evidence_is_that_of_enumeration(anchored: bool) -> None:
    labels, _ = planted(3)
    q = np.random.default_rng(0).dirichlet(np.ones(3), size=labels.n_units)
    model = ConfusionMatrices()
    anchors = {labels.items[0]: labels.classes[2]} if anchored else None
    shards = model.observe(labels, anchors=anchors)

    annotators = model.m_step(shards, q)
    evidence, terms = annotators.evidence(shards), annotators.terms(shards)

    p = annotators.confusion[labels.annotator, :, labels.label]  # [row, m]
    each = np.log(np.where(labels.negated[:, None], 1 - p, p))
    expected = np.zeros_like(evidence)
    np.add.at(expected, labels.unit, each)
    np.testing.assert_allclose(terms, each, rtol=1e-9)
    np.testing.assert_allclose(evidence[int(anchored) :], expected[int(anchored) :], rtol=1e-9)
    if anchored:
        assert normalise(evidence[:1])[0].argmax() == 2


def test_rejections_alone_point_to_what_is_left() -> None:
    rows = [(f"i{i}", f"w{j}", "abc"[(i + j) % 3], "true") for i in range(30) for j in range(2)]
    labels = from_frame(pl.DataFrame(rows, schema=["item", "annotator", "label", "negated"], orient="row"))

    answers = IBCC().infer(labels).answer_names()

    assert answers == ["abc"[(i + 2) % 3] for i in range(30)]


@pytest.mark.parametrize("name", [name for name in TRUTH_METHODS if name not in TAKERS])
def test_every_other_method_refuses_them_by_name(name: str) -> None:
    labels, _ = planted(0, sequences=needs_sequences(name))

    with pytest.raises(
        LabelError,
        match=rf"^{name} does not support partial labels \('not this class'\), but [0-9]+ of 1,200 labels are partial",
    ):
        truth_method(name).infer(labels)


def test_agreement_refuses_them() -> None:
    with pytest.raises(LabelError, match=r"^Agreement does not support partial labels"):
        agreement(planted()[0])


def test_methods_say_whether_they_take_them() -> None:
    assert [name for name in TRUTH_METHODS if takes_partial_labels(name)] == TAKERS
    assert applicable_methods(planted()[0]) == ["dawid-skene", "ibcc", "ebcc"]
    assert applicable_methods(planted(sequences=True)[0]) == TAKERS


def test_the_method_that_is_chosen_can_take_them() -> None:
    assert choose_method(planted()[0])[0] == "dawid-skene"
    assert choose_method(planted(sequences=True)[0])[0] == "bsc-seq"


def test_a_partial_label_is_right_where_the_class_is_another() -> None:
    rows = [
        ("i", "ann", "a", "true"),
        ("i", "bob", "b", "false"),
        ("i", "eve", "c", "true"),
        ("j", "ann", "c", "false"),
        ("k", "ann", "a", "false"),
    ]
    labels = from_frame(pl.DataFrame(rows, schema=["item", "annotator", "label", "negated"], orient="row"))
    estimate = DawidSkene().infer(
        labels,
    )
    sure = replace(estimate, beliefs=np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]))

    table = annotator_table(labels, sure)

    np.testing.assert_allclose(table["reliability"], [3.5 / 4, 1.5 / 2, 1.5 / 2])


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl", "json"])
def test_files_keep_them(suffix: str, tmp_path: Path) -> None:
    labels, _ = planted()
    write_labels(tmp_path / f"l.{suffix}", labels)

    again = read_labels(tmp_path / f"l.{suffix}")

    assert again.negated is not None
    assert again.negated.tolist() == labels.negated.tolist()  # type: ignore[union-attr]


def test_tables_are_joined_and_selected_with_them() -> None:
    labels, _ = planted()
    half = labels.n_units // 2
    first, second = labels.take_items(np.arange(half)), labels.take_items(np.arange(half, labels.n_units))

    again = concatenate([first, second])

    assert again.to_frame().equals(labels.to_frame())


def test_the_same_class_named_and_refused_is_no_exact_repeat() -> None:
    rows = [("i", "a", "x", "true"), ("i", "a", "x", "false")]
    table = pl.DataFrame(rows, schema=["item", "annotator", "label", "negated"], orient="row")

    with pytest.raises(LabelError, match="again, with another label"):
        from_frame(table)


def test_what_is_neither_true_nor_false_is_refused() -> None:
    table = pl.DataFrame({"item": ["i"], "annotator": ["a"], "label": ["x"], "negated": ["maybe"]})

    with pytest.raises(LabelError, match="row 0: negated is 'maybe'"):
        from_frame(table)


def test_without_partial_labels_there_is_no_column() -> None:
    rows = [("i", "a", "x", "false"), ("i", "b", "y", "")]
    labels = from_frame(pl.DataFrame(rows, schema=["item", "annotator", "label", "negated"], orient="row"))

    assert labels.negated is None
    assert "negated" not in labels.to_frame().columns


def test_algorithm_1_learns_from_partial_labels() -> None:
    labels, truth = planted(1)
    features = np.eye(3)[truth] + np.random.default_rng(0).normal(size=(labels.n_units, 3))
    data = TrainingData(corpus=Corpus(labels.items, features=features), labels=labels)
    assert labels.negated is not None
    whole = replace(data, labels=labels.take(~labels.negated))

    method = LogicLNCL(classifier=Linear(), limits=TrainingLimits(epochs=5))
    both, less = (float((method.learn(one).estimate.beliefs.argmax(axis=1) == truth).mean()) for one in (data, whole))

    assert both > less
    assert both > 0.9


def test_a_sweep_counts_unsaid_answers_by_their_posterior() -> None:
    labels, _ = planted(4)
    assert labels.negated is not None
    rng = np.random.default_rng(5)
    p = rng.dirichlet(np.ones(3), size=(len(labels.annotators), 3)).transpose(0, 2, 1)  # [j, n, m]

    found = table_sweep(make_shards(labels, partial=True), np.log(p), np.log(np.ones(3) / 3))

    expected = np.zeros_like(p)
    for i, j, n, refused in zip(labels.unit, labels.annotator, labels.label, labels.negated, strict=True):
        share = np.where(np.arange(3)[:, None] == n, 0.0 if refused else 1.0, p[j] if refused else 0.0)
        expected[j] += share / share.sum(axis=0) * found.q[i]
    np.testing.assert_allclose(found.counts, expected, rtol=1e-9)
