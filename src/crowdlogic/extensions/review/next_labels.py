"""Which labels to buy next: which items, by which annotators, and what they are expected to gain.

Items are taken by the gain of their next label by a typical annotator (`label_gain`), an item again only if half of
what its second label gains is still more than the first of any other, so a batch is spread over what is in doubt. Each
label is given to whoever says most about the item as it stands (the mutual information of their label and the truth),
nobody twice to one item nor beyond a fair load. The gain of the batch is predicted with the annotators chosen
(`forecast_view`).

Axes: i unit, j annotator, k class, p label to buy, s item.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations_with_replacement

import numpy as np

from crowdlogic.annotators.label_sums import sum_evidence, tally
from crowdlogic.annotators.protocol import check_size
from crowdlogic.data.blocks import make_shards
from crowdlogic.data.estimate import Beliefs, Estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.wording import approximate, pluralise
from crowdlogic.errors import OptionError
from crowdlogic.numerics.arrays import Bools, Floats, Ints, sum_by
from crowdlogic.numerics.logspace import design_effect, normalise, safe_log, temper
from crowdlogic.registry import TRUTH_METHODS
from crowdlogic.truth.dependence import label_sharpness

# What one more label by an annotator would say: confusion matrices for planning, from the labels at hand.
#
# An annotator with few labels is taken to be like the crowd: `PRIOR_LABELS` labels per class of a typical annotator
# are
# added to their own. Where labels of one item depend on each other, a further one says less: its evidence is divided
# by
# the design effect of all labels that the item then has, to the power of `SHARED`.
#
# Axes: i unit, j annotator, m true class, n given label.

PRIOR_LABELS = 4.0
"""Labels of a typical annotator that are added, in each class, to those of every annotator."""

LOAD = 3.0
"""Default of the largest share of a batch for one annotator, in terms of their share of the labels so far."""

SHARED = 0.75
"""How far further labels share the doubt that is stated: 1 fully, 0 if they were independent. Part of the doubt is
about items that all get wrong, which costs the labels of other items nothing (docs/decisions/0037)."""

FLOOR = 1e-3
"""Least probability of a label: nobody is known to be infallible."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Skills:
    """How annotators answer.

    Attributes:
        confusion: confusion[j, m, n] of every annotator.
        typical: typical[m, n], an annotator who says as much about the truth as a label bought on average does.
        activity: activity[j], the share of the labels so far; the shares sum to one.
        share: share[j], the largest share of a batch that annotator j can take; 0 for who is not available.
        information: information[j], how many nats a label of j says about an item of which nothing is known.
        prior: prior[m], the share of each class.
        correlation: How far labels of one item depend on each other.
        shared: How far further labels share the doubt that is stated, from 0 to 1.
    """

    confusion: Floats
    typical: Floats
    activity: Floats
    share: Floats
    information: Floats
    prior: Floats
    correlation: float
    shared: float = SHARED


def annotator_skills(
    labels: CrowdLabels, estimate: Estimate, *, available: Bools | None = None, load: float = LOAD
) -> Skills:
    """How annotators answer, learnt from the labels and an estimate of the truth.

    Args:
        labels: The labels.
        estimate: What is believed of the items.
        available: available[j], whether annotator j can be asked; None for everybody who gave a label.
        load: The largest share of a batch for one annotator, in terms of their share of the labels so far.
    """
    if load <= 0:
        raise OptionError(f"The load must be above 0, not {load:g}.")
    check_size("The plan", len(labels.annotators), labels.n_classes)
    counts = tally(make_shards(labels, partial=True), estimate.beliefs).counts.transpose(0, 2, 1)  # [j, m, n]
    given = counts.sum(axis=2, keepdims=True)  # [j, m, 1]
    own = counts / np.maximum(given, FLOOR) if estimate.confusion is None else estimate.confusion
    mean = (own * given).sum(axis=0) + np.eye(labels.n_classes)
    mean /= mean.sum(axis=1, keepdims=True)
    confusion = (own * given + PRIOR_LABELS * mean) / (given + PRIOR_LABELS)
    confusion = (1.0 - labels.n_classes * FLOOR) * confusion + FLOOR
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
    """information[j] in nats between the truth and a label, from confusion[j, m, n] and prior[m]."""
    joint = prior[:, None] * confusion
    marginal = joint.sum(axis=1, keepdims=True)
    ratio = safe_log(confusion) - safe_log(marginal)
    return np.asarray(np.where(joint > 0, joint * ratio, 0.0).sum(axis=(1, 2)))


def fill_shares(information: Floats, share: Floats) -> Floats:
    """weight[j]: whoever says most gets as much of the work as they can take, and so on until all is given away."""
    order = np.argsort(-information, kind="stable")
    before = np.concatenate([[0.0], np.cumsum(share[order])[:-1]]) if len(order) else share
    weight = np.zeros(len(share))
    weight[order] = np.clip(1.0 - before, 0.0, share[order])
    return weight


def typical_annotator(confusion: Floats, prior: Floats, activity: Floats) -> Floats:
    """typical[m, n]: the mean matrix by activity[j], sharpened until it says as much as a label does on average.

    A mean over annotators says less than its parts: a label is worth more if one knows whose it is.
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
    """How far a label counts among n labels and `added` more: 1 where labels are independent."""
    return np.asarray(design_effect(np.asarray(n, dtype=np.float64) + added, skills.correlation) ** -skills.shared)


# What further labels of a unit are expected to gain: the rise of the expected accuracy of its answer.
#
# With q[i, k] the present beliefs, the answer after further labels is the class that is then most probable, so
#
# expected accuracy after them = sum over what they may be of max_k q[i, k] p(they | k).
#
# Labels of a typical annotator are exchangeable: only how many say what counts, and that is enumerated. One label
# alone
# often cannot turn an answer although two can, so a unit is judged by the best mean gain per label over one to
# several
# labels (the concave hull), which is also what makes labels after the first worth less.
#
# [FRAZIER10] Frazier and Powell, "Paradoxes in learning and the marginal value of information", 2010: the same
# remedy.
# Axes: i unit, k class, d number of further labels, c what they are (how often each class).

MOST_OUTCOMES = 300
"""As many labels are looked ahead as have at most so many outcomes."""
DEEPEST = 9
"""Largest number of labels that are looked ahead."""
CHUNK = 20_000
"""Units that are computed at once."""


def marginal_gains(q: Floats, n: Ints, skills: Skills) -> Floats:
    """gain[i, d], what the d-th further label by typical annotators is expected to add to the accuracy of unit i.

    The gains of a unit never rise with d.

    Args:
        q: q[i, k], the present beliefs.
        n: n[i], how many labels each unit has.
        skills: How annotators answer.
    """
    accuracy = expected_accuracy_after(q, n, skills)
    return concave_gains(accuracy)


def expected_accuracy_after(q: Floats, n: Ints, skills: Skills) -> Floats:
    """accuracy[i, d], the expected probability of the answer of unit i after d = 0, 1, ... further labels."""
    depth = look_ahead(q.shape[1])
    accuracy = np.empty((len(q), depth + 1))
    accuracy[:, 0] = q.max(axis=1, initial=0.0)
    for labels in np.unique(n):
        units = np.flatnonzero(n == labels)
        for d in range(1, depth + 1):
            outcome = outcome_probabilities(skills, int(labels), d)  # [c, k]
            for chunk in np.array_split(units, max(len(units) // CHUNK, 1)):
                accuracy[chunk, d] = _expected_maximum(q[chunk], outcome)
    # More labels never make an answer worse, but a correlation makes their sharpness differ from d to d
    return np.maximum.accumulate(accuracy, axis=1)


def _expected_maximum(q: Floats, outcome: Floats) -> Floats:
    """The sum over c of max_k q[i, k] outcome[c, k]."""
    best = q[:, None, 0] * outcome[None, :, 0]
    for k in range(1, q.shape[1]):
        np.maximum(best, q[:, None, k] * outcome[None, :, k], out=best)
    return np.asarray(best.sum(axis=1))


def outcome_probabilities(skills: Skills, n: int, d: int) -> Floats:
    """outcome[c, k], how probable it is that d labels beyond n are c if the class is k."""
    table = temper(skills.typical, float(added_sharpness(n, skills, d)))
    counts, ways = label_counts(len(table), d)
    return np.asarray(ways[:, None] * np.exp(counts @ safe_log(table).T))


@cache
def label_counts(n_classes: int, d: int) -> tuple[Floats, Floats]:
    """counts[c, n], every way in which d labels can be shared among the classes, and in how many orders each comes."""
    from scipy.special import gammaln

    drawn = np.array(list(combinations_with_replacement(range(n_classes), d)), dtype=np.int64)
    counts = np.stack([(drawn == k).sum(axis=1) for k in range(n_classes)], axis=1).astype(np.float64)
    return counts, np.exp(gammaln(d + 1.0) - gammaln(counts + 1.0).sum(axis=1))


def look_ahead(n_classes: int) -> int:
    """How many labels are looked ahead."""
    from math import comb

    return max(d for d in range(1, DEEPEST + 1) if d == 1 or comb(d + n_classes - 1, d) <= MOST_OUTCOMES)


def concave_gains(accuracy: Floats) -> Floats:
    """gain[i, d], the steps of the least concave curve above accuracy[i, 0], accuracy[i, 1], ..."""
    depth = accuracy.shape[1] - 1
    gains, start = np.zeros((len(accuracy), depth)), np.zeros(len(accuracy), dtype=np.int64)
    for step in range(depth):
        # The steepest line from where the curve of each unit stands to any later point
        slope = np.full(len(accuracy), -np.inf)
        target = start.copy()
        for d in range(1, depth + 1):
            here = np.take_along_axis(accuracy, start[:, None], axis=1)[:, 0]
            mean = np.where(start < d, (accuracy[:, d] - here) / np.maximum(d - start, 1), -np.inf)
            target, slope = np.where(mean > slope, d, target), np.maximum(slope, mean)
        gains[:, step] = np.maximum(slope, 0.0)
        start = np.where(target <= step + 1, target, start)
    return gains


# What a forecast counts with: beliefs that read the labels at hand as it reads further ones, and their discount.
#
# A plan reads what annotators will say by their confusion matrices. A method that cannot read all of them (the vote
# and
# MACE within the ensemble do not know who answers against the truth) is then unsure of items that the same reading of
# the
# labels at hand would settle, and further labels are credited with what is known already. So the gains that are
# predicted
# start from the geometric mean (the logarithmic pool [GENEST86]) of what is stated and of that reading.
#
# [GENEST86] Genest and Zidek, "Combining probability distributions", 1986. Axes: i unit, j annotator, k class, n
# label.

FORETOLD = 0.8
"""`Skills.shared` of a forecast: a little above that by which labels are chosen (docs/decisions/0043)."""


def forecast_view(labels: CrowdLabels, estimate: Estimate, skills: Skills) -> tuple[Estimate, Skills]:
    """Return the estimate and the skills from which gains are predicted.

    Runs, which know the items, and tags, which know their neighbours, keep what they state.

    Args:
        labels: The labels so far.
        estimate: What is believed of the items, stated on a calibrated scale.
        skills: How annotators answer.
    """
    view = replace(skills, shared=FORETOLD)
    if labels.is_sequential or not labels.n_labels or estimate.method not in TRUTH_METHODS:
        return estimate, view
    pooled = safe_log(estimate.beliefs) + safe_log(read_labels_by(labels, estimate, skills))
    return replace(estimate, beliefs=normalise(0.5 * pooled)[0]), view


def read_labels_by(labels: CrowdLabels, estimate: Estimate, skills: Skills) -> Beliefs:
    """q[i, k], what the labels at hand say by the confusion matrices of the plan, on the scale of the estimate."""
    table = safe_log(skills.confusion).transpose(0, 2, 1)  # [j, n, k]
    evidence = sum_evidence(make_shards(labels, partial=True), np.ascontiguousarray(table))
    q = normalise(safe_log(skills.prior) + evidence)[0]
    scale = estimate.calibration
    if scale is None:
        return q
    return temper(temper(q, label_sharpness(labels.votes(), scale.correlation), scale.doubt), scale.sharpness)


WORTHWHILE = 0.05
"""Labels are worth buying while each is expected to remove so much of a mistake: one mistake for twenty labels."""
MOST_PLANNED = 300
"""So many labels are planned at most, unless told otherwise: what they say should decide on those after them."""
AGAIN = 0.5
"""What a further label of an item counts for within one batch. Bought later, it would be bought only if those before it
leave a doubt; in the same batch nobody knows that yet, and other items gain for certain."""
NOBODY = -1.0
"""In place of a gain, where nobody is left to give the label."""


@dataclass(frozen=True, eq=False, kw_only=True)
class NextLabels:
    """Labels to buy, the most valuable first.

    Attributes:
        item: item[p], the item that should be labelled.
        annotator: annotator[p], by whom.
        gain: gain[p], by how many the expected number of wrong answers falls.
    """

    item: Ints
    annotator: Ints
    gain: Floats

    @property
    def total(self) -> float:
        """By how many the whole batch is expected to lower the number of wrong answers."""
        return float(self.gain.sum())


def choose_next(labels: CrowdLabels, estimate: Estimate, skills: Skills, *, count: int | None = None) -> NextLabels:
    """Choose labels to buy.

    Args:
        labels: The labels so far.
        estimate: What is believed of the items, stated on a calibrated scale.
        skills: How annotators answer, who is available and how much each can take.
        count: How many labels; None for all that are worth it, up to `MOST_PLANNED`.
    """
    if count is not None and count < 1:
        raise OptionError(f"The number of labels must be 1 or more, not {count}.")
    able = skills.share > 0
    if not able.any():
        raise OptionError("Nobody is available to label. Name annotators who gave labels before.")
    gains = usable_gains(labels, estimate, skills)
    if count is None:
        gains, count = np.where(gains >= WORTHWHILE, gains, NOBODY), MOST_PLANNED
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
    """gain[s, d] of `item_gains`; `NOBODY` where all who are available have labelled the item already."""
    gains, able = item_gains(labels, estimate, skills), skills.share > 0
    free = int(able.sum()) - _asked(labels)[:, able].sum(axis=1)
    return np.where(np.arange(gains.shape[1]) < free[:, None], gains, NOBODY)


def item_gains(labels: CrowdLabels, estimate: Estimate, skills: Skills) -> Floats:
    """gain[s, d], what the d-th further label of item s by typical annotators gains, over all tokens of a sentence."""
    gains = marginal_gains(estimate.beliefs, labels.labels_per_unit(), skills)
    if labels.offsets is None:
        return gains
    items = labels.item_of_unit
    return np.stack([sum_by(items, len(labels.items), gains[:, d]) for d in range(gains.shape[1])], axis=1)


def spread(gains: Floats) -> Floats:
    """gain[s, d] with each further label of an item counted by half (`AGAIN`): it cannot yet heed those before it."""
    return np.asarray(gains * AGAIN ** np.arange(gains.shape[1]))


def pick_items(gains: Floats, count: int) -> Ints:
    """item[p], the items of the largest gains: each as often as it has some among them."""
    best = np.argsort(-gains.ravel(), kind="stable")[:count]
    return np.asarray(best[gains.ravel()[best] >= 0.0] // gains.shape[1])


def label_information(labels: CrowdLabels, estimate: Estimate, skills: Skills, items: Ints) -> dict[int, Floats]:
    """Item -> information[j], how many nats a label of each annotator says about it as it stands."""
    entropy = -np.einsum("jmn,jmn->jm", skills.confusion, safe_log(skills.confusion))
    found = {}
    for item in items.tolist():
        units = slice(item, item + 1) if labels.offsets is None else slice(*labels.offsets[item : item + 2])
        q = estimate.beliefs[units]
        label = np.einsum("im,jmn->jin", q, skills.confusion)
        found[item] = -(label * safe_log(label)).sum(axis=(1, 2)) - np.einsum("im,jm->j", q, entropy)
    return found


def assign_annotators(slots: Ints, said: dict[int, Floats], asked: Bools, capacity: Ints) -> Ints:
    """annotator[p] for each label: who says most and is free; -1 where nobody is."""
    left, taken = capacity.copy(), asked.copy()
    chosen = np.full(len(slots), -1, dtype=np.int64)
    for p, item in enumerate(slots.tolist()):
        worth = np.where((left > 0) & ~taken[item], said[item], -np.inf)
        j = int(worth.argmax())
        if worth[j] > -np.inf:
            chosen[p], left[j], taken[item, j] = j, left[j] - 1, True
    return chosen


def batch_gains(labels: CrowdLabels, estimate: Estimate, skills: Skills, item: Ints, annotator: Ints) -> Floats:
    """gain[p] with the annotators chosen: what the labels of an item gain together, shared evenly among them."""
    gain, n = np.zeros(len(item)), labels.labels_per_unit()
    estimate, skills = forecast_view(labels, estimate, skills)
    for one in np.unique(item).tolist():
        at = np.flatnonzero(item == one)
        units = range(one, one + 1) if labels.offsets is None else range(*labels.offsets[one : one + 2])
        total = sum(joint_gain(estimate.beliefs[i], int(n[i]), skills, annotator[at]) for i in units)
        gain[at] = total / len(at)
    return gain


MOST_ENUMERATED = 4096
"""Outcomes of an item's labels are enumerated up to so many; further labels are left out of its gain."""


def joint_gain(q: Floats, n: int, skills: Skills, annotators: Ints) -> float:
    """What labels of several annotators are expected to add to the accuracy of a unit with beliefs q[k], n labels."""
    sharpness = float(added_sharpness(n, skills, len(annotators)))
    joint = q[None, :]  # [outcome, k], the probability of the labels so far and of class k
    for j in annotators.tolist():
        if len(joint) * len(q) > MOST_ENUMERATED:
            break
        table = temper(skills.confusion[j], sharpness)  # [k, n]
        joint = (joint[:, None, :] * table.T[None, :, :]).reshape(-1, len(q))
    return max(float(joint.max(axis=1).sum() - q.max()), 0.0)


def _asked(labels: CrowdLabels) -> Bools:
    """asked[s, j], whether annotator j has labelled item s."""
    asked = np.zeros((len(labels.items), len(labels.annotators)), dtype=bool)
    item, annotator, _ = labels.annotations()
    asked[item, annotator] = True
    return asked


# How far more labels bring the expected accuracy, when they stop paying, and whether votes or gold are the better
# buy.
#
# Axes: i unit, s item, d number of further labels.

GOLD = 100
"""Of how many decisions the forecast speaks where no label is worth buying."""
NEXT = 1000
"""How many labels after the batch the forecast speaks of."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Forecast:
    """What more labels are expected to bring.

    Attributes:
        units: How many answers there are.
        accuracy: The expected accuracy now.
        votes: votes[p], by how many wrong answers the p-th further label lowers their expected number, best first.
        worth_buying: How many labels are worth buying: while each removes `WORTHWHILE` of a mistake.
        decisions: decisions[p], the same of the p-th item that somebody decides who knows the truth.
        batch: The labels chosen.
    """

    units: int
    accuracy: float
    votes: Floats
    worth_buying: int
    decisions: Floats
    batch: NextLabels

    @property
    def accuracy_after_batch(self) -> float:
        """The expected accuracy with the labels chosen."""
        return self.accuracy + self.batch.total / max(self.units, 1)

    def accuracy_after(self, count: int) -> float:
        """The expected accuracy with so many further labels: those of the batch, then others by typical annotators."""
        ahead = len(self.batch.item)
        chosen = float(self.batch.gain[:count].sum()) / max(self.units, 1)
        return self.accuracy + chosen + self.gain_of_votes(max(count - ahead, 0), after=ahead)

    def gain_of_votes(self, count: int, *, after: int = 0) -> float:
        """By how much so many further labels, after others, raise the expected accuracy."""
        return float(self.votes[after : after + count].sum()) / max(self.units, 1)

    @property
    def votes_per_decision(self) -> float:
        """How many votes gain as much as one decision, over as many decisions as the batch has labels."""
        count = len(self.batch.item)
        votes, known = self.batch.total, float(self.decisions[:count].sum())
        return known / votes if votes > 0 else float("inf")

    def sentences(self) -> tuple[str, ...]:
        """What to know, in words."""
        return (self._describe_batch(), self._describe_end(), self._describe_gold())

    def _describe_batch(self) -> str:
        count = len(self.batch.item)
        more = min(NEXT, max(len(self.votes) - count, 0))
        after = self.gain_of_votes(more, after=count)
        if not count:
            return (
                f"About {100 * self.accuracy:.1f} % of the answers should be right; {pluralise(more, 'more label')} "
                f"would add {100 * after:.1f} points."
            )
        bring = "label brings" if count == 1 else "labels bring"
        then = f"; the {more:,} after that would add {100 * after:.1f} points" if more else ""
        return (
            f"{count:,} more {bring} the right answers from about {100 * self.accuracy:.1f} to "
            f"{100 * self.accuracy_after_batch:.1f} %{then}."
        )

    def _describe_end(self) -> str:
        count, worth = len(self.batch.item), self.worth_buying
        rate = f"it takes more than {1 / WORTHWHILE:.0f} labels to remove one mistake"
        if not worth:
            return f"Stop buying labels: {rate}."
        if worth < count:
            first = "first of them is" if worth == 1 else f"first {approximate_count(worth)} of them are"
            return f"Only the {first} worth it: from then on {rate}."
        if worth == count:
            return f"Stop there: from then on {rate}."
        return f"Stop after about {approximate_count(worth)}, with a new plan after each batch: from then on {rate}."

    def _describe_gold(self) -> str:
        """What an expert's decisions would bring for the same number of items."""
        count = min(len(self.batch.item) or GOLD, len(self.decisions))
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
    """A count to two figures."""
    digits = max(len(str(count)) - 2, 0)
    return f"{round(count, -digits):,}"


def make_forecast(labels: CrowdLabels, estimate: Estimate, skills: Skills, batch: NextLabels) -> Forecast:
    """What a batch of labels, and those after it, are expected to bring."""
    chosen_by = usable_gains(labels, estimate, skills)
    gains = usable_gains(labels, *forecast_view(labels, estimate, skills))
    confidence = estimate.beliefs.max(axis=1, initial=0.0)
    wrong = 1.0 - confidence
    if labels.offsets is not None:
        wrong = sum_by(labels.item_of_unit, len(labels.items), wrong)
    return Forecast(
        units=len(confidence),
        accuracy=float(confidence.mean()) if len(confidence) else 1.0,
        votes=np.sort(gains[gains > NOBODY])[::-1],
        worth_buying=int(np.count_nonzero(chosen_by >= WORTHWHILE)),
        decisions=np.sort(wrong)[::-1],
        batch=batch,
    )
