"""Compute a verdict on each rule from labels that the rule did not influence.

One fit without any rules estimates the annotators. It is cross-fitted: the labels of an item are interpreted with
confusion matrices that were estimated without that item. A rule is then a one-parameter tilt of chance,

    theta[i, k] proportional to chance[k] * exp(-s * distance[i, k])

which is the projection ([LNCL] eq. 15) of chance with the strength s. The held-out log-likelihood of the labels, as a
function of s, measures how well the rule holds: s = 0 is chance, a positive s is the log odds by which the rule holds
more often than by chance, and a negative s means that it is contradicted. Chance is the class shares of the units that
the rule does not touch (for rules between units: of all units, taken as independent).

The likelihood is averaged over replicates of the fit in which items are weighted at random (the Bayesian bootstrap). A
weak crowd, whose confusion matrices are uncertain, therefore gets "cannot tell".

[LNCL] "Learning from Noisy Crowd Labels with Logics". [DS79] Dawid and Skene, 1979.
[AS15] Aronow, Samii and Assenova, "Cluster-robust variance estimation for dyadic data", 2015.
Axes: i unit, j annotator, k and m class, n given label, f fold, l rule, g observation, s strength of the tilt.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from crowdlogic.annotators.label_sums import find_labelling_functions, sum_evidence, tally
from crowdlogic.classifiers.linear import Linear
from crowdlogic.classifiers.protocol import build, derive_seed, fit_epoch, predict_texts, predict_units
from crowdlogic.data.blocks import Shards, make_shards
from crowdlogic.data.corpus import UNKNOWN, Corpus
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.wording import percent
from crowdlogic.numerics.arrays import Bools, Floats, Ints
from crowdlogic.numerics.logspace import normalise, safe_log
from crowdlogic.rules.audit import Outcome, RuleVerdict
from crowdlogic.rules.grounding import GroundRule, GroundRules
from crowdlogic.rules.potentials import Block, Predictions, distances, tabulate
from crowdlogic.truth.dependence import accuracy_of_agreement

FOLDS = 10
"""Number of folds of whole items."""
GRID = np.linspace(-8.0, 8.0, 129)
"""Strengths at which the likelihood of a tilt is computed."""
MARGIN = 0.8
"""Minimum change of the log odds of a rule's head, in either direction, for a rule that helps or contradicts."""
DECAY = 2.0
"""Mean of the exponential prior of log odds beyond the margin."""
NULL = 0.3
"""Standard deviation of the log odds of a rule without effect."""
MAX_REPLICATES, MAX_FUNCTION_REPLICATES, REPLICATED_LABELS = 12, 30, 1_000_000
"""Maximum number of replicates of the fit, in general and for labelling functions, and maximum number of labels in all
replicates together. With more labels, there are two replicates."""
SURE, SURE_OF_NO_EFFECT = 0.95, 0.85
"""Minimum posterior probability of an outcome; below it the verdict is "cannot tell"."""
CONCENTRATIONS = (4.0, 16.0, 64.0, 256.0)
"""Pseudo-counts that shrink an annotator's table to that of all annotators; the held-out likelihood chooses."""
FUNCTION_COUNTS = 8.0
"""Pseudo-counts that shrink the precision of one labelling function to the mean of all."""
MANY_UNITS = 20_000
"""Above this number of units the classifier that rules use is fitted twice instead of five times."""
CHUNK = 20_000
"""Number of observations whose likelihood is computed at a time."""
STEPS, REFITTED_STEPS, CHOOSING_STEPS = 60, 10, 15
"""Maximum number of EM steps: of a fit, of a fit started from another, and while the shrinkage is chosen."""
PRIOR_PAIRS, PRIOR_AGREEMENT = 20.0, 0.7
"""Pseudo-count of label pairs of two functions, and the share of them that agree."""
NEARLY_ALWAYS, NEARLY_NEVER = 0.9, 0.1
"""A rule that may hold more often than NEARLY_ALWAYS never gets "no effect", however frequent its class is; a rule that
certainly holds less often than NEARLY_NEVER contradicts the labels, however rare its class is."""
MIN_LOG = -30.0
"""Log evidence against a class that a gold label excludes."""
PSEUDO_UNITS = 10.0
"""Units added to the class shares that make up chance, evenly distributed."""


@dataclass(frozen=True, eq=False, kw_only=True)
class RuleFreeFit:
    """A cross-fitted fit without rules, which serves the verdicts on all rules.

    Attributes:
        labels: The labels.
        corpus: The items, aligned with the labels.
        fold: fold[i], the fold of each unit; units of one item are in the same.
        evidence: evidence[b, i, k], log p(labels of i | class k) in replicate b, under the tables estimated without the
            item's fold. Replicate 0 is the fit itself; the others weigh items at random (the Bayesian bootstrap), so
            that their spread is the uncertainty about the annotators.
        item_weight: weight[b, i], the weight of each unit's item in replicate b.
        beliefs: q[i, k], the posterior under the tables estimated from all items.
        gold: gold[i], the known class of a unit; UNKNOWN elsewhere.
        notices: Notices, such as a fit that collapsed.
        seed: Random seed.
        within: within[i], the units whose labels are used in verdicts; None for all.
    """

    labels: CrowdLabels
    corpus: Corpus
    fold: Ints
    evidence: NDArray[np.float32]
    item_weight: NDArray[np.float32]
    beliefs: Beliefs
    gold: Ints
    notices: tuple[str, ...] = ()
    seed: int = 0
    within: Bools | None = None

    @property
    def n_replicates(self) -> int:
        """Number of replicates, including the fit itself."""
        return len(self.evidence)

    @cached_property
    def informed(self) -> Bools:
        """informed[i], whether a unit has a label or gold."""
        known = (self.labels.labels_per_unit() > 0) | (self.gold != UNKNOWN)
        return np.asarray(known if self.within is None else known & self.within)

    @cached_property
    def class_shares(self) -> Floats:
        """Class shares share[b, k] of all units in each replicate."""
        weights = np.where(self.informed, self.item_weight, 0.0)
        return np.stack([_class_shares(found, weight) for found, weight in zip(self.likelihood, weights, strict=True)])

    @cached_property
    def likelihood(self) -> Floats:
        """likelihood[b, i, k], the exponential of the evidence, 1 at the likeliest class."""
        return np.exp(self.evidence)

    @cached_property
    def predictions(self) -> _CrossFittedAnswers:
        """One linear classifier per fold, trained on beliefs of the other folds; fitted on first use."""
        return _CrossFittedAnswers(self)


class _CrossFittedAnswers:
    """Predictions of a cross-fitted linear classifier for units and derived texts.

    Attributes:
        fold: fold[i], the classifier that was not trained on unit i.
    """

    def __init__(self, fit: RuleFreeFit) -> None:
        folds, epochs = (5, 5) if fit.labels.n_units <= MANY_UNITS else (2, 3)
        classes, self.fold = fit.labels.classes, fit.fold % folds
        # texts come before features: rules also ask about parts of a text
        corpus = fit.corpus if fit.corpus.texts is None else replace(fit.corpus, features=None)
        self._models = []
        for f in range(folds):
            model = build(Linear(), corpus, classes, seed=derive_seed(fit.seed, f"verdict fold {f}"))
            weights = (fit.informed & (self.fold != f)).astype(np.float64)
            for _ in range(epochs):
                fit_epoch(model, corpus, fit.beliefs, weights)
            self._models.append(model)
        self._corpus, self._n_classes = corpus, len(classes)

    def units(self) -> Beliefs:
        """Return p[i, k] of every unit from the classifier that was not trained on it."""
        p = np.stack([predict_units(model, self._corpus, n_classes=self._n_classes) for model in self._models])
        return np.asarray(p[self.fold, np.arange(len(self.fold))])

    def texts(self, texts: Sequence[str]) -> Floats:
        """Return p[f, n, k] of derived texts, by every classifier."""
        return np.stack([predict_texts(model, texts) for model in self._models])


def fit_without_rules(
    labels: CrowdLabels, corpus: Corpus, *, gold: Ints | None = None, folds: int = FOLDS, seed: int = 0
) -> RuleFreeFit:
    """Fit the annotators without rules, once for each held-out fold of items.

    Args:
        labels: The labels.
        corpus: The items, aligned with the labels (`data.corpus.align`).
        gold: gold[i], known classes; UNKNOWN (-1) elsewhere. None if there is no gold.
        folds: Number of folds.
        seed: Random seed of the folds.
    """
    known = np.full(labels.n_units, UNKNOWN, dtype=np.int32) if gold is None else np.asarray(gold, dtype=np.int32)
    n_items, item_of_unit = len(labels.items), labels.item_of_unit
    folds = max(2, min(folds, n_items))
    rng = np.random.default_rng(derive_seed(seed, "rule verdicts"))
    fold = rng.permutation(np.arange(n_items) % folds)[item_of_unit]
    abstaining = bool(find_labelling_functions(labels).any())
    crowd = _Crowd(labels, known, abstaining)
    everything = np.ones(labels.n_units)
    # Choose the shrinkage that maximises the likelihood of held-out labels; two folds are enough for this.
    kappa = 16.0
    if not abstaining:
        kappa = max(
            CONCENTRATIONS,
            key=lambda one: sum(
                crowd.held_out_likelihood(crowd.fit(one, fold != f, steps=CHOOSING_STEPS), fold == f) for f in range(2)
            ),
        )
    whole = crowd.fit(kappa, everything)
    # A class that many labels name may be lost because the tables are not identifiable. Then use one accuracy for all
    # annotators.
    notices: tuple[str, ...] = ()
    votes = crowd.votes.sum(axis=0) / max(crowd.votes.sum(), 1.0)
    q = crowd.posterior(whole)[crowd.votes.sum(axis=1) > 0]
    share = q.mean(axis=0) if len(q) else votes
    lost = np.flatnonzero((votes > 0.02) & (share < votes / 5))
    if len(lost):
        k = int(lost[0])
        notices = (
            f"The fit of the annotators collapsed: {percent(float(votes[k]))} of the labels are "
            f"{str(labels.classes[k])!r}, but the fit assigns this class to {percent(float(share[k]))}. The rules are "
            f"judged with one accuracy for all annotators instead.",
        )
        kappa, whole = math.inf, crowd.pooled_accuracy(everything)
    most = MAX_FUNCTION_REPLICATES if abstaining else MAX_REPLICATES
    replicates = int(np.clip(REPLICATED_LABELS // max(labels.n_labels, 1), 2, most))
    evidence = np.empty((replicates, labels.n_units, labels.n_classes), dtype=np.float32)
    weight = np.ones((replicates, labels.n_units), dtype=np.float32)
    for b in range(replicates):
        if b:
            weight[b] = rng.exponential(size=n_items)[item_of_unit]
        seed_of_replicate = int(rng.integers(1 << 32))  # same precisions drawn in all folds
        for f in range(folds if b == 0 else max(2, folds // 2)):
            left_out = fold == f if b == 0 else fold % max(2, folds // 2) == f
            kept = np.where(left_out, 0.0, weight[b])
            draw = np.random.default_rng(seed_of_replicate) if b else None
            made = crowd.pooled_accuracy(kept) if math.isinf(kappa) else crowd.fit(kappa, kept, start=whole, rng=draw)
            evidence[b, left_out] = crowd.evidence(made.log_table)[left_out]
    return RuleFreeFit(
        labels=labels,
        corpus=corpus,
        fold=fold,
        evidence=evidence,
        item_weight=weight,
        beliefs=crowd.posterior(whole),
        gold=known,
        notices=notices,
        seed=seed,
    )


@dataclass(frozen=True, eq=False)
class _Tables:
    """Parameters log_table[j, n, m] = log p(j says n | the truth is m), and the class shares prior[m]."""

    log_table: Floats
    prior: Floats


@dataclass(frozen=True, eq=False)
class _Crowd:
    """Labels and gold, with the EM steps over them ([DS79]; tables shrink to that of all annotators).

    Attributes:
        labels: The labels.
        gold: gold[i], UNKNOWN if unknown.
        abstaining: Whether the labels come from labelling functions.
    """

    labels: CrowdLabels
    gold: Ints
    abstaining: bool

    @cached_property
    def whole(self) -> CrowdLabels:
        """The labels that name a class, without partial labels ("not n")."""
        return self.labels if self.labels.negated is None else self.labels.take(~self.labels.negated)

    @cached_property
    def shards(self) -> tuple[Shards, Shards]:
        """All labels, and those that name a class, in the form that sums over labels use."""
        return make_shards(self.labels, partial=True), make_shards(self.whole)

    @cached_property
    def votes(self) -> Floats:
        """Votes votes[i, k] by labels that name a class."""
        return self.whole.votes()

    @cached_property
    def labelled(self) -> Bools:
        """labelled[i], whether a unit has a label that names a class, or gold."""
        return np.asarray((self.votes.sum(axis=1) > 0) | (self.gold != UNKNOWN))

    @cached_property
    def vote_shares(self) -> Beliefs:
        """Smoothed vote shares q[i, k], the first beliefs; gold is certain."""
        smoothed = self.votes + 0.1 / self.labels.n_classes
        q: Beliefs = smoothed / smoothed.sum(axis=1, keepdims=True)
        known = np.flatnonzero(self.gold != UNKNOWN)
        q[known] = np.eye(self.labels.n_classes)[self.gold[known]]
        return q

    def log_likelihood(self, log_table: Floats) -> Floats:
        """Return log[i, m], the log-likelihood of the labels of each unit."""
        return sum_evidence(self.shards[0], log_table)

    def evidence(self, log_table: Floats) -> Floats:
        """Return evidence[i, m], equal up to a constant per unit; gold excludes all other classes."""
        found = self.log_likelihood(log_table)
        found -= found.max(axis=1, keepdims=True)
        known = np.flatnonzero(self.gold != UNKNOWN)
        found[known] = MIN_LOG
        found[known, self.gold[known]] = 0.0
        return found

    def posterior(self, tables: _Tables) -> Beliefs:
        """Return q[i, m]."""
        return normalise(self.evidence(tables.log_table) + safe_log(tables.prior))[0]

    def held_out_likelihood(self, tables: _Tables, units: Bools) -> float:
        """Return the log-likelihood of the labels of some units."""
        raw = self.log_likelihood(tables.log_table)
        return float(normalise(raw[units] + safe_log(tables.prior))[1].sum())

    def class_shares(self, q: Beliefs, kept: Floats) -> Floats:
        """Return the class shares of the labelled units according to beliefs, weighted by kept[i]."""
        share = (kept * self.labelled) @ q + 1.0
        return np.asarray(share / share.sum())

    def m_step(self, q: Beliefs, kept: Floats, kappa: float) -> _Tables:
        """Return tables and class shares estimated from beliefs of the units that are kept."""
        size = self.labels.n_classes
        # counts[j, n, m], the expected number of labels n that j gave to units of class m
        counts = tally(self.shards[1], q * kept[:, None]).counts
        # Pseudo-counts of right labels for every class give an annotator's labels a meaning before it is learned.
        pooled = counts.sum(axis=0) + 0.1 + np.eye(size) * 2.0  # [n, m]
        table = counts + kappa * pooled / pooled.sum(axis=0)
        return _Tables(np.log(table / table.sum(axis=1, keepdims=True)), self.class_shares(q, kept))

    def fit(
        self,
        kappa: float,
        kept: Floats | Bools,
        *,
        start: _Tables | None = None,
        steps: int = STEPS,
        rng: np.random.Generator | None = None,
    ) -> _Tables:
        """Run EM over the units that are kept, until no belief changes by more than a thousandth."""
        kept = np.asarray(kept, dtype=np.float64)
        if self.abstaining:
            return self.fit_functions(kept, rng)
        q = self.vote_shares if start is None else self.posterior(start)
        for _ in range(steps if start is None else REFITTED_STEPS):
            tables = self.m_step(q, kept, kappa)
            before, q = q, self.posterior(tables)
            if np.abs(q - before).max(initial=0.0) < 1e-3:
                break
        return self.m_step(q, kept, kappa)

    def fit_functions(self, kept: Floats, rng: np.random.Generator | None = None) -> _Tables:
        """Return tables for labelling functions, with a common precision that gold may change for single functions.

        EM would not work: functions often agree because they look for similar things, so the agreement of a function
        with others does not show its precision. Therefore each replicate draws every precision from a beta distribution
        around the mean. A vote of function j for n then means p(truth = n) = precision[j].
        """
        labels, votes, size, n_annotators = self.labels, self.votes, self.labels.n_classes, len(self.labels.annotators)
        prior = self.class_shares(self.vote_shares, kept)
        n, agree = votes.sum(axis=1), (votes * (votes - 1)).sum(axis=1)
        chance = 1.0 / size
        rate = (kept @ agree + PRIOR_PAIRS * PRIOR_AGREEMENT) / (kept @ (n * (n - 1)) + PRIOR_PAIRS)
        mean = min(max(accuracy_of_agreement(rate, size), chance + 0.15), 0.95)
        gold = self.gold[labels.unit]
        weight = np.where(gold != UNKNOWN, labels.weights * kept[labels.unit], 0.0)
        right = np.bincount(labels.annotator, weights=weight * (labels.label == gold), minlength=n_annotators)
        wrong = np.bincount(labels.annotator, weights=weight, minlength=n_annotators) - right
        alpha, beta = FUNCTION_COUNTS * mean + right, FUNCTION_COUNTS * (1 - mean) + wrong
        precision = np.clip(alpha / (alpha + beta) if rng is None else rng.beta(alpha, beta), 0.02, 0.98)
        table = np.empty((n_annotators, size, size))
        table[:] = ((1 - precision)[:, None] / (1 - prior)[None, :])[:, :, None]
        table[:, np.arange(size), np.arange(size)] = precision[:, None] / prior[None, :]
        return _Tables(np.log(table), prior)

    def pooled_accuracy(self, kept: Floats) -> _Tables:
        """Return one accuracy for all annotators, estimated from how often two labels of a unit agree."""
        votes, size = self.votes, self.labels.n_classes
        n = votes.sum(axis=1)
        pairs = float(kept @ (n * (n - 1)))
        share = kept @ votes + 1.0
        agree = float(kept @ (votes * (votes - 1)).sum(axis=1)) / pairs if pairs > 0 else 1.0
        accuracy = min(max(accuracy_of_agreement(agree, size), 1.0 / size + 0.05), 0.95)
        table = np.full((size, size), (1 - accuracy) / max(size - 1, 1))
        np.fill_diagonal(table, accuracy)
        return _Tables(np.log(np.tile(table, (len(self.labels.annotators), 1, 1))), share / share.sum())


@dataclass(frozen=True, eq=False)
class _Observations:
    """Observations of one rule in the labels.

    For each distinct unit (or pair of units) g, t runs over its labellings: distance[g, t], chance[g, t] and
    evidence[g, t], so that the log-likelihood of a tilt is the log of a weighted sum over t.
    """

    first: Ints
    second: Ints
    distance: Floats
    log_chance: Floats
    evidence: Floats

    def take(self, rows: Bools) -> _Observations:
        """Return a subset of the observations."""
        return _Observations(
            self.first[rows], self.second[rows], self.distance[rows], self.log_chance[rows], self.evidence[rows]
        )

    @cached_property
    def violation(self) -> tuple[Floats, Floats] | None:
        """Probabilities of a violation, before[g] without and after[g] with labels; None if distances vary."""
        if not ((self.distance == 0.0) | (self.distance == 1.0)).all():
            return None
        before = (normalise(self.log_chance)[0] * self.distance).sum(axis=1)
        after = (normalise(self.log_chance + self.evidence)[0] * self.distance).sum(axis=1)
        return np.minimum(before, 1.0), np.minimum(after, 1.0)

    def expected_violations(self, log_weight: Floats) -> float:
        """Return the expected number of violations if labellings have the weights exp(log_weight[g, t])."""
        return float((normalise(log_weight)[0] * np.minimum(self.distance, 1.0)).sum())

    def log_likelihood(self, strengths: Floats) -> Floats:
        """Return found[g, s], the log-likelihood of the labels under the tilt, relative to chance."""
        if self.violation is not None:
            return crisp_log_likelihood(*self.violation, strengths)
        found = np.empty((len(self.first), len(strengths)))
        likely, chance = normalise(self.log_chance + self.evidence)[0], normalise(self.log_chance)[0]
        for column, s in enumerate(strengths):
            tilt = np.exp(-s * self.distance)
            found[:, column] = np.log((likely * tilt).sum(axis=1)) - np.log((chance * tilt).sum(axis=1))
        return found

    def curve(self) -> Floats:
        """Return curve[s], the sum of the log-likelihood over all observations, on GRID."""
        if self.violation is None:
            return np.asarray(self.log_likelihood(GRID).sum(axis=0))
        # Many units have the same labels, so few pairs of probabilities are distinct.
        code = np.round(np.stack(self.violation, axis=1), 6)
        distinct, count = np.unique(code[:, 0] * 1e7 + code[:, 1], return_counts=True, return_index=True)[1:]
        before, after = (column[distinct] for column in self.violation)
        total = np.zeros(len(GRID))
        for begin in range(0, len(distinct), CHUNK):
            some = slice(begin, begin + CHUNK)
            total += count[some] @ crisp_log_likelihood(before[some], after[some], GRID)
        return total


def crisp_log_likelihood(before: Floats, after: Floats, strengths: Floats) -> Floats:
    """Return found[g, s] from the probabilities of a violation without and with the labels."""
    factor = np.exp(-strengths)[None, :]
    before, after = before[:, None], after[:, None]
    return np.asarray(np.log((1 - after) + after * factor) - np.log((1 - before) + before * factor))


def _observe(
    rule: GroundRule, fit: RuleFreeFit, predictions: Predictions, *, replicate: int = 0, gold_only: bool = False
) -> list[_Observations]:
    """Return the observations of a rule on the units that are kept.

    Args:
        rule: The rule, grounded.
        fit: The fit without rules.
        predictions: Predictions of the cross-fitted classifier, for rules that use them.
        replicate: Replicate of the fit that interprets the labels.
        gold_only: Whether only units with gold count, including for chance.
    """
    evidence, weight = fit.evidence[replicate].astype(np.float64), fit.item_weight[replicate]
    size = evidence.shape[1]
    touched = np.zeros(len(evidence), dtype=bool)
    touched[rule.units] = True
    informed = fit.informed & (fit.gold != UNKNOWN) if gold_only else fit.informed
    start = (
        _class_shares(fit.likelihood[replicate], np.where(informed, weight, 0.0))
        if gold_only
        else fit.class_shares[replicate]
    )
    parts: list[_Observations] = []
    single = [block for block in rule.blocks if block.second is None]
    if single:
        # The groundings of the rule at one unit add up, as in the projection.
        distance = np.zeros((len(evidence), size))
        for block in single:
            rows = distances(block, predictions).by_row()
            rows = np.broadcast_to(rows, (len(block.first), size)) if len(rows) != len(block.first) else rows
            np.add.at(distance, block.first, rows)
        units = np.unique(np.concatenate([block.first for block in single]))
        units = units[informed[units]]
        chance = np.log(_class_shares(fit.likelihood[replicate], np.where(informed & ~touched, weight, 0.0), start))
        parts.append(_Observations(units, units, distance[units], np.tile(chance, (len(units), 1)), evidence[units]))
    double = [block for block in rule.blocks if block.second is not None]
    if double:
        chance = np.log(start)
        joint = (chance[:, None] + chance[None, :]).reshape(1, -1)
        for block in double:
            parts += _observe_pairs(block, evidence, predictions, informed, joint)
    return parts


def _observe_pairs(
    block: Block, evidence: Floats, predictions: Predictions, informed: Bools, joint: Floats
) -> list[_Observations]:
    second = np.asarray(block.second)
    found = distances(block, predictions)
    rows = np.flatnonzero(informed[block.first] & informed[second])
    parts = []
    step = max(1, 4_000_000 // joint.shape[1])
    for begin in range(0, len(rows), step):
        some = rows[begin : begin + step]
        first, other = block.first[some], second[some]
        if found.which is None and np.isin(found.table[0], (0.0, 1.0)).all():
            # Only the probability of a violation matters: q' T q.
            size = evidence.shape[1]
            violated, share = found.table[0].reshape(size, size), np.exp(joint[0])
            log_chance = np.log(normalise(joint)[0].reshape(size, size).sum(axis=1))
            ours, theirs = (normalise(evidence[units] + log_chance)[0] for units in (first, other))
            after = np.clip(((ours @ violated) * theirs).sum(axis=1), 1e-12, 1 - 1e-12)
            before = min(max(float(share @ violated.ravel()), 1e-12), 1 - 1e-12)
            log_chance = np.tile(np.log([1 - before, before]), (len(some), 1))
            likely = np.log(np.stack([1 - after, after], axis=1))
            distance = np.tile([0.0, 1.0], (len(some), 1))
            parts.append(_Observations(first, other, distance, log_chance, likely - log_chance))
            continue
        both = (evidence[first][:, :, None] + evidence[other][:, None, :]).reshape(len(some), -1)
        table = np.broadcast_to(found.table[0], both.shape) if found.which is None else found.table[found.which[some]]
        parts.append(_Observations(first, other, table, np.broadcast_to(joint, both.shape), both))
    return parts


def _class_shares(likelihood: Floats, weight: Floats, start: Floats | None = None) -> Floats:
    """Return the class shares of weighted units by their labels alone (EM), smoothed with a few uniform units.

    Args:
        likelihood: likelihood[i, k] of the labels of a unit if it is of class k.
        weight: weight[i]; 0 leaves a unit out.
        start: The shares to start from; default uniform.
    """
    size, total = likelihood.shape[1], float(weight.sum())
    share = np.full(size, 1.0 / size) if start is None else start
    for _ in range(50 if total else 0):
        # expected[k] = sum over i of weight[i] q[i, k], with q proportional to likelihood * share
        expected = share * ((weight / (likelihood @ share)) @ likelihood)
        before, share = share, (expected + PSEUDO_UNITS / size) / (total + PSEUDO_UNITS)
        if np.abs(share - before).max() < 1e-4:
            break
    return share


def judge_rules(
    ground: GroundRules, fit: RuleFreeFit, *, strength: float = 5.0, within: Bools | None = None
) -> tuple[RuleVerdict, ...]:
    """Return the verdict on every rule separately, from labels that the fit did not use.

    Args:
        ground: The rules, grounded over the corpus of the fit.
        fit: The fit without rules.
        strength: Strength of the rules (C) at which their weights are judged.
        within: within[i], the units whose labels are used; None for all.
    """
    if within is not None:
        fit = replace(fit, within=within)
    corpus = fit.corpus
    has_text = corpus.texts is not None or corpus.tokens is not None
    can_answer = has_text or (corpus.features is not None and not ground.texts)
    units = fit.predictions.units() if ground.asks_units and can_answer else None
    texts = fit.predictions.texts(ground.texts) if ground.texts and can_answer else None
    return tuple(
        _judge(rule, fit, strength, units, texts, answered=can_answer or rule.is_static) for rule in ground.rules
    )


def _judge(
    rule: GroundRule,
    fit: RuleFreeFit,
    strength: float,
    units: Beliefs | None,
    texts: Floats | None,
    *,
    answered: bool,
) -> RuleVerdict:
    answers = Predictions(units=units, texts=None if texts is None else texts.mean(axis=0))
    if not answered:  # no classifier can be fitted to evaluate the rule
        rule = GroundRule(rule.rule, ())
    # observed[b], evaluated with predictions of classifiers that were not trained on the item
    observed = []
    for b in range(fit.n_replicates):
        if texts is None:
            observed.append(_observe(rule, fit, Predictions(units=units), replicate=b))
            continue
        fold = fit.predictions.fold
        observed.append(
            [
                part.take(fold[part.first] == f)
                for f in range(len(texts))
                for part in _observe(rule, fit, Predictions(units=units, texts=texts[f]), replicate=b)
            ]
        )
    held_out = observed[0]
    curves = np.stack([_curve(parts) for parts in observed])  # [b, s]
    # The strength with the highest likelihood, refined by a parabola
    at, step = int(curves[0].argmax()), float(GRID[1] - GRID[0])
    best = float(GRID[at])
    if 0 < at < len(GRID) - 1:
        left, middle, right = curves[0, at - 1 : at + 2]
        bend = left - 2 * middle + right
        best += step * (0.5 * (left - right) / bend if bend < 0 else 0.0)
    curves /= _design_effect(held_out, fit, best)
    gold_parts = [part for part in _observe(rule, fit, answers, gold_only=True) if len(part.first)]
    gold_cases, gold_holds = sum(len(part.first) for part in gold_parts), math.nan
    outcome, by_gold = _outcome(curves), False
    if gold_cases:
        violated = sum(part.expected_violations(part.log_chance + part.evidence) for part in gold_parts)
        gold_holds = 1.0 - violated / gold_cases
        by_gold_alone = _outcome(_curve(gold_parts)[None, :])
        if by_gold_alone is not Outcome.cannot_tell:
            outcome, by_gold = by_gold_alone, True
    lift, error, low, high = _summary(curves)
    chance, holds_at = _hold_rates(rule, held_out, answers, fit.class_shares[0])
    if outcome is Outcome.no_effect and holds_at(high) > NEARLY_ALWAYS:
        outcome = Outcome.cannot_tell
    elif outcome is Outcome.no_effect and holds_at(high) < NEARLY_NEVER:
        outcome = Outcome.contradicts
    weight = new = rule.rule.weight
    gain, gain_error = _gain(held_out, fit, 8.0 if weight is None else strength * weight)
    if weight is not None and strength and not rule.rule.insisted:
        if outcome is Outcome.contradicts:
            new = 0.0
        elif gain < -gain_error or outcome is Outcome.no_effect:
            new = min(weight, max(0.0, lift) / strength)
    return RuleVerdict(
        rule=str(rule.rule),
        place=str(rule.rule.place),
        weight=weight,
        new_weight=new,
        groundings=rule.count,
        units=len(rule.units),
        coverage=len(rule.units) / max(len(fit.fold), 1),
        informed=sum(len(part.first) for part in held_out),
        holds=holds_at(lift),
        low=holds_at(low),
        high=holds_at(high),
        chance=chance,
        lift=lift,
        lift_error=error,
        best_gain=float(curves[0].max() - curves[0][len(GRID) // 2]),
        gain=gain,
        gain_error=gain_error,
        gold_cases=gold_cases,
        gold_holds=gold_holds,
        by_gold=by_gold,
        outcome=outcome,
    )


def _curve(parts: Sequence[_Observations]) -> Floats:
    """Return curve[s], the log-likelihood of the labels under the tilt, relative to chance."""
    return np.sum([part.curve() for part in parts], axis=0) if parts else np.zeros(len(GRID))


def _design_effect(parts: Sequence[_Observations], fit: RuleFreeFit, strength: float) -> float:
    """Return the factor by which sharing items increases the variance of observations ([AS15]); at least 1."""
    item, step = fit.labels.item_of_unit, 0.05
    by_item, by_pair, squares = np.zeros(len(fit.labels.items)), 0.0, 0.0
    for part in parts:
        if not len(part.first):
            continue
        pair = part.log_likelihood(np.array([strength - step, strength + step]))
        score = (pair[:, 1] - pair[:, 0]) / (2 * step)
        score -= score.mean()
        first, second = item[part.first], item[part.second]
        by_item += np.bincount(first, weights=score, minlength=len(by_item))
        across = first != second
        by_item += np.bincount(second[across], weights=score[across], minlength=len(by_item))
        by_pair += float((score[across] ** 2).sum())
        squares += float((score**2).sum())
    return max(1.0, (float((by_item**2).sum()) - by_pair) / squares) if squares > 1e-12 else 1.0


def _gain(parts: Sequence[_Observations], fit: RuleFreeFit, given: float) -> tuple[float, float]:
    """Return the gain of a rule at a strength, and its standard error from item-wise differences."""
    item = fit.labels.item_of_unit
    total = np.zeros(len(fit.labels.items))
    seen = np.zeros(len(total), dtype=bool)
    for part in parts:
        difference = part.log_likelihood(np.array([given]))[:, 0]
        for units in (part.first, part.second):  # half to each item of a pair
            total += 0.5 * np.bincount(item[units], weights=difference, minlength=len(total))
            seen[item[units]] = True
    n = int(seen.sum())
    if n < 2:
        return float(total.sum()), math.nan
    return float(total.sum()), math.sqrt(n * float(total[seen].var(ddof=1)))


def _hold_rates(
    rule: GroundRule, parts: Sequence[_Observations], answers: Predictions, share: Floats
) -> tuple[float, Callable[[float], float]]:
    """Return how often the rule holds by chance if it applies, and a function that returns this rate for a lift."""
    cases = sum(len(part.first) for part in parts)
    if not cases:
        return math.nan, lambda lift: math.nan  # noqa: ARG005
    # The rate at which its body holds by chance is below 1 if labels appear in the body.
    bodies, rows = 0.0, 0
    for block in rule.blocks:
        truth = tabulate(block.applies, answers).table.mean(axis=0)
        joint = share if block.second is None else np.outer(share, share).ravel()
        bodies, rows = bodies + len(block.first) * min(float(truth @ joint), 1.0), rows + len(block.first)
    body = bodies / max(rows, 1)

    by_chance = min(sum(part.expected_violations(part.log_chance) for part in parts) / cases, body)

    def holds(lift: float) -> float:
        if body > 0.999:
            return 1.0 - sum(part.expected_violations(part.log_chance - lift * part.distance) for part in parts) / cases
        # Violations are down-weighted by exp(-lift); other labellings that satisfy the body are not.
        kept = max(body - by_chance, 1e-12)
        return kept / (kept + by_chance * math.exp(-lift))

    return holds(0.0), holds


def _outcome(curves: Floats) -> Outcome:
    """Return the outcome whose posterior probability is at least SURE, otherwise "cannot tell".

    The probability is averaged over replicates, each normalised, because annotators are estimated from all items and
    should not be chosen to explain the few items to which one rule applies.

    Args:
        curves: curve[b, s], the log-likelihood in each replicate.
    """
    beyond = np.where(np.abs(GRID) >= MARGIN, np.exp(-(np.abs(GRID) - MARGIN) / DECAY), 0.0)
    priors = {
        Outcome.helps: np.where(GRID > 0, beyond, 0.0),
        Outcome.no_effect: np.exp(-0.5 * (GRID / NULL) ** 2),
        Outcome.contradicts: np.where(GRID < 0, beyond, 0.0),
    }
    likely = np.exp(curves - curves.max(axis=1, keepdims=True))
    mass = np.stack([likely @ (prior / prior.sum()) for prior in priors.values()])  # [outcome, b]
    probability = (mass / mass.sum(axis=0)).mean(axis=1)
    best = list(priors)[int(probability.argmax())]
    sure = SURE_OF_NO_EFFECT if best is Outcome.no_effect else SURE
    return best if probability.max() >= sure else Outcome.cannot_tell


def _summary(curves: Floats) -> tuple[float, float, float, float]:
    """Return mean, standard deviation and 95 % interval of the lift under a prior that is flat near zero and decays."""
    p = np.exp(curves - curves.max(axis=1, keepdims=True)) * np.exp(-np.maximum(np.abs(GRID) - 4.0, 0.0))
    p = (p / p.sum(axis=1, keepdims=True)).mean(axis=0)
    mean = float(p @ GRID)
    reached = p.cumsum()
    low, high = (float(GRID[min(int(np.searchsorted(reached, q)), len(GRID) - 1)]) for q in (0.025, 0.975))
    return mean, math.sqrt(max(float(p @ (GRID - mean) ** 2), 1e-8)), low, high
