"""Verdicts on annotators: flags of character and drift, with the reasons in words.

One computation, which the table of annotators, a saved run and the report share.

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
# Where a method has no model of its annotators (the vote, or a user-defined method without annotator parameters), every
# annotator's own label is among what they are judged by, which flatters those who guess. There each label is compared
# with the votes of the others on the same unit (leave-one-out), and a label without any other vote beside it is left
# out. Methods that model the annotators weigh votes themselves and need no such correction.
#
# Axes: i unit, j annotator, k class, n label.

MAX_TABLE_CELLS = 200_000_000
"""Labels times classes beyond which a row of votes for each label would not fit into memory."""
SHARES_OF_VOTES = "majority"
"""The truth method whose beliefs are shares of votes."""


@dataclass(frozen=True, eq=False, kw_only=True)
class AnnotatorScores:
    """Comparison of every annotator's labels with the beliefs.

    Attributes:
        labels: The labels that are compared with the beliefs.
        estimate: The beliefs they are compared with.
        is_leave_one_out: Whether each label is compared with the votes of the others.
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
        """The figures of every annotator, with intervals at the usual level."""
        return self.at_level(LEVEL)

    def at_level(self, level: float) -> pl.DataFrame:
        """Return the figures with intervals at some level, and the numbers of labels and items that were given."""
        table = annotator_figures(self.labels, self.estimate, level)
        return table.with_columns(pl.Series("labels", self.n_labels), pl.Series("items", self.n_items))

    @property
    def reliability(self) -> Floats:
        """Return reliability[j], the expected share of right labels, or F1 of spans; NaN without labels."""
        return np.where(self.n_labels > 0, self.table["reliability"].to_numpy(), np.nan)


def score_annotators(labels: CrowdLabels, estimate: Estimate) -> AnnotatorScores:
    """Compare every annotator's labels with the beliefs; without a model of annotators, with the others' votes."""
    by_others = leave_one_out(labels, estimate)
    compared, beliefs = (labels, estimate) if by_others is None else by_others
    return AnnotatorScores(
        labels=compared,
        estimate=beliefs,
        is_leave_one_out=by_others is not None,
        n_labels=labels.labels_per_annotator(),
        n_items=np.bincount(labels.annotations()[1], minlength=len(labels.annotators)),
        n_compared=count_compared(labels, estimate, by_votes=by_others is not None),
    )


def count_compared(labels: CrowdLabels, estimate: Estimate, *, by_votes: bool) -> Ints:
    """Return n[j], the items of annotator j that another annotator labelled, too, or whose truth is known.

    What a classifier has learnt speaks of every item.

    Args:
        labels: The labels.
        estimate: The estimate.
        by_votes: Whether annotators are judged by the votes of the others.
    """
    item, annotator, _ = labels.annotations()
    compared = np.bincount(item, minlength=len(labels.items)) > 1
    if estimate.method in LEARNING_METHODS:
        compared[:] = True
    elif estimate.calibration is not None or not by_votes:
        doubted = estimate.beliefs.max(axis=1, initial=0.0) < 1.0
        compared |= sum_by(labels.item_of_unit, len(labels.items), doubted.astype(np.float64)) == 0
    return np.bincount(annotator[compared[item]], minlength=len(labels.annotators))


def judges_by_others(labels: CrowdLabels, estimate: Estimate) -> bool:
    """Return whether the method has no model of its annotators; fully certain beliefs count as known truths."""
    if estimate.confusion is not None or estimate.reliability is not None or labels.negated is not None:
        return False
    is_truth = estimate.method != SHARES_OF_VOTES and bool((estimate.confidence[estimate.answered] >= 1.0).all())
    return not is_truth and 0 < labels.n_labels * labels.n_classes <= MAX_TABLE_CELLS


def leave_one_out(labels: CrowdLabels, estimate: Estimate) -> tuple[CrowdLabels, Estimate] | None:
    """Return each label as a unit of its own, believed as the others voted; None where the method models annotators.

    On a stated scale only known truths are certain, and these judge better than votes.
    """
    if not judges_by_others(labels, estimate):
        return None
    # others[n, k]: votes for class k on the unit of label n, without label n itself.
    others = labels.votes()[labels.unit]
    others[np.arange(labels.n_labels), labels.label] -= labels.weights
    if estimate.calibration is not None:
        known = estimate.beliefs.max(axis=1)[labels.unit] >= 1.0
        others[known] = estimate.beliefs[labels.unit[known]]
    rows = np.flatnonzero(others.sum(axis=1) > 0)
    offsets = None
    if labels.is_sequential:  # each annotator's pass over a sentence becomes a sentence of its own
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


# Label statistics of every annotator, which decide the flags.
#
# Skill is Cohen's kappa between an annotator's labels and the believed truth of what they labelled: (right - chance) /
# (1 - chance), where chance is how often labels with the same frequencies, given at random, would be right. It is 1 for
# an annotator who is always right, 0 for guessing or always the same label, and negative for worse than chance. Its
# interval is that of the share of right labels, so the flags become careful by themselves where labels are few.
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
        counts: counts[j, m, n], expected number of labels n where the truth is m; without classes where they would
            not fit into memory.
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
        """chance[j], how often labels with the same frequencies, given at random, would be right."""
        return np.asarray((self.label_share * self.truth_share).sum(axis=1))

    @property
    def smoothed(self) -> Floats:
        """confusion[j, m, n], with SMOOTHING pseudo-counts over each row."""
        counts = self.counts + SMOOTHING / max(self.counts.shape[1], 1)
        return np.asarray(counts / counts.sum(axis=2, keepdims=True))

    @cached_property
    def skill(self) -> tuple[Floats, Floats, Floats]:
        """skill[j] with both ends of its interval at the usual level."""
        return self.skill_at(self.level)

    def skill_at(self, level: float) -> tuple[Floats, Floats, Floats]:
        """skill[j] ([COHEN60]) with both ends of its interval; NaN where chance is 1, or nothing was labelled."""
        room = np.where((self.given > 0) & (self.chance < 1 - 1e-9), 1 - self.chance, np.nan)
        low, high = credible_interval(self.right, self.given, level)
        share = self.right / np.maximum(self.given, 1e-300)
        return (share - self.chance) / room, (low - self.chance) / room, (high - self.chance) / room


def confusion_statistics(scores: AnnotatorScores) -> ConfusionStatistics:
    """Return the confusion statistics of all annotators."""
    labels, size = scores.labels, len(scores.labels.annotators)
    counts: Floats = np.zeros((size, 0, 0))
    if labels.n_labels and size * labels.n_classes**2 <= MOST_CELLS:
        counts = tally(make_shards(labels, partial=True), scores.estimate.beliefs).counts.transpose(0, 2, 1)
    return ConfusionStatistics(
        names=tuple(str(name) for name in labels.annotators),
        classes=tuple(str(name) for name in labels.classes),
        counts=counts,
        n_labels=scores.n_labels,
        n_items=scores.n_items,
        n_compared=scores.n_compared,
    )


# Flags on an annotator, with the reason in words.
#
# An annotator has at most one flag of character, the first that fits; `drift` comes beside it (see drift.py):
#
# - too few labels: too few items to be judged;
# - adversary: worse than chance, with great certainty, or in a way that reveals much of the truth;
# - one class: nearly always the same label, where the truth varies;
# - spammer: no better than chance, and certainly not good;
# - biased: mistakes one class for another about as often as not, and certainly more often than the others do;
# - careless: less than half the skill of the median annotator, and certainly far less; for span tags, a span F1 that
# is
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
"""The level of that interval: a grave thing to say of one in many annotators."""
ADVERSARY_INFORMATIVENESS = 0.3
"""Or the skill is below 0, the upper end of its interval below LITTLE_SKILL, and the informativeness above this."""
ONE_CLASS_SHARE = 0.95
"""Minimum share of one label for an annotator who nearly always gives the same answer."""
OTHER_TRUTH_SHARE = 0.15
"""The truth varies, for the flag of one class, from this share of other classes on."""
NO_SKILL, LITTLE_SKILL = 0.1, 0.3
"""A spammer's skill is below the first, the ends of its interval are at most 0 and below the second."""
BIASED_SHARE, BIASED_LOWER_END = 0.45, 0.35
"""A biased annotator mistakes a class for another with this share, whose interval does not reach below the second."""
BIASED_LABELS = 10
"""Minimum expected number of labels on a class to look for a bias."""
CARELESS_FRACTION, CARELESS_UPPER_END = 0.5, 0.8
"""A careless annotator's skill is below the first fraction of the median skill, its upper end below the second: by the
upper end alone, a hundred labels of somebody with a quarter of the skill would not be enough to say so."""
CARELESS_SPANS = 0.8
"""For span tags: its upper end is below this fraction of the F1 that the best quarter of annotators reach."""
BEST_QUARTER = 75
"""The percentile of F1 that they reach."""
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
"""Flags of character, in the order in which they are checked."""


@dataclass(frozen=True, eq=False, kw_only=True)
class CharacterFlags:
    """Flag of character of every annotator.

    Attributes:
        kind: kind[j], a position in CHARACTER_FLAGS; -1 for none.
        confusion: confusion[j] = (m, n), the true class that a biased annotator mistakes, and for which.
        median_skill: The median skill of those who can be judged; NaN when nobody can.
        best_f1: The span F1 that the best quarter of those reach; NaN unless tags are span tags.
    """

    kind: Ints
    confusion: Ints
    median_skill: float
    best_f1: float = float("nan")

    def has(self, kind: FlagKind) -> Bools:
        """Return has[j], whether annotator j has this flag."""
        return np.asarray(self.kind == CHARACTER_FLAGS.index(kind))


def least_items(*, is_sequential: bool) -> int:
    """Return how many items an annotator must have labelled to be judged."""
    return FEW_SENTENCES if is_sequential else FEW_ITEMS


def flag_annotators(
    statistics: ConfusionStatistics, least: int = FEW_ITEMS, *, span_f1: tuple[Floats, Floats] | None = None
) -> CharacterFlags:
    """Return the flags of every annotator.

    Args:
        statistics: Label statistics of all annotators.
        least: Those with fewer items are not judged.
        span_f1: For span tags: the F1 of every annotator's spans, and the upper end of its interval.
    """
    skill, low, high = statistics.skill
    few = (statistics.n_items if statistics.n_compared is None else statistics.n_compared) < least
    judged = ~few & np.isfinite(skill)
    median = float(np.median(skill[judged])) if judged.any() else float("nan")
    confusion, is_biased = find_bias(statistics)
    is_careless, best_f1 = _is_careless(statistics, judged, median, span_f1)
    with np.errstate(invalid="ignore"):
        tests: dict[FlagKind, Bools] = {
            FlagKind.few: few & (statistics.n_labels > 0),
            FlagKind.adversary: judged & is_adversary(statistics),
            FlagKind.one_class: judged & gives_one_class(statistics) & (low <= NO_SKILL),
            FlagKind.spammer: judged & (skill < NO_SKILL) & (low <= 0) & (high < LITTLE_SKILL),
            FlagKind.biased: judged & is_biased,
            FlagKind.careless: is_careless,
        }
    kind = np.full(len(few), -1, dtype=np.int64)
    for position, name in reversed(list(enumerate(CHARACTER_FLAGS))):  # the first that fits is written last
        kind[tests[name]] = position
    return CharacterFlags(kind=kind, confusion=confusion, median_skill=median, best_f1=best_f1)


def _is_careless(
    statistics: ConfusionStatistics, judged: Bools, median: float, span_f1: tuple[Floats, Floats] | None
) -> tuple[Bools, float]:
    """Return whether annotator j is careless, and the F1 of spans that it was judged by."""
    with np.errstate(invalid="ignore"):
        if span_f1 is None:
            skill, _, high = statistics.skill
            is_far = (skill < CARELESS_FRACTION * median) & (high < CARELESS_UPPER_END * median)
            return judged & is_far, float("nan")
        f1, upper = span_f1
        counted = f1[judged & np.isfinite(f1)]
        best = float(np.percentile(counted, BEST_QUARTER)) if len(counted) else float("nan")
        return judged & np.isfinite(f1) & (upper < CARELESS_SPANS * best), best


def is_adversary(statistics: ConfusionStatistics) -> Bools:
    """Return whether annotator j is worse than chance, with high certainty or with informative labels."""
    skill, _, high = statistics.skill
    revealed = informativeness(statistics.smoothed) if statistics.counts.shape[1] else np.zeros(len(skill))
    with np.errstate(invalid="ignore"):
        is_certain = (skill < ADVERSARY_SKILL) & (statistics.skill_at(ADVERSARY_LEVEL)[2] < 0)
        is_revealing = (skill < 0) & (high < LITTLE_SKILL) & (revealed > ADVERSARY_INFORMATIVENESS)
    return np.asarray(is_certain | is_revealing)


def gives_one_class(statistics: ConfusionStatistics) -> Bools:
    """Return whether nearly every label of j is one class, though the truth is often another."""
    if statistics.counts.shape[1] < 2:
        return np.zeros(len(statistics.names), dtype=bool)
    favourite = statistics.label_share.argmax(axis=1)
    rows = np.arange(len(favourite))
    nearly_always = statistics.label_share[rows, favourite] >= ONE_CLASS_SHARE
    return np.asarray(nearly_always & (statistics.truth_share[rows, favourite] <= 1 - OTHER_TRUTH_SHARE))


def find_bias(statistics: ConfusionStatistics) -> tuple[Ints, Bools]:
    """Return confusion[j] = (m, n), the true class most certainly mistaken for another; and whether that is a bias."""
    counts, size, n_classes = statistics.counts, len(statistics.names), statistics.counts.shape[1]
    if n_classes < 2:
        return np.zeros((size, 2), dtype=np.int64), np.zeros(size, dtype=bool)
    # Cells (j, m, n) off the diagonal that are large enough; intervals are computed for these alone.
    truth = np.broadcast_to(counts.sum(axis=2, keepdims=True), counts.shape)
    often = ~np.eye(n_classes, dtype=bool) & (counts >= BIASED_SHARE * truth) & (truth >= BIASED_LABELS)
    low: Floats = np.full(often.shape, -1.0)
    low[often] = credible_interval(counts[often], truth[often], statistics.level)[0]
    often &= low >= np.maximum(BIASED_LOWER_END, _shares_of_others(counts))
    best = np.where(often, low, -1.0).reshape(size, -1).argmax(axis=1)
    return np.stack([best // n_classes, best % n_classes], axis=1), np.asarray(often.any(axis=(1, 2)))


def _shares_of_others(counts: Floats) -> Floats:
    """Return share[j, m, n], the rate at which all others but j answer n if the truth is m; 0 without labels."""
    others = np.asarray(counts.sum(axis=0) - counts, dtype=np.float64)
    truth = others.sum(axis=2, keepdims=True)
    return np.asarray(np.divide(others, truth, out=np.zeros_like(others), where=truth > 0.5))


FAVOURED = 0.15
"""Minimum excess of a favoured class's share among an annotator's labels over its share among their items."""


def explain_flag(statistics: ConfusionStatistics, flags: CharacterFlags, j: int) -> str:
    """Return why annotator j has the flag: a sentence with its figures."""
    kind = CHARACTER_FLAGS[int(flags.kind[j])]
    who, labels = shorten_name(statistics.names[j]), pluralise(int(statistics.n_labels[j]), "label")
    right = percent(_share(statistics.right[j], statistics.given[j]))
    by_chance = f"{right} of {labels} right where guessing would be {percent(statistics.chance[j])}"
    match kind:
        case FlagKind.few:
            return f"{who} {_describe_few(statistics, j, labels)}: too few to judge."
        case FlagKind.adversary:
            counts = statistics.counts[j]
            m, n = divmod(int((counts * (1 - np.eye(len(counts)))).argmax()), len(counts))  # the worst confusion
            return f"{who} is worse than chance: {by_chance}; {_describe_confusion(statistics, j, m, n)}."
        case FlagKind.one_class | FlagKind.spammer:
            favourite = int(statistics.label_share[j].argmax())
            share = statistics.label_share[j, favourite]
            if share < MOSTLY:
                return f"{who} answers as if without looking: {by_chance}."
            every = "all" if share > 1 - 1e-9 else percent(share)
            return (
                f"{who} answers {shorten_name(statistics.classes[favourite])} whatever the truth: {every} of {labels}."
            )
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
    return f"{who} is often wrong{_describe_favourite(statistics, j)}: {often}."


MUTUAL_SHARE = 0.3
"""Two classes are confused if the rarer mistake of the two happens in this share of its labels or more."""


def _describe_favourite(statistics: ConfusionStatistics, j: int) -> str:
    """Return which class annotator j gives far more often than it is true, in words; empty without one."""
    excess = statistics.label_share[j] - statistics.truth_share[j]
    n = int(excess.argmax())
    if excess[n] < FAVOURED or _is_overlooked(statistics, n):
        return ""
    said, true = percent(statistics.label_share[j, n]), percent(statistics.truth_share[j, n])
    return f" and favours {shorten_name(statistics.classes[n])}, given {said} of the time and true {true} of it"


def _describe_few(statistics: ConfusionStatistics, j: int, labels: str) -> str:
    n_items = int(statistics.n_items[j])
    if statistics.n_compared is None or n_items < FEW_ITEMS:
        return f"gave {labels}"
    return f"shares {int(statistics.n_compared[j]):,} of {pluralise(n_items, 'item')} with others"


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


# Reliability over time: who gets worse.
#
# The observations are annotations, (item, annotator) pairs, each with the mean belief in its labels: the tokens of a
# sentence are tagged at one time and are not independent. The trend is the slope of that over the order of time, tested
# by Student's t. Of many annotators some fall by chance, so a fall counts where Benjamini and Hochberg's procedure
# [BH95] keeps the false discovery rate below FALSE_DISCOVERY_RATE, and where it is at least LEAST_FALL.
#
# Axes: j annotator, p annotation, b bin of time.
#
# [BH95] Benjamini, Hochberg: Controlling the false discovery rate. JRSS B 57, 1995.

BINS = 5
"""Equal parts of an annotator's annotations, in the order of time."""
LEAST_ANNOTATIONS = 40
"""Minimum number of annotations to look for a trend: eight in each bin."""
FALSE_DISCOVERY_RATE = 0.05
"""The share of detected falls that may be chance."""
LEAST_FALL = 0.1
"""A smaller fall from the first to the last bin is not worth a flag, however certain."""


@dataclass(frozen=True, eq=False, kw_only=True)
class DriftStatistics:
    """Trend of every annotator.

    Attributes:
        is_tested: is_tested[j], whether there are enough annotations with times.
        n: n[j, b], annotations in each bin.
        right: right[j, b], the expected number of right ones.
        begin: begin[j, b], the first time in the bin.
        end: end[j, b], the last.
        change: change[j], the last bin's share less the first one's.
        p_value: p_value[j], one-sided, of a fall; NaN where undefined.
        falls: falls[j].
        level: The level of the intervals.
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
    """Measure and test every annotator's trend; None when labels have no times."""
    if labels.time is None or not np.isfinite(labels.time).any():
        return None
    size, shape = len(labels.annotators), (len(labels.annotators), BINS)
    annotator, time, right = _sort_by_time(labels, beliefs)
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


def _sort_by_time(labels: CrowdLabels, beliefs: Beliefs) -> tuple[Ints, Floats, Floats]:
    """Return annotator[p], time[p] and right[p] of the annotations with a time, sorted by annotator and time."""
    _, annotator, pair = labels.annotations()
    given = np.asarray(labels.time, dtype=np.float64)
    count = sum_by(pair, len(annotator))
    right = sum_by(pair, len(annotator), beliefs[labels.unit, labels.label]) / np.maximum(count, 1)
    time = sum_by(pair, len(annotator), given) / np.maximum(count, 1)
    known = np.isfinite(time)
    annotator, time, right = annotator[known], time[known], right[known]
    order = np.lexsort((time, annotator))
    return annotator[order], time[order], right[order]


def falling_trend_p_values(annotator: Ints, x: Floats, y: Floats, size: int) -> Floats:
    """p[j] of the one-sided t-test that y falls with x among each annotator's annotations; NaN where it cannot be."""
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
"""Flags of annotators whose labels say nothing, or the contrary: nobody should ask them for more."""
NO_FLAG = "ok"
"""Verdict on an annotator without flags."""


@dataclass(frozen=True, eq=False, kw_only=True)
class AnnotatorVerdicts:
    """Findings on all annotators.

    Attributes:
        scores: Their labels against the beliefs.
        confusion: Their expected confusion counts.
        flags: Their flags of character.
        drift: Their trends; None without times.
        mistakes: Mistakes in spans; None unless tags are span tags.
        group: group[j], the same number for near-copies, which count as one annotator; None if that is not known.
    """

    scores: AnnotatorScores
    confusion: ConfusionStatistics
    flags: CharacterFlags
    drift: DriftStatistics | None
    mistakes: SpanErrors | None
    group: Ints | None = None

    def near_copies(self, j: int) -> list[str]:
        """Return the names of the annotators of whom j is a near-copy."""
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
        """Return flag_rank[j], that of the most serious flag; 0 without any."""
        character = np.array([*(FLAG_RANK[kind] for kind in CHARACTER_FLAGS), 0])[self.flags.kind]
        drift = 0 if self.drift is None else np.where(self.drift.falls, FLAG_RANK[FlagKind.drift], 0)
        copy = [FLAG_RANK[FlagKind.near_copy] if self.near_copies(j) else 0 for j in self._everybody]
        return np.asarray(np.maximum(np.maximum(character, drift), np.array(copy, dtype=np.int64)))

    def bias(self, j: int) -> tuple[int, int] | None:
        """Return (m, n), the true class that annotator j mistakes and the favoured class; None without the flag."""
        m, n = (int(k) for k in self.flags.confusion[j])
        return (m, n) if self.flags.has(FlagKind.biased)[j] else None

    def distrusted(self) -> Bools:
        """Return distrusted[j], whether annotator j should be asked no more."""
        return np.asarray(np.any([self.flags.has(kind) for kind in DISTRUSTED], axis=0))

    def reason(self, kind: FlagKind, j: int) -> str:
        """Return why annotator j has a flag: a sentence with its figures."""
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
        """Return the verdict on every annotator: the flags, the most serious first; None for one without labels."""
        return [", ".join(self.flag_kinds(j)) or NO_FLAG if self._can_judge(j) else None for j in self._everybody]

    def sentences(self) -> list[str | None]:
        """Return the reasons of every annotator's flags; None where there is none."""
        return [
            " ".join(self.reason(kind, j) for kind in self.flag_kinds(j)) or None if self._can_judge(j) else None
            for j in self._everybody
        ]

    @property
    def _everybody(self) -> range:
        return range(len(self.confusion.names))

    def _can_judge(self, j: int) -> bool:
        """Return whether j has given labels, and no partial ones ("not X"), which no confusion matrix has."""
        return bool(self.confusion.n_labels[j] > 0) and self.scores.labels.negated is None


def judge_annotators(labels: CrowdLabels, estimate: Estimate, *, gold: Ints | None = None) -> AnnotatorVerdicts:
    """Return what labels and beliefs say of all annotators.

    Args:
        labels: The labels that the estimate was made from.
        estimate: The estimate.
        gold: gold[i], the true class of every unit, to count mistakes in spans by; None for the answers.
    """
    scores = score_annotators(labels, estimate)
    confusion = confusion_statistics(scores)
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

    None, for everybody, where nobody is flagged, or everybody is.
    """
    should_not = judged.distrusted()
    available = (labels.labels_per_annotator() > 0) & ~should_not
    if not should_not.any() or not available.any():
        return None, []
    return available, [judged.confusion.names[int(j)] for j in np.flatnonzero(should_not)]


def _explain_careless_spans(judged: AnnotatorVerdicts, found: SpanErrors, j: int) -> str:
    """Return why an annotator of spans is careless: what became of the spans, and how far that is from the best."""
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


# The table of annotators: who they are, the verdict on each with its reason, and the figures that it rests on.
#
# Everything is computed from labels and beliefs, so it means the same for every method; the report shows the same.


def annotator_table(labels: CrowdLabels, estimate: Estimate, *, level: float = LEVEL) -> pl.DataFrame:
    """Return one row per annotator, in the order of the labels.

    Columns: annotator; verdict, a word for what is wrong with their labels: adversary, spammer, one class, biased,
    careless, near-copy, drift, too few labels (see docs/reference/report.md), or ok when nothing is; labels, how many
    they gave; items, how many they saw; reliability, the expected share of right labels, with its credible interval
    from reliability_low to reliability_high; for span tags it is the expected F1 of whole spans, and token_reliability
    is the share of right tokens; expected_accuracy, how often they would be right if classes came as often as the
    method believes, which does not reward labelling easy classes only; informativeness, how far their labels depend on
    the truth: 0 for a spammer, 1 where they determine it; confused_truth and confused_label, what they mix up most (of
    a biased annotator, the bias), and confused_count, the expected number of times; weight, the method's own number for
    them, when it has one; reason, the verdict in a sentence.

    Beliefs of majority vote hold everybody's own vote, so there each label is compared with the votes of the others.

    Args:
        labels: The labels that the estimate was made from, or the frame that holds them.
        estimate: The estimate of a method, or of a learned model.
        level: Level of the credible intervals.
    """
    if not 0 < level < 1:
        raise OptionError(f"level must be between 0 and 1, got {level}.")
    labels, estimate = as_labels(labels, "annotator_table"), getattr(estimate, "estimate", estimate)
    require_kind(estimate, Estimate, "annotator_table", "Write annotator_table(labels, method.infer(labels)).")
    if len(estimate.beliefs) != labels.n_units or len(estimate.annotators) != len(labels.annotators):
        raise DataError("The estimate is not of these labels. Give the labels it was made from.")
    judged = judge_annotators(labels, estimate)
    scores = judged.scores
    table = name_biases(scores.table if level == LEVEL else scores.at_level(level), judged)
    verdict = pl.Series("verdict", judged.words(), pl.String)
    reason = pl.Series("reason", judged.sentences(), pl.String)
    return table.select("annotator", verdict, pl.exclude("annotator"), reason)


def name_biases(table: pl.DataFrame, judged: AnnotatorVerdicts) -> pl.DataFrame:
    """Return the table with the bias of each biased annotator among the confusions, as in the reason of the flag."""
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
