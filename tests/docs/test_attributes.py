"""The attributes that the documentation names exist."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

from crowdlogic.data.estimate import Estimate

PAGE = Path(__file__).parents[2] / "docs" / "concepts" / "truth-methods.md"


def test_the_listed_attributes_of_an_estimate_exist() -> None:
    (listed,) = re.findall(r"An `Estimate` holds\n\n(.*?)\n\n", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    named = set(re.findall(r"^- `(\w+)", listed, flags=re.MULTILINE))

    assert {"beliefs", "answer"} <= named <= {field.name for field in fields(Estimate)}
