"""How far more labels bring the expected accuracy, when they stop paying, and whether votes or gold are the better buy.

Axes: i unit, s item, d number of further labels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdlogic.data.estimate import Estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.wording import approximate, pluralise
from crowdlogic.numerics.arrays import Floats
from crowdlogic.numerics.sums import sum_by
from crowdlogic.planning.forecast_view import forecast_view
from crowdlogic.planning.next_labels import NOBODY, WORTHWHILE, NextLabels, usable_gains
from crowdlogic.planning.skills import Skills

GOLD = 100
"""Of how many decisions the forecast speaks where no label is worth buying."""
NEXT = 1000
"""How many labels after the batch the forecast speaks of."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Forecast:
    """What more labels are expected to bring.

    Attributes:
        units: How many answers there are.
        accuracy: The expected accuracy now.
        votes: votes[p], by how many wrong answers the p-th further label lowers their expected number, best first.
        worth_buying: How many labels are worth buying: while each removes `WORTHWHILE` of a mistake.
        decisions: decisions[p], the same of the p-th item that somebody decides who knows the truth.
        batch: The labels chosen.
    """

    units: int
    accuracy: float
    votes: Floats
    worth_buying: int
    decisions: Floats
    batch: NextLabels

    @property
    def accuracy_after_batch(self) -> float:
        """The expected accuracy with the labels chosen."""
        return self.accuracy + self.batch.total / max(self.units, 1)

    def accuracy_after(self, count: int) -> float:
        """The expected accuracy with so many further labels: those of the batch, then others by typical annotators."""
        ahead = len(self.batch.item)
        chosen = float(self.batch.gain[:count].sum()) / max(self.units, 1)
        return self.accuracy + chosen + self.gain_of_votes(max(count - ahead, 0), after=ahead)

    def gain_of_votes(self, count: int, *, after: int = 0) -> float:
        """By how much so many further labels, after others, raise the expected accuracy."""
        return float(self.votes[after : after + count].sum()) / max(self.units, 1)

    @property
    def votes_per_decision(self) -> float:
        """How many votes gain as much as one decision, over as many decisions as the batch has labels."""
        count = len(self.batch.item)
        votes, known = self.batch.total, float(self.decisions[:count].sum())
        return known / votes if votes > 0 else float("inf")

    def sentences(self) -> tuple[str, ...]:
        """What to know, in words."""
        return (self._describe_batch(), self._describe_end(), self._describe_gold())

    def _describe_batch(self) -> str:
        count = len(self.batch.item)
        more = min(NEXT, max(len(self.votes) - count, 0))
        after = self.gain_of_votes(more, after=count)
        if not count:
            return (
                f"About {100 * self.accuracy:.1f} % of the answers should be right; {pluralise(more, 'more label')} "
                f"would add {100 * after:.1f} points."
            )
        bring = "label brings" if count == 1 else "labels bring"
        then = f"; the {more:,} after that would add {100 * after:.1f} points" if more else ""
        return (
            f"{count:,} more {bring} the right answers from about {100 * self.accuracy:.1f} to "
            f"{100 * self.accuracy_after_batch:.1f} %{then}."
        )

    def _describe_end(self) -> str:
        count, worth = len(self.batch.item), self.worth_buying
        rate = f"it takes more than {1 / WORTHWHILE:.0f} labels to remove one mistake"
        if not worth:
            return f"Stop buying labels: {rate}."
        if worth < count:
            first = "first of them is" if worth == 1 else f"first {approximate_count(worth)} of them are"
            return f"Only the {first} worth it: from then on {rate}."
        if worth == count:
            return f"Stop there: from then on {rate}."
        return f"Stop after about {approximate_count(worth)}, planning anew after each batch: from then on {rate}."

    def _describe_gold(self) -> str:
        """What an expert's decisions would bring for the same number of items."""
        count = min(len(self.batch.item) or GOLD, len(self.decisions))
        known, votes, rate = float(self.decisions[:count].sum()), self.batch.total, self.votes_per_decision
        items = f"{count:,} most doubtful items" if count > 1 else "most doubtful item"
        corrected = approximate(known)
        answers = "answer" if corrected == "about 1" else "answers"
        said = f"An expert who decides the {items} would correct {corrected} {answers}"
        if not len(self.batch.item):
            return f"{said}."
        bought = len(self.batch.item)
        labels = f"{f'these {bought:,} labels' if bought > 1 else 'this label'} {approximate(votes)}"
        if not np.isfinite(rate):
            return f"{said}, {labels}: ask an expert."
        price = f"{rate:,.0f}" if rate >= 10 else f"{rate:.1f}"
        return f"{said}, {labels}. So one decision of an expert is worth about {price} labels."


def approximate_count(count: int) -> str:
    """A count to two figures."""
    digits = max(len(str(count)) - 2, 0)
    return f"{round(count, -digits):,}"


def make_forecast(labels: CrowdLabels, estimate: Estimate, skills: Skills, batch: NextLabels) -> Forecast:
    """What a batch of labels, and those after it, are expected to bring."""
    chosen_by = usable_gains(labels, estimate, skills)
    gains = usable_gains(labels, *forecast_view(labels, estimate, skills))
    confidence = estimate.beliefs.max(axis=1, initial=0.0)
    wrong = 1.0 - confidence
    if labels.offsets is not None:
        wrong = sum_by(labels.item_of_unit, len(labels.items), wrong)
    return Forecast(
        units=len(confidence),
        accuracy=float(confidence.mean()) if len(confidence) else 1.0,
        votes=np.sort(gains[gains > NOBODY])[::-1],
        worth_buying=int(np.count_nonzero(chosen_by >= WORTHWHILE)),
        decisions=np.sort(wrong)[::-1],
        batch=batch,
    )
