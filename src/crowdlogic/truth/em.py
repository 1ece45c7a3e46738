"""Expectation maximisation for methods that are class proportions x annotator tables.

    found = table_sweep(labels, annotators, proportions)         # E-step, and the expected counts of the next M-step
    annotators = model.from_counts(found.counts)                 # M-step
    proportions = prior.from_totals(found.totals)

Dawid-Skene is this with confusion matrices at their mode, IBCC with their variational posteriors. The objective is the
log evidence plus the log density of the priors (or minus the divergence from them); it never falls.

Axes: i unit, j annotator, k class, n given label.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from crowdlogic.annotators.proportions import ClassProportions, VariationalProportions
from crowdlogic.annotators.protocol import CountModel, check_size
from crowdlogic.data.estimate import Beliefs, Estimate, make_estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.engines.shards import Shards
from crowdlogic.engines.sweeps import Sweep, table_sweep, tally
from crowdlogic.store.checkpoints import State
from crowdlogic.truth.fitting import Fitting, empty_estimate, iterate, starting_beliefs

PRIOR = "prior"
"""Key of the class proportions in a state; all other arrays are parameters of the annotators."""


class TableEM:
    """The E- and M-step of one model over one table of labels."""

    def __init__(
        self, model: CountModel, proportions: ClassProportions | VariationalProportions, shards: Shards
    ) -> None:
        self.model, self.proportions, self.shards = model, proportions, shards

    def first_state(self, beliefs: Beliefs | None = None) -> State:
        """Parameters from beliefs, or from the shares of the votes."""
        return self._parameters(tally(self.shards, beliefs))

    def step(self, state: State) -> tuple[State, float]:
        """An E- and an M-step: the next parameters, and the objective of those given."""
        found = self.e_step(state)
        added = self.model.log_prior(self.shards, state) + self.proportions.log_prior(state[PRIOR])
        return self._parameters(found), found.log_evidence + added

    def e_step(self, state: State, *, keep: bool = False) -> Sweep:
        """One sweep over the labels; with `keep` it holds the beliefs."""
        log_table, log_prior = self.model.load(state).log_table, self.proportions.log(state[PRIOR])
        return table_sweep(self.shards, log_table, log_prior, keep=keep)

    def _parameters(self, found: Sweep) -> State:
        annotators = self.model.from_counts(self.shards, found.counts)
        return annotators.arrays() | {PRIOR: self.proportions.from_totals(found.totals)}


def fit_tables(
    method: Any,
    labels: CrowdLabels,
    *,
    model: CountModel,
    proportions: ClassProportions | VariationalProportions,
    fitting: Fitting,
) -> Estimate:
    """Fit a method by EM and give its Estimate.

    Args:
        method: The method: its name, and its `convergence`.
        labels: The labels.
        model: The annotator model.
        proportions: The model of the class proportions.
        fitting: Options of the fit.
    """
    if not labels.n_labels:
        return empty_estimate(labels, method.name)
    check_size(method.name, len(labels.annotators), labels.n_classes)
    em = TableEM(model, proportions, model.observe(labels, anchors=fitting.anchors, threads=fitting.threads))
    start = starting_beliefs(labels, fitting)
    fit = iterate(method, labels, initial=lambda: em.first_state(start), step=em.step, fitting=fitting)
    return make_estimate(
        labels,
        method.name,
        np.asarray(em.e_step(fit.state, keep=True).q),
        confusion=model.load(fit.state).confusion,
        prior=proportions.mean(fit.state[PRIOR]),
        trace=fit.trace,
        converged=fit.converged,
        answer_all=fitting.answer_all,
    )
