"""Tables of evidence."""

from __future__ import annotations

import numpy as np

from crowdlogic.workflows.explain import NEGLIGIBLE, SHOWN_CLASSES, format_bits, shown_classes


def test_a_table_shows_the_most_probable_classes_in_their_order() -> None:
    belief = np.array([0.1, 0.3, 0.05, 0.25, 0.2, 0.1])

    assert shown_classes(belief).tolist() == [0, 1, 3, 4]
    assert SHOWN_CLASSES == 4


def test_bits_have_two_digits_and_what_is_impossible_is_a_dash() -> None:
    assert format_bits(np.array([1.0, -0.255, -np.inf, np.nan])) == ["+1.00", "-0.26", "-", "-"]


def test_what_is_left_out_would_show_as_nothing() -> None:
    assert {text.lstrip("+-") for text in format_bits(np.array([0.99, -0.99]) * NEGLIGIBLE)} == {"0.00"}
