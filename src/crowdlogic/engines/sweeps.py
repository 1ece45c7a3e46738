"""One sweep over all labels: the E-step, and in the same pass the expected counts of the next M-step.

Beliefs need not be kept between iterations: a sweep turns parameters into expected counts, and an M-step needs only the
counts. Small inputs go through numpy, which needs no compilation; large ones through `label_kernels`.

Axes: i unit, j annotator, k class, n given label, z latent state (a class, or a subtype of one).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from crowdlogic.engines.complements import add_complements, share_by_counts, split_complements
from crowdlogic.engines.shards import Shard, Shards
from crowdlogic.numerics.arrays import Bools, Floats, Ints
from crowdlogic.numerics.logspace import LOG_ZERO, normalise
from crowdlogic.numerics.sums import sum_by

LARGE = 400_000
"""From this many (label, state) pairs on, loading the kernels costs less than a fit without them."""


@dataclass(frozen=True, eq=False)
class Sweep:
    """The sums of a sweep.

    Attributes:
        counts: counts[j, n, z], the expected number of labels n that j gave in state z (`table_sweep`); or hits[j, n],
            the expected number of right ones (`match_sweep`).
        totals: totals[z], the expected number of units in each state, among those that have labels.
        log_evidence: The log probability of all labels.
        q: q[i, z], with `keep`.
    """

    counts: Floats
    totals: Floats
    log_evidence: float
    q: Floats | None


def table_sweep(shards: Shards, log_table: Floats, log_prior: Floats, *, keep: bool = False) -> Sweep:
    """The sweep of a model in which each annotator has a confusion matrix.

    Args:
        shards: The labels.
        log_table: log_table[j, n, z], log p(annotator j says n | state z).
        log_prior: log_prior[z], or log_prior[i, z].
        keep: Whether to keep the beliefs.
    """
    n_states = log_table.shape[2]
    compiled = _is_compiled(shards, n_states)
    whole_table = log_table
    log_table = add_complements(log_table) if shards.partial else log_table
    table = np.ascontiguousarray(log_table.reshape(-1, n_states))
    factors = np.exp(table) if compiled else table
    prior = np.atleast_2d(log_prior)
    q = np.empty((shards.n_units if keep else 0, n_states))

    def work(shard: Shard) -> tuple[Floats, Floats, float]:
        own_prior = prior[shard.units] if len(prior) > 1 else prior
        own_q = q[shard.units]
        if not compiled:
            return _table_pass(shard, shards, table, own_prior, own_q)
        from crowdlogic.numerics.label_kernels import table_pass, unrolled_states

        counts, totals = np.zeros_like(table), np.zeros(n_states)
        evidence = table_pass(
            unrolled_states(n_states),
            shard.starts,
            shard.annotator,
            shard.label,
            shard.weight,
            shard.fixed,
            shards.n_classes,
            table,
            factors,
            own_prior,
            counts,
            totals,
            own_q,
        )
        return counts, totals, evidence

    found = _add_up(shards.map(work), log_table.shape, q if keep else None)
    return replace(found, counts=split_complements(found.counts, whole_table)) if shards.partial else found


def match_sweep(shards: Shards, agree: Floats, differ: Floats, log_prior: Floats, *, keep: bool = False) -> Sweep:
    """The sweep of a model in which a label is either the true class or another.

    Args:
        shards: The labels.
        agree: agree[j, n], log p(annotator j says n | the truth is n).
        differ: differ[j, n], log p(annotator j says n | the truth is another class).
        log_prior: log_prior[k], or log_prior[i, k].
        keep: Whether to keep the beliefs.
    """
    agree, differ = np.ascontiguousarray(agree), np.ascontiguousarray(differ)
    n_states = agree.shape[1]
    compiled = _is_compiled(shards, n_states)
    prior = np.atleast_2d(log_prior)
    q = np.empty((shards.n_units if keep else 0, n_states))

    def work(shard: Shard) -> tuple[Floats, Floats, float]:
        own_prior = prior[shard.units] if len(prior) > 1 else prior
        own_q = q[shard.units]
        if not compiled:
            return _match_pass(shard, agree, differ, own_prior, own_q)
        from crowdlogic.numerics.label_kernels import match_pass, unrolled_states

        hits, totals = np.zeros_like(agree), np.zeros(n_states)
        evidence = match_pass(
            unrolled_states(n_states),
            shard.starts,
            shard.annotator,
            shard.label,
            shard.weight,
            shard.fixed,
            agree,
            differ,
            own_prior,
            hits,
            totals,
            own_q,
        )
        return hits, totals, evidence

    return _add_up(shards.map(work), agree.shape, q if keep else None)


def tally(shards: Shards, q: Floats | None = None, *, log_table: Floats | None = None) -> Sweep:
    """The statistics of given beliefs q[i, z], or of the shares of the votes (fixed classes where known).

    Args:
        shards: The labels.
        q: The beliefs.
        log_table: log_table[j, n, z], by which partial labels are shared among their classes; else as whole ones were.
    """
    n_states = shards.n_classes if q is None else q.shape[1]
    compiled = _is_compiled(shards, n_states)

    def work(shard: Shard) -> tuple[Floats, Floats, float]:
        own_q = vote_shares(shard, shards.n_classes) if q is None else q[shard.units]
        totals = own_q[np.diff(shard.starts) > 0].sum(axis=0)
        if not compiled:
            return _counts(shard, shards.n_annotators, shards.n_codes, own_q), totals, 0.0
        from crowdlogic.numerics.label_kernels import count_pass, unrolled_states

        counts = np.zeros((shards.n_annotators * shards.n_classes, n_states))
        count_pass(
            unrolled_states(n_states),
            shard.starts,
            shard.annotator,
            shard.label,
            shard.weight,
            shards.n_classes,
            np.ascontiguousarray(own_q),
            counts,
        )
        return counts, totals, 0.0

    found = _add_up(shards.map(work), (shards.n_annotators, shards.n_codes, n_states), None)
    if not shards.partial:
        return found
    whole = share_by_counts(found.counts) if log_table is None else split_complements(found.counts, log_table)
    return replace(found, counts=whole)


def sum_evidence(shards: Shards, log_table: Floats) -> Floats:
    """evidence[i, z], the sum of log_table[j, n, z] over the labels of unit i; LOG_ZERO except at a known class."""
    n_states = log_table.shape[2]
    log_table = add_complements(log_table) if shards.partial else log_table
    table = np.ascontiguousarray(log_table.reshape(-1, n_states))
    total = np.zeros((shards.n_units, n_states))
    compiled = _is_compiled(shards, n_states)

    def work(shard: Shard) -> None:
        own = total[shard.units]
        if compiled:
            from crowdlogic.numerics.label_kernels import evidence_pass, unrolled_states

            evidence_pass(
                unrolled_states(n_states),
                shard.starts,
                shard.annotator,
                shard.label,
                shard.weight,
                shards.n_classes,
                table,
                own,
            )
        else:
            own += _sum_by_unit(shard, _label_terms(shard, shards.n_codes, table))
        known = _known(shard)
        if known.any():
            own[known] = np.where(np.arange(n_states) == shard.fixed[known, None], own[known], LOG_ZERO)

    shards.map(work)
    return total


def sum_match_evidence(shards: Shards, agree: Floats, differ: Floats) -> Floats:
    """evidence[i, k] in a model of matches, up to a constant per unit.

    Args:
        shards: The labels.
        agree: agree[j, n], log p(annotator j says n | the truth is n).
        differ: differ[j, n], log p(annotator j says n | the truth is another class).
    """
    total = np.zeros((shards.n_units, shards.n_classes))

    def work(shard: Shard) -> None:
        total[shard.units] = _match_evidence(shard, agree - differ)
        known = _known(shard)
        if known.any():
            own = total[shard.units]
            own[known] = np.where(np.arange(shards.n_classes) == shard.fixed[known, None], own[known], LOG_ZERO)

    shards.map(work)
    return total


def _match_evidence(shard: Shard, extra: Floats) -> Floats:
    """evidence[i, k], the sum of extra[j, n] over the labels n = k of unit i."""
    n_classes, n_units = extra.shape[1], len(shard.starts) - 1
    cell = np.repeat(np.arange(n_units), np.diff(shard.starts)) * n_classes + shard.label
    each = extra[shard.annotator, shard.label]
    if len(shard.weight):
        each = each * shard.weight
    return sum_by(cell, n_units * n_classes, each).reshape(-1, n_classes)


def tally_hits(shards: Shards, q: Floats | None = None) -> Sweep:
    """hits[j, n] of given beliefs q[i, k], or of the shares of the votes: what `match_sweep` counts."""

    def work(shard: Shard) -> tuple[Floats, Floats, float]:
        own_q = vote_shares(shard, shards.n_classes) if q is None else q[shard.units]
        unit = np.repeat(np.arange(len(shard.starts) - 1, dtype=np.int32), np.diff(shard.starts))
        hit = own_q[unit, shard.label]
        if len(shard.weight):
            hit *= shard.weight
        cell = shard.annotator * np.int64(shards.n_classes) + shard.label
        hits = sum_by(cell, shards.n_annotators * shards.n_classes, hit)
        return hits, own_q[np.diff(shard.starts) > 0].sum(axis=0), 0.0

    return _add_up(shards.map(work), (shards.n_annotators, shards.n_classes), None)


def vote_shares(shard: Shard, n_classes: int) -> Floats:
    """q[i, k], the share of the votes for each class, uniform without votes; certain where the class is known."""
    shares = _votes(shard, n_classes)
    total = shares.sum(axis=1, keepdims=True)
    shares[total[:, 0] <= 0] = 1.0
    shares /= np.where(total > 0, total, float(max(n_classes, 1)))
    known = _known(shard)
    if known.any():
        shares[known] = np.eye(n_classes)[shard.fixed[known]]
    return shares


def _votes(shard: Shard, n_classes: int) -> Floats:
    """votes[i, k] by weight; a partial label is a vote that the other classes share evenly."""
    n_codes = 2 * n_classes if len(shard.label) and shard.label.max() >= n_classes else n_classes
    cell = np.repeat(np.arange(len(shard.starts) - 1), np.diff(shard.starts))  # [row], the flat index i * codes + n
    cell *= n_codes
    cell += shard.label
    weight = shard.weight if len(shard.weight) else None
    votes = sum_by(cell, (len(shard.starts) - 1) * n_codes, weight).reshape(-1, n_codes)
    if n_codes == n_classes:
        return votes
    refused = votes[:, n_classes:]
    return np.asarray(votes[:, :n_classes] + (refused.sum(axis=1, keepdims=True) - refused) / max(n_classes - 1, 1))


def _is_compiled(shards: Shards, n_states: int) -> bool:
    if shards.partial:
        return False  # the kernels take the number of codes for that of the classes
    return shards.n_labels * n_states >= LARGE if shards.compiled is None else shards.compiled


def _add_up(found: list[tuple[Floats, Floats, float]], shape: tuple[int, ...], q: Floats | None) -> Sweep:
    counts, totals, evidence = found[0]
    for more, more_totals, more_evidence in found[1:]:
        counts, totals, evidence = counts + more, totals + more_totals, evidence + more_evidence
    return Sweep(counts.reshape(shape), totals, float(evidence), q)


def _known(shard: Shard) -> Bools:
    return shard.fixed >= 0 if len(shard.fixed) else np.zeros(len(shard.starts) - 1, dtype=bool)


def _table_pass(
    shard: Shard, shards: Shards, table: Floats, log_prior: Floats, q: Floats
) -> tuple[Floats, Floats, float]:
    """`label_kernels.table_pass` in numpy."""
    n_states, n_labels = table.shape[1], shards.n_codes
    terms = _label_terms(shard, n_labels, table)
    # The class of each state: states of one class are neighbours
    state_class = np.arange(n_states) // max(n_states // max(shards.n_classes, 1), 1)
    beliefs, log_sum = _posterior(shard, _sum_by_unit(shard, terms) + log_prior, state_class)
    counts = _counts(shard, len(table) // max(n_labels, 1), n_labels, beliefs)
    return _statistics(shard, beliefs, log_sum, counts, q)


def _label_terms(shard: Shard, n_labels: int, table: Floats) -> Floats:
    """terms[row, z], the log probability of each label in each state, times its weight."""
    terms = table[shard.annotator * np.int64(n_labels) + shard.label]
    if len(shard.weight):
        terms = np.where(shard.weight[:, None] > 0, terms, 0.0) * shard.weight[:, None]
    return np.asarray(terms)


def _match_pass(
    shard: Shard, agree: Floats, differ: Floats, log_prior: Floats, q: Floats
) -> tuple[Floats, Floats, float]:
    """`label_kernels.match_pass` in numpy."""
    n_classes = agree.shape[1]
    unit = np.repeat(np.arange(len(shard.starts) - 1), np.diff(shard.starts))
    weight = shard.weight if len(shard.weight) else np.ones(len(shard.label))
    # Every class starts from log p(label | another class); the label's own class gets the difference
    wrong = weight * differ[shard.annotator, shard.label]
    extra = weight * agree[shard.annotator, shard.label] - wrong
    cell = unit * n_classes + shard.label
    evidence = sum_by(cell, (len(shard.starts) - 1) * n_classes, extra).reshape(-1, n_classes)
    beliefs, log_sum = _posterior(shard, evidence + log_prior, np.arange(n_classes))
    log_sum = log_sum + sum_by(unit, len(shard.starts) - 1, wrong)
    hit = weight * beliefs[unit, shard.label]
    hits = sum_by(shard.annotator * np.int64(n_classes) + shard.label, agree.size, hit)
    return _statistics(shard, beliefs, log_sum, hits.reshape(agree.shape), q)


def _posterior(shard: Shard, log_q: Floats, state_class: Ints) -> tuple[Floats, Floats]:
    known = _known(shard)
    if known.any():
        log_q[known] = np.where(state_class == shard.fixed[known, None], log_q[known], LOG_ZERO)
    return normalise(log_q)


def _statistics(
    shard: Shard, beliefs: Floats, log_sum: Floats, counts: Floats, q: Floats
) -> tuple[Floats, Floats, float]:
    if len(q):
        q[:] = beliefs
    labelled = np.diff(shard.starts) > 0
    return counts, beliefs[labelled].sum(axis=0), float(log_sum[labelled].sum())


def _sum_by_unit(shard: Shard, values: Floats) -> Floats:
    """The sum of values[row, z] over the rows of each unit."""
    total = np.zeros((len(shard.starts) - 1, values.shape[1]))
    labelled = np.flatnonzero(np.diff(shard.starts))
    if len(labelled):
        total[labelled] = np.add.reduceat(values, shard.starts[labelled], axis=0)
    return total


def _counts(shard: Shard, n_annotators: int, n_labels: int, q: Floats) -> Floats:
    """counts[j * n_labels + n, z]."""
    cell = shard.annotator * np.int64(n_labels) + shard.label
    rows = q[np.repeat(np.arange(len(shard.starts) - 1), np.diff(shard.starts))]
    if len(shard.weight):
        rows *= shard.weight[:, None]
    size = n_annotators * n_labels
    columns = [sum_by(cell, size, rows[:, z]) for z in range(q.shape[1])]
    return np.stack(columns, axis=1) if columns else np.zeros((size, 0))
