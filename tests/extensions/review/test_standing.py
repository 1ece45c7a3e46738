"""How annotators stand: the words of the table of annotators."""

from __future__ import annotations

from tests.extensions.review.small_reviews import simulated

from crowdlogic.confidence.annotator_verdicts import annotator_table
from crowdlogic.extensions.review.snapshot import annotator_standings


def test_standings_are_those_of_the_table() -> None:
    material, _ = simulated()
    table = annotator_table(material.labels, material.fit.estimate)

    found = annotator_standings(material.labels, material.fit.estimate)

    assert [one.flag for one in found] == table["verdict"].to_list()
    assert [one.name for one in found] == table["annotator"].to_list()
    assert all(one.low <= one.reliability <= one.high for one in found)  # type: ignore[operator]
