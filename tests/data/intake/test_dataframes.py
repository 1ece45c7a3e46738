from __future__ import annotations

import pandas as pd
import pytest
from tests.data.test_labels import triples

from crowdlogic.data.frames import from_arrays, from_frame, from_wide
from crowdlogic.errors import LabelError


def test_mixed_types_are_refused() -> None:
    with pytest.raises(LabelError) as caught:
        from_arrays(["u", "v"], ["a", "a"], ["x", 1])

    assert str(caught.value) == (
        "The label column mixes types, such as text and numbers. Give all values as text, or all as numbers."
    )


def test_something_that_is_no_frame_is_refused() -> None:
    with pytest.raises(LabelError) as caught:
        from_frame([1, 2, 3])

    assert str(caught.value) == (
        "the table is a list, not a data frame. Give a frame of pandas, polars or pyarrow, or use from_arrays, "
        "from_dict or from_matrix."
    )


def test_pandas_columns_may_be_numbers() -> None:
    assert triples(from_wide(pd.DataFrame({0: [1, 2], 1: [2, 2]}))) == {
        (0, "0", 1),
        (1, "0", 2),
        (0, "1", 2),
        (1, "1", 2),
    }


def test_pandas_columns_of_one_name_are_refused() -> None:
    with pytest.raises(LabelError, match=r"two columns have the same name\. Rename one\."):
        from_frame(pd.DataFrame([[1, 2, 3]], columns=["item", "label", "label"]))
