"""The catalogue of data sets."""

from __future__ import annotations

from pathlib import Path

import pytest

from crowdlogic.extensions.paper.benchmarks import FOLDER_VARIABLE
from crowdlogic.extensions.paper.datasets import check_dataset, list_datasets


def test_without_a_folder_no_data_set_is_here_and_each_says_where_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)

    catalogue = list_datasets()

    assert not any(one["here"] for one in catalogue.entries)
    assert len(catalogue.notices) == len(catalogue.entries) == len(catalogue.table().rows)
    assert all(" is not available. " in notice for notice in catalogue.notices)


@pytest.mark.data
def test_a_data_set_is_measured(data_root: Path) -> None:
    size = check_dataset("truth/temp", root=str(data_root))

    assert (size.counts["items"], size.counts["labels"], size.counts["annotators"]) == (462, 4620, 76)
