"""Truth methods over engines: the loop of a fit, written once, wherever the labels are.

    fit = DawidSkene().fit_over(engine)         # the same steps over a table in memory, files or workers
    for units, q in fit.stream(): ...           # beliefs, shard by shard

A method gives a model over the engine: a first state, a step, and how beliefs follow from a state. `iterate` does the
rest (convergence, progress, checkpoints). `infer` is this over a table in memory.

Axes: i unit, j annotator, k class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from crowdlogic.data.estimate import Beliefs, Calibration, Estimate, make_estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.engines.engine import Arrays, Engine, States, Step
from crowdlogic.engines.patterns import pattern_shards, paying_patterns
from crowdlogic.engines.shards import anchor_classes
from crowdlogic.engines.steps import Q
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.registry import TRUTH_METHODS
from crowdlogic.store.checkpoints import State
from crowdlogic.truth.fitting import DEFAULT_FIT, Fit, Fitting, iterate, starting_beliefs


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

    Where few annotators label everything, units with the same labels are computed once (`engines/patterns.py`).
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
