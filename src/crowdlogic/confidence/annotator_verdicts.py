"""Verdicts on annotators: flags such as spammer, biased or drift, with the reasons in words.

The table of annotators, saved runs and the report all use this computation.

Axes: j annotator.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from crowdlogic.annotators.label_sums import MOST_CELLS, tally
from crowdlogic.confidence.annotator_figures import LEVEL, annotator_figures, informativeness
from crowdlogic.confidence.expected_accuracy import GROUP
from crowdlogic.data.blocks import make_shards
from crowdlogic.data.estimate import Beliefs, Estimate, make_estimate, vote_shares
from crowdlogic.data.frames import as_labels
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.tagging import is_span_tag_set
from crowdlogic.data.wording import approximate, list_names, percent, pluralise, shorten_name
from crowdlogic.errors import DataError, OptionError, require_kind
from crowdlogic.numerics.arrays import Bools, Floats, Ints, find_discoveries, sum_by
from crowdlogic.numerics.logspace import credible_interval
from crowdlogic.registry import LEARNING_METHODS

if TYPE_CHECKING:
    from crowdlogic.metrics.spans import SpanErrors

# Reliability of each annotator under the beliefs.
#
# If a method has no model of its annotators (majority vote, or a user-defined method without annotator parameters), an
# annotator's own label contributes to the beliefs with which it is compared, which favours annotators who guess. In
# this case, each label is compared with the votes of the other annotators of the unit (leave-one-out), and a label is
# ignored if nobody else labelled the unit. Methods that model the annotators need no such correction.
#
# Axes: i unit, j annotator, k class, n label.

MAX_TABLE_CELLS = 200_000_000
"""Maximum number of labels times classes for leave-one-out, which keeps a row of votes for each label in memory."""
SHARES_OF_VOTES = "majority"
"""Truth method whose beliefs are shares of the votes."""


@dataclass(frozen=True, eq=False, kw_only=True)
class AnnotatorScores:
    """Comparison of every annotator's labels with the beliefs.

    Attributes:
        labels: The labels that are compared with the beliefs.
        estimate: The estimate with these beliefs.
        is_leave_one_out: Whether each label is compared with the votes of the other annotators.
        n_labels: n_labels[j], the number of labels.
        n_items: n_items[j], the number of labelled items.
        n_compared: n_compared[j], the number of these items with other evidence, such as another annotator's label.
    """

    labels: CrowdLabels
    estimate: Estimate
    is_leave_one_out: bool
    n_labels: Ints
    n_items: Ints
    n_compared: Ints

    @cached_property
    def table(self) -> pl.DataFrame:
        """Table of the figures of every annotator, with intervals at the default level."""
        return self.at_level(LEVEL)

    def at_level(self, level: float) -> pl.DataFrame:
        """Return the figures with intervals at a given level, and the numbers of all labels and items."""
        table = annotator_figures(self.labels, self.estimate, level)
        return table.with_columns(pl.Series("labels", self.n_labels), pl.Series("items", self.n_items))

    @property
    def reliability(self) -> Floats:
        """Return reliability[j], the expected share of right labels, or F1 of spans; NaN without labels."""
        return np.where(self.n_labels > 0, self.table["reliability"].to_numpy(), np.nan)


def score_annotators(labels: CrowdLabels, estimate: Estimate) -> AnnotatorScores:
    """Compare every annotator's labels with the beliefs, or with the others' votes if there is no annotator model."""
    by_others = leave_one_out(labels, estimate)
    compared, beliefs = (labels, estimate) if by_others is None else by_others
    # has_evidence[s], whether another annotator labelled the item, its truth is known, or a classifier predicts it
    item, annotator, _ = labels.annotations()
    has_evidence = np.bincount(item, minlength=len(labels.items)) > 1
    if estimate.method in LEARNING_METHODS:
        has_evidence[:] = True
    elif estimate.calibration is not None or by_others is None:
        doubted = estimate.beliefs.max(axis=1, initial=0.0) < 1.0
        has_evidence |= sum_by(labels.item_of_unit, len(labels.items), doubted.astype(np.float64)) == 0
    size = len(labels.annotators)
    return AnnotatorScores(
        labels=compared,
        estimate=beliefs,
        is_leave_one_out=by_others is not None,
        n_labels=labels.labels_per_annotator(),
        n_items=np.bincount(annotator, minlength=size),
        n_compared=np.bincount(annotator[has_evidence[item]], minlength=size),
    )


def leave_one_out(labels: CrowdLabels, estimate: Estimate) -> tuple[CrowdLabels, Estimate] | None:
    """Return every label as a separate unit, with the votes of the other annotators as its beliefs.

    None if the method has a model of its annotators, or if all answers are known truths. Known truths, which are the
    only certain beliefs of a calibrated estimate, replace the votes.
    """
    if estimate.confusion is not None or estimate.reliability is not None or labels.negated is not None:
        return None
    is_truth = estimate.method != SHARES_OF_VOTES and bool((estimate.confidence[estimate.answered] >= 1.0).all())
    if is_truth or not 0 < labels.n_labels * labels.n_classes <= MAX_TABLE_CELLS:
        return None
    # others[n, k]: votes for class k on the unit of label n, without label n itself
    others = labels.votes()[labels.unit]
    others[np.arange(labels.n_labels), labels.label] -= labels.weights
    if estimate.calibration is not None:
        known = estimate.beliefs.max(axis=1)[labels.unit] >= 1.0
        others[known] = estimate.beliefs[labels.unit[known]]
    rows = np.flatnonzero(others.sum(axis=1) > 0)
    offsets = None
    if labels.is_sequential:  # the tags of one sentence by one annotator become a sentence
        pair = labels.annotations()[2]
        rows = rows[np.lexsort((labels.unit[rows], pair[rows]))]
        offsets = np.append(np.flatnonzero(np.diff(pair[rows], prepend=-1)), len(rows))
    alone = CrowdLabels(
        unit=np.arange(len(rows)),
        annotator=labels.annotator[rows],
        label=labels.label[rows],
        items=pl.Series(np.arange(len(rows) if offsets is None else len(offsets) - 1).astype(str)),
        annotators=labels.annotators,
        classes=labels.classes,
        offsets=offsets,
        weight=None if labels.weight is None else labels.weight[rows],
    )
    return alone, make_estimate(alone, estimate.method, vote_shares(np.maximum(others[rows], 0.0)))


# Label statistics of every annotator, on which the flags are based.
#
# The skill of an annotator is Cohen's kappa between their labels and the estimated truth of the same units: (right -
# chance) / (1 - chance), where chance is the share of right labels if labels with the same frequencies were given at
# random. It is 1 for an annotator who is always right, 0 for one who guesses or always gives the same label, and
# negative for one who is worse than chance. Its interval is wide if there are few labels.
#
# Axes: j annotator, m true class, n given label.
#
# [COHEN60] Cohen: A coefficient of agreement for nominal scales. Educational and Psychological Measurement 20, 1960.

SMOOTHING = 0.5
"""Pseudo-counts over each row of a smoothed confusion matrix."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ConfusionStatistics:
    """Expected confusion counts of every annotator, and quantities computed from them.

    Attributes:
        names: Names of the annotators.
        classes: The classes, as text.
        counts: counts[j, m, n], expected number of labels n on units of class m; without classes if they would not
            fit into memory.
        n_labels: n_labels[j], the number of labels.
        n_items: n_items[j], the number of labelled items.
        n_compared: n_compared[j], the number of these items with other evidence, such as another annotator's label;
            None for all.
        level: The level of the intervals.
    """

    names: tuple[str, ...]
    classes: tuple[str, ...]
    counts: Floats
    n_labels: Ints
    n_items: Ints
    n_compared: Ints | None = None
    level: float = LEVEL

    @cached_property
    def given(self) -> Floats:
        """given[j], the weight of all labels of j."""
        return np.asarray(self.counts.sum(axis=(1, 2)))

    @cached_property
    def right(self) -> Floats:
        """right[j], the expected weight of the right labels."""
        return np.asarray(np.einsum("jmm->j", self.counts))

    @cached_property
    def label_share(self) -> Floats:
        """label_share[j, n], the share of each label."""
        return np.asarray(self.counts.sum(axis=1) / np.maximum(self.given, 1e-300)[:, None])

    @cached_property
    def truth_share(self) -> Floats:
        """truth_share[j, m], the share of each class among the items of j."""
        return np.asarray(self.counts.sum(axis=2) / np.maximum(self.given, 1e-300)[:, None])

    @cached_property
    def chance(self) -> Floats:
        """chance[j], the share of right labels if labels with the same frequencies were given at random."""
        return np.asarray((self.label_share * self.truth_share).sum(axis=1))

    @property
    def smoothed(self) -> Floats:
        """confusion[j, m, n], with SMOOTHING pseudo-counts over each row."""
        counts = self.counts + SMOOTHING / max(self.counts.shape[1], 1)
        return np.asarray(counts / counts.sum(axis=2, keepdims=True))

    @cached_property
    def skill(self) -> tuple[Floats, Floats, Floats]:
        """skill[j] and both ends of its interval at the level of these statistics."""
        return self.skill_at(self.level)

    def skill_at(self, level: float) -> tuple[Floats, Floats, Floats]:
        """Return skill[j] ([COHEN60]) and both ends of its interval; NaN if chance is 1, or without labels."""
        room = np.where((self.given > 0) & (self.chance < 1 - 1e-9), 1 - self.chance, np.nan)
        low, high = credible_interval(self.right, self.given, level)
        share = self.right / np.maximum(self.given, 1e-300)
        return (share - self.chance) / room, (low - self.chance) / room, (high - self.chance) / room


# Flags on an annotator, with the reason in words.
#
# The first of the following flags that applies describes the annotator's labels; `drift` and `near-copy` may be added:
#
# - too few labels: too few items for a verdict;
# - adversary: worse than chance, and either certainly so or in a way that reveals much of the truth;
# - one class: nearly always the same label, although the truth varies;
# - spammer: no better than chance, and certainly not good;
# - biased: mistakes one class for another in about half of the cases, and certainly more often than the others do;
# - careless: less than half the skill of the median annotator, and certainly far less; for span tags, a span F1 that is
#   certainly far from that of the best quarter of annotators.
#
# "Certainly" refers to the end of an interval. docs/reference/report.md lists the thresholds.
#
# Axes: j annotator, m true class, n given label.


class FlagKind(StrEnum):
    """Flags on annotators."""

    adversary = "adversary"
    spammer = "spammer"
    one_class = "one class"
    biased = "biased"
    careless = "careless"
    near_copy = "near-copy"
    drift = "drift"
    few = "too few labels"


FEW_ITEMS, FEW_SENTENCES = 10, 3
"""Minimum number of items, or sentences, for a verdict."""
ADVERSARY_SKILL = -0.1
"""An adversary's skill is below this, and the upper end of its interval at ADVERSARY_LEVEL is below 0."""
ADVERSARY_LEVEL = 0.998
"""Level of this interval. It is high because the accusation is serious and there may be many annotators."""
ADVERSARY_INFORMATIVENESS = 0.3
"""Alternatively, an adversary's skill is below 0, the upper end of its interval is below LITTLE_SKILL, and the
informativeness of the labels is above this."""
ONE_CLASS_SHARE = 0.95
"""Minimum share of one label for an annotator who nearly always gives the same answer."""
OTHER_TRUTH_SHARE = 0.15
"""Minimum share of other classes among the items of an annotator who is flagged as `one class`."""
NO_SKILL, LITTLE_SKILL = 0.1, 0.3
"""A spammer's skill is below the first number; its interval ends at or below 0 and below the second number."""
BIASED_SHARE, BIASED_LOWER_END = 0.45, 0.35
"""A biased annotator mistakes one class for another in at least this share of the cases; the lower end of the share's
interval is at least the second number."""
BIASED_LABELS = 10
"""Minimum expected number of labels on units of a class, for a bias."""
CARELESS_FRACTION, CARELESS_UPPER_END = 0.5, 0.8
"""A careless annotator's skill is below the first fraction of the median skill, and the upper end of its interval is
below the second. With the upper end alone, a hundred labels by an annotator with a quarter of the median skill would
not suffice."""
CARELESS_SPANS = 0.8
"""For span tags: the upper end of the F1 is below this fraction of the F1 that the best quarter of annotators reach."""
BEST_QUARTER = 75
"""Percentile of the F1 that the best quarter of annotators reach."""
MOSTLY = 0.8
"""Minimum share of one label for the reason to name the label."""
OUTSIDE = "O"
"""Tag of tokens outside spans."""

CHARACTER_FLAGS = (
    FlagKind.few,
    FlagKind.adversary,
    FlagKind.one_class,
    FlagKind.spammer,
    FlagKind.biased,
    FlagKind.careless,
)
"""Flags that describe an annotator's labels, in the order in which they are checked."""


@dataclass(frozen=True, eq=False, kw_only=True)
class CharacterFlags:
    """One flag per annotator, which describes their labels.

    Attributes:
        kind: kind[j], a position in CHARACTER_FLAGS; -1 for none.
        confusion: confusion[j] = (m, n), the true class that a biased annotator mistakes, and the class they give.
        median_skill: Median skill of the annotators with enough items; NaN without any.
        best_f1: Span F1 that the best quarter of these annotators reach; NaN unless tags are span tags.
    """

    kind: Ints
    confusion: Ints
    median_skill: float
    best_f1: float = float("nan")

    def has(self, kind: FlagKind) -> Bools:
        """Return has[j], whether annotator j has this flag."""
        return np.asarray(self.kind == CHARACTER_FLAGS.index(kind))


def least_items(*, is_sequential: bool) -> int:
    """Return the minimum number of items for a verdict on an annotator."""
    return FEW_SENTENCES if is_sequential else FEW_ITEMS


def flag_annotators(
    statistics: ConfusionStatistics, least: int = FEW_ITEMS, *, span_f1: tuple[Floats, Floats] | None = None
) -> CharacterFlags:
    """Return the flags of every annotator.

    Args:
        statistics: Label statistics of all annotators.
        least: Minimum number of items for a verdict.
        span_f1: For span tags: the F1 of every annotator's spans, and the upper end of its interval.
    """
    skill, low, high = statistics.skill
    few = (statistics.n_items if statistics.n_compared is None else statistics.n_compared) < least
    judged = ~few & np.isfinite(skill)
    median = float(np.median(skill[judged])) if judged.any() else float("nan")
    confusion, is_biased = find_bias(statistics)
    if span_f1 is None:
        is_careless = (skill < CARELESS_FRACTION * median) & (high < CARELESS_UPPER_END * median)
        best_f1 = float("nan")
    else:
        f1, upper = span_f1
        counted = f1[judged & np.isfinite(f1)]
        best_f1 = float(np.percentile(counted, BEST_QUARTER)) if len(counted) else float("nan")
        is_careless = np.isfinite(f1) & (upper < CARELESS_SPANS * best_f1)

    # An adversary is worse than chance, with high certainty or with informative labels
    revealed = informativeness(statistics.smoothed) if statistics.counts.shape[1] else np.zeros(len(skill))
    is_adversary = (skill < ADVERSARY_SKILL) & (statistics.skill_at(ADVERSARY_LEVEL)[2] < 0)
    is_adversary |= (skill < 0) & (high < LITTLE_SKILL) & (revealed > ADVERSARY_INFORMATIVENESS)

    # Nearly every label is one class, although the truth is often another
    gives_one_class = np.zeros(len(few), dtype=bool)
    if statistics.counts.shape[1] >= 2:
        rows, favourite = np.arange(len(few)), statistics.label_share.argmax(axis=1)
        gives_one_class = statistics.label_share[rows, favourite] >= ONE_CLASS_SHARE
        gives_one_class &= statistics.truth_share[rows, favourite] <= 1 - OTHER_TRUTH_SHARE

    tests: dict[FlagKind, Bools] = {
        FlagKind.few: few & (statistics.n_labels > 0),
        FlagKind.adversary: judged & is_adversary,
        FlagKind.one_class: judged & gives_one_class & (low <= NO_SKILL),
        FlagKind.spammer: judged & (skill < NO_SKILL) & (low <= 0) & (high < LITTLE_SKILL),
        FlagKind.biased: judged & is_biased,
        FlagKind.careless: judged & is_careless,
    }
    kind = np.full(len(few), -1, dtype=np.int64)
    for position, name in reversed(list(enumerate(CHARACTER_FLAGS))):  # the first that applies is written last
        kind[tests[name]] = position
    return CharacterFlags(kind=kind, confusion=confusion, median_skill=median, best_f1=best_f1)


def find_bias(statistics: ConfusionStatistics) -> tuple[Ints, Bools]:
    """Return confusion[j] = (m, n), where j most certainly mistakes m for n, and whether this is a bias."""
    counts, size, n_classes = statistics.counts, len(statistics.names), statistics.counts.shape[1]
    if n_classes < 2:
        return np.zeros((size, 2), dtype=np.int64), np.zeros(size, dtype=bool)
    # often[j, m, n]: mistakes that are frequent enough; intervals are computed only for these
    truth = np.broadcast_to(counts.sum(axis=2, keepdims=True), counts.shape)
    often = ~np.eye(n_classes, dtype=bool) & (counts >= BIASED_SHARE * truth) & (truth >= BIASED_LABELS)
    low: Floats = np.full(often.shape, -1.0)
    low[often] = credible_interval(counts[often], truth[often], statistics.level)[0]
    # share[j, m, n], the share of label n among the labels of all annotators but j on units of class m
    others = np.asarray(counts.sum(axis=0) - counts, dtype=np.float64)
    of_class = others.sum(axis=2, keepdims=True)
    share = np.divide(others, of_class, out=np.zeros_like(others), where=of_class > 0.5)
    often &= low >= np.maximum(BIASED_LOWER_END, share)
    best = np.where(often, low, -1.0).reshape(size, -1).argmax(axis=1)
    return np.stack([best // n_classes, best % n_classes], axis=1), np.asarray(often.any(axis=(1, 2)))


FAVOURED = 0.15
"""Minimum difference of a favoured class's shares among the labels of an annotator and among the truths."""


def explain_flag(statistics: ConfusionStatistics, flags: CharacterFlags, j: int) -> str:
    """Return the reason of annotator j's flag, in a sentence with its figures."""
    kind = CHARACTER_FLAGS[int(flags.kind[j])]
    who, labels = shorten_name(statistics.names[j]), pluralise(int(statistics.n_labels[j]), "label")
    right = percent(_share(statistics.right[j], statistics.given[j]))
    by_chance = f"{right} of {labels} are right (guessing: {percent(statistics.chance[j])})"
    match kind:
        case FlagKind.few:
            n_items = int(statistics.n_items[j])
            if statistics.n_compared is None or n_items < FEW_ITEMS:
                return f"{who} gave {labels}: too few to judge."
            shared = f"{int(statistics.n_compared[j]):,} of {pluralise(n_items, 'item')}"
            return f"{who} shares {shared} with others: too few to judge."
        case FlagKind.adversary:
            counts = statistics.counts[j]
            m, n = divmod(int((counts * (1 - np.eye(len(counts)))).argmax()), len(counts))  # the worst confusion
            return f"{who} is worse than chance: {by_chance}, and {who} {_describe_confusion(statistics, j, m, n)}."
        case FlagKind.one_class | FlagKind.spammer:
            favourite = int(statistics.label_share[j].argmax())
            share = statistics.label_share[j, favourite]
            if share < MOSTLY:
                return f"{who} seems to answer without looking: {by_chance}."
            every = "all" if share > 1 - 1e-9 else percent(share)
            given = shorten_name(statistics.classes[favourite])
            return f"{who} answers {given} whatever the truth is: {every} of {labels}."
        case FlagKind.biased:
            m, n = flags.confusion[j].tolist()
            reverse = float(statistics.counts[j, n].sum())
            if reverse >= BIASED_LABELS / 2 and float(statistics.counts[j, n, m]) >= MUTUAL_SHARE * reverse:
                back = percent(_share(statistics.counts[j, n, m], statistics.counts[j, n].sum()))
                a, b = shorten_name(statistics.classes[m]), shorten_name(statistics.classes[n])
                often = _describe_confusion(statistics, j, m, n)
                return f"{who} confuses {a} and {b}: {often}, and the reverse in {back}."
            favours = "" if _is_overlooked(statistics, n) else f"favours {shorten_name(statistics.classes[n])}: "
            return f"{who} {favours}{_describe_confusion(statistics, j, m, n)}."
    skill = percent(max(float(statistics.skill[0][j]), 0.0))
    median = percent(flags.median_skill)
    often = f"{right} of {labels} right, a skill of {skill}; the median annotator has {median}"
    # The class, if any, that the annotator gives far more often than it is true
    excess, favours = statistics.label_share[j] - statistics.truth_share[j], ""
    n = int(excess.argmax())
    if excess[n] >= FAVOURED and not _is_overlooked(statistics, n):
        said, true = percent(statistics.label_share[j, n]), percent(statistics.truth_share[j, n])
        favours = f" and favours {shorten_name(statistics.classes[n])}, given {said} of the time and true {true} of it"
    return f"{who} is often wrong{favours}: {often}."


MUTUAL_SHARE = 0.3
"""Two classes are confused if the rarer mistake of the two happens in this share of its labels or more."""


def _describe_confusion(statistics: ConfusionStatistics, j: int, m: int, n: int) -> str:
    true_class, given = shorten_name(statistics.classes[m]), shorten_name(statistics.classes[n])
    truth = float(statistics.counts[j, m].sum())
    share = percent(_share(statistics.counts[j, m, n], truth))
    if _is_overlooked(statistics, n):
        return f"overlooks {true_class}: leaves {share} of {approximate(truth)} such tokens unmarked"
    return f"takes {true_class} for {given} in {share} of {approximate(truth)} labels where the truth is {true_class}"


def _is_overlooked(statistics: ConfusionStatistics, n: int) -> bool:
    """Return whether the label n means that a span was not marked."""
    return bool(statistics.classes[n] == OUTSIDE and is_span_tag_set(statistics.classes))


def _share(part: float, whole: float) -> float:
    return min(max(float(part) / float(whole), 0.0), 1.0) if whole > 0 else float("nan")


# Reliability over time: annotators who get worse.
#
# An observation is an annotation, an (item, annotator) pair, with the mean belief in its labels, because the tokens of
# a sentence are tagged together and are not independent. The trend is the slope of this belief over the annotations in
# the order of time, tested by Student's t. Among many annotators some get worse by chance, so the false discovery rate
# is controlled by the procedure of Benjamini and Hochberg [BH95], and the fall must be at least LEAST_FALL.
#
# Axes: j annotator, p annotation, b bin of time.
#
# [BH95] Benjamini, Hochberg: Controlling the false discovery rate. JRSS B 57, 1995.

BINS = 5
"""Number of equal parts of an annotator's annotations, in the order of time."""
LEAST_ANNOTATIONS = 40
"""Minimum number of annotations for a test: eight in each bin."""
FALSE_DISCOVERY_RATE = 0.05
"""Accepted share of detected falls that are due to chance."""
LEAST_FALL = 0.1
"""Minimum fall from the first to the last bin, however certain it is."""


@dataclass(frozen=True, eq=False, kw_only=True)
class DriftStatistics:
    """Trend of every annotator.

    Attributes:
        is_tested: is_tested[j], whether there are enough annotations with times.
        n: n[j, b], annotations in each bin.
        right: right[j, b], the expected number of right ones.
        begin: begin[j, b], the first time in the bin.
        end: end[j, b], the last time in the bin.
        change: change[j], the share of right annotations in the last bin minus that in the first.
        p_value: p_value[j] of the one-sided test of a fall; NaN if undefined.
        falls: falls[j], whether the annotator gets worse.
        level: Level of the intervals.
    """

    is_tested: Bools
    n: Ints
    right: Floats
    begin: Floats
    end: Floats
    change: Floats
    p_value: Floats
    falls: Bools
    level: float


def measure_drift(labels: CrowdLabels, beliefs: Beliefs, level: float) -> DriftStatistics | None:
    """Measure and test every annotator's trend; None if the labels have no times."""
    if labels.time is None or not np.isfinite(labels.time).any():
        return None
    size, shape = len(labels.annotators), (len(labels.annotators), BINS)
    # annotator[p], time[p] and right[p] of the annotations with a time, sorted by annotator and time
    _, annotator, pair = labels.annotations()
    n_labels = np.maximum(sum_by(pair, len(annotator)), 1)
    right = sum_by(pair, len(annotator), beliefs[labels.unit, labels.label]) / n_labels
    time = sum_by(pair, len(annotator), np.asarray(labels.time, dtype=np.float64)) / n_labels
    known = np.flatnonzero(np.isfinite(time))
    order = known[np.lexsort((time[known], annotator[known]))]
    annotator, time, right = annotator[order], time[order], right[order]
    count = np.bincount(annotator, minlength=size)
    # place[p], the position of annotation p among those of its annotator; cell[p], its annotator and bin in one number.
    place = np.arange(len(annotator)) - (np.cumsum(count) - count)[annotator]
    cell = annotator.astype(np.int64) * BINS + place * BINS // np.maximum(count, 1)[annotator]
    n = np.bincount(cell, minlength=size * BINS).reshape(shape)
    hits = sum_by(cell, size * BINS, right).reshape(shape)
    begin, end = np.full(size * BINS, np.inf), np.full(size * BINS, -np.inf)
    np.minimum.at(begin, cell, time)
    np.maximum.at(end, cell, time)
    share = hits / np.maximum(n, 1)
    change = share[:, -1] - share[:, 0]
    is_tested = count >= LEAST_ANNOTATIONS
    p_value = np.where(is_tested, falling_trend_p_values(annotator, place.astype(np.float64), right, size), np.nan)
    return DriftStatistics(
        is_tested=is_tested,
        n=n,
        right=hits,
        begin=begin.reshape(shape),
        end=end.reshape(shape),
        change=change,
        p_value=p_value,
        falls=find_discoveries(p_value, FALSE_DISCOVERY_RATE) & (change <= -LEAST_FALL),
        level=level,
    )


def falling_trend_p_values(annotator: Ints, x: Floats, y: Floats, size: int) -> Floats:
    """Return p[j] of the one-sided t-test that y falls with x among the annotations of j; NaN if undefined."""
    from scipy.special import stdtr

    n = sum_by(annotator, size)
    some = np.maximum(n, 1)
    dx = x - (sum_by(annotator, size, x) / some)[annotator]
    dy = y - (sum_by(annotator, size, y) / some)[annotator]
    xx, xy, yy = (sum_by(annotator, size, product) for product in (dx * dx, dx * dy, dy * dy))
    fine = (n > 2) & (xx > 0) & (yy > 1e-12)
    r = np.where(fine, xy / np.sqrt(np.where(fine, xx * yy, 1.0)), 0.0)
    free = np.maximum(n - 2, 1)
    t = r * np.sqrt(free / np.maximum(1 - r**2, 1e-300))
    return np.where(fine, stdtr(free, t), np.nan)


FLAG_RANK = {
    FlagKind.adversary: 5, FlagKind.spammer: 4, FlagKind.one_class: 4, FlagKind.drift: 3, FlagKind.biased: 2,
    FlagKind.careless: 2, FlagKind.near_copy: 2, FlagKind.few: 1,
}  # fmt: skip
"""Severity of each flag."""
DISTRUSTED = (FlagKind.adversary, FlagKind.spammer, FlagKind.one_class)
"""Flags of annotators whose labels carry no information or are misleading, and who should not be asked for more."""
NO_FLAG = "ok"
"""Verdict on an annotator without flags."""


@dataclass(frozen=True, eq=False, kw_only=True)
class AnnotatorVerdicts:
    """Findings on all annotators.

    Attributes:
        scores: Comparison of their labels with the beliefs.
        confusion: Their expected confusion counts.
        flags: Flags that describe their labels.
        drift: Their trends; None without times.
        mistakes: Mistakes in spans; None unless tags are span tags.
        group: group[j], equal for near-copies, which count as one annotator; None if unknown.
    """

    scores: AnnotatorScores
    confusion: ConfusionStatistics
    flags: CharacterFlags
    drift: DriftStatistics | None
    mistakes: SpanErrors | None
    group: Ints | None = None

    def near_copies(self, j: int) -> list[str]:
        """Return the names of the other annotators in j's group of near-copies."""
        if self.group is None:
            return []
        return [self.confusion.names[i] for i in np.flatnonzero(self.group == self.group[j]).tolist() if i != j]

    def flag_kinds(self, j: int) -> list[FlagKind]:
        """Return the flags of annotator j, the most serious first."""
        found = [] if self.flags.kind[j] < 0 else [CHARACTER_FLAGS[int(self.flags.kind[j])]]
        found += [FlagKind.drift] if self.drift is not None and self.drift.falls[j] else []
        found += [FlagKind.near_copy] if self.near_copies(j) else []
        return sorted(found, key=lambda kind: -FLAG_RANK[kind])

    def flag_rank(self) -> Ints:
        """Return flag_rank[j], the rank of the most serious flag; 0 without any."""
        character = np.array([*(FLAG_RANK[kind] for kind in CHARACTER_FLAGS), 0])[self.flags.kind]
        drift = 0 if self.drift is None else np.where(self.drift.falls, FLAG_RANK[FlagKind.drift], 0)
        copy = [FLAG_RANK[FlagKind.near_copy] if self.near_copies(j) else 0 for j in self._everybody]
        return np.asarray(np.maximum(np.maximum(character, drift), np.array(copy, dtype=np.int64)))

    def bias(self, j: int) -> tuple[int, int] | None:
        """Return (m, n), the true class that annotator j mistakes and the favoured class; None without the flag."""
        m, n = (int(k) for k in self.flags.confusion[j])
        return (m, n) if self.flags.has(FlagKind.biased)[j] else None

    def distrusted(self) -> Bools:
        """Return distrusted[j], whether annotator j should not be asked for more labels."""
        return np.asarray(np.any([self.flags.has(kind) for kind in DISTRUSTED], axis=0))

    def reason(self, kind: FlagKind, j: int) -> str:
        """Return the reason of one of annotator j's flags, in a sentence with its figures."""
        if kind is FlagKind.careless and self.mistakes is not None:
            return _explain_careless_spans(self, self.mistakes, j)
        if kind is FlagKind.near_copy:
            who, others = shorten_name(self.confusion.names[j]), list_names(self.near_copies(j), most=3)
            return f"{who} nearly always gives the same answer as {others}, also when it is wrong; they count once."
        if kind is FlagKind.drift and self.drift is not None:
            first, last = (self.drift.right[j, b] / self.drift.n[j, b] for b in (0, -1))
            return (
                f"{shorten_name(self.confusion.names[j])} gets worse: {percent(first)} right in the first fifth of "
                f"{int(self.drift.n[j].sum()):,} annotations, {percent(last)} in the last."
            )
        return explain_flag(self.confusion, self.flags, j)

    def words(self) -> list[str | None]:
        """Return the verdict on every annotator: the flags, most serious first; None for annotators without labels."""
        return [", ".join(self.flag_kinds(j)) or NO_FLAG if self._can_judge(j) else None for j in self._everybody]

    def sentences(self) -> list[str | None]:
        """Return the reasons of every annotator's flags; None for annotators without flags."""
        return [
            " ".join(self.reason(kind, j) for kind in self.flag_kinds(j)) or None if self._can_judge(j) else None
            for j in self._everybody
        ]

    @property
    def _everybody(self) -> range:
        return range(len(self.confusion.names))

    def _can_judge(self, j: int) -> bool:
        """Return whether j gave labels, none of them partial ("not X"), for which there is no confusion matrix."""
        return bool(self.confusion.n_labels[j] > 0) and self.scores.labels.negated is None


def judge_annotators(labels: CrowdLabels, estimate: Estimate, *, gold: Ints | None = None) -> AnnotatorVerdicts:
    """Return the findings on all annotators from labels and beliefs.

    Args:
        labels: The labels from which the estimate was computed.
        estimate: The estimate.
        gold: gold[i], the true class of every unit, for counting mistakes in spans; None uses the answers.
    """
    scores, size = score_annotators(labels, estimate), len(labels.annotators)
    counts: Floats = np.zeros((size, 0, 0))
    if scores.labels.n_labels and size * labels.n_classes**2 <= MOST_CELLS:
        counts = tally(make_shards(scores.labels, partial=True), scores.estimate.beliefs).counts.transpose(0, 2, 1)
    confusion = ConfusionStatistics(
        names=tuple(str(name) for name in labels.annotators),
        classes=tuple(str(name) for name in labels.classes),
        counts=counts,
        n_labels=scores.n_labels,
        n_items=scores.n_items,
        n_compared=scores.n_compared,
    )
    has_spans = labels.is_sequential and is_span_tag_set(labels.classes)
    mistakes = None
    if has_spans:
        from crowdlogic.metrics.spans import count_span_errors

        mistakes = count_span_errors(labels, estimate.answer if gold is None else gold)
    span_f1 = (scores.reliability, scores.table["reliability_high"].to_numpy()) if has_spans else None
    least = least_items(is_sequential=labels.is_sequential)
    return AnnotatorVerdicts(
        scores=scores,
        confusion=confusion,
        flags=flag_annotators(confusion, least, span_f1=span_f1),
        drift=measure_drift(labels, estimate.beliefs, LEVEL),
        mistakes=mistakes,
        group=estimate.parameters[GROUP].astype(np.int64) if GROUP in estimate.parameters else None,
    )


def askable(labels: CrowdLabels, judged: AnnotatorVerdicts) -> tuple[Bools | None, list[str]]:
    """Return available[j], whether annotator j should be asked for more labels, and the names of the others.

    Return None for `available`, which means all annotators, if none of them is flagged, or all are.
    """
    should_not = judged.distrusted()
    available = (labels.labels_per_annotator() > 0) & ~should_not
    if not should_not.any() or not available.any():
        return None, []
    return available, [judged.confusion.names[int(j)] for j in np.flatnonzero(should_not)]


def _explain_careless_spans(judged: AnnotatorVerdicts, found: SpanErrors, j: int) -> str:
    """Return why an annotator of spans is careless: the kinds of mistakes, and the F1 compared with the best."""
    n_true = max(int(found.n_gold[j]), 1)
    parts = {"overlooks": found.ignored, "mistypes": found.wrong_type, "misplaces the ends of": found.boundary}
    worst = sorted(((int(count[j]), verb) for verb, count in parts.items() if count[j]), reverse=True)[:2]
    mistakes = " and ".join(f"{verb} {percent(count / n_true)}" for count, verb in worst) or "marks what is no span"
    f1 = percent(float(judged.scores.reliability[j]))
    return (
        f"{shorten_name(judged.confusion.names[j])} often marks spans wrongly: {mistakes} of "
        f"{pluralise(int(found.n_gold[j]), 'span')}; span F1 {f1}, where a quarter of the annotators reach "
        f"{percent(judged.flags.best_f1)}."
    )


# The table of annotators: the verdict on each with its reason, and the figures on which it is based. It is computed
# from labels and beliefs, so it has the same meaning for all methods; the report shows the same table.


def annotator_table(labels: CrowdLabels, estimate: Estimate, *, level: float = LEVEL) -> pl.DataFrame:
    """Return one row per annotator, in the order of the labels.

    Columns:

    - annotator: the name;
    - verdict: adversary, spammer, one class, biased, careless, near-copy, drift or too few labels (see
      docs/reference/report.md); ok if none of these applies;
    - labels, items: the numbers of labels and of labelled items;
    - reliability, reliability_low, reliability_high: the expected share of right labels and its credible interval; for
      span tags, the expected F1 of whole spans, and token_reliability is the share of right tokens;
    - expected_accuracy: the accuracy if classes were as frequent as the method believes, so that labelling only easy
      classes is no advantage;
    - informativeness: how much the labels depend on the truth, from 0 for a spammer to 1 if they determine it;
    - confused_truth, confused_label, confused_count: the most frequent mistake (for a biased annotator, the bias), and
      how often it is expected;
    - weight: the method's own parameter of the annotator, if there is one;
    - reason: the reason of the verdict, in a sentence.

    For majority vote, each label is compared with the votes of the other annotators, because the beliefs contain the
    annotator's own vote.

    Args:
        labels: The labels from which the estimate was computed, or a frame of labels.
        estimate: The estimate of a method, or the result of a training.
        level: Level of the credible intervals.
    """
    if not 0 < level < 1:
        raise OptionError(f"level must be between 0 and 1, got {level}.")
    labels, estimate = as_labels(labels, "annotator_table"), getattr(estimate, "estimate", estimate)
    require_kind(estimate, Estimate, "annotator_table", "Write annotator_table(labels, method.infer(labels)).")
    if len(estimate.beliefs) != labels.n_units or len(estimate.annotators) != len(labels.annotators):
        raise DataError("The estimate is not of these labels. Give the labels from which it was computed.")
    judged = judge_annotators(labels, estimate)
    scores = judged.scores
    table = name_biases(scores.table if level == LEVEL else scores.at_level(level), judged)
    verdict = pl.Series("verdict", judged.words(), pl.String)
    reason = pl.Series("reason", judged.sentences(), pl.String)
    return table.select("annotator", verdict, pl.exclude("annotator"), reason)


def name_biases(table: pl.DataFrame, judged: AnnotatorVerdicts) -> pl.DataFrame:
    """Replace the most frequent mistake of each biased annotator by the bias that the reason of the flag describes."""
    truth, label, count = (table[f"confused_{part}"].to_list() for part in ("truth", "label", "count"))
    statistics = judged.confusion
    for j in range(table.height):
        if (found := judged.bias(j)) is not None:
            truth[j], label[j] = statistics.classes[found[0]], statistics.classes[found[1]]
            count[j] = float(statistics.counts[j, found[0], found[1]])
    return table.with_columns(
        confused_truth=pl.Series(truth, dtype=pl.String),
        confused_label=pl.Series(label, dtype=pl.String),
        confused_count=pl.Series(count, dtype=pl.Float64),
    )
