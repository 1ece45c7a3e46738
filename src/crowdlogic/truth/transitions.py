"""What the sequence models share: which tag may follow which, Dirichlet rows with zeros, and a model of the words.

Axes: i unit, k tag (and k' the next tag), s sequence, v word.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import digamma, gammaln

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import Classes, Names
from crowdlogic.data.tagging import BEGIN, END, INSIDE, SINGLE, is_span_tag_set, parse_tags
from crowdlogic.errors import CorpusError, LabelError, OptionError
from crowdlogic.numerics.arrays import Bools, Floats, Ints
from crowdlogic.numerics.chain import ChainMarginals, best_path, marginals
from crowdlogic.numerics.logspace import LOG_ZERO, safe_log
from crowdlogic.numerics.sums import sum_by
from crowdlogic.store.checkpoints import State


@dataclass(frozen=True, eq=False)
class Grammar:
    """Which tag may follow which: allowed[k, k'], and which may begin a sequence: may_start[k]."""

    allowed: Bools
    may_start: Bools


def grammar_of(classes: Classes) -> Grammar:
    """The grammar of span tags: I- and E- go on with a span of their own type. Other tag sets have none.

    A type that has no B- or S- among the tags (as in IO tagging) has nothing else to begin with, so there I- may.
    """
    n_tags = len(classes)
    if not is_span_tag_set(classes):
        return Grammar(np.ones((n_tags, n_tags), dtype=bool), np.ones(n_tags, dtype=bool))
    tags = parse_tags(classes)
    begins = np.isin(tags.kind, tags.kind[np.isin(tags.prefix, (BEGIN, SINGLE))])
    goes_on = np.isin(tags.prefix, (INSIDE, END)) & begins
    open_span = np.isin(tags.prefix, (BEGIN, INSIDE))
    same = (tags.kind[:, None] == tags.kind) & open_span[:, None]
    allowed = ~goes_on | same
    if (tags.prefix == END).any():
        allowed &= ~open_span[:, None] | (same & goes_on)
    return Grammar(allowed, ~goes_on)


def row_logs(concentration: Floats) -> Floats:
    """E[log p] of Dirichlet rows; a concentration of 0 is a forbidden entry, LOG_ZERO."""
    possible = concentration > 0
    spread = digamma(np.where(possible, concentration, 1.0)) - digamma(concentration.sum(axis=-1, keepdims=True))
    return np.where(possible, spread, LOG_ZERO)


def row_divergence(posterior: Floats, prior: Floats) -> float:
    """The sum over rows of KL(Dirichlet(posterior) || Dirichlet(prior)), without the forbidden entries."""
    possible = prior > 0
    apart = np.where(possible, (posterior - prior) * np.where(possible, row_logs(posterior), 0.0), 0.0).sum()
    return float(apart + _log_beta(prior, possible) - _log_beta(posterior, possible))


def _log_beta(concentration: Floats, possible: Bools) -> float:
    inner = np.where(possible, gammaln(np.where(possible, concentration, 1.0)), 0.0)
    return float(inner.sum() - gammaln(concentration.sum(axis=-1)).sum())


@dataclass(frozen=True, eq=False)
class TagChain:
    """The transition model, with a Dirichlet prior of `count` on each allowed transition and each allowed start."""

    grammar: Grammar
    offsets: Ints
    count: float

    @property
    def first(self) -> Ints:
        """The first unit of each sequence that has any."""
        return np.asarray(self.offsets[:-1])[np.diff(self.offsets) > 0]

    def prior(self) -> State:
        """Prior concentrations; 0 is forbidden."""
        return {
            "transitions": np.where(self.grammar.allowed, self.count, 0.0),
            "start": np.where(self.grammar.may_start, self.count, 0.0),
        }

    def posterior(self, transitions: Floats, q: Floats) -> State:
        """Concentrations from expected transitions and beliefs."""
        prior = self.prior()
        return {
            "transitions": np.where(self.grammar.allowed, transitions + prior["transitions"], 0.0),
            "start": np.where(self.grammar.may_start, q[self.first].sum(axis=0) + prior["start"], 0.0),
        }

    def from_beliefs(self, q: Floats) -> State:
        """Concentrations from beliefs alone, as if neighbours were independent."""
        inner = np.ones(len(q), dtype=bool)
        inner[self.first] = False
        now = np.flatnonzero(inner)
        return self.posterior(q[now - 1].T @ q[now], q)

    def marginals(self, unary: Floats, state: State, items: Names) -> ChainMarginals:
        """Forward-backward under the expected log transitions."""
        found = marginals(unary, row_logs(state["transitions"]), self.offsets, start=row_logs(state["start"]))
        lost = np.flatnonzero(~np.isfinite(found.log_partition))
        if len(lost):
            raise LabelError(
                f"The anchor of {items[int(lost[0])]!r} is no valid sequence of tags. Mend it, or leave it out."
            )
        return found

    def divergence(self, state: State) -> float:
        """How far the transition model is from its prior."""
        prior = self.prior()
        return sum(row_divergence(state[name], prior[name]) for name in ("transitions", "start"))

    def decode(self, unary: Floats, state: State) -> Ints:
        """The best valid path under the mean transitions."""
        pairwise, start = (shares_of(state[name]) for name in ("transitions", "start"))
        return best_path(unary, safe_log(pairwise), self.offsets, start=safe_log(start))


def shares_of(concentration: Floats) -> Floats:
    """The mean of Dirichlet rows."""
    total = concentration.sum(axis=-1, keepdims=True)
    return concentration / np.where(total > 0, total, 1.0)


@dataclass(frozen=True, eq=False)
class Words:
    """Codes of what stands at each unit: the word, and (a code of its own) its shape.

    Attributes:
        codes: One array codes[i] per feature.
        sizes: How many values each feature has.
    """

    codes: tuple[Ints, ...]
    sizes: tuple[int, ...]

    def concentrations(self, q: Floats, count: float) -> State:
        """Concentrations[v, k] of each feature from beliefs, `count` being the prior of each entry."""
        n_tags = q.shape[1]
        state = {}
        for at, (codes, size) in enumerate(zip(self.codes, self.sizes, strict=True)):
            columns = [sum_by(codes, size, q[:, k]) for k in range(n_tags)]
            state[f"feature{at}"] = np.stack(columns, axis=1) + count
        return state

    def log_likelihood(self, state: State) -> Floats:
        """E[log p(word | tag)] of each unit and tag, up to a constant."""
        total = 0.0
        for at, codes in enumerate(self.codes):
            concentration = state[f"feature{at}"]
            total = total + (digamma(concentration) - digamma(concentration.sum(axis=0)))[codes]
        return np.asarray(total)

    def divergence(self, state: State, count: float) -> float:
        """How far the word model is from its prior."""
        found = (state[f"feature{at}"] for at in range(len(self.codes)))
        return sum(row_divergence(each.T, np.full(each.T.shape, count)) for each in found)


NO_WORDS = Words((), ())


def words_of(labels: CrowdLabels, corpus: Corpus | None, *, shapes: bool) -> Words:
    """The words of the corpus, and whether they begin with a capital or a digit; none without tokens."""
    if corpus is None or corpus.tokens is None:
        return NO_WORDS
    if len(corpus.tokens) != labels.n_units:
        raise CorpusError(
            f"The corpus has {len(corpus.tokens):,} tokens where the labels have {labels.n_units:,} units. "
            f"Call align(labels, corpus) first."
        )
    known: dict[str, int] = {}
    codes = np.array([known.setdefault(word, len(known)) for word in corpus.tokens], dtype=np.int64)
    if not shapes:
        return Words((codes,), (len(known),))
    shape = np.array([1 if word[:1].isupper() else 2 if word[:1].isdigit() else 0 for word in known], dtype=np.int64)
    return Words((codes, shape[codes]), (len(known), 3))


def sequences_only(name: str, labels: CrowdLabels) -> Ints:
    """The offsets of the sequences, or an error that says that there are none."""
    if labels.offsets is None:
        raise OptionError(
            f"{name} is for sequences: tags of the tokens of sentences. These labels are of single items; "
            f"use dawid-skene, ibcc or another method for them."
        )
    return labels.offsets
