"""Shared parts of truth methods: options of a fit, EM iterations, warm starts, and the resulting Estimate.

A method implements its iteration as follows (see `truth/dawid_skene.py`):

    fit = Iterations(self, blocks, first_parameters, labels=labels, fitting=fitting)
    for p in fit:                                        # until the objective converges
        s, _ = blocks.sum(e_step, p)
        fit.update(self.m_step(s), objective=...)        # next parameters, and the objective of p
    return fit.result(e_step_with_beliefs, fit.state)

`Iterations` handles convergence, progress and checkpoints. `estimate_of_fit` converts a fit to the `Estimate` of a
table.

Axes: i unit, j annotator, k class.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from crowdlogic.annotators.label_sums import LARGE as COMPILED
from crowdlogic.annotators.label_sums import Q
from crowdlogic.data.blocks import (
    Arrays,
    Engine,
    Shards,
    State,
    States,
    Step,
    digest,
    fit_digest,
    make_shards,
)
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import NO_ANSWER, Beliefs, Calibration, Estimate, make_estimate, vote_shares
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import find
from crowdlogic.errors import ConvergenceWarning, DataError, OptionError, name_list
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.registry import TRUTH_METHODS

if TYPE_CHECKING:
    from crowdlogic.store.checkpoints import StateCheckpoint

PACKAGE = str(Path(__file__).parents[1])
"""Folder of this package."""


@dataclass(frozen=True, kw_only=True)
class Progress:
    """Progress of a fit, passed to the callback after each iteration.

    Attributes:
        method: Name of the method.
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
    """Options of a fit, shared by all methods.

    Attributes:
        start: An earlier Estimate to start from. Items and classes are matched by name; new items start from votes.
        anchors: item -> true class (or the tags of a sequence), for items whose truth is known.
        progress: Callback, called after each iteration.
        checkpoint: File to save the state to while fitting. If it exists, the fit resumes from it; it is removed when
            the fit is done.
        every: Number of iterations between two checkpoints.
        threads: Number of threads; by default two for a million labels or more, otherwise one.
        answer_all: Whether units without labels get an answer.
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
                raise OptionError(f"{name} must be at least 1, got {getattr(self, name)}.")
        if self.checkpoint is not None and Path(self.checkpoint).is_dir():
            raise OptionError(f"{self.checkpoint}: is a folder. Name a file for the checkpoint.")


DEFAULT_FIT = Fitting()
"""Default options."""


UNITS = "units"
"""Key of arrays of units among the parameters of a fit, which stay with their blocks (`data/blocks.py`)."""


class Iterations:
    """Iterations of a fit: yields parameters until their objective converges.

    Each iteration must call `update` once, which reports progress and writes checkpoints. If the maximum number of
    iterations is reached, a warning is issued. Afterwards, `state` contains the parameters of the last objective in the
    trace.

    Attributes:
        state: The current parameters, by name.
        trace: The objective after each iteration.
        converged: Whether the fit has converged.
    """

    def __init__(
        self,
        method: Any,
        blocks: Engine,
        first: State,
        *,
        fitting: Fitting,
        labels: CrowdLabels | None = None,
        corpus: Corpus | None = None,
    ) -> None:
        """Start at the first parameters, or resume from a checkpoint.

        Args:
            method: The method, whose `convergence` is the stopping criterion.
            blocks: The labels.
            first: The first parameters.
            fitting: Progress and checkpoint.
            labels: The same labels, if they are in memory; a checkpoint of a fit to other names is rejected.
            corpus: The items, if the method uses them; a checkpoint of a fit to other words is rejected.
        """
        self.method, self.blocks, self.fitting = method, blocks, fitting
        self.limits: Convergence = method.convergence
        self.n_labels = max((blocks if labels is None else labels).n_labels, 1)
        self.state, self.trace, self.converged = first, list[float](), False
        self._gain, self._finished, self._judged_by_gain = np.inf, False, True
        self._checkpoint: StateCheckpoint | None = None
        if fitting.checkpoint is not None:
            if labels is None:
                owner = digest(repr(method), blocks.digest())
            else:
                owner = fit_digest(method, labels, start=fitting.start, anchors=fitting.anchors, corpus=corpus)
            from crowdlogic.store.checkpoints import StateCheckpoint

            self._checkpoint = StateCheckpoint(Path(fitting.checkpoint), owner)
            self._resume(self._checkpoint)

    def __iter__(self) -> Iterator[State]:
        while not self._finished:
            yield self.state
        if self._checkpoint:
            self._checkpoint.remove()
        if not self.converged:
            stopped = f"{self.method.name} stopped after {len(self.trace)} iterations"
            tolerance = self.limits.tolerance or 0.0
            how = (
                f"{stopped} before it converged; the last one gained {self._gain:.3g} per label (tolerance "
                f"{tolerance:.3g}). Raise max_iterations, or raise tolerance if this is close enough."
                if self._judged_by_gain
                else f"{stopped} while answers still changed. Raise max_iterations."
            )
            # Show the user's line: the first caller outside this package
            level, frame = 1, inspect.currentframe()
            while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
                level, frame = level + 1, frame.f_back
            warnings.warn(how, ConvergenceWarning, stacklevel=level)

    def update(self, following: State, *, objective: float, converged: bool | None = None) -> None:
        """End an iteration.

        Args:
            following: The next parameters.
            objective: The objective of the current parameters.
            converged: Whether the fit has converged; by default, this is decided by the gain of the objective.
        """
        if np.isnan(objective):
            done = len(self.trace)
            raise DataError(
                f"{self.method.name}: the objective is not a number after {done} iterations. Look for extreme weights."
            )
        self._gain = (objective - self.trace[-1]) / self.n_labels if self.trace else np.inf
        self.trace.append(objective)
        if self.fitting.progress is not None:
            progress = Progress(
                method=self.method.name,
                iteration=len(self.trace),
                max_iterations=self.limits.max_iterations,
                objective=objective,
                gain=self._gain,
            )
            self.fitting.progress(progress)
        self._judged_by_gain = converged is None
        self.converged = self.limits.is_reached(self._gain) if converged is None else converged
        self._finished = self.converged or len(self.trace) >= self.limits.max_iterations
        if self._finished:
            return
        self.state = following
        if self._checkpoint and len(self.trace) % self.fitting.every == 0:
            self._checkpoint.write(self._gathered(following), self.trace)

    def result(
        self,
        step: Step,
        parameters: Arrays,
        states: States = None,
        *,
        confusion: Floats | None = None,
        reliability: Floats | None = None,
        prior: Floats | None = None,
        others: Mapping[str, Floats] | None = None,
    ) -> EngineFit:
        """Return the fit.

        Args:
            step: Step whose new state contains q[i, k].
            parameters: Parameters of the step.
            states: States of the blocks for the step, if any.
            confusion: confusion[j, m, n].
            reliability: reliability[j].
            prior: prior[k].
            others: Other parameters to report, by name.
        """
        return EngineFit(
            method=self.method.name,
            engine=self.blocks,
            state=self.state,
            trace=np.array(self.trace),
            converged=self.converged,
            beliefs=BeliefPass(step=step, parameters=parameters, states=states),
            confusion=confusion,
            reliability=reliability,
            prior=prior,
            parameters=others or {},
        )

    def _resume(self, checkpoint: StateCheckpoint) -> None:
        """Resume from the checkpoint, if there is one."""
        saved = checkpoint.read()
        if saved is None:
            return
        first, signed = self.state, getattr(self.method, "signed", False)
        checkpoint.require_like(saved[0], self._gathered(first), signed=signed)
        self.state, self.trace = saved
        if UNITS in first:
            of_units = {name: array for name, array in saved[0].items() if name not in first}
            shared = {name: array for name, array in saved[0].items() if name in first}
            self.state = shared | {UNITS: self.blocks.scatter(of_units)}

    def _gathered(self, state: State) -> State:
        """Return the parameters, with arrays of units as whole arrays."""
        if UNITS not in state:
            return state
        shared = {name: array for name, array in state.items() if name != UNITS}
        return shared | dict(self.blocks.gather(state[UNITS]))


def starting_beliefs(labels: CrowdLabels | None, fitting: Fitting) -> Beliefs | None:
    """Return q[i, k] of the earlier Estimate to start from, with vote shares for new units; None if not given."""
    if labels is None or fitting.start is None:
        return None

    q = vote_shares(labels.votes())
    known_classes = {name: k for k, name in enumerate(fitting.start.classes)}
    columns = np.array([known_classes.get(name, -1) for name in labels.classes], dtype=np.int64)
    old_unit = _units_in(labels, fitting.start)  # [i], -1 for a new unit
    known = np.flatnonzero(old_unit >= 0)
    # Earlier beliefs of known units, with columns in the order of the current classes; 0 for a new class
    old = np.where(columns >= 0, fitting.start.beliefs[old_unit[known]][:, columns], 0.0)
    total = old.sum(axis=1)
    usable = total > 0
    q[known[usable]] = old[usable] / total[usable, None]
    return q


def _units_in(labels: CrowdLabels, start: Estimate) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the position of each unit in an earlier Estimate; -1 if it is new."""
    where = find(labels.items, start.items).astype(np.int64)
    if labels.offsets is None or start.offsets is None:
        return where if labels.offsets is None and start.offsets is None else np.full(labels.n_units, -1)
    lengths = np.diff(labels.offsets)
    same = (where >= 0) & (np.diff(start.offsets)[where] == lengths)
    first = np.where(same, start.offsets[where], -1)  # [s], the first unit of the sequence in the earlier Estimate
    within = np.arange(labels.n_units) - np.repeat(labels.offsets[:-1], lengths)
    return np.where(np.repeat(same, lengths), np.repeat(first, lengths) + within, -1)


def empty_estimate(labels: CrowdLabels, name: str) -> Estimate:
    """Return the Estimate without labels: uniform beliefs and no answers."""
    beliefs = np.full((labels.n_units, labels.n_classes), 1.0 / max(labels.n_classes, 1))
    return make_estimate(labels, name, beliefs, answer=np.full(labels.n_units, NO_ANSWER, dtype=np.int32))


def refuse_anchors(name: str, fitting: Fitting) -> None:
    """Raise an error if a method that does not support anchors gets any."""
    if fitting.anchors:
        known = (
            other for other in TRUTH_METHODS.loadable() if getattr(TRUTH_METHODS.load(other), "uses_anchors", True)
        )
        raise OptionError(f"{name} does not support anchors. Methods that do: {name_list(known, most=30)}.")


# Result of a fit, in memory or on an engine.


@dataclass(frozen=True, eq=False, kw_only=True)
class BeliefPass:
    """Pass that returns beliefs: a step whose new state contains q[i, k], and its inputs."""

    step: Step
    parameters: Arrays
    states: States = None


@dataclass(frozen=True, eq=False, kw_only=True)
class EngineFit:
    """Result of fitting a method over an engine.

    Attributes:
        method: Name of the method.
        engine: The engine with the labels.
        state: The parameters.
        trace: The objective after each iteration.
        converged: Whether the fit converged.
        beliefs: Pass that computes the beliefs.
        confusion: confusion[j, m, n], if the method estimates it.
        reliability: reliability[j], if the method estimates it.
        prior: prior[k], if the method estimates it.
        parameters: Other estimated parameters, by name.
        calibration: Calibration of the confidence; None for the method's own posterior.
    """

    method: str
    engine: Engine
    state: State
    trace: Floats
    converged: bool
    beliefs: BeliefPass
    confusion: Floats | None = None
    reliability: Floats | None = None
    prior: Floats | None = None
    parameters: Mapping[str, Floats] = field(default_factory=dict)
    calibration: Calibration | None = None

    def stream(self) -> Iterator[tuple[slice, Beliefs]]:
        """Yield q[i, k] of each shard, in the order of the units."""
        found = self.engine.stream(self.beliefs.step, self.beliefs.parameters, self.beliefs.states)
        for units, state in found:
            yield units, state[Q]

    def gather(self) -> Beliefs:
        """Return q[i, k] of all units."""
        return np.asarray(self.engine.concat(self.beliefs.step, self.beliefs.parameters, self.beliefs.states)[Q])


def fits_over_engines(name: str) -> bool:
    """Return whether the named method can be fitted over any engine."""
    return hasattr(TRUTH_METHODS.load(name), "fit_over")


def estimate_of_fit(
    method: Any,
    fit: EngineFit,
    labels: CrowdLabels,
    *,
    pattern: Ints | None = None,
    answer_all: bool = False,
) -> Estimate:
    """Return the Estimate of a fit.

    Args:
        method: The method, which may have `unit_parameters(fit)`: the estimated parameters of each unit, by name.
        fit: The result of the fit.
        labels: The labels that were fitted.
        pattern: pattern[i], the unit of the fit with the labels of unit i; by default, the units are the same.
        answer_all: Whether units without labels get an answer.
    """
    rows: Any = slice(None) if pattern is None else pattern
    by_unit: Callable[[EngineFit], Mapping[str, Floats]] = getattr(method, "unit_parameters", lambda _: {})
    own = {name: np.asarray(values[rows]) for name, values in by_unit(fit).items()}
    found = make_estimate(
        labels,
        fit.method,
        fit.gather()[rows],
        confusion=fit.confusion,
        reliability=fit.reliability,
        prior=fit.prior,
        trace=fit.trace,
        converged=fit.converged,
        answer_all=answer_all,
        parameters={**fit.parameters, **own},
    )
    return replace(found, calibration=fit.calibration)


# Patterns: units with the same labels by the same annotators are computed once, as a unit that counts several times.
#
# Posteriors only depend on a unit's labels, and statistics are sums over units. If few annotators label everything,
# millions of units have a few thousand patterns.
#
# A pattern is coded as a number: the digit of annotator j is the label that j gave plus one. There are no patterns
# where this number would overflow, where an annotator labelled a unit twice, or where labels have weights.

LARGE = 100_000
"""Minimum number of labels for using patterns."""

PAYS = 8
"""Minimum number of units per pattern; with fewer, finding patterns costs more than it saves."""

MOST = 2.0**62
"""Upper bound of the number that encodes a pattern."""


@dataclass(frozen=True, eq=False)
class Patterns:
    """Patterns of labels, shared by units with equal labels.

    Attributes:
        unit: unit[p], the first unit with the labels of pattern p.
        times: times[p], the number of units with this pattern.
        pattern: pattern[i], the pattern of each unit.
    """

    unit: Ints
    times: Floats
    pattern: Ints

    def __len__(self) -> int:
        return len(self.unit)


def find_patterns(labels: CrowdLabels, fixed: Ints | None = None) -> Patterns | None:
    """Return the patterns of labels of single items; None if they cannot be encoded as numbers.

    Args:
        labels: The labels.
        fixed: fixed[i], the known class of a unit, or -1; units with the same pattern also have the same value.
    """
    n_classes, size = labels.n_classes, len(labels.annotators)
    base = 2 * n_classes + 1  # a label, a partial label "not n", or none
    if labels.weight is not None or labels.offsets is not None or (size + 1) * np.log2(base) >= np.log2(MOST):
        return None
    if ((labels.unit[1:] == labels.unit[:-1]) & (labels.annotator[1:] == labels.annotator[:-1])).any():
        return None
    # codes[i], the labels of unit i: the sum over its rows of digit times place of the annotator
    digit = labels.label + np.int64(1)
    if labels.negated is not None:
        digit = digit + n_classes * labels.negated
    place = np.int64(base) ** np.arange(size, dtype=np.int64)
    codes = np.zeros(labels.n_units, dtype=np.int64)
    np.add.at(codes, labels.unit, place[labels.annotator] * digit)
    if fixed is not None and len(fixed):
        codes = codes * np.int64(n_classes + 1) + (fixed + 1)
    _, unit, pattern, times = np.unique(codes, return_index=True, return_inverse=True, return_counts=True)
    return Patterns(unit, times.astype(np.float64), pattern)


def paying_patterns(labels: CrowdLabels, fixed: Ints | None = None) -> Patterns | None:
    """Return the patterns if there are few enough that computing each once is faster; otherwise None."""
    found = find_patterns(labels, fixed) if labels.n_labels >= LARGE else None
    return found if found is not None and len(found) * PAYS <= labels.n_units else None


def pattern_shards(
    labels: CrowdLabels, times: Floats, *, fixed: Ints | None = None, compiled: bool | None = None
) -> Shards:
    """Return an engine over patterns: labels of units that represent several units.

    Args:
        labels: The labels of each pattern.
        times: times[p], the number of units that pattern p represents.
        fixed: fixed[p], the known class of its units, or -1.
        compiled: Whether to use the compiled kernels.
    """
    whole = make_shards(labels, threads=1, compiled=compiled, partial=True)
    known = np.empty(0, dtype=np.int32) if fixed is None else fixed
    parts = [replace(part, times=times, fixed=known) for part in whole.parts]
    n_labels = int(times @ labels.labels_per_unit())
    # The number of patterns, not of units, determines whether compilation pays off
    small = labels.n_labels * max(labels.n_classes, 1) < COMPILED and compiled is None
    return replace(whole, parts=parts, n_labels=n_labels, compiled=False if small else compiled)


def own_checkpoint(fitting: Fitting, member: str) -> Fitting:
    """Return the options for fitting a member of an ensemble, with a checkpoint file next to that of the ensemble."""
    if fitting.checkpoint is None:
        return fitting
    path = Path(fitting.checkpoint)
    return replace(fitting, checkpoint=path.with_name(f"{path.name}.{member}"))
