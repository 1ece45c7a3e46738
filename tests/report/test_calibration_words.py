"""What a confidence rests on, in words."""

from __future__ import annotations

from crowdlogic.data.estimate import Calibration
from crowdlogic.report.calibration_words import describe_calibration


def test_items_that_were_checked_are_counted_and_else_the_data_sets_are_named() -> None:
    public = Calibration(source="eleven public data sets", correlation=0.5, doubt=0.02, spread=0.04, sets=11)
    checked = Calibration(source="1 item", correlation=0.5, doubt=0.02, spread=0.04, sets=11, anchors=1)

    assert describe_calibration(public) == (
        "if your annotators made the same mistakes as often as those of eleven public data sets"
    )
    assert describe_calibration(checked) == "judging by 1 item checked at random"
