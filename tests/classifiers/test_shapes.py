"""What words look like."""

from __future__ import annotations

import numpy as np
import pytest

from crowdlogic.classifiers.shapes import SHAPES, shape_codes, shape_of


@pytest.mark.parametrize(
    ("word", "looks"),
    [
        ("house", "lower"),
        ("London", "Title"),
        ("A", "Title"),
        ("NATO", "UPPER"),
        ("McDonald", "mIxed"),
        ("iPhone", "mIxed"),
        ("1996", "digits"),
        ("1,500", "digits"),
        ("F16", "d1git"),
        ("1996-08-22b", "d1git"),
        ("...", "marks"),
        ("", "marks"),
        ("U.S.", "other"),
        ("Al-Ain", "other"),
    ],
)
def test_shape_of_a_word(word: str, looks: str) -> None:
    assert SHAPES[shape_of(word)] == looks


def test_no_word_has_the_code_of_padding() -> None:
    codes = shape_codes(["a", "B", "3", "-", "", "a"])

    assert (codes > 0).all()
    np.testing.assert_array_equal(codes[0], codes[5])
