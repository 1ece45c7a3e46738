"""Expectation maximisation for methods that are class proportions x annotator tables.

    found = table_sweep(labels, annotators, proportions)         # E-step, and the expected counts of the next M-step
    annotators = model.from_counts(found.counts)                 # M-step
    proportions = prior.from_totals(found.totals)

Dawid-Skene is this with confusion matrices at their mode, IBCC with their variational posteriors. The objective is the
log evidence plus the log density of the priors (or minus the divergence from them); it never falls.

Axes: i unit, j annotator, k class, n given label.
"""

from __future__ import annotations

from dataclasses import replace

from crowdlogic.annotators.proportions import ClassProportions, VariationalProportions
from crowdlogic.annotators.protocol import CountModel
from crowdlogic.data.estimate import Beliefs
from crowdlogic.engines.engine import Engine
from crowdlogic.engines.sweeps import Sweep, table_step, table_sweep, tally
from crowdlogic.store.checkpoints import State
from crowdlogic.truth.over_engines import BeliefPass, FitSummary

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
