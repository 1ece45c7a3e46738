from __future__ import annotations

import pytest

from crowdlogic.errors import OptionError
from crowdlogic.learning.algorithm import ConstantImitation, GrowingImitation, imitation_at


def test_the_papers_schedules() -> None:
    sentiment, entities = GrowingImitation(0.94), GrowingImitation(0.90, maximum=0.8)

    assert [sentiment(t) for t in (1, 2, 30)] == pytest.approx([0.06, 1 - 0.94**2, 1 - 0.94**30])
    assert [entities(t) for t in (1, 15, 16, 30)] == pytest.approx([0.1, 1 - 0.9**15, 0.8, 0.8])


def test_a_constant_stays() -> None:
    assert [ConstantImitation(0.3)(t) for t in (1, 10)] == [0.3, 0.3]


@pytest.mark.parametrize(
    "make", [lambda: GrowingImitation(1.2), lambda: GrowingImitation(0.9, maximum=-1.0), lambda: ConstantImitation(2.0)]
)
def test_an_imitation_beyond_0_to_1_is_refused(make) -> None:
    with pytest.raises(OptionError, match="between 0 and 1"):
        make()


def test_a_callable_is_checked() -> None:
    assert imitation_at(lambda t: t / 10, 3) == pytest.approx(0.3)
    with pytest.raises(OptionError, match=r"imitation: epoch 11 has k = 1.1; it must lie between 0 and 1."):
        imitation_at(lambda t: t / 10, 11)
