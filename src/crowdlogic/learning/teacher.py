"""The teacher: a classifier's beliefs, corrected by the rules ([LNCL] eq. 15), on the training items and on new ones.

Axes: i unit, k class, l rule.
"""

from __future__ import annotations

import numpy as np

from crowdlogic.classifiers.protocol import ChainClassifier, Classifier, predict, predict_texts
from crowdlogic.data.chain_beliefs import AnyBeliefs, ChainBeliefs, unit_beliefs
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.names import Classes
from crowdlogic.numerics.arrays import Floats
from crowdlogic.rules.findings import Finding
from crowdlogic.rules.grounding import GroundRules
from crowdlogic.rules.projection.projector import Projector

REMEMBERED = 8
"""Corpora that rules stay grounded over: the training items, dev, and those that are watched."""


class Teacher:
    """A projector over the classes of a task, with the rules grounded once for each corpus.

    Attributes:
        classes: The classes of the task.
        projector: The rules, and how a projection obeys them.
    """

    def __init__(
        self, classes: Classes, projector: Projector, *, _ground: dict[Corpus, GroundRules] | None = None
    ) -> None:
        self.classes, self.projector = classes, projector
        self._ground: dict[Corpus, GroundRules] = {} if _ground is None else _ground  # without learnt factors

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to teach: no rule and no transition."""
        return self.projector.is_idle

    @property
    def n_rules(self) -> int:
        """How many rules there are, ready-made sets written out."""
        return self.projector.n_rules(self.classes)

    @property
    def factors(self) -> Floats | None:
        """factors[l], the learnt multipliers of the rules' weights; None for ones."""
        return None if self.projector.factors is None else np.array(self.projector.factors)

    def with_projector(self, projector: Projector) -> Teacher:
        """A teacher with the same rules and another way to obey them; what was grounded is not grounded again."""
        return Teacher(self.classes, projector, _ground=self._ground)

    def reweight(self, factors: Floats | None) -> Teacher:
        """The same teacher with other multipliers of the rules' weights."""
        return self if factors is None else self.with_projector(self.projector.reweight(factors))

    def ground(self, corpus: Corpus) -> GroundRules:
        """The rules over a corpus, grounded once, with their present weights."""
        if corpus not in self._ground:
            while len(self._ground) >= REMEMBERED:
                self._ground.pop(next(iter(self._ground)))
            self._ground[corpus] = self.projector.reweight(None).ground(corpus, self.classes)
        ground = self._ground[corpus]
        return ground if self.factors is None else ground.reweight(self.factors)

    def notices(self, corpus: Corpus) -> tuple[Finding, ...]:
        """What the tables of facts say of items that are not in a corpus; rules that it was grounded for only."""
        return self._ground[corpus].notices if corpus in self._ground else ()

    def project(self, corpus: Corpus, q_a: AnyBeliefs, p: AnyBeliefs, classifier: Classifier) -> AnyBeliefs:
        """q_b of q_a, given the classifier's own p (eq. 15); q_a itself without rules, and a chain if q_a is one."""
        if self.is_idle:
            return q_a
        found = self.projector.project(
            q_a,
            self.ground(corpus),
            predict=lambda texts: predict_texts(classifier, texts),
            classifier=p if isinstance(q_a, ChainBeliefs) else unit_beliefs(p),
        )
        return found.q_b if found.chain is None else found.chain

    def predict(self, corpus: Corpus, classifier: Classifier, p: Beliefs | None = None) -> Beliefs:
        """Eq. 15 with the classifier's p in place of q_a: how new items are answered."""
        if self.is_idle and p is not None:
            return p
        return unit_beliefs(self.believe(corpus, classifier, p))

    def believe(self, corpus: Corpus, classifier: Classifier, p: Beliefs | None = None) -> AnyBeliefs:
        """As `predict`, with the beliefs of neighbours where tags form chains."""
        chain = isinstance(classifier, ChainClassifier)
        student = predict(classifier, corpus) if p is None or chain else p
        return self.project(corpus, student, student, classifier)
