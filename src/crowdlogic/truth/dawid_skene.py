"""Dawid-Skene: every annotator has a confusion matrix, found by EM together with the truth.

[DS79] Dawid and Skene, "Maximum likelihood estimation of observer error-rates using the EM algorithm", 1979.
[LNCL] "Learning from noisy crowd labels with logics", eq. 12 and 13, which are these steps with a classifier for a
prior.

With smoothing the M-step is the mode under a Dirichlet prior: `smoothing` more labels in every cell, and `trust` more
on the diagonal. Trust is what keeps an annotator who gave a label or two from being read backwards: without any, one
vote against a frequent class is best explained by somebody who always says the opposite.

Axes: i unit, j annotator, k class, m true class, n given label.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs, Estimate, make_estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.engines.shards import Shards, shards_of
from crowdlogic.engines.sweeps import table_sweep, tally
from crowdlogic.errors import OptionError
from crowdlogic.numerics.arrays import Bools, Floats
from crowdlogic.numerics.logspace import safe_log
from crowdlogic.store.checkpoints import State
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

FLOOR = 1e-10
"""No count is taken to be less, so that a label nobody gave in a class stays possible and an empty row is uniform."""

MOST_CELLS = 50_000_000
"""Confusion matrices of more cells than this (400 MB, three times over while fitting) are refused."""


@dataclass(frozen=True)
class DawidSkene:
    """Confusion matrices by EM ([DS79]).

    Attributes:
        smoothing: Labels added to every cell of a confusion matrix and to every class; 0 is maximum likelihood.
        trust: Labels added to each diagonal cell beyond that.
        max_iterations: The most E-steps.
        tolerance: The gain of the objective per label at which the fit has settled.
        answer_all: Whether a unit that nobody labelled gets an answer too.
    """

    smoothing: float = 0.01
    trust: float = 1.0
    max_iterations: int = 1000
    tolerance: float = 1e-7
    answer_all: bool = False

    name = "dawid-skene"

    def __post_init__(self) -> None:
        check_counts(self, whole=("smoothing", "trust"))

    def infer(self, labels: CrowdLabels, corpus: Corpus | None = None, *, fitting: Fitting = ALONE) -> Estimate:  # noqa: ARG002 (no text needed)
        """Iterate E- and M-steps until the log posterior settles."""
        if not labels.n_labels:
            return unanswered(labels, self.name)
        check_size(self.name, len(labels.annotators), labels.n_classes)
        shards = sharded(labels, fitting)

        settled = settle(
            self,
            labels,
            lambda: self.first_state(shards, starting_beliefs(labels, fitting)),
            lambda state: self.step(shards, state),
            Patience(self.max_iterations, self.tolerance),
            fitting,
        )
        table, prior = settled.state["table"], settled.state["prior"]
        beliefs = table_sweep(shards, safe_log(table), safe_log(prior), keep=True).q
        return make_estimate(
            labels,
            self.name,
            np.asarray(beliefs),
            confusion=table.transpose(0, 2, 1),
            prior=prior,
            trace=settled.trace,
            converged=settled.converged,
            answer_all=self.answer_all,
        )

    def first_state(self, shards: Shards, beliefs: Beliefs | None = None) -> State:
        """Parameters from beliefs, or from the shares of the votes."""
        found = tally(shards, beliefs)
        return self._parameters(found.counts, found.totals)

    def step(self, shards: Shards, state: State) -> tuple[State, float]:
        """An E- and an M-step: the next parameters, and the log posterior of those given."""
        found = table_sweep(shards, safe_log(state["table"]), safe_log(state["prior"]))
        return self._parameters(found.counts, found.totals), found.log_evidence + self._log_prior(state)

    def _parameters(self, counts: Floats, totals: Floats) -> State:
        """The M-step: table[j, n, m] and prior[k] from expected counts ([DS79] eq. 2.3 and 2.4)."""
        return {
            "table": confusion_table(counts, smoothing=self.smoothing, trust=self.trust),
            "prior": normalised(totals + self.smoothing),
        }

    def _log_prior(self, state: State) -> float:
        """The log density of the Dirichlet priors, up to a constant: what smoothing adds to the log-likelihood."""
        added = 0.0
        if self.smoothing:
            added += self.smoothing * float(np.log(state["table"]).sum() + np.log(state["prior"]).sum())
        if self.trust:
            added += self.trust * float(np.log(np.diagonal(state["table"], axis1=1, axis2=2)).sum())
        return added


def e_step(labels: CrowdLabels, confusion: Floats, prior: Floats, *, threads: int = 1) -> tuple[Beliefs, float]:
    """Posterior over the truth and its log evidence ([DS79] eq. 2.5 when prior is prior[k]; [LNCL] eq. 13).

    Args:
        labels: The labels.
        confusion: confusion[j, m, n].
        prior: prior[k], or prior[i, k] such as a classifier's predictions.
        threads: How many threads may work at once.
    """
    shards = shards_of(labels, threads=threads)
    found = table_sweep(shards, safe_log(confusion.transpose(0, 2, 1)), safe_log(prior), keep=True)
    return np.asarray(found.q), found.log_evidence


def m_step(labels: CrowdLabels, q: Beliefs, *, smoothing: float = 0.0, trust: float = 0.0, threads: int = 1) -> Floats:
    """confusion[j, m, n] from beliefs ([DS79] eq. 2.3; [LNCL] eq. 12)."""
    counts = tally(shards_of(labels, threads=threads), np.asarray(q, dtype=np.float64)).counts
    return np.asarray(confusion_table(counts, smoothing=smoothing, trust=trust).transpose(0, 2, 1))


def speaking_step(labels: CrowdLabels, q: Beliefs, *, smoothing: float = 0.0, trust: float = 0.0) -> Floats:
    """confusion[j, m, n] for annotators who look at everything and mostly say nothing: how often they say n of class m.

    A row's shares are of all units of class m, so what is missing to one is silence. For a function that only ever
    says one class the usual matrix knows nothing, since it divides by what was said; this one knows that `spam` comes
    up more often where there is spam. Silence itself is no evidence: functions keep silent together.
    """
    counts = tally(shards_of(labels), np.asarray(q, dtype=np.float64)).counts.transpose(0, 2, 1)
    size = labels.n_classes
    padded = np.maximum(counts, FLOOR) + smoothing + trust * np.eye(size)
    return np.asarray(padded / (q.sum(axis=0) + size * smoothing + trust + FLOOR)[:, None])


def confusion_table(counts: Floats, *, smoothing: float = 0.0, trust: float = 0.0) -> Floats:
    """table[j, n, m], the share of label n among what j says of class m, from counts[j, n, m]."""
    padded = np.maximum(counts, FLOOR) if smoothing == 0 else counts + smoothing
    if trust:
        padded = padded + trust * np.eye(counts.shape[1])
    return np.asarray(padded / padded.sum(axis=1, keepdims=True))


def labelling_functions(labels: CrowdLabels) -> Bools:
    """one_sided[j], for annotators who only ever give one class, where such ones gave most labels; else nobody.

    A function that says `spam` or nothing answers the same whatever the truth, as far as a confusion matrix can see:
    how much it knows is in when it speaks. A few people who happened to give one label are another matter.
    """
    given = np.zeros((len(labels.annotators), labels.n_classes), dtype=bool)
    given[labels.annotator, labels.label] = True
    one_sided = given.sum(axis=1) == 1
    share = one_sided[labels.annotator].mean() if labels.n_labels else 0.0
    return np.asarray(one_sided & (share > 0.5))


def normalised(weights: Floats) -> Floats:
    """Weights as shares, none of them quite zero."""
    padded = np.maximum(weights, FLOOR)
    return np.asarray(padded / padded.sum())


def check_size(name: str, n_annotators: int, n_classes: int) -> None:
    """Refuse confusion matrices that would not fit."""
    cells = n_annotators * n_classes**2
    if cells > MOST_CELLS:
        raise OptionError(
            f"{name} keeps a {n_classes:,} x {n_classes:,} confusion matrix for each of {n_annotators:,} annotators, "
            f"{cells * 8 / 1e9:,.1f} GB. Use one-coin or mace, which keep little per annotator, or merge classes."
        )
