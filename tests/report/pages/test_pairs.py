"""Agreement between the busiest annotators."""

from __future__ import annotations

import pytest

from crowdlogic.data.simulate import simulate_labels
from crowdlogic.metrics.agreement import pairwise_agreement
from crowdlogic.reporting.pages.annotators import pair_agreement


def test_pairs_are_those_of_the_busiest() -> None:
    labels = simulate_labels(5, items=400, annotators=25, classes=2).labels

    pairs = pair_agreement(labels)

    assert len(pairs.names) == 20
    assert pairs.n_annotators == 25
    given = dict(zip(labels.annotators, labels.labels_per_annotator(), strict=True))
    assert min(given[name] for name in pairs.names) >= sorted(given.values())[5]
    every = pairwise_agreement(labels)
    for p in range(0, len(every), 17):
        a, b = (labels.annotators[int(j)] for j in (every.a[p], every.b[p]))
        if a in pairs.names and b in pairs.names:
            place = pairs.names.index(a), pairs.names.index(b)
            assert pairs.shared[place[0]][place[1]] == pairs.shared[place[1]][place[0]] == every.shared[p]
            assert pairs.agreement[place[0]][place[1]] == pytest.approx(every.agreement[p], abs=1e-6)
