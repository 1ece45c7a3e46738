"""Shared iteration of sequence methods: a Markov chain of true tags x words x annotators, by variational Bayes.

    q, pairs = forward_backward(annotators.evidence + words.log_likelihood, transitions)      # E-step
    annotators, transitions, words <- expected counts under q and pairs                       # M-step

Both are one pass (`ChainStep`) over blocks of whole sequences, in threads or by any other engine. HMM-Crowd uses one
accuracy per annotator and tag, BSC-seq sequential annotators. Invalid transitions (I-PER after O) have probability
zero, so no answer contains them.

Axes: i unit, j annotator, k tag.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from crowdlogic.annotators.label_sums import (
    COUNTS,
    EVIDENCE,
    FEATURE,
    EvidenceStep,
    Q,
    TallyStep,
    code_table,
    count_feature,
    is_compiled,
    sum_evidence,
    whole_counts,
)
from crowdlogic.annotators.protocol import CountModel, expected_counts
from crowdlogic.annotators.tag_chain import TagChain, Words, code_words, tag_grammar
from crowdlogic.data.blocks import Arrays, Engine, Shard, State, States
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs, Estimate, make_estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import Names
from crowdlogic.errors import OptionError
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.numerics.chain import marginals
from crowdlogic.numerics.logspace import dirichlet_mean, expected_log
from crowdlogic.truth.fitting import DEFAULT_FIT, Fitting, Iterations, empty_estimate, starting_beliefs
from crowdlogic.truth.methods import TruthMethod, takes_frames


@dataclass(frozen=True, kw_only=True)
class ChainStep:
    """Step that runs forward-backward with annotators and words.

    Parameters: log_table[j, n, k], the log probability of a label; transitions[k, k'] and start[k], in logs;
    featureN[v, k], the log probability of each value of a feature. State: featureN[i], its value at each unit. With
    `keep`, the new state is q[i, k].

    Attributes:
        n_annotators: Number of annotators.
        n_classes: Number of tags.
        n_codes: Number of label codes.
        compiled: Whether to use the compiled kernels for labels.
        keep: Whether to keep the beliefs.
    """

    n_annotators: int
    n_classes: int
    n_codes: int
    compiled: bool = False
    keep: bool = False

    def __call__(self, block: Shard, parameters: Arrays, state: Arrays) -> tuple[Arrays, Arrays]:
        """Return counts[j, n, k], transitions[k, k'], start[k], featureN[v, k] and the log evidence."""
        # unary[i, k] = evidence of the labels of token i + log probability of its features, given tag k
        unary = EvidenceStep(compiled=self.compiled)(block, parameters, {})[1]["evidence"]
        names = [name for name in parameters if name.startswith(FEATURE)]
        for name in names:
            unary = unary + parameters[name][state[name]]
        found = marginals(np.asarray(unary), parameters["transitions"], block.offsets, start=parameters["start"])
        first = block.offsets[:-1][np.diff(block.offsets) > 0]
        count = TallyStep(
            n_annotators=self.n_annotators, n_classes=self.n_classes, n_codes=self.n_codes, compiled=self.compiled
        )
        counts = {
            COUNTS: count(block, {}, {Q: found.q})[0][COUNTS],
            "transitions": found.transitions,
            "start": found.q[first].sum(axis=0),
            EVIDENCE: np.array(found.log_partition.sum()),
        }
        counts |= {name: count_feature(state[name], len(parameters[name]), found.q) for name in names}
        return counts, {Q: found.q} if self.keep else {}


def chain_sweep(
    blocks: Engine, log_table: Floats, chain: Arrays, *, features: States = None, keep: bool = False
) -> tuple[Arrays, Floats | None]:
    """Run forward-backward over all sequences; return its sums, with counts[j, n, k], and with `keep` q[i, k].

    Args:
        blocks: The labels, in blocks of whole sequences.
        log_table: log_table[j, n, k], log p(annotator j says n | the tag is k).
        chain: The other parameters of `ChainStep`.
        features: States with the value of each feature at each unit, by name.
        keep: Whether to keep the beliefs.
    """
    step = ChainStep(
        n_annotators=blocks.n_annotators,
        n_classes=blocks.n_classes,
        n_codes=blocks.n_codes,
        compiled=is_compiled(blocks, log_table.shape[2]),
        keep=keep,
    )
    s, kept = blocks.sum(step, {"log_table": code_table(blocks, log_table), **chain}, features)
    return {**s, COUNTS: whole_counts(s[COUNTS], log_table)}, blocks.gather(kept)[Q] if keep else None


@dataclass(frozen=True, eq=False, kw_only=True)
class WordHMM:
    """E- and M-step of a model for one table of tags.

    Attributes:
        model: The annotator model.
        chain: The transition model.
        words: The words, if a corpus is given.
        word_count: Prior count of each word for each tag.
        engine: The tags as arranged by the model, in shards of whole sequences.
        items: The name of each sequence, for messages.
    """

    model: CountModel
    chain: TagChain
    words: Words
    word_count: float
    engine: Engine
    items: Names

    @cached_property
    def features(self) -> States:
        """Words of each shard, scattered to the engine."""
        found = self.words.features()
        return self.engine.scatter(found) if found else None

    def first_state(self, q: Beliefs) -> State:
        """Return parameters from beliefs, as if neighbours were independent."""
        annotators = self.model.from_counts(self.engine, expected_counts(self.engine, q))
        return annotators.arrays() | self.chain.from_beliefs(q) | self.words.concentrations(q, self.word_count)

    def step(self, state: State) -> tuple[State, float]:
        """Run an E- and an M-step: return the next parameters, and the bound of the given ones."""
        found, _ = self._sweep(state)
        bound = float(found[EVIDENCE]) + self.model.log_prior(self.engine, state)
        bound -= self.chain.divergence(state) + self.words.divergence(state, self.word_count)
        following = self.model.from_counts(self.engine, found[COUNTS]).arrays()
        following |= self.chain.posterior(found["transitions"], found["start"])
        return following | {name: found[name] + self.word_count for name in self.words.features()}, bound

    def _sweep(self, state: State, *, keep: bool = False) -> tuple[Arrays, Beliefs | None]:
        """Run one pass of forward-backward over all shards."""
        chain = {name: expected_log(state[name], axis=-1) for name in ("transitions", "start")}
        chain |= {name: expected_log(state[name], axis=0) for name in self.words.features()}
        log_table = self.model.load(state).log_table
        found, q = chain_sweep(self.engine, log_table, chain, features=self.features, keep=keep)
        if not np.isfinite(found[EVIDENCE]):
            # An anchor is not a valid sequence of tags: this raises an error that names it
            self.chain.marginals(self.unary(state), state, self.items)
        return found, q

    def unary(self, state: State) -> Floats:
        """Return unary[i, k], the log evidence of annotators and words for each tag of each unit."""
        return sum_evidence(self.engine, self.model.load(state).log_table) + self.words.log_likelihood(state)

    def beliefs(self, state: State) -> Beliefs:
        """Return q[i, k]."""
        return np.asarray(self._sweep(state, keep=True)[1])

    def best_path(self, state: State) -> Ints:
        """Return the most probable valid tags of every sequence."""
        return self.chain.decode(self.unary(state), state)


class FitsSequences:
    """Base class with `infer` and `infer_over` of methods for tags of sentences, which implement `fit_tags`."""

    name: ClassVar[str]

    @takes_frames
    def infer(self, labels: CrowdLabels, corpus: Corpus | None = None, *, fitting: Fitting = DEFAULT_FIT) -> Estimate:
        """Iterate forward-backward and the updates until the bound converges; the answers are the best valid paths."""
        return self.fit_tags(labels, corpus, fitting)

    def infer_over(
        self, engine: Engine, labels: CrowdLabels, corpus: Corpus | None = None, *, fitting: Fitting = DEFAULT_FIT
    ) -> Estimate:
        """Fit on an engine whose shards contain the arranged tags."""
        return self.fit_tags(labels, corpus, fitting, engine)

    def arrange(self, labels: CrowdLabels) -> CrowdLabels:
        """Return the tags in shards, as the model counts them."""
        return labels

    def fit_tags(
        self, labels: CrowdLabels, corpus: Corpus | None, fitting: Fitting, engine: Engine | None = None
    ) -> Estimate:
        """Fit, in threads of this process or over an engine."""
        raise NotImplementedError


def fit_word_hmm(
    method: Any,
    labels: CrowdLabels,
    corpus: Corpus | None,
    *,
    model: CountModel,
    first: TruthMethod,
    fitting: Fitting,
    engine: Engine | None = None,
) -> Estimate:
    """Fit a sequence method and return its Estimate: marginals as beliefs, the best valid paths as answers.

    Args:
        method: The method: its name, `convergence`, `transition_count`, `word_count` and `shapes`.
        labels: The tags.
        corpus: The words; optional.
        model: The annotator model.
        first: The method whose beliefs the fit starts from, unless `fitting.start` is given.
        fitting: Options of the fit.
        engine: Engine with the tags, arranged as the model counts them; None for threads of this process.
    """
    offsets = require_sequences(method.name, labels)
    if not labels.n_labels:
        return empty_estimate(labels, method.name)
    hmm = WordHMM(
        model=model,
        chain=TagChain(tag_grammar(labels.classes), offsets, method.transition_count),
        words=code_words(labels, corpus, shapes=method.shapes),
        word_count=method.word_count,
        engine=engine or model.observe(labels, anchors=fitting.anchors, threads=fitting.threads),
        items=labels.items,
    )

    # Initialise with the beliefs of an earlier estimate or another method, as if neighbours were independent
    q = starting_beliefs(labels, fitting)
    if q is None:
        q = first.infer(labels, fitting=replace(DEFAULT_FIT, anchors=fitting.anchors)).beliefs
    fit = Iterations(method, hmm.engine, hmm.first_state(q), labels=labels, fitting=fitting, corpus=corpus)
    for p in fit:
        following, bound = hmm.step(p)
        fit.update(following, objective=bound)
    annotators = model.load(fit.state)
    mean_chain = {name: dirichlet_mean(fit.state[name], axis=-1) for name in ("transitions", "start")}
    return make_estimate(
        labels,
        method.name,
        hmm.beliefs(fit.state),
        answer=hmm.best_path(fit.state),
        confusion=annotators.confusion,
        trace=np.array(fit.trace),
        converged=fit.converged,
        answer_all=fitting.answer_all,
        parameters={**mean_chain, **annotators.summaries()},
    )


def require_sequences(name: str, labels: CrowdLabels) -> Ints:
    """Return the offsets of the sequences; raise an error if the labels are of single items."""
    if labels.offsets is None:
        raise OptionError(
            f"{name} is for sequences: tags of the tokens of sentences. These labels are of single items; "
            f"use dawid-skene, ibcc or another method for them."
        )
    return labels.offsets
