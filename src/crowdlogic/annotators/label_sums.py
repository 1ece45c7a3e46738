"""One sweep over all labels: the E-step, and in the same pass the expected counts of the next M-step.

Beliefs need not be kept between iterations: a sweep turns parameters into expected counts, and an M-step needs only the
counts. Each sweep is a step of `annotators/label_sums.py` over whatever engine has the labels.

Axes: i unit, j annotator, k class, n given label, z latent state (a class, or a subtype of one).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from crowdlogic.data.blocks import Arrays, Engine, Shard, States, Step
from crowdlogic.numerics.arrays import Floats, Ints, sum_by
from crowdlogic.numerics.chain import marginals
from crowdlogic.numerics.logspace import LOG_ZERO, normalise

# The steps that most methods share: E-steps with the counts of the next M-step, and the statistics of given beliefs.
#
# Small inputs go through numpy, which needs no compilation; large ones through `label_kernels`. Each step is plain
# data,
# so that it can be sent to where a shard is (`data/blocks.py`).
#
# Axes: i unit, j annotator, k class, n given label, z latent state (a class, or a subtype of one).

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
            from crowdlogic.numerics.label_kernels import plain_pass

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


# Partial labels as evidence for the complement: "not n" says that the annotator's own answer is another class.
#
# An annotator who rejects a suggestion n has an answer of their own, y, drawn from their confusion matrix like any
# other,
# and says only that y is not n. So p("not n" | state z) is the sum of p(n' | z) over n' != n, and the M-step counts
# the
# answer that was not said by its posterior, p(n' | z) / p("not n" | z). Expected log parameters of a variational
# posterior take the place of log probabilities in both, which keeps its bound.
#
# Axes: j annotator, n given label, z latent state. The code of "not n" is n + K, K being the number of classes.


def add_complements(log_table: Floats) -> Floats:
    """log_table[j, n, z] with the rows of the complements behind: [j, 2 K, z]."""
    n_classes = log_table.shape[1]
    complements = np.empty_like(log_table)
    for n in range(n_classes):
        complements[:, n] = _log_sum(np.delete(log_table, n, axis=1))
    return np.concatenate([log_table, complements], axis=1)


def split_complements(counts: Floats, log_table: Floats) -> Floats:
    """counts[j, n, z] of whole answers from counts[j, 2 K, z]: what was said, and the shares of what was not.

    Args:
        counts: Expected counts of the labels, the complements behind.
        log_table: log_table[j, n, z], by which the counts of a complement are shared among its classes.
    """
    n_classes = log_table.shape[1]
    whole = counts[:, :n_classes].copy()
    for n in range(n_classes):
        others = np.arange(n_classes) != n
        among = log_table[:, others]
        share = np.exp(among - np.maximum(_log_sum(among), LOG_ZERO / 2)[:, None])
        whole[:, others] += counts[:, n_classes + n, None] * share
    return whole


def share_by_counts(counts: Floats) -> Floats:
    """counts[j, n, z] of whole answers where no parameters are known: a complement is shared as whole labels were.

    One label more is counted in each cell, so that an annotator without whole labels shares evenly.
    """
    n_classes = counts.shape[1] // 2
    return split_complements(counts, np.log(counts[:, :n_classes] + 1.0))


def _log_sum(values: Floats) -> Floats:
    """The log of the sum of exp(values[j, n, z]) over n; LOG_ZERO where there is nothing to add."""
    if not values.shape[1]:
        return np.full((values.shape[0], values.shape[2]), LOG_ZERO)
    peak = values.max(axis=1)
    safe = np.where(np.isfinite(peak), peak, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(values - safe[:, None]).sum(axis=1)) + safe)


# The step of sequence methods: forward-backward over the sequences of a shard, and the counts of the next M-step.
#
# Shards are cut between sequences, so that each is whole in one of them. What is added up over shards is expected
# counts:
# of labels by annotator, of transitions and starts, of words by tag.
#
# Axes: i unit, j annotator, k tag (and k' the next tag), n given label, v word.

FEATURE = "feature"
"""What the names of features begin with: feature0, feature1, ..."""


@dataclass(frozen=True, kw_only=True)
class ChainStep:
    """Forward-backward with annotators and words.

    Parameters: table[j * n_codes + n, k], the log probability of a label; transitions[k, k'] and start[k], in logs;
    featureN[v, k], the log probability of each value of a feature. State: featureN[i], its value at each unit. With
    `keep` the new state is q[i, k].

    Attributes:
        n_annotators: Number of annotators.
        n_classes: Number of tags.
        n_codes: Number of codes that labels have.
        compiled: Whether to use the compiled kernels for labels.
        keep: Whether to keep the beliefs.
    """

    n_annotators: int
    n_classes: int
    n_codes: int
    compiled: bool = False
    keep: bool = False

    def __call__(self, shard: Shard, parameters: Arrays, state: Arrays) -> tuple[Arrays, Arrays]:
        """counts[j * n_codes + n, k], transitions[k, k'], start[k], featureN[v, k] and the log evidence."""
        names = [name for name in parameters if name.startswith(FEATURE)]
        unary = self._evidence(shard, parameters)
        for name in names:
            unary = unary + parameters[name][state[name]]
        found = marginals(unary, parameters["transitions"], shard.offsets, start=parameters["start"])
        first = shard.offsets[:-1][np.diff(shard.offsets) > 0]
        counts = {
            COUNTS: self._tally(shard, found.q),
            "transitions": found.transitions,
            "start": found.q[first].sum(axis=0),
            EVIDENCE: np.array(found.log_partition.sum()),
        }
        counts |= {name: count_feature(state[name], len(parameters[name]), found.q) for name in names}
        return counts, {Q: found.q} if self.keep else {}

    def _evidence(self, shard: Shard, parameters: Arrays) -> Floats:
        step = EvidenceStep(n_codes=self.n_codes, compiled=self.compiled)
        return np.asarray(step(shard, {"table": parameters["table"]}, {})[1]["evidence"])

    def _tally(self, shard: Shard, q: Floats) -> Floats:
        step = TallyStep(
            n_annotators=self.n_annotators, n_classes=self.n_classes, n_codes=self.n_codes, compiled=self.compiled
        )
        return np.asarray(step(shard, {}, {Q: q})[0][COUNTS])


def count_feature(codes: Ints, size: int, q: Floats) -> Floats:
    """counts[v, k], the expected number of units with value v of a feature and tag k."""
    columns = [sum_by(codes, size, q[:, k]) for k in range(q.shape[1])]
    return np.stack(columns, axis=1) if columns else np.zeros((size, 0))


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


def table_sweep(engine: Engine, log_table: Floats, log_prior: Floats, *, keep: bool = False) -> Sweep:
    """The sweep of a model in which each annotator has a confusion matrix.

    Args:
        engine: The labels.
        log_table: log_table[j, n, z], log p(annotator j says n | state z).
        log_prior: log_prior[z], or log_prior[i, z].
        keep: Whether to keep the beliefs.
    """
    step, parameters = table_step(engine, log_table, keep=keep)
    found = _sweep(engine, step, parameters, log_prior, keep=keep)
    found = replace(found, counts=found.counts.reshape(engine.n_annotators, engine.n_codes, -1))
    return replace(found, counts=split_complements(found.counts, log_table)) if engine.partial else found


def table_step(engine: Engine, log_table: Floats, *, keep: bool = False) -> tuple[TableStep, dict[str, Floats]]:
    """The step of `table_sweep`, and its parameters but for the prior."""
    n_states = log_table.shape[2]
    compiled = is_compiled(engine, n_states)
    table = _flat_table(engine, log_table)
    step = TableStep(n_classes=engine.n_classes, n_codes=engine.n_codes, compiled=compiled, keep=keep)
    return step, {"table": table, "factors": np.exp(table)} if compiled else {"table": table}


def match_sweep(engine: Engine, agree: Floats, differ: Floats, log_prior: Floats, *, keep: bool = False) -> Sweep:
    """The sweep of a model in which a label is either the true class or another.

    Args:
        engine: The labels.
        agree: agree[j, n], log p(annotator j says n | the truth is n).
        differ: differ[j, n], log p(annotator j says n | the truth is another class).
        log_prior: log_prior[k], or log_prior[i, k].
        keep: Whether to keep the beliefs.
    """
    step = MatchStep(compiled=is_compiled(engine, agree.shape[1]), keep=keep)
    return _sweep(engine, step, {"agree": agree, "differ": differ}, log_prior, keep=keep)


def _sweep(engine: Engine, step: Step, parameters: Arrays, log_prior: Floats, *, keep: bool) -> Sweep:
    """A sweep with a prior for all units, or with one for each."""
    if log_prior.ndim == 1:
        counts, states = engine.sum(step, {**parameters, "log_prior": log_prior})
    else:
        counts, states = engine.sum(step, parameters, engine.scatter({"log_prior": log_prior}))
    return make_sweep(counts, engine.gather(states)[Q] if keep else None)


def make_sweep(counts: Arrays, q: Floats | None = None) -> Sweep:
    """The sums of a step of `annotators/label_sums.py` by name."""
    return Sweep(counts[COUNTS], counts[TOTALS], float(counts[EVIDENCE]), q)


def tally(
    engine: Engine,
    q: Floats | None = None,
    *,
    log_table: Floats | None = None,
    states: States = None,
    n_states: int | None = None,
) -> Sweep:
    """The statistics of given beliefs q[i, z], or of the shares of the votes (fixed classes where known).

    Args:
        engine: The labels.
        q: The beliefs.
        log_table: log_table[j, n, z], by which partial labels are shared among their classes; else as whole ones were.
        states: States that hold q, in place of q itself.
        n_states: Number of latent states of these; as many as classes if not given.
    """
    if n_states is None:
        n_states = engine.n_classes if q is None else q.shape[1]
    step = TallyStep(
        n_annotators=engine.n_annotators,
        n_classes=engine.n_classes,
        n_codes=engine.n_codes,
        compiled=is_compiled(engine, n_states),
    )
    counts, _ = engine.sum(step, {}, states if q is None else engine.scatter({Q: q}))
    found = make_sweep(counts)
    found = replace(found, counts=found.counts.reshape(engine.n_annotators, engine.n_codes, found.counts.shape[1]))
    if not engine.partial:
        return found
    whole = share_by_counts(found.counts) if log_table is None else split_complements(found.counts, log_table)
    return replace(found, counts=whole)


def tally_hits(engine: Engine, q: Floats | None = None) -> Sweep:
    """hits[j, n] of given beliefs q[i, k], or of the shares of the votes: what `match_sweep` counts."""
    return tally_hits_and_given(engine, q)[0]


def tally_hits_and_given(engine: Engine, q: Floats | None = None) -> tuple[Sweep, Floats]:
    """`tally_hits`, and given[j, n], how many labels n annotator j gave, by weight."""
    step = HitStep(n_annotators=engine.n_annotators, n_classes=engine.n_classes)
    counts, _ = engine.sum(step, {}, None if q is None else engine.scatter({Q: q}))
    return make_sweep(counts), counts["given"]


def sum_evidence(engine: Engine, log_table: Floats) -> Floats:
    """evidence[i, z], the sum of log_table[j, n, z] over the labels of unit i; LOG_ZERO except at a known class."""
    step = EvidenceStep(n_codes=engine.n_codes, compiled=is_compiled(engine, log_table.shape[2]))
    states = engine.sum(step, {"table": _flat_table(engine, log_table)})[1]
    return engine.gather(states)["evidence"]


def sum_match_evidence(engine: Engine, agree: Floats, differ: Floats) -> Floats:
    """evidence[i, k] in a model of matches, up to a constant per unit.

    Args:
        engine: The labels.
        agree: agree[j, n], log p(annotator j says n | the truth is n).
        differ: differ[j, n], log p(annotator j says n | the truth is another class).
    """
    states = engine.sum(MatchEvidenceStep(), {"agree": agree, "differ": differ})[1]
    return engine.gather(states)["evidence"]


def is_compiled(engine: Engine, n_states: int) -> bool:
    """Whether a sweep with so many states goes through the compiled kernels."""
    if engine.partial:
        return False  # the kernels take the number of codes for that of the classes
    return engine.n_labels * n_states >= LARGE if engine.compiled is None else engine.compiled


def _flat_table(engine: Engine, log_table: Floats) -> Floats:
    """table[j * n_codes + n, z], the rows of the complements among them where labels are partial."""
    whole = add_complements(log_table) if engine.partial else log_table
    return np.ascontiguousarray(whole.reshape(-1, log_table.shape[2]))


def chain_sweep(
    engine: Engine, log_table: Floats, chain: Arrays, *, features: States = None, keep: bool = False
) -> tuple[Arrays, Floats | None]:
    """The sums of forward-backward over all sequences, with counts[j, n, k]; and q[i, k], with `keep`.

    Args:
        engine: The labels, in shards that hold whole sequences.
        log_table: log_table[j, n, k], log p(annotator j says n | the tag is k).
        chain: The other parameters of `ChainStep`.
        features: States that hold the value of each feature at each unit, by name.
        keep: Whether to keep the beliefs.
    """
    step = ChainStep(
        n_annotators=engine.n_annotators,
        n_classes=engine.n_classes,
        n_codes=engine.n_codes,
        compiled=is_compiled(engine, log_table.shape[2]),
        keep=keep,
    )
    sums, kept = engine.sum(step, {"table": _flat_table(engine, log_table), **chain}, features)
    counts = sums[COUNTS].reshape(engine.n_annotators, engine.n_codes, -1)
    whole = split_complements(counts, log_table) if engine.partial else counts
    return {**sums, COUNTS: whole}, engine.gather(kept)[Q] if keep else None
