"""Two moments of a review compared: what a re-fit between them changed.

Axes: i unit, s item.
"""

from __future__ import annotations

import numpy as np

from crowdlogic.data.corpus import UNKNOWN
from crowdlogic.numerics.arrays import Ints
from crowdlogic.planning.decisions import Decisions
from crowdlogic.workflows.review.answers import item_units
from crowdlogic.workflows.review.changes import ContradictedRule, RefitChanges, contradicted_rules, new_flags
from crowdlogic.workflows.review.material import ReviewMaterial
from crowdlogic.workflows.review.moment import ReviewMoment
from crowdlogic.workflows.review.rule_views import count_contradictions


def compare_moments(
    material: ReviewMaterial, last: ReviewMoment, following: ReviewMoment, decisions: Decisions
) -> RefitChanges:
    """What changed from one moment to the next, with these decisions known; answers that were decided do not count."""
    known, left = decisions.classes(material.labels), ~decisions.items(material.labels)
    changed = (last.fit.estimate.answer != following.fit.estimate.answer) & (known == UNKNOWN)
    return RefitChanges(
        decisions=len(decisions.truth),
        changed=int(changed.sum()),
        mistakes_before=float(last.mistakes[left].sum()),
        mistakes_after=float(following.mistakes[left].sum()),
        flags=() if following.viewer.hide_names else new_flags(last.standings, following.standings),
        rules=find_contradicted(material, following, known),
    )


def find_contradicted(material: ReviewMaterial, moment: ReviewMoment, known: Ints) -> tuple[ContradictedRule, ...]:
    """The rules that known[i] contradicts more often than not."""
    rules, labels = material.rules, material.labels
    items = np.unique(labels.item_of_unit[known != UNKNOWN])
    if rules is None or not len(items):
        return ()
    bits = rules.say(items, moment.fit.estimate.beliefs, moment.fit.learned)
    return contradicted_rules(rules.texts, count_contradictions(bits, known[item_units(labels.offsets, items)]))
