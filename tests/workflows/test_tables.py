"""Shares as percentages."""

from __future__ import annotations

import pytest

from crowdlogic.workflows.inputs import percent


@pytest.mark.parametrize(
    ("share", "text"), [(0.5, "50.00 %"), (1.0, "100.00 %"), (0.12345, "12.35 %"), (None, "-"), (float("nan"), "-")]
)
def test_a_share_has_two_digits_and_nothing_is_a_dash(share: float | None, text: str) -> None:
    assert percent(share) == text
