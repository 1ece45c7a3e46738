"""When an iterative method stops."""

from __future__ import annotations

import re

import pytest

from crowdlogic.errors import OptionError
from crowdlogic.numerics.convergence import Convergence


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_iterations": 0}, "max_iterations must be at least 1, got 0."),
        ({"tolerance": -1.0}, "tolerance must be at least 0, got -1."),
        ({"tolerance": float("nan")}, "tolerance must be at least 0, got nan."),
    ],
)
def test_impossible_options_are_refused(options: dict[str, float], message: str) -> None:
    with pytest.raises(OptionError, match=f"^{re.escape(message)}$"):
        Convergence(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("tolerance", "change", "reached"),
    [(1e-3, 1e-3, True), (1e-3, 1.1e-3, False), (None, 0.0, True), (None, 1e-300, False), (0.0, 0.0, True)],
)
def test_a_change_up_to_the_tolerance_counts_as_converged(
    tolerance: float | None, change: float, reached: bool
) -> None:
    assert Convergence(tolerance=tolerance).is_reached(change) is reached


def test_defaults() -> None:
    assert (Convergence().max_iterations, Convergence().tolerance) == (1000, 1e-7)
