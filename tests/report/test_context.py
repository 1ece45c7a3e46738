"""What several pages need is computed once."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.report.small_crowds import small_inputs

from crowdlogic.errors import OptionError
from crowdlogic.reporting.inputs import Context, ReportLimits


def test_what_several_pages_need_is_computed_once() -> None:
    calls: list[Context] = []

    def count_items(context: Context) -> int:
        calls.append(context)
        return len(context.inputs.labels.items)

    context = Context(inputs=small_inputs())

    assert [context.once(count_items), replace(context, evidence={0: None}).once(count_items)] == [4, 4]
    assert len(calls) == 1
    assert Context(inputs=small_inputs()).once(count_items) == 4
    assert len(calls) == 2


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"items": -1}, "items must be at least 0, got -1."),
        ({"text": 0}, "text must be at least 1, got 0."),
    ],
)
def test_limits_that_make_no_sense_are_refused(limits: dict[str, int], message: str) -> None:
    with pytest.raises(OptionError) as refused:
        ReportLimits(**limits)

    assert str(refused.value) == message
