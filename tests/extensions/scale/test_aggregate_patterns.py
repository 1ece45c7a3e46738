"""Patterns to answers: the same as from the items themselves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from crowdlogic.errors import OptionError
from crowdlogic.extensions.scale import patterns as aggregate_patterns
from crowdlogic.extensions.scale.patterns import PatternOptions, write_patterns
from crowdlogic.workflows.aggregate import AggregateOptions, aggregate_files
from crowdlogic.workflows.inputs import InputOptions

JUDGES = ["ann", "bob", "cem"]
WIDE = InputOptions(wide=True)


@pytest.fixture(autouse=True)
def wide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pl.DataFrame:
    """A wide table of 2,000 items by three judges, some of whose cells are empty."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 2000)
    columns = {}
    for name, skill in zip(JUDGES, (0.9, 0.8, 0.6), strict=True):
        said = np.where(rng.random(2000) < skill, truth, 1 - truth)
        columns[name] = [
            None if gone else ("no", "yes")[code] for gone, code in zip(rng.random(2000) < 0.1, said, strict=True)
        ]
    table = pl.DataFrame({"item": [f"i{at}" for at in range(2000)], **columns})
    table.write_parquet("wide.parquet")
    return table


def options(labels: str, out: str, method: str | None, **more: object) -> AggregateOptions:
    return AggregateOptions(labels=labels, out=out, method=method, input=WIDE, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", ["dawid-skene", "glad", None])
def test_a_large_wide_file_has_the_answers_of_a_table_in_memory(
    monkeypatch: pytest.MonkeyPatch, wide: pl.DataFrame, method: str | None
) -> None:
    whole = aggregate_files(options("wide.parquet", "whole.parquet", method))
    monkeypatch.setattr(aggregate_patterns, "MIN_STREAMED_ROWS", 1000)

    grouped = aggregate_files(options("wide.parquet", "grouped.parquet", method))

    assert grouped.message.endswith("2,000 items in 27 patterns, 3 annotators -> grouped.parquet")
    expected, found = (pl.read_parquet(f"{name}.parquet").sort("item") for name in ("whole", "grouped"))
    assert found.columns == expected.columns == ["item", "label", "confidence", "p_no", "p_yes"]
    assert found["label"].equals(expected["label"])
    np.testing.assert_allclose(found["p_yes"], expected["p_yes"], rtol=0, atol=1e-8)
    assert grouped.expected is not None
    assert whole.expected is not None
    assert grouped.expected.mean == pytest.approx(whole.expected.mean, abs=1e-8)
    if method is None:  # the range of the pool needs more than patterns
        assert grouped.confidence_message.startswith("The number of wrong answers cannot be estimated")
    else:
        assert grouped.confidence_message == whole.confidence_message


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_table_of_patterns_gets_an_answer_for_each_row(wide: pl.DataFrame, suffix: str) -> None:
    write_patterns(PatternOptions(labels="wide.parquet", out=f"p.{suffix}", input=WIDE))
    aggregate_files(options("wide.parquet", "whole.parquet", "dawid-skene"))

    result = aggregate_files(options(f"p.{suffix}", "answers.parquet", "dawid-skene", annotators="who.csv"))

    answers = pl.read_parquet("answers.parquet")
    assert answers.columns == [*JUDGES, "n_items", "label", "confidence", "p_no", "p_yes"]
    assert result.message == "dawid-skene: 2,000 items in 27 patterns, 3 annotators -> answers.parquet"
    joined = wide.join(answers, on=JUDGES, how="left", nulls_equal=True)
    expected = wide.select("item").join(pl.read_parquet("whole.parquet"), on="item", how="left")
    np.testing.assert_allclose(joined["p_yes"], expected["p_yes"], rtol=0, atol=1e-8)
    who = pl.read_csv("who.csv")
    assert who["labels"].to_list() == [2000 - wide[name].null_count() for name in JUDGES]
    assert who["reliability"].to_list() == sorted(who["reliability"].to_list(), reverse=True)
    assert who["says yes if no"].is_between(0, 1).all()


def test_ties_go_to_the_first_class(wide: pl.DataFrame) -> None:
    pl.DataFrame({"ann": ["yes"], "bob": ["no"], "n_items": [7]}).write_csv("p.csv")

    result = aggregate_files(options("p.csv", "answers.csv", "majority"))

    assert result.notices == ("Ties go to the first class, since items with the same labels get the same answer.",)
    assert pl.read_csv("answers.csv")["label"].to_list() == ["no"]


def test_options_about_items_are_refused_and_nothing_is_written(wide: pl.DataFrame) -> None:
    pl.DataFrame({"ann": ["yes"], "bob": ["no"], "n_items": [7]}).write_csv("p.csv")

    with pytest.raises(OptionError) as caught:
        aggregate_files(options("p.csv", "answers.csv", "majority", min_confidence=0.5))

    assert str(caught.value) == (
        "--min-confidence refers to single items, but p.csv is a table of patterns. Remove it, or aggregate the "
        "items themselves."
    )
    assert not Path("answers.csv").exists()


def test_other_wide_files_go_the_usual_way(monkeypatch: pytest.MonkeyPatch, wide: pl.DataFrame) -> None:
    monkeypatch.setattr(aggregate_patterns, "MIN_STREAMED_ROWS", 1000)

    saved = aggregate_files(options("wide.parquet", "a.parquet", "dawid-skene", save="estimate"))
    as_csv = aggregate_files(options("wide.parquet", "a.csv", "dawid-skene"))
    by_item = aggregate_files(options("wide.parquet", "b.parquet", "kos"))

    assert all("patterns" not in one.message for one in (saved, as_csv, by_item))
