from __future__ import annotations

import numpy as np

from crowdlogic.reporting.inputs import EvidenceSource, explain_nothing


def test_without_a_model_every_unit_has_an_empty_place() -> None:
    assert explain_nothing(np.array([4, 7, 9])) == [None, None, None]
    assert explain_nothing(np.zeros(0, dtype=np.int64)) == []


def test_sources_of_evidence_are_known_by_these_names() -> None:
    assert list(EvidenceSource) == ["classifier", "annotator", "neighbours", "rule", "transitions", "rest"]
