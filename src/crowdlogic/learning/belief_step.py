"""The M- and E-step of Algorithm 1 with the classifier's beliefs as they are.

[LNCL] "Learning from Noisy Crowd Labels with Logics". Axes: i unit, k class.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from crowdlogic.annotators.protocol import AnnotatorModel
from crowdlogic.classifiers.protocol import Classifier
from crowdlogic.data.chain_beliefs import AnyBeliefs, ChainBeliefs, unit_beliefs
from crowdlogic.data.corpus import Corpus
from crowdlogic.engines.shards import Shards
from crowdlogic.learning.epoch import Epoch, make_views
from crowdlogic.learning.posterior import Posterior
from crowdlogic.learning.task import Task


def mix(q_a: AnyBeliefs, q_b: AnyBeliefs, k: float) -> AnyBeliefs:
    """q_f = (1 - k) q_a + k q_b ([LNCL] eq. 9), of units and of neighbours; q_a itself without rules."""
    if q_b is q_a:
        return q_a
    if isinstance(q_a, ChainBeliefs) and isinstance(q_b, ChainBeliefs):
        return (1.0 - k) * q_a + k * q_b
    return (1.0 - k) * unit_beliefs(q_a) + k * unit_beliefs(q_b)


@dataclass(frozen=True, eq=False, kw_only=True)
class BeliefStep:
    """One M- and E-step with the classifier's p as it is: eqs. 12, 13, 15 and 9 of [LNCL].

    Attributes:
        task: The training items, and the truths that are known.
        model: The annotator model.
        crowd: The labels, arranged for it.
        posterior: What makes q_a.
        project: What makes q_b of q_a (`Teacher.project`); None where rules do not correct the targets.
        classifier: The classifier, for rules that ask it.
    """

    task: Task
    model: AnnotatorModel
    crowd: Shards
    posterior: Posterior
    project: Callable[[Corpus, AnyBeliefs, AnyBeliefs, Classifier], AnyBeliefs] | None
    classifier: Classifier

    def __call__(self, epoch: Epoch, p: AnyBeliefs) -> Epoch:
        """The beliefs after the step."""
        annotators = self.model.m_step(self.crowd, epoch.q_f)
        q_a, objective = self.posterior(p, annotators, self.crowd)
        q_b = q_a if self.project is None else self.project(self.task.corpus, q_a, p, self.classifier)
        q_f = self.task.clamp_targets(mix(q_a, q_b, epoch.k))
        return replace(epoch, annotators=annotators, objective=objective, **make_views(p=p, q_a=q_a, q_b=q_b, q_f=q_f))
