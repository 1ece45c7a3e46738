"""What is wrong with an annotator, and the reason in words.

Skill is Cohen's kappa between an annotator's labels and the believed truth of what they labelled: (right - chance) /
(1 - chance), where chance is how often labels given as often, without looking, would be right. It is 1 for who is
always right, 0 for who guesses or always says the same, and below 0 for who is worse than that. Its interval is that
of the share of right labels, so the flags become careful by themselves where labels are few.

One flag of character at most, the first that fits:

- too few labels: fewer annotated items than can be judged by;
- adversary: worse than chance, and surely so, or in a way that tells much of the truth;
- one class: nearly always the same answer, where the truth varies;
- spammer: no better than chance, and surely not good;
- biased: takes one class for another about as often as not, and surely more often than the others do;
- careless: surely less than half the skill of the median annotator.

Axes: j annotator, m true class, n given label.

[COHEN60] Cohen: A coefficient of agreement for nominal scales. Educational and Psychological Measurement 20, 1960.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from crowdlogic.annotators.table import credible_interval, spam_scores
from crowdlogic.data.tagging import is_span_tag_set
from crowdlogic.numerics.arrays import Bools, Floats, Ints
from crowdlogic.report.findings import FlagKind
from crowdlogic.report.wording import about, counted, percent, short

FEW_ITEMS = 10
"""Fewer annotated items than this say too little of anybody."""
FEW_SENTENCES = 3
"""So do fewer sentences than this, though each holds many tokens."""
SAME = 0.95
"""The share of one answer that is nearly always."""
VARIES = 0.15
"""The truth varies, for a flag of one class, where this share of it is another class."""
NO_SKILL, LITTLE_SKILL = 0.1, 0.3
"""A spammer's skill is below the first, and surely below the second."""
BACKWARDS = -0.1
"""An adversary's skill is below this, and surely below 0."""
TELLING = 0.3
"""Or the skill is below 0, surely small, and yet the labels tell much of the truth: the spam score is above this."""
SURELY = 0.998
"""The level of the adversary's interval: a grave thing to say of one in many annotators."""
SWAPPED, AT_LEAST = 0.45, 0.35
"""A biased annotator takes a class, met often enough, for another with the first share, and surely with the second."""
HALF = 0.5
OUTSIDE = "O"
"""The tag of what is in no span."""


@dataclass(frozen=True, eq=False)
class Habits:
    """What the labels and beliefs say of every annotator.

    Attributes:
        names: Their names.
        classes: The classes, as text.
        counts: counts[j, m, n], expected labels n where the truth is m.
        n_labels: n[j], labels given.
        n_items: items[j], items seen.
        least: How many items make an annotator worth judging.
        level: The level of the intervals.
    """

    names: tuple[str, ...]
    classes: tuple[str, ...]
    counts: Floats
    n_labels: Ints
    n_items: Ints
    least: int
    level: float

    @cached_property
    def given(self) -> Floats:
        """given[j], the weight of all labels of j."""
        return np.asarray(self.counts.sum(axis=(1, 2)))

    @cached_property
    def right(self) -> Floats:
        """right[j], the expected weight of the right ones."""
        return np.asarray(np.einsum("jmm->j", self.counts))

    @cached_property
    def label_share(self) -> Floats:
        """share[j, n], how often each label is given."""
        return np.asarray(self.counts.sum(axis=1) / np.maximum(self.given, 1e-300)[:, None])

    @cached_property
    def truth_share(self) -> Floats:
        """share[j, m], how common each class is among what j labelled."""
        return np.asarray(self.counts.sum(axis=2) / np.maximum(self.given, 1e-300)[:, None])

    @cached_property
    def chance(self) -> Floats:
        """chance[j], how often labels given as often, without looking, would be right."""
        return np.asarray((self.label_share * self.truth_share).sum(axis=1))

    @property
    def smoothed(self) -> Floats:
        """confusion[j, m, n], with half a label over each row."""
        counts = self.counts + HALF / max(self.counts.shape[1], 1)
        return np.asarray(counts / counts.sum(axis=2, keepdims=True))

    @cached_property
    def usual(self) -> tuple[Floats, Floats, Floats]:
        """The skill with its interval at the usual level."""
        return self.skill(self.level)

    def skill(self, level: float) -> tuple[Floats, Floats, Floats]:
        """skill[j] ([COHEN60]) and its interval; NaN where chance leaves no room, or nothing was labelled."""
        room = np.where((self.given > 0) & (self.chance < 1 - 1e-9), 1 - self.chance, np.nan)
        low, high = credible_interval(self.right, self.given, level)
        share = self.right / np.maximum(self.given, 1e-300)
        return (share - self.chance) / room, (low - self.chance) / room, (high - self.chance) / room


@dataclass(frozen=True, eq=False)
class Flagged:
    """The flag of character of every annotator.

    Attributes:
        kind: kind[j], a position among KINDS; -1 for none.
        swap: swap[j] = (m, n), what a biased annotator takes for what.
        median: The median skill of those who can be judged; NaN when nobody can.
    """

    kind: Ints
    swap: Ints
    median: float


KINDS = (
    FlagKind.few,
    FlagKind.adversary,
    FlagKind.one_class,
    FlagKind.spammer,
    FlagKind.biased,
    FlagKind.careless,
)
"""In the order in which they are tried."""


def flagged(habits: Habits) -> Flagged:
    """Flag every annotator who deserves it."""
    skill, low, high = habits.usual
    few = habits.n_items < habits.least
    judged = ~few & np.isfinite(skill)
    median = float(np.median(skill[judged])) if judged.any() else float("nan")
    swap, is_biased = biased(habits)
    telling = spam_scores(habits.smoothed) if habits.counts.shape[1] else np.zeros(len(few))
    with np.errstate(invalid="ignore"):
        backwards = (skill < BACKWARDS) & (habits.skill(SURELY)[2] < 0)
        tests: dict[FlagKind, Bools] = {
            FlagKind.few: few & (habits.n_labels > 0),
            FlagKind.adversary: judged & (backwards | ((skill < 0) & (high < LITTLE_SKILL) & (telling > TELLING))),
            FlagKind.one_class: judged & same_answer(habits) & (low <= NO_SKILL),
            FlagKind.spammer: judged & (skill < NO_SKILL) & (low <= 0) & (high < LITTLE_SKILL),
            FlagKind.biased: judged & is_biased,
            FlagKind.careless: judged & (high < HALF * median),
        }
    kind = np.full(len(few), -1, dtype=np.int64)
    for place, name in reversed(list(enumerate(KINDS))):
        kind[tests[name]] = place
    return Flagged(kind, swap, median)


def same_answer(habits: Habits) -> Bools:
    """same[j], whether nearly every label is one class, though the truth is often another."""
    if habits.counts.shape[1] < 2:
        return np.zeros(len(habits.names), dtype=bool)
    favourite = habits.label_share.argmax(axis=1)
    rows = np.arange(len(favourite))
    often = habits.label_share[rows, favourite] >= SAME
    return np.asarray(often & (habits.truth_share[rows, favourite] <= 1 - VARIES))


def biased(habits: Habits) -> tuple[Ints, Bools]:
    """swap[j] = (m, n), the class most often taken for another where that is sure, and whether it is often enough."""
    n_classes = habits.counts.shape[1]
    size = len(habits.names)
    if n_classes < 2:
        return np.zeros((size, 2), dtype=np.int64), np.zeros(size, dtype=bool)
    truth = np.broadcast_to(habits.counts.sum(axis=2, keepdims=True), habits.counts.shape)
    often = ~np.eye(n_classes, dtype=bool) & (habits.counts >= SWAPPED * truth) & (truth >= FEW_ITEMS)
    low: Floats = np.full(often.shape, -1.0)
    low[often] = credible_interval(habits.counts[often], truth[often], habits.level)[0]
    often &= low >= np.maximum(AT_LEAST, _of_others(habits.counts))
    best = np.where(often, low, -1.0).reshape(size, -1).argmax(axis=1)
    return np.stack([best // n_classes, best % n_classes], axis=1), np.asarray(often.any(axis=(1, 2)))


def _of_others(counts: Floats) -> Floats:
    """share[j, m, n], how often everybody but j takes m for n; 0 where nobody else met the class."""
    others = np.asarray(counts.sum(axis=0) - counts, dtype=np.float64)
    truth = others.sum(axis=2, keepdims=True)
    return np.asarray(np.divide(others, truth, out=np.zeros_like(others), where=truth > HALF))


def reason(habits: Habits, found: Flagged, j: int) -> str:
    """Why annotator j has the flag: a sentence with its figures."""
    kind = KINDS[int(found.kind[j])]
    who, labels = short(habits.names[j]), counted(int(habits.n_labels[j]), "label")
    right = percent(_share(habits.right[j], habits.given[j]))
    if kind is FlagKind.few:
        return f"{who} gave {labels}: too few to judge."
    if kind is FlagKind.adversary:
        guess = percent(habits.chance[j])
        return (
            f"{who} is worse than chance: {right} of {labels} right where guessing would be {guess}; "
            f"{_worst(habits, j)}."
        )
    if kind in (FlagKind.one_class, FlagKind.spammer):
        return _regardless(habits, j, who, labels, right)
    if kind is FlagKind.biased:
        return f"{who} {_takes(habits, j, *found.swap[j].tolist())}."
    usual = percent(found.median)
    skill = percent(max(float(habits.usual[0][j]), 0.0))
    return (
        f"{who} is often wrong: {right} of {labels} right, a skill of {skill} where the median annotator has {usual}."
    )


def _regardless(habits: Habits, j: int, who: str, labels: str, right: str) -> str:
    favourite = int(habits.label_share[j].argmax())
    share = habits.label_share[j, favourite]
    if share >= 0.8:
        every = "all" if share > 1 - 1e-9 else percent(share)
        return f"{who} answers {short(habits.classes[favourite])} whatever the truth: {every} of {labels}."
    return (
        f"{who} answers as if without looking: {right} of {labels} right where guessing would be "
        f"{percent(habits.chance[j])}."
    )


def _worst(habits: Habits, j: int) -> str:
    wrong = habits.counts[j] * (1 - np.eye(habits.counts.shape[1]))
    m, n = divmod(int(wrong.argmax()), wrong.shape[1])
    return _takes(habits, j, m, n)


def _takes(habits: Habits, j: int, m: int, n: int) -> str:
    truth = float(habits.counts[j, m].sum())
    share = percent(_share(habits.counts[j, m, n], truth))
    if habits.classes[n] == OUTSIDE and is_span_tag_set(habits.classes):
        return f"overlooks {short(habits.classes[m])}: leaves {share} of {about(truth)} such tokens unmarked"
    return (
        f"takes {short(habits.classes[m])} for {short(habits.classes[n])} in {share} of {about(truth)} labels "
        f"where the truth is {short(habits.classes[m])}"
    )


def _share(part: float, whole: float) -> float:
    return min(max(float(part) / float(whole), 0.0), 1.0) if whole > 0 else float("nan")
