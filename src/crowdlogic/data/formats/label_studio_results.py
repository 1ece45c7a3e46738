"""What one result of Label Studio says: an answer, or a span of text whose place its quote may correct."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crowdlogic.data.formats.collector import Collector
from crowdlogic.data.formats.marked_spans import MarkedSpan

SPANS = "labels"
QUESTION_KINDS = {
    "choices": "choices",
    "labels": SPANS,
    "hypertextlabels": SPANS,
    "rating": "rating",
    "number": "number",
    "pairwise": "pairwise",
    "taxonomy": "taxonomy",
}
"""The types of results that can be read -> what kind of question they answer."""

VALUE_FIELDS = {
    "choices": "choices",
    "rating": "rating",
    "number": "number",
    "pairwise": "selected",
    "taxonomy": "taxonomy",
}
"""Where the answer stands in a result's value, by kind of question."""

REMEDY = "Export the project again."


def parse_answers(value: Any, kind: str, collector: Collector, record: int) -> list[Any]:
    """The answers in a result's value: several choices, or one of everything else."""
    field = VALUE_FIELDS[kind]
    found = value.get(field) if isinstance(value, dict) else None
    if kind in ("choices", "taxonomy"):
        if not isinstance(found, list):
            raise collector.error(record, f"a result whose value has no list of {field}", REMEDY)
        return [" / ".join(map(str, one)) if isinstance(one, list) else one for one in found]
    if isinstance(found, bool) or not isinstance(found, int | float | str):
        raise collector.error(record, f"a result whose value has no {field}", REMEDY)
    return [int(found) if isinstance(found, float) and found.is_integer() else found]


def parse_spans(value: Any, text: str | None, collector: Collector, record: int) -> list[MarkedSpan]:
    """The span in a result's value, once for each of its labels."""
    if not isinstance(value, dict):
        raise collector.error(record, "a result without a value", REMEDY)
    labels = value.get("labels", value.get("hypertextlabels"))
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        raise collector.error(record, "a span without a list of labels", REMEDY)
    place = _place(value)
    if place is None:
        collector.leave_out(
            "span", "without a place in characters (a region of something else than text): left out", record
        )
        return []
    if text is None:
        raise collector.error(record, "a marked span and no text", "Export the texts, too.")
    repaired = _repair(place, value.get("text"), text, collector, record)
    return [] if repaired is None else [(*repaired, label) for label in labels]


def _place(value: Mapping[str, Any]) -> tuple[int, int] | None:
    """Start and end of a span; those of the whole text where they are given by element, too."""
    overall = value.get("globalOffsets")
    where = overall if isinstance(overall, dict) else value
    start, end = _whole_number(where.get("start")), _whole_number(where.get("end"))
    return None if start is None or end is None else (start, end)


def _whole_number(value: Any) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value[:18])
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _repair(place: tuple[int, int], quote: Any, text: str, collector: Collector, record: int) -> tuple[int, int] | None:
    """The place in characters. Browsers count UTF-16 units, in which an emoji is two: the quoted text shows it."""
    if not isinstance(quote, str) or not quote or _same(text[max(place[0], 0) : max(place[1], 0)], quote):
        return place
    units = text.encode("utf-16-le", errors="surrogatepass")
    start, end = (len(units[: 2 * max(at, 0)].decode("utf-16-le", errors="replace")) for at in place)
    if _same(text[start:end], quote):
        collector.leave_out("span", "placed in UTF-16 units: repaired by the quoted text", record)
        return start, end
    collector.leave_out("span", "whose quoted text does not stand at the given place: left out", record)
    return None


def _same(found: str, quote: str) -> bool:
    """Whether two texts are the same but for white space, which browsers change."""
    return found == quote or "".join(found.split()) == "".join(quote.replace("\\n", " ").split())
