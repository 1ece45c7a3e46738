from __future__ import annotations

import numpy as np
import pytest

from crowdlogic.data.simulate import simulate_crowd
from crowdlogic.errors import OptionError


def test_the_mix_is_met_exactly_by_counts_and_by_shares() -> None:
    counts = simulate_crowd(np.random.default_rng(10), annotators=5, mix={"expert": 2, "spammer": 3})
    shares = simulate_crowd(np.random.default_rng(10), annotators=10, mix={"expert": 0.25, "lazy": 0.35, "biased": 0.4})

    assert sorted(counts.characters) == ["expert"] * 2 + ["spammer"] * 3
    assert sorted(shares.characters) == ["biased"] * 4 + ["expert"] * 3 + ["lazy"] * 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"annotators": 0}, "annotators: expected an integer of 1 or more, got 0."),
        ({"units": 0}, "units: expected an integer of 1 or more, got 0."),
        ({"classes": 0}, "classes: expected an integer of 1 or more, got 0."),
        ({"classes": -2}, "classes: expected an integer of 1 or more, got -2."),
        ({"classes": "spam"}, "classes: 'spam' is one text. Give a number of classes or a list of names."),
        ({"classes": ("a", "a")}, "classes: expected at least one class, each once. Correct the list."),
        ({"abstention": 1.5}, "abstention: expected a number from 0 to 1, got 1.5."),
        ({"drift": -0.1}, "drift: expected a number from 0 to 1, got -0.1."),
        ({"tail": -1.0}, "tail must be from 0 (equal activity) to 10 (one annotator does nearly all), got -1.0."),
        ({"tail": 11}, "tail must be from 0 (equal activity) to 10 (one annotator does nearly all), got 11."),
        ({"pace": 0.0}, "pace: 0.0 seconds per label. Give a number above 0, or None for no times."),
        (
            {"labels_per_unit": 5},
            "labels_per_unit: 5 annotators per item requested, but there are 4. Give a mean from 1 to 4.",
        ),
        ({"balance": [1, 2]}, "balance: expected 3 numbers of 0 or more, one per class, got [1, 2]."),
        (
            {"mix": {"experts": 1}},
            "mix: unknown kind of annotator 'experts'. Did you mean 'expert'? "
            "Choose from expert, ordinary, spammer, adversary, biased, lazy.",
        ),
        (
            {"mix": {"expert": 3}},
            "mix: the numbers sum to 3, but there are 4 annotators. Correct them, or give shares.",
        ),
        ({"mix": {"expert": -0.5}}, "mix: -0.5 of 'expert' is not valid. Give counts or shares of 0 or more."),
        ({"mix": {"expert": 0.0}}, "mix: all amounts are 0. Give at least one character a count or a share."),
    ],
)
def test_a_senseless_option_is_refused_in_one_line(options: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError) as refused:
        simulate_crowd(np.random.default_rng(0), **options)  # type: ignore[arg-type]

    assert str(refused.value) == message
