"""`crowdlogic datasets` as a user would call it."""

from __future__ import annotations

import json
from collections.abc import Callable

from tests.cli.conftest import Result

Run = Callable[..., Result]


def test_datasets_are_listed_whether_here_or_not(run: Run) -> None:
    rows = json.loads(run("datasets", "--root", ".", "--json").out)["data_sets"]

    assert {row["name"] for row in rows} >= {"sentiment_mturk", "ner_conll_mturk", "pico", "weak/sms", "truth/rte"}
    assert not any(row["here"] for row in rows)
