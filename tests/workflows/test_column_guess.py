"""Columns are guessed where their contents leave one choice, and not otherwise."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from crowdlogic.workflows.inputs import guess_columns


def tickets(*, annotators: int, classes: int, seed: int = 0) -> pl.DataFrame:
    """Labels of 40 tickets under names that no list knows."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(classes, size=40)
    rows = [
        (
            f"V{i}",
            f"W{j}",
            f"U{t if rng.random() < 0.8 else rng.integers(classes)}",
            f"{i} is a description of the matter",
        )
        for i, t in enumerate(truth)
        for j in range(annotators)
    ]
    return pl.DataFrame(rows, schema=["Vorgang", "Wer", "Urteil", "Beschreibung"], orient="row")


@pytest.mark.parametrize(("annotators", "classes"), [(7, 2), (3, 5), (4, 4)])
def test_one_choice_is_found_whatever_has_more_values(annotators: int, classes: int) -> None:
    assert guess_columns(tickets(annotators=annotators, classes=classes), {}) == {
        "item": "Vorgang",
        "annotator": "Wer",
        "label": "Urteil",
        "text": "Beschreibung",
    }


def test_what_is_known_is_kept() -> None:
    table = tickets(annotators=5, classes=2)

    assert guess_columns(table.drop("Beschreibung"), {"item": "Vorgang", "label": "Urteil"})["annotator"] == "Wer"
    assert guess_columns(table, {"item": "Vorgang", "annotator": "Wer", "label": "Urteil"}) == {}


def test_several_choices_or_none_are_no_guess() -> None:
    table = tickets(annotators=3, classes=3).drop("Beschreibung")

    assert guess_columns(table.with_columns(pl.col("Urteil").alias("again")), {}) == {}
    assert guess_columns(table.select("Vorgang", "Wer"), {}) == {}


def test_what_is_the_same_in_all_rows_of_an_item_is_not_its_label() -> None:
    table = tickets(annotators=4, classes=3).with_columns(Datum=pl.col("Vorgang").str.slice(1).cast(pl.Int64) % 9)

    assert guess_columns(table, {}) == {
        "item": "Vorgang", "annotator": "Wer", "label": "Urteil", "text": "Beschreibung",
    }  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
def test_rows_that_repeat_are_no_obstacle(seed: int) -> None:
    table = tickets(annotators=4, classes=3, seed=seed)
    expected = {"item": "Vorgang", "annotator": "Wer", "label": "Urteil", "text": "Beschreibung"}
    other_label = table.head(5).with_columns(Urteil=pl.lit("U0"))

    assert guess_columns(pl.concat([table, table.head(30)]), {}) == expected
    assert guess_columns(pl.concat([table, other_label]), {}) == expected
