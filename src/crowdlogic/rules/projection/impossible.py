"""The error for units that hard rules leave no class: it names the unit, and the rules there.

Axes: i unit, k class.
"""

from __future__ import annotations

import numpy as np

from crowdlogic.data.estimate import Beliefs
from crowdlogic.errors import RuleError
from crowdlogic.numerics.arrays import Bools, Ints
from crowdlogic.rules.grounding import GroundRules


def refuse_impossible(impossible: Bools, start: Beliefs, ground: GroundRules) -> None:
    """Raise an error that names the hard rules at the first unit for which no class is left.

    Args:
        impossible: impossible[i], whether every class of a unit is forbidden.
        start: start[i, k], the beliefs that the projection started from.
        ground: The rules.
    """
    if not impossible.any():
        return
    i = int(np.flatnonzero(impossible)[0])
    where = _describe_unit(i, ground)
    if not (start[i] > 0).any():
        raise RuleError(f"{where}: the beliefs are 0 for every class.")
    group = _connected_units(i, ground)
    named = [
        f"{rule.rule.place}: {rule.rule}"
        for rule in ground.rules
        if rule.rule.weight is None and np.isin(rule.units, group).any()
    ]
    others = np.count_nonzero(impossible) - 1
    raise RuleError(
        f"{where}: the hard rules forbid every class that the beliefs allow"
        f"{f' (and for {others:,} more units)' if others else ''}. The rules there:\n    "
        + "\n    ".join(named or ["none; a transition of probability 0 forbids it"])
    )


def _describe_unit(i: int, ground: GroundRules) -> str:
    if ground.corpus.offsets is None:
        return f"Item {ground.corpus.items[i]!r}"
    s = int(np.searchsorted(ground.corpus.offsets, i, side="right")) - 1
    return f"Sequence {ground.corpus.items[s]!r}, token {i - int(ground.corpus.offsets[s]) + 1}"


def _connected_units(i: int, ground: GroundRules) -> Ints:
    """The units that may influence unit i: its sequence, or itself and its direct partners."""
    if ground.corpus.offsets is not None:
        s = int(np.searchsorted(ground.corpus.offsets, i, side="right")) - 1
        return np.arange(ground.corpus.offsets[s], ground.corpus.offsets[s + 1])
    partners = [np.array([i])]
    for rule in ground.rules:
        for block in rule.blocks:
            if block.second is not None:
                partners += [block.second[block.first == i], block.first[block.second == i]]
    return np.unique(np.concatenate(partners))
