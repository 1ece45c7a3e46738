"""A Spark DataFrame in, a DataFrame of answers out (in an environment of its own)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


@pytest.mark.long
def test_a_frame_has_the_answers_of_a_table_in_memory(run_case: Callable[..., Any]) -> None:
    found = run_case("spark", "frame", "--methods", "dawid-skene,glad")

    assert found.pop("refused").startswith("the frame: annotator ")
    assert found.pop("answers") == 60
    assert max(found.values()) < 1e-8
