"""IBCC: Dawid-Skene's model with priors on everything, by variational Bayes.

[KG12] Kim and Ghahramani, "Bayesian classifier combination", 2012: the model.
[SRPS13] Simpson, Roberts, Psorakis and Smith, "Dynamic Bayesian combination of multiple imperfect classifiers", 2013:
the variational updates, eq. 12 to 20.
[LRC19] Li, Rubinstein and Cohn, "Exploiting worker correlation for label aggregation in crowdsourcing", 2019: the
priors (4, 1, 1) of which the defaults here are half.

The bound is the log evidence under the expected log parameters less the divergence of the parameters' posterior from
their prior; it never falls. Class proportions x confusion matrices: `em` has the iteration, `annotators/confusion` the
updates of the annotators.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from crowdlogic.annotators.confusion import VariationalConfusion, VariationalProportions
from crowdlogic.annotators.protocol import check_size
from crowdlogic.data.blocks import Engine, make_shards
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.numerics.arrays import check_amounts
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.truth.fitting import DEFAULT_FIT, EngineFit, Fitting, TableEM, empty_estimate, fit_model, infer_over
from crowdlogic.truth.methods import takes_frames


@dataclass(frozen=True)
class IBCC:
    """Independent Bayesian classifier combination ([KG12]).

    Attributes:
        diagonal: Prior count of right labels, in each class, of every annotator.
        off_diagonal: Prior count of each wrong label.
        class_count: Prior count of each class.
        convergence: When to stop: by the gain of the bound per label.
    """

    diagonal: float = 2.0
    off_diagonal: float = 0.5
    class_count: float = 1.0
    convergence: Convergence = Convergence()

    name = "ibcc"
    takes_partial_labels: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_amounts(self, positive=("diagonal", "off_diagonal", "class_count"))

    @takes_frames
    def infer(self, labels: CrowdLabels, corpus: Corpus | None = None, *, fitting: Fitting = DEFAULT_FIT) -> Estimate:  # noqa: ARG002 (no text needed)
        """Iterate the updates until the bound converges."""
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
        annotators = VariationalConfusion(self.diagonal, self.off_diagonal)
        model = TableEM(annotators, VariationalProportions(self.class_count), engine)
        return fit_model(self, model, labels=labels, fitting=fitting)
