"""Projection on any graph of pairs of units: exact on forests, damped belief propagation on graphs with loops.

Belief propagation as in Yedidia, Freeman, Weiss, "Understanding belief propagation and its generalizations" [YFW03];
on a tree, one sweep to the root and one back give exact beliefs. A sweep processes all units of a level together.

Axes: i unit, k class, e edge, n distinct table, d direction (0: first to second, 1: second to first).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

from crowdlogic.errors import OptionError
from crowdlogic.numerics.arrays import Bools, Floats, Ints
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.numerics.logspace import LOG_ZERO, log_sum_exp, normalise, safe_log

FEW_TABLES = 64
"""Maximum number of distinct tables that are applied one at a time, as matrix products."""

CHUNK = 4_000_000
"""Maximum number of cells of gathered tables in memory at a time."""

TINY = 1e-290
"""Minimum product of exponentials; smaller ones have lost precision and are recomputed in log space."""


@dataclass(frozen=True, kw_only=True)
class Propagation:
    """Options for belief propagation on graphs with loops.

    Attributes:
        damping: Fraction of the old message that is kept, to avoid oscillation.
        convergence: Stopping criterion; the tolerance is the largest change of a message (a distribution).
    """

    damping: float = 0.5
    convergence: Convergence = Convergence(max_iterations=500, tolerance=1e-6)

    def __post_init__(self) -> None:
        if not 0 <= self.damping < 1:
            raise OptionError(f"damping must be at least 0 and below 1; got {self.damping}.")


@dataclass(frozen=True, eq=False, kw_only=True)
class Graph:
    """Log potentials over units and pairs of units.

    Attributes:
        unary: unary[i, k].
        first: first[e].
        second: second[e].
        tables: tables[n, k, k'], k of the first unit.
        which: which[e].
    """

    unary: Floats
    first: Ints
    second: Ints
    tables: Floats
    which: Ints

    def part(self, edges: Bools) -> Graph:
        """Return a graph with all units and some of the edges."""
        return replace(self, first=self.first[edges], second=self.second[edges], which=self.which[edges])


@dataclass(frozen=True, eq=False)
class Inferred:
    """Beliefs over a graph.

    Attributes:
        q: q[i, k].
        impossible: impossible[i], whether every class of a unit is forbidden.
        loops: Whether the graph has loops, so that q is approximate.
        residual: The last change of any message; 0 where exact.
        converged: Whether belief propagation converged.
        iterations: Number of rounds; 0 where exact.
    """

    q: Floats
    impossible: Bools
    loops: bool = False
    residual: float = 0.0
    converged: bool = True
    iterations: int = 0


def infer(graph: Graph, propagation: Propagation) -> Inferred:
    """Return beliefs over a graph: exact in components without loops, by belief propagation in the others.

    Args:
        graph: The potentials; each pair of units at most once.
        propagation: Options for components with loops.
    """
    in_tree = tree_edges(graph)
    log_q = graph.unary + _into_units(graph.part(in_tree), *sweep(graph.part(in_tree)))
    if in_tree.all():
        q, log_sum = normalise(log_q)
        return Inferred(q, np.asarray(log_sum == LOG_ZERO))
    messages, residual, iterations = propagate(graph.part(~in_tree), propagation)
    q, log_sum = normalise(log_q + _into_units(graph.part(~in_tree), *messages))
    return Inferred(
        q,
        np.asarray(log_sum == LOG_ZERO),
        loops=True,
        residual=residual,
        converged=propagation.convergence.is_reached(residual),
        iterations=iterations,
    )


def tree_edges(graph: Graph) -> Bools:
    """Return whether each edge is in a component without loops."""
    n_units = len(graph.unary)
    count, component = connected_components(_adjacency(graph), directed=False)
    units = np.bincount(component, minlength=count)
    edges = np.bincount(component[graph.first], minlength=count)
    return np.asarray((edges == units - 1)[component[graph.first]]) if n_units else np.ones(0, dtype=bool)


def _adjacency(graph: Graph) -> coo_array:
    n_units = len(graph.unary)
    return coo_array((np.ones(len(graph.first)), (graph.first, graph.second)), shape=(n_units, n_units))


def sweep(graph: Graph) -> tuple[Floats, Floats]:
    """Return the messages of a forest in both directions: to the second unit of each edge, and to the first."""
    size = graph.unary.shape[1]
    onward, back = np.zeros((len(graph.first), size)), np.zeros((len(graph.first), size))
    total = _Totals.of(graph.unary)
    levels = list(_levels(graph))
    for edges, upward in reversed(levels):  # from the leaves to the roots
        child, parent = _child_and_parent(graph, edges, upward)
        message = _send(graph, edges, total.without(child, None), upward)
        _store_messages((onward, back), edges, upward, message)
        total.add(parent, message)
    for edges, upward in levels:  # and back
        child, parent = _child_and_parent(graph, edges, upward)
        received = np.where(upward[:, None], onward[edges], back[edges])
        message = _send(graph, edges, total.without(parent, received), ~upward)
        _store_messages((onward, back), edges, ~upward, message)
        total.add(child, message)
    return onward, back


def _child_and_parent(graph: Graph, edges: Ints, upward: Bools) -> tuple[Ints, Ints]:
    """Return the child and the parent of each edge; upward[e] is true if the first unit is the child."""
    first, second = graph.first[edges], graph.second[edges]
    return np.where(upward, first, second), np.where(upward, second, first)


def _store_messages(messages: tuple[Floats, Floats], edges: Ints, forward: Bools, message: Floats) -> None:
    """Store the messages of some edges in place: those that go forward, to the second unit, and the others."""
    onward, back = messages
    onward[edges[forward]] = message[forward]
    back[edges[~forward]] = message[~forward]


def _levels(graph: Graph) -> Iterator[tuple[Ints, Bools]]:
    """Yield edges by the depth of their child, roots' first: the edges, and whether the first unit is the child."""
    depth = _depths(graph)  # of each unit
    child_is_first = depth[graph.first] > depth[graph.second]
    level = np.maximum(depth[graph.first], depth[graph.second])
    order = np.argsort(level, kind="stable")
    bounds = np.flatnonzero(np.diff(level[order])) + 1
    for edges in np.split(order, bounds) if len(order) else []:
        yield edges, child_is_first[edges]


def _depths(graph: Graph) -> Ints:
    """Return the depth of each unit below the root of its component, by breadth-first search from a super-root."""
    n_units = len(graph.unary)
    _, component = connected_components(_adjacency(graph), directed=False)
    _, roots = np.unique(component, return_index=True)
    ends = np.concatenate([graph.second, roots])
    starts = np.concatenate([graph.first, np.full(len(roots), n_units)])
    whole = coo_array((np.ones(len(ends)), (starts, ends)), shape=(n_units + 1, n_units + 1)).tocsr()
    _, parent = breadth_first_order(whole, n_units, directed=False)
    above = np.where(parent < 0, n_units, parent)
    depth = np.ones(n_units + 1, dtype=np.int64)
    depth[n_units] = 0
    while (above != n_units).any():  # pointer doubling: the depths of all units in log(depth) rounds
        depth = depth + depth[above]
        above = above[above]
    return depth[:n_units]


def propagate(graph: Graph, propagation: Propagation) -> tuple[tuple[Floats, Floats], float, int]:
    """Return messages in both directions after damped parallel updates, the last change, and the number of rounds."""
    convergence, damping = propagation.convergence, propagation.damping
    size = graph.unary.shape[1]
    edges = np.arange(len(graph.first))
    forward = np.ones(len(edges), dtype=bool)
    messages = (np.full((len(edges), size), -np.log(size)), np.full((len(edges), size), -np.log(size)))
    residual, rounds = np.inf, 0
    while not convergence.is_reached(residual) and rounds < convergence.max_iterations:
        total = _Totals.of(graph.unary)
        total.add(graph.second, messages[0])
        total.add(graph.first, messages[1])
        fresh = (
            _send(graph, edges, total.without(graph.first, messages[1]), forward),
            _send(graph, edges, total.without(graph.second, messages[0]), ~forward),
        )
        updated: list[Floats] = []
        residual = 0.0
        for old, new in zip(messages, fresh, strict=True):
            # The mean of old and new messages; impossible values remain impossible
            mass = log_sum_exp(new, axis=1)[:, None]
            normalised = new - np.where(mass == LOG_ZERO, 0.0, mass)
            kept = np.where(new == LOG_ZERO, LOG_ZERO, old + safe_log(np.asarray(damping)))
            mean = np.logaddexp(kept, normalised + np.log1p(-damping))
            # The largest change of a message; infinite while zeros still spread
            spreads = ((mean == LOG_ZERO) & (old > LOG_ZERO)).any()
            change = np.inf if spreads else float(np.abs(np.exp(mean) - np.exp(old)).max(initial=0.0))
            updated.append(mean)
            residual = max(residual, change)
        messages = (updated[0], updated[1])
        rounds += 1
    return messages, residual, rounds


def _into_units(graph: Graph, onward: Floats, back: Floats) -> Floats:
    """Return the sum of the messages into each unit."""
    total = _Totals.of(np.zeros_like(graph.unary))
    total.add(graph.second, onward)
    total.add(graph.first, back)
    return total.sums()


@dataclass(frozen=True, eq=False)
class _Totals:
    """Sums of log potentials from which a part can be subtracted again, even if it is minus infinity."""

    finite: Floats
    zeros: Ints

    @staticmethod
    def of(log_potential: Floats) -> _Totals:
        """Return the sum of one part."""
        zero = log_potential == LOG_ZERO
        return _Totals(np.where(zero, 0.0, log_potential), zero.astype(np.int64))

    def add(self, units: Ints, part: Floats) -> None:
        """Add a part to some units; a unit may occur more than once."""
        zero = part == LOG_ZERO
        for k in range(part.shape[1]):
            size = len(self.finite)
            self.finite[:, k] += np.bincount(units, weights=np.where(zero[:, k], 0.0, part[:, k]), minlength=size)
            if zero[:, k].any():
                self.zeros[:, k] += np.bincount(units[zero[:, k]], minlength=size)

    def without(self, units: Ints, part: Floats | None) -> Floats:
        """Return the sums of some units, without a part that was added before."""
        finite, zeros = self.finite[units], self.zeros[units]
        if part is not None:
            zero = part == LOG_ZERO
            finite, zeros = finite - np.where(zero, 0.0, part), zeros - zero
        return np.where(zeros > 0, LOG_ZERO, finite)

    def sums(self) -> Floats:
        """Return all sums."""
        return np.where(self.zeros > 0, LOG_ZERO, self.finite)


def _send(graph: Graph, edges: Ints, sent: Floats, forward: Bools) -> Floats:
    """Return the messages through the tables of some edges: log sum over k of exp(sent[k] + table[k, k'])."""
    peak = sent.max(axis=1, keepdims=True)
    peak = np.where(np.isfinite(peak), peak, 0.0)
    weight = np.exp(sent - peak)
    out = np.empty_like(weight)
    for towards in (True, False):
        rows = np.flatnonzero(forward == towards)
        tables = np.exp(graph.tables if towards else graph.tables.transpose(0, 2, 1))
        out[rows] = _products(weight[rows], tables, graph.which[edges[rows]])
    message = safe_log(out) + peak
    # Whether some product of exponentials could be too small for a float, apart from exact zeros
    lowest = [np.min(part, where=part > LOG_ZERO, initial=0.0) for part in (graph.tables, sent - peak)]
    if sum(lowest) < np.log(TINY):
        lost = np.flatnonzero((out < TINY).any(axis=1))
        step = max(1, CHUNK // graph.tables[0].size)
        for rows in (lost[start : start + step] for start in range(0, len(lost), step)):
            tables = graph.tables[graph.which[edges[rows]]]
            tables = np.where(forward[rows, None, None], tables, tables.transpose(0, 2, 1))
            message[rows] = log_sum_exp(sent[rows][:, :, None] + tables, axis=1)
    return message


def _products(weight: Floats, tables: Floats, which: Ints) -> Floats:
    """Return weight[e] @ tables[which[e]]."""
    if len(tables) == 1:
        return np.asarray(weight @ tables[0])
    out = np.empty_like(weight)
    if len(tables) <= FEW_TABLES:
        for n in range(len(tables)):
            rows = which == n
            out[rows] = weight[rows] @ tables[n]
        return out
    step = max(1, CHUNK // tables[0].size)
    for start in range(0, len(weight), step):
        part = slice(start, start + step)
        out[part] = np.einsum("ek,ekl->el", weight[part], tables[which[part]])
    return out
