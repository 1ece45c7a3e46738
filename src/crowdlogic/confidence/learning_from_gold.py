"""Learning from gold: weights of truth methods, annotators and scores, fitted to gold items.

Truth methods that do not use gold give beliefs `member[i, k]`. A softmax regression on some gold items learns how to
combine them,

    log q[i, k] = sum_m a[m] log member_m[i, k] + b[k] + sum over the labels of i of w[annotator, label, k]
                  + (scores of i) v x (position of k)                                   up to a constant of each item

by maximum a posteriori. According to the prior, all members are about equally good and all other weights are near zero.
So with little gold, the answers are close to those of the members' pool, and more gold changes them gradually. The best
scale of the priors of w and v, which limits the weights of single annotators, is not known in advance: several scales
are fitted, and their posteriors are averaged with weights from their held-out likelihood ([YCS18], the pseudo-Bayesian
form of stacking by cross-validation).

Numeric scores of judges, which may be finer than the classes, are converted to normal scores ([BLOM58]) of each
annotator. They are used directly, and through the consensus of a one-factor model with missing values.

No array has the size items x annotators: the labels are a sparse matrix, and at most MAX_RANK directions of those of
the gold items are fitted.

[BLOM58]) per annotator, alone
and as the consensus of a one-factor model with missing values.

Nothing here is items x annotators: the labels are a sparse matrix, and of the gold items at most MAX_RANK directions
are fitted.

[BLOM58] Blom, "Statistical estimates and transformed beta-variables", 1958.
[LRC19] Li, Rubinstein and Cohn, "Exploiting worker correlation for label aggregation in crowdsourcing", 2019.
[YCS18] Yao, Vehtari, Simpson and Gelman, "Using stacking to average Bayesian predictive distributions", 2018.
Axes: i unit, j annotator, k class, m member, n label row, g gold item, r direction.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from scipy import sparse

from crowdlogic.annotators.label_sums import Q
from crowdlogic.confidence.expected_accuracy import MIN_GOLD
from crowdlogic.data.blocks import make_shards
from crowdlogic.data.corpus import UNKNOWN
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.labels import CrowdLabels, require_whole_labels
from crowdlogic.errors import ConvergenceWarning, DataError
from crowdlogic.numerics.arrays import Bools, Floats, Ints

FOLDS = 5
FLOOR = 0.03
"""Share of uniform belief mixed into a member before taking its logarithm, so that no member can exclude a class."""
MEMBER_WEIGHT, MEMBER_PRECISION = 1.2, 8.0
"""Prior of the weights a: their sum (in units of each member's spread), and the precision of each."""
CONSENSUS_WEIGHT, CONSENSUS_PRECISION = 0.7, 4.0
"""Prior of the weight of the consensus of the scores."""
BIAS_PRECISION = 2.0
TEMPERATURE = 8.0
"""Divisor of held-out log likelihoods before they become weights. In a single sample of gold, they differ by chance
about as much as between scales, so only clearly worse scales should lose their weight."""
LABEL_SCALES = (0.0, 0.5, 1.0, 2.0, 4.0)
"""Prior standard deviations of w, without scores."""
MAX_RANK = 300
"""Maximum number of fitted directions of the labels of gold items. Only crowds with many annotators have more."""
MAX_FITTED = 50_000
"""Maximum number of labels to which EBCC is fitted."""
MAX_COMPARED = 2_000
"""Maximum number of gold items for comparing scales."""


@dataclass(frozen=True, eq=False, kw_only=True)
class LearntFromGold:
    """Weights fitted to gold items, applied to all items.

    Attributes:
        beliefs: q[i, k] of every unit. Gold items are predicted like any other; the caller may fix them.
        held_out: q[g, k] of the gold items in the order of `gold`, each predicted by fits without it.
        gold: The units of the gold items, in ascending order.
        truth: truth[g], the classes of the gold items.
    """

    beliefs: Beliefs
    held_out: Beliefs
    gold: Ints
    truth: Ints

    @property
    def is_wrong(self) -> Bools:
        """is_wrong[g], whether the answer for a gold item by fits without it is wrong."""
        return np.asarray(self.held_out.argmax(axis=1) != self.truth)

    @property
    def mistakes(self) -> int:
        """Number of gold items whose answer by fits without them is wrong."""
        return int(np.count_nonzero(self.is_wrong))


def gold_problem(gold: Ints, n_classes: int) -> str | None:
    """Return a sentence on why it is not possible to learn from the gold; None if it is possible.

    Args:
        gold: gold[i], the true class of each unit, UNKNOWN if unknown.
        n_classes: Number of classes.
    """
    known = gold[gold != UNKNOWN]
    if len(known) < MIN_GOLD:
        return (
            f"{len(known):,} gold items are too few to learn from; they are only used as known answers. "
            f"Label at least {MIN_GOLD} items drawn at random."
        )
    if n_classes > 1 and len(np.unique(known)) < 2:
        return (
            f"All {len(known):,} gold items are of one class, so nothing can be learnt about the others. "
            "Draw the gold items at random from all items."
        )
    return None


def learn_from_gold(
    labels: CrowdLabels,
    gold: Ints,
    members: Sequence[Beliefs],
    *,
    scores: Floats | None = None,
    ordered: bool = False,
    seed: int = 0,
) -> LearntFromGold:
    """Fit the regression on the gold items and predict all items.

    Args:
        labels: The labels.
        gold: gold[i], the true class of each unit, UNKNOWN if unknown.
        members: Beliefs q[i, k] of truth methods that were fitted without gold.
        scores: score[n] of each label, if annotators gave scores that are finer than the classes.
        ordered: Whether the classes are ordered; labels are then used as scores, too.
        seed: Random seed of the folds.
    """
    require_whole_labels(labels, "learning from gold")
    problem = gold_problem(gold, labels.n_classes)
    if problem:
        raise DataError(problem)
    units = np.flatnonzero(gold != UNKNOWN)
    truth = gold[units].astype(np.int64)
    if scores is None and ordered:
        scores = labels.label.astype(np.float64)
    inputs = _Inputs.build(labels, members, scores)

    # Compare the scales: log_likelihood[c, fold], and the predictions of each for the gold items of the held-out fold
    candidates = SCORE_CANDIDATES if scores is not None else tuple(Candidate(labels=scale) for scale in LABEL_SCALES)
    designs = [inputs.design(candidate, units) for candidate in candidates]
    # fold[g], drawn at random, with every class divided evenly among the folds
    order = np.random.default_rng(seed).permutation(len(truth))
    order = order[np.argsort(truth[order], kind="stable")]
    fold = np.empty(len(truth), dtype=np.int64)
    fold[order] = np.arange(len(truth)) % FOLDS
    compared = np.random.default_rng(seed).permutation(len(units))[:MAX_COMPARED]
    log_likelihood = np.zeros((len(candidates), FOLDS))
    held_out = np.zeros((len(candidates), len(units), labels.n_classes))
    fits = []
    for c, design in enumerate(designs):
        whole = design.fit(truth)
        fits.append(whole)
        for f in range(FOLDS):
            train = compared[fold[compared] != f]
            test = np.flatnonzero(fold == f)
            fitted = design.take(train).fit(truth[train], start=whole)
            log_q = _log_softmax(design.take(test).logits(fitted))
            held_out[c, test] = np.exp(log_q)
            log_likelihood[c, f] = log_q[np.arange(len(test)), truth[test]].sum()

    # Average over the scales. A held-out gold item is predicted with weights from the other folds.
    weight = _weights(log_likelihood.sum(axis=1))
    averaged = np.zeros(held_out.shape[1:])
    for f in range(FOLDS):
        others = _weights(np.delete(log_likelihood, f, axis=1).sum(axis=1))
        averaged[fold == f] = np.einsum("c,cgk->gk", others, held_out[:, fold == f])
    beliefs = np.zeros((labels.n_units, labels.n_classes))
    for share, design, fitted in zip(weight, designs, fits, strict=True):
        if share > 1e-3:
            beliefs += share * np.exp(_log_softmax(inputs.predict(design, fitted)))
    beliefs /= beliefs.sum(axis=1, keepdims=True)
    return LearntFromGold(beliefs=beliefs, held_out=averaged, gold=units, truth=truth)


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """Prior standard deviations of w (labels), of v (scores of annotators), and of the consensus as a free input."""

    labels: float = 0.0
    scores: float = 0.0
    consensus: float = 0.0


SCORE_CANDIDATES = (
    Candidate(),
    Candidate(consensus=0.7),
    Candidate(scores=1.0),
    Candidate(scores=2.0),
    Candidate(scores=4.0),
    Candidate(labels=0.7, consensus=0.7),
    Candidate(labels=2.0, consensus=0.7),
    Candidate(labels=0.7, consensus=0.7, scores=0.7),
    Candidate(labels=2.0, consensus=0.7, scores=2.0),
)


@dataclass(frozen=True, eq=False, kw_only=True)
class _Inputs:
    """Inputs of the regression for all units.

    Attributes:
        members: log_member[m, i, k], centred over k, with a spread of one; the last one is the consensus, if any.
        said: said[i, j * K + label], sparse: the labels of unit i, scaled to a mean of one label.
        frequency: frequency[j, label], the share of each label among those of an annotator.
        scored: scored[i, j], sparse: normal scores of the annotators' scores; None without scores.
        consensus: consensus[i, 0..1], the one-factor score and its centred square; no columns without scores.
    """

    members: Floats
    said: sparse.csr_matrix
    frequency: Floats
    scored: sparse.csr_matrix | None
    consensus: Floats

    @classmethod
    def build(cls, labels: CrowdLabels, members: Sequence[Beliefs], scores: Floats | None) -> _Inputs:
        n_units, n_classes, n_annotators = labels.n_units, labels.n_classes, len(labels.annotators)
        logs = [_log_feature(member) for member in members]
        per_unit = labels.labels_per_unit()
        scale = 1.0 / np.sqrt(max(per_unit[per_unit > 0].mean(), 1.0)) if labels.n_labels else 1.0
        start = np.concatenate([[0], np.cumsum(per_unit)])
        column = labels.annotator.astype(np.int64) * n_classes + labels.label
        shape = (n_units, n_annotators * n_classes)
        said = sparse.csr_matrix((labels.weights * scale, column, start), shape=shape)
        counts = np.bincount(column, minlength=n_annotators * n_classes).reshape(n_annotators, n_classes)
        frequency = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
        scored, consensus = None, np.zeros((n_units, 0))
        if scores is not None:
            normal = normal_scores(labels.annotator, scores, n_annotators)
            factor = one_factor(labels.unit, labels.annotator, normal, n_units=n_units, n_annotators=n_annotators)
            scored = sparse.csr_matrix((normal * scale, labels.annotator, start), shape=(n_units, n_annotators))
            consensus = np.stack([factor, (factor**2 - 1.0) / np.sqrt(2.0)], axis=1)
            logs.append(factor[:, None] * class_positions(n_classes))
        return cls(members=np.stack(logs), said=said, frequency=frequency, scored=scored, consensus=consensus)

    def design(self, candidate: Candidate, units: Ints) -> _Design:
        """Return the regression's inputs for some units under one choice of scales."""
        # free[g, r]: inputs with a weight per class: labels (centred per annotator) and the consensus
        free, back = np.zeros((len(units), 0)), None
        if candidate.labels:
            centred = self.said[units] - self._expected(units)
            free, back = _reduce(centred * candidate.labels)
        own, own_back = np.zeros((len(units), 0)), None
        if candidate.scores and self.scored is not None:
            own, own_back = _reduce(self.scored[units] * candidate.scores)
        if candidate.consensus > 0 and self.consensus.shape[1] > 0:
            free = np.concatenate([free, self.consensus[units] * candidate.consensus], axis=1)
        return _Design(
            members=np.ascontiguousarray(self.members[:, units].transpose(1, 0, 2)),
            free=free,
            own=own,
            candidate=candidate,
            back=back,
            own_back=own_back,
            has_consensus_member=self.scored is not None,
        )

    def _expected(self, units: Ints) -> sparse.csr_matrix:
        """Return the mean labels of the annotators of each unit: expected[g, j * K + label], sparse."""
        n_annotators, n_classes = self.frequency.shape
        # mean_of[j * K + label, j * K + other] = frequency[j, other], one block per annotator
        columns = np.arange(n_annotators * n_classes).reshape(n_annotators, 1, n_classes).repeat(n_classes, axis=1)
        values = self.frequency[:, None, :].repeat(n_classes, axis=1)
        start = np.arange(n_annotators * n_classes + 1) * n_classes
        mean_of = sparse.csr_matrix((values.ravel(), columns.ravel(), start), shape=(columns.shape[0] * n_classes,) * 2)
        return self.said[units] @ mean_of

    def predict(self, design: _Design, fitted: _Weights) -> Floats:
        """Return logits[i, k] of all units."""
        candidate = design.candidate
        logits = np.einsum("mik,m->ik", self.members, fitted.members) + fitted.bias
        rank = 0
        if design.back is not None:
            rank = design.back.shape[1]
            weight = np.asarray(design.back @ fitted.free[:rank]) * candidate.labels  # [j * K + label, k]
            by_annotator = weight.reshape(*self.frequency.shape, -1)
            centre = np.einsum("jn,jnk->jk", self.frequency, by_annotator)
            logits += self.said @ (by_annotator - centre[:, None, :]).reshape(weight.shape)
        if len(fitted.free) > rank:
            logits += self.consensus @ fitted.free[rank:] * candidate.consensus
        if design.own_back is not None and self.scored is not None:
            along = self.scored @ (np.asarray(design.own_back @ fitted.own) * candidate.scores)
            logits += np.outer(along, class_positions(logits.shape[1]))
        return np.asarray(logits)


@dataclass(frozen=True, eq=False, kw_only=True)
class _Weights:
    """The weights of the regression: members a[m], bias b[k], free w[r, k], own v[r]."""

    members: Floats
    bias: Floats
    free: Floats
    own: Floats

    def flat(self) -> Floats:
        return np.concatenate([self.members, self.bias, self.free.ravel(), self.own])


@dataclass(frozen=True, eq=False, kw_only=True)
class _Design:
    """The inputs of some gold items: members[g, m, k], free[g, r], own[g, r], all scaled to priors of N(0, 1)."""

    members: Floats
    free: Floats
    own: Floats
    candidate: Candidate
    back: Any
    own_back: Any
    has_consensus_member: bool

    def take(self, rows: Ints) -> _Design:
        """Return the same inputs for some of the gold items."""
        return replace(self, members=self.members[rows], free=self.free[rows], own=self.own[rows])

    def split(self, theta: Floats) -> _Weights:
        """Return weights from one long vector."""
        n_members, n_classes = self.members.shape[1:]
        a, b, w, v = np.split(theta, np.cumsum([n_members, n_classes, self.free.shape[1] * n_classes]))
        return _Weights(members=a, bias=b, free=w.reshape(-1, n_classes), own=v)

    def logits(self, weights: _Weights) -> Floats:
        """Return logits[g, k]."""
        logits = np.matmul(weights.members, self.members) + weights.bias + self.free @ weights.free
        return np.asarray(logits + np.outer(self.own @ weights.own, class_positions(logits.shape[1])))

    def fit(self, truth: Ints, *, start: _Weights | None = None) -> _Weights:
        """Return the most probable weights, given the gold."""
        from scipy.optimize import minimize

        n_members, n_classes = self.members.shape[1:]
        n_methods = n_members - self.has_consensus_member
        expected = np.full(n_members, MEMBER_WEIGHT / n_methods)
        precision = np.full(n_members, MEMBER_PRECISION)
        if self.has_consensus_member:
            expected[-1], precision[-1] = CONSENSUS_WEIGHT, CONSENSUS_PRECISION
        position, rows, one_hot = class_positions(n_classes), np.arange(len(truth)), np.eye(n_classes)[truth]

        def cost(theta: Floats) -> tuple[float, Floats]:
            """Return negative log posterior and its gradient."""
            weights = self.split(theta)
            log_q = _log_softmax(self.logits(weights))
            error = np.exp(log_q) - one_hot  # [g, k]
            off = weights.members - expected
            penalty = precision @ off**2 + BIAS_PRECISION * weights.bias @ weights.bias
            penalty += (weights.free**2).sum() + weights.own @ weights.own
            gradient = _Weights(
                members=np.einsum("gmk,gk->m", self.members, error) + precision * off,
                bias=error.sum(axis=0) + BIAS_PRECISION * weights.bias,
                free=self.free.T @ error + weights.free,
                own=self.own.T @ (error @ position) + weights.own,
            )
            return float(0.5 * penalty - log_q[rows, truth].sum()), gradient.flat()

        size = n_members + n_classes + self.free.shape[1] * n_classes + self.own.shape[1]
        first = np.concatenate([expected, np.zeros(size - n_members)]) if start is None else start.flat()
        found = minimize(cost, first, jac=True, method="L-BFGS-B", options={"maxiter": 200, "ftol": 1e-7, "gtol": 1e-4})
        return self.split(found.x)


def subtype_beliefs(labels: CrowdLabels, *, seed: int = 0) -> Beliefs:
    """Return q[i, k] of EBCC, whose classes have subtypes, so that annotators can make the same errors ([LRC19]).

    It is fitted to items with at most MAX_FITTED labels, and one E-step answers all items, so that its cost hardly
    grows with the labels. One start has no subtypes, which is Dawid-Skene's model, and one is random.

    Args:
        labels: The labels.
        seed: Random seed of the random start, and of the items fitted.
    """
    from crowdlogic.truth.ebcc import EBCC

    labelled = np.flatnonzero(labels.labels_per_unit() > 0)
    size = min(len(labelled), max(1, round(MAX_FITTED * len(labelled) / max(labels.n_labels, 1))))
    fitted = np.sort(np.random.default_rng(seed).choice(labelled, size, replace=False))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # EBCC is only one of several members
        fit = EBCC(restarts=1, seed=seed).fit_over(make_shards(labels.take_items(fitted), partial=True)).beliefs
    found: Beliefs = make_shards(labels, partial=True).concat(fit.step, fit.parameters)[Q]
    return found


def class_positions(n_classes: int) -> Floats:
    """Return position[k] of ordered classes, from -1 to 1; -1/2 and 1/2 for two."""
    return np.linspace(-1.0, 1.0, n_classes) * (0.5 if n_classes == 2 else 1.0)


def normal_scores(annotator: Ints, scores: Floats, n_annotators: int) -> Floats:
    """Return normal[n], the scores of each annotator as quantiles of a normal distribution ([BLOM58]).

    Equal scores of an annotator have their mean rank.
    """
    from scipy.special import ndtri

    given = np.bincount(annotator, minlength=n_annotators)
    table = pl.DataFrame({"annotator": annotator, "score": scores})
    rank = table.select(pl.col("score").rank("average").over("annotator")).to_series().to_numpy()
    normal = np.asarray(ndtri((rank - 0.5) / given[annotator]))
    # Mean zero and variance one per annotator; constant scores carry no information
    n = np.maximum(given, 1)
    normal -= (np.bincount(annotator, weights=normal, minlength=n_annotators) / n)[annotator]
    spread = np.sqrt(np.bincount(annotator, weights=normal**2, minlength=n_annotators) / n)
    return np.asarray(normal / np.maximum(spread, 1e-9)[annotator] * (spread > 1e-6)[annotator])


def one_factor(
    unit: Ints, annotator: Ints, normal: Floats, *, n_units: int, n_annotators: int, iterations: int = 20
) -> Floats:
    """Fit normal[n] = loading[j] factor[i] + noise by EM and return factor[i], with standard deviation one."""
    loading: Floats = np.full(n_annotators, 0.7)
    noise: Floats = np.full(n_annotators, 0.5)
    given = np.maximum(np.bincount(annotator, minlength=n_annotators), 1)
    square = np.bincount(annotator, weights=normal**2, minlength=n_annotators) / given
    mean: Floats = np.zeros(n_units)
    for _ in range(iterations):
        # E-step: factor[i] ~ N(mean[i], variance[i])
        information = np.bincount(unit, weights=(loading**2 / noise)[annotator], minlength=n_units)
        variance = 1.0 / (1.0 + information)
        mean = np.asarray(
            variance * np.bincount(unit, weights=(loading / noise)[annotator] * normal, minlength=n_units)
        )
        # M-step, one regression per annotator
        cross = np.bincount(annotator, weights=normal * mean[unit], minlength=n_annotators) / given
        second = np.bincount(annotator, weights=(mean**2 + variance)[unit], minlength=n_annotators) / given
        loading = np.asarray(cross / np.maximum(second, 1e-9))
        noise = np.asarray(np.clip(square - loading * cross, 0.1, 1.0))
    if loading @ given < 0:
        mean = -mean
    seen = np.bincount(unit, minlength=n_units) > 0
    spread = mean[seen].std() if seen.any() else 1.0
    return np.where(seen, mean, 0.0) / max(spread, 1e-9)


def _log_feature(q: Beliefs) -> Floats:
    """Return log q[i, k], bounded, centred over k, with a mean square length of one."""
    n_classes = q.shape[1]
    logs = np.log(q * (1.0 - FLOOR) + FLOOR / n_classes)
    logs -= logs.mean(axis=1, keepdims=True)
    return np.asarray(logs / max(np.sqrt(np.einsum("ik,ik->", logs, logs) / len(logs)), 1e-9))


def _reduce(rows: sparse.csr_matrix) -> tuple[Floats, Any]:
    """Return reduced[g, r] with the inner products of the sparse rows, and back[c, r] with rows @ back = reduced.

    The ridge penalty is equal for both, so the reduction is exact unless there are more than MAX_RANK directions.
    """
    n_rows, n_columns = rows.shape
    if n_columns <= min(n_rows, MAX_RANK):
        return rows.toarray(), sparse.identity(n_columns, format="csr")
    gram_of_columns = n_columns < n_rows
    if min(n_rows, n_columns) > 4 * MAX_RANK:
        from scipy.sparse.linalg import svds

        left, strength, right = (np.asarray(part, dtype=np.float64) for part in svds(rows, k=MAX_RANK, random_state=0))
        return left * strength, right.T
    gram = (rows.T @ rows if gram_of_columns else rows @ rows.T).toarray()
    size, vectors = np.linalg.eigh(gram)
    kept = np.flatnonzero(size > 1e-8 * max(size.max(initial=0.0), 1e-9))[-MAX_RANK:]
    back = vectors[:, kept] if gram_of_columns else rows.T @ (vectors[:, kept] / np.sqrt(size[kept]))
    return np.asarray(rows @ back), back


def _weights(log_likelihood: Floats) -> Floats:
    """Return weights of the candidates from their held-out log likelihoods."""
    return np.asarray(np.exp(_log_softmax(log_likelihood[None] / TEMPERATURE)[0]))


def _log_softmax(logits: Floats) -> Floats:
    shifted = logits - logits.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))
