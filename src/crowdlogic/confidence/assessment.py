"""Assess labels: answers, expected accuracy and signs of shared mistakes.

One function puts the parts together: near-copies are merged, the pool is fitted, gold is learnt from if there is
enough, and summary figures are stated as ranges, or withheld where the labels show more sharing than public crowds.

Axes: i unit, j annotator, k class, n label row.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from crowdlogic.confidence.ranges import (
    GROUP,
    HIGH,
    LOW,
    MIN_GOLD,
    Residuals,
    checked_range,
    mistakes_in_first,
    order_by_doubt,
    reliability_ranges,
    residual_agreement,
    sharing_sign,
)
from crowdlogic.data.corpus import UNKNOWN
from crowdlogic.data.estimate import NO_ANSWER, Beliefs, Calibration, Estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import ConvergenceWarning, DataError
from crowdlogic.numerics.arrays import Bools, Floats, Ints
from crowdlogic.numerics.logspace import design_effect, temper
from crowdlogic.truth.dependence import MIN_BELIEF, SHARED_CORRELATION, probability_wrong, with_range
from crowdlogic.truth.fitting import DEFAULT_FIT, Fitting
from crowdlogic.truth.near_copies import Similarity, find_similar, merge_groups
from crowdlogic.truth.pool import TEAMS_CROWDS_PANELS, MethodPool, PoolMembers, split_groups

if TYPE_CHECKING:
    from crowdlogic.confidence.learning_from_gold import LearntFromGold


@dataclass(frozen=True, eq=False, kw_only=True)
class Assessment:
    """Answers, and what is known about their quality.

    Attributes:
        estimate: Beliefs and answers of all units. Gold items have their gold answer. Its calibration holds the range
            of wrong answers and the effective number of votes.
        similarity: Which annotators answer alike; near-copies were merged.
        reliability: reliability[j], the share of right labels of each annotator by `estimate`.
        doubtful: The answered units without gold, the least confident first.
        first: For 50, 100 and 200 of these: which share of the mistakes they contain, at either end.
        learnt: Weights fitted to gold; None without gold, or with too little.
        gold_note: Reason why gold was not used, in words; None if it was, or if there is none.
    """

    estimate: Estimate
    similarity: Similarity
    reliability: Floats
    doubtful: Ints
    first: tuple[tuple[int, float, float], ...]
    learnt: LearntFromGold | None
    gold_note: str | None

    @property
    def calibration(self) -> Calibration:
        """Basis of the figures."""
        found = self.estimate.calibration
        if found is None:
            raise DataError("The estimate of an assessment is calibrated; this one is not.")
        return found

    @property
    def mistakes(self) -> tuple[float, float] | None:
        """The fewest and the most wrong answers without gold; None if that cannot be estimated."""
        low, high = self.calibration.fewest_wrong, self.calibration.most_wrong
        return None if low is None or high is None else (low, high)

    @property
    def reliability_range(self) -> tuple[Floats, Floats]:
        """low[j] and high[j] of the reliability of each annotator."""
        return self.estimate.parameters[LOW], self.estimate.parameters[HIGH]


@dataclass(frozen=True, eq=False, kw_only=True)
class Unsupervised:
    """Assessment of labels without gold.

    Attributes:
        similarity: Which annotators answer alike.
        merged: The labels, near-copies merged.
        members: Beliefs of the members of the pool.
        estimate: The pool, with the annotators of the original labels.
        residuals: Excess agreement of pairs of annotators over independent errors.
        sign: A sign that errors are shared more than in any public crowd, in words, or None.
        taught: Result of `members_to_weigh`, if gold is used repeatedly; empty to compute it when needed.
    """

    similarity: Similarity
    merged: CrowdLabels
    members: PoolMembers
    estimate: Estimate
    residuals: Residuals
    sign: str | None
    taught: tuple[Beliefs, ...] = ()


def fit_without_gold(
    labels: CrowdLabels,
    *,
    groups: Ints | None = None,
    method: MethodPool | None = None,
    fitting: Fitting = DEFAULT_FIT,
    seed: int = 0,
) -> Unsupervised:
    """Merge near-copies, fit the pool and look for signs of shared mistakes.

    Args:
        labels: The labels of single items.
        groups: groups[j], the same number for annotators who are known to count once, beside near-copies found here.
        method: The pool; the default one if not given.
        fitting: Options of the fits.
        seed: Random seed.
    """
    if labels.is_sequential:
        raise DataError("assess: expected labels of single items, found tags of sequences.")
    pool = method or MethodPool()
    similarity = find_similar(labels, seed=seed)
    group = similarity.group if groups is None else _join(similarity.group, groups)
    merged = merge_groups(labels, group)
    members = pool.members(merged, fitting=fitting)
    estimate = split_groups(pool.pooled(merged, members, fitting=fitting), labels, group)
    residuals = residual_agreement(merged, members.dawid_skene, seed=seed)
    return Unsupervised(
        similarity=replace(similarity, group=group),
        merged=merged,
        members=members,
        estimate=estimate,
        residuals=residuals,
        sign=sharing_sign(labels, residuals, estimate.answer, members.dawid_skene),
    )


def members_to_weigh(merged: CrowdLabels, members: PoolMembers, *, seed: int = 0) -> tuple[Beliefs, ...]:
    """Return what gold teaches to weigh: votes, MACE, Dawid-Skene, CATD and a model of classes with subtypes."""
    from crowdlogic.confidence.learning_from_gold import subtype_beliefs

    known = (members.shares, members.mace, members.dawid_skene, _catd(merged))
    return *known, subtype_beliefs(merged, seed=seed)


def _catd(merged: CrowdLabels) -> Beliefs:
    from crowdlogic.truth.weighting import CATD

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # one opinion among several
        return CATD().infer(merged).beliefs


def assess(
    labels: CrowdLabels,
    *,
    fit: Unsupervised | None = None,
    gold: Ints | None = None,
    random_gold: bool | Bools = True,
    scores: Floats | None = None,
    ordered: bool = False,
    groups: Ints | None = None,
    method: MethodPool | None = None,
    fitting: Fitting = DEFAULT_FIT,
    seed: int = 0,
) -> Assessment:
    """Answer the items and say what is known about the answers.

    Args:
        labels: The labels of single items.
        fit: Result of `fit_without_gold` for these labels, if available; groups, method and fitting are then not used.
        gold: gold[i], the true class of each unit, UNKNOWN where it is not known.
        random_gold: Whether the gold items, or which units, were drawn at random; others are learnt from, but say
            nothing about how many answers are wrong.
        scores: score[n] of each label row, if annotators gave scores that are finer than the classes.
        ordered: Whether the order of the classes means something.
        groups: groups[j], the same number for annotators who are known to count once, beside near-copies found here.
        method: The pool; the default one if not given.
        fitting: Options of the fits; its anchors are used if there is too little gold to learn from.
        seed: Random seed.
    """
    gold = np.full(labels.n_units, UNKNOWN) if gold is None else np.asarray(gold)
    known = gold != UNKNOWN
    note, learns = None, False
    if known.any():
        from crowdlogic.confidence.learning_from_gold import gold_problem, learn_from_gold

        note = gold_problem(gold, labels.n_classes)
        learns = note is None
    if learns:
        fitting = replace(fitting, anchors=None)  # what is weighed by gold must not have seen it
    fit = fit or fit_without_gold(labels, groups=groups, method=method, fitting=fitting, seed=seed)
    estimate, independent = fit.estimate, fit.members.independent
    learnt = None
    if learns:
        taught = fit.taught or members_to_weigh(fit.merged, fit.members, seed=seed)
        learnt = learn_from_gold(labels, gold, taught, scores=scores, ordered=ordered, seed=seed)

    # Answers: gold where it is known, else learnt, else the pool's
    beliefs, answer = np.array(estimate.beliefs if learnt is None else learnt.beliefs), np.array(estimate.answer)
    if learnt is not None:
        answered = answer != NO_ANSWER
        answer[answered] = beliefs.argmax(axis=1)[answered]
    beliefs[known], answer[known] = np.eye(labels.n_classes)[gold[known]], gold[known]

    # The range of wrong answers: exact with random gold, else by the labels, unless they show more sharing than crowds
    open_units = np.flatnonzero(~known & (answer != NO_ANSWER))
    order = open_units[order_by_doubt(beliefs[open_units])]
    n_labels = fit.merged.votes().sum(axis=1)
    wrong = probability_wrong(independent[order], n_labels[order], answer[order])
    sampled = np.flatnonzero(known & random_gold)
    calibration = estimate.calibration or TEAMS_CROWDS_PANELS.calibration(fit.merged.votes())
    calibration = replace(calibration, effective_votes=fit.residuals.effective_votes)
    if learnt is not None and len(sampled) >= MIN_GOLD:
        is_sampled = np.isin(learnt.gold, sampled)
        mistakes = int(np.count_nonzero(learnt.is_wrong[is_sampled]))
        low, high = checked_range(mistakes, len(sampled), len(open_units))
        size = len(sampled)
        calibration = replace(calibration, fewest_wrong=low, most_wrong=high, anchors=size, checked=size)
        learnt_wrong = 1.0 - beliefs[order].max(axis=1, initial=0.0)
        wrong = np.stack([learnt_wrong, learnt_wrong], axis=1)
        ends: tuple[Beliefs, ...] = (beliefs,)
    else:
        calibration = with_range(calibration, wrong)
        if fit.sign is not None:
            calibration = replace(calibration, fewest_wrong=None, most_wrong=None, unknown=fit.sign)
        shared = temper(np.maximum(independent, MIN_BELIEF), 1.0 / design_effect(n_labels, SHARED_CORRELATION))
        ends = (independent, shared)

    low_ends, high_ends = reliability_ranges(labels, ends, gold_items=calibration.checked)
    right = np.bincount(labels.annotator, weights=beliefs[labels.unit, labels.label], minlength=len(labels.annotators))
    parameters = {LOW: low_ends, HIGH: high_ends, GROUP: fit.similarity.group.astype(np.float64)}
    return Assessment(
        estimate=replace(
            estimate, beliefs=beliefs, answer=answer.astype(np.int32), calibration=calibration, parameters=parameters
        ),
        similarity=fit.similarity,
        reliability=right / np.maximum(labels.labels_per_annotator(), 1),
        doubtful=order,
        first=tuple(mistakes_in_first(wrong)),
        learnt=learnt,
        gold_note=note,
    )


def _join(first: Ints, second: Ints) -> Ints:
    """Return groups that are connected by either of two groupings."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    size = len(first)
    rows = np.concatenate([np.arange(size), np.arange(size)])
    _, first_code = np.unique(first, return_inverse=True)
    _, second_code = np.unique(second, return_inverse=True)
    columns = np.concatenate([size + first_code, size + first_code.max() + 1 + second_code])
    total = int(columns.max()) + 1
    graph = csr_matrix((np.ones(2 * size), (rows, columns)), shape=(total, total))
    return connected_components(graph, directed=False)[1][:size]
