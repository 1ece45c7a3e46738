"""Options of training."""

from __future__ import annotations

import pytest

from crowdlogic.errors import OptionError
from crowdlogic.extensions.networks.network import Training


def test_the_rate_is_halved_again_and_again() -> None:
    rates = [Training(learning_rate=1.0, halve_every=5).learning_rate_at(epoch) for epoch in (0, 4, 5, 9, 10)]

    assert rates == [1.0, 1.0, 0.5, 0.5, 0.25]
    assert Training(learning_rate=0.3).learning_rate_at(99) == 0.3


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"optimiser": "sgd"}, "optimiser: expected one of adam, adamw, adadelta; got 'sgd'."),
        ({"batch_size": 0}, "batch_size must be 1 or more and learning_rate more than 0, not 0 and 0.001."),
        (
            {"learning_rate": float("nan")},
            "batch_size must be 1 or more and learning_rate more than 0, not 50 and nan.",
        ),
        ({"clip_norm": -1.0}, "clip_norm must be 0 or more, not -1.0."),
        ({"weight_decay": float("inf")}, "weight_decay must be 0 or more, not inf."),
        ({"label_smoothing": 1.0}, "label_smoothing must lie from 0 to below 1, not 1.0."),
        ({"halve_every": -2}, "halve_every must be 0 or more, not -2."),
    ],
)
def test_senseless_options_are_refused(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError) as caught:
        Training(**wrong)

    assert str(caught.value) == message
