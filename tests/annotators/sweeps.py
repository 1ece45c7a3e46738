"""E-steps over all labels, with their sums by name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from crowdlogic.annotators.label_sums import (
    code_table,
    compiled_match_step,
    compiled_table_step,
    is_compiled,
    whole_counts,
)
from crowdlogic.data.blocks import Shards
from crowdlogic.truth import dawid_skene, one_coin


@dataclass(frozen=True)
class Sweep:
    counts: np.ndarray
    totals: np.ndarray
    log_evidence: float
    q: np.ndarray


def table_sweep(blocks: Shards, log_table: np.ndarray, log_prior: np.ndarray) -> Sweep:
    """The E-step of a model with log_table[j, n, z] and log_prior[z]."""
    p = {"log_table": code_table(blocks, log_table), "log_prior": log_prior}
    if is_compiled(blocks, log_table.shape[2]):
        s, states = blocks.sum(keeping(compiled_table_step), p)
    else:
        s, states = blocks.sum(keeping(dawid_skene.e_step, states_per_class=len(log_prior) // blocks.n_classes), p)
    counts = whole_counts(s["counts"], log_table)
    return Sweep(counts, s["totals"], float(s["log_evidence"]), blocks.gather(states)["q"])


def match_sweep(blocks: Shards, log_agree: np.ndarray, log_differ: np.ndarray, log_prior: np.ndarray) -> Sweep:
    """The E-step of a model in which a label is either the true class or another."""
    step = compiled_match_step if is_compiled(blocks, len(log_prior)) else one_coin.e_step
    s, states = blocks.sum(keeping(step), {"log_agree": log_agree, "log_differ": log_differ, "log_prior": log_prior})
    return Sweep(s["counts"], s["totals"], float(s["log_evidence"]), blocks.gather(states)["q"])


def keeping(step: Any, **options: Any) -> Any:
    """The step with its beliefs kept."""
    return lambda block, p, state: step(block, p, state, keep=True, **options)
