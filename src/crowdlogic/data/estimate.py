"""Estimates and answers: the class of each unit, according to a truth method or a file.

An `Estimate` contains the beliefs and parameters of a truth method. `Answers` are one class per unit, from an estimate,
a corpus or a file; `align_answers` aligns two sets of answers for comparison.

Axes: i unit, j annotator, k class, m true class, n given label.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import polars as pl

from crowdlogic.data.corpus import UNKNOWN, Corpus
from crowdlogic.data.intake.contract import to_pandas
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import Classes, ClassName, Names, class_column, find, sort_classes
from crowdlogic.data.wording import SHOWN_ROWS, html_table, pluralise
from crowdlogic.errors import CorpusError, DataError, name_list
from crowdlogic.numerics.arrays import Bools, Floats, Ints, read_only, row_sums

if TYPE_CHECKING:
    import pandas as pd

Beliefs: TypeAlias = Floats
"""q[i, k], the probability that unit i has class k. Rows sum to one."""

SUM_TOLERANCE = 1e-3
"""Tolerance for beliefs of a unit that do not sum to one; those of networks have rounding errors."""

NO_ANSWER = -1
"""Answer code of a unit without an answer."""

PROBABILITY_PREFIX = "p_"
"""Prefix of the columns with class probabilities, followed by the class."""


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """Calibration of the confidence of an estimate, and the range of the number of wrong answers.

    Attributes:
        source: Description of the data used for calibration.
        correlation: Assumed correlation of the labels of one item, from 0 to 1.
        counted: Correlation that the method itself accounts for; 0 if it assumes independent labels.
        doubt: Share of uniform doubt in every belief.
        sharpness: Power of the beliefs that fits the gold items best; 1 without gold.
        anchors: Number of random gold items to which the sharpness, or the beliefs, were fitted.
        checked: Number of random gold items from which the range was computed; 0 if it was computed from labels only.
        fewest_wrong: Lower end of the range of wrong answers, among those whose truth is unknown; None if unavailable.
        most_wrong: Upper end of that range.
        unknown: Why the number of wrong answers cannot be estimated; empty if it can.
        effective_votes: Number of independent votes that the annotators are worth; None if not estimated.
        span_shift: For tags: shift of the log odds of a span.
        span_slope: For tags: factor of the log odds of a span.
    """

    source: str
    correlation: float
    doubt: float
    sharpness: float = 1.0
    anchors: int = 0
    checked: int = 0
    span_shift: float = 0.0
    span_slope: float = 1.0
    counted: float = 0.0
    fewest_wrong: float | None = None
    most_wrong: float | None = None
    unknown: str = ""
    effective_votes: float | None = None


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Estimate:
    """Result of a truth method.

    Attributes:
        method: Name of the method.
        beliefs: q[i, k]. Units without labels have the method's prior, and no answer.
        answer: answer[i], the chosen class; NO_ANSWER for a unit without labels.
        items: The name of each item.
        classes: Name of each class.
        offsets: First unit of each sequence, and the number of units; None for documents.
        annotators: Name of each annotator.
        confusion: confusion[j, m, n], the probability that annotator j gives label n if the truth is m; None if not
            estimated.
        reliability: reliability[j], one number per annotator; None if not estimated.
        prior: prior[k], the share of each class; None if not estimated.
        trace: The objective after each iteration.
        converged: Whether the method converged; True for methods that do not iterate.
        tied: Number of units with more than one best class.
        parameters: Other estimated parameters by name, such as the difficulty of each unit.
        calibration: Calibration of the confidence; None for the method's own posterior.
    """

    method: str
    beliefs: Beliefs
    answer: Ints
    items: Names
    classes: Classes
    offsets: Ints | None
    annotators: Names
    confusion: Floats | None = None
    reliability: Floats | None = None
    prior: Floats | None = None
    trace: Floats = field(default_factory=lambda: np.empty(0))
    converged: bool = True
    tied: int = 0
    parameters: Mapping[str, Floats] = field(default_factory=dict)
    calibration: Calibration | None = None

    def __post_init__(self) -> None:
        if self.beliefs.shape != (len(self.answer), len(self.classes)):
            raise DataError(
                f"beliefs are {self.beliefs.shape} for {len(self.answer)} answers and {len(self.classes)} classes."
            )
        for name in ("beliefs", "answer", "confusion", "reliability", "prior", "trace"):
            array = getattr(self, name)
            if array is not None:
                object.__setattr__(self, name, read_only(array))
        kept = {name: read_only(array) for name, array in self.parameters.items()}
        object.__setattr__(self, "parameters", MappingProxyType(kept))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "parameters": dict(self.parameters)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state | {"parameters": MappingProxyType(state["parameters"])})

    @property
    def answered(self) -> Bools:
        """answered[i], whether unit i has an answer."""
        return np.asarray(self.answer != NO_ANSWER)

    @property
    def counts(self) -> dict[str, int]:
        """Return counts of the estimate: items, units, annotators, classes, unanswered units, ties."""
        return {
            "items": len(self.items),
            "units": len(self.answer),
            "annotators": len(self.annotators),
            "classes": len(self.classes),
            "unanswered": int(np.count_nonzero(~self.answered)),
            "ties": int(self.tied),
        }

    @property
    def confidence(self) -> Floats:
        """confidence[i], the belief in the answer; NaN without an answer."""
        if not self.classes:
            return np.full(len(self.answer), np.nan)
        chosen = np.take_along_axis(self.beliefs, np.maximum(self.answer, 0)[:, None], axis=1)[:, 0]
        return np.where(self.answered, chosen, np.nan)

    def answer_names(self) -> list[ClassName | None]:
        """Return the name of the chosen class of each unit; None without an answer."""
        names: list[ClassName | None] = [*self.classes, None]
        return [names[code] for code in self.answer]

    def to_frame(self) -> pl.DataFrame:
        """Return one row per unit: item, label, confidence and one p_<class> column per class.

        Label and confidence are null without an answer. For sequences, the additional column `token` is the position in
        the sentence, from 0.
        """
        return self._rows(len(self.answer))

    def _rows(self, size: int) -> pl.DataFrame:
        """Return the first rows of `to_frame`."""
        columns: dict[str, Any] = {"item": self.items.head(size)}
        if self.offsets is not None:
            item = np.repeat(np.arange(len(self.items)), np.diff(self.offsets))[:size]
            columns["item"] = self.items.gather(item)
            columns["token"] = np.arange(len(item)) - self.offsets[item]
        chosen = pl.Series(self.answer[:size]).cast(pl.Int64)
        columns["label"] = class_column(self.classes).gather(chosen.set(chosen == NO_ANSWER, None))
        columns["confidence"] = pl.Series(self.confidence[:size]).fill_nan(None)
        for k, name in enumerate(self.classes):
            columns[f"{PROBABILITY_PREFIX}{name}"] = self.beliefs[:size, k]
        return pl.DataFrame(columns)

    def to_pandas(self) -> pd.DataFrame:
        """Convert to a pandas DataFrame; see `to_frame`."""
        return to_pandas(self.to_frame())

    def _repr_html_(self) -> str:
        return html_table("Estimate", self._facts(), self._rows(SHOWN_ROWS), len(self.answer))

    def __repr__(self) -> str:
        return f"Estimate({self._facts()})"

    def _facts(self) -> str:
        unanswered = int((~self.answered).sum())
        convergence = "converged" if self.converged else "did not converge"
        without = f", {unanswered:,} without an answer" if unanswered else ""
        size = f"{pluralise(len(self.answer), 'unit')}, {pluralise(len(self.classes), 'class', 'classes')}"
        return f"{self.method}: {size}{without}, {convergence}"


def make_estimate(
    labels: CrowdLabels,
    method: str,
    beliefs: Beliefs,
    *,
    answer: Ints | None = None,
    answer_all: bool = False,
    confusion: Floats | None = None,
    reliability: Floats | None = None,
    prior: Floats | None = None,
    trace: Floats | None = None,
    converged: bool = True,
    tied: int = 0,
    parameters: Mapping[str, Floats] | None = None,
) -> Estimate:
    """Create the Estimate of a method for a table of labels.

    Args:
        labels: The labels.
        method: Name of the method.
        beliefs: q[i, k].
        answer: The chosen class of each unit; by default the first of the most probable classes.
        answer_all: Whether units without labels get an answer (from the prior).
        confusion: confusion[j, m, n], if estimated.
        reliability: reliability[j], if estimated.
        prior: prior[k], if estimated.
        trace: The objective after each iteration.
        converged: Whether the method converged.
        tied: Number of units with more than one best class.
        parameters: Other estimated parameters, by name.
    """
    beliefs = _check_distributions(beliefs, labels, method)
    if answer is None:
        # without labels there are no classes to choose from
        chosen = beliefs.argmax(axis=1).astype(np.int32) if beliefs.size else np.full(len(beliefs), -1, dtype=np.int32)
    else:
        chosen = answer
    if not answer_all:
        labelled = labels.votes().sum(axis=1) > 0 if labels.weight is not None else labels.labels_per_unit() > 0
        chosen = np.where(labelled, chosen, NO_ANSWER).astype(np.int32)
    return Estimate(
        method=method,
        beliefs=beliefs,
        answer=chosen,
        items=labels.items,
        classes=labels.classes,
        offsets=labels.offsets,
        annotators=labels.annotators,
        confusion=confusion,
        reliability=reliability,
        prior=prior,
        trace=np.empty(0) if trace is None else trace,
        converged=converged,
        tied=tied,
        parameters={} if parameters is None else parameters,
    )


def _check_distributions(given: Any, labels: CrowdLabels, method: str) -> Beliefs:
    """Return beliefs as an array after checking the shape, and that rows sum to one (unlike vote counts)."""
    beliefs: Beliefs = np.asarray(given)
    if beliefs.shape != (labels.n_units, labels.n_classes):
        raise DataError(
            f"make_estimate: {method} has beliefs of shape {beliefs.shape} for labels of shape "
            f"{(labels.n_units, labels.n_classes)}. Give a row for each unit and a column for each class."
        )
    total = row_sums(beliefs)
    if beliefs.shape[1] and len(total) and not np.abs(total - 1.0).max() <= SUM_TOLERANCE:
        worst = int(np.abs(total - 1.0).argmax())
        raise DataError(
            f"beliefs: row {worst} sums to {total[worst]:.4g}. Divide each row by its sum: they are probabilities."
        )
    return beliefs


def vote_shares(votes: Floats) -> Beliefs:
    """Return the share of each class among a unit's votes; uniform without votes."""
    total = row_sums(votes)[:, None]
    uniform = 1.0 / max(votes.shape[1], 1)
    return np.where(total > 0, votes / np.where(total > 0, total, 1.0), uniform)


@dataclass(frozen=True, eq=False)
class Answers:
    """One class per unit, with beliefs if they are known.

    Attributes:
        items: The name of each item.
        classes: The classes.
        answer: answer[i], NO_ANSWER if there is none.
        beliefs: q[i, k], if the predictions have beliefs.
        offsets: First unit of each sequence, and the number of units; None for documents.
        tokens: tokens[i], if the file contains them.
        at_random: at_random[s], whether item s was drawn at random, if the file says how items were chosen.
        source: Name of the source in messages.
    """

    items: Names
    classes: Classes
    answer: Ints
    _: KW_ONLY
    beliefs: Beliefs | None = None
    offsets: Ints | None = None
    tokens: tuple[str, ...] | None = None
    at_random: Bools | None = None
    source: str = "the answers"


class KnownTruths(dict[Any, Any]):
    """item -> true class (or the tags of a sequence), with the items that were drawn at random.

    Items that were selected, not drawn at random, are known like all others, but are not used for calibration.
    """

    def __init__(self, truths: Mapping[Any, Any], at_random: Collection[Any]) -> None:
        super().__init__(truths)
        self.at_random = frozenset(at_random)


def drawn_at_random(truths: Mapping[Any, Any] | None) -> dict[Any, Any]:
    """Return the known truths of items drawn at random, which may calibrate; all of them if that is unknown."""
    if not isinstance(truths, KnownTruths):
        return dict(truths or {})
    return {item: truth for item, truth in truths.items() if item in truths.at_random}


def answers_from_gold(corpus: Corpus, source: str) -> Answers:
    """Return the gold of a corpus as answers. `source` is its name in messages."""
    if corpus.gold is None:
        raise CorpusError(f"{source}: contains no labels. Give each item or token its label.")
    return Answers(
        corpus.items, corpus.classes, corpus.gold, offsets=corpus.offsets, tokens=corpus.tokens, source=source
    )


def answers_from_crowd(labels: CrowdLabels, corpus: Corpus | None, source: str) -> Answers:
    """Return one answer per unit from a file of labels: its gold, or the labels of its only annotator."""
    if corpus is not None and corpus.gold is not None and (corpus.gold != UNKNOWN).any():
        return answers_from_gold(corpus, source)
    if len(labels.annotators) != 1:
        raise DataError(
            f"{source}: labels of {len(labels.annotators):,} annotators, where one answer per item is needed. "
            f"Aggregate them first: crowdlogic aggregate."
        )
    answer = np.full(labels.n_units, NO_ANSWER, dtype=np.int32)
    answer[labels.unit] = labels.label
    tokens = None if corpus is None else corpus.tokens
    return Answers(labels.items, labels.classes, answer, offsets=labels.offsets, tokens=tokens, source=source)


def answers_from_estimate(estimate: Estimate, source: str) -> Answers:
    """Return the answers of an estimate, with beliefs for documents. `source` is their name in messages."""
    beliefs = estimate.beliefs if estimate.offsets is None else None
    return Answers(
        estimate.items, estimate.classes, estimate.answer, beliefs=beliefs, offsets=estimate.offsets, source=source
    )


def estimate_from_gold(corpus: Corpus, method: str = "gold") -> Estimate:
    """Return an Estimate with the gold of a corpus as answers."""
    gold = np.full(corpus.n_units, NO_ANSWER) if corpus.gold is None else corpus.gold
    beliefs = np.full((corpus.n_units, len(corpus.classes)), 1.0 / max(len(corpus.classes), 1))
    known = np.flatnonzero(gold != UNKNOWN)
    beliefs[known] = np.eye(len(corpus.classes))[gold[known]]
    return Estimate(
        method=method,
        beliefs=beliefs,
        answer=gold.astype(np.int32),
        items=corpus.items,
        classes=corpus.classes,
        offsets=corpus.offsets,
        annotators=pl.Series("annotator", [], dtype=pl.String),
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class AlignedAnswers:
    """Predictions and gold for the same units and classes, in gold's order; -1 if either is missing.

    Attributes:
        classes: The classes of both, as text.
        predicted: predicted[i], the code of the prediction.
        gold: gold[i], the code of the gold.
        beliefs: q[i, k], if the predictions have beliefs.
        offsets: First unit of each sequence, and the number of units; None for documents.
        remarks: Notices about items that were not compared.
    """

    classes: Classes
    predicted: Ints
    gold: Ints
    beliefs: Beliefs | None
    offsets: Ints | None
    remarks: tuple[str, ...] = ()

    @property
    def unanswered(self) -> Bools:
        """unanswered[i], units with gold of documents without an answer, or of sequences without any answer."""
        missing = self.predicted == NO_ANSWER
        if self.offsets is not None:
            lengths = np.diff(self.offsets)
            sequence = np.repeat(np.arange(len(lengths)), lengths)
            missing = (np.bincount(sequence, weights=~missing, minlength=len(lengths)) == 0)[sequence]
        return np.asarray(missing & (self.gold != UNKNOWN))

    def without(self, units: Bools) -> AlignedAnswers:
        """Return the answers without the gold of some units, so that these are not scored."""
        return replace(self, gold=np.where(units, UNKNOWN, self.gold))


def align_answers(predicted: Answers, gold: Answers) -> AlignedAnswers:
    """Align predicted answers with gold. Items of gold without a prediction count as not answered.

    Classes are compared as text, so that 1 in one file and "1" in another are the same.
    """
    where = _find_items(predicted, gold)
    units = _find_units(predicted, gold, where)
    classes = sort_classes([str(name) for name in (*predicted.classes, *gold.classes)])
    recoded = np.append(_recode(predicted.answer, predicted.classes, classes), NO_ANSWER)
    aligned = AlignedAnswers(
        classes=classes,
        predicted=recoded[units],  # unit -1 selects the last entry, which is no answer
        gold=_recode(gold.answer, gold.classes, classes),
        beliefs=_align_beliefs(predicted, where, classes),
        offsets=gold.offsets,
    )
    return replace(aligned, remarks=tuple(_remarks(predicted, gold, units, aligned)))


def _find_items(predicted: Answers, gold: Answers) -> Ints:
    """Return for each item of gold its position in the prediction, -1 if it is missing."""
    if (predicted.offsets is None) != (gold.offsets is None):
        kinds = ("documents", "tagged sentences") if predicted.offsets is None else ("tagged sentences", "documents")
        raise DataError(
            f"{predicted.source} contains {kinds[0]}, but {gold.source} contains {kinds[1]}. Give files of one kind."
        )
    where = find(gold.items, predicted.items)
    if (where < 0).all():
        raise DataError(
            f"{predicted.source} (with {name_list(predicted.items[:3])}) and {gold.source} (with "
            f"{name_list(gold.items[:3])}) have no item in common. Give two files about the same items."
        )
    return where


def _align_beliefs(predicted: Answers, where: Ints, classes: Classes) -> Beliefs | None:
    """Return q[i, k] over the items of gold and the classes of both; uniform for items without a prediction."""
    if predicted.beliefs is None:
        return None
    beliefs = np.zeros((len(where), len(classes)))
    beliefs[:, [classes.index(str(name)) for name in predicted.classes]] = predicted.beliefs[where]
    beliefs[where < 0] = 1.0 / len(classes)
    return beliefs


def _remarks(predicted: Answers, gold: Answers, units: Ints, pair: AlignedAnswers) -> Iterator[str]:
    """Yield notices about units that were not compared as expected."""
    extra = int(np.count_nonzero(find(predicted.items, gold.items) < 0))
    if extra:
        yield f"{pluralise(extra, 'item')} of {predicted.source}: not in {gold.source}, so not scored."
    unknown = int(np.count_nonzero(pair.gold < 0))
    if unknown:
        yield f"{pluralise(unknown, 'answer')} without gold: not scored."
    if not {str(name) for name in predicted.classes} & {str(name) for name in gold.classes}:
        here, there = name_list(predicted.classes), name_list(gold.classes)
        yield f"The files share no class: {here} in {predicted.source}, {there} in {gold.source}."
    if predicted.tokens is not None and gold.tokens is not None:
        differ = sum(u >= 0 and predicted.tokens[u] != token for u, token in zip(units, gold.tokens, strict=True))
        if differ:
            tokens = pluralise(differ, "token differs", "tokens differ")
            yield f"{tokens} between the files; are they about the same sentences?"


def _recode(codes: Ints, names: Classes, classes: Classes) -> Ints:
    """Convert codes among some classes to codes among others; NO_ANSWER is kept."""
    table = np.array([*(classes.index(str(name)) for name in names), NO_ANSWER], dtype=np.int32)
    return table[codes]


def _find_units(predicted: Answers, gold: Answers, where: Ints) -> Ints:
    """Return for each unit of gold the unit of the prediction, -1 if it is missing."""
    if predicted.offsets is None or gold.offsets is None:
        return where
    ours, theirs = np.diff(gold.offsets), np.diff(predicted.offsets)[where]
    wrong = np.flatnonzero((ours != theirs) & (where >= 0))
    if len(wrong):
        s = int(wrong[0])
        raise DataError(
            f"Sentence {gold.items[s]!r} has {theirs[s]} tags in {predicted.source} and {ours[s]} in {gold.source} "
            f"({len(wrong):,} such sentences). Give two files about the same tokens."
        )
    # start and within: the first unit of the predicted sentence, and the position of each unit of gold in its sentence
    start = np.repeat(np.where(where >= 0, predicted.offsets[:-1][where], 0), ours)
    within = np.arange(int(gold.offsets[-1])) - np.repeat(gold.offsets[:-1], ours)
    return np.where(np.repeat(where, ours) >= 0, start + within, -1)
