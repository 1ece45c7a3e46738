from __future__ import annotations

from dataclasses import dataclass

import pytest

from crowdlogic.errors import OptionError
from crowdlogic.numerics.arrays import check_amounts


@dataclass(frozen=True)
class Options:
    smoothing: float = 0.0
    rate: float = 1.0

    name = "my-method"

    def check(self) -> None:
        check_amounts(self, not_negative=("smoothing",), positive=("rate",))


@pytest.mark.parametrize("options", [Options(), Options(smoothing=1e-300, rate=1e-300), Options(smoothing=7, rate=7)])
def test_amounts_in_range_pass(options: Options) -> None:
    options.check()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (Options(smoothing=-0.1), "my-method: smoothing must be at least 0, got -0.1."),
        (Options(smoothing=float("nan")), "my-method: smoothing must be at least 0, got nan."),
        (Options(smoothing=float("inf")), "my-method: smoothing must be at least 0, got inf."),
        (Options(rate=0.0), "my-method: rate must be greater than 0, got 0.0."),
        (Options(rate=-1.0), "my-method: rate must be greater than 0, got -1.0."),
    ],
)
def test_other_amounts_are_refused_by_name(options: Options, message: str) -> None:
    with pytest.raises(OptionError) as refused:
        options.check()

    assert str(refused.value) == message
