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
        ({"annotators": 0}, "annotators: 0 is not valid. Give a whole number of 1 or more."),
        ({"units": 0}, "units: 0 is not valid. Give a whole number of 1 or more."),
        ({"classes": 0}, "classes: 0 is not valid. Give a whole number of 1 or more."),
        ({"classes": -2}, "classes: -2 is not valid. Give a whole number of 1 or more."),
        ({"classes": "spam"}, "classes: 'spam' is one text. Give a number of classes or a list of names."),
        ({"classes": ("a", "a")}, "classes: a class is named twice, or none at all. Give each class once."),
        ({"abstention": 1.5}, "abstention: 1.5 is not a share. Give a number from 0 to 1."),
        ({"drift": -0.1}, "drift: -0.1 is not a share. Give a number from 0 to 1."),
        ({"tail": -1.0}, "tail must be from 0 (equal activity) to 10 (one annotator does nearly all), got -1.0."),
        ({"tail": 11}, "tail must be from 0 (equal activity) to 10 (one annotator does nearly all), got 11."),
        ({"pace": 0.0}, "pace: 0.0 seconds per label. Give a number above 0, or None for no times."),
        (
            {"labels_per_unit": 5},
            "labels_per_unit: 5 annotators per item requested, but there are 4. Give a mean from 1 to 4.",
        ),
        ({"balance": [1, 2]}, "balance: [1, 2] does not give each of the 3 classes a share of 0 or more."),
        (
            {"mix": {"experts": 1}},
            "mix: no character is called 'experts'. Did you mean 'expert'? "
            "Known: expert, ordinary, spammer, adversary, biased, lazy.",
        ),
        (
            {"mix": {"expert": 3}},
            "mix: the counts make 3 annotators, but 4 are requested. Make them agree, or give shares.",
        ),
        ({"mix": {"expert": -0.5}}, "mix: -0.5 of 'expert' is not valid. Give counts or shares of 0 or more."),
        ({"mix": {"expert": 0.0}}, "mix: all amounts are 0. Give at least one character a count or a share."),
    ],
)
def test_a_senseless_option_is_refused_in_one_line(options: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError) as refused:
        simulate_crowd(np.random.default_rng(0), **options)  # type: ignore[arg-type]

    assert str(refused.value) == message
