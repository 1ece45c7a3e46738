"""One-coin Dawid-Skene: every annotator has one number, how often they are right.

An annotator who errs picks any of the other classes, each as likely as the next. That is Dawid-Skene [DS79] with one
parameter per annotator instead of a matrix (Li, Yu and Zhou, "Error rate bounds and iterative weighted majority
voting for crowdsourcing", 2014, name it so): the method for many classes, or few labels per annotator.

Axes: i unit, j annotator, k class, n given label.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Estimate, make_estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.engines.shards import Shards
from crowdlogic.engines.sweeps import Sweep, hits_of, match_sweep
from crowdlogic.numerics.arrays import Floats
from crowdlogic.numerics.logspace import safe_log
from crowdlogic.numerics.sums import sum_by
from crowdlogic.truth.dawid_skene import FLOOR, normalised
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
class OneCoin:
    """One accuracy per annotator, by EM.

    Attributes:
        smoothing: Labels added to the right and to the wrong ones of every annotator, and to every class.
        trust: Labels added to the right ones beyond that.
        max_iterations: The most E-steps.
        tolerance: The gain of the objective per label at which the fit has settled.
        answer_all: Whether a unit that nobody labelled gets an answer too.
    """

    smoothing: float = 0.01
    trust: float = 1.0
    max_iterations: int = 1000
    tolerance: float = 1e-7
    answer_all: bool = False

    name = "one-coin"

    def __post_init__(self) -> None:
        check_counts(self, whole=("smoothing", "trust"))

    def infer(self, labels: CrowdLabels, corpus: Corpus | None = None, *, fitting: Fitting = ALONE) -> Estimate:  # noqa: ARG002 (no text needed)
        """Iterate E- and M-steps until the log posterior settles."""
        if not labels.n_labels:
            return unanswered(labels, self.name)
        shards = sharded(labels, fitting)
        given = sum_by(labels.annotator, len(labels.annotators), labels.weight)

        def initial() -> dict[str, Floats]:
            return self._parameters(hits_of(shards, starting_beliefs(labels, fitting)), given)

        def step(state: dict[str, Floats]) -> tuple[dict[str, Floats], float]:
            found = _sweep(shards, state)
            return self._parameters(found, given), found.log_evidence + self._log_prior(state)

        settled = settle(self, labels, initial, step, Patience(self.max_iterations, self.tolerance), fitting)
        return make_estimate(
            labels,
            self.name,
            np.asarray(_sweep(shards, settled.state, keep=True).q),
            reliability=settled.state["accuracy"],
            prior=settled.state["prior"],
            trace=settled.trace,
            converged=settled.converged,
            answer_all=self.answer_all,
        )

    def _parameters(self, found: Sweep, given: Floats) -> dict[str, Floats]:
        """The M-step: how often each annotator is right, and how frequent each class is."""
        right = np.maximum(found.counts.sum(axis=1) + self.smoothing + self.trust, FLOOR)
        wrong = np.maximum(given - found.counts.sum(axis=1) + self.smoothing, FLOOR)
        return {"accuracy": right / (right + wrong), "prior": normalised(found.totals + self.smoothing)}

    def _log_prior(self, state: dict[str, Floats]) -> float:
        """What smoothing adds to the log-likelihood: the priors' log density, up to a constant."""
        right, wrong = safe_log(state["accuracy"]), safe_log(1.0 - state["accuracy"])
        added = (self.smoothing + self.trust) * right.sum() if self.smoothing + self.trust else 0.0
        if self.smoothing:
            added += self.smoothing * (wrong.sum() + safe_log(state["prior"]).sum())
        return float(added)


def _sweep(shards: Shards, state: dict[str, Floats], *, keep: bool = False) -> Sweep:
    shape = (shards.n_annotators, shards.n_classes)
    others = max(shards.n_classes - 1, 1)
    agree = np.broadcast_to(safe_log(state["accuracy"])[:, None], shape)
    differ = np.broadcast_to(np.log(np.maximum(1.0 - state["accuracy"], FLOOR) / others)[:, None], shape)
    return match_sweep(shards, agree, differ, safe_log(state["prior"]), keep=keep)
