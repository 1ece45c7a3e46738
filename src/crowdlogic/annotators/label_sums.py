"""Sums over the labels of a block, from which E-steps and M-steps are built.

    s, _ = blocks.sum(e_step, p)                 # a method's E-step: expected counts of all blocks, added in order
    counts = tally(blocks, q).counts             # the counts of given beliefs, or of the votes
    evidence = sum_evidence(blocks, log_table)   # the evidence of the labels of each unit

A step is a function (or a frozen dataclass of options) that takes a block, parameters and the state of the block's
units. It returns statistics, which are summed over blocks, and arrays by unit (`data/blocks.py`). Small inputs are
processed by numpy, which needs no compilation, large inputs by the kernels of `numerics/label_kernels.py`.

Axes: i unit, j annotator, k class, m true class, n given label, z latent state (a class, or a subtype of one).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from crowdlogic.data.blocks import Arrays, Engine, Shard, States
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import OptionError
from crowdlogic.numerics.arrays import Bools, Floats, sum_by
from crowdlogic.numerics.logspace import LOG_ZERO

COUNTS, TOTALS, EVIDENCE, Q = "counts", "totals", "log_evidence", "q"
"""Names of the statistics of E-steps, and of the beliefs."""


FLOOR = 1e-10
"""Minimum of every expected count, so that a label that was never given stays possible and an empty row is uniform."""

SMOOTHING = 0.01
"""Default number of labels added to every cell of a confusion matrix."""

TRUST = 1.0
"""Default number of labels added to each diagonal cell of a confusion matrix, in addition to SMOOTHING."""

MOST_CELLS = 50_000_000
"""Maximum number of cells of all confusion matrices (400 MB, or three times as much during a fit)."""


def check_size(name: str, n_annotators: int, n_classes: int) -> None:
    """Raise an error if the confusion matrices would not fit into memory."""
    cells = n_annotators * n_classes**2
    if cells > MOST_CELLS:
        raise OptionError(
            f"{name} keeps a {n_classes:,} x {n_classes:,} confusion matrix for each of {n_annotators:,} annotators, "
            f"{cells * 8 / 1e9:,.1f} GB. Use one-coin or mace, "
            f"which need little memory per annotator, or merge classes."
        )


# Evidence of the labels of one block, in numpy.


def label_terms(block: Shard, log_table: Floats) -> Floats:
    """Return terms[row, z] = weight[row] * log_table[annotator[row], label[row], z]."""
    return weigh_terms(block, log_table.reshape(-1, log_table.shape[2])[block.cells(log_table.shape[1])])


def weigh_terms(block: Shard, terms: Floats) -> Floats:
    """Return terms[row, z] times the weight of each label; 0 for labels of weight 0, even if the term is infinite."""
    if not len(block.weight):
        return terms
    weight = block.weight[:, None]
    return np.where(weight > 0, terms, 0.0) * weight


def sum_by_unit(block: Shard, values: Floats) -> Floats:
    """Return the sum of values[row, z] over the rows of each unit, [i, z]."""
    total = np.zeros((block.n_units, values.shape[1]))
    labelled = np.flatnonzero(block.labelled)
    if len(labelled):
        total[labelled] = np.add.reduceat(values, block.starts[labelled], axis=0)
    return total


def match_scores(block: Shard, log_agree: Floats, log_differ: Floats) -> tuple[Floats, Floats]:
    """Return the log probability of the labels of each unit if a label is either the true class or another class.

    Args:
        block: The labels.
        log_agree: log_agree[j, n], log p(label n of annotator j | the truth is n).
        log_differ: log_differ[j, n], log p(label n of annotator j | the truth is another class).

    Returns:
        scores[i, k] and base[i]; the log probability given class k is their sum.
    """
    n_classes, unit = log_agree.shape[1], block.unit
    weight = block.weight if len(block.weight) else np.ones(len(block.label))
    # base[i] = sum of log_differ[j, n] over all labels of i; labels n = k add the difference log_agree - log_differ
    differ = weight * log_differ[block.annotator, block.label]
    extra = weight * log_agree[block.annotator, block.label] - differ
    scores = sum_by(unit * n_classes + block.label, block.n_units * n_classes, extra).reshape(-1, n_classes)
    return scores, sum_by(unit, block.n_units, differ)


def clamp(block: Shard, log_q: Floats, states_per_class: int = 1) -> Floats:
    """Set log_q[i, z] in place to LOG_ZERO outside the known class of units whose class is known."""
    known = block.known
    if known.any():
        state_class = np.arange(log_q.shape[1]) // states_per_class
        log_q[known] = np.where(state_class == block.fixed[known, None], log_q[known], LOG_ZERO)
    return log_q


def count_labels(block: Shard, n_annotators: int, n_codes: int, q: Floats) -> Floats:
    """Return counts[j, n, z], the sum of q[i, z] over the units i that annotator j labelled n."""
    cell, weight = block.cells(n_codes), block.row_weights()
    rows = q[block.unit]
    if weight is not None:
        rows *= weight[:, None]
    size = n_annotators * n_codes
    columns = [sum_by(cell, size, rows[:, z]) for z in range(q.shape[1])]
    counts = np.stack(columns, axis=1) if columns else np.zeros((size, 0))
    return counts.reshape(n_annotators, n_codes, q.shape[1])


def count_hits(block: Shard, n_annotators: int, q: Floats) -> Floats:
    """Return hits[j, n], the sum of q[i, n] over the units i that annotator j labelled n: expected right labels."""
    hit, weight, n_classes = q[block.unit, block.label], block.row_weights(), q.shape[1]
    if weight is not None:
        hit = weight * hit
    return sum_by(block.cells(n_classes), n_annotators * n_classes, hit).reshape(n_annotators, n_classes)


def vote_shares(block: Shard, n_classes: int) -> Floats:
    """Return q[i, k], the share of votes for each class; uniform without votes, certain if the class is known."""
    shares = count_votes(block, n_classes)
    total = shares.sum(axis=1, keepdims=True)
    shares[total[:, 0] <= 0] = 1.0
    shares /= np.where(total > 0, total, float(max(n_classes, 1)))
    known = block.known
    if known.any():
        shares[known] = np.eye(n_classes)[block.fixed[known]]
    return shares


def count_votes(block: Shard, n_classes: int) -> Floats:
    """Return votes[i, k] by weight; a partial label "not n" is a vote divided equally among the other classes."""
    n_codes = 2 * n_classes if len(block.label) and block.label.max() >= n_classes else n_classes
    cell = block.unit  # [row], the flat index i * n_codes + n
    cell *= n_codes
    cell += block.label
    weight = block.weight if len(block.weight) else None
    votes = sum_by(cell, block.n_units * n_codes, weight).reshape(-1, n_codes)
    if n_codes == n_classes:
        return votes
    refused = votes[:, n_classes:]
    return np.asarray(votes[:, :n_classes] + (refused.sum(axis=1, keepdims=True) - refused) / max(n_classes - 1, 1))


# The same sums with compiled kernels, for large inputs.

LARGE = 400_000
"""Minimum number of (label, state) pairs for which loading the kernels pays off."""


def is_compiled(blocks: Engine, n_states: int) -> bool:
    """Return whether to use the compiled kernels for this many latent states."""
    if blocks.partial:
        return False  # the kernels assume that the number of label codes equals the number of classes
    return blocks.n_labels * n_states >= LARGE if blocks.compiled is None else blocks.compiled


def kernel_columns(block: Shard) -> tuple[Any, Any, Any, Any, Any, Any]:
    """Return the arrays of a block in the order in which the kernels of E-steps accept them."""
    narrow = block.narrow()
    return narrow.starts, narrow.annotator, narrow.label, narrow.weight, narrow.fixed, narrow.times


def compiled_table_step(block: Shard, p: Arrays, _state: Arrays, *, keep: bool = False) -> tuple[Arrays, Arrays]:
    """Compute `truth.dawid_skene.e_step` with a compiled kernel; the parameters are the same."""
    from crowdlogic.numerics.label_kernels import table_pass, unrolled_states

    n_annotators, n_codes, n_states = p["log_table"].shape
    table = np.ascontiguousarray(p["log_table"]).reshape(-1, n_states)
    counts, totals = np.zeros_like(table), np.zeros(n_states)
    q = np.empty((block.n_units if keep else 0, n_states))
    evidence = table_pass(
        unrolled_states(n_states),
        *kernel_columns(block),
        n_codes,
        table,
        np.exp(table),
        np.ascontiguousarray(p["log_prior"])[None],
        counts,
        totals,
        q,
    )
    found = {COUNTS: counts.reshape(n_annotators, n_codes, n_states), TOTALS: totals, EVIDENCE: np.array(evidence)}
    return found, {Q: q} if keep else {}


def compiled_match_step(block: Shard, p: Arrays, _state: Arrays, *, keep: bool = False) -> tuple[Arrays, Arrays]:
    """Compute `truth.one_coin.e_step` with a compiled kernel; the parameters are the same."""
    from crowdlogic.numerics.label_kernels import match_pass, unrolled_states

    log_agree, log_differ = np.ascontiguousarray(p["log_agree"]), np.ascontiguousarray(p["log_differ"])
    n_classes = log_agree.shape[1]
    hits, totals = np.zeros_like(log_agree), np.zeros(n_classes)
    q = np.empty((block.n_units if keep else 0, n_classes))
    evidence = match_pass(
        unrolled_states(n_classes),
        *kernel_columns(block),
        log_agree,
        log_differ,
        np.ascontiguousarray(p["log_prior"])[None],
        hits,
        totals,
        q,
    )
    return {COUNTS: hits, TOTALS: totals, EVIDENCE: np.array(evidence)}, {Q: q} if keep else {}


# Counts under given beliefs, and the evidence of the labels of each unit.


@dataclass(frozen=True, kw_only=True)
class TallyStep:
    """Step that counts labels under given beliefs or vote shares. State: q[i, z], unless vote shares are used.

    Attributes:
        n_annotators: Number of annotators.
        n_classes: Number of classes.
        n_codes: Number of label codes: the classes and, with partial labels, their complements.
        compiled: Whether to use the compiled kernel.
    """

    n_annotators: int
    n_classes: int
    n_codes: int
    compiled: bool = False

    def __call__(self, block: Shard, parameters: Arrays, state: Arrays) -> tuple[Arrays, Arrays]:  # noqa: ARG002
        """Return counts[j, n, z] and totals[z], the beliefs of all units with labels."""
        q = state[Q] if Q in state else vote_shares(block, self.n_classes)
        if not self.compiled:
            counts = count_labels(block, self.n_annotators, self.n_codes, q)
            return {COUNTS: counts, TOTALS: block.unit_sum(q)}, {}

        from crowdlogic.numerics.label_kernels import count_pass, unrolled_states

        columns, counts = kernel_columns(block)[:4], np.zeros((self.n_annotators * self.n_codes, q.shape[1]))
        each = np.ascontiguousarray(q) * block.times[:, None] if len(block.times) else np.ascontiguousarray(q)
        count_pass(unrolled_states(q.shape[1]), *columns, self.n_codes, each, counts)
        return {COUNTS: counts.reshape(self.n_annotators, self.n_codes, -1), TOTALS: block.unit_sum(q)}, {}


@dataclass(frozen=True, kw_only=True)
class HitStep:
    """Step that counts right labels under given beliefs or vote shares. State: q[i, k], unless vote shares are used.

    Attributes:
        n_annotators: Number of annotators.
        n_classes: Number of classes.
    """

    n_annotators: int
    n_classes: int

    def __call__(self, block: Shard, parameters: Arrays, state: Arrays) -> tuple[Arrays, Arrays]:  # noqa: ARG002
        """Return hits[j, n] as counts, given[j, n] (the number of labels n of annotator j) and totals[k]."""
        q = state[Q] if Q in state else vote_shares(block, self.n_classes)
        shape = (self.n_annotators, self.n_classes)
        given = sum_by(block.cells(self.n_classes), shape[0] * shape[1], block.row_weights()).reshape(shape)
        return {COUNTS: count_hits(block, self.n_annotators, q), "given": given, TOTALS: block.unit_sum(q)}, {}


@dataclass(frozen=True, kw_only=True)
class EvidenceStep:
    """Step that sums the evidence of the labels of each unit. Parameters: log_table[j, n, z].

    Attributes:
        compiled: Whether to use the compiled kernel.
    """

    compiled: bool = False

    def __call__(self, block: Shard, parameters: Arrays, state: Arrays) -> tuple[Arrays, Arrays]:  # noqa: ARG002
        """Return evidence[i, z] as the new state; LOG_ZERO for all but the known class, if any."""
        log_table = parameters["log_table"]
        if not self.compiled:
            return {}, {"evidence": clamp(block, sum_by_unit(block, label_terms(block, log_table)))}

        from crowdlogic.numerics.label_kernels import evidence_pass, unrolled_states

        _, n_codes, n_states = log_table.shape
        table = np.ascontiguousarray(log_table).reshape(-1, n_states)
        total = np.zeros((block.n_units, n_states))
        evidence_pass(unrolled_states(n_states), *kernel_columns(block)[:4], n_codes, table, total)
        return {}, {"evidence": clamp(block, total)}


def match_evidence_step(block: Shard, p: Arrays, _state: Arrays) -> tuple[Arrays, Arrays]:
    """Return evidence[i, k] of a model of matches, up to a constant per unit: agree - differ, summed over labels k."""
    return {}, {"evidence": clamp(block, match_scores(block, p["log_agree"], p["log_differ"])[0])}


@dataclass(frozen=True, eq=False)
class Tally:
    """Counts of all blocks.

    Attributes:
        counts: counts[j, n, z], the expected number of labels n that j gave in state z (`tally`); or hits[j, n], the
            expected number of right labels (`tally_hits`).
        totals: totals[z], the expected number of units with labels in each state.
    """

    counts: Floats
    totals: Floats


def tally(
    blocks: Engine,
    q: Floats | None = None,
    *,
    states: States = None,
    n_states: int | None = None,
) -> Tally:
    """Count labels under given beliefs q[i, z], or under the vote shares (known classes if there are any).

    Partial labels are divided among their classes in proportion to the annotator's complete labels.

    Args:
        blocks: The labels.
        q: The beliefs.
        states: The beliefs as states of the blocks, instead of q.
        n_states: Number of latent states in `states`; the number of classes by default.
    """
    if n_states is None:
        n_states = blocks.n_classes if q is None else q.shape[1]
    step = TallyStep(
        n_annotators=blocks.n_annotators,
        n_classes=blocks.n_classes,
        n_codes=blocks.n_codes,
        compiled=is_compiled(blocks, n_states),
    )
    s, _ = blocks.sum(step, {}, states if q is None else blocks.scatter({Q: q}))
    return Tally(share_by_counts(s[COUNTS]) if blocks.partial else s[COUNTS], s[TOTALS])


def tally_hits(blocks: Engine, q: Floats | None = None) -> tuple[Tally, Floats]:
    """Count the right labels hits[j, n] under given beliefs q[i, k] or the vote shares, and all labels given[j, n]."""
    step = HitStep(n_annotators=blocks.n_annotators, n_classes=blocks.n_classes)
    s, _ = blocks.sum(step, {}, None if q is None else blocks.scatter({Q: q}))
    return Tally(s[COUNTS], s[TOTALS]), np.asarray(s["given"])


def sum_evidence(blocks: Engine, log_table: Floats) -> Floats:
    """Return evidence[i, z], the sum of log_table[j, n, z] over the labels of i; LOG_ZERO outside a known class."""
    step = EvidenceStep(compiled=is_compiled(blocks, log_table.shape[2]))
    return np.asarray(blocks.concat(step, {"log_table": code_table(blocks, log_table)})["evidence"])


def sum_match_evidence(blocks: Engine, log_agree: Floats, log_differ: Floats) -> Floats:
    """Return evidence[i, k] under a model of matches, up to a constant per unit.

    Args:
        blocks: The labels.
        log_agree: log_agree[j, n], log p(label n of annotator j | the truth is n).
        log_differ: log_differ[j, n], log p(label n of annotator j | the truth is another class).
    """
    found = blocks.concat(match_evidence_step, {"log_agree": log_agree, "log_differ": log_differ})
    return np.asarray(found["evidence"])


# Partial labels: "not n" means that the annotator's own answer is another class.
#
# An annotator who rejects a suggestion n has an answer, drawn from their confusion matrix like any other, but only
# reveals that it is not n. So p("not n" | state z) is the sum of p(n' | z) over n' != n, and the M-step counts
# the unknown answer by its posterior, p(n' | z) / p("not n" | z). For a variational posterior, expected log parameters
# replace log probabilities in both, which preserves the bound.
#
# Axes: j annotator, n given label, z latent state. The code of "not n" is n + K, K being the number of classes.


def code_table(blocks: Engine, log_table: Floats) -> Floats:
    """Return log_table[j, n, z] for every label code n: the classes, and for partial labels their complements."""
    return add_complements(log_table) if blocks.partial else log_table


def whole_counts(counts: Floats, log_table: Floats) -> Floats:
    """Return counts[j, n, z] of complete labels from counts by label code; the inverse of `code_table` for counts.

    Args:
        counts: Expected counts of every label code, with or without complements.
        log_table: log_table[j, n, z] of every class, by which the counts of a complement are divided.
    """
    return split_complements(counts, log_table) if counts.shape[1] > log_table.shape[1] else counts


def add_complements(log_table: Floats) -> Floats:
    """Return log_table[j, n, z] with the rows of the complements appended: [j, 2 K, z]."""
    n_classes = log_table.shape[1]
    complements = np.empty_like(log_table)
    for n in range(n_classes):
        complements[:, n] = _log_sum(np.delete(log_table, n, axis=1))
    return np.concatenate([log_table, complements], axis=1)


def split_complements(counts: Floats, log_table: Floats) -> Floats:
    """Return counts[j, n, z] of complete answers from counts[j, 2 K, z], with complements divided among their classes.

    Args:
        counts: Expected counts of the labels, followed by the complements.
        log_table: log_table[j, n, z], by which the counts of a complement are divided among its classes.
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
    """Return counts[j, n, z] of complete answers without parameters, dividing complements like complete labels.

    One label is added to each cell, so that the complements of annotators without complete labels are divided equally.
    """
    n_classes = counts.shape[1] // 2
    return split_complements(counts, np.log(counts[:, :n_classes] + 1.0))


def _log_sum(values: Floats) -> Floats:
    """Return the log of the sum of exp(values[j, n, z]) over n; LOG_ZERO if all values are LOG_ZERO."""
    if not values.shape[1]:
        return np.full((values.shape[0], values.shape[2]), LOG_ZERO)
    peak = values.max(axis=1)
    safe = np.where(np.isfinite(peak), peak, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(values - safe[:, None]).sum(axis=1)) + safe)


# Annotators who only give one class, such as labelling functions.

MOSTLY = 0.5
"""Minimum share of labels by annotators who only give one class, to recognise labelling functions."""

MIN_EACH = 2.0
"""Minimum number of labels per annotator and class to recognise labelling functions."""


def find_labelling_functions(labels: CrowdLabels) -> Bools:
    """Return one_sided[j], whether annotator j only gives one class, if the labels seem to be by labelling functions.

    All are False unless such annotators gave most labels, and there are MIN_EACH labels per annotator and class.
    """
    cell = labels.annotator.astype(np.int64) * labels.n_classes + labels.label
    given = sum_by(cell, len(labels.annotators) * labels.n_classes).reshape(len(labels.annotators), labels.n_classes)
    return find_one_sided(given)


def find_one_sided(given: Floats) -> Bools:
    """Return `find_labelling_functions` from given[j, n], the number of labels n of annotator j."""
    one_sided = (given > 0).sum(axis=1) == 1
    total = float(given.sum())
    enough = total >= MIN_EACH * given.size
    return np.asarray(one_sided & (enough and float(given[one_sided].sum()) > MOSTLY * total))
