"""What is wrong with an annotator, and the reason in words.

An annotator has at most one flag of character, the first that fits; `drift` comes beside it (see drift.py):

- too few labels: too few items to be judged;
- adversary: worse than chance, with great certainty, or in a way that reveals much of the truth;
- one class: nearly always the same label, where the truth varies;
- spammer: no better than chance, and certainly not good;
- biased: mistakes one class for another about as often as not, and certainly more often than the others do;
- careless: less than half the skill of the median annotator, and certainly far less; for span tags, a span F1 that is
  certainly far from that of the best quarter of annotators.

"Certainly" is by the end of an interval (see statistics.py). The thresholds are published in docs/report.md.

Axes: j annotator, m true class, n given label.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from crowdlogic.annotators.figures import informativeness
from crowdlogic.annotators.verdicts.statistics import ConfusionStatistics
from crowdlogic.data.tagging import is_span_tag_set
from crowdlogic.data.wording import approximate, percent, pluralise, shorten_name
from crowdlogic.numerics.arrays import Bools, Floats, Ints
from crowdlogic.numerics.intervals import credible_interval


class FlagKind(StrEnum):
    """What can be wrong with an annotator."""

    adversary = "adversary"
    spammer = "spammer"
    one_class = "one class"
    biased = "biased"
    careless = "careless"
    drift = "drift"
    few = "too few labels"


FEW_ITEMS, FEW_SENTENCES = 10, 3
"""Who labelled fewer items, or sentences, cannot be judged."""
ADVERSARY_SKILL = -0.1
"""An adversary's skill is below this, and the upper end of its interval at ADVERSARY_LEVEL is below 0."""
ADVERSARY_LEVEL = 0.998
"""The level of that interval: a grave thing to say of one in many annotators."""
ADVERSARY_INFORMATIVENESS = 0.3
"""Or the skill is below 0, the upper end of its interval below LITTLE_SKILL, and the informativeness above this."""
ONE_CLASS_SHARE = 0.95
"""From this share of one label on it is nearly always the same."""
OTHER_TRUTH_SHARE = 0.15
"""The truth varies, for the flag of one class, from this share of other classes on."""
NO_SKILL, LITTLE_SKILL = 0.1, 0.3
"""A spammer's skill is below the first, the ends of its interval are at most 0 and below the second."""
BIASED_SHARE, BIASED_LOWER_END = 0.45, 0.35
"""A biased annotator mistakes a class for another with this share, whose interval does not reach below the second."""
BIASED_LABELS = 10
"""Expected number of labels on a class from which on a bias is looked for."""
CARELESS_FRACTION, CARELESS_UPPER_END = 0.5, 0.8
"""A careless annotator's skill is below the first fraction of the median skill, its upper end below the second: by the
upper end alone, a hundred labels of somebody with a quarter of the skill would not be enough to say so."""
CARELESS_SPANS = 0.8
"""For span tags: its upper end is below this fraction of the F1 that the best quarter of annotators reach."""
BEST_QUARTER = 75
"""The percentile of F1 that they reach."""
MOSTLY = 0.8
"""From this share of one label on, the reason names the label."""
OUTSIDE = "O"
"""The tag of tokens in no span."""

CHARACTER_FLAGS = (
    FlagKind.few,
    FlagKind.adversary,
    FlagKind.one_class,
    FlagKind.spammer,
    FlagKind.biased,
    FlagKind.careless,
)
"""In the order in which they are tried."""


@dataclass(frozen=True, eq=False, kw_only=True)
class CharacterFlags:
    """The flag of character of every annotator.

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
        """has[j], whether annotator j has this flag."""
        return np.asarray(self.kind == CHARACTER_FLAGS.index(kind))


def least_items(*, is_sequential: bool) -> int:
    """How many items an annotator must have labelled to be judged."""
    return FEW_SENTENCES if is_sequential else FEW_ITEMS


def flag_annotators(
    statistics: ConfusionStatistics, least: int = FEW_ITEMS, *, span_f1: tuple[Floats, Floats] | None = None
) -> CharacterFlags:
    """Flag every annotator who deserves it.

    Args:
        statistics: How everybody answers.
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
    """Whether annotator j is careless, and the F1 of spans that it was judged by."""
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
    """Whether annotator j is worse than chance: with great certainty, or with labels that reveal much of the truth."""
    skill, _, high = statistics.skill
    revealed = informativeness(statistics.smoothed) if statistics.counts.shape[1] else np.zeros(len(skill))
    with np.errstate(invalid="ignore"):
        is_certain = (skill < ADVERSARY_SKILL) & (statistics.skill_at(ADVERSARY_LEVEL)[2] < 0)
        is_revealing = (skill < 0) & (high < LITTLE_SKILL) & (revealed > ADVERSARY_INFORMATIVENESS)
    return np.asarray(is_certain | is_revealing)


def gives_one_class(statistics: ConfusionStatistics) -> Bools:
    """Whether nearly every label of j is one class, though the truth is often another."""
    if statistics.counts.shape[1] < 2:
        return np.zeros(len(statistics.names), dtype=bool)
    favourite = statistics.label_share.argmax(axis=1)
    rows = np.arange(len(favourite))
    nearly_always = statistics.label_share[rows, favourite] >= ONE_CLASS_SHARE
    return np.asarray(nearly_always & (statistics.truth_share[rows, favourite] <= 1 - OTHER_TRUTH_SHARE))


def find_bias(statistics: ConfusionStatistics) -> tuple[Ints, Bools]:
    """confusion[j] = (m, n), the true class most certainly mistaken for another; and whether that is a bias."""
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
    """share[j, m, n], how often everybody but j answers n where the truth is m; 0 where nobody else met the class."""
    others = np.asarray(counts.sum(axis=0) - counts, dtype=np.float64)
    truth = others.sum(axis=2, keepdims=True)
    return np.asarray(np.divide(others, truth, out=np.zeros_like(others), where=truth > 0.5))


FAVOURED = 0.15
"""A class whose share among an annotator's labels is this much above its share among their items is favoured."""


def explain_flag(statistics: ConfusionStatistics, flags: CharacterFlags, j: int) -> str:
    """Why annotator j has the flag: a sentence with its figures."""
    kind = CHARACTER_FLAGS[int(flags.kind[j])]
    who, labels = shorten_name(statistics.names[j]), pluralise(int(statistics.n_labels[j]), "label")
    right = percent(_share(statistics.right[j], statistics.given[j]))
    by_chance = f"{right} of {labels} right where guessing would be {percent(statistics.chance[j])}"
    match kind:
        case FlagKind.few:
            return f"{who} {_describe_few(statistics, j, labels)}: too few to judge."
        case FlagKind.adversary:
            m, n = _worst_confusion(statistics.counts[j])
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
            favours = "" if _is_overlooked(statistics, n) else f"favours {shorten_name(statistics.classes[n])}: "
            return f"{who} {favours}{_describe_confusion(statistics, j, m, n)}."
    skill = percent(max(float(statistics.skill[0][j]), 0.0))
    median = percent(flags.median_skill)
    often = f"{right} of {labels} right, a skill of {skill}; the median annotator has {median}"
    return f"{who} is often wrong{_describe_favourite(statistics, j)}: {often}."


def _describe_favourite(statistics: ConfusionStatistics, j: int) -> str:
    """Which class annotator j gives far more often than it is true, in words; empty without one."""
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


def _worst_confusion(counts: Floats) -> tuple[int, int]:
    wrong = counts * (1 - np.eye(len(counts)))
    return divmod(int(wrong.argmax()), len(counts))


def _describe_confusion(statistics: ConfusionStatistics, j: int, m: int, n: int) -> str:
    true_class, given = shorten_name(statistics.classes[m]), shorten_name(statistics.classes[n])
    truth = float(statistics.counts[j, m].sum())
    share = percent(_share(statistics.counts[j, m, n], truth))
    if _is_overlooked(statistics, n):
        return f"overlooks {true_class}: leaves {share} of {approximate(truth)} such tokens unmarked"
    return f"takes {true_class} for {given} in {share} of {approximate(truth)} labels where the truth is {true_class}"


def _is_overlooked(statistics: ConfusionStatistics, n: int) -> bool:
    """Whether the label n means that a span was not marked."""
    return bool(statistics.classes[n] == OUTSIDE and is_span_tag_set(statistics.classes))


def _share(part: float, whole: float) -> float:
    return min(max(float(part) / float(whole), 0.0), 1.0) if whole > 0 else float("nan")
