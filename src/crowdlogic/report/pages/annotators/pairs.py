"""How far the busiest annotators agree with each other. Axes: a and b, annotators of the table."""

from __future__ import annotations

import numpy as np

from crowdlogic.data.labels import CrowdLabels
from crowdlogic.metrics.pairwise import pairwise_agreement
from crowdlogic.numerics.arrays import Floats
from crowdlogic.report.findings import round_figure
from crowdlogic.report.pages.annotators.findings import PairAgreement

BUSIEST = 20
"""Annotators in the table of pairs."""


def pair_agreement(labels: CrowdLabels) -> PairAgreement | None:
    """Agreement between the busiest annotators; None when there are not two."""
    n_labels = labels.labels_per_annotator()
    busiest = np.argsort(-n_labels, kind="stable")[:BUSIEST]
    busiest = busiest[n_labels[busiest] > 0]
    if len(busiest) < 2:
        return None
    names = labels.annotators.gather(busiest)
    found = pairwise_agreement(labels.select(annotators=names.to_list()))
    size = len(busiest)
    shared = np.zeros((size, size), dtype=np.int64)
    agreement, kappa = np.full((2, size, size), np.nan)
    for table, column in ((shared, found.shared), (agreement, found.agreement), (kappa, found.kappa)):
        table[found.a, found.b] = column
        table[found.b, found.a] = column
    return PairAgreement(
        names=tuple(str(name) for name in names),
        shared=tuple(map(tuple, shared.tolist())),
        agreement=_rounded_rows(agreement),
        kappa=_rounded_rows(kappa),
        n_annotators=len(labels.annotators),
    )


def _rounded_rows(table: Floats) -> tuple[tuple[float | None, ...], ...]:
    return tuple(tuple(map(round_figure, line)) for line in table.tolist())
