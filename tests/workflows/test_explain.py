"""The workflow behind `crowdlogic explain`."""

from __future__ import annotations

import pytest
from tests.workflows.conftest import Trained

from crowdlogic.errors import OptionError
from crowdlogic.workflows.explain import explain


def test_a_text_is_explained_source_by_source_and_as_plain_data(trained: Trained) -> None:
    found = explain(trained.file("run"), "r001")

    (table,) = found.tables()
    assert table.columns[0] == "source"
    assert table.rows[0][0] == "classifier"
    assert found.figures()["units"][0]["answer"] == table.title.split(",")[0]
    assert found.absent == ()


def test_a_text_has_no_tokens_to_ask_for(trained: Trained) -> None:
    with pytest.raises(OptionError, match="r001 is a text with one answer"):
        explain(trained.file("run"), "r001", token=1)
