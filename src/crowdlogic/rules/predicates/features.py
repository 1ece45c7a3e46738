"""Predicates over numeric features: thresholds on a named feature, and nearest neighbours.

Axes: i unit, d feature.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import sparse

from crowdlogic.data.corpus import Corpus
from crowdlogic.errors import RuleError, did_you_mean, name_list
from crowdlogic.numerics.arrays import Floats
from crowdlogic.rules.predicates.definition import Facts, Kind, Role, documented

BLOCK = 20_000_000
"""Maximum number of distances in memory at a time."""


def above_facts(corpus: Corpus, _: int, name: str, threshold: str) -> Facts:
    """Return the units whose feature is at least a threshold."""
    return Facts((np.flatnonzero(_feature(corpus, name) >= _number(threshold)),))


def below_facts(corpus: Corpus, _: int, name: str, threshold: str) -> Facts:
    """Return the units whose feature is less than a threshold."""
    return Facts((np.flatnonzero(_feature(corpus, name) < _number(threshold)),))


def nearest_facts(corpus: Corpus, max_rows: int, count: str) -> Facts:
    """Return each unit with its nearest neighbours, by Euclidean distance between standardised features."""
    n = corpus.n_units
    if not count.isdecimal() or not 0 < int(count) < 10**6:
        raise RuleError(f"{count!r} is not a number of neighbours. Write for example '5'.")
    k = min(int(count), n - 1)
    if n * k > max_rows:
        raise RuleError(
            f"Nearest has {n * k:,} pairs of items, and the limit is {max_rows:,}. Use fewer neighbours, or raise the "
            f"limit (max_rows)."
        )
    x = _dense(corpus)
    spread = x.std(axis=0)
    x = (x - x.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    squares = (x**2).sum(axis=1)
    one = np.repeat(np.arange(n), max(k, 0))
    other = np.empty((n, max(k, 0)), dtype=np.int64)
    step = max(1, BLOCK // max(n, 1))
    for begin in range(0, n if k > 0 else 0, step):
        rows = np.arange(begin, min(begin + step, n))
        distance = squares[None, :] - 2 * x[rows] @ x.T  # up to a constant of each row
        distance[np.arange(len(rows)), rows] = np.inf  # a unit is not its own neighbour
        other[rows] = np.argpartition(distance, k - 1, axis=1)[:, :k]
    other.sort(axis=1)
    return Facts((one, other.ravel()))


def _dense(corpus: Corpus) -> Floats:
    if corpus.features is None:
        raise RuleError("these items have no features. Pass some with --features, or Corpus(features=...).")
    return np.asarray(sparse.csr_array(corpus.features).toarray(), dtype=np.float64)


def _feature(corpus: Corpus, name: str) -> Floats:
    """Return the values of the named feature. Features without names are called 0, 1, 2, ..."""
    x = _dense(corpus)
    names = corpus.feature_names or tuple(map(str, range(x.shape[1])))
    if name not in names:
        hint = did_you_mean(name, names)
        raise RuleError(f"there is no feature {name!r}.{hint} The features are {name_list(names, most=8)}.")
    return np.asarray(x[:, names.index(name)])


def _number(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise RuleError(f"{text!r} is not a number. Write for example '0.5'.")
    return found


ABOVE = documented(
    "Above(X, 'age', '65')",
    "the feature `age` of X is at least 65",
    (Kind.unit, Kind.word, Kind.word),
    Role.features,
    above_facts,
)

BELOW = documented(
    "Below(X, 'age', '65')",
    "the feature `age` of X is less than 65",
    (Kind.unit, Kind.word, Kind.word),
    Role.features,
    below_facts,
)

NEAREST = documented(
    "Nearest(X, Y, '5')",
    "Y is one of the 5 nearest neighbours of X among the items, by their standardised features",
    (Kind.unit, Kind.unit, Kind.word),
    Role.features,
    nearest_facts,
)
