"""Tags as a Markov chain: allowed transitions and their probabilities, with a Dirichlet posterior.

Axes: i unit, k tag (and k' the next tag), s sequence.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdlogic.annotators.label_sums import FEATURE, count_feature
from crowdlogic.annotators.protocol import Arrays
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import Classes, Names
from crowdlogic.data.tagging import BEGIN, END, INSIDE, SINGLE, is_span_tag_set, parse_tags
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import CorpusError, LabelError
from crowdlogic.numerics.arrays import Bools, Floats, Ints
from crowdlogic.numerics.chain import ChainMarginals, best_path, marginals
from crowdlogic.numerics.logspace import dirichlet_divergence, dirichlet_mean, expected_log, safe_log


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

    def prior(self) -> Arrays:
        """Return prior concentrations; 0 for forbidden transitions."""
        return {
            "transitions": np.where(self.grammar.allowed, self.count, 0.0),
            "start": np.where(self.grammar.may_start, self.count, 0.0),
        }

    def posterior(self, transitions: Floats, start: Floats) -> Arrays:
        """Return concentrations from expected transitions and starts."""
        prior = self.prior()
        return {
            "transitions": np.where(self.grammar.allowed, transitions + prior["transitions"], 0.0),
            "start": np.where(self.grammar.may_start, start + prior["start"], 0.0),
        }

    def from_beliefs(self, q: Floats) -> Arrays:
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


# Words as evidence for tags: a categorical distribution per tag with a Dirichlet posterior.
#
# Axes: i unit, k tag, v word.


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

    def concentrations(self, q: Floats, count: float) -> Arrays:
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
