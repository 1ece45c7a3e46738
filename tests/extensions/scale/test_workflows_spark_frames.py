"""What is refused before Spark is asked; `tests/extensions/scale/test_spark_frames.py` asks it."""

from __future__ import annotations

from typing import Any

import pytest

from crowdlogic.errors import LabelError, OptionError
from crowdlogic.extensions.scale.spark_aggregation import aggregate_spark


class Columns:
    """The header of a DataFrame, which is all that is looked at before Spark is asked."""

    def __init__(self, *columns: str) -> None:
        self.columns = list(columns)


def test_missing_columns_are_named() -> None:
    frame: Any = Columns("item", "worker", "text")

    with pytest.raises(LabelError, match=r"the frame: no column for the label, found item, worker, text\. Set it"):
        aggregate_spark(frame)


def test_methods_that_need_all_labels_are_refused() -> None:
    frame: Any = Columns("item", "worker", "label")

    with pytest.raises(OptionError, match="kos requires all labels in memory"):
        aggregate_spark(frame, method="kos")
