"""Random potentials of linear chains, and the enumeration of all tag sequences."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np


def random_chain(
    seed: int,
    *,
    lengths: tuple[int, ...] = (3, 1, 0, 5),
    tags: int = 3,
    tables: int = 1,
    scale: float = 1.0,
    forbidden: float = 0.0,
) -> dict[str, Any]:
    """Random potentials, some of them forbidden: the arguments of `marginals` and `best_path`."""
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    unary = rng.normal(size=(offsets[-1], tags)) * scale
    pairwise = rng.normal(size=(tables, tags, tags)) * scale
    pairwise[rng.random(pairwise.shape) < forbidden] = -np.inf
    unary[rng.random(unary.shape) < forbidden / 2] = -np.inf
    return {
        "unary": unary,
        "pairwise": pairwise if tables > 1 else pairwise[0],
        "offsets": offsets,
        "start": rng.normal(size=tags) * scale,
        "table": rng.integers(tables, size=offsets[-1]) if tables > 1 else None,
    }


def enumerate_taggings(problem: dict[str, Any], s: int) -> list[tuple[tuple[int, ...], float]]:
    """Every tagging of sequence s and its score."""
    begin, end = problem["offsets"][s], problem["offsets"][s + 1]
    tables = problem["pairwise"] if problem["pairwise"].ndim == 3 else problem["pairwise"][None]
    table = np.zeros(end, dtype=int) if problem["table"] is None else problem["table"]
    found = []
    for tags in itertools.product(range(problem["unary"].shape[1]), repeat=int(end - begin)):
        score = sum(problem["unary"][begin + t, k] for t, k in enumerate(tags))
        score += sum(tables[table[begin + t], tags[t - 1], tags[t]] for t in range(1, len(tags)))
        score += problem["start"][tags[0]] if tags and problem["start"] is not None else 0.0
        found.append((tags, float(score)))
    return found


def enumerate_marginals(problem: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q[i, k], expected transitions and log partition by summing over all taggings."""
    q = np.zeros_like(problem["unary"])
    counts = np.zeros_like(problem["pairwise"] if problem["pairwise"].ndim == 3 else problem["pairwise"][None])
    table = np.zeros(len(q), dtype=int) if problem["table"] is None else problem["table"]
    log_partition = np.zeros(len(problem["offsets"]) - 1)
    for s, begin in enumerate(problem["offsets"][:-1]):
        found = enumerate_taggings(problem, s)
        log_partition[s] = np.logaddexp.reduce([score for _, score in found])
        for tags, score in found:
            weight = np.exp(score - log_partition[s])
            for t, k in enumerate(tags):
                q[begin + t, k] += weight
                if t:
                    counts[table[begin + t], tags[t - 1], k] += weight
    return q, counts if problem["pairwise"].ndim == 3 else counts[0], log_partition
