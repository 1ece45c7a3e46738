"""Evidence on the scale of the stated confidence: bits times the sharpness of their unit, and uniform doubt.

    q = (1 - doubt) q_f^sharpness / (its sum) + doubt / K

Axes: i unit of the item, k class.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from crowdlogic.data.estimate import Beliefs
from crowdlogic.errors import OptionError
from crowdlogic.learning.evidence import BIT, Evidence, RuleEvidence, difference, left_over
from crowdlogic.numerics.arrays import Floats
from crowdlogic.numerics.logspace import log_sum_exp, safe_log
from crowdlogic.numerics.tempering import temper

CLOSE = 1e-6
"""Tolerance: if the stated beliefs differ by more from those that the evidence adds up to, it does not explain them."""


@dataclass(frozen=True, eq=False, kw_only=True)
class UnitScale:
    """The scale on which the confidence of the units of an item is stated.

    Attributes:
        sharpness: sharpness[i], what bits are multiplied by.
        doubt: The share of uniform doubt.
        stated: stated[i, k], the stated beliefs.
    """

    sharpness: Floats
    doubt: float
    stated: Beliefs


def state(found: Evidence, scale: UnitScale) -> Evidence:
    """The evidence on the scale of the stated confidence: bits times the sharpness of their unit, and doubt.

    A unit whose truth was given stays as it is.
    """
    known = found.known | (scale.stated.max(axis=1, initial=0.0) == 1.0)  # with doubt, nothing else is certain
    sharpness = np.where(known, 1.0, scale.sharpness)
    q_a, q_b, q_f = (temper(beliefs, sharpness) for beliefs in (found.q_a, found.q_b, found.q_f))
    stated = np.where(known[:, None], found.q_f, temper(found.q_f, sharpness, scale.doubt))
    if np.abs(stated - scale.stated).max(initial=0.0) > CLOSE:
        raise OptionError(
            f"{found.item}: the stated confidence is not that of its evidence. Explain it as it was learnt."
        )
    bits = sharpness[:, None]
    crowd = replace(found.crowd, term=found.crowd.term * sharpness[found.crowd.unit, None])
    classifier = found.classifier * bits
    neighbours = None if found.neighbours is None else found.neighbours * bits
    together = classifier + crowd.total(len(q_f)) + (0.0 if neighbours is None else neighbours)
    return replace(
        found,
        classifier=classifier,
        crowd=crowd,
        normaliser=log_sum_exp(together * BIT, axis=1) / BIT,
        neighbours=neighbours,
        rules=None if found.rules is None else _state_rules(found.rules, bits, q_a=q_a, q_b=q_b),
        q_a=q_a,
        q_b=q_b,
        mixture=difference(q_f, q_a if found.rules is None else q_b),
        sharpness=sharpness,
        doubt=difference(stated, q_f),
        q_f=stated,
        known=known,
    )


def _state_rules(rules: RuleEvidence, bits: Floats, *, q_a: Beliefs, q_b: Beliefs) -> RuleEvidence:
    """What the rules made of it, with bits[i, 1] times their bits, so that they lead from this q_a to this q_b."""
    base = rules.base * bits if rules.from_classifier else safe_log(q_a) / BIT
    share = rules.share * bits
    transitions = None if rules.transitions is None else rules.transitions * bits
    explained = base + share.sum(axis=0) + (0.0 if transitions is None else transitions)
    residual, normaliser = left_over(explained, safe_log(q_b) / BIT)
    return replace(rules, base=base, share=share, transitions=transitions, residual=residual, normaliser=normaliser)
