"""The contract of engines: counts are added by name, and the local engine keeps it."""

from __future__ import annotations

import numpy as np

from crowdlogic.data.blocks import add_counts


def test_counts_are_added_by_name() -> None:
    total = add_counts({"a": np.array([1.0, 2.0]), "b": np.array(3)}, {"b": np.array(4), "a": np.array([5.0, 6.0])})

    assert total["a"].tolist() == [6.0, 8.0]
    assert total["b"] == 7
