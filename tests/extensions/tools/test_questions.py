"""The question of an export that is read."""

from __future__ import annotations

import pytest

from crowdlogic.errors import FormatError
from crowdlogic.extensions.tools.collector import require_question, split_question


def test_questions_are_chosen_by_name() -> None:
    assert split_question(None) == (None, None)
    assert split_question("topic") == ("topic", None)
    assert split_question("topic=sports") == ("topic", "sports")
    assert require_question({"a": "choices"}, None, "e") == "a"
    assert require_question({"a": "choices", "b": "rating"}, "b", "e") == "b"
    with pytest.raises(FormatError, match=r"e: there are several questions: a \(choices\), b \(rating\)"):
        require_question({"a": "choices", "b": "rating"}, None, "e")
    with pytest.raises(FormatError, match="e: no choices, marked spans, ratings or comparisons were found"):
        require_question({}, None, "e")
