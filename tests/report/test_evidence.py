from __future__ import annotations

import numpy as np

from crowdlogic.data.evidence import EvidenceSource, EvidenceTerm, with_rest
from crowdlogic.reporting.inputs import explain_nothing


def test_without_a_model_every_unit_has_an_empty_place() -> None:
    assert explain_nothing(np.array([4, 7, 9])) == [None, None, None]
    assert explain_nothing(np.zeros(0, dtype=np.int64)) == []


def test_the_rest_makes_terms_add_up() -> None:
    terms = [EvidenceTerm(source=EvidenceSource.classifier, bits=bits) for bits in (1.0, 0.5)]
    infinite = [*terms, EvidenceTerm(source=EvidenceSource.rule, name="r", bits=None)]

    assert [(term.source, term.bits) for term in with_rest(terms, 1.2)[2:]] == [("rest", -0.3)]
    assert with_rest(terms, 1.503) == tuple(terms)  # would show as 0.00
    assert with_rest(infinite, 1.2) == tuple(infinite)
    assert with_rest(terms, None) == tuple(terms)
