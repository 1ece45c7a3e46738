"""Dawid-Skene: every annotator has a confusion matrix, found by EM together with the truth.

[DS79] Dawid and Skene, "Maximum likelihood estimation of observer error-rates using the EM algorithm", 1979.

Class proportions x confusion matrices: `em` has the iteration, `annotators/confusion` the M-step.

Axes: j annotator, k class, m true class, n given label.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from crowdlogic.annotators.confusion import SMOOTHING, TRUST, ClassProportions, Confusion, ConfusionMatrices
from crowdlogic.annotators.protocol import check_size
from crowdlogic.data.blocks import Engine, make_shards
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.numerics.arrays import Floats, check_amounts
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.truth.fitting import (
    DEFAULT_FIT,
    PRIOR,
    EngineFit,
    Fitting,
    TableEM,
    empty_estimate,
    fit_model,
    infer_over,
)
from crowdlogic.truth.methods import takes_frames


@dataclass(frozen=True)
class DawidSkene:
    """Confusion matrices by EM ([DS79]).

    Attributes:
        smoothing: Labels added to every cell of a confusion matrix and to every class; 0 is maximum likelihood.
        trust: Labels added to each diagonal cell beyond that.
        convergence: When to stop: by the gain of the log posterior per label.
    """

    smoothing: float = SMOOTHING
    trust: float = TRUST
    convergence: Convergence = Convergence()

    name = "dawid-skene"
    takes_partial_labels: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_amounts(self, not_negative=("smoothing", "trust"))

    @takes_frames
    def infer(self, labels: CrowdLabels, corpus: Corpus | None = None, *, fitting: Fitting = DEFAULT_FIT) -> Estimate:  # noqa: ARG002 (no text needed)
        """Iterate E- and M-steps until the log posterior converges."""
        if not labels.n_labels:
            return empty_estimate(labels, self.name)
        check_size(self.name, len(labels.annotators), labels.n_classes)
        engine = make_shards(labels, anchors=fitting.anchors, threads=fitting.threads, partial=True)
        return infer_over(self, labels, engine, fitting)

    def fit_over(
        self, engine: Engine, *, labels: CrowdLabels | None = None, fitting: Fitting = DEFAULT_FIT
    ) -> EngineFit:
        """Fit over an engine."""
        check_size(self.name, engine.n_annotators, engine.n_classes)
        model = TableEM(ConfusionMatrices(self.smoothing, self.trust), ClassProportions(self.smoothing), engine)
        return fit_model(self, model, labels=labels, fitting=fitting)


def fit_shards(method: DawidSkene, engine: Engine) -> tuple[Confusion, Floats, Floats]:
    """Dawid-Skene over an engine: annotators, prior[k] and the trace of the objective."""
    fit = method.fit_over(engine)
    return Confusion(fit.state["table"]), fit.state[PRIOR], fit.trace
