"""The grammar of span tags: which ready-made rule set a tag set obeys, if any.

In BIO an I- tag follows a B- or I- tag of its type; in BIOES (or BILOU) spans also end with a tag of their own. Tags in
which an I- may begin a span (IOB1, or I- and O alone) have no such grammar.

Axes: n label, sorted by annotator and unit.
"""

from __future__ import annotations

import numpy as np

from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.tagging import BEGIN, END, INSIDE, SINGLE, TagSet, is_span_tag_set, parse_tags
from crowdlogic.rules.syntax import IncludedSet, RuleSet

GRAMMARS = ("bio", "bioes")
"""The ready-made rule sets that are grammars of tags."""

BEGINS_SHARE = 0.5
"""Where more I- tags than this share begin a span, they are not meant to follow a B- tag."""


def find_grammar(labels: CrowdLabels) -> str | None:
    """The ready-made rule set whose grammar the labels follow; None where there is none."""
    if not labels.is_sequential or not is_span_tag_set(labels.classes):
        return None
    tags = parse_tags(labels.classes)
    begins = {int(kind) for prefix, kind in zip(tags.prefix, tags.kind, strict=True) if prefix == BEGIN}
    inner = {int(kind) for prefix, kind in zip(tags.prefix, tags.kind, strict=True) if prefix in (INSIDE, END)}
    if not inner or not inner <= begins or _share_of_beginnings(labels, tags) > BEGINS_SHARE:
        return None
    return "bioes" if np.isin(tags.prefix, (END, SINGLE)).any() else "bio"


def _share_of_beginnings(labels: CrowdLabels, tags: TagSet) -> float:
    """The share of I- tags that do not follow a tag of their type by the same annotator."""
    order = np.lexsort((labels.unit, labels.annotator))
    annotator, unit, code = labels.annotator[order], labels.unit[order], labels.label[order]
    item, kind = labels.item_of_unit[unit], tags.kind[code]
    follows = np.zeros(len(order), dtype=bool)
    follows[1:] = (np.diff(annotator) == 0) & (np.diff(unit) == 1) & (np.diff(item) == 0) & (kind[1:] == kind[:-1])
    inside = tags.prefix[code] == INSIDE
    return float((inside & ~follows).sum() / max(int(inside.sum()), 1))


def includes_grammar(rules: RuleSet) -> bool:
    """Whether rules bring a grammar of tags themselves."""
    return any(isinstance(one, IncludedSet) and one.name in GRAMMARS for one in rules.statements)
