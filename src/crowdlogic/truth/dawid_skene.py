"""Dawid-Skene: every annotator has a confusion matrix, found by EM together with the truth.

[DS79] Dawid and Skene, "Maximum likelihood estimation of observer error-rates using the EM algorithm", 1979.

Class proportions x confusion matrices: `em` has the iteration, `annotators/confusion` the M-step.

Axes: j annotator, k class, m true class, n given label.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from crowdlogic.annotators.confusion import SMOOTHING, TRUST, Confusion, ConfusionMatrices
from crowdlogic.annotators.proportions import ClassProportions
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.engines.shards import Shards
from crowdlogic.numerics.arrays import Floats
from crowdlogic.numerics.checks import check_amounts
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.truth.accepting import takes_frames
from crowdlogic.truth.em import PRIOR, TableEM, fit_tables
from crowdlogic.truth.fitting import DEFAULT_FIT, Fitting, iterate


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
        return fit_tables(
            self,
            labels,
            model=ConfusionMatrices(self.smoothing, self.trust),
            proportions=ClassProportions(self.smoothing),
            fitting=fitting,
        )


def fit_shards(method: DawidSkene, shards: Shards) -> tuple[Confusion, Floats, Floats]:
    """Dawid-Skene over shards that need not be in memory: annotators, prior[k] and the trace of the objective."""
    model = ConfusionMatrices(method.smoothing, method.trust)
    em = TableEM(model, ClassProportions(method.smoothing), shards)
    fit = iterate(method, shards, initial=em.first_state, step=em.step, fitting=DEFAULT_FIT)
    return model.load(fit.state), fit.state[PRIOR], fit.trace
