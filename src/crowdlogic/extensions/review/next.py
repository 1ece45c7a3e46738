"""The labels that `next` recommends to buy: which items, whom to ask, the expected gain, and when to stop.

Items are chosen by the gain of their next label by a typical annotator (`marginal_gains`). An item is only repeated
within a batch if half of the gain of its second label exceeds the gain of the first label of any other item, so that a
batch is spread over the doubtful items. Each label is assigned to the annotator with the highest mutual information
between the label and the truth of the item, but nobody gets an item twice or more than a fair share. The gain of the
batch is then predicted for the chosen annotators (`forecast_view`).

Axes: i unit, j annotator, k class, p label to buy, s item.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import combinations_with_replacement
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.annotators.label_sums import check_size, sum_evidence, tally
from crowdlogic.confidence.annotator_verdicts import askable, judge_annotators
from crowdlogic.confidence.calibration import independent_beliefs, infer_calibrated
from crowdlogic.data.blocks import make_shards
from crowdlogic.data.character_spans import texts_and_bounds
from crowdlogic.data.corpus import Corpus, Question
from crowdlogic.data.estimate import Beliefs, Estimate
from crowdlogic.data.files import STANDARD_STREAM, write_bytes
from crowdlogic.data.labels import CrowdLabels, find_codes
from crowdlogic.data.names import as_text, find
from crowdlogic.data.reading import write_table
from crowdlogic.data.wording import approximate, list_names, pluralise
from crowdlogic.errors import OptionError
from crowdlogic.numerics.arrays import Bools, Floats, Ints, sum_by
from crowdlogic.numerics.logspace import design_effect, normalise, safe_log, temper
from crowdlogic.registry import TRUTH_METHODS
from crowdlogic.store.files import is_run
from crowdlogic.store.runs import read_run
from crowdlogic.truth.dependence import MIN_BELIEF, SHARED_CORRELATION, label_sharpness
from crowdlogic.workflows.aggregate import (
    collect_warnings,
    configured_method,
    parse_dependence,
    suggest_method,
)
from crowdlogic.workflows.inputs import InputOptions, ResultTable, answer_format, check_outputs, check_writable

PRIOR_LABELS = 4.0
"""Number of labels of a typical annotator added to those of every annotator, per class."""

DEFAULT_LOAD = 3.0
"""Default maximum share of a batch per annotator, as a multiple of their share of the labels so far."""

SHARED_DOUBT = 0.75
"""Share of the calibrated doubt that applies to further labels as well: 1 for all of it, 0 if labels were independent.
Part of the doubt is about items that all annotators get wrong, which does not affect other items
(docs/decisions/0037)."""

MIN_PROBABILITY = 1e-3
"""Minimum probability of a label, since nobody is infallible."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Skills:
    """Estimated reliability and availability of the annotators.

    Attributes:
        confusion: confusion[j, m, n] of every annotator.
        typical: typical[m, n], an annotator with the average information of a purchased label.
        activity: activity[j], the share of the labels so far; the shares sum to one.
        share: share[j], the maximum share of a batch for annotator j; 0 if not available.
        information: information[j], the information of a label of j about an unlabelled item, in nats.
        prior: prior[m], the share of each class.
        correlation: Correlation between labels of an item.
        shared: Share of the calibrated doubt that applies to further labels as well, from 0 to 1.
    """

    confusion: Floats
    typical: Floats
    activity: Floats
    share: Floats
    information: Floats
    prior: Floats
    correlation: float
    shared: float = SHARED_DOUBT


def annotator_skills(
    labels: CrowdLabels, estimate: Estimate, *, available: Bools | None = None, load: float = DEFAULT_LOAD
) -> Skills:
    """Estimate the annotators' skills from the labels and an estimate of the truth.

    Annotators with few labels are shrunk towards a typical annotator by `PRIOR_LABELS` labels per class.

    Args:
        labels: The labels.
        estimate: Current estimate of the truth.
        available: available[j], whether annotator j can be asked; None for everybody who gave a label.
        load: Maximum share of a batch per annotator, as a multiple of their share of the labels so far.
    """
    if load <= 0:
        raise OptionError(f"The load must be greater than 0, got {load:g}.")
    check_size("The plan", len(labels.annotators), labels.n_classes)
    counts = tally(make_shards(labels, partial=True), estimate.beliefs).counts.transpose(0, 2, 1)  # [j, m, n]
    given = counts.sum(axis=2, keepdims=True)  # [j, m, 1]
    own = counts / np.maximum(given, MIN_PROBABILITY) if estimate.confusion is None else estimate.confusion
    mean = (own * given).sum(axis=0) + np.eye(labels.n_classes)
    mean /= mean.sum(axis=1, keepdims=True)
    confusion = (own * given + PRIOR_LABELS * mean) / (given + PRIOR_LABELS)
    confusion = (1.0 - labels.n_classes * MIN_PROBABILITY) * confusion + MIN_PROBABILITY
    prior = estimate.beliefs.mean(axis=0) if len(estimate.beliefs) else np.full(labels.n_classes, 1.0)
    each = labels.labels_per_annotator() / max(labels.n_labels, 1)
    information = mutual_information(confusion, prior)
    share = np.where(each > 0 if available is None else available, load * each, 0.0)
    return Skills(
        confusion=confusion,
        typical=typical_annotator(confusion, prior, fill_shares(information, share)),
        activity=each,
        share=share,
        information=information,
        prior=prior,
        correlation=0.0 if estimate.calibration is None else estimate.calibration.correlation,
    )


def mutual_information(confusion: Floats, prior: Floats) -> Floats:
    """Return information[j] in nats between the truth and a label, from confusion[j, m, n] and prior[m]."""
    joint = prior[:, None] * confusion
    marginal = joint.sum(axis=1, keepdims=True)
    ratio = safe_log(confusion) - safe_log(marginal)
    return np.asarray(np.where(joint > 0, joint * ratio, 0.0).sum(axis=(1, 2)))


def fill_shares(information: Floats, share: Floats) -> Floats:
    """Return weight[j], annotator j's part of the work if it is given to the most informative annotators first."""
    order = np.argsort(-information, kind="stable")
    before = np.concatenate([[0.0], np.cumsum(share[order])[:-1]]) if len(order) else share
    weight = np.zeros(len(share))
    weight[order] = np.clip(1.0 - before, 0.0, share[order])
    return weight


def typical_annotator(confusion: Floats, prior: Floats, activity: Floats) -> Floats:
    """Return typical[m, n]: the mean matrix weighted by activity[j], sharpened to the average information of a label.

    A mean over annotators is less informative than its parts, because it ignores who gave a label.
    """
    if activity.sum() <= 0:
        return np.full((len(prior), len(prior)), 1.0 / max(len(prior), 1))
    activity = activity / activity.sum()
    mean = np.einsum("j,jmn->mn", activity, confusion)
    wanted = float(activity @ mutual_information(confusion, prior))
    low, high = 1.0, 8.0
    for _ in range(30):
        middle = 0.5 * (low + high)
        reached = float(mutual_information(temper(mean, middle)[None], prior)[0])
        low, high = (middle, high) if reached < wanted else (low, middle)
    return temper(mean, low)


def added_sharpness(n: Floats | float, skills: Skills, added: int = 1) -> Floats:
    """Return the weight of a label among n labels and `added` more: 1 if labels are independent."""
    return np.asarray(design_effect(np.asarray(n, dtype=np.float64) + added, skills.correlation) ** -skills.shared)


# Gain of further labels: the increase of the expected accuracy. With the current beliefs q[i, k],
#
# expected accuracy after further labels = sum over their outcomes of max_k q[i, k] p(outcome | k).
#
# Labels of a typical annotator are exchangeable, so only their counts are enumerated. A single label often cannot
# change an answer although two can, so a unit is rated by the best mean gain per label over one to several labels (the
# concave hull), the remedy of [FRAZIER10]; this also makes each further label worth less.
#
# [FRAZIER10] Frazier and Powell, "Paradoxes in learning and the marginal value of information", 2010.
# Axes: i unit, k class, d number of further labels, c outcome (the count of each class).

MAX_OUTCOMES = 300
"""Maximum number of outcomes enumerated, which limits the look-ahead."""
MAX_DEPTH = 9
"""Maximum number of labels of the look-ahead."""
CHUNK = 20_000
"""Number of units computed at a time."""


def marginal_gains(q: Floats, n: Ints, skills: Skills) -> Floats:
    """Return gain[i, d], the expected gain in accuracy of unit i by the d-th further typical label.

    The gains of a unit never increase with d.

    Args:
        q: q[i, k], the current beliefs.
        n: n[i], the number of labels of each unit.
        skills: Skills of the annotators.
    """
    return concave_gains(expected_accuracy_after(q, n, skills))


def expected_accuracy_after(q: Floats, n: Ints, skills: Skills) -> Floats:
    """Return accuracy[i, d], the expected accuracy of unit i after d = 0, 1, ... further labels."""
    depth = look_ahead(q.shape[1])
    accuracy = np.empty((len(q), depth + 1))
    accuracy[:, 0] = q.max(axis=1, initial=0.0)
    for labels in np.unique(n):
        units = np.flatnonzero(n == labels)
        for d in range(1, depth + 1):
            outcome = outcome_probabilities(skills, int(labels), d)  # [c, k]
            for chunk in np.array_split(units, max(len(units) // CHUNK, 1)):
                # The sum over c of max_k q[i, k] outcome[c, k], class by class to save memory
                best = q[chunk, None, 0] * outcome[None, :, 0]
                for k in range(1, q.shape[1]):
                    np.maximum(best, q[chunk, None, k] * outcome[None, :, k], out=best)
                accuracy[chunk, d] = best.sum(axis=1)
    # More labels never decrease the accuracy, but with correlation the sharpness varies with d
    return np.maximum.accumulate(accuracy, axis=1)


def outcome_probabilities(skills: Skills, n: int, d: int) -> Floats:
    """Return outcome[c, k], the probability of the outcome c of d labels after n, if the class is k."""
    table = temper(skills.typical, float(added_sharpness(n, skills, d)))
    counts, ways = label_counts(len(table), d)
    return np.asarray(ways[:, None] * np.exp(counts @ safe_log(table).T))


@cache
def label_counts(n_classes: int, d: int) -> tuple[Floats, Floats]:
    """Return counts[c, n], all ways to distribute d labels over the classes, and their multiplicities."""
    from scipy.special import gammaln

    drawn = np.array(list(combinations_with_replacement(range(n_classes), d)), dtype=np.int64)
    counts = np.stack([(drawn == k).sum(axis=1) for k in range(n_classes)], axis=1).astype(np.float64)
    return counts, np.exp(gammaln(d + 1.0) - gammaln(counts + 1.0).sum(axis=1))


def look_ahead(n_classes: int) -> int:
    """Return the number of labels of the look-ahead."""
    return max(d for d in range(1, MAX_DEPTH + 1) if d == 1 or comb(d + n_classes - 1, d) <= MAX_OUTCOMES)


def concave_gains(accuracy: Floats) -> Floats:
    """Return gain[i, d], the steps of the concave hull of accuracy[i, 0], accuracy[i, 1], ..."""
    depth = accuracy.shape[1] - 1
    gains, start = np.zeros((len(accuracy), depth)), np.zeros(len(accuracy), dtype=np.int64)
    for step in range(depth):
        # The steepest line from the current point of each unit to any later point
        slope = np.full(len(accuracy), -np.inf)
        target = start.copy()
        for d in range(1, depth + 1):
            here = np.take_along_axis(accuracy, start[:, None], axis=1)[:, 0]
            mean = np.where(start < d, (accuracy[:, d] - here) / np.maximum(d - start, 1), -np.inf)
            target, slope = np.where(mean > slope, d, target), np.maximum(slope, mean)
        gains[:, step] = np.maximum(slope, 0.0)
        start = np.where(target <= step + 1, target, start)
    return gains


# Forecast: a plan interprets labels by the annotators' confusion matrices. Some methods ignore part of this information
# (majority vote and MACE within the ensemble ignore who answers against the truth) and are unsure about items that the
# matrices would settle, so further labels would be credited with what is already known. So the predicted gains start
# from the geometric mean (logarithmic pool [GENEST86]) of the calibrated beliefs and those of the matrices.
#
# [GENEST86] Genest and Zidek, "Combining probability distributions", 1986.

FORECAST_SHARED = 0.8
"""`Skills.shared` in forecasts, slightly above the value for choosing labels (docs/decisions/0043)."""


def forecast_view(labels: CrowdLabels, estimate: Estimate, skills: Skills) -> tuple[Estimate, Skills]:
    """Return the estimate and the skills from which gains are predicted.

    Runs, which use the items, and tags, which use their neighbours, keep their beliefs.

    Args:
        labels: The labels so far.
        estimate: The current estimate with calibrated beliefs.
        skills: Skills of the annotators.
    """
    view = replace(skills, shared=FORECAST_SHARED)
    if labels.is_sequential or not labels.n_labels or estimate.method not in TRUTH_METHODS:
        return estimate, view
    pooled = safe_log(estimate.beliefs) + safe_log(read_labels_by(labels, estimate, skills))
    return replace(estimate, beliefs=normalise(0.5 * pooled)[0]), view


def read_labels_by(labels: CrowdLabels, estimate: Estimate, skills: Skills) -> Beliefs:
    """Return q[i, k] from the labels and the plan's confusion matrices, calibrated like the estimate."""
    table = safe_log(skills.confusion).transpose(0, 2, 1)  # [j, n, k]
    evidence = sum_evidence(make_shards(labels, partial=True), np.ascontiguousarray(table))
    q = normalise(safe_log(skills.prior) + evidence)[0]
    scale = estimate.calibration
    if scale is None:
        return q
    return temper(temper(q, label_sharpness(labels.votes(), scale.correlation), scale.doubt), scale.sharpness)


MIN_GAIN = 0.05
"""Minimum expected number of mistakes removed per label that is worth buying: one for twenty labels."""
MAX_PLANNED = 300
"""Default maximum number of labels in a plan, since their results should guide the next plan."""
REPEAT_WEIGHT = 0.5
"""Weight of each repeated label of an item within a batch. If bought later, it would only be bought if the previous
labels leave a doubt; within a batch this is unknown, while other items have a certain gain."""
NO_ANNOTATOR = -1.0
"""Placeholder for a gain if no annotator is left to give the label."""


@dataclass(frozen=True, eq=False, kw_only=True)
class NextLabels:
    """Labels to buy, most valuable first.

    Attributes:
        item: item[p], the item to label.
        annotator: annotator[p], the annotator to ask.
        gain: gain[p], the expected reduction in the number of wrong answers.
    """

    item: Ints
    annotator: Ints
    gain: Floats

    @property
    def total(self) -> float:
        """Expected reduction in the number of wrong answers by the whole batch."""
        return float(self.gain.sum())


def choose_next(labels: CrowdLabels, estimate: Estimate, skills: Skills, *, count: int | None = None) -> NextLabels:
    """Choose labels to buy.

    Args:
        labels: The labels so far.
        estimate: The current estimate with calibrated beliefs.
        skills: Skills and availability of the annotators.
        count: Number of labels; None for all that are worthwhile, up to `MAX_PLANNED`.
    """
    if count is not None and count < 1:
        raise OptionError(f"The number of labels must be at least 1, got {count}.")
    able = skills.share > 0
    if not able.any():
        raise OptionError("No annotator is available. Name at least one who has already given labels.")
    gains = usable_gains(labels, estimate, skills)
    if count is None:
        gains, count = np.where(gains >= MIN_GAIN, gains, NO_ANNOTATOR), MAX_PLANNED
    slots = pick_items(spread(gains), count)
    capacity = np.where(able, np.ceil(skills.share * len(slots)) + 1, 0).astype(np.int64)
    said = label_information(labels, estimate, skills, np.unique(slots))
    annotator = assign_annotators(slots, said, _asked(labels), capacity)
    given = annotator >= 0
    item, annotator = slots[given], annotator[given]
    gain = batch_gains(labels, estimate, skills, item, annotator)
    order = np.argsort(-gain, kind="stable")
    return NextLabels(item=item[order], annotator=annotator[order], gain=gain[order])


def usable_gains(labels: CrowdLabels, estimate: Estimate, skills: Skills) -> Floats:
    """Return gain[s, d] of `item_gains`; `NO_ANNOTATOR` if all available annotators already labelled the item."""
    gains, able = item_gains(labels, estimate, skills), skills.share > 0
    free = int(able.sum()) - _asked(labels)[:, able].sum(axis=1)
    return np.where(np.arange(gains.shape[1]) < free[:, None], gains, NO_ANNOTATOR)


def item_gains(labels: CrowdLabels, estimate: Estimate, skills: Skills) -> Floats:
    """Return gain[s, d], the gain of the d-th further typical label of item s, summed over tokens."""
    gains = marginal_gains(estimate.beliefs, labels.labels_per_unit(), skills)
    if labels.offsets is None:
        return gains
    items = labels.item_of_unit
    return np.stack([sum_by(items, len(labels.items), gains[:, d]) for d in range(gains.shape[1])], axis=1)


def spread(gains: Floats) -> Floats:
    """Return gain[s, d] with repeated labels of an item discounted by `REPEAT_WEIGHT`."""
    return np.asarray(gains * REPEAT_WEIGHT ** np.arange(gains.shape[1]))


def pick_items(gains: Floats, count: int) -> Ints:
    """Return item[p], the items with the largest gains, repeated for each such gain."""
    best = np.argsort(-gains.ravel(), kind="stable")[:count]
    return np.asarray(best[gains.ravel()[best] >= 0.0] // gains.shape[1])


def label_information(labels: CrowdLabels, estimate: Estimate, skills: Skills, items: Ints) -> dict[int, Floats]:
    """Return item -> information[j] of a label of each annotator given the current beliefs, in nats."""
    entropy = -np.einsum("jmn,jmn->jm", skills.confusion, safe_log(skills.confusion))
    found = {}
    for item in items.tolist():
        units = slice(item, item + 1) if labels.offsets is None else slice(*labels.offsets[item : item + 2])
        q = estimate.beliefs[units]
        label = np.einsum("im,jmn->jin", q, skills.confusion)
        found[item] = -(label * safe_log(label)).sum(axis=(1, 2)) - np.einsum("im,jm->j", q, entropy)
    return found


def assign_annotators(slots: Ints, said: dict[int, Floats], asked: Bools, capacity: Ints) -> Ints:
    """Return annotator[p], the most informative available annotator for each label; -1 if there is none."""
    left, taken = capacity.copy(), asked.copy()
    chosen = np.full(len(slots), -1, dtype=np.int64)
    for p, item in enumerate(slots.tolist()):
        worth = np.where((left > 0) & ~taken[item], said[item], -np.inf)
        j = int(worth.argmax())
        if worth[j] > -np.inf:
            chosen[p], left[j], taken[item, j] = j, left[j] - 1, True
    return chosen


def batch_gains(labels: CrowdLabels, estimate: Estimate, skills: Skills, item: Ints, annotator: Ints) -> Floats:
    """Return gain[p] for the chosen annotators; the joint gain of an item's labels is divided evenly."""
    estimate, skills = forecast_view(labels, estimate, skills)
    return _joint_gains(labels, estimate.beliefs, skills, item, annotator)


def _joint_gains(labels: CrowdLabels, beliefs: Beliefs, skills: Skills, item: Ints, annotator: Ints) -> Floats:
    """Return gain[p] of `batch_gains` under the given beliefs."""
    gain, n = np.zeros(len(item)), labels.labels_per_unit()
    for one in np.unique(item).tolist():
        at = np.flatnonzero(item == one)
        units = range(one, one + 1) if labels.offsets is None else range(*labels.offsets[one : one + 2])
        total = sum(joint_gain(beliefs[i], int(n[i]), skills, annotator[at]) for i in units)
        gain[at] = total / len(at)
    return gain


def gain_range(
    labels: CrowdLabels, estimate: Estimate, skills: Skills, batch: NextLabels
) -> tuple[float, float] | None:
    """Return the number of mistakes that the batch removes if annotators err independently, and if they share mistakes.

    None for tags, for runs, and if the number of wrong answers cannot be estimated.

    Args:
        labels: The labels so far.
        estimate: The current estimate with calibrated beliefs.
        skills: Skills of the annotators.
        batch: The labels to buy.
    """
    scale = estimate.calibration
    if scale is None or scale.unknown or labels.is_sequential or estimate.method not in TRUTH_METHODS:
        return None
    n = labels.labels_per_unit()
    own = independent_beliefs(estimate.beliefs, n, scale)
    shared = temper(np.maximum(own, MIN_BELIEF), 1.0 / design_effect(n, SHARED_CORRELATION))
    independent, common = (
        float(_joint_gains(labels, q, replace(skills, correlation=rho, shared=1.0), batch.item, batch.annotator).sum())
        for q, rho in ((own, 0.0), (shared, SHARED_CORRELATION))
    )
    return independent, common


MAX_ENUMERATED = 4096
"""Maximum number of joint outcomes enumerated per item; further labels are ignored in its gain."""


def joint_gain(q: Floats, n: int, skills: Skills, annotators: Ints) -> float:
    """Return the expected gain in accuracy from several annotators' labels for a unit with beliefs q[k]."""
    sharpness = float(added_sharpness(n, skills, len(annotators)))
    joint = q[None, :]  # [outcome, k], the probability of the labels so far and of class k
    for j in annotators.tolist():
        if len(joint) * len(q) > MAX_ENUMERATED:
            break
        table = temper(skills.confusion[j], sharpness)  # [k, n]
        joint = (joint[:, None, :] * table.T[None, :, :]).reshape(-1, len(q))
    return max(float(joint.max(axis=1).sum() - q.max()), 0.0)


def _asked(labels: CrowdLabels) -> Bools:
    """Return asked[s, j], whether annotator j has labelled item s."""
    asked = np.zeros((len(labels.items), len(labels.annotators)), dtype=bool)
    item, annotator, _ = labels.annotations()
    asked[item, annotator] = True
    return asked


DEFAULT_DECISIONS = 100
"""Number of expert decisions in the forecast if no label is worth buying."""
LABELS_AFTER_BATCH = 1000
"""Number of labels after the batch in the forecast."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Forecast:
    """Forecast of the gain of further labels and of expert decisions.

    Attributes:
        units: Number of answers.
        accuracy: Current expected accuracy.
        votes: votes[p], the expected reduction in wrong answers by the p-th further label, best first.
        worth_buying: Number of labels that remove at least `MIN_GAIN` of a mistake each.
        decisions: decisions[p], the expected reduction in wrong answers by the p-th expert decision, best first.
        batch: The chosen labels.
        ends: Mistakes that the batch removes if annotators err independently, and if they share their mistakes; None
            if that is unknown.
    """

    units: int
    accuracy: float
    votes: Floats
    worth_buying: int
    decisions: Floats
    batch: NextLabels
    ends: tuple[float, float] | None = None

    @property
    def accuracy_after_batch(self) -> float:
        """Expected accuracy with the chosen labels."""
        return self.accuracy + self.batch.total / max(self.units, 1)

    def accuracy_after(self, count: int) -> float:
        """Return the expected accuracy after `count` labels: those of the batch, then typical ones."""
        ahead = len(self.batch.item)
        chosen = float(self.batch.gain[:count].sum()) / max(self.units, 1)
        return self.accuracy + chosen + self.gain_of_votes(max(count - ahead, 0), after=ahead)

    def gain_of_votes(self, count: int, *, after: int = 0) -> float:
        """Return the increase of the expected accuracy by `count` labels after the first `after`."""
        return float(self.votes[after : after + count].sum()) / max(self.units, 1)

    @property
    def votes_per_decision(self) -> float:
        """Number of labels with the gain of one expert decision, for as many decisions as labels in the batch."""
        count = len(self.batch.item)
        votes, known = self.batch.total, float(self.decisions[:count].sum())
        return known / votes if votes > 0 else float("inf")

    def sentences(self) -> tuple[str, ...]:
        """Return the forecast as sentences."""
        # The gain of the batch, and of the labels after it
        count, worth = len(self.batch.item), self.worth_buying
        more = min(LABELS_AFTER_BATCH, max(len(self.votes) - count, 0))
        points = f"{100 * self.gain_of_votes(more, after=count):.1f} points"
        bring = "label brings" if count == 1 else "labels bring"
        gain = (
            f"{count:,} more {bring} the right answers from about {100 * self.accuracy:.1f} to "
            f"{100 * self.accuracy_after_batch:.1f} %{f'; the {more:,} after that would add {points}' if more else ''}."
        )
        if not count:
            labels = pluralise(more, "more label")
            gain = f"About {100 * self.accuracy:.1f} % of the answers should be right; {labels} would add {points}."
        said = [gain]
        if self.ends is not None and count:
            independent, shared = self.ends
            mistakes = "1 mistake" if round(independent) == 1 else f"{independent:,.0f} mistakes"
            said.append(
                f"They remove about {mistakes} if annotators err independently, {shared:,.0f} if they share their "
                f"mistakes."
            )

        # When to stop
        rate, about = f"it takes more than {1 / MIN_GAIN:.0f} labels to remove one mistake", approximate_count(worth)
        if not worth:
            said.append(f"Stop buying labels: {rate}.")
        elif worth < count:
            first = "first of them is" if worth == 1 else f"first {about} of them are"
            said.append(f"Only the {first} worth it: from then on {rate}.")
        elif worth == count:
            said.append(f"Stop there: from then on {rate}.")
        else:
            said.append(f"Stop after about {about}, with a new plan after each batch: from then on {rate}.")
        return (*said, self._describe_gold())

    def _describe_gold(self) -> str:
        """Describe the gain of an expert's decisions on the same number of items."""
        count = min(len(self.batch.item) or DEFAULT_DECISIONS, len(self.decisions))
        known, votes, rate = float(self.decisions[:count].sum()), self.batch.total, self.votes_per_decision
        items = f"{count:,} most doubtful items" if count > 1 else "most doubtful item"
        corrected = approximate(known)
        answers = "answer" if corrected == "about 1" else "answers"
        said = f"An expert who decides the {items} would correct {corrected} {answers}"
        if not len(self.batch.item):
            return f"{said}."
        bought = len(self.batch.item)
        labels = f"{f'these {bought:,} labels' if bought > 1 else 'this label'} {approximate(votes)}"
        if not np.isfinite(rate):
            return f"{said}, {labels}: ask an expert."
        price = f"{rate:,.0f}" if rate >= 10 else f"{rate:.1f}"
        return f"{said}, {labels}. So one decision of an expert is worth about {price} labels."


def approximate_count(count: int) -> str:
    """Format a count rounded to two significant digits."""
    digits = max(len(str(count)) - 2, 0)
    return f"{round(count, -digits):,}"


def make_forecast(labels: CrowdLabels, estimate: Estimate, skills: Skills, batch: NextLabels) -> Forecast:
    """Predict the gain of a batch of labels, and of those after it."""
    chosen_by = usable_gains(labels, estimate, skills)
    gains = usable_gains(labels, *forecast_view(labels, estimate, skills))
    confidence = estimate.beliefs.max(axis=1, initial=0.0)
    wrong = 1.0 - confidence
    if labels.offsets is not None:
        wrong = sum_by(labels.item_of_unit, len(labels.items), wrong)
    return Forecast(
        units=len(confidence),
        accuracy=float(confidence.mean()) if len(confidence) else 1.0,
        votes=np.sort(gains[gains > NO_ANNOTATOR])[::-1],
        worth_buying=int(np.count_nonzero(chosen_by >= MIN_GAIN)),
        decisions=np.sort(wrong)[::-1],
        batch=batch,
        ends=gain_range(labels, estimate, skills, batch),
    )


# A pre-annotated task would bias its annotator, so tasks for annotation tools contain only the text. The expected gain
# and the suggested annotators are stored as metadata, by which the tool can sort and filter.
Row = tuple[Any, str, float, list[str]]
"""Item name, text, joint expected gain of its labels, and suggested annotators."""


def rows(plan: pl.DataFrame, labels: CrowdLabels, corpus: Corpus | None, target: str, *, tool: str) -> Iterator[Row]:
    """Yield one row per item, in the order of the plan."""
    known = corpus is not None and (corpus.tokens if labels.is_sequential else corpus.texts) is not None
    if corpus is None or not known:
        raise OptionError(f"{target}: {tool} needs the texts, which are unknown. Write .csv or .jsonl instead.")
    texts = texts_and_bounds(corpus)[0] if labels.is_sequential else tuple(corpus.texts or ())
    named = plan.with_columns(as_text(plan["annotator"]).alias("annotator"))
    grouped = named.group_by("item", maintain_order=True).agg(pl.col("gain").sum(), "annotator")
    codes = find(grouped["item"], labels.items).tolist()
    for code, (name, gain, people) in zip(codes, grouped.iter_rows(), strict=True):
        yield name, texts[code], round(gain, 6), people


def label_studio_tasks(plan: pl.DataFrame, labels: CrowdLabels, corpus: Corpus | None, target: str) -> bytes:
    """Encode tasks for Label Studio; `gain` and `annotators` are fields of their data."""
    question = Question() if corpus is None else corpus.question
    tasks = [
        {"id": name, "data": {question.field or "text": text, "gain": gain, "annotators": people}}
        for name, text, gain, people in rows(plan, labels, corpus, target, tool="Label Studio")
    ]
    return (json.dumps(tasks, ensure_ascii=False, indent=1) + "\n").encode()


def prodigy_tasks(plan: pl.DataFrame, labels: CrowdLabels, corpus: Corpus | None, target: str) -> bytes:
    """Encode a stream for Prodigy, one task per line; `gain` and `annotators` are in its meta."""
    options = {} if labels.is_sequential else {"options": [{"id": str(c), "text": str(c)} for c in labels.classes]}
    lines = [
        json.dumps(
            {"text": text, "meta": {"item": name, "gain": gain, "annotators": people}, **options}, ensure_ascii=False
        )
        for name, text, gain, people in rows(plan, labels, corpus, target, tool="Prodigy")
    ]
    return "".join(f"{line}\n" for line in lines).encode()


TASK_WRITERS: dict[str | None, Callable[[pl.DataFrame, CrowdLabels, Corpus | None, str], bytes]] = {
    "label-studio": label_studio_tasks,
    "prodigy": prodigy_tasks,
}
"""Formats of tools that import tasks, by name."""


FORECAST_AT = (100, 300, 1000, 3000, 10_000)
"""Numbers of further labels for which the forecast is shown."""


@dataclass(frozen=True, kw_only=True)
class NextOptions:
    """Options of `plan_next`.

    Attributes:
        labels: File of labels, or the folder of a run.
        out: Output file: a table, or tasks for Label Studio or Prodigy in the order of the plan.
        count: Number of labels to buy; None for all that are worthwhile, up to `MAX_PLANNED`.
        annotators: Names of the available annotators; None for all who can be trusted.
        load: Maximum share of the labels per annotator, as a multiple of their share so far.
        items: For labels: file of the items, whose texts are included in the plan.
        method: For labels: the truth method; None to choose one automatically.
        dependence: For labels: a name in `truth_methods.DEPENDENCES`.
        seed: Random seed.
        format: Format of the plan; None to infer it from the suffix.
        spreadsheet_safe: Whether csv and tsv cells that a spreadsheet would read as formulas get a leading quote.
        input: Options for reading the labels.
    """

    labels: str
    out: str
    count: int | None = None
    annotators: Sequence[str] | None = None
    load: float = DEFAULT_LOAD
    items: str | None = None
    method: str | None = None
    dependence: str = "public"
    seed: int = 0
    format: str | None = None
    spreadsheet_safe: bool = False
    input: InputOptions = field(default_factory=InputOptions)


@dataclass(frozen=True, kw_only=True, eq=False)
class Planned:
    """Result of `plan_next`.

    Attributes:
        method: The truth method, or the method of the run.
        batch: The labels to buy.
        forecast: Expected gain of the batch and of further labels.
        out: File of the plan.
        wanted: Number of labels requested; None for all that are worthwhile.
        notices: Messages about the labels and the fit.
    """

    method: str
    batch: NextLabels
    forecast: Forecast
    out: str
    wanted: int | None
    notices: tuple[str, ...]

    @property
    def messages(self) -> tuple[str, ...]:
        """Summary: the file of the plan, the expected gain, when to stop, and labels compared with gold."""
        items, people = len(np.unique(self.batch.item)), len(np.unique(self.batch.annotator))
        labels = pluralise(len(self.batch.item), "label")
        size = f"{labels} of {pluralise(items, 'item')} by {pluralise(people, 'annotator')}"
        said = [f"{self.method}: {size} -> {self.out}"]
        missing = (self.wanted or 0) - len(self.batch.item)
        if missing > 0:
            said.append(
                f"{missing} of the {pluralise(self.wanted or 0, 'label')} requested {'is' if missing == 1 else 'are'} "
                f"not in the plan, because every annotator has labelled the item or reached their share of the work. "
                f"Increase --load to allow more labels per annotator."
            )
        return (*said, *self.forecast.sentences())

    def table(self) -> ResultTable:
        """Return a table of the expected accuracy after further labels."""
        after = [(n, self.forecast.accuracy_after(n)) for n in FORECAST_AT if n <= len(self.forecast.votes)]
        rows = [(n, f"{100 * accuracy:.1f} %") for n, accuracy in ((0, self.forecast.accuracy), *after)]
        return ResultTable(title="expected accuracy", columns=["further labels", "expected accuracy"], rows=rows)

    def figures(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        return {
            "method": self.method,
            "labels": len(self.batch.item),
            "expected_accuracy": self.forecast.accuracy,
            "expected_accuracy_after": self.forecast.accuracy_after_batch,
            "mistakes_removed": None
            if self.forecast.ends is None
            else dict(zip(("independent", "shared"), self.forecast.ends, strict=True)),
            "worth_buying": self.forecast.worth_buying,
            "votes_per_decision": self.forecast.votes_per_decision,
            "out": self.out,
        }


def plan_next(options: NextOptions) -> Planned:
    """Plan the next labels and write the plan."""
    # Tasks for the tool whose export the labels are, if its usual suffix was given
    written_as = options.format
    if not is_run(Path(options.labels)):
        own = answer_format(options.labels, options.out, read_as=options.input.format, named=options.format)
        written_as = own if own in TASK_WRITERS else options.format
    check_writable(options.out, written_as)
    check_outputs((options.out,), read=(options.labels, options.items))
    labels, estimate, corpus, notices = _read(options)
    available, left_out = whom_to_ask(labels, estimate, options.annotators)
    skills = annotator_skills(labels, estimate, available=available, load=options.load)
    batch = choose_next(labels, estimate, skills, count=options.count)
    forecast = make_forecast(labels, estimate, skills, batch)
    plan = plan_table(labels, estimate, batch, corpus)
    if written_as in TASK_WRITERS and options.out != STANDARD_STREAM:
        write_bytes(options.out, TASK_WRITERS[written_as](plan, labels, corpus, options.out))
    else:
        write_table(options.out, plan, format=written_as, spreadsheet_safe=options.spreadsheet_safe)
    return Planned(
        method=estimate.method,
        batch=batch,
        forecast=forecast,
        out=options.out,
        wanted=options.count,
        notices=(*notices, *left_out),
    )


def _read(options: NextOptions) -> tuple[CrowdLabels, Estimate, Corpus | None, tuple[str, ...]]:
    """Read the labels, compute the estimate, and read the items if known."""
    if is_run(Path(options.labels)):
        if options.items is not None or options.method is not None:
            raise OptionError(
                f"{options.labels}: a run already contains its items and method. Leave --items and -m out."
            )
        record = read_run(options.labels)
        return record.labels, record.estimate, record.corpus, ()
    crowd = options.input.read_labelled(options.labels, options.items)
    dependence = parse_dependence(options.dependence)
    name = options.method or suggest_method(crowd.labels)[0]
    method = configured_method(name, seed=options.seed, dependence=dependence)
    with collect_warnings() as warned:
        estimate = infer_calibrated(method, crowd.labels, crowd.corpus, dependence=dependence)
    return crowd.labels, estimate, crowd.corpus, (*crowd.labels.intake.messages(), *warned)


def whom_to_ask(
    labels: CrowdLabels, estimate: Estimate, names: Sequence[str] | None
) -> tuple[Bools | None, tuple[str, ...]]:
    """Return available[j], whether annotator j can be asked, and a notice about excluded annotators.

    These are the named annotators, otherwise all who are not flagged as unreliable, if there are any.
    """
    if names is not None:
        able = np.zeros(len(labels.annotators), dtype=bool)
        able[find_codes(names, as_text(labels.annotators), "annotator")] = True
        return able, ()
    asked, flagged = askable(labels, judge_annotators(labels, estimate))
    if not flagged:
        return asked, ()
    who = f"{list_names(flagged)} {'is' if len(flagged) == 1 else 'are'}"
    return asked, (
        f"{who} not asked: flagged as random, constant or worse than chance. To ask them "
        f"nevertheless, list all available annotators: --annotators NAMES.",
    )


def plan_table(labels: CrowdLabels, estimate: Estimate, batch: NextLabels, corpus: Corpus | None) -> pl.DataFrame:
    """Return one row per label to buy: item, annotator, gain; for documents also current answers and texts."""
    columns: dict[str, Any] = {
        "item": labels.items.gather(batch.item),
        "annotator": labels.annotators.gather(batch.annotator),
        "gain": np.round(batch.gain, 6),
    }
    if labels.offsets is None:
        names = [None if name is None else str(name) for name in estimate.answer_names()]
        columns["label"] = pl.Series([names[item] for item in batch.item.tolist()], dtype=pl.String)
        columns["confidence"] = np.round(estimate.confidence[batch.item], 6)
        columns["labels"] = labels.labels_per_unit()[batch.item]
        if corpus is not None and corpus.texts is not None:
            columns["text"] = pl.Series([corpus.texts[item] for item in batch.item.tolist()], dtype=pl.String)
    return pl.DataFrame(columns)
