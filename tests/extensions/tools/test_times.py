"""Times as exports write them."""

from __future__ import annotations

import pytest

from crowdlogic.extensions.tools.collector import parse_time


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("1970-01-01T00:01:00Z", 60.0), ("1970-01-01 00:01", 60.0), ("1970-01-01T01:00:00+01:00", 0.0), (5, 5.0), ("soon", None), (None, None), (True, None), (float("inf"), None)],
)  # fmt: skip
def test_times_in_seconds(value: object, seconds: float | None) -> None:
    assert parse_time(value) == seconds


@pytest.mark.parametrize("value", [10**30, float("nan"), float("inf"), -(10**400), True, "yesterday", None])
def test_what_is_no_time_is_none(value: object) -> None:
    assert parse_time(value) is None
