"""The limits of a fit."""

from __future__ import annotations

from typing import Any

import pytest

from crowdlogic.errors import OptionError
from crowdlogic.learning.stopping import HeldOut, TrainingLimits


def test_the_usual_limits() -> None:
    assert TrainingLimits() == TrainingLimits(epochs=30, patience=5, held_out=HeldOut(), seed=0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epochs": 0}, "epochs and patience must be at least 1, got 0 and 5."),
        ({"patience": 0}, "epochs and patience must be at least 1, got 30 and 0."),
        ({"seed": -1}, "seed must be at least 0, got -1."),
    ],
)
def test_senseless_limits_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError) as refused:
        TrainingLimits(**options)

    assert str(refused.value) == message
