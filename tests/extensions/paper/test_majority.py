"""Majority vote: shares of votes, ties by policy, weights."""

from __future__ import annotations

from pathlib import Path

import pytest

from crowdlogic.extensions.paper.benchmarks import load_benchmark
from crowdlogic.metrics.scores import accuracy_ties_half
from crowdlogic.truth.majority import MajorityVote


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("truth/bluebird", 75.93),
        ("truth/dog", 82.22),
        ("truth/rte", 89.69),
        ("truth/temp", 93.61),
        ("truth/trec", 65.14),
        ("truth/weather_amt", 85.33),
        ("truth/sp_amt", 94.30),
        ("truth/music_genre", 70.42),
        ("truth/labelme", 76.60),
        ("truth/adult2", 75.98),
        ("sentiment_mturk", 88.59),
    ],
)
def test_majority_vote_scores_as_published_with_ties_counted_half(data_root: Path, name: str, expected: float) -> None:
    loaded = load_benchmark(name, root=data_root)
    estimate = MajorityVote(ties="soft").infer(loaded.labels)

    assert loaded.corpus.gold is not None
    assert round(100 * accuracy_ties_half(loaded.corpus.gold, estimate.answer, estimate.beliefs), 2) == expected
