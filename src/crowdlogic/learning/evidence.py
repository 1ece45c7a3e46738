"""The evidence behind the answers of an item: what the classifier, each annotator and each rule said, in bits.

`learning/explain.py` computes it, and says what the terms are and how they add up. Printed, it is a table that fits a
screen (`learning/evidence_text.py`).

Axes: i unit of the item, k class, l rule, n label of the item.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.names import Classes
from crowdlogic.numerics.arrays import Bools, Floats, Ints
from crowdlogic.numerics.logspace import safe_log

BIT = float(np.log(2.0))


@dataclass(frozen=True, eq=False, kw_only=True)
class CrowdEvidence:
    """The evidence of an item's labels: a row for each label.

    Attributes:
        unit: unit[n], which unit of the item the label is of.
        annotator: annotator[n], by name.
        label: label[n], the class that was given.
        term: term[n, k], the evidence of the label for each class: log2 pi_j[k, label] with confusion matrices.
    """

    unit: Ints
    annotator: tuple[Any, ...]
    label: Ints
    term: Floats

    def total(self, n_units: int) -> Floats:
        """total[i, k], the evidence of all labels of each unit."""
        total = np.zeros((n_units, self.term.shape[1]))
        np.add.at(total, self.unit, self.term)
        return total


@dataclass(frozen=True, eq=False, kw_only=True)
class RuleEvidence:
    """What the rules made of the beliefs that they started from.

    Attributes:
        base: base[i, k], log2 of the beliefs that the projection starts from.
        from_classifier: Whether these are the classifier's p; else they are q_a.
        rules: The rules that touch the item, as text.
        share: share[l, i, k] of each.
        transitions: transitions[i, k], the share of the table of transitions; None without one.
        residual: residual[i, k], what the shares do not account for.
        normaliser: normaliser[i].
        is_exact: Whether the shares add up by themselves; else each is what is lost without its rule.
    """

    base: Floats
    from_classifier: bool
    rules: tuple[str, ...]
    share: Floats
    transitions: Floats | None
    residual: Floats
    normaliser: Floats
    is_exact: bool


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Evidence:
    """Why the units of an item got their answers, in bits.

    With a sharpness other than 1, bits and beliefs are those of the scale on which the confidence is stated.

    Attributes:
        item: Its name.
        words: Its tokens, or its text alone.
        classes: The classes.
        classifier: classifier[i, k], log2 p.
        crowd: The evidence of the labels.
        normaliser: normaliser[i] of q_a.
        neighbours: neighbours[i, k], what the labels of other tokens add through the transitions of a chain; None where
            units are independent.
        rules: What the rules made of it; None without any.
        k: The imitation.
        q_a: q_a[i, k].
        q_b: q_b[i, k].
        mixture: mixture[i, k], what mixing q_b with q_a adds to log2 q_b.
        sharpness: sharpness[i], what all bits were multiplied by.
        doubt: doubt[i, k], what uniform doubt adds.
        q_f: q_f[i, k], the answer.
        known: known[i], whether the truth was given with an anchor; the terms then do not add up to q_a.
        path: path[i], the answers where tags form chains: the most probable tagging, and not tag by tag.
    """

    item: Any
    words: tuple[str, ...]
    classes: Classes
    classifier: Floats
    crowd: CrowdEvidence
    normaliser: Floats
    neighbours: Floats | None = None
    rules: RuleEvidence | None
    k: float
    q_a: Beliefs
    q_b: Beliefs
    mixture: Floats
    sharpness: Floats
    doubt: Floats
    q_f: Beliefs
    known: Bools
    path: Ints | None = None

    def __repr__(self) -> str:
        from crowdlogic.learning.evidence_text import describe_evidence  # which needs this module

        return describe_evidence(self)

    @property
    def answer(self) -> Ints:
        """answer[i]."""
        return np.asarray(self.q_f.argmax(axis=1)) if self.path is None else self.path

    def added_up(self) -> Floats:
        """log2 q_f[i, k] as the sum of all terms; NaN for a class that is impossible without doubt."""
        rules = self.rules
        if rules is None:
            total = self.classifier + self.crowd.total(len(self.q_f)) - self.normaliser[:, None]
            total = total if self.neighbours is None else total + self.neighbours
        else:
            total = rules.base + rules.share.sum(axis=0) + rules.residual - rules.normaliser[:, None]
            total = total if rules.transitions is None else total + rules.transitions
        with np.errstate(invalid="ignore"):
            return np.asarray(total + self.mixture + self.doubt)


def left_over(explained: Floats, log_q_b: Floats) -> tuple[Floats, Floats]:
    """The residual[i, k] and the normaliser[i] that make what is explained add up to log2 q_b.

    Classes that either side takes to be impossible have no residual: their sum is minus infinity as it is.
    """
    possible: Bools = np.isfinite(explained) & np.isfinite(log_q_b)
    gap = np.where(possible, log_q_b, 0.0) - np.where(possible, explained, 0.0)
    mean = gap.sum(axis=1) / np.maximum(possible.sum(axis=1), 1)
    return np.where(possible, gap - mean[:, None], 0.0), -mean


def difference(after: Beliefs, before: Beliefs) -> Floats:
    """log2 after - log2 before, 0 where both are the same."""
    with np.errstate(invalid="ignore"):
        found = (safe_log(after) - safe_log(before)) / BIT
    return np.where(after == before, 0.0, found)
