"""Answers: one class per unit, as read from a file; and two sets of them put side by side, to compare them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.data.corpus import UNKNOWN, Corpus
from crowdlogic.data.estimate import NO_ANSWER, Beliefs, Estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import Classes, Names, find, sort_classes
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import CorpusError, DataError, name_list
from crowdlogic.numerics.arrays import Bools, Ints


@dataclass(frozen=True, eq=False)
class Answers:
    """One class per unit, with the beliefs behind it when they are known.

    Attributes:
        items: The name of each item.
        classes: The classes.
        answer: answer[i], NO_ANSWER where there is none.
        beliefs: q[i, k], if the predictions have beliefs.
        offsets: Where each sequence begins; None for documents.
        tokens: tokens[i], when the file has them.
        at_random: at_random[s], whether item s was drawn at random, when the file says how items were chosen.
        source: Where it was read, for messages.
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

    Items that somebody chose for being doubtful are known like all others, and say nothing of how sure to be elsewhere.
    """

    def __init__(self, truths: Mapping[Any, Any], at_random: Collection[Any]) -> None:
        super().__init__(truths)
        self.at_random = frozenset(at_random)


def drawn_at_random(truths: Mapping[Any, Any] | None) -> dict[Any, Any]:
    """The known truths that may calibrate: those of items drawn at random; all, where nobody said how they were."""
    if not isinstance(truths, KnownTruths):
        return dict(truths or {})
    return {item: truth for item, truth in truths.items() if item in truths.at_random}


def answers_from_gold(corpus: Corpus, source: str) -> Answers:
    """Return the gold of a corpus as answers. `source` is its name in messages."""
    if corpus.gold is None:
        raise CorpusError(f"{source}: no label is known. Give each item or token its label.")
    return Answers(
        corpus.items, corpus.classes, corpus.gold, offsets=corpus.offsets, tokens=corpus.tokens, source=source
    )


def answers_from_crowd(labels: CrowdLabels, corpus: Corpus | None, source: str) -> Answers:
    """Return one answer per unit from a file of labels: its gold, or what its only annotator says."""
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
    """Return the gold of a corpus as answers. `source` is its name in messages."""
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
        offsets: Where each sequence begins; None for documents.
        remarks: Notices on items that were not compared.
    """

    classes: Classes
    predicted: Ints
    gold: Ints
    beliefs: Beliefs | None
    offsets: Ints | None
    remarks: tuple[str, ...] = ()

    @property
    def unanswered(self) -> Bools:
        """unanswered[i], units with gold of documents without an answer, or of sequences without any."""
        missing = self.predicted == NO_ANSWER
        if self.offsets is not None:
            lengths = np.diff(self.offsets)
            sequence = np.repeat(np.arange(len(lengths)), lengths)
            missing = (np.bincount(sequence, weights=~missing, minlength=len(lengths)) == 0)[sequence]
        return np.asarray(missing & (self.gold != UNKNOWN))

    def without(self, units: Bools) -> AlignedAnswers:
        """Return the same without the gold of some units, so that they are not scored."""
        return replace(self, gold=np.where(units, UNKNOWN, self.gold))


def align_answers(predicted: Answers, gold: Answers) -> AlignedAnswers:
    """Align predicted answers with gold. An item of gold without a prediction counts as not answered.

    Classes are compared as text, so that 1 in one file and "1" in another are the same.
    """
    where = _find_items(predicted, gold)
    units = _find_units(predicted, gold, where)
    classes = sort_classes([str(name) for name in (*predicted.classes, *gold.classes)])
    recoded = np.append(_recode(predicted.answer, predicted.classes, classes), NO_ANSWER)
    aligned = AlignedAnswers(
        classes=classes,
        predicted=recoded[units],  # the unit -1 picks the last entry: no answer
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
            f"{predicted.source} holds {kinds[0]} and {gold.source} holds {kinds[1]}. Give two of one kind."
        )
    where = find(gold.items, predicted.items)
    if (where < 0).all():
        raise DataError(
            f"{predicted.source} and {gold.source} have no item in common (items there: "
            f"{name_list(predicted.items[:3])}; "
            f"here: {name_list(gold.items[:3])}). Give two files about the same items."
        )
    return where


def _align_beliefs(predicted: Answers, where: Ints, classes: Classes) -> Beliefs | None:
    """Return q[i, k] over the items of gold and the classes of both; uniform where nothing was predicted."""
    if predicted.beliefs is None:
        return None
    beliefs = np.zeros((len(where), len(classes)))
    beliefs[:, [classes.index(str(name)) for name in predicted.classes]] = predicted.beliefs[where]
    beliefs[where < 0] = 1.0 / len(classes)
    return beliefs


def _remarks(predicted: Answers, gold: Answers, units: Ints, pair: AlignedAnswers) -> Iterator[str]:
    """Yield what a user should know about units that were not compared as expected."""
    extra = int(np.count_nonzero(find(predicted.items, gold.items) < 0))
    if extra:
        yield f"{pluralise(extra, 'item')} of {predicted.source}: not in {gold.source}, so not scored."
    unknown = int(np.count_nonzero(pair.gold < 0))
    if unknown:
        yield f"{pluralise(unknown, 'answer')} without gold: not scored."
    if not {str(name) for name in predicted.classes} & {str(name) for name in gold.classes}:
        yield f"The files share no class: {name_list(predicted.classes)} here, {name_list(gold.classes)} there."
    if predicted.tokens is not None and gold.tokens is not None:
        differ = sum(u >= 0 and predicted.tokens[u] != token for u, token in zip(units, gold.tokens, strict=True))
        if differ:
            tokens = pluralise(differ, "token differs", "tokens differ")
            yield f"{tokens} between the files; are they about the same sentences?"


def _recode(codes: Ints, names: Classes, classes: Classes) -> Ints:
    """Return codes among some classes as codes among others; NO_ANSWER stays."""
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
    # Return for each unit of gold the unit of the prediction, -1 if it is missing.
    start = np.repeat(np.where(where >= 0, predicted.offsets[:-1][where], 0), ours)
    within = np.arange(int(gold.offsets[-1])) - np.repeat(gold.offsets[:-1], ours)
    return np.where(np.repeat(where, ours) >= 0, start + within, -1)
