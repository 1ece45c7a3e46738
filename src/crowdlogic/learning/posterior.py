"""Posterior of the truth, given the items and the annotators' labels ([LNCL] eq. 13).

If the classifier models chains of tags, this is one exact forward-backward pass over the classifier's scores and the
annotators' evidence; otherwise it is a product for each unit.

[LNCL] "Learning from Noisy Crowd Labels with Logics". Axes: i unit, k class.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from crowdlogic.annotators.protocol import Annotators
from crowdlogic.classifiers.protocol import ChainClassifier, Classifier, predict, predict_texts
from crowdlogic.data.blocks import Shards
from crowdlogic.data.chain_beliefs import AnyBeliefs, ChainBeliefs, unit_beliefs
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs, vote_shares
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import Classes
from crowdlogic.errors import OptionError, parse_choice
from crowdlogic.numerics.arrays import Bools, Floats
from crowdlogic.numerics.logspace import normalise, safe_log
from crowdlogic.rules.projection.projector import Projector
from crowdlogic.truth.majority import MajorityVote
from crowdlogic.truth.methods import TruthMethod, infer_truth
from crowdlogic.truth.ties import Ties

if TYPE_CHECKING:
    from crowdlogic.rules.checking import Finding
    from crowdlogic.rules.grounding import GroundRules
    from crowdlogic.rules.predicates import Vocabulary


class Posterior(Protocol):
    """Protocol for functions that compute q_a of an epoch."""

    def __call__(self, p: AnyBeliefs, annotators: Annotators, crowd: Shards) -> tuple[AnyBeliefs, float]:
        """Return q_a and the log evidence per label (NaN if it is not computed)."""


def crowd_posterior(p: AnyBeliefs, annotators: Annotators, crowd: Shards) -> tuple[AnyBeliefs, float]:
    """Return q_a, proportional to p(t | x) times the annotators' evidence (eq. 13), and the log evidence per label."""
    if isinstance(p, ChainBeliefs):
        return chain_posterior(p, annotators.evidence(crowd), crowd.n_labels)
    q_a, log_evidence = normalise(safe_log(p) + annotators.evidence(crowd))
    return q_a, float(log_evidence.sum()) / crowd.n_labels


def chain_posterior(p: ChainBeliefs, evidence: Floats, n_labels: int) -> tuple[ChainBeliefs, float]:
    """Return q_a of chains (eq. 13) and the log evidence per label.

    Args:
        p: Beliefs of the classifier: a chain.
        evidence: evidence[i, k] of the annotators; minus infinity makes a tag impossible.
        n_labels: Number of labels.
    """
    if p.scores is None or p.log_partition is None:
        raise OptionError(
            "The posterior (eq. 13 of the paper) needs the scores of one chain, which a mixture of chains does not "
            "have. Pass the beliefs of the classifier."
        )
    q_a = p.scores.add(evidence).beliefs()
    gain = np.asarray(q_a.log_partition) - p.log_partition
    return q_a, float(gain.sum()) / n_labels


@dataclass(frozen=True, eq=False)
class FixedPosterior:
    """Posterior that is fixed to the beliefs of another method; units without labels get the classifier's.

    Attributes:
        beliefs: q[i, k].
        known: known[i], whether the method had labels of unit i.
    """

    beliefs: Beliefs
    known: Bools

    def __call__(self, p: AnyBeliefs, annotators: Annotators, crowd: Shards) -> tuple[Beliefs, float]:  # noqa: ARG002
        """Return the fixed beliefs."""
        return np.where(self.known[:, None], self.beliefs, unit_beliefs(p)), float("nan")


SINGLE_DOUBT = 0.3
"""Pseudo-count added to every class if units have one label each."""

FEW = 1.5
"""Number of labels per unit below which most units have only one."""


def first_targets(
    labels: CrowdLabels, start: TruthMethod, *, doubt: float | None = 0.0, corpus: Corpus | None = None
) -> Beliefs:
    """Return the first q_f: the beliefs of a truth method; for a vote, its shares or one-hot winners.

    For units without labels, a vote is uniform; other methods use their prior.

    Args:
        labels: The labels.
        start: The method; for a vote with soft ties the targets are vote shares.
        doubt: Pseudo-count added to every class if the targets are shares. None adds SINGLE_DOUBT if most units have
            one label; without it each label would confirm itself, and every annotator would seem perfect.
        corpus: The items, for methods that use their text.
    """
    if not isinstance(start, MajorityVote):
        return np.array(infer_truth(start, labels, corpus).beliefs)
    votes = labels.votes(weighted=start.weighted)
    if parse_choice(Ties, start.ties, "ties") is Ties.soft:
        if doubt is None:
            doubt = SINGLE_DOUBT if mostly_single(labels) else 0.0
        return vote_shares(votes + doubt)
    # Classes missing from the order of ties have no votes, so their position does not matter.
    order = None if start.order is None else [*start.order, *(set(labels.classes) - set(start.order))]
    winner = replace(start, order=order).infer(labels).answer
    hard = np.eye(labels.n_classes)[winner]
    return np.where((winner >= 0)[:, None], hard, vote_shares(votes))


def mostly_single(labels: CrowdLabels) -> bool:
    """Return whether most labelled units have only one label."""
    count = labels.labels_per_unit()
    return bool(count[count > 0].mean() < FEW)


REMEMBERED = 8
"""Number of corpora for which grounded rules are cached: the training items, dev and watched items."""


class Teacher:
    """A projector for the classes of a task, which grounds the rules once per corpus.

    Attributes:
        classes: The classes of the task.
        projector: The rules and the options of the projection.
        corpus: The training items, for which the tables of facts were given; None if unknown.
        renewed: Predicates to use for all other items, such as tables of facts about them; None if there are none.
    """

    def __init__(
        self,
        classes: Classes,
        projector: Projector,
        *,
        corpus: Corpus | None = None,
        renewed: Vocabulary | None = None,
        _ground: dict[Corpus, GroundRules] | None = None,
    ) -> None:
        self.classes, self.projector, self.corpus, self.renewed = classes, projector, corpus, renewed
        self._ground: dict[Corpus, GroundRules] = {} if _ground is None else _ground  # without learnt factors

    @property
    def is_idle(self) -> bool:
        """Whether there are neither rules nor transitions."""
        return self.projector.is_idle

    @property
    def n_rules(self) -> int:
        """Number of rules, counting each rule of an included set."""
        return self.projector.n_rules(self.classes)

    @property
    def factors(self) -> Floats | None:
        """factors[l], the learned multipliers of the rules' weights; None for ones."""
        return None if self.projector.factors is None else np.array(self.projector.factors)

    def with_projector(self, projector: Projector) -> Teacher:
        """Return a teacher with the same rules and other projection options, keeping grounded rules."""
        return Teacher(self.classes, projector, corpus=self.corpus, renewed=self.renewed, _ground=self._ground)

    def renew(self, vocabulary: Vocabulary | None) -> Teacher:
        """Return the same teacher with other predicates for new items, such as tables of facts about them."""
        if vocabulary is None:
            return self
        return Teacher(self.classes, self.projector, corpus=self.corpus, renewed=vocabulary)

    def reweight(self, factors: Floats | None) -> Teacher:
        """Return the same teacher with other multipliers of the rules' weights."""
        return self if factors is None else self.with_projector(self.projector.reweight(factors))

    def ground(self, corpus: Corpus) -> GroundRules:
        """Return the rules grounded over a corpus, with their current weights."""
        if corpus not in self._ground:
            while len(self._ground) >= REMEMBERED:
                self._ground.pop(next(iter(self._ground)))
            projector = self.projector.reweight(None)
            if self.corpus is not None and corpus is not self.corpus:
                projector = projector.for_items(corpus, self.classes, given_for=self.corpus, renewed=self.renewed)
            self._ground[corpus] = projector.ground(corpus, self.classes)
        ground = self._ground[corpus]
        return ground if self.factors is None else ground.reweight(self.factors)

    def notices(self, corpus: Corpus) -> tuple[Finding, ...]:
        """Return notices about facts on items that are not in a corpus, if rules were grounded over it."""
        return self._ground[corpus].notices if corpus in self._ground else ()

    def project(self, corpus: Corpus, q_a: AnyBeliefs, p: AnyBeliefs, classifier: Classifier) -> AnyBeliefs:
        """Return q_b, the projection of q_a given the classifier's p (eq. 15); q_a itself without rules."""
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
        """Return the teacher's predictions for new items: eq. 15 with the classifier's p in place of q_a."""
        if self.is_idle and p is not None:
            return p
        return unit_beliefs(self.believe(corpus, classifier, p))

    def believe(self, corpus: Corpus, classifier: Classifier, p: Beliefs | None = None) -> AnyBeliefs:
        """Return the same beliefs as `predict`, with those of pairs of neighbours if tags form chains."""
        chain = isinstance(classifier, ChainClassifier)
        student = predict(classifier, corpus) if p is None or chain else p
        return self.project(corpus, student, student, classifier)
