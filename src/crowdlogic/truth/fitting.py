"""How truth methods are fitted: steps until the objective converges, with progress, checkpoints and a warm start.

A method's parameters are a State: named arrays. A step takes a State and returns the next one with the objective of the
one it was given, so the same loop serves EM (log-likelihood or posterior) and variational Bayes (the bound).
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np

from crowdlogic.annotators.confusion import ClassProportions, VariationalProportions
from crowdlogic.annotators.label_sums import LARGE as COMPILED
from crowdlogic.annotators.label_sums import Q, Sweep, table_step, table_sweep, tally
from crowdlogic.annotators.protocol import CountModel
from crowdlogic.data.blocks import Arrays, Engine, Shards, States, Step, anchor_classes, digest, fit_digest, make_shards
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import NO_ANSWER, Beliefs, Calibration, Estimate, make_estimate, vote_shares
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import find
from crowdlogic.errors import ConvergenceWarning, DataError, OptionError, name_list
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.registry import TRUTH_METHODS
from crowdlogic.store.checkpoints import State, StateCheckpoint

PACKAGE = str(Path(__file__).parents[1])
"""The folder of this package."""

StateStep: TypeAlias = Callable[[State], tuple[State, float]]


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
"""Key, in the state of a fit, of what belongs to units and stays with their shards (`data/blocks.py`)."""


def iterate(
    method: Any,
    labels: CrowdLabels | Engine,
    *,
    initial: Callable[[], State],
    step: StateStep,
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


# Patterns: units with the same labels of the same annotators are one unit that counts many times.
#
# Posteriors depend on a unit's labels alone, and statistics are sums over units, so units with equal labels need be
# computed once. Where few annotators label everything, millions of units are a few thousand patterns.
#
# A pattern is a number: the digit of annotator j is the label that j gave, plus one, in base K + 1. So it is exact,
# and
# there are none where the number would not fit, where an annotator labelled a unit twice, or where labels have
# weights.
#
# Axes: i unit, j annotator, k class.

LARGE = 100_000
"""From this many labels on, patterns are looked for."""

PAYS = 8
"""How many units a pattern must stand for on average: with fewer, finding them costs more than it saves."""

SAMPLE = 5_000
"""How many units are looked at first."""

DENSE = 1 << 22
"""Up to so many possible patterns, they are counted in a table; beyond, by sorting."""

MOST = 2.0**62
"""The largest number that a pattern can be."""


@dataclass(frozen=True, eq=False)
class Patterns:
    """The patterns of some units.

    Attributes:
        unit: unit[p], the first unit with the labels of pattern p.
        times: times[p], how many units have them.
        pattern: pattern[i], the pattern of each unit.
    """

    unit: Ints
    times: Floats
    pattern: Ints

    def __len__(self) -> int:
        return len(self.unit)


def find_patterns(labels: CrowdLabels, fixed: Ints | None = None) -> Patterns | None:
    """The patterns of labels of single items; None where there are no such numbers.

    Args:
        labels: The labels.
        fixed: fixed[i], the class that a unit is known to be of, or -1; units of one pattern agree in it, too.
    """
    codes = _pattern_codes(labels, np.empty(0, dtype=np.int32) if fixed is None else fixed)
    if codes is None:
        return None
    n_codes = int(codes.max(initial=-1)) + 1
    if n_codes > DENSE:
        _, unit, pattern, times = np.unique(codes, return_index=True, return_inverse=True, return_counts=True)
        return Patterns(unit, times.astype(np.float64), pattern)
    counts = np.bincount(codes, minlength=n_codes)
    found = np.flatnonzero(counts)
    position = np.zeros(n_codes, dtype=np.int32)
    position[found] = np.arange(len(found), dtype=np.int32)
    first = np.empty(n_codes, dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]  # the last write is the first unit
    return Patterns(first[found], counts[found].astype(np.float64), position[codes])


def paying_patterns(labels: CrowdLabels, fixed: Ints | None = None) -> Patterns | None:
    """The patterns, where there are so few of them that to compute each once pays; else None."""
    if labels.n_labels < LARGE or not _is_packable(labels):
        return None
    if labels.n_units > SAMPLE:  # a sample of the units, spread over all, has hardly fewer patterns than it has units
        sample = np.linspace(0, labels.n_units - 1, SAMPLE).astype(np.int64)
        if len(np.unique(_sample_codes(labels, sample))) * 2 > SAMPLE:
            return None
    found = find_patterns(labels, fixed)
    return found if found is not None and len(found) * PAYS <= labels.n_units else None


def pattern_shards(
    labels: CrowdLabels, times: Floats, *, fixed: Ints | None = None, compiled: bool | None = None
) -> Shards:
    """The engine over patterns: labels of which each unit stands for many.

    Args:
        labels: The labels of each pattern.
        times: times[p], how many units it stands for.
        fixed: fixed[p], the class that its units are known to be of, or -1.
        compiled: Whether to use the compiled kernels.
    """
    whole = make_shards(labels, threads=1, compiled=compiled, partial=True)
    known = np.empty(0, dtype=np.int32) if fixed is None else fixed
    parts = [replace(part, times=times, fixed=known) for part in whole.parts]
    n_labels = int(times @ labels.labels_per_unit())
    # Whether to compile is decided by what is computed, and not by what it stands for
    small = labels.n_labels * max(labels.n_classes, 1) < COMPILED and compiled is None
    return replace(whole, parts=parts, n_labels=n_labels, compiled=False if small else compiled)


def _is_packable(labels: CrowdLabels) -> bool:
    base, size = 2 * labels.n_classes + 1, len(labels.annotators)
    single = labels.weight is None and labels.offsets is None
    return single and (size + 1) * np.log2(base) < np.log2(MOST)


def _pattern_codes(labels: CrowdLabels, fixed: Ints) -> Ints | None:
    """code[i], the labels of each unit as one number; None where there is none."""
    if not _is_packable(labels):
        return None
    repeated = (labels.unit[1:] == labels.unit[:-1]) & (labels.annotator[1:] == labels.annotator[:-1])
    if repeated.any():
        return None
    codes = np.zeros(labels.n_units, dtype=np.int64)
    starts = np.flatnonzero(np.diff(labels.unit, prepend=-1))
    if len(starts):
        codes[labels.unit[starts]] = np.add.reduceat(_digits(labels), starts)
    if len(fixed):
        codes = codes * np.int64(labels.n_classes + 1) + (fixed + 1)
    return codes


def _digits(labels: CrowdLabels, rows: Ints | slice = slice(None)) -> Ints:
    """What each label adds to the number of its unit."""
    partial = labels.negated is not None
    base = (2 if partial else 1) * labels.n_classes + 1
    place = np.int64(base) ** np.arange(len(labels.annotators), dtype=np.int64)
    digit = labels.label[rows] + np.int64(1)
    if labels.negated is not None:
        digit = digit + labels.n_classes * labels.negated[rows]
    return np.asarray(place[labels.annotator[rows]] * digit)


def _sample_codes(labels: CrowdLabels, units: Ints) -> Ints:
    """The numbers of some units, which are sorted."""
    begin, end = np.searchsorted(labels.unit, units), np.searchsorted(labels.unit, units, side="right")
    rows = np.concatenate([np.arange(a, b) for a, b in zip(begin, end, strict=True)] or [np.empty(0, np.int64)])
    owner = np.repeat(np.arange(len(units)), end - begin)
    codes = np.zeros(len(units), dtype=np.int64)
    np.add.at(codes, owner, _digits(labels, rows))
    return codes


# Truth methods over engines: the loop of a fit, written once, wherever the labels are.
#
# fit = DawidSkene().fit_over(engine)         # the same steps over a table in memory, files or workers
# for units, q in fit.stream(): ...           # beliefs, shard by shard
#
# A method gives a model over the engine: a first state, a step, and how beliefs follow from a state. `iterate` does
# the
# rest (convergence, progress, checkpoints). `infer` is this over a table in memory.
#
# Axes: i unit, j annotator, k class.


@dataclass(frozen=True, eq=False, kw_only=True)
class BeliefPass:
    """The pass that gives beliefs: a step whose new state holds q[i, k], and what it is given."""

    step: Step
    parameters: Arrays
    states: States = None


@dataclass(frozen=True, eq=False, kw_only=True)
class FitSummary:
    """What a method believes of annotators and classes: see the fields of `Estimate`."""

    confusion: Floats | None = None
    reliability: Floats | None = None
    prior: Floats | None = None
    parameters: Mapping[str, Floats] = field(default_factory=dict)


class EngineModel(Protocol):
    """The E- and M-step of a method over an engine."""

    @property
    def engine(self) -> Engine:
        """Where the labels are."""

    def first_state(self, beliefs: Beliefs | None = None) -> State:
        """Parameters from beliefs, or from the shares of the votes."""

    def step(self, state: State) -> tuple[State, float]:
        """The next parameters, and the objective of those given."""

    def belief_pass(self, state: State) -> BeliefPass:
        """How beliefs follow from parameters."""

    def summary(self, state: State) -> FitSummary:
        """What the parameters say."""


@dataclass(frozen=True, eq=False, kw_only=True)
class EngineFit:
    """A method fitted over an engine.

    Attributes:
        method: The method's name.
        engine: Where the labels are.
        state: The parameters.
        trace: The objective after each iteration.
        converged: Whether the fit converged.
        beliefs: How beliefs follow.
        summary: What the parameters say.
        calibration: How the confidence was put on a scale that one can act on; None for the method's own posterior.
    """

    method: str
    engine: Engine
    state: State
    trace: Floats
    converged: bool
    beliefs: BeliefPass
    summary: FitSummary
    calibration: Calibration | None = None

    def stream(self) -> Iterator[tuple[slice, Beliefs]]:
        """q[i, k] of the units of each shard, in their order."""
        found = self.engine.stream(self.beliefs.step, self.beliefs.parameters, self.beliefs.states)
        for units, state in found:
            yield units, state[Q]

    def gather(self) -> Beliefs:
        """q[i, k] of all units."""
        states = self.engine.sum(self.beliefs.step, self.beliefs.parameters, self.beliefs.states)[1]
        return np.asarray(self.engine.gather(states)[Q])


class EngineMethod(Protocol):
    """A truth method that can be fitted over any engine."""

    @property
    def name(self) -> str:
        """The method's name."""

    def fit_over(
        self, engine: Engine, *, labels: CrowdLabels | None = None, fitting: Fitting = DEFAULT_FIT
    ) -> EngineFit:
        """Fit over an engine; `labels` are the same labels, where they are in memory.

        Optional beside it: `unit_parameters(fit)`, what it estimated of each unit, by name.
        """


def fit_model(
    method: Any,
    model: EngineModel,
    *,
    labels: CrowdLabels | None = None,
    fitting: Fitting = DEFAULT_FIT,
    is_done: Callable[[State], bool] | None = None,
) -> EngineFit:
    """Iterate the steps of a model until it converges.

    Args:
        method: The method: its name, and its `convergence`.
        model: Its model over an engine.
        labels: The labels, where they are in memory: the names by which an earlier estimate is matched.
        fitting: Options of the fit.
        is_done: Whether a fit is done by its next state; without it the gain of the objective decides.
    """
    start = None if labels is None else starting_beliefs(labels, fitting)
    fit = iterate(
        method,
        model.engine if labels is None else labels,
        initial=lambda: model.first_state(start),
        step=model.step,
        fitting=fitting,
        engine=model.engine,
        is_done=is_done,
    )
    return make_fit(method.name, model, fit)


def make_fit(name: str, model: EngineModel, fit: Fit) -> EngineFit:
    """What came of a fit."""
    return EngineFit(
        method=name,
        engine=model.engine,
        state=fit.state,
        trace=fit.trace,
        converged=fit.converged,
        beliefs=model.belief_pass(fit.state),
        summary=model.summary(fit.state),
    )


def infer_over(method: EngineMethod, labels: CrowdLabels, engine: Engine, fitting: Fitting) -> Estimate:
    """Fit a method to a table in memory, and give its Estimate.

    Where few annotators label everything, units with the same labels are computed once (`truth/fitting.py`).
    """
    fixed = anchor_classes(labels, fitting.anchors)
    patterns = None if fitting.start is not None else paying_patterns(labels, fixed)
    if patterns is None:
        fit = method.fit_over(engine, labels=labels, fitting=fitting)
        return estimate_of_fit(method, fit, labels, answer_all=fitting.answer_all)
    known = fixed[patterns.unit] if len(fixed) else None
    few = pattern_shards(labels.take_items(patterns.unit), patterns.times, fixed=known, compiled=engine.compiled)
    fit = method.fit_over(few, fitting=fitting)
    return estimate_of_fit(method, fit, labels, pattern=patterns.pattern, answer_all=fitting.answer_all)


def estimate_of_fit(
    method: EngineMethod,
    fit: EngineFit,
    labels: CrowdLabels,
    *,
    pattern: Ints | None = None,
    answer_all: bool = False,
) -> Estimate:
    """The Estimate of a fit.

    Args:
        method: The method.
        fit: Its fit.
        labels: The labels that it is of.
        pattern: pattern[i], the unit of the fit that has the labels of unit i; None where they are the same units.
        answer_all: Whether units without labels get an answer, too.
    """
    rows: Any = slice(None) if pattern is None else pattern
    by_unit: Callable[[EngineFit], Mapping[str, Floats]] = getattr(method, "unit_parameters", lambda _: {})
    own = {name: np.asarray(values[rows]) for name, values in by_unit(fit).items()}
    return make_estimate(
        labels,
        fit.method,
        fit.gather()[rows],
        confusion=fit.summary.confusion,
        reliability=fit.summary.reliability,
        prior=fit.summary.prior,
        trace=fit.trace,
        converged=fit.converged,
        answer_all=answer_all,
        parameters={**fit.summary.parameters, **own},
    )


def fits_over_engines(name: str) -> bool:
    """Whether the method of that name can be fitted over any engine."""
    return hasattr(TRUTH_METHODS.load(name), "fit_over")


# Expectation maximisation for methods that are class proportions x annotator tables.
#
# found = table_sweep(labels, annotators, proportions)         # E-step, and the expected counts of the next M-step
# annotators = model.from_counts(found.counts)                 # M-step
# proportions = prior.from_totals(found.totals)
#
# Dawid-Skene is this with confusion matrices at their mode, IBCC with their variational posteriors. The objective is
# the
# log evidence plus the log density of the priors (or minus the divergence from them); it never falls.
#
# Axes: i unit, j annotator, k class, n given label.

PRIOR = "prior"
"""Key of the class proportions in a state; all other arrays are parameters of the annotators."""


class TableEM:
    """The E- and M-step of one model over one table of labels."""

    def __init__(
        self, model: CountModel, proportions: ClassProportions | VariationalProportions, engine: Engine
    ) -> None:
        self.model, self.proportions, self.engine = model, proportions, engine

    def first_state(self, beliefs: Beliefs | None = None) -> State:
        """Parameters from beliefs, or from the shares of the votes."""
        return self._parameters(tally(self.engine, beliefs))

    def step(self, state: State) -> tuple[State, float]:
        """An E- and an M-step: the next parameters, and the objective of those given."""
        found = self.e_step(state)
        added = self.model.log_prior(self.engine, state) + self.proportions.log_prior(state[PRIOR])
        return self._parameters(found), found.log_evidence + added

    def e_step(self, state: State, *, keep: bool = False) -> Sweep:
        """One sweep over the labels; with `keep` it holds the beliefs."""
        log_table, log_prior = self.model.load(state).log_table, self.proportions.log(state[PRIOR])
        return table_sweep(self.engine, log_table, log_prior, keep=keep)

    def belief_pass(self, state: State) -> BeliefPass:
        """The E-step, with the beliefs kept."""
        step, parameters = table_step(self.engine, self.model.load(state).log_table)
        log_prior = self.proportions.log(state[PRIOR])
        return BeliefPass(step=replace(step, keep=True), parameters={**parameters, "log_prior": log_prior})

    def summary(self, state: State) -> FitSummary:
        """Confusion matrices and class proportions."""
        return FitSummary(confusion=self.model.load(state).confusion, prior=self.proportions.mean(state[PRIOR]))

    def _parameters(self, found: Sweep) -> State:
        annotators = self.model.from_counts(self.engine, found.counts)
        return annotators.arrays() | {PRIOR: self.proportions.from_totals(found.totals)}
