"""Labels that stay on disk: a fit over a Parquet file is the fit in memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.truth.planted import planted

from crowdlogic.engines.files import coded_shards, write_coded
from crowdlogic.errors import FormatError
from crowdlogic.truth.dawid_skene import DawidSkene, fit_shards


@pytest.mark.parametrize("rows", [7, 50, 10_000])
@pytest.mark.parametrize("threads", [1, 2])
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
    np.testing.assert_allclose(annotators.confusion, whole.confusion, rtol=0, atol=1e-9)
    np.testing.assert_allclose(prior, whole.prior, rtol=0, atol=1e-9)
    np.testing.assert_allclose(trace, whole.trace, rtol=1e-10)


def test_a_coded_file_that_is_not_sorted_is_refused(tmp_path: Path) -> None:
    labels = planted(1).labels
    path = tmp_path / "codes.parquet"
    write_coded(path, labels)

    with pytest.raises(FormatError, match="the units must rise from 0 to at most 2"):
        coded_shards(path, n_units=3, n_annotators=5, classes=labels.classes)
