"""The items of a page as data for its script: compact, within a budget, and inert whatever they hold."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any

from markupsafe import Markup

from crowdlogic.report.findings import Report, ShownItem
from crowdlogic.report.plain_text import shortened

BUDGET = 2_600_000
"""Bytes of the page that items may take, so that the whole stays under five million."""

INERT = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
"""What could end the block, open a comment in it or end a line of script."""

LISTS = ("doubts", "gold_mistakes")


def items_of(report: Report) -> tuple[dict[str, list[Any]], int]:
    """The items in doubt and those whose gold is denied, as many as the budget allows; and how many were left out."""
    shown: dict[str, list[Any]] = {}
    spent, left_out = 0, 0
    for name in LISTS:
        items: Sequence[ShownItem] = getattr(report.labels, name)
        shown[name] = []
        for item in items:
            plain = _plain(item)
            spent += len(json.dumps(plain, ensure_ascii=False).encode("utf-8", "backslashreplace"))
            if spent > BUDGET:
                left_out += len(items) - len(shown[name])
                break
            shown[name].append(plain)
    return shown, left_out


def _plain(value: Any) -> Any:
    """Text cut and made visible, figures with four decimals, and nothing that is not known."""
    match value:
        case str():
            return shortened(value)
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


def embedded(value: Any) -> Markup:
    """JSON that can stand in a script element: no character of it ends the element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character, escape in INERT.items():
        text = text.replace(character, escape)
    return Markup(text)  # noqa: S704 (its angle brackets and ampersands are escapes)
