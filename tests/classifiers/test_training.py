"""Options of training."""

from __future__ import annotations

import pytest

from crowdlogic.classifiers.training import Training
from crowdlogic.errors import OptionError


def test_the_rate_is_halved_again_and_again() -> None:
    rates = [Training(rate=1.0, halve_every=5).rate_at(epoch) for epoch in (0, 4, 5, 9, 10)]

    assert rates == [1.0, 1.0, 0.5, 0.5, 0.25]
    assert Training(rate=0.3).rate_at(99) == 0.3


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"optimiser": "sgd"}, "optimiser: 'sgd' is none of adam, adamw, adadelta."),
        ({"batch": 0}, "batch must be 1 or more and rate more than 0, not 0 and 0.001."),
        ({"rate": float("nan")}, "batch must be 1 or more and rate more than 0, not 50 and nan."),
        ({"clip": -1.0}, "clip must be 0 or more, not -1.0."),
        ({"decay": float("inf")}, "decay must be 0 or more, not inf."),
        ({"halve_every": -2}, "halve_every must be 0 or more, not -2."),
    ],
)
def test_senseless_options_are_refused(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError) as caught:
        Training(**wrong)

    assert str(caught.value) == message
