"""The steps that most methods share: E-steps with the counts of the next M-step, and the statistics of given beliefs.

Small inputs go through numpy, which needs no compilation; large ones through `label_kernels`. Each step is plain data,
so that it can be sent to where a shard is (`engines/engine.py`).

Axes: i unit, j annotator, k class, n given label, z latent state (a class, or a subtype of one).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdlogic.engines.engine import Arrays
from crowdlogic.engines.shard import Shard
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.numerics.logspace import LOG_ZERO, normalise
from crowdlogic.numerics.sums import sum_by

COUNTS, TOTALS, EVIDENCE, Q = "counts", "totals", "log_evidence", "q"
"""What E-steps count by name, and the beliefs in the state of a shard."""


@dataclass(frozen=True, kw_only=True)
class TableStep:
    """The E-step of a model in which each annotator has a table, and the expected counts of the M-step.

    Parameters: table[j * n_codes + n, z], log p(annotator j says n | state z); with `compiled` factors, exp(table);
    log_prior[z]. State: log_prior[i, z] if there is one for each unit.

    Attributes:
        n_classes: Number of classes; states of one class are neighbours.
        n_codes: Number of codes that labels have.
        compiled: Whether to use the compiled kernel.
        keep: Whether the new state holds the beliefs q[i, z].
        by_class: Whether these are q[i, k], the states of a class together.
    """

    n_classes: int
    n_codes: int
    compiled: bool = False
    keep: bool = False
    by_class: bool = False

    def __call__(self, shard: Shard, parameters: Arrays, state: Arrays) -> tuple[Arrays, Arrays]:
        """counts[j * n_codes + n, z], totals[z] and the log evidence."""
        q = np.empty((shard.n_units if self.keep else 0, parameters["table"].shape[1]))
        found = (self._kernel if self.compiled else self._arrays)(shard, parameters, _log_prior(parameters, state), q)
        if self.by_class:
            per_class = q.shape[1] // max(self.n_classes, 1)
            q = q.reshape(len(q), self.n_classes, per_class).sum(axis=2)
        return found, {Q: q} if self.keep else {}

    def _kernel(self, shard: Shard, parameters: Arrays, log_prior: Floats, q: Floats) -> Arrays:
        from crowdlogic.numerics.label_kernels import table_pass, unrolled_states

        table = parameters["table"]
        counts, totals = np.zeros_like(table), np.zeros(table.shape[1])
        if shard.is_plain and len(log_prior) == 1 and unrolled_states(table.shape[1]):
            from crowdlogic.numerics.plain_kernels import plain_pass

            zeros, cells, factors = (0.0,) * table.shape[1], shard.narrow_cells(self.n_codes), parameters["factors"]
            evidence = plain_pass(zeros, shard.starts, cells, table, factors, log_prior[0], counts, totals, q)
            return {COUNTS: counts, TOTALS: totals, EVIDENCE: np.array(evidence)}
        shard = shard.narrow()
        evidence = table_pass(
            unrolled_states(table.shape[1]),
            shard.starts,
            shard.annotator,
            shard.label,
            shard.weight,
            shard.fixed,
            shard.times,
            self.n_codes,
            table,
            parameters["factors"],
            log_prior,
            counts,
            totals,
            q,
        )
        return {COUNTS: counts, TOTALS: totals, EVIDENCE: np.array(evidence)}

    def _arrays(self, shard: Shard, parameters: Arrays, log_prior: Floats, q: Floats) -> Arrays:
        """The kernel in numpy."""
        table = parameters["table"]
        # The class of each state: states of one class are neighbours
        state_class = np.arange(table.shape[1]) // max(table.shape[1] // max(self.n_classes, 1), 1)
        log_q = sum_by_unit(shard, label_terms(shard, self.n_codes, table)) + log_prior
        beliefs, log_sum = _posterior(shard, log_q, state_class)
        if self.keep:
            q[:] = beliefs
        return _statistics(shard, beliefs, log_sum, count_labels(shard, len(table), self.n_codes, beliefs))


@dataclass(frozen=True, kw_only=True)
class MatchStep:
    """The E-step of a model in which a label is either the true class or another, and the expected right ones.

    Parameters: agree[j, n], log p(annotator j says n | the truth is n); differ[j, n], log p(j says n | another class);
    log_prior[k]. State: log_prior[i, k] if there is one for each unit.

    Attributes:
        compiled: Whether to use the compiled kernel.
        keep: Whether the new state holds the beliefs q[i, k].
    """

    compiled: bool = False
    keep: bool = False

    def __call__(self, shard: Shard, parameters: Arrays, state: Arrays) -> tuple[Arrays, Arrays]:
        """hits[j, n], totals[k] and the log evidence."""
        q = np.empty((shard.n_units if self.keep else 0, parameters["agree"].shape[1]))
        found = (self._kernel if self.compiled else self._arrays)(shard, parameters, _log_prior(parameters, state), q)
        return found, {Q: q} if self.keep else {}

    def _kernel(self, shard: Shard, parameters: Arrays, log_prior: Floats, q: Floats) -> Arrays:
        from crowdlogic.numerics.label_kernels import match_pass, unrolled_states

        shard, n_states = shard.narrow(), parameters["agree"].shape[1]
        agree, differ = (np.ascontiguousarray(parameters[name]) for name in ("agree", "differ"))
        hits, totals = np.zeros_like(agree), np.zeros(n_states)
        evidence = match_pass(
            unrolled_states(n_states),
            shard.starts,
            shard.annotator,
            shard.label,
            shard.weight,
            shard.fixed,
            shard.times,
            agree,
            differ,
            log_prior,
            hits,
            totals,
            q,
        )
        return {COUNTS: hits, TOTALS: totals, EVIDENCE: np.array(evidence)}

    def _arrays(self, shard: Shard, parameters: Arrays, log_prior: Floats, q: Floats) -> Arrays:
        """The kernel in numpy."""
        agree, differ, unit = parameters["agree"], parameters["differ"], shard.unit
        n_classes = agree.shape[1]
        weight = shard.weight if len(shard.weight) else np.ones(len(shard.label))
        # Every class starts from log p(label | another class); the label's own class gets the difference
        wrong = weight * differ[shard.annotator, shard.label]
        extra = weight * agree[shard.annotator, shard.label] - wrong
        evidence = sum_by(unit * n_classes + shard.label, shard.n_units * n_classes, extra).reshape(-1, n_classes)
        beliefs, log_sum = _posterior(shard, evidence + log_prior, np.arange(n_classes))
        log_sum = log_sum + sum_by(unit, shard.n_units, wrong)
        if self.keep:
            q[:] = beliefs
        return _statistics(shard, beliefs, log_sum, count_hits(shard, agree.shape, beliefs))


@dataclass(frozen=True, kw_only=True)
class TallyStep:
    """The counts of given beliefs, or of the shares of the votes. State: q[i, z], if it is not the votes.

    Attributes:
        n_annotators: Number of annotators.
        n_classes: Number of classes.
        n_codes: Number of codes that labels have.
        compiled: Whether to use the compiled kernel.
    """

    n_annotators: int
    n_classes: int
    n_codes: int
    compiled: bool = False

    def __call__(self, shard: Shard, parameters: Arrays, state: Arrays) -> tuple[Arrays, Arrays]:  # noqa: ARG002
        """counts[j * n_codes + n, z] and totals[z]."""
        q = state[Q] if Q in state else vote_shares(shard, self.n_classes)
        size = self.n_annotators * self.n_codes
        counts = (_count_by_kernel if self.compiled else count_labels)(shard, size, self.n_codes, q)
        return {COUNTS: counts, TOTALS: shard.unit_sum(q), EVIDENCE: np.array(0.0)}, {}


@dataclass(frozen=True, kw_only=True)
class HitStep:
    """The right labels under given beliefs, or under the shares of the votes. State: q[i, k], if it is not the votes.

    Attributes:
        n_annotators: Number of annotators.
        n_classes: Number of classes.
    """

    n_annotators: int
    n_classes: int

    def __call__(self, shard: Shard, parameters: Arrays, state: Arrays) -> tuple[Arrays, Arrays]:  # noqa: ARG002
        """hits[j, n], given[j, n] (how many labels n annotator j gave) and totals[k]."""
        q = state[Q] if Q in state else vote_shares(shard, self.n_classes)
        shape = (self.n_annotators, self.n_classes)
        given = sum_by(shard.cells(self.n_classes), shape[0] * shape[1], shard.row_weights()).reshape(shape)
        found = {COUNTS: count_hits(shard, shape, q), "given": given, TOTALS: shard.unit_sum(q)}
        return {**found, EVIDENCE: np.array(0.0)}, {}


@dataclass(frozen=True, kw_only=True)
class EvidenceStep:
    """The evidence of the labels under tables: the new state is evidence[i, z]. Parameters: as in `TableStep`.

    Attributes:
        n_codes: Number of codes that labels have.
        compiled: Whether to use the compiled kernel.
    """

    n_codes: int
    compiled: bool = False

    def __call__(self, shard: Shard, parameters: Arrays, state: Arrays) -> tuple[Arrays, Arrays]:  # noqa: ARG002
        """No counts."""
        table = parameters["table"]
        if self.compiled:
            evidence = _evidence_by_kernel(shard, self.n_codes, table)
        else:
            evidence = sum_by_unit(shard, label_terms(shard, self.n_codes, table))
        return {}, {"evidence": _keep_known(shard, evidence)}


@dataclass(frozen=True)
class MatchEvidenceStep:
    """The same in a model of matches, up to a constant per unit. Parameters: as in `MatchStep`."""

    def __call__(self, shard: Shard, parameters: Arrays, state: Arrays) -> tuple[Arrays, Arrays]:  # noqa: ARG002
        """No counts; the new state is evidence[i, k], the sum of agree - differ over the labels n = k."""
        extra = parameters["agree"] - parameters["differ"]
        n_classes = extra.shape[1]
        each = extra[shard.annotator, shard.label]
        if len(shard.weight):
            each = each * shard.weight
        cell = shard.unit * n_classes + shard.label
        evidence = sum_by(cell, shard.n_units * n_classes, each).reshape(-1, n_classes)
        return {}, {"evidence": _keep_known(shard, evidence)}


def vote_shares(shard: Shard, n_classes: int) -> Floats:
    """q[i, k], the share of the votes for each class, uniform without votes; certain where the class is known."""
    shares = count_votes(shard, n_classes)
    total = shares.sum(axis=1, keepdims=True)
    shares[total[:, 0] <= 0] = 1.0
    shares /= np.where(total > 0, total, float(max(n_classes, 1)))
    known = shard.known
    if known.any():
        shares[known] = np.eye(n_classes)[shard.fixed[known]]
    return shares


def count_votes(shard: Shard, n_classes: int) -> Floats:
    """votes[i, k] by weight, of one unit each; a partial label is a vote that the other classes share evenly."""
    n_codes = 2 * n_classes if len(shard.label) and shard.label.max() >= n_classes else n_classes
    cell = shard.unit  # [row], the flat index i * codes + n
    cell *= n_codes
    cell += shard.label
    weight = shard.weight if len(shard.weight) else None
    votes = sum_by(cell, shard.n_units * n_codes, weight).reshape(-1, n_codes)
    if n_codes == n_classes:
        return votes
    refused = votes[:, n_classes:]
    return np.asarray(votes[:, :n_classes] + (refused.sum(axis=1, keepdims=True) - refused) / max(n_classes - 1, 1))


def label_terms(shard: Shard, n_codes: int, table: Floats) -> Floats:
    """terms[row, z], the log probability of each label in each state, times its weight."""
    terms = table[shard.cells(n_codes)]
    if len(shard.weight):
        terms = np.where(shard.weight[:, None] > 0, terms, 0.0) * shard.weight[:, None]
    return np.asarray(terms)


def sum_by_unit(shard: Shard, values: Floats) -> Floats:
    """The sum of values[row, z] over the rows of each unit."""
    total = np.zeros((shard.n_units, values.shape[1]))
    labelled = np.flatnonzero(shard.labelled)
    if len(labelled):
        total[labelled] = np.add.reduceat(values, shard.starts[labelled], axis=0)
    return total


def count_labels(shard: Shard, size: int, n_codes: int, q: Floats) -> Floats:
    """counts[j * n_codes + n, z] of beliefs q[i, z], `size` rows of them."""
    cell, weight = shard.cells(n_codes), shard.row_weights()
    rows = q[shard.unit]
    if weight is not None:
        rows *= weight[:, None]
    columns = [sum_by(cell, size, rows[:, z]) for z in range(q.shape[1])]
    return np.stack(columns, axis=1) if columns else np.zeros((size, 0))


def count_hits(shard: Shard, shape: tuple[int, ...], q: Floats) -> Floats:
    """hits[j, n], the expected number of right labels under beliefs q[i, k]."""
    hit, weight = q[shard.unit, shard.label], shard.row_weights()
    if weight is not None:
        hit = weight * hit
    return sum_by(shard.cells(shape[1]), shape[0] * shape[1], hit).reshape(shape)


def _count_by_kernel(shard: Shard, size: int, n_codes: int, q: Floats) -> Floats:
    from crowdlogic.numerics.label_kernels import count_pass, unrolled_states

    shard, counts = shard.narrow(), np.zeros((size, q.shape[1]))
    states, beliefs = unrolled_states(q.shape[1]), np.ascontiguousarray(q)
    if len(shard.times):
        beliefs = beliefs * shard.times[:, None]
    count_pass(states, shard.starts, shard.annotator, shard.label, shard.weight, n_codes, beliefs, counts)
    return counts


def _evidence_by_kernel(shard: Shard, n_codes: int, table: Floats) -> Floats:
    from crowdlogic.numerics.label_kernels import evidence_pass, unrolled_states

    shard, total = shard.narrow(), np.zeros((shard.n_units, table.shape[1]))
    states = unrolled_states(table.shape[1])
    evidence_pass(states, shard.starts, shard.annotator, shard.label, shard.weight, n_codes, table, total)
    return total


def _log_prior(parameters: Arrays, state: Arrays) -> Floats:
    """log_prior[1 or i, z]: that of all units, or one for each."""
    return np.atleast_2d(state["log_prior"] if "log_prior" in state else parameters["log_prior"])


def _keep_known(shard: Shard, evidence: Floats) -> Floats:
    """evidence[i, z] with LOG_ZERO except at the class that a unit is known to be of."""
    known = shard.known
    if known.any():
        states = np.arange(evidence.shape[1])
        evidence[known] = np.where(states == shard.fixed[known, None], evidence[known], LOG_ZERO)
    return evidence


def _posterior(shard: Shard, log_q: Floats, state_class: Ints) -> tuple[Floats, Floats]:
    known = shard.known
    if known.any():
        log_q[known] = np.where(state_class == shard.fixed[known, None], log_q[known], LOG_ZERO)
    return normalise(log_q)


def _statistics(shard: Shard, beliefs: Floats, log_sum: Floats, counts: Floats) -> Arrays:
    return {COUNTS: counts, TOTALS: shard.unit_sum(beliefs), EVIDENCE: shard.unit_sum(log_sum)}
