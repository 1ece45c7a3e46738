"""IBCC: Dawid-Skene's model with priors on everything, by variational Bayes.

[KG12] Kim and Ghahramani, "Bayesian classifier combination", 2012: the model.
[SRPS13] Simpson, Roberts, Psorakis and Smith, "Dynamic Bayesian combination of multiple imperfect classifiers", 2013:
the variational updates, eq. 12 to 20.
[LRC19] Li, Rubinstein and Cohn, "Exploiting worker correlation for label aggregation in crowdsourcing", 2019: the
priors (4, 1, 1) of which the defaults here are half.

The bound is the log evidence under the expected log parameters less the divergence of the parameters' posterior from
their prior; it never falls.

Axes: i unit, j annotator, k class, m true class, n given label.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import digamma, gammaln

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Estimate, make_estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.engines.sweeps import table_sweep, tally
from crowdlogic.numerics.arrays import Floats
from crowdlogic.truth.dawid_skene import check_size
from crowdlogic.truth.fitting import (
    ALONE,
    Fitting,
    Patience,
    check_counts,
    settle,
    sharded,
    starting_beliefs,
    unanswered,
)


@dataclass(frozen=True)
class IBCC:
    """Independent Bayesian classifier combination ([KG12]).

    Attributes:
        diagonal: The prior count of right labels, in each class, of every annotator.
        off_diagonal: The prior count of each wrong label.
        class_count: The prior count of each class.
        max_iterations: The most E-steps.
        tolerance: The gain of the bound per label at which the fit has settled.
        answer_all: Whether a unit that nobody labelled gets an answer too.
    """

    diagonal: float = 2.0
    off_diagonal: float = 0.5
    class_count: float = 1.0
    max_iterations: int = 1000
    tolerance: float = 1e-7
    answer_all: bool = False

    name = "ibcc"

    def __post_init__(self) -> None:
        check_counts(self, positive=("diagonal", "off_diagonal", "class_count"))

    def infer(self, labels: CrowdLabels, corpus: Corpus | None = None, *, fitting: Fitting = ALONE) -> Estimate:  # noqa: ARG002 (no text needed)
        """Iterate the updates until the bound settles."""
        if not labels.n_labels:
            return unanswered(labels, self.name)
        check_size(self.name, len(labels.annotators), labels.n_classes)
        shards = sharded(labels, fitting)
        table_prior = self.table_prior(labels.n_classes)
        class_prior = np.full(labels.n_classes, self.class_count)

        def initial() -> dict[str, Floats]:
            found = tally(shards, starting_beliefs(labels, fitting))
            return {"table": found.counts + table_prior, "classes": found.totals + class_prior}

        def step(state: dict[str, Floats]) -> tuple[dict[str, Floats], float]:
            found = table_sweep(shards, expected_log(state["table"], axis=1), expected_log(state["classes"], axis=0))
            apart = divergence(state["table"], table_prior, axis=1) + divergence(state["classes"], class_prior, axis=0)
            return {
                "table": found.counts + table_prior,
                "classes": found.totals + class_prior,
            }, found.log_evidence - apart

        settled = settle(self, labels, initial, step, Patience(self.max_iterations, self.tolerance), fitting)
        table, classes = settled.state["table"], settled.state["classes"]
        beliefs = table_sweep(shards, expected_log(table, axis=1), expected_log(classes, axis=0), keep=True).q
        confusion = (table / table.sum(axis=1, keepdims=True)).transpose(0, 2, 1)
        return make_estimate(
            labels,
            self.name,
            np.asarray(beliefs),
            confusion=confusion,
            prior=classes / classes.sum(),
            trace=settled.trace,
            converged=settled.converged,
            answer_all=self.answer_all,
        )

    def table_prior(self, n_classes: int) -> Floats:
        """The prior counts [n, m] of an annotator's labels."""
        return np.asarray(np.eye(n_classes) * (self.diagonal - self.off_diagonal) + self.off_diagonal)


def expected_log(concentration: Floats, axis: int) -> Floats:
    """E[log p] under Dirichlet distributions along an axis ([SRPS13] eq. 15)."""
    return np.asarray(digamma(concentration) - digamma(concentration.sum(axis=axis, keepdims=True)))


def divergence(posterior: Floats, prior: Floats, axis: int) -> float:
    """The sum of KL(Dirichlet(posterior) || Dirichlet(prior)) along an axis, over all others."""
    prior = np.broadcast_to(prior, posterior.shape)
    spread = (posterior - prior) * expected_log(posterior, axis=axis)
    return float(_log_beta(prior, axis).sum() - _log_beta(posterior, axis).sum() + spread.sum())


def _log_beta(concentration: Floats, axis: int) -> Floats:
    return np.asarray(gammaln(concentration).sum(axis=axis) - gammaln(concentration.sum(axis=axis)))
