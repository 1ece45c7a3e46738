"""The items of the page of labels as data for its script: compact and within a budget."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any

from crowdlogic.report.pages.labels.findings import LabelFindings, ShownItem
from crowdlogic.report.plain_text import shorten

BUDGET = 2_600_000
"""Bytes of the page that items may take, so that the whole stays under five million."""


def select_items(found: LabelFindings) -> dict[str, Any]:
    """The items in doubt and those with suspect gold, as many as the budget allows; and how many were left out."""
    lists: dict[str, Sequence[ShownItem]] = {"doubts": found.doubts, "gold_mistakes": found.gold_mistakes}
    shown: dict[str, list[Any]] = {}
    spent, left_out = 0, 0
    for name, items in lists.items():
        shown[name] = []
        for item in items:
            plain = _plain(item)
            spent += len(json.dumps(plain, ensure_ascii=False).encode("utf-8", "backslashreplace"))
            if spent > BUDGET:
                left_out += len(items) - len(shown[name])
                break
            shown[name].append(plain)
    return {**shown, "left_out": left_out}


def _plain(value: Any) -> Any:
    """As JSON can hold it: texts cut, control characters shown, four decimals, nothing for None."""
    match value:
        case str():
            return shorten(value)
        case float():
            return round(value, 4) if math.isfinite(value) else None
        case Mapping():
            return {key: _plain(one) for key, one in value.items() if one is not None}
        case list() | tuple():
            return [_plain(one) for one in value]
        case _ if is_dataclass(value):
            return _plain(vars(value))
        case _:
            return value
