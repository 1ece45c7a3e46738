"""Labels that stay on disk: a fit over a Parquet file is the fit in memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.truth.planted import planted

from crowdlogic.engines.files import ROWS, coded_shards, write_coded
from crowdlogic.errors import FormatError
from crowdlogic.truth.dawid_skene import DawidSkene, fit_shards


@pytest.mark.parametrize(("rows", "threads"), [(20, 1), (20, 2), (10_000, 1)])
def test_a_fit_over_a_parquet_file_is_the_fit_in_memory(tmp_path: Path, rows: int, threads: int) -> None:
    labels = planted(1, units=90, given=0.5).labels
    path = tmp_path / "codes.parquet"
    write_coded(path, labels)
    whole = DawidSkene().infer(labels)
    shards = coded_shards(
        path,
        n_units=labels.n_units,
        n_annotators=len(labels.annotators),
        classes=labels.classes,
        rows=rows,
        threads=threads,
    )

    annotators, prior, trace = fit_shards(DawidSkene(), shards)

    assert len(shards.parts) >= labels.n_labels // (rows + 6)
    assert (len(shards.parts) > 1) == (rows < labels.n_labels)
    np.testing.assert_allclose(annotators.confusion, whole.confusion, rtol=0, atol=1e-9)
    np.testing.assert_allclose(prior, whole.prior, rtol=0, atol=1e-9)
    np.testing.assert_allclose(trace, whole.trace, rtol=1e-10)


def test_a_coded_file_that_is_not_sorted_is_refused(tmp_path: Path) -> None:
    labels = planted(1).labels
    path = tmp_path / "codes.parquet"
    write_coded(path, labels)

    with pytest.raises(FormatError, match="the units must rise from 0 to at most 2"):
        coded_shards(path, n_units=3, n_annotators=5, classes=labels.classes)


@pytest.mark.parametrize("weighted", [False, True])
def test_shards_on_disk_hold_the_rows_of_the_table(tmp_path: Path, weighted: bool) -> None:
    labels = planted(2, units=40, given=0.5).labels
    if weighted:
        labels = replace(labels, weight=np.random.default_rng(0).random(labels.n_labels))
    path = tmp_path / "codes.parquet"
    write_coded(path, labels)

    shards = coded_shards(path, n_units=labels.n_units, n_annotators=5, classes=labels.classes, rows=10)

    parts = shards.parts[:]
    units = [np.repeat(np.arange(labels.n_units)[part.units], np.diff(part.starts)) for part in parts]
    np.testing.assert_array_equal(np.concatenate(units), labels.unit)
    np.testing.assert_array_equal(np.concatenate([part.annotator for part in parts]), labels.annotator)
    np.testing.assert_array_equal(np.concatenate([part.label for part in parts]), labels.label)
    np.testing.assert_array_equal(np.concatenate([part.weight for part in parts]), labels.weights if weighted else [])
    assert (shards.n_labels, shards.n_classes) == (labels.n_labels, 3)


def test_a_shard_has_a_million_labels() -> None:
    assert ROWS == 1_000_000
