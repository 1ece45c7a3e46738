"""The teacher: a classifier's beliefs, put right by the rules ([LNCL] eq. 15), on the training items and on new ones.

Axes: i unit, k class.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from crowdlogic.classifiers.protocol import Classifier, predict_texts
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.names import Classes
from crowdlogic.errors import OptionError
from crowdlogic.learning.task import Task
from crowdlogic.numerics.arrays import Floats
from crowdlogic.rules.expansion import expand
from crowdlogic.rules.grounding import GroundRules, ground_rules
from crowdlogic.rules.potentials import PerUnit
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.projection.projector import Preset, Settling, project
from crowdlogic.rules.syntax import RuleSet
from crowdlogic.rules.transitions import TransitionTable, estimate_transitions

NO_RULES = RuleSet(())

REMEMBERED = 8
"""Corpora that rules stay grounded over: the training items, dev, and those that are watched."""

ESTIMATED = "estimated"
"""Transitions as they are in the first targets."""


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
        factors: factors[l], what the weight of each rule (written out) is multiplied with; None for ones.
    """

    classes: Classes
    rules: RuleSet | None = None
    vocabulary: Vocabulary | None = None
    transitions: TransitionTable | None = None
    preset: Preset | str = "paper"
    strength: float = 5.0
    per_unit: PerUnit | str = PerUnit.sum
    settling: Settling | None = None
    factors: Floats | None = None
    _ground: dict[Corpus, GroundRules] = field(default_factory=dict, repr=False)

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to teach: no rule and no transition."""
        return (self.rules is None or not self.rules.statements) and self.transitions is None

    def grounded(self, corpus: Corpus) -> GroundRules:
        """The rules over a corpus, grounded once."""
        if corpus not in self._ground:
            while len(self._ground) >= REMEMBERED:
                self._ground.pop(next(iter(self._ground)))
            made = ground_rules(self.rules or NO_RULES, corpus, self.classes, vocabulary=self.vocabulary)
            self._ground[corpus] = made if self.factors is None else made.weighted(self.factors)
        return self._ground[corpus]

    @property
    def n_rules(self) -> int:
        """How many rules there are, ready-made sets written out."""
        return 0 if self.rules is None else len(expand(self.rules, self.classes).rules)

    def weighted(self, factors: Floats | None) -> Teacher:
        """The same teacher with other weights; what was grounded is not grounded again."""
        if factors is None:
            return self
        bare = replace(self, factors=None, _ground={}) if self.factors is not None else self
        made = replace(bare, factors=factors, _ground={})
        for corpus, ground in bare._ground.items():
            made._ground[corpus] = ground.weighted(factors)
        return made

    def corrected(self, corpus: Corpus, q_a: Beliefs, p: Beliefs, classifier: Classifier) -> Beliefs:
        """q_b of q_a, the classifier's own p at hand (eq. 15)."""
        if self.is_idle:
            return q_a
        return project(
            q_a,
            self.grounded(corpus),
            predict=lambda texts: predict_texts(classifier, texts),
            classifier=p,
            strength=self.strength,
            preset=self.preset,
            transitions=self.transitions,
            per_unit=self.per_unit,
            settling=self.settling,
        ).q_b

    def predict(self, corpus: Corpus, classifier: Classifier, p: Beliefs | None = None) -> Beliefs:
        """Eq. 15 with the classifier's p in place of q_a: how new items are answered."""
        student = classifier.predict_proba(corpus) if p is None else p
        return self.corrected(corpus, student, student, classifier)


def transitions_of(given: TransitionTable | str | None, task: Task, targets: Beliefs) -> TransitionTable | None:
    """The table that was given, or one with the shares that neighbouring tags have in the targets."""
    if not isinstance(given, str):
        return None if given is None else given.over(task.labels.classes)
    if given != ESTIMATED:
        raise OptionError(f"transitions: {given!r} is neither a table nor {ESTIMATED!r}.")
    if task.corpus.offsets is None:
        raise OptionError("transitions are for sequences; the items here are documents.")
    return estimate_transitions(targets, task.corpus.offsets, task.labels.classes, given="current")
