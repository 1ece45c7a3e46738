"""Table of transitions: how likely each tag is after the tag before it. It can be used in addition to rules.

The potential of a transition is strength * log p, as in the authors' program for named entities (strength 0.1).
Axes: k previous tag, k' tag, i unit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import Classes
from crowdlogic.data.tagging import BEGIN, END, INSIDE, SINGLE, is_span_tag_set, parse_tags, sequence_starts
from crowdlogic.errors import OptionError, did_you_mean, name_list
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.numerics.logspace import safe_log
from crowdlogic.rules.syntax import IncludedSet, RuleSet

FLOOR = 1e-10
"""Probability of pairs that the table does not list: nearly impossible."""


@dataclass(frozen=True, eq=False)
class TransitionTable:
    """Probabilities of neighbouring tags.

    Attributes:
        classes: The tags.
        probability: probability[k, k'], of tag k' after tag k.
        start: start[k], of a sequence that begins with tag k.
        strength: Factor of the logs.
        floor: Minimum probability, which replaces smaller ones; 0 makes transitions impossible.
    """

    classes: Classes
    probability: Floats
    start: Floats
    strength: float = 0.1
    floor: float = FLOOR

    def __post_init__(self) -> None:
        size = len(self.classes)
        if self.probability.shape != (size, size) or self.start.shape != (size,):
            raise OptionError(
                f"A transition table over {size} classes needs {size} x {size} probabilities and {size} for the start, "
                f"not {self.probability.shape} and {self.start.shape}."
            )
        for values in (self.probability, self.start):
            if not ((values >= 0) & (values <= 1)).all():
                raise OptionError("The probabilities of a transition table must lie between 0 and 1.")

    def over(self, classes: Classes) -> TransitionTable:
        """Return the table over more classes, or in another order of classes; new pairs are nearly impossible."""
        position = {str(name): k for k, name in enumerate(classes)}
        at = np.array([_code(name, position) for name in self.classes])
        probability, start = np.zeros((len(classes), len(classes))), np.zeros(len(classes))
        probability[np.ix_(at, at)], start[at] = self.probability, self.start
        return TransitionTable(classes, probability, start, strength=self.strength, floor=self.floor)

    @property
    def log_pairwise(self) -> Floats:
        """log[k, k'], the log potential of tag k' after k."""
        return self.strength * safe_log(np.maximum(self.probability, self.floor))

    @property
    def log_start(self) -> Floats:
        """log[k], the log potential of a first tag k."""
        return self.strength * safe_log(np.maximum(self.start, self.floor))


def transition_table(
    weights: Mapping[tuple[Any, Any], float],
    classes: Classes,
    *,
    start: Mapping[Any, float] | None = None,
    strength: float = 0.1,
    floor: float = FLOOR,
) -> TransitionTable:
    """Return a table from {(previous, tag): probability}; unlisted pairs are nearly impossible.

    Args:
        weights: The probability of each listed pair, previous tag first.
        classes: The tags, in the order of the beliefs' columns.
        start: The probability of each tag at the beginning of a sequence; uniform when not given.
        strength: Factor of the logs.
        floor: Minimum probability, which replaces smaller or unlisted ones.
    """
    position = {str(name): k for k, name in enumerate(classes)}
    probability = np.zeros((len(classes), len(classes)))
    for (previous, tag), weight in weights.items():
        probability[_code(previous, position), _code(tag, position)] = weight
    first = np.full(len(classes), 1.0 / max(len(classes), 1)) if start is None else np.zeros(len(classes))
    for tag, weight in (start or {}).items():
        first[_code(tag, position)] = weight
    return TransitionTable(classes, probability, first, strength=strength, floor=floor)


def _code(tag: Any, position: Mapping[str, int]) -> int:
    if str(tag) not in position:
        raise OptionError(
            f"{tag!r} is not a class.{did_you_mean(str(tag), [*position])} The classes are {name_list(position)}."
        )
    return position[str(tag)]


def estimate_transitions(
    beliefs: Beliefs,
    offsets: Ints,
    classes: Classes,
    *,
    smoothing: float = 0.0,
    given: str = "previous",
    strength: float = 0.1,
    floor: float = FLOOR,
) -> TransitionTable:
    """Estimate how often tag k' follows tag k under the beliefs, which are treated as independent.

    Args:
        beliefs: q[i, k]; a majority vote or a posterior.
        offsets: Where each sequence begins.
        classes: The tags.
        smoothing: Added to every count.
        given: Whether the probabilities are conditional on the `previous` tag, or on the `current` one, as in the
            authors' program.
        strength: Factor of the logs.
        floor: Minimum probability, which replaces smaller ones.
    """
    if given not in ("previous", "current"):
        raise OptionError(f"given must be previous or current; got {given!r}.")
    later = np.flatnonzero(~sequence_starts(len(beliefs), offsets))
    counts = beliefs[later - 1].T @ beliefs[later] + smoothing
    starts = beliefs[sequence_starts(len(beliefs), offsets)].sum(axis=0) + smoothing
    axis = 1 if given == "previous" else 0
    return TransitionTable(
        classes, _normalise_counts(counts, axis), _normalise_counts(starts, 0), strength=strength, floor=floor
    )


def _normalise_counts(counts: Floats, axis: int) -> Floats:
    total = counts.sum(axis=axis, keepdims=True)
    return np.asarray(counts / np.where(total > 0, total, 1.0))


CONLL_WEIGHTS = {
    ("O", "O"): 0.873, ("B-PER", "O"): 0.014, ("I-PER", "O"): 0.018, ("B-MISC", "O"): 0.009, ("B-ORG", "O"): 0.0226,
    ("I-ORG", "O"): 0.018, ("B-LOC", "O"): 0.032, ("I-LOC", "O"): 0.009, ("I-MISC", "O"): 0.005, ("O", "B-PER"): 1.0,
    ("B-PER", "I-PER"): 1.0, ("O", "B-MISC"): 1.0, ("O", "B-ORG"): 1.0, ("B-ORG", "I-ORG"): 0.8,
    ("I-ORG", "I-ORG"): 0.2, ("O", "B-LOC"): 1.0, ("B-LOC", "I-LOC"): 1.0, ("B-MISC", "I-MISC"): 0.5,
    ("I-MISC", "I-MISC"): 0.5,
}  # fmt: skip
"""The authors' weights for CoNLL 2003: (previous tag, tag), conditional on the tag."""

CONLL_START = {"O": 0.55, "B-PER": 0.1, "B-ORG": 0.3, "B-LOC": 0.05}


def conll_transitions(classes: Classes, *, strength: float = 0.1) -> TransitionTable:
    """Return the table of the authors' program for the four entity types of CoNLL 2003."""
    return transition_table(CONLL_WEIGHTS, classes, start=CONLL_START, strength=strength)


# The grammar of span tags: which ready-made rule set a tag set obeys, if any.
#
# In BIO an I- tag follows a B- or I- tag of its type; in BIOES (or BILOU) the last token of a span also has a special
# tag. Tags in which an I- may begin a span (IOB1, or I- and O alone) have no such grammar.
#
# Axes: n label, sorted by annotator and unit.

GRAMMARS = ("bio", "bioes")
"""The ready-made rule sets that are grammars of tags."""

BEGINS_SHARE = 0.5
"""If more than this share of I- tags begin a span, the tags do not follow a grammar."""


def find_grammar(labels: CrowdLabels) -> str | None:
    """Return the ready-made rule set whose grammar the labels follow; None where there is none."""
    if not labels.is_sequential or not is_span_tag_set(labels.classes):
        return None
    tags = parse_tags(labels.classes)
    begins = {int(kind) for prefix, kind in zip(tags.prefix, tags.kind, strict=True) if prefix == BEGIN}
    inner = {int(kind) for prefix, kind in zip(tags.prefix, tags.kind, strict=True) if prefix in (INSIDE, END)}
    if not inner or not inner <= begins:
        return None

    # The share of I- tags that do not follow a tag of their type by the same annotator
    order = np.lexsort((labels.unit, labels.annotator))
    annotator, unit, code = labels.annotator[order], labels.unit[order], labels.label[order]
    item, kind = labels.item_of_unit[unit], tags.kind[code]
    follows = np.zeros(len(order), dtype=bool)
    follows[1:] = (np.diff(annotator) == 0) & (np.diff(unit) == 1) & (np.diff(item) == 0) & (kind[1:] == kind[:-1])
    inside = tags.prefix[code] == INSIDE
    if (inside & ~follows).sum() / max(int(inside.sum()), 1) > BEGINS_SHARE:
        return None
    return "bioes" if np.isin(tags.prefix, (END, SINGLE)).any() else "bio"


def includes_grammar(rules: RuleSet) -> bool:
    """Return whether rules already contain a grammar of tags."""
    return any(isinstance(one, IncludedSet) and one.name in GRAMMARS for one in rules.statements)
