"""Assessing labels: answers, and what can and cannot be said about them.

One function puts the parts together: near-copies are merged, the pool is fitted, gold is learnt from if there is
enough, and summary figures are stated as ranges, or withheld where the labels show more sharing than public crowds.

Axes: i unit, j annotator, k class, n label row.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from crowdlogic.confidence.learning_from_gold import (
    LearntFromGold,
    gold_problem,
    learn_from_gold,
    subtype_beliefs,
)
from crowdlogic.confidence.near_copies import Similarity, find_similar, merge_groups
from crowdlogic.confidence.ranges import (
    Range,
    Residuals,
    checked_range,
    mistakes_in_first,
    mistakes_range,
    order_by_doubt,
    reliability_ranges,
    residual_agreement,
    shared_beliefs,
    sharing_sign,
)
from crowdlogic.data.corpus import UNKNOWN
from crowdlogic.data.estimate import NO_ANSWER, Beliefs, Estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import DataError
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.truth.dependence import posterior_of_votes
from crowdlogic.truth.pool import MethodPool, PoolMembers
from crowdlogic.truth.weighting import CATD


@dataclass(frozen=True, eq=False, kw_only=True)
class Assessment:
    """Answers, and what is known about their quality.

    Attributes:
        estimate: Beliefs and answers of all units. Gold items have their gold answer.
        similarity: Which annotators answer alike; near-copies were merged.
        residuals: How much more annotators agree in pairs than independent errors explain.
        effective_votes: How many independent votes the annotators are worth.
        mistakes: How many of the answers without gold are wrong; None if that cannot be estimated.
        unknown: Why `mistakes` is None, in words; None if it is not.
        reliability: reliability[j], the share of right labels of each annotator by `estimate`.
        reliability_low: Lower ends of its ranges.
        reliability_high: Upper ends of its ranges.
        doubtful: The answered units without gold, the least confident first.
        first: For 50, 100 and 200 of these: which share of the mistakes they contain, at either end.
        learnt: What was learnt from gold; None without, or with too little.
        gold_note: Why gold was not learnt from, in words; None if it was, or if there is none.
    """

    estimate: Estimate
    similarity: Similarity
    residuals: Residuals
    effective_votes: float
    mistakes: Range | None
    unknown: str | None
    reliability: Floats
    reliability_low: Floats
    reliability_high: Floats
    doubtful: Ints
    first: tuple[tuple[int, float, float], ...]
    learnt: LearntFromGold | None
    gold_note: str | None


@dataclass(frozen=True, eq=False, kw_only=True)
class Unsupervised:
    """What labels say without gold.

    Attributes:
        similarity: Which annotators answer alike.
        merged: The labels, near-copies merged.
        members: What the members of the pool believe.
        estimate: The pool, with the annotators of the original labels.
        residuals: How much more annotators agree in pairs than independent errors explain.
        sign: A sign that errors are shared more than in any public crowd, in words, or None.
        shared: q[i, k] if errors are shared as in public crowds.
        taught: What `members_to_weigh` gave, if gold is learnt from repeatedly; empty to fit it when needed.
    """

    similarity: Similarity
    merged: CrowdLabels
    members: PoolMembers
    estimate: Estimate
    residuals: Residuals
    sign: str | None
    shared: Beliefs
    taught: tuple[Beliefs, ...] = ()


def fit_without_gold(
    labels: CrowdLabels, *, groups: Ints | None = None, method: MethodPool | None = None, seed: int = 0
) -> Unsupervised:
    """Merge near-copies, fit the pool and look for signs of shared mistakes.

    Args:
        labels: The labels of single items.
        groups: groups[j], the same number for annotators who are known to count once, beside near-copies found here.
        method: The pool; the default one if not given.
        seed: Random seed.
    """
    if labels.is_sequential:
        raise DataError("assess: expected labels of single items, found tags of sequences.")
    pool = method or MethodPool()
    similarity = find_similar(labels, seed=seed)
    merged = merge_groups(labels, similarity.group if groups is None else _join(similarity.group, groups))
    members = pool.members(merged)
    estimate = replace(pool.pooled(merged, members), annotators=labels.annotators, confusion=None, reliability=None)
    residuals = residual_agreement(merged, members.dawid_skene, seed=seed)
    votes = merged.votes()
    mean = posterior_of_votes(members.shares, votes) + members.mace + members.weight * members.dawid_skene
    return Unsupervised(
        similarity=similarity,
        merged=merged,
        members=members,
        estimate=estimate,
        residuals=residuals,
        sign=sharing_sign(labels, residuals, estimate.answer, members.dawid_skene),
        shared=shared_beliefs(mean / mean.sum(axis=1, keepdims=True), votes.sum(axis=1)),
    )


def members_to_weigh(merged: CrowdLabels, members: PoolMembers, *, seed: int = 0) -> tuple[Beliefs, ...]:
    """What gold teaches to weigh: votes, MACE, Dawid-Skene, CATD and a model of classes with subtypes."""
    known = (members.shares, members.mace, members.dawid_skene, CATD().infer(merged).beliefs)
    return *known, subtype_beliefs(merged, seed=seed)


def assess(
    labels: CrowdLabels,
    *,
    fit: Unsupervised | None = None,
    gold: Ints | None = None,
    random_gold: bool = True,
    scores: Floats | None = None,
    ordered: bool = False,
    groups: Ints | None = None,
    method: MethodPool | None = None,
    seed: int = 0,
) -> Assessment:
    """Answer the items and say what is known about the answers.

    Args:
        labels: The labels of single items.
        fit: What `fit_without_gold` gave for these labels, if it is at hand; groups and method are then not used.
        gold: gold[i], the true class of each unit, UNKNOWN where it is not known.
        random_gold: Whether the gold items are a random sample; if not, they are learnt from, but say nothing about
            how many answers are wrong.
        scores: score[n] of each label row, if annotators gave scores that are finer than the classes.
        ordered: Whether the order of the classes means something.
        groups: groups[j], the same number for annotators who are known to count once, beside near-copies found here.
        method: The pool; the default one if not given.
        seed: Random seed.
    """
    fit = fit or fit_without_gold(labels, groups=groups, method=method, seed=seed)
    members, estimate, sign = fit.members, fit.estimate, fit.sign
    independent, shared = members.independent, fit.shared
    gold = np.full(labels.n_units, UNKNOWN) if gold is None else np.asarray(gold)
    known = gold != UNKNOWN
    learnt, note = None, None
    if known.any():
        note = gold_problem(gold, labels.n_classes)
        if note is None:
            taught = fit.taught or members_to_weigh(fit.merged, fit.members, seed=seed)
            learnt = learn_from_gold(labels, gold, taught, scores=scores, ordered=ordered, seed=seed)
            independent = shared = learnt.beliefs
            sign = None if random_gold else sign

    # Answers: gold where it is known, else learnt, else the pool's
    answer = np.where(known, gold, estimate.answer)
    beliefs = np.array(estimate.beliefs) if learnt is None else learnt.beliefs.copy()
    if learnt is not None:
        answered = ~known & (estimate.answer != NO_ANSWER)
        answer[answered] = beliefs.argmax(axis=1)[answered]
    checked_wrong = int(np.count_nonzero(estimate.answer[known] != gold[known])) if learnt is None else learnt.mistakes
    beliefs[known] = np.eye(labels.n_classes)[gold[known]]
    estimate = replace(estimate, beliefs=beliefs, answer=answer.astype(np.int32))

    # Summary figures: exact with a random sample of gold, a range otherwise, nothing if sharing is beyond crowds
    open_units = np.flatnonzero(~known & (answer != NO_ANSWER))
    mistakes = None
    if learnt is not None and random_gold:
        mistakes = checked_range(checked_wrong, int(known.sum()), len(open_units))
    elif sign is None:
        mistakes = mistakes_range(independent[open_units], shared[open_units], answer[open_units])
    if learnt is not None:
        n_gold = int(known.sum()) if random_gold else 0
        low, high = reliability_ranges(labels, independent, shared, gold_items=n_gold)
    else:
        low, high = reliability_ranges(labels, independent, shared)
    right = np.bincount(labels.annotator, weights=beliefs[labels.unit, labels.label], minlength=len(labels.annotators))
    order = open_units[order_by_doubt(beliefs[open_units])]
    return Assessment(
        estimate=estimate,
        similarity=fit.similarity,
        residuals=fit.residuals,
        effective_votes=fit.residuals.effective_votes,
        mistakes=mistakes,
        unknown=None if mistakes is not None else sign,
        reliability=right / np.maximum(labels.labels_per_annotator(), 1),
        reliability_low=low,
        reliability_high=high,
        doubtful=order,
        first=tuple(mistakes_in_first(order, answer, independent, shared)),
        learnt=learnt,
        gold_note=note,
    )


def _join(first: Ints, second: Ints) -> Ints:
    """Groups that are connected by either of two groupings."""
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
