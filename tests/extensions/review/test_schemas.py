"""What requests may hold."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from crowdlogic.extensions.review.endpoints import DecisionRequest, whole_characters


def test_half_a_character_is_no_text() -> None:
    assert whole_characters("ü😀") == "ü😀"
    with pytest.raises(ValueError, match="contains an incomplete character"):
        whole_characters("\ud83d")


@pytest.mark.parametrize("field", ["request", "reviewer", "answer", "note"])
def test_no_text_of_a_decision_may_be_half(field: str) -> None:
    given = {"request": "r", "item": 0, "reviewer": "a", field: "x\udc00"}

    with pytest.raises(ValidationError):
        DecisionRequest(**given)
