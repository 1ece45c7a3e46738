"""The tables of a run are read as they were written, or refused by the column that does not fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from crowdlogic.data.corpus import Corpus, documents, sentences
from crowdlogic.data.estimate import make_estimate
from crowdlogic.data.frames import from_arrays, from_sequences
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.store.files import InvalidValueError
from crowdlogic.store.runs import (
    STATED,
    VIEWS,
    answers_table,
    check_answers,
    items_table,
    labels_table,
    read_answer,
    read_items_table,
    read_labels_table,
    read_view,
)

DOCUMENTS = documents(["a", "b"], ["one", ""], gold=["y", None])
SENTENCES = sentences(["s", "t", "u"], [["EU", "left"], [], ["Ann"]], gold=[["B", "O"], [], ["B"]])
LABELS = from_arrays(["a", "a", "b"], ["u", "v", "u"], ["x", "y", "y"])
PEOPLE = pl.DataFrame({"annotator": ["u", "v"]})


def answers_of(labels: CrowdLabels) -> tuple[pl.DataFrame, dict[str, Any]]:
    rng = np.random.default_rng(0)
    views = {view: rng.dirichlet(np.ones(labels.n_classes), size=labels.n_units) for view in (*VIEWS, "stated")}
    return answers_table(labels, make_estimate(labels, "m", views["stated"], answer_all=True), views), views


@pytest.mark.parametrize("corpus", [DOCUMENTS, SENTENCES], ids=["documents", "sentences"])
def test_items_are_read_as_they_were_written(corpus: Corpus) -> None:
    found = read_items_table(items_table(corpus), None, corpus.classes)

    assert (found.texts, found.tokens) == (corpus.texts, corpus.tokens)
    assert found.items.to_list() == corpus.items.to_list()
    np.testing.assert_array_equal(found.offsets, corpus.offsets)
    np.testing.assert_array_equal(found.gold, corpus.gold)


def test_views_and_answers_are_read_to_the_bit() -> None:
    table, views = answers_of(LABELS)

    check_answers(table, LABELS)

    for view, prefix in VIEWS.items():
        np.testing.assert_array_equal(read_view(table, prefix, LABELS.classes), views[view])
    np.testing.assert_array_equal(read_view(table, STATED, LABELS.classes), views["stated"])
    np.testing.assert_array_equal(read_answer(table, LABELS.classes), views["stated"].argmax(axis=1))


def test_tokens_are_counted_from_one_in_each_sentence() -> None:
    labels = from_sequences([("s", "w", ["O", "B", "O"]), ("t", "w", ["B"])])

    table, _ = answers_of(labels)

    assert table.select("item", "token").rows() == [("s", 1), ("s", 2), ("s", 3), ("t", 1)]


def read_answers(table: pl.DataFrame) -> None:
    check_answers(table, LABELS)
    read_view(table, "p_", LABELS.classes)
    read_answer(table, LABELS.classes)


Change = Callable[[pl.DataFrame], pl.DataFrame]


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda table: table.drop("unit"), "crowd.parquet: no column 'unit'"),
        (
            lambda table: table.with_columns(label=pl.lit("x")),
            "crowd.parquet: label contains values that are not integers",
        ),
        (
            lambda table: table.with_columns(label=pl.lit(0.5)),
            "crowd.parquet: label contains values that are not integers",
        ),
        (
            lambda table: table.with_columns(unit=pl.lit(None)),
            "crowd.parquet: unit contains values that are not integers",
        ),
        (
            lambda table: table.with_columns(weight=pl.lit("x")),
            "crowd.parquet: weight contains values that are not numbers",
        ),
        (
            lambda table: table.with_columns(time=pl.lit(None, pl.Float64)),
            "crowd.parquet: time contains values that are not numbers",
        ),
    ],
)
def test_a_table_of_labels_that_does_not_fit_is_refused(change: Change, line: str) -> None:
    with pytest.raises(InvalidValueError) as refused:
        read_labels_table(change(labels_table(LABELS)), DOCUMENTS, PEOPLE, LABELS.classes)

    assert str(refused.value) == line


@pytest.mark.parametrize(
    ("people", "line"),
    [
        (PEOPLE.rename({"annotator": "name"}), "annotators.parquet: no column 'annotator'"),
        (PEOPLE.with_columns(kind=pl.lit(3)), "annotators.parquet: kind contains values that are not text"),
    ],
)
def test_a_table_of_annotators_that_does_not_fit_is_refused(people: pl.DataFrame, line: str) -> None:
    with pytest.raises(InvalidValueError) as refused:
        read_labels_table(labels_table(LABELS), DOCUMENTS, people, LABELS.classes)

    assert str(refused.value) == line


@pytest.mark.parametrize(
    ("corpus", "change", "line"),
    [
        (DOCUMENTS, lambda table: table.drop("item"), "items.parquet: no column 'item'"),
        (DOCUMENTS, lambda table: table.with_columns(text=pl.lit(3)), "items.parquet: text contains invalid values"),
        (DOCUMENTS, lambda table: table.with_columns(gold=pl.lit(0.5)), "items.parquet: gold contains invalid values"),
        (SENTENCES, lambda table: table.with_columns(tokens=pl.lit("x")), "items.parquet: tokens contains invalid values"),
        (SENTENCES, lambda table: table.with_columns(length=-pl.col("length")), "items.parquet: length contains invalid lengths"),
        (SENTENCES, lambda table: table.with_columns(length=pl.lit("x")), "items.parquet: length contains values that are not integers"),
    ],
)  # fmt: skip
def test_a_table_of_items_that_does_not_fit_is_refused(corpus: Corpus, change: Change, line: str) -> None:
    with pytest.raises(InvalidValueError) as refused:
        read_items_table(change(items_table(corpus)), None, corpus.classes)

    assert str(refused.value) == line


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda table: table.drop("answer"), "labels.parquet: no column 'answer'"),
        (lambda table: table.drop("rules_y"), "labels.parquet: no column 'rules_y'"),
        (lambda table: table.reverse(), "labels.parquet and items.parquet have different items"),
        (lambda table: table.select(table.columns[::-1]), "config.json and labels.parquet have the classes in different orders"),
        (lambda table: table.with_columns(p_x=pl.lit("x")), "labels.parquet: p_x contains values that are not probabilities"),
        (lambda table: table.with_columns(p_x=pl.lit(None, pl.Float64)), "labels.parquet: p_x contains values that are not probabilities"),
        (lambda table: table.with_columns(p_x=pl.lit(1.5)), "labels.parquet: p_x contains values that are not probabilities"),
        (lambda table: table.with_columns(p_x=pl.lit(np.nan)), "labels.parquet: p_x contains values that are not probabilities"),
        (lambda table: table.with_columns(answer=pl.lit("z")), "labels.parquet: an answer is not one of the classes"),
    ],
)  # fmt: skip
def test_answers_that_do_not_fit_are_refused(change: Change, line: str) -> None:
    table = change(answers_of(LABELS)[0])

    with pytest.raises(InvalidValueError) as refused:
        read_answers(table)

    assert str(refused.value) == line


def test_texts_and_places_of_tokens_are_kept() -> None:
    corpus = Corpus(
        pl.Series(["s", "e", "t"]),
        texts=("Ann, sings", "", "no"),
        tokens=("Ann", ",", "sings", "no"),
        offsets=np.array([0, 3, 3, 4]),
        bounds=np.array([[0, 3], [3, 4], [5, 10], [0, 2]]),
    )

    found = read_items_table(items_table(corpus), None, ())

    assert found.texts == corpus.texts
    assert found.bounds is not None
    assert found.bounds.tolist() == [[0, 3], [3, 4], [5, 10], [0, 2]]


def test_partial_labels_are_kept() -> None:
    labels = from_arrays(["u", "v"], ["a", "a"], ["x", "y"])
    partial = replace(labels, negated=np.array([False, True]))
    corpus, annotators = documents(["u", "v"]), pl.DataFrame({"annotator": ["a"]})

    table = labels_table(partial)
    found = read_labels_table(table, corpus, annotators, ("x", "y"))

    assert found.negated is not None
    assert found.negated.tolist() == [False, True]
    with pytest.raises(InvalidValueError, match="negated contains values that are neither true nor false"):
        read_labels_table(table.with_columns(negated=pl.lit(3)), corpus, annotators, ("x", "y"))
