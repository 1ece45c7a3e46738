"""Why an item has its answer, in bits for the answer against its strongest rival, as a reviewer sees it.

Of a run it is the evidence of `learning.explain`. Of a truth method every vote counts by its annotator's confusion
matrix; what pooling and doubt make of the votes is the rest, so that the bits add up to the stated confidence:

    log2 q[a] / q[r] = prior + sum over votes of sharpness log2 confusion[j, a, n] / confusion[j, r, n] + rest.

Axes: i unit, j annotator, k class, m true class, n given label, a answer, r rival.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from crowdlogic.annotators.protocol import MOST_CELLS
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.engines.shards import make_shards
from crowdlogic.engines.sweeps import tally
from crowdlogic.learning.evidence import BIT
from crowdlogic.learning.explain import explain, is_explicable
from crowdlogic.learning.learned import Learned
from crowdlogic.numerics.arrays import Floats
from crowdlogic.numerics.intervals import HALF
from crowdlogic.numerics.logspace import safe_log
from crowdlogic.numerics.tempering import design_effect
from crowdlogic.workflows.report_evidence import unit_evidence
from crowdlogic.workflows.review.answers import item_units
from crowdlogic.workflows.review.rule_views import RuleWord

NEGLIGIBLE = 5e-3
"""A remainder below this many bits would show as 0.00 and is left out."""


@dataclass(frozen=True, kw_only=True)
class ReviewTerm:
    """What one source says for the answer: in bits, None where infinite.

    Attributes:
        source: prior, annotator, classifier, rule, transitions or rest.
        name: The annotator, or the rule as text; empty for the others.
        said: The label that an annotator gave; None for the others.
        bits: Evidence for the answer against its rival.
    """

    source: str
    name: str = ""
    said: str | None = None
    bits: float | None


@dataclass(frozen=True, kw_only=True)
class UnitEvidence:
    """Why a unit has its answer.

    Attributes:
        token: Which token of a sentence, from 0; None for documents.
        answer: The answer.
        rival: The class that comes next.
        terms: What every source says.
        bits: What is stated in the end; None where it is certain, since somebody decided.
    """

    token: int | None
    answer: str
    rival: str
    terms: tuple[ReviewTerm, ...]
    bits: float | None


@dataclass(frozen=True, kw_only=True)
class ItemEvidence:
    """Why an item has its answer: unit by unit; and what the rules say of it."""

    units: list[UnitEvidence]
    rules: list[RuleWord]


def hide_names(unit: UnitEvidence, names: Mapping[str, str]) -> UnitEvidence:
    """The same evidence with other names of the annotators."""
    terms = (
        replace(term, name=names.get(term.name, "")) if term.source == "annotator" else term for term in unit.terms
    )
    return replace(unit, terms=tuple(terms))


def annotator_confusion(labels: CrowdLabels, estimate: Estimate) -> Floats | None:
    """confusion[j, m, n]: the method's own, or expected from its beliefs; None where it would be too large."""
    if estimate.confusion is not None:
        return estimate.confusion
    if labels.n_classes < 2 or len(labels.annotators) * labels.n_classes**2 > MOST_CELLS:
        return None
    counts = tally(make_shards(labels), estimate.beliefs).counts.transpose(0, 2, 1) + HALF / labels.n_classes
    return np.asarray(counts / counts.sum(axis=2, keepdims=True))


def vote_evidence(labels: CrowdLabels, estimate: Estimate, confusion: Floats, item: int) -> list[UnitEvidence]:
    """The evidence of all votes on an item, unit by unit."""
    found = []
    for place, unit in enumerate(item_units(labels.offsets, np.array([item])).tolist()):
        rows = slice(*np.searchsorted(labels.unit, [unit, unit + 1]).tolist())
        terms = vote_terms(labels, estimate, confusion, rows)
        found.append(_unit(labels, estimate, terms, unit=unit, rows=rows, token=place))
    return found


def vote_terms(labels: CrowdLabels, estimate: Estimate, confusion: Floats, rows: slice) -> Floats:
    """terms[n, k] in bits: of the prior first, then of each vote of a unit; scaled as the confidence is."""
    weight = labels.weights[rows]
    calibration = estimate.calibration
    effect = 1.0 if calibration is None else float(design_effect(weight.sum(), calibration.correlation))
    sharpness = (1.0 if calibration is None else calibration.sharpness) / effect
    votes = safe_log(confusion[labels.annotator[rows], :, labels.label[rows]]) * weight[:, None]
    prior = np.zeros(labels.n_classes) if estimate.prior is None else safe_log(estimate.prior)
    return np.asarray(np.vstack([prior, votes]) * sharpness / BIT)


def _unit(
    labels: CrowdLabels, estimate: Estimate, terms: Floats, *, unit: int, rows: slice, token: int
) -> UnitEvidence:
    beliefs, names = estimate.beliefs[unit], [str(name) for name in labels.classes]
    is_known = bool(beliefs.max() == 1.0)
    ranked = np.argsort(-(terms.sum(axis=0) if is_known else beliefs), kind="stable")
    answer = int(beliefs.argmax())
    rival = int(next((k for k in ranked if k != answer), answer))
    bits = [_finite(term[answer] - term[rival]) for term in terms]
    said = [names[k] for k in labels.label[rows]]
    people = labels.annotators.gather(labels.annotator[rows]).to_list()
    found = [ReviewTerm(source="prior", bits=bits[0])] if estimate.prior is not None else []
    found += [
        ReviewTerm(source="annotator", name=str(who), said=label, bits=bit)
        for who, label, bit in zip(people, said, bits[1:], strict=True)
    ]
    stated = None if is_known else _finite(float(np.log2(beliefs[answer]) - np.log2(max(beliefs[rival], 1e-300))))
    place = None if labels.offsets is None else token
    terms_shown = add_rest(tuple(found), stated)
    return UnitEvidence(token=place, answer=names[answer], rival=names[rival], terms=terms_shown, bits=stated)


def _finite(bits: float) -> float | None:
    return round(float(bits), 6) if np.isfinite(bits) else None


def run_evidence(learned: Learned, item: Any) -> list[UnitEvidence]:
    """The evidence of a run for an item, unit by unit; nothing where its method cannot say."""
    if not is_explicable(learned):
        return []
    found = explain(learned, item)
    is_token = learned.task.labels.is_sequential
    units = (unit_evidence(found, i, is_token=is_token) for i in range(len(found.q_f)))
    return [
        UnitEvidence(
            token=one.token,
            answer=one.answer,
            rival=one.rival,
            terms=add_rest(tuple(_terms(one.crowd, one.rules)), one.bits),
            bits=one.bits,
        )
        for one in units
        if one is not None
    ]


def add_rest(terms: tuple[ReviewTerm, ...], stated: float | None) -> tuple[ReviewTerm, ...]:
    """The terms, and what mixing, pooling and doubt add to them, so that they add up to what is stated."""
    bits = [term.bits for term in terms]
    if stated is None or None in bits:
        return terms
    rest = round(stated - sum(bit for bit in bits if bit is not None), 6)
    return (*terms, ReviewTerm(source="rest", bits=rest)) if abs(rest) > NEGLIGIBLE else terms


def _terms(*groups: Sequence[Any]) -> Iterator[ReviewTerm]:
    for group in groups:
        for term in group:
            yield ReviewTerm(source=str(term.source), name=term.name, said=term.said, bits=term.bits)
