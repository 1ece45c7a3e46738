"""Shared iteration of sequence methods: a Markov chain of true tags x words x annotators, by variational Bayes.

    q, pairs = forward_backward(annotators.evidence + words.log_likelihood, transitions)      # E-step
    annotators, transitions, words <- expected counts under q and pairs                       # M-step

Both are one pass (`ChainStep`) over blocks of whole sequences, in threads or by any other engine. HMM-Crowd uses one
accuracy per annotator and tag, BSC-seq sequential annotators. Invalid transitions (I-PER after O) have probability
zero, so no answer contains them.

Axes: i unit, j annotator, k tag (and k' the next tag), s sequence.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from crowdlogic.annotators.label_sums import (
    COUNTS,
    EVIDENCE,
    EvidenceStep,
    Q,
    TallyStep,
    code_table,
    is_compiled,
    sum_evidence,
    whole_counts,
)
from crowdlogic.annotators.protocol import CountModel, expected_counts
from crowdlogic.data.blocks import Arrays, Engine, Shard, State, States
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs, Estimate, make_estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import Classes, Names
from crowdlogic.data.tagging import BEGIN, END, INSIDE, SINGLE, is_span_tag_set, parse_tags
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import CorpusError, LabelError, OptionError
from crowdlogic.numerics.arrays import Bools, Floats, Ints, sum_by
from crowdlogic.numerics.chain import ChainMarginals, best_path, marginals
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.numerics.logspace import dirichlet_divergence, dirichlet_mean, expected_log, safe_log
from crowdlogic.truth.fitting import DEFAULT_FIT, Fitting, Iterations, empty_estimate, starting_beliefs
from crowdlogic.truth.methods import TruthMethod, takes_frames

# Tags as a Markov chain: allowed transitions and their probabilities, with a Dirichlet posterior.


@dataclass(frozen=True, eq=False)
class Grammar:
    """Allowed transitions allowed[k, k'], and allowed first tags may_start[k]."""

    allowed: Bools
    may_start: Bools


def tag_grammar(classes: Classes) -> Grammar:
    """Return the grammar of span tags: I- and E- continue a span of their type. Other tag sets have no restrictions.

    If a type has no B- or S- tag (as in IO tagging), its spans may begin with I-.
    """
    n_tags = len(classes)
    if not is_span_tag_set(classes):
        return Grammar(np.ones((n_tags, n_tags), dtype=bool), np.ones(n_tags, dtype=bool))
    tags = parse_tags(classes)
    # begins[k]: the type of tag k has a B- or S- tag; goes_on[k]: tag k continues a span
    # same[k, k']: tag k leaves open a span of the type of k'
    begins = np.isin(tags.kind, tags.kind[np.isin(tags.prefix, (BEGIN, SINGLE))])
    goes_on = np.isin(tags.prefix, (INSIDE, END)) & begins
    open_span = np.isin(tags.prefix, (BEGIN, INSIDE))
    same = (tags.kind[:, None] == tags.kind) & open_span[:, None]
    allowed = ~goes_on | same
    if (tags.prefix == END).any():
        allowed &= ~open_span[:, None] | (same & goes_on)
    return Grammar(allowed, ~goes_on)


@dataclass(frozen=True, eq=False)
class TagChain:
    """Transition model with a Dirichlet prior of `count` for each allowed transition and each allowed start."""

    grammar: Grammar
    offsets: Ints
    count: float

    @property
    def first(self) -> Ints:
        """First unit of each non-empty sequence."""
        return np.asarray(self.offsets[:-1])[np.diff(self.offsets) > 0]

    def prior(self) -> dict[str, Floats]:
        """Return prior concentrations; 0 for forbidden transitions."""
        return {
            "transitions": np.where(self.grammar.allowed, self.count, 0.0),
            "start": np.where(self.grammar.may_start, self.count, 0.0),
        }

    def posterior(self, transitions: Floats, start: Floats) -> dict[str, Floats]:
        """Return concentrations from expected transitions and starts."""
        prior = self.prior()
        return {
            "transitions": np.where(self.grammar.allowed, transitions + prior["transitions"], 0.0),
            "start": np.where(self.grammar.may_start, start + prior["start"], 0.0),
        }

    def from_beliefs(self, q: Floats) -> dict[str, Floats]:
        """Return concentrations from beliefs as if neighbours were independent."""
        inner = np.ones(len(q), dtype=bool)
        inner[self.first] = False
        now = np.flatnonzero(inner)
        return self.posterior(q[now - 1].T @ q[now], q[self.first].sum(axis=0))

    def marginals(self, unary: Floats, state: Arrays, items: Names) -> ChainMarginals:
        """Run forward-backward under the expected log transitions."""
        found = marginals(
            unary,
            expected_log(state["transitions"], axis=-1),
            self.offsets,
            start=expected_log(state["start"], axis=-1),
        )
        lost = np.flatnonzero(~np.isfinite(found.log_partition))
        if len(lost):
            raise LabelError(
                f"The anchor of {items[int(lost[0])]!r} is not a valid sequence of tags. Correct it, or remove it."
            )
        return found

    def divergence(self, state: Arrays) -> float:
        """Return the divergence of the transition model from its prior."""
        prior = self.prior()
        return sum(dirichlet_divergence(state[name], prior[name], axis=-1) for name in ("transitions", "start"))

    def decode(self, unary: Floats, state: Arrays) -> Ints:
        """Return the best valid path under the mean transitions."""
        pairwise, start = (dirichlet_mean(state[name], axis=-1) for name in ("transitions", "start"))
        return best_path(unary, safe_log(pairwise), self.offsets, start=safe_log(start))


# Words as evidence for tags: a categorical distribution per tag with a Dirichlet posterior. Axis: v word.


@dataclass(frozen=True, eq=False)
class Words:
    """Codes of the features of each unit: the word and its shape.

    Attributes:
        codes: One array codes[i] per feature.
        sizes: Number of values of each feature.
    """

    codes: tuple[Ints, ...]
    sizes: tuple[int, ...]

    def features(self) -> dict[str, Ints]:
        """Return codes[i] of each feature by name."""
        return {f"{FEATURE}{at}": codes for at, codes in enumerate(self.codes)}

    def concentrations(self, q: Floats, count: float) -> dict[str, Floats]:
        """Return concentrations[v, k] of each feature from beliefs; `count` is the prior of each entry."""
        sizes = zip(self.features().items(), self.sizes, strict=True)
        return {name: count_feature(codes, size, q) + count for (name, codes), size in sizes}

    def log_likelihood(self, state: Arrays) -> Floats:
        """Return E[log p(word | tag)] of each unit and tag, up to a constant."""
        total: Floats | float = 0.0
        for name, codes in self.features().items():
            total = total + expected_log(state[name], axis=0)[codes]
        return np.asarray(total)

    def divergence(self, state: Arrays, count: float) -> float:
        """Return the divergence of the word model from its prior."""
        return sum(dirichlet_divergence(state[name], np.array(count), axis=0) for name in self.features())


NO_WORDS = Words((), ())


def code_words(labels: CrowdLabels, corpus: Corpus | None, *, shapes: bool) -> Words:
    """Encode the words of the corpus, and whether they begin with a capital or a digit; no features without tokens."""
    if corpus is None or corpus.tokens is None:
        return NO_WORDS
    if len(corpus.tokens) != labels.n_units:
        raise CorpusError(
            f"The corpus has {pluralise(len(corpus.tokens), 'token')}, but the labels have "
            f"{pluralise(labels.n_units, 'unit')}. "
            f"Call align(labels, corpus) first."
        )
    known: dict[str, int] = {}
    codes = np.array([known.setdefault(word, len(known)) for word in corpus.tokens], dtype=np.int64)
    if not shapes:
        return Words((codes,), (len(known),))
    shape = np.array([1 if word[:1].isupper() else 2 if word[:1].isdigit() else 0 for word in known], dtype=np.int64)
    return Words((codes, shape[codes]), (len(known), 3))


FEATURE = "feature"
"""Prefix of the names of features: feature0, feature1, ..."""


def count_feature(codes: Ints, size: int, q: Floats) -> Floats:
    """Return counts[v, k], the expected number of units with value v of a feature and tag k."""
    columns = [sum_by(codes, size, q[:, k]) for k in range(q.shape[1])]
    return np.stack(columns, axis=1) if columns else np.zeros((size, 0))


# The iteration.


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
    """Base class with `infer` and `infer_over` of methods for tags of sentences, which implement `parts`.

    Attributes:
        transition_count: Prior count of each allowed transition and start.
        word_count: Prior count of each word for each tag.
        shapes: Whether the kind of a word's first character (capital, digit or other) is a feature as well.
        convergence: Stopping criterion, by the gain of the bound per label.
    """

    name: ClassVar[str]
    transition_count: float
    word_count: float
    shapes: bool
    convergence: Convergence

    def parts(self, labels: CrowdLabels) -> tuple[CountModel, TruthMethod]:
        """Return the annotator model, and the method whose beliefs the fit starts from; raise for unsuitable labels."""
        raise NotImplementedError

    def arrange(self, labels: CrowdLabels) -> CrowdLabels:
        """Return the tags in shards, as the model counts them."""
        return labels

    @takes_frames
    def infer(self, labels: CrowdLabels, corpus: Corpus | None = None, *, fitting: Fitting = DEFAULT_FIT) -> Estimate:
        """Iterate forward-backward and the updates until the bound converges; the answers are the best valid paths."""
        return self._fit(None, labels, corpus, fitting)

    def infer_over(
        self, engine: Engine, labels: CrowdLabels, corpus: Corpus | None = None, *, fitting: Fitting = DEFAULT_FIT
    ) -> Estimate:
        """Fit on an engine whose shards contain the arranged tags."""
        return self._fit(engine, labels, corpus, fitting)

    def _fit(self, engine: Engine | None, labels: CrowdLabels, corpus: Corpus | None, fitting: Fitting) -> Estimate:
        """Fit over an engine, or in threads of this process: marginals as beliefs, the best valid paths as answers."""
        model, first = self.parts(labels)
        offsets = require_sequences(self.name, labels)
        if not labels.n_labels:
            return empty_estimate(labels, self.name)
        hmm = WordHMM(
            model=model,
            chain=TagChain(tag_grammar(labels.classes), offsets, self.transition_count),
            words=code_words(labels, corpus, shapes=self.shapes),
            word_count=self.word_count,
            engine=engine or model.observe(labels, anchors=fitting.anchors, threads=fitting.threads),
            items=labels.items,
        )

        # Initialise with the beliefs of an earlier estimate or another method, as if neighbours were independent
        q = starting_beliefs(labels, fitting)
        if q is None:
            q = first.infer(labels, fitting=replace(DEFAULT_FIT, anchors=fitting.anchors)).beliefs
        fit = Iterations(self, hmm.engine, hmm.first_state(q), labels=labels, fitting=fitting, corpus=corpus)
        for p in fit:
            following, bound = hmm.step(p)
            fit.update(following, objective=bound)
        annotators = model.load(fit.state)
        mean_chain = {name: dirichlet_mean(fit.state[name], axis=-1) for name in ("transitions", "start")}
        return make_estimate(
            labels,
            self.name,
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
