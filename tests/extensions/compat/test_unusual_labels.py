"""Inputs on which other packages fail, through every method."""

from __future__ import annotations

import pandas as pd
import pytest

from crowdlogic.data.frames import from_frame
from crowdlogic.extensions.compat.kos import KOS
from crowdlogic.registry import TRUTH_METHODS
from crowdlogic.truth.majority import MajorityVote
from crowdlogic.truth.methods import TruthMethod, needs_sequences, truth_method

ALL = [
    MajorityVote(ties="first"),
    *(truth_method(name) for name in TRUTH_METHODS if name != "majority" and not needs_sequences(name)),
]


@pytest.fixture(params=ALL, ids=lambda method: method.name)
def method(request: pytest.FixtureRequest) -> TruthMethod:
    return request.param


def frame(labels: object, **columns: object) -> pd.DataFrame:
    """Two items by three annotators each, who agree."""
    return pd.DataFrame({"task": [0, 0, 0, 1, 1, 1], "worker": list("abcabc"), "label": labels, **columns})


def test_duplicates_by_every_policy(method: TruthMethod) -> None:
    table = pd.concat([frame(list("xxxyyy")), pd.DataFrame({"task": [0], "worker": ["a"], "label": ["y"]})])

    # kos hears nothing of an item from its own labels, so it cannot judge two items; without rounds it counts votes
    method = KOS(iterations=0) if method.name == "kos" else method
    for policy, count in (("first", 6), ("last", 6), ("keep", 7)):
        labels = from_frame(table, duplicates=policy)

        assert labels.n_labels == count
        assert method.infer(labels).answer_names() == ["x", "y"]
