"""M-MSR: skills estimated from pairwise agreement, robust against a minority of adversarial annotators.

[MO20] Ma and Olshevsky, "Adversarial crowdsourcing through robust rank-one matrix completion", 2020. If an annotator is
right with probability p_j and otherwise gives any other class, the rescaled agreement of two annotators is s_i s_j with
s = (M p - 1) / (M - 1). So s follows from completing a rank-one matrix; each update discards the largest and the
smallest estimates (their Algorithm 1, "matrix mean-subsequence-reduced"). The products do not determine the signs of s,
which are taken from the leading eigenvector of the matrix.

The weight of a vote is log((M - 1) p / (1 - p)), so the beliefs are the posterior of the one-coin model with these
accuracies and equal class priors. Annotators who share no item with others get the median weight of the others.

Axes: i unit, j annotator (and i, j a pair of them), k class.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import linalg, sparse

from crowdlogic.annotators.label_sums import MOST_CELLS
from crowdlogic.data.blocks import make_shards
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Estimate, make_estimate
from crowdlogic.data.labels import CrowdLabels, require_whole_labels
from crowdlogic.errors import ConvergenceWarning, OptionError
from crowdlogic.numerics.arrays import Bools, Floats, Ints
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.numerics.logspace import normalise
from crowdlogic.truth.fitting import DEFAULT_FIT, Fitting, empty_estimate, refuse_anchors
from crowdlogic.truth.methods import takes_frames
from crowdlogic.truth.weighting import weighted_votes

MIN_DIVISOR = 1e-12
"""Smallest divisor, to avoid division by zero."""

TIE_TOLERANCE = 1e-9
"""Relative difference below which eigenvalues count as equal."""


@dataclass(frozen=True, eq=False)
class AgreementMatrix:
    """Pairwise agreement of annotators.

    Attributes:
        covariance: covariance[i, j], the share of common items on which they agree, rescaled so that chance is 0 and
            full agreement 1; 0 if they share no item.
        common: common[i, j], whether they share an item; False on the diagonal.
        n_units: Number of units with labels.
        n_classes: Number of classes.
    """

    covariance: Floats
    common: Bools
    n_units: int
    n_classes: int


@dataclass(frozen=True)
class MMSR:
    """Voting weighted by skills from robust rank-one matrix completion ([MO20]).

    Attributes:
        convergence: Stopping criterion: a maximum of iterations, or a change of the matrix below `tolerance`.
    """

    convergence: Convergence = Convergence(max_iterations=1000, tolerance=1e-10)

    name = "m-msr"
    uses_anchors: ClassVar[bool] = False
    gives_shares: ClassVar[bool] = True

    @takes_frames
    def infer(self, labels: CrowdLabels, corpus: Corpus | None = None, *, fitting: Fitting = DEFAULT_FIT) -> Estimate:  # noqa: ARG002 (no text needed)
        """Complete the matrix of agreements and weight the votes by the skills."""
        refuse_anchors(self.name, fitting)
        require_whole_labels(labels, self.name)
        counted = labels if labels.weight is None else labels.take(labels.weight > 0)
        if not counted.n_labels:
            return empty_estimate(labels, self.name)
        size = len(labels.annotators)
        if size**2 > MOST_CELLS:
            raise OptionError(f"{self.name} compares all pairs of {size:,} annotators. Use one-coin or mace instead.")
        pairs = compare_pairs(counted.unit, counted.annotator, counted.label, n_annotators=size)
        start = np.ones(size)
        skill, trace, converged = complete_rank_one(pairs, start, start, self.convergence)
        if not converged:
            warnings.warn(
                f"{self.name} did not converge in {len(trace)} iterations. Increase max_iterations.",
                ConvergenceWarning,
                stacklevel=3,
            )
        weight = vote_weights(signed_skills(pairs, skill), pairs)
        # Annotators who share no item with others get the median weight, or 1 if that is not positive
        is_compared = pairs.common.any(axis=1)
        middle = float(np.median(weight[is_compared])) if is_compared.any() else 1.0
        weight = np.where(is_compared, weight, middle if middle > 0 else 1.0)
        beliefs, _ = normalise(weighted_votes(make_shards(labels, threads=1).parts[0], labels.n_classes, weight))
        return make_estimate(
            labels,
            self.name,
            beliefs,
            reliability=weight,
            trace=-np.array(trace),
            converged=converged,
            answer_all=fitting.answer_all,
        )


def compare_pairs(unit: Ints, annotator: Ints, label: Ints, *, n_annotators: int) -> AgreementMatrix:
    """Count agreements on units that two annotators share; the last label of an annotator counts."""
    n_units, n_classes = int(unit.max()) + 1, len(np.unique(label))
    # given[j, i] is 1 if j labelled i, so the sparse product given given' counts shared units
    last = len(unit) - 1 - np.unique((unit * np.int64(n_annotators) + annotator)[::-1], return_index=True)[1]
    rows, columns, shape = annotator[last], unit[last], (n_annotators, n_units)
    given = sparse.csr_array((np.ones(len(last)), (rows, columns)), shape=shape)
    shared = np.asarray((given @ given.T).todense())
    # said[j, (i, k)]: one column per unit and class, so that one product counts the agreements of all classes
    cell = np.unique(columns.astype(np.int64) * (int(label.max()) + 1) + label[last], return_inverse=True)[1]
    said = sparse.csr_array((np.ones(len(last)), (rows, cell)), shape=(n_annotators, int(cell.max()) + 1))
    agreeing = np.asarray((said @ said.T).todense())
    np.fill_diagonal(shared, 0.0)
    common = shared > 0
    scaled = (n_classes * agreeing / np.maximum(shared, 1.0) - 1.0) / max(n_classes - 1, 1)
    return AgreementMatrix(np.where(common, scaled, 0.0), common, len(np.unique(unit)), n_classes)


def complete_rank_one(
    pairs: AgreementMatrix, first_u: Floats, first_v: Floats, convergence: Convergence
) -> tuple[Floats, list[float], bool]:
    """Return |s|[j], the trace of changes, and convergence; alternates u and v so that u v' fits |covariance|.

    Args:
        pairs: Pairwise agreements.
        first_u: Initial u[j].
        first_v: Initial v[j].
        convergence: Stopping criterion.
    """
    table, u, v = np.abs(pairs.covariance), first_u.astype(np.float64), first_v.astype(np.float64)
    trimmed = max(int(pairs.common.sum(axis=0).min()) // 2 - 1, 0)
    least = 1.0 / np.sqrt(pairs.n_units)
    trace: list[float] = []
    for _ in range(convergence.max_iterations):
        before = np.outer(u, v)
        v = _trimmed_means(table / np.maximum(u, MIN_DIVISOR)[:, None], pairs.common, v, trimmed, least)
        u = _trimmed_means((table / np.maximum(v, MIN_DIVISOR)).T, pairs.common.T, u, trimmed, least)
        trace.append(float(np.linalg.norm(np.outer(u, v) - before)))
        if trace[-1] < (convergence.tolerance or 0.0):
            break
    norm_u, norm_v = float(np.linalg.norm(u)), float(np.linalg.norm(v))
    scale = np.sqrt(norm_u / norm_v) if norm_u > 0 and norm_v > 0 else 1.0
    return u / scale, trace, bool(trace) and trace[-1] < (convergence.tolerance or 0.0)


def _trimmed_means(estimates: Floats, common: Bools, present: Floats, trimmed: int, least: float) -> Floats:
    """Return the mean of each column's estimates without the `trimmed` largest and smallest.

    Estimates are only discarded if they are below (above) the present value. A column without estimates keeps its
    present value; a single estimate of 0 becomes `least`.
    """
    ordered = np.sort(np.where(common, estimates, np.inf), axis=0)
    count = common.sum(axis=0)
    position = np.arange(len(ordered))[:, None]
    real = position < count
    begin = np.minimum((ordered < present).sum(axis=0), trimmed)
    above = np.minimum((real & (ordered > present)).sum(axis=0), count - begin)
    end = count - np.minimum(above, trimmed)
    kept = (position >= begin) & (position < end)
    size = kept.sum(axis=0)
    mean = np.where(kept, ordered, 0.0).sum(axis=0) / np.maximum(size, 1)
    mean = np.where((size == 1) & (mean == 0), least, mean)
    return np.where(size > 0, mean, present)


def signed_skills(pairs: AgreementMatrix, skill: Floats) -> Floats:
    """Return s[j] with the signs of the leading eigenvector, oriented so that most are positive.

    If the two largest eigenvalues are equal, or there are as many positive as negative signs, the agreements do not
    identify the signs. Any choice would then depend on the order of the annotators, so all skills become positive.
    """
    size = len(pairs.covariance)
    values, vectors = linalg.eigh(pairs.covariance, subset_by_index=[max(size - 2, 0), size - 1])
    leading = vectors[:, -1]
    signs = np.where(np.abs(leading) < MIN_DIVISOR, 0.0, np.sign(leading))
    is_tied = size > 1 and values[-1] - values[0] < TIE_TOLERANCE * max(1.0, abs(values[-1]))
    if is_tied or signs.sum() == 0:
        return skill
    return np.asarray(skill * signs * (1.0 if signs.sum() > 0 else -1.0))


def vote_weights(skill: Floats, pairs: AgreementMatrix) -> Floats:
    """Return log((M - 1) p / (1 - p)) of each annotator, with s at least 1 / sqrt(units) within its limits."""
    classes, away = max(pairs.n_classes, 2), 1.0 / np.sqrt(pairs.n_units)
    bounded = np.maximum(np.minimum(skill, 1.0 - away), -1.0 / (classes - 1) + away)
    right = np.clip(bounded * (classes - 1) / classes + 1.0 / classes, MIN_DIVISOR, 1.0 - MIN_DIVISOR)
    return np.asarray(np.log(right * (classes - 1) / (1.0 - right)))
