"""What an epoch of a fit leaves behind: beliefs and parameters, and a line of the history.

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
    """What is believed of the training items after an epoch.

    Attributes:
        loss: The classifier's mean loss.
        k: The imitation.
        p: p[i, k], the classifier.
        q_a: q_a[i, k], classifier and crowd (eq. 13).
        q_b: q_b[i, k], what the rules make of it (eq. 15).
        q_f: q_f[i, k], both mixed (eq. 9): the next epoch's targets.
        annotators: The annotators' parameters (eq. 12).
        objective: The log evidence of the labels under classifier and annotators, per label; NaN when not computed.
        factors: factors[l], learnt multipliers of the rules' weights; None when they are not learnt.
        pair: pair[i, k, k'] of q_f, where tags form chains; None where units are independent.
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
        """q_f, with the beliefs of neighbours where tags form chains."""
        return self.q_f if self.pair is None else ChainBeliefs(self.q_f, self.pair)

    def __repr__(self) -> str:
        n_units, n_classes = self.q_f.shape
        return f"Epoch(loss {self.loss:.4f}, k {self.k:.2f}, beliefs of {n_units:,} units in {n_classes} classes)"


class Views(TypedDict):
    """The beliefs of an Epoch by the names of its fields."""

    p: Beliefs
    q_a: Beliefs
    q_b: Beliefs
    q_f: Beliefs
    pair: NDArray[Any] | None


def make_views(*, p: AnyBeliefs, q_a: AnyBeliefs, q_b: AnyBeliefs, q_f: AnyBeliefs) -> Views:
    """Beliefs of units as an Epoch holds them; of neighbours those of q_f alone, in the precision of a checkpoint."""
    pair = q_f.pair.astype(np.float32) if isinstance(q_f, ChainBeliefs) else None
    return Views(p=unit_beliefs(p), q_a=unit_beliefs(q_a), q_b=unit_beliefs(q_b), q_f=unit_beliefs(q_f), pair=pair)


VIEWS = ("p", "q_a", "q_b", "q_f")
"""The beliefs of an Epoch."""

NUMBERS = ("loss", "k", "objective")
"""The numbers of an Epoch."""


@dataclass(frozen=True, kw_only=True)
class HistoryRow:
    """A line of the history.

    Attributes:
        epoch: Counted from 1.
        loss: The classifier's mean loss.
        k: The imitation.
        stopping: The stopping score.
        change: The share of training units whose answer changed.
        objective: The log evidence of the labels, per label.
        seconds: How long it took.
        scores: Other scores by name: inference, dev student, test teacher, ... In the last line of a pass that answers
            with averaged weights the scores are those of the average, as nothing else in the line is.
        kept: Whether the epoch became the one to keep.
        refit: Whether it is of the second pass, with all labels; its stopping score only counts epochs.
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
"""Called after each epoch with its line of the history and the maximum number of epochs."""


# What a fit asks of a checkpoint; `store.checkpoints.RunCheckpoint` is one in a run directory.


class FitCheckpoint(Protocol):
    """Keeps the state of a fit while it runs."""

    def save(self, last: Arrays, best: Arrays, note: Mapping[str, Any]) -> None:
        """Replace the checkpoint."""

    def load(self) -> tuple[Arrays, Arrays, Mapping[str, Any]] | None:
        """The last epoch, the best one and the note; None when there is nothing yet."""

    def second(self) -> FitCheckpoint:
        """The checkpoint of the second pass, beside this one."""
