"""Items in detail: text, votes, beliefs and evidence. Axes: i unit, s item, j annotator, k class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.report.context import Context
from crowdlogic.report.findings import round_figure
from crowdlogic.report.inputs import ReportInputs
from crowdlogic.report.pages.labels.findings import Belief, ShownItem, TaggedSentence, Vote
from crowdlogic.report.pages.labels.sentences import show_sentences
from crowdlogic.report.verdicts import annotator_verdicts

MOST_BELIEFS = 8
"""Classes whose probability is shown."""
MOST_VOTES = 50
"""Votes of an item that are shown."""


def show_items(context: Context, units: Ints, expected_wrong: Floats) -> tuple[ShownItem, ...]:
    """The items of some units in detail, each with its unit in the centre of attention.

    Args:
        context: The context of the report, with the evidence of these units.
        units: A unit of each item.
        expected_wrong: How many wrong answers each item is expected to have.
    """
    inputs = context.inputs
    items, offsets = inputs.labels.item_of_unit[units], inputs.labels.offsets
    sentences: Sequence[TaggedSentence | None] = [None] * len(units)
    tokens: Sequence[int | None] = [None] * len(units)
    reliability = context.once(annotator_verdicts).scores.reliability
    if offsets is not None:
        tokens = (units - offsets[items]).tolist()
        sentences = show_sentences(inputs, items, units - offsets[items], reliability)
    votes = _votes(inputs, units, reliability)
    rows = zip(units.tolist(), items.tolist(), expected_wrong.tolist(), tokens, sentences, votes, strict=True)
    return tuple(
        _show_item(context, i, s, expected_wrong=wrong, token=token, sentence=sentence, votes=found)
        for i, s, wrong, token, sentence, found in rows
    )


def _show_item(
    context: Context,
    i: int,
    s: int,
    *,
    expected_wrong: float,
    token: int | None,
    sentence: TaggedSentence | None,
    votes: tuple[tuple[Vote, ...], int],
) -> ShownItem:
    inputs, names = context.inputs, context.inputs.class_names
    answer = int(inputs.estimate.answer[i])
    has_answer, (shown_votes, n_votes) = answer >= 0, votes
    text, is_cut = _text(inputs, s, context.limits.text)
    return ShownItem(
        name=str(inputs.labels.items[s]),
        text=text,
        is_cut=is_cut or (sentence is not None and len(sentence.tokens) < sentence.n_tokens),
        answer=names[answer] if token is None and has_answer else None,
        confidence=round_figure(inputs.estimate.beliefs[i, answer]) if has_answer else None,
        expected_wrong=round(expected_wrong, 6),
        beliefs=_beliefs(inputs, i),
        token=token,
        votes=shown_votes,
        n_votes=n_votes,
        gold=inputs.gold_name(i),
        sentence=sentence,
        evidence=context.evidence.get(i),
    )


def _text(inputs: ReportInputs, s: int, length: int) -> tuple[str | None, bool]:
    """The text of a document, and whether it was cut."""
    text = inputs.text(s)
    return (None, False) if text is None else (text[:length], len(text) > length)


def _beliefs(inputs: ReportInputs, i: int) -> tuple[Belief, ...]:
    q = inputs.estimate.beliefs[i]
    order = np.argsort(-q, kind="stable")[:MOST_BELIEFS].tolist()
    return tuple(Belief(name=inputs.class_names[k], share=round(float(q[k]), 6)) for k in order)


def _votes(inputs: ReportInputs, units: Ints, reliability: Floats) -> Iterator[tuple[tuple[Vote, ...], int]]:
    """The first votes of every unit, and how many there are."""
    labels, names = inputs.labels, inputs.class_names
    # Labels are sorted by unit: those of a unit are a range of rows.
    ends = (np.searchsorted(labels.unit, units, side=side).tolist() for side in ("left", "right"))
    for begin, end in zip(*ends, strict=True):
        rows = slice(begin, min(end, begin + MOST_VOTES))
        annotators = labels.annotator[rows].tolist()
        weights = [1.0] * len(annotators) if labels.weight is None else labels.weight[rows].tolist()
        votes = tuple(
            Vote(
                annotator=str(labels.annotators[j]),
                label=names[k],
                weight=weight,
                reliability=round_figure(reliability[j]),
            )
            for j, k, weight in zip(annotators, labels.label[rows].tolist(), weights, strict=True)
        )
        yield votes, end - begin
