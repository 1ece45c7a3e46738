"""The teacher: a classifier's beliefs, put right by the rules ([LNCL] eq. 15), on the training items and on new ones.

Axes: i unit, k class.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from crowdlogic.classifiers.protocol import Classifier, predict_texts
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.names import Classes
from crowdlogic.numerics.arrays import Floats
from crowdlogic.rules.grounding import GroundRules
from crowdlogic.rules.projection.projector import Projector

REMEMBERED = 8
"""Corpora that rules stay grounded over: the training items, dev, and those that are watched."""


@dataclass(frozen=True, eq=False)
class Teacher:
    """A projector over the classes of a task, with the rules grounded once for each corpus.

    Attributes:
        classes: The classes of the task.
        projector: The rules, and how a projection obeys them.
    """

    classes: Classes
    projector: Projector = Projector()
    _ground: dict[Corpus, GroundRules] = field(default_factory=dict, repr=False)

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to teach: no rule and no transition."""
        return self.projector.is_idle

    def grounded(self, corpus: Corpus) -> GroundRules:
        """The rules over a corpus, grounded once."""
        if corpus not in self._ground:
            while len(self._ground) >= REMEMBERED:
                self._ground.pop(next(iter(self._ground)))
            self._ground[corpus] = self.projector.ground(corpus, self.classes)
        return self._ground[corpus]

    @property
    def n_rules(self) -> int:
        """How many rules there are, ready-made sets written out."""
        return self.projector.n_rules(self.classes)

    @property
    def factors(self) -> Floats | None:
        """factors[l], the learnt multipliers of the rules' weights; None for ones."""
        return None if self.projector.factors is None else np.array(self.projector.factors)

    def weighted(self, factors: Floats | None) -> Teacher:
        """The same teacher with other weights; what was grounded is not grounded again."""
        if factors is None:
            return self
        made = replace(self, projector=self.projector.reweighted(factors), _ground={})
        if self.projector.factors is None:
            made._ground.update({corpus: ground.reweighted(factors) for corpus, ground in self._ground.items()})
        return made

    def corrected(self, corpus: Corpus, q_a: Beliefs, p: Beliefs, classifier: Classifier) -> Beliefs:
        """q_b of q_a, the classifier's own p at hand (eq. 15)."""
        if self.is_idle:
            return q_a
        return self.projector.project(
            q_a,
            self.grounded(corpus),
            predict=lambda texts: predict_texts(classifier, texts),
            classifier=p,
        ).q_b

    def predict(self, corpus: Corpus, classifier: Classifier, p: Beliefs | None = None) -> Beliefs:
        """Eq. 15 with the classifier's p in place of q_a: how new items are answered."""
        student = classifier.predict_proba(corpus) if p is None else p
        return self.corrected(corpus, student, student, classifier)
