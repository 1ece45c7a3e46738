"""What decisions say of a whole class of answers: that it is wrong more often, or less, than was believed.

Mistakes come in kinds: if four answers "jazz" out of five were wrong, the others are suspect, too. So the log odds that
an answer is right are those that were believed, plus an effect of its class: a logistic regression with an offset,
whose effects have a normal prior ([GELMAN08] section 2), fitted by Newton's method. That the queue chose what was
decided does not bias it: it chose by what was believed, which is the offset.

[GELMAN08] Gelman, Jakulin, Pittau and Su, "A weakly informative default prior distribution for logistic and other
regression models", 2008.
Axes: i unit, k class.
"""

from __future__ import annotations

import numpy as np

from crowdlogic.engines.shard import UNKNOWN
from crowdlogic.numerics.arrays import Floats, Ints

SPREAD = 0.5
"""Standard deviation of the effect of a class, in log odds."""
LEAST = 0.01
"""In the fit nothing is taken to be surer than this, so that one surprise does not decide."""
TINY = 1e-9
"""What keeps log odds finite."""
STEPS = 20
"""Largest number of Newton's steps; some five are enough."""


def class_effects(right: Floats, answer: Ints, decided: Ints, n_classes: int) -> Floats:
    """effect[k], what is added to the log odds that an answer k is right.

    Args:
        right: right[i], how probable it was before the first decision that the answer is right.
        answer: answer[i], the answers before the first decision.
        decided: decided[i], the class that was decided; UNKNOWN for the others.
        n_classes: Number of classes.
    """
    units = np.flatnonzero((decided != UNKNOWN) & (answer >= 0))
    offset, group = log_odds(right[units], LEAST), answer[units]
    hits = np.bincount(group, weights=decided[units] == group, minlength=n_classes)
    effect = np.zeros(n_classes)
    for _ in range(STEPS):
        p = 1.0 / (1.0 + np.exp(-offset - effect[group]))
        slope = hits - np.bincount(group, weights=p, minlength=n_classes) - effect / SPREAD**2
        step = slope / (np.bincount(group, weights=p * (1.0 - p), minlength=n_classes) + SPREAD**-2)
        effect += step
        if np.abs(step).max(initial=0.0) < 1e-9:
            break
    return effect


def add_effects(right: Floats, answer: Ints, effect: Floats) -> Floats:
    """right[i], how probable it is that the answer is right, with the effect of its class."""
    return np.asarray(1.0 / (1.0 + np.exp(-log_odds(right) - effect[answer])))


def log_odds(right: Floats, least: float = TINY) -> Floats:
    """The log odds of probabilities that are kept so far from 0 and 1."""
    p = np.clip(right, least, 1.0 - least)
    return np.asarray(np.log(p) - np.log1p(-p))
