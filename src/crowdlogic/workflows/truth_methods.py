"""Truth methods as users name them: one by name or the one that suits the labels, several to compare, known truths."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.data.answers import Answers, KnownTruths
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import find
from crowdlogic.errors import ConvergenceWarning, DataError, OptionError, name_list
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.registry import TRUTH_METHODS
from crowdlogic.truth.dependence import PUBLIC_CROWDS, Dependence
from crowdlogic.truth.methods import TruthMethod, applicable_methods, choose_method, truth_method, uses_anchors

ALL = "all"
"""What users write to compare all methods."""


DEPENDENCES: dict[str, Dependence | None] = {"public": PUBLIC_CROWDS, "none": None}
"""How far labels of one item depend on each other: as on public crowd sets, or not at all."""


def configured_method(name: str, *, seed: int = 0, dependence: Dependence | None = PUBLIC_CROWDS) -> TruthMethod:
    """The method of that name with its defaults, but with that seed and dependence where it has any use for them."""
    method: Any = truth_method(name)
    own = {field.name for field in fields(method)} if is_dataclass(method) else set()
    given = {"seed": seed, "dependence": dependence}
    changed = {option: value for option, value in given.items() if option in own}
    chosen: TruthMethod = replace(method, **changed) if changed else method
    return chosen


def limit_iterations(method: Any, iterations: int | None) -> Any:
    """The method with that maximum number of iterations, if it makes any."""
    limits = getattr(method, "convergence", None)
    if iterations is None or not isinstance(limits, Convergence):
        return method
    return replace(method, convergence=replace(limits, max_iterations=iterations))


def parse_dependence(name: str, *, option: str = "--dependence") -> Dependence | None:
    """Return the dependence of that name; `option` is for messages."""
    if name not in DEPENDENCES:
        raise OptionError(f"{option} must be one of {name_list(DEPENDENCES)}; got {name!r}.")
    return DEPENDENCES[name]


def suggest_method(labels: CrowdLabels, *, anchored: bool = False) -> tuple[str, str]:
    """The name of the method that suits the labels, and why; with anchors, one that can use them."""
    name, reason = choose_method(labels)
    return ("ensemble", "it can use anchors") if anchored and not uses_anchors(name) else (name, reason)


def methods_to_compare(names: Sequence[str], labels: CrowdLabels, *, option: str, anchored: bool = False) -> list[str]:
    """The names of the methods to compare, each once: those that were named, or all that can take the labels.

    Args:
        names: The names, or the one name `all`.
        labels: The labels.
        option: The option that holds the names, for messages.
        anchored: Whether the truth of some items is known; `all` is then all that can use it.
    """
    if not names:
        raise OptionError(f"{option}: no method is named. Write all, or names separated by commas.")
    if list(names) != [ALL]:
        return [TRUTH_METHODS.check(name) for name in dict.fromkeys(names)]
    return [name for name in applicable_methods(labels) if not anchored or uses_anchors(name)]


def anchors_of(known: Answers, labels: CrowdLabels) -> dict[Any, Any]:
    """Item -> true class (or the tags of a sequence) from answers that are known to be true."""
    truths = _name_truths(known, labels)
    if known.at_random is None:
        return truths
    return KnownTruths(truths, at_random=known.items.filter(pl.Series(known.at_random)).to_list())


def _name_truths(known: Answers, labels: CrowdLabels) -> dict[Any, Any]:
    lost = np.flatnonzero(find(known.items, labels.items) < 0)
    if len(lost):
        name = known.items[int(lost[0])]
        raise DataError(f"{known.source}: nobody labelled item {name!r} ({len(lost):,} such items). Leave them out.")
    names = [*known.classes, None]  # code -1, no answer, is the last one
    tags = [names[code] for code in known.answer]
    if known.offsets is None:
        return {item: tag for item, tag in zip(known.items.to_list(), tags, strict=True) if tag is not None}
    bounds = zip(known.offsets[:-1].tolist(), known.offsets[1:].tolist(), strict=True)
    return {item: tags[begin:end] for item, (begin, end) in zip(known.items.to_list(), bounds, strict=True)}


def collect_convergence_warnings() -> AbstractContextManager[list[str]]:
    """A list that holds, after the block, what fits within it warned about, each sentence once."""
    return collect_warnings(ConvergenceWarning)


@contextmanager
def collect_warnings(kind: type[Warning]) -> Iterator[list[str]]:
    """A list that holds, after the block, the sentences of warnings of that kind, each once."""
    messages: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", kind)
        yield messages
    messages.extend(dict.fromkeys(str(warning.message) for warning in caught))
