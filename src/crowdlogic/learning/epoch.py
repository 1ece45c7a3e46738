"""Results of a training epoch: beliefs, parameters and a row of the history.

Axes: i unit, k class, l rule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, TypedDict

import numpy as np
from numpy.typing import NDArray

from crowdlogic.annotators.protocol import Annotators
from crowdlogic.classifiers.protocol import Arrays
from crowdlogic.data.chain_beliefs import AnyBeliefs, ChainBeliefs, unit_beliefs
from crowdlogic.data.estimate import Beliefs
from crowdlogic.numerics.arrays import Floats


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Epoch:
    """Beliefs about the training items and parameters after an epoch.

    Attributes:
        loss: Mean loss of the classifier.
        k: The imitation.
        p: p[i, k], predictions of the classifier.
        q_a: q_a[i, k], posterior of classifier and crowd (eq. 13).
        q_b: q_b[i, k], projection of q_a by the rules (eq. 15).
        q_f: q_f[i, k], mixture of q_a and q_b (eq. 9): the targets of the next epoch.
        annotators: Parameters of the annotators (eq. 12).
        objective: Log evidence of the labels under classifier and annotators, per label; NaN if not computed.
        factors: factors[l], learnt multipliers of the rules' weights; None if they are not learnt.
        pair: pair[i, k, k'] of q_f for chains of tags; None if units are independent.
    """

    loss: float
    k: float
    p: Beliefs
    q_a: Beliefs
    q_b: Beliefs
    q_f: Beliefs
    annotators: Annotators
    objective: float = float("nan")
    factors: Floats | None = None
    pair: NDArray[Any] | None = None

    @property
    def targets(self) -> AnyBeliefs:
        """q_f, with the beliefs about neighbouring pairs for chains of tags."""
        return self.q_f if self.pair is None else ChainBeliefs(self.q_f, self.pair)

    def __repr__(self) -> str:
        n_units, n_classes = self.q_f.shape
        return f"Epoch(loss {self.loss:.4f}, k {self.k:.2f}, beliefs of {n_units:,} units in {n_classes} classes)"


class Views(TypedDict):
    """Beliefs of an Epoch by field name."""

    p: Beliefs
    q_a: Beliefs
    q_b: Beliefs
    q_f: Beliefs
    pair: NDArray[Any] | None


def make_views(*, p: AnyBeliefs, q_a: AnyBeliefs, q_b: AnyBeliefs, q_f: AnyBeliefs) -> Views:
    """Return beliefs as fields of an Epoch; pairs are only kept for q_f, in the precision of a checkpoint."""
    pair = q_f.pair.astype(np.float32) if isinstance(q_f, ChainBeliefs) else None
    return Views(p=unit_beliefs(p), q_a=unit_beliefs(q_a), q_b=unit_beliefs(q_b), q_f=unit_beliefs(q_f), pair=pair)


VIEWS = ("p", "q_a", "q_b", "q_f")
"""Names of the beliefs of an Epoch."""

NUMBERS = ("loss", "k", "objective")
"""Names of the numbers of an Epoch."""


@dataclass(frozen=True, kw_only=True)
class HistoryRow:
    """Row of the training history.

    Attributes:
        epoch: Number of the epoch, starting at 1.
        loss: Mean loss of the classifier.
        k: The imitation.
        stopping: The stopping score.
        change: Share of training units whose answer changed.
        objective: Log evidence of the labels, per label.
        seconds: Duration.
        scores: Other scores by name: inference, dev student, test teacher, ... In the last row of a pass with averaged
            weights, the scores are those of the average, unlike the rest of the row.
        kept: Whether this became the best epoch.
        refit: Whether it belongs to the second pass, with all labels, where the stopping score only counts epochs.
    """

    epoch: int
    loss: float
    k: float
    stopping: float
    change: float
    objective: float
    seconds: float
    scores: Mapping[str, float] = field(default_factory=dict)
    kept: bool = False
    refit: bool = False


EpochCallback: TypeAlias = Callable[[HistoryRow, int], None]
"""Callback after each epoch, called with its row of the history and the maximum number of epochs."""


# What a fit asks of a checkpoint; `store.checkpoints.RunCheckpoint` is one in a run directory.


class FitCheckpoint(Protocol):
    """Protocol for saving the state of a running fit."""

    def save(self, last: Arrays, best: Arrays, note: Mapping[str, Any]) -> None:
        """Replace the checkpoint."""

    def load(self) -> tuple[Arrays, Arrays, Mapping[str, Any]] | None:
        """Return the last epoch, the best epoch and the note; None if nothing was saved yet."""

    def second(self) -> FitCheckpoint:
        """Return the checkpoint of the second pass, stored next to this one."""
