"""Items in detail: text, votes, beliefs and evidence. Only those that are shown are looked at one by one.

Axes: i unit, j annotator, k class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from crowdlogic.data.corpus import UNKNOWN
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.report.findings import Belief, Evidence, ShownItem, TaggedSentence, Vote
from crowdlogic.report.material import Material
from crowdlogic.report.tagged import sentences_of, tags_for
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

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The classes as text."""
        return self.made.class_names

    def items(self, units: Ints, expected_wrong: Floats) -> tuple[ShownItem, ...]:
        """The items of some units, each with that unit in the middle of attention.

        Args:
            units: A unit of each item.
            expected_wrong: How many wrong answers each item is expected to have.
        """
        labels = self.made.labels
        items = labels.item_of_unit[units]
        sentences: Sequence[TaggedSentence | None] = [None] * len(units)
        tokens: Sequence[int | None] = [None] * len(units)
        if labels.offsets is not None:
            places = units - labels.offsets[items]
            tokens = places.tolist()
            sentences = sentences_of(self.made, items, places, tags_for(self.made), self.reliability)
        found = zip(
            units.tolist(),
            items.tolist(),
            expected_wrong.tolist(),
            self.explain(units),
            tokens,
            sentences,
            self._votes(units),
            strict=True,
        )
        return tuple(self._item(*one) for one in found)

    def _item(
        self,
        i: int,
        s: int,
        wrong: float,
        evidence: Evidence | None,
        token: int | None,
        sentence: TaggedSentence | None,
        given: tuple[tuple[Vote, ...], int],
    ) -> ShownItem:
        made, names = self.made, self.names
        answer = int(made.estimate.answer[i])
        text, is_cut = self.text(s)
        votes, n_votes = given
        gold = None if made.gold is None or made.gold[i] == UNKNOWN else names[made.gold[i]]
        is_cut |= sentence is not None and len(sentence.tokens) < sentence.n_tokens
        confidence = number(made.estimate.beliefs[i, answer]) if answer >= 0 else None
        return ShownItem(
            str(made.labels.items[s]),
            text,
            is_cut,
            names[answer] if token is None and answer >= 0 else None,
            confidence,
            round(wrong, 6),
            self._beliefs(i),
            token,
            votes,
            n_votes,
            gold,
            sentence,
            evidence,
        )

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
        return tuple(Belief(self.names[k], round(float(q[k]), 6)) for k in order)

    def _votes(self, units: Ints) -> Iterator[tuple[tuple[Vote, ...], int]]:
        """The votes of every unit, the first so many, and how many there are."""
        labels, weight = self.made.labels, self.made.labels.weight
        ends = (np.searchsorted(labels.unit, units, side=side).tolist() for side in ("left", "right"))
        for begin, end in zip(*ends, strict=True):
            rows = slice(begin, min(end, begin + MOST_VOTES))
            who = labels.annotator[rows].tolist()
            weights = [1.0] * len(who) if weight is None else weight[rows].tolist()
            said = zip(who, labels.label[rows].tolist(), weights, strict=True)
            yield (
                tuple(
                    Vote(str(labels.annotators[j]), self.names[k], much, number(self.reliability[j]))
                    for j, k, much in said
                ),
                end - begin,
            )
