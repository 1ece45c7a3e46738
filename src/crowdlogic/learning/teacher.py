"""The teacher: a classifier's beliefs, put right by the rules ([LNCL] eq. 15), on the training items and on new ones.

Axes: i unit, k class.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from crowdlogic.classifiers.protocol import Classifier, predict_texts
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.names import Classes
from crowdlogic.rules.grounding import GroundRules, ground_rules
from crowdlogic.rules.potentials import PerUnit
from crowdlogic.rules.project import Preset, Settling, project
from crowdlogic.rules.syntax import RuleSet
from crowdlogic.rules.transitions import TransitionTable
from crowdlogic.rules.vocabulary import Vocabulary

NO_RULES = RuleSet(())


@dataclass(frozen=True, eq=False)
class Teacher:
    """Rules, and how a projection obeys them.

    Attributes:
        classes: The classes of the task.
        rules: The rules; None for none.
        vocabulary: The predicates beyond the built-in ones.
        transitions: A table of transitions beside the rules, for tags.
        preset: Where the projection starts and what it gives: paper, released, transitions or a Preset.
        strength: C.
        per_unit: Whether groundings add up at a unit, or are averaged.
        settling: When belief propagation on a graph has settled.
    """

    classes: Classes
    rules: RuleSet | None = None
    vocabulary: Vocabulary | None = None
    transitions: TransitionTable | None = None
    preset: Preset | str = "paper"
    strength: float = 5.0
    per_unit: PerUnit | str = PerUnit.sum
    settling: Settling | None = None
    _ground: WeakKeyDictionary[Corpus, GroundRules] = field(default_factory=WeakKeyDictionary, repr=False)

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to teach: no rule and no transition."""
        return (self.rules is None or not self.rules.rules) and self.transitions is None

    def grounded(self, corpus: Corpus) -> GroundRules:
        """The rules over a corpus, grounded once."""
        if corpus not in self._ground:
            self._ground[corpus] = ground_rules(self.rules or NO_RULES, corpus, self.classes, self.vocabulary)
        return self._ground[corpus]

    def corrected(self, corpus: Corpus, q_a: Beliefs, p: Beliefs, classifier: Classifier) -> Beliefs:
        """q_b of q_a, the classifier's own p at hand (eq. 15)."""
        if self.is_idle:
            return q_a
        return project(
            q_a, self.grounded(corpus), predict=lambda texts: predict_texts(classifier, texts), classifier=p,
            strength=self.strength, preset=self.preset, transitions=self.transitions, per_unit=self.per_unit,
            settling=self.settling,
        ).q_b  # fmt: skip

    def predict(self, corpus: Corpus, classifier: Classifier, p: Beliefs | None = None) -> Beliefs:
        """Eq. 15 with the classifier's p in place of q_a: how new items are answered."""
        student = classifier.predict_proba(corpus) if p is None else p
        return self.corrected(corpus, student, student, classifier)
