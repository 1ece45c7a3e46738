"""Exports of annotation tools, small and made by hand, as their own converters write them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

Result = dict[str, Any]


def choice(*answers: str, question: str = "sentiment") -> Result:
    return {"id": "c", "from_name": question, "to_name": "text", "type": "choices", "value": {"choices": list(answers)}}


def rating(stars: int) -> Result:
    return {"id": "r", "from_name": "stars", "to_name": "text", "type": "rating", "value": {"rating": stars}}


def span(start: int, end: int, label: str, quote: str | None = None, question: str = "ner") -> Result:
    value = {"start": start, "end": end, "labels": [label]} | ({} if quote is None else {"text": quote})
    return {"id": "s", "from_name": question, "to_name": "text", "type": "labels", "value": value}


def annotation(who: Any, *results: Result, at: str = "2024-01-30T02:40:43.893565Z", **more: Any) -> dict[str, Any]:
    usual = {
        "id": 1,
        "was_cancelled": False,
        "ground_truth": False,
        "created_at": at,
        "updated_at": at,
        "lead_time": 2.5,
    }
    return usual | {"completed_by": who, "result": list(results)} | more


def task(
    number: Any, text: str, *annotations: dict[str, Any], predictions: Sequence[Any] = (), **data: Any
) -> dict[str, Any]:
    return {
        "id": number,
        "annotations": list(annotations),
        "drafts": [],
        "predictions": list(predictions),
        "data": {"text": text, **data},
        "meta": {},
    }


def write_json(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path


def write_lines(path: Path, records: Sequence[Any]) -> Path:
    path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records), encoding="utf-8")
    return path
