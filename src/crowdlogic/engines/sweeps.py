"""One sweep over all labels: the E-step, and in the same pass the expected counts of the next M-step.

Beliefs need not be kept between iterations: a sweep turns parameters into expected counts, and an M-step needs only the
counts. Each sweep is a step of `engines/steps.py` over whatever engine has the labels.

Axes: i unit, j annotator, k class, n given label, z latent state (a class, or a subtype of one).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from crowdlogic.engines.chain_step import ChainStep
from crowdlogic.engines.complements import add_complements, share_by_counts, split_complements
from crowdlogic.engines.engine import Arrays, Engine, States, Step
from crowdlogic.engines.steps import (
    COUNTS,
    EVIDENCE,
    TOTALS,
    EvidenceStep,
    HitStep,
    MatchEvidenceStep,
    MatchStep,
    Q,
    TableStep,
    TallyStep,
)
from crowdlogic.numerics.arrays import Floats

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
    """The sums of a step of `engines/steps.py` by name."""
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
