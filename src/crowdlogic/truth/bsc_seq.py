"""BSC-seq: what an annotator says depends on the truth and on what they said of the token before.

[SG19] Simpson and Gurevych, "A Bayesian approach for sequence tagging with crowds", 2019: the "seq" annotator model
(section 3.1), variational Bayes for annotators, transitions and words together (section 4). An annotator is a
confusion matrix for each of their own previous tags, so spans that begin late or run on are understood; the first
token of a sequence counts as following O. Prior counts that would belong to an invalid pair of tags are moved as in
the authors' program: from I- after O to B- of the type, from I- after another type's B- to that type's own I-.

Words are looked at when the corpus is given ("BSC-seq"), else the chain and the annotators are all
("BSC-seq-notext").

Axes: i unit, j annotator, k tag, m true tag, n given tag, p the same annotator's previous tag.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Estimate, make_estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import Classes
from crowdlogic.data.tagging import BEGIN, INSIDE, OUTSIDE, is_span_tag_set, parse_tags
from crowdlogic.engines.sweeps import evidence, tally
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.store.checkpoints import State
from crowdlogic.truth.dawid_skene import check_size
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
from crowdlogic.truth.ibcc import IBCC, divergence, expected_log
from crowdlogic.truth.transitions import TagChain, grammar_of, sequences_only, shares_of, words_of

INVALID_COUNT = 1e-3
"""The prior count of an annotator's invalid pair of tags, such as I-PER after O."""


@dataclass(frozen=True)
class BSCSeq:
    """Bayesian sequence combination with sequential annotators ([SG19]).

    Attributes:
        diagonal: The prior count of right tags beyond `spread`, for each truth and previous tag.
        spread: The prior count of all wrong tags together.
        transition_count: The prior count of each allowed transition and start.
        word_count: The prior count of each word for each tag.
        shapes: Whether a word's first character (capital, digit or other) is looked at, too.
        max_iterations: The most E-steps.
        tolerance: The gain of the bound per label at which the fit has settled.
        answer_all: Whether a sequence that nobody labelled gets an answer too.
    """

    diagonal: float = 10.0
    spread: float = 10.0
    transition_count: float = 1.0
    word_count: float = 0.1
    shapes: bool = False
    max_iterations: int = 200
    tolerance: float = 1e-6
    answer_all: bool = False

    name = "bsc-seq"

    def __post_init__(self) -> None:
        check_counts(self, positive=("diagonal", "spread", "transition_count", "word_count"))

    def infer(self, labels: CrowdLabels, corpus: Corpus | None = None, *, fitting: Fitting = ALONE) -> Estimate:
        """Iterate forward-backward and the updates until the bound settles, then take the best valid path."""
        chain = TagChain(grammar_of(labels.classes), sequences_only(self.name, labels), self.transition_count)
        if not labels.n_labels:
            return unanswered(labels, self.name)
        n_tags = labels.n_classes
        check_size(self.name, len(labels.annotators) * n_tags, n_tags)
        words = words_of(labels, corpus, shapes=self.shapes)
        shards = sharded(with_previous(labels), fitting)
        prior = np.tile(self.prior(labels.classes), (len(labels.annotators), 1, 1))

        def parameters(q: Floats, following: State) -> State:
            return {"table": tally(shards, q).counts + prior} | following | words.concentrations(q, self.word_count)

        def initial() -> State:
            q = starting_beliefs(labels, fitting)
            if q is None:
                q = IBCC().infer(labels, fitting=replace(ALONE, anchors=fitting.anchors)).beliefs
            return parameters(q, chain.from_beliefs(q))

        def unary(state: State) -> Floats:
            return evidence(shards, expected_log(state["table"], axis=1)) + words.log_likelihood(state)

        def step(state: State) -> tuple[State, float]:
            found = chain.marginals(unary(state), state, labels.items)
            bound = float(found.log_partition.sum()) - divergence(state["table"], prior, axis=1)
            bound -= chain.divergence(state) + words.divergence(state, self.word_count)
            return parameters(found.q, chain.posterior(found.transitions, found.q)), bound

        settled = settle(self, labels, initial, step, Patience(self.max_iterations, self.tolerance), fitting, corpus)
        state = settled.state
        last = unary(state)
        tables = state["table"].reshape(-1, n_tags, n_tags, n_tags)
        return make_estimate(
            labels,
            self.name,
            chain.marginals(last, state, labels.items).q,
            answer=chain.decode(last, state),
            confusion=shares_of(tables.sum(axis=1).transpose(0, 2, 1)),
            trace=settled.trace,
            converged=settled.converged,
            answer_all=self.answer_all,
            parameters={name: shares_of(state[name]) for name in ("transitions", "start")}
            | {"sequential": shares_of(tables.transpose(0, 1, 3, 2))},
        )

    def prior(self, classes: Classes) -> Floats:
        """Prior counts [p, n, m]."""
        n_tags = len(classes)
        wrong = self.spread / max(n_tags - 1, 1)
        counts = np.full((n_tags, n_tags, n_tags), wrong) + np.eye(n_tags) * (self.diagonal + self.spread - wrong)
        return _moved(counts, classes) if is_span_tag_set(classes) else counts


def _moved(counts: Floats, classes: Classes) -> Floats:
    """Prior counts with those of invalid pairs moved to where the annotator may have meant them."""
    tags = parse_tags(classes)
    code = {(int(p), int(t)): k for k, (p, t) in enumerate(zip(tags.prefix, tags.kind, strict=True))}
    outside = code.get((OUTSIDE, -1))
    for kind in range(len(tags.types)):
        inside = code.get((INSIDE, kind))
        if inside is None:
            continue
        if outside is not None:
            _move(counts[outside], inside, code.get((BEGIN, kind)))
        for other in range(len(tags.types)):
            if other != kind:
                if (BEGIN, other) in code:
                    _move(counts[code[BEGIN, other]], inside, code.get((INSIDE, other)))
                if (INSIDE, other) in code:
                    _move(counts[code[INSIDE, other]], inside, None)
    return counts


def _move(counts: Floats, source: int, target: int | None) -> None:
    if target is not None:
        counts[target] += counts[source] - INVALID_COUNT
    counts[source] = INVALID_COUNT


def with_previous(labels: CrowdLabels) -> CrowdLabels:
    """The same labels by (annotator, previous tag) pairs: annotator j after tag p is annotator j * K + p."""
    n_annotators, n_tags = len(labels.annotators), labels.n_classes
    pairs = labels.annotator.astype(np.int64) * n_tags + previous_tags(labels)
    names = pl.Series(np.arange(n_annotators * n_tags))
    return replace(labels, annotator=pairs, annotators=names, kind=None)


def previous_tags(labels: CrowdLabels) -> Ints:
    """For each label what the same annotator said of the unit before; O (or the first tag) where there is nothing."""
    outside = labels.classes.index("O") if "O" in labels.classes else 0
    n_annotators = len(labels.annotators)
    key = labels.unit.astype(np.int64) * n_annotators + labels.annotator
    at = np.minimum(np.searchsorted(key, key - n_annotators), max(len(key) - 1, 0))
    item = labels.item_of_unit
    found = (key[at] == key - n_annotators) & (item[labels.unit] == item[np.maximum(labels.unit - 1, 0)])
    return np.where(found, labels.label[at], outside)
