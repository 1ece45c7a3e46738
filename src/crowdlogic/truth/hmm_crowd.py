"""HMM-Crowd: the true tags are a Markov chain, the words come from them, and so do the annotators' tags.

[NWLNL17] Nguyen, Wallace, Li, Nenkova and Lease, "Aggregating and predicting sequence labels from crowd annotations",
2017, section 4. Transitions and words have Dirichlet priors and variational posteriors; annotators have one accuracy
per tag, by EM, as in the authors' program (there an error has probability 1 - accuracy whatever the tag given; here
it is shared among the other tags, so that it is a distribution). Like their program it looks at the word and at
whether it begins with a capital or a digit, when the corpus is given; without it the chain and the annotators are
all.

A tag that may not follow another (I-PER after O) has no transition, so no answer contains one.

Axes: i unit, j annotator, k tag, m true tag, n given tag.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Estimate, make_estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.engines.sweeps import evidence, tally
from crowdlogic.numerics.arrays import Floats
from crowdlogic.store.checkpoints import State
from crowdlogic.truth.dawid_skene import DawidSkene
from crowdlogic.truth.fitting import (
    ALONE,
    Fitting,
    Patience,
    check_counts,
    settle,
    sharded,
    starting_beliefs,
    unanswered,
)
from crowdlogic.truth.transitions import TagChain, grammar_of, sequences_only, shares_of, words_of


@dataclass(frozen=True)
class HMMCrowd:
    """A hidden Markov model with annotators ([NWLNL17]).

    Attributes:
        smoothing: Labels added to the right and to the wrong ones of each annotator and tag.
        trust: Labels added to the right ones beyond that.
        transition_count: The prior count of each allowed transition and start.
        word_count: The prior count of each word for each tag.
        shapes: Whether a word's first character (capital, digit or other) is looked at, too.
        max_iterations: The most E-steps.
        tolerance: The gain of the bound per label at which the fit has settled.
        answer_all: Whether a sequence that nobody labelled gets an answer too.
    """

    smoothing: float = 0.01
    trust: float = 1.0
    transition_count: float = 0.1
    word_count: float = 0.1
    shapes: bool = True
    max_iterations: int = 200
    tolerance: float = 1e-6
    answer_all: bool = False

    name = "hmm-crowd"

    def __post_init__(self) -> None:
        check_counts(self, whole=("smoothing", "trust"), positive=("transition_count", "word_count"))

    def infer(self, labels: CrowdLabels, corpus: Corpus | None = None, *, fitting: Fitting = ALONE) -> Estimate:
        """Iterate forward-backward and the updates until the bound settles, then take the best valid path."""
        chain = TagChain(grammar_of(labels.classes), sequences_only(self.name, labels), self.transition_count)
        if not labels.n_labels:
            return unanswered(labels, self.name)
        words = words_of(labels, corpus, shapes=self.shapes)
        shards = sharded(labels, fitting)

        def parameters(q: Floats, following: State) -> State:
            accuracy = {"accuracy": self._accuracy(tally(shards, q).counts)}
            return accuracy | following | words.concentrations(q, self.word_count)

        def initial() -> State:
            q = starting_beliefs(labels, fitting)
            if q is None:
                q = DawidSkene().infer(labels, fitting=replace(ALONE, anchors=fitting.anchors)).beliefs
            return parameters(q, chain.from_beliefs(q))

        def unary(state: State) -> Floats:
            return evidence(shards, np.log(accuracy_table(state["accuracy"]))) + words.log_likelihood(state)

        def step(state: State) -> tuple[State, float]:
            found = chain.marginals(unary(state), state, labels.items)
            bound = float(found.log_partition.sum()) + self._log_prior(state["accuracy"])
            bound -= chain.divergence(state) + words.divergence(state, self.word_count)
            return parameters(found.q, chain.posterior(found.transitions, found.q)), bound

        settled = settle(self, labels, initial, step, Patience(self.max_iterations, self.tolerance), fitting, corpus)
        state = settled.state
        last = unary(state)
        return make_estimate(
            labels,
            self.name,
            chain.marginals(last, state, labels.items).q,
            answer=chain.decode(last, state),
            confusion=accuracy_table(state["accuracy"]).transpose(0, 2, 1),
            trace=settled.trace,
            converged=settled.converged,
            answer_all=self.answer_all,
            parameters={name: shares_of(state[name]) for name in ("transitions", "start")},
        )

    def _accuracy(self, counts: Floats) -> Floats:
        """accuracy[j, m], how often j is right where the truth is m, from counts[j, n, m]."""
        right = np.diagonal(counts, axis1=1, axis2=2) + self.smoothing + self.trust
        return np.asarray(right / (counts.sum(axis=1) + 2 * self.smoothing + self.trust))

    def _log_prior(self, accuracy: Floats) -> float:
        right = (self.smoothing + self.trust) * np.log(accuracy)
        return float((right + self.smoothing * np.log1p(-accuracy)).sum())


def accuracy_table(accuracy: Floats) -> Floats:
    """table[j, n, m]: right with accuracy[j, m], else any of the other tags."""
    n_tags = accuracy.shape[1]
    wrong = (1.0 - accuracy) / max(n_tags - 1, 1)
    return np.where(np.eye(n_tags, dtype=bool), accuracy[:, None, :], wrong[:, None, :])
