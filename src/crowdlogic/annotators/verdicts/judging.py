"""The verdict on every annotator: flags of character and of drift, and the reason of each in words.

One computation, which the table of annotators, a saved run and the report share.

Axes: j annotator.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdlogic.annotators.verdicts.drift import DriftStatistics, measure_drift
from crowdlogic.annotators.verdicts.flags import (
    CHARACTER_FLAGS,
    CharacterFlags,
    FlagKind,
    explain_flag,
    flag_annotators,
    least_items,
)
from crowdlogic.annotators.verdicts.scores import LEVEL, AnnotatorScores, score_annotators
from crowdlogic.annotators.verdicts.statistics import ConfusionStatistics, confusion_statistics
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.tagging import is_span_tag_set
from crowdlogic.data.wording import percent, pluralise, shorten_name
from crowdlogic.metrics.span_errors import SpanErrors, count_span_errors
from crowdlogic.numerics.arrays import Bools, Ints

FLAG_RANK = {
    FlagKind.adversary: 5, FlagKind.spammer: 4, FlagKind.one_class: 4, FlagKind.drift: 3, FlagKind.biased: 2,
    FlagKind.careless: 2, FlagKind.few: 1,
}  # fmt: skip
"""How serious each flag is."""
DISTRUSTED = (FlagKind.adversary, FlagKind.spammer, FlagKind.one_class)
"""Flags of annotators whose labels say nothing, or the contrary: nobody should ask them for more."""
NO_FLAG = "ok"
"""The verdict on an annotator without any flag."""


@dataclass(frozen=True, eq=False, kw_only=True)
class AnnotatorVerdicts:
    """What is found of all annotators at once.

    Attributes:
        scores: Their labels against the beliefs.
        confusion: Their expected confusion counts.
        flags: Their flags of character.
        drift: Their trends; None without times.
        mistakes: What became of the spans; None unless tags are span tags.
    """

    scores: AnnotatorScores
    confusion: ConfusionStatistics
    flags: CharacterFlags
    drift: DriftStatistics | None
    mistakes: SpanErrors | None

    def flag_kinds(self, j: int) -> list[FlagKind]:
        """The flags of annotator j, the most serious first."""
        found = [] if self.flags.kind[j] < 0 else [CHARACTER_FLAGS[int(self.flags.kind[j])]]
        found += [FlagKind.drift] if self.drift is not None and self.drift.falls[j] else []
        return sorted(found, key=lambda kind: -FLAG_RANK[kind])

    def flag_rank(self) -> Ints:
        """flag_rank[j], that of the most serious flag; 0 without any."""
        character = np.array([*(FLAG_RANK[kind] for kind in CHARACTER_FLAGS), 0])[self.flags.kind]
        drift = 0 if self.drift is None else np.where(self.drift.falls, FLAG_RANK[FlagKind.drift], 0)
        return np.asarray(np.maximum(character, drift))

    def bias(self, j: int) -> tuple[int, int] | None:
        """(m, n): the true class that a biased annotator j mistakes, and the favoured one; None without the flag."""
        m, n = (int(k) for k in self.flags.confusion[j])
        return (m, n) if self.flags.has(FlagKind.biased)[j] else None

    def distrusted(self) -> Bools:
        """distrusted[j], whether annotator j should be asked no more."""
        return np.asarray(np.any([self.flags.has(kind) for kind in DISTRUSTED], axis=0))

    def reason(self, kind: FlagKind, j: int) -> str:
        """Why annotator j has a flag: a sentence with its figures."""
        if kind is FlagKind.careless and self.mistakes is not None:
            return _explain_careless_spans(self, self.mistakes, j)
        if kind is FlagKind.drift and self.drift is not None:
            return _explain_drift(self.drift, self.confusion.names[j], j)
        return explain_flag(self.confusion, self.flags, j)

    def words(self) -> list[str | None]:
        """The verdict on every annotator: the flags, the most serious first; None for one without labels."""
        return [", ".join(self.flag_kinds(j)) or NO_FLAG if self._can_judge(j) else None for j in self._everybody]

    def sentences(self) -> list[str | None]:
        """The reasons of every annotator's flags; None where there is none."""
        return [
            " ".join(self.reason(kind, j) for kind in self.flag_kinds(j)) or None if self._can_judge(j) else None
            for j in self._everybody
        ]

    @property
    def _everybody(self) -> range:
        return range(len(self.confusion.names))

    def _can_judge(self, j: int) -> bool:
        """Whether j has given labels, and whole ones: partial labels ("not X") have no row in a confusion matrix."""
        return bool(self.confusion.n_labels[j] > 0) and self.scores.labels.negated is None


def judge_annotators(labels: CrowdLabels, estimate: Estimate, *, gold: Ints | None = None) -> AnnotatorVerdicts:
    """What labels and beliefs say of all annotators.

    Args:
        labels: The labels that the estimate was made from.
        estimate: What is believed.
        gold: gold[i], the true class of every unit, to count mistakes in spans by; None for the answers.
    """
    scores = score_annotators(labels, estimate)
    confusion = confusion_statistics(scores)
    has_spans = labels.is_sequential and is_span_tag_set(labels.classes)
    span_f1 = (scores.reliability, scores.table["reliability_high"].to_numpy()) if has_spans else None
    least = least_items(is_sequential=labels.is_sequential)
    return AnnotatorVerdicts(
        scores=scores,
        confusion=confusion,
        flags=flag_annotators(confusion, least, span_f1=span_f1),
        drift=measure_drift(labels, estimate.beliefs, LEVEL),
        mistakes=count_span_errors(labels, estimate.answer if gold is None else gold) if has_spans else None,
    )


def askable(labels: CrowdLabels, judged: AnnotatorVerdicts) -> tuple[Bools | None, list[str]]:
    """available[j], whether annotator j should be asked for further labels, and the names of those who should not.

    None, for everybody, where nobody is flagged, or everybody is.
    """
    should_not = judged.distrusted()
    available = (labels.labels_per_annotator() > 0) & ~should_not
    if not should_not.any() or not available.any():
        return None, []
    return available, [judged.confusion.names[int(j)] for j in np.flatnonzero(should_not)]


def _explain_drift(drift: DriftStatistics, name: str, j: int) -> str:
    first, last = (drift.right[j, b] / drift.n[j, b] for b in (0, -1))
    return (
        f"{shorten_name(name)} gets worse: {percent(first)} right in the first fifth of "
        f"{int(drift.n[j].sum()):,} annotations, {percent(last)} in the last."
    )


def _explain_careless_spans(judged: AnnotatorVerdicts, found: SpanErrors, j: int) -> str:
    """Why an annotator of spans is careless: what became of the spans, and how far that is from the best."""
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
