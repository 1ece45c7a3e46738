"""Items in detail: text, votes, beliefs and evidence. Only those that are shown are looked at one by one.

Axes: i unit, j annotator, k class.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from crowdlogic.data.corpus import UNKNOWN
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.report.findings import Belief, Evidence, ShownItem, Vote
from crowdlogic.report.material import Material
from crowdlogic.report.tagged import Tags, sentence_of, tags_for
from crowdlogic.report.wording import number

MOST_BELIEFS = 8
"""Classes whose probability is shown."""
MOST_VOTES = 50
"""Votes of an item that are shown."""

Explain = Callable[[Ints], Sequence[Evidence | None]]
"""Why some units got their answers: the evidence for each, None where there is none."""


def unexplained(units: Ints) -> list[Evidence | None]:
    """No evidence."""
    return [None] * len(units)


@dataclass(frozen=True, eq=False)
class Showing:
    """What items are shown with.

    Attributes:
        made: The material.
        reliability: reliability[j]; NaN where it is not known.
        text_length: Where texts are cut.
        explain: Why units got their answers.
    """

    made: Material
    reliability: Floats
    text_length: int
    explain: Explain = unexplained

    def items(self, units: Ints, expected_wrong: Floats) -> tuple[ShownItem, ...]:
        """The items of some units, each with that unit in the middle of attention.

        Args:
            units: A unit of each item.
            expected_wrong: How many wrong answers each item is expected to have.
        """
        tags = tags_for(self.made) if self.made.labels.is_sequential else None
        item_of_unit = self.made.labels.item_of_unit
        found = zip(units.tolist(), item_of_unit[units].tolist(), expected_wrong, self.explain(units), strict=True)
        return tuple(self._item(i, s, float(wrong), evidence, tags) for i, s, wrong, evidence in found)

    def _item(self, i: int, s: int, wrong: float, evidence: Evidence | None, tags: Tags | None) -> ShownItem:
        made, names = self.made, self.made.class_names
        offsets, answer = made.labels.offsets, int(made.estimate.answer[i])
        token = None if offsets is None else i - int(offsets[s])
        sentence = None if tags is None or token is None else sentence_of(made, s, token, tags, self.reliability)
        text, is_cut = self.text(s)
        votes, n_votes = self._votes(i)
        gold = None if made.gold is None or made.gold[i] == UNKNOWN else names[made.gold[i]]
        is_cut |= sentence is not None and len(sentence.tokens) < sentence.n_tokens
        confidence = number(made.estimate.beliefs[i, answer]) if answer >= 0 else None
        return ShownItem(
            str(made.labels.items[s]), text, is_cut, names[answer] if token is None and answer >= 0 else None,
            confidence, round(wrong, 6), self._beliefs(i), token, votes, n_votes, gold, sentence, evidence,
        )  # fmt: skip

    def text(self, s: int) -> tuple[str | None, bool]:
        """A document's text, and whether it was cut."""
        corpus = self.made.corpus
        if corpus is None or corpus.texts is None:
            return None, False
        text = corpus.texts[s]
        return text[: self.text_length], len(text) > self.text_length

    def _beliefs(self, i: int) -> tuple[Belief, ...]:
        q = self.made.estimate.beliefs[i]
        order = np.argsort(-q, kind="stable")[:MOST_BELIEFS].tolist()
        return tuple(Belief(self.made.class_names[k], round(float(q[k]), 6)) for k in order)

    def _votes(self, i: int) -> tuple[tuple[Vote, ...], int]:
        labels = self.made.labels
        begin, end = (int(row) for row in np.searchsorted(labels.unit, [i, i + 1]))
        rows = range(begin, min(end, begin + MOST_VOTES))
        weight = labels.weight
        votes = (
            Vote(
                str(labels.annotators[int(labels.annotator[row])]), self.made.class_names[labels.label[row]],
                1.0 if weight is None else float(weight[row]), number(self.reliability[labels.annotator[row]]),
            )
            for row in rows
        )  # fmt: skip
        return tuple(votes), end - begin
