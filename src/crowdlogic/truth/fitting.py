"""How truth methods are fitted: steps until the objective converges, with progress, checkpoints and a warm start.

A method's parameters are a State: named arrays. A step takes a State and returns the next one with the objective of the
one it was given, so the same loop serves EM (log-likelihood or posterior) and variational Bayes (the bound).
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import NO_ANSWER, Beliefs, Estimate, make_estimate, vote_shares
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import find
from crowdlogic.engines.engine import Engine
from crowdlogic.errors import ConvergenceWarning, DataError, OptionError, name_list
from crowdlogic.numerics.arrays import Floats
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.registry import TRUTH_METHODS
from crowdlogic.store.checkpoints import State, StateCheckpoint
from crowdlogic.store.digests import digest, fit_digest

PACKAGE = str(Path(__file__).parents[1])
"""The folder of this package."""

Step: TypeAlias = Callable[[State], tuple[State, float]]


@dataclass(frozen=True, kw_only=True)
class Progress:
    """The state of a fit, as the progress callback receives it.

    Attributes:
        method: The method's name.
        iteration: Number of iterations done.
        max_iterations: Maximum number of iterations.
        objective: The objective after this iteration.
        gain: Increase of the objective per label in this iteration; infinite at the first.
    """

    method: str
    iteration: int
    max_iterations: int
    objective: float
    gain: float


@dataclass(frozen=True, eq=False)
class Fitting:
    """Options of one fit, whatever the method.

    Attributes:
        start: An earlier Estimate to start from. Items and classes are matched by name; new items start from votes.
        anchors: item -> true class (or the tags of a sequence), for items whose truth is known.
        progress: Callback, called after each iteration.
        checkpoint: File to save the state to while fitting. If it exists, the fit resumes from it; it is removed when
            the fit is done.
        every: Number of iterations between two checkpoints.
        threads: Number of threads; None for two from a million labels on, else one.
        answer_all: Whether units without labels get an answer, too.
    """

    start: Estimate | None = None
    anchors: Mapping[Any, Any] | None = None
    progress: Callable[[Progress], None] | None = None
    checkpoint: Path | str | None = None
    every: int = 10
    threads: int | None = None
    answer_all: bool = False

    def __post_init__(self) -> None:
        for name in ("every", "threads"):
            if getattr(self, name) is not None and getattr(self, name) < 1:
                raise OptionError(f"{name} must be 1 or more, not {getattr(self, name)}.")
        if self.checkpoint is not None and Path(self.checkpoint).is_dir():
            raise OptionError(f"{self.checkpoint}: is a folder. Name a file for the checkpoint.")


DEFAULT_FIT = Fitting()
"""A fit with the labels and nothing else."""


@dataclass(frozen=True, eq=False)
class Fit:
    """The final state, the objective after each iteration, and whether the fit converged."""

    state: State
    trace: Floats
    converged: bool


UNITS = "units"
"""Key, in the state of a fit, of what belongs to units and stays with their shards (`engines/engine.py`)."""


def iterate(
    method: Any,
    labels: CrowdLabels | Engine,
    *,
    initial: Callable[[], State],
    step: Step,
    fitting: Fitting,
    corpus: Corpus | None = None,
    engine: Engine | None = None,
    is_done: Callable[[State], bool] | None = None,
) -> Fit:
    """Iterate `step` from the initial state (or a checkpoint's) until the objective converges.

    The state returned is the one whose objective ends the trace: the caller's last E-step belongs to it.

    Args:
        method: The method; its `convergence` is the stopping rule.
        labels: The labels, or the engine that has them.
        initial: Returns the first state.
        step: The next state, and the objective of the one given.
        fitting: Progress and checkpoint.
        corpus: The items, if the method uses them: a checkpoint of other words is refused.
        engine: The engine, if the state holds something for each unit.
        is_done: Whether a fit is done by its next state; without it the gain of the objective decides.
    """
    checkpoint = _checkpoint(method, labels, fitting, corpus)
    state, trace = _resume(checkpoint, method, initial(), engine)
    limits: Convergence = method.convergence
    while True:
        following, objective = step(state)
        if np.isnan(objective):
            raise DataError(f"{method.name}: the objective is not a number after {len(trace)} iterations.")
        gain = (objective - trace[-1]) / max(labels.n_labels, 1) if trace else np.inf
        trace.append(objective)
        if fitting.progress is not None:
            fitting.progress(
                Progress(
                    method=method.name,
                    iteration=len(trace),
                    max_iterations=limits.max_iterations,
                    objective=objective,
                    gain=gain,
                )
            )
        converged = limits.is_reached(gain) if is_done is None else is_done(following)
        if converged or len(trace) >= limits.max_iterations:
            break
        state = following
        if checkpoint and len(trace) % fitting.every == 0:
            checkpoint.write(_gather_units(state, engine), trace)
    if checkpoint:
        checkpoint.remove()
    if not converged:
        _warn_not_converged(method.name, limits, len(trace), gain, by_gain=is_done is None)
    return Fit(state, np.array(trace), converged)


def _checkpoint(
    method: Any, labels: CrowdLabels | Engine, fitting: Fitting, corpus: Corpus | None
) -> StateCheckpoint | None:
    if fitting.checkpoint is None:
        return None
    if isinstance(labels, CrowdLabels):
        owner = fit_digest(method, labels, start=fitting.start, anchors=fitting.anchors, corpus=corpus)
    else:
        owner = digest(repr(method), labels.digest())
    return StateCheckpoint(Path(fitting.checkpoint), owner)


def _resume(
    checkpoint: StateCheckpoint | None, method: Any, first: State, engine: Engine | None
) -> tuple[State, list[float]]:
    """The state and the trace of a checkpoint, if it is there; else the first state."""
    saved = checkpoint.read() if checkpoint else None
    if checkpoint is None or saved is None:
        return first, []
    whole = _gather_units(first, engine)
    checkpoint.require_like(saved[0], whole, signed=getattr(method, "signed", False))
    if engine is None or UNITS not in first:
        return saved
    of_units = {name: array for name, array in saved[0].items() if name not in first}
    others = {name: array for name, array in saved[0].items() if name in first}
    return others | {UNITS: engine.scatter(of_units)}, saved[1]


def _gather_units(state: State, engine: Engine | None) -> State:
    """A state with all that belongs to units as whole arrays."""
    if engine is None or UNITS not in state:
        return state
    return {name: array for name, array in state.items() if name != UNITS} | dict(engine.gather(state[UNITS]))


def _warn_not_converged(name: str, limits: Convergence, iterations: int, gain: float, *, by_gain: bool) -> None:
    """Warn that a fit stopped before it converged, and say which option to change."""
    how = (
        f"{name} stopped after {iterations} iterations, the last of which still gained {gain:.3g} per label "
        f"(it converges at {limits.tolerance or 0.0:.3g}). Raise max_iterations, or raise tolerance "
        f"if this is near enough."
    )
    changed = f"{name} stopped after {iterations} iterations, while answers still changed. Raise max_iterations."
    warnings.warn(how if by_gain else changed, ConvergenceWarning, stacklevel=_caller_level())


def _caller_level() -> int:
    """How many calls ago, seen from who asks, the package was entered: a warning shows the user's own line."""
    level, frame = 1, inspect.currentframe()
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        level, frame = level + 1, frame.f_back
    return level - 1


def starting_beliefs(labels: CrowdLabels, fitting: Fitting) -> Beliefs | None:
    """q[i, k] from an earlier Estimate, with the shares of the votes for what it did not know; None without one."""
    if fitting.start is None:
        return None

    q = vote_shares(labels.votes())
    known_classes = {name: k for k, name in enumerate(fitting.start.classes)}
    columns = np.array([known_classes.get(name, -1) for name in labels.classes], dtype=np.int64)
    old_unit = _units_in(labels, fitting.start)  # [i], -1 for a new unit
    known = np.flatnonzero(old_unit >= 0)
    # The earlier beliefs of known units, their columns in the order of the present classes; 0 for a new class.
    old = np.where(columns >= 0, fitting.start.beliefs[old_unit[known]][:, columns], 0.0)
    total = old.sum(axis=1)
    usable = total > 0
    q[known[usable]] = old[usable] / total[usable, None]
    return q


def _units_in(labels: CrowdLabels, start: Estimate) -> np.ndarray[Any, np.dtype[np.int64]]:
    """For each unit its position in an earlier Estimate, -1 where it has none."""
    where = find(labels.items, start.items).astype(np.int64)
    if labels.offsets is None or start.offsets is None:
        return where if labels.offsets is None and start.offsets is None else np.full(labels.n_units, -1)
    lengths = np.diff(labels.offsets)
    same = (where >= 0) & (np.diff(start.offsets)[where] == lengths)
    first = np.where(same, start.offsets[where], -1)  # [s], the sequence's first unit in the earlier Estimate
    within = np.arange(labels.n_units) - np.repeat(labels.offsets[:-1], lengths)
    return np.where(np.repeat(same, lengths), np.repeat(first, lengths) + within, -1)


def empty_estimate(labels: CrowdLabels, name: str) -> Estimate:
    """The Estimate of a table without labels: uniform beliefs and no answers."""
    beliefs = np.full((labels.n_units, labels.n_classes), 1.0 / max(labels.n_classes, 1))
    return make_estimate(labels, name, beliefs, answer=np.full(labels.n_units, NO_ANSWER, dtype=np.int32))


def refuse_anchors(name: str, fitting: Fitting) -> None:
    """Raise an error if a method that cannot use anchors is given any."""
    if fitting.anchors:
        known = (
            other for other in TRUTH_METHODS.loadable() if getattr(TRUTH_METHODS.load(other), "uses_anchors", True)
        )
        raise OptionError(f"{name} cannot use anchors. These can: {name_list(known, most=30)}.")
