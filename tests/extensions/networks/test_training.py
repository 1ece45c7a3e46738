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
        ({"batch_size": 0}, "batch_size must be at least 1 and learning_rate greater than 0, got 0 and 0.001."),
        (
            {"learning_rate": float("nan")},
            "batch_size must be at least 1 and learning_rate greater than 0, got 50 and nan.",
        ),
        ({"clip_norm": -1.0}, "clip_norm must be at least 0, got -1.0."),
        ({"weight_decay": float("inf")}, "weight_decay must be at least 0, got inf."),
        ({"label_smoothing": 1.0}, "label_smoothing must be in [0, 1), got 1.0."),
        ({"halve_every": -2}, "halve_every must be at least 0, got -2."),
    ],
)
def test_senseless_options_are_refused(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError) as caught:
        Training(**wrong)

    assert str(caught.value) == message
