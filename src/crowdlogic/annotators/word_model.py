"""The words of sentences as evidence for their tags: a categorical distribution per tag with a Dirichlet posterior.

Axes: i unit, k tag, v word.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdlogic.annotators.protocol import Arrays
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.wording import pluralise
from crowdlogic.engines.chain_step import FEATURE, count_feature
from crowdlogic.errors import CorpusError
from crowdlogic.numerics import dirichlet
from crowdlogic.numerics.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Words:
    """Codes of the features of each unit: the word, and its shape.

    Attributes:
        codes: One array codes[i] per feature.
        sizes: Number of values of each feature.
    """

    codes: tuple[Ints, ...]
    sizes: tuple[int, ...]

    def features(self) -> dict[str, Ints]:
        """codes[i] of each feature by name."""
        return {f"{FEATURE}{at}": codes for at, codes in enumerate(self.codes)}

    def concentrations(self, q: Floats, count: float) -> Arrays:
        """Concentrations[v, k] of each feature from beliefs, `count` being the prior of each entry."""
        sizes = zip(self.features().items(), self.sizes, strict=True)
        return {name: count_feature(codes, size, q) + count for (name, codes), size in sizes}

    def log_likelihood(self, state: Arrays) -> Floats:
        """E[log p(word | tag)] of each unit and tag, up to a constant."""
        total: Floats | float = 0.0
        for name, codes in self.features().items():
            total = total + dirichlet.expected_log(state[name], axis=0)[codes]
        return np.asarray(total)

    def divergence(self, state: Arrays, count: float) -> float:
        """How far the word model is from its prior."""
        return sum(dirichlet.divergence(state[name], np.array(count), axis=0) for name in self.features())


NO_WORDS = Words((), ())


def code_words(labels: CrowdLabels, corpus: Corpus | None, *, shapes: bool) -> Words:
    """The words of the corpus, and whether they begin with a capital or a digit; none without tokens."""
    if corpus is None or corpus.tokens is None:
        return NO_WORDS
    if len(corpus.tokens) != labels.n_units:
        raise CorpusError(
            f"The corpus has {pluralise(len(corpus.tokens), 'token')} where the labels have "
            f"{pluralise(labels.n_units, 'unit')}. "
            f"Call align(labels, corpus) first."
        )
    known: dict[str, int] = {}
    codes = np.array([known.setdefault(word, len(known)) for word in corpus.tokens], dtype=np.int64)
    if not shapes:
        return Words((codes,), (len(known),))
    shape = np.array([1 if word[:1].isupper() else 2 if word[:1].isdigit() else 0 for word in known], dtype=np.int64)
    return Words((codes, shape[codes]), (len(known), 3))
