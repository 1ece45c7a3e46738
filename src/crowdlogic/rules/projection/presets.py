"""Readings of eq. 15 of the paper: which beliefs the projection starts from, and what it gives.

- `paper`: from q_a, exact marginals.
- `released`: from the classifier; the best path gets exp(C), as in the authors' program.
- `transitions`: from the classifier, exact marginals; meant for a TransitionTable.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from crowdlogic.errors import OptionError


class Start(StrEnum):
    """Which beliefs the projection starts from."""

    crowd = "crowd"
    """q_a: crowd and classifier together."""
    classifier = "classifier"
    """p(t | x): the classifier alone."""


class Result(StrEnum):
    """What the projection of a chain gives."""

    marginals = "marginals"
    """The marginals of eq. 15."""
    path = "path"
    """The beliefs it started from, with exp(C) on the most probable path."""


@dataclass(frozen=True)
class Preset:
    """A reading of eq. 15: where it starts and what it gives."""

    start: Start = Start.crowd
    result: Result = Result.marginals


PRESETS = {
    "paper": Preset(Start.crowd, Result.marginals),
    "released": Preset(Start.classifier, Result.path),
    "transitions": Preset(Start.classifier, Result.marginals),
}


def find_preset(preset: Preset | str) -> Preset:
    """The preset of that name, or the one that was given."""
    if isinstance(preset, Preset):
        return preset
    if preset not in PRESETS:
        raise OptionError(f"preset: {preset!r} is none of {', '.join(PRESETS)}.")
    return PRESETS[preset]
