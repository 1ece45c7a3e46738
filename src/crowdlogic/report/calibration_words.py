"""What a stated confidence rests on, in words for whoever made the labels; several pages say it."""

from __future__ import annotations

from crowdlogic.data.estimate import Calibration
from crowdlogic.data.wording import pluralise


def describe_calibration(calibration: Calibration) -> str:
    """The end of a sentence about confidence or likely mistakes."""
    if calibration.anchors:
        return f"judging by {pluralise(calibration.anchors, 'item')} checked at random"
    return f"if your annotators made the same mistakes as often as those of {calibration.source}"
