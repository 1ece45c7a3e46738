"""The catalogue of data sets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crowdlogic.extensions.paper.benchmarks import CATALOGUE, FOLDER_VARIABLE
from crowdlogic.extensions.paper.datasets_command import command, list_datasets


def test_without_a_folder_no_data_set_is_here_and_each_says_where_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)

    found = list_datasets()
    command(json=True)

    output = json.loads(capsys.readouterr().out)
    assert [one.name for one in found] == [one["name"] for one in output["data_sets"]] == list(CATALOGUE)
    assert not any(one.here for one in found)
    assert len(output["notices"]) == len(found)
    assert all(" is not available. " in notice for notice in output["notices"])


@pytest.mark.data
def test_a_data_set_is_measured(data_root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command("truth/temp", root=str(data_root), json=True)

    counts = json.loads(capsys.readouterr().out)["counts"]
    assert (counts["items"], counts["labels"], counts["annotators"]) == (462, 4620, 76)
