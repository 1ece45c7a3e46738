"""Times as exports write them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from crowdlogic.data.intake.cells import LARGEST_NUMBER


def parse_time(value: Any) -> float | None:
    """Seconds since 1970 from a time written as ISO 8601 or as a number; None for anything else."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value) if -LARGEST_NUMBER < value < LARGEST_NUMBER else None  # NaN is neither
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
