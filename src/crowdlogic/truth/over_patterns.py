"""Truth methods over patterns: labels of which each row stands for many items that were labelled alike.

The estimate has one unit per pattern, which is what every item with these labels gets. It is that of the whole table:
sums count a pattern as often as there are items, and what is stated of an item depends on its labels alone.

Axes: p pattern.
"""

from __future__ import annotations

from typing import Any

from crowdlogic.data.estimate import Estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.engines.patterns import pattern_shards
from crowdlogic.errors import OptionError, name_list
from crowdlogic.numerics.arrays import Floats
from crowdlogic.registry import TRUTH_METHODS
from crowdlogic.truth.dependence import Dependence, state_confidence
from crowdlogic.truth.ensemble import Ensemble, own_checkpoint
from crowdlogic.truth.fitting import DEFAULT_FIT, Fitting
from crowdlogic.truth.methods import TruthMethod
from crowdlogic.truth.over_engines import estimate_of_fit, fits_over_engines


def fits_over_patterns(name: str) -> bool:
    """Whether the method of that name can be fitted over patterns."""
    return name == Ensemble.name or fits_over_engines(name)


def infer_patterns(
    method: TruthMethod,
    labels: CrowdLabels,
    times: Floats,
    *,
    fitting: Fitting = DEFAULT_FIT,
    dependence: Dependence | None = None,
) -> Estimate:
    """Fit a method, and state its beliefs: the estimate of each pattern.

    Args:
        method: The truth method.
        labels: The labels of each pattern, the pattern being the item.
        times: times[p], how many items it stands for.
        fitting: Options of the fit; anchors and an earlier estimate name items, and there are none here.
        dependence: How far labels of one item depend on each other; None keeps the method's own posterior.
    """
    if not fits_over_patterns(method.name):
        able = name_list((name for name in TRUTH_METHODS.loadable() if fits_over_patterns(name)), most=20)
        raise OptionError(f"{method.name} needs the items themselves, not patterns. These do not: {able}.")
    engine = pattern_shards(labels, times)

    def infer(one: Any) -> Estimate:
        own = fitting if one is method else own_checkpoint(fitting, one.name)
        return estimate_of_fit(one, one.fit_over(engine, fitting=own), labels, answer_all=fitting.answer_all)

    if isinstance(method, Ensemble):
        members = list(method.members(labels, infer, times=times))
        return method.pooled(labels, members, fitting=fitting, times=times)
    found = infer(method)
    return found if dependence is None else state_confidence(labels, found, dependence=dependence, times=times)
