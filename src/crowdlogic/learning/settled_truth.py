"""Rules on a truth that is settled beforehand: the rows MV-Rule, GLAD-Rule and AggNet-Rule of the paper's Table 5.

[LNCL] "Learning from Noisy Crowd Labels with Logics". Algorithm 1 without its truth posterior: q_a is what another
method made of the labels and never changes; the rules still correct it (eq. 15), and the classifier learns the mixture
(eq. 9). What this lacks against Logic-LNCL is what the interplay of classifier, annotators and truth is worth.

Axes: i unit, j annotator, k class.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

import numpy as np

from crowdlogic.classifiers.protocol import Classifier
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs, Estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import CorpusError
from crowdlogic.learning.course import Epoch
from crowdlogic.learning.logic_lncl import LogicLNCL, first_targets
from crowdlogic.learning.task import Task
from crowdlogic.learning.teacher import Teacher
from crowdlogic.numerics.arrays import Floats
from crowdlogic.truth.fitting import DEFAULT_FIT, Fitting
from crowdlogic.truth.methods import TruthMethod


@dataclass(frozen=True)
class SettledTruth(LogicLNCL):
    """Algorithm 1 with q_a from another method.

    Attributes:
        truth: What settles the truth; None for the vote that Algorithm 1 starts with (`start`).
    """

    truth: TruthMethod | None = None
    _settled: WeakKeyDictionary[CrowdLabels, Beliefs] = field(
        default_factory=WeakKeyDictionary, init=False, repr=False, compare=False
    )

    name = "settled-truth"

    def settled(self, labels: CrowdLabels, corpus: Corpus) -> Beliefs:
        """q_a[i, k], inferred once."""
        if labels not in self._settled:
            self._settled[labels] = (
                first_targets(labels, self.start, doubt=self.doubt)
                if self.truth is None
                else self.truth.infer(labels, corpus).beliefs
            )
        return self._settled[labels]

    def epoch(
        self,
        task: Task,
        teacher: Teacher,
        classifier: Classifier,
        weights: Floats,
        q_f: Beliefs,
        t: int,
        factors: Floats | None = None,
    ) -> Epoch:
        """One round, the first on the settled truth itself."""
        targets = self.settled(task.learnt, task.corpus) if t == 1 else q_f
        return super().epoch(task, teacher, classifier, weights, targets, t, factors)

    def e_step(
        self,
        labels: CrowdLabels,
        task: Task,
        teacher: Teacher,
        classifier: Classifier,
        confusion: Floats,
        *,
        k: float,
        loss: float,
    ) -> Epoch:
        """Eq. 15 and 9 on the settled truth; of a unit that nobody labelled the classifier's view."""
        p = classifier.predict_proba(task.corpus)
        heard = labels.labels_per_unit() > 0
        q_a = np.where(heard[:, None], self.settled(labels, task.corpus), p)
        q_b = teacher.corrected(task.corpus, q_a, p, classifier)
        q_f = q_a if teacher.is_idle else (1.0 - k) * q_a + k * q_b
        return Epoch(loss, k, p, q_a, q_b, q_f, confusion)


@dataclass(frozen=True, eq=False)
class Answered:
    """A truth method whose answers are there already: those of another fit on the same labels."""

    estimate: Estimate

    @property
    def name(self) -> str:
        """The method that gave the answers."""
        return self.estimate.method

    def infer(self, labels: CrowdLabels, corpus: Corpus | None = None, *, fitting: Fitting = DEFAULT_FIT) -> Estimate:  # noqa: ARG002
        """The answers that are there."""
        if len(self.estimate.beliefs) != labels.n_units:
            raise CorpusError(
                f"The answers of {self.name} are about {len(self.estimate.beliefs):,} units, the labels about "
                f"{labels.n_units:,}. Give answers for the same labels."
            )
        return self.estimate
