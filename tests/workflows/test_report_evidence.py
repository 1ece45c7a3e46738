"""Evidence as a report shows it: for the answer against its rival."""

from __future__ import annotations

import numpy as np
import pytest
from tests.workflows.conftest import Trained

from crowdlogic.data.evidence import EvidenceSource
from crowdlogic.workflows.report import report_explainer


def test_terms_add_up_to_the_odds_of_the_answer(trained: Trained) -> None:
    learned = trained.outcome.run
    units = np.arange(6)

    found = report_explainer(learned)(units)

    for i, one in zip(units, found, strict=True):
        assert one is not None
        best, rival = np.sort(learned.estimate.beliefs[i])[::-1][:2]
        assert one.bits == pytest.approx(np.log2(best / rival), abs=1e-5)
        assert sum(term.bits or 0.0 for term in one.terms) == pytest.approx(one.bits, abs=1e-4)
        sources = [term.source for term in one.terms]
        assert sources.count(EvidenceSource.classifier) == 1
        assert sources.count(EvidenceSource.annotator) == (learned.task.labels.unit == i).sum()
