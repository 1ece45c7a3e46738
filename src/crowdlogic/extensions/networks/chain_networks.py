"""Classifier around a network whose outputs are the unary scores of a chain of tags (a CRF).

It is trained on marginals of units and of neighbouring pairs (`fit_chain_epoch`) and returns scores of a chain
(`chain_scores`), to which other evidence can be added.

Axes: i unit, u unit of a batch, k tag (and k' the next one), r run of neighbours with equal weight.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from crowdlogic.classifiers.protocol import Arrays, check_targets
from crowdlogic.data.chain_beliefs import ChainBeliefs, ChainScores, independent_pairs
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.tagging import sequence_starts
from crowdlogic.errors import OptionError
from crowdlogic.extensions.networks.network import BatchLoss, NeuralClassifier
from crowdlogic.numerics.arrays import Bools, Floats, Ints

# The loss is the exact expected negative log-likelihood of tag sequences under soft targets:
#
# loss = sum over runs r of weight[r] (log partition[r] - expected score of the targets in r)
#
# The expected score only depends on the targets' marginals of units and of neighbouring pairs. The gradient by a score
# is the model's marginal minus the target's, so one forward-backward pass yields loss and gradient, without
# differentiating through the recursion. For certain targets this is the negative log-likelihood of the tagging.
#
# [LMP01] Lafferty, McCallum and Pereira, "Conditional random fields", 2001.


class TagTransitions(nn.Module):
    """Parameters of a chain apart from the unary scores: pairwise[k, k'] and start[k]."""

    def __init__(self, n_classes: int) -> None:
        super().__init__()
        self.pairwise = nn.Parameter(torch.zeros(n_classes, n_classes))
        self.start = nn.Parameter(torch.zeros(n_classes))


@dataclass(frozen=True, eq=False, kw_only=True)
class RunTargets:
    """Targets of the runs (stretches of consecutive units) of a batch.

    Attributes:
        offsets: offsets[r], the first unit of run r.
        weight: weight[r], the weight of run r in the loss.
        tags: tags[u, k], the probability of tag k at unit u.
        pair: pair[u, k, k'], the probability of tag k at unit u - 1 and k' at unit u; ignored if u begins a run.
    """

    offsets: Ints
    weight: Floats
    tags: Floats
    pair: NDArray[Any]


class _ExpectedLoss(torch.autograd.Function):
    """Summed loss of all runs; the gradient is computed in the forward pass."""

    @staticmethod
    def forward(ctx: Any, unary: Tensor, pairwise: Tensor, start: Tensor, targets: RunTargets) -> Tensor:
        loss, *slopes = expected_loss(_to_numpy(unary), _to_numpy(pairwise), _to_numpy(start), targets)
        ctx.save_for_backward(*(torch.from_numpy(slope).to(unary) for slope in slopes))
        return unary.new_tensor(loss)

    @staticmethod
    def backward(ctx: Any, *grad: Tensor) -> tuple[Tensor | None, ...]:
        return (*(grad[0] * slope for slope in ctx.saved_tensors), None)


def _to_numpy(tensor: Tensor) -> Floats:
    found: Floats = tensor.detach().cpu().double().numpy()
    return found


def expected_loss(
    unary: Floats, pairwise: Floats, start: Floats, targets: RunTargets
) -> tuple[float, Floats, Floats, Floats]:
    """Return the summed loss and its gradients by unary[u, k], pairwise[k, k'] and start[k]."""
    from crowdlogic.numerics.chain_kernels import forward_backward

    lengths = np.diff(targets.offsets)
    first, run = targets.offsets[:-1], np.repeat(np.arange(len(lengths)), lengths)
    scores = unary.copy()
    scores[first] += start
    # Transitions are counted per run, so that they can be weighted by run.
    one_table = np.zeros(len(unary), dtype=np.int32)
    q, counts, log_partition = forward_backward(
        scores, pairwise[None], one_table, targets.offsets, slot=run.astype(np.int32), n_slots=len(lengths)
    )
    later = np.ones(len(unary), dtype=bool)
    later[first] = False
    by_unit = targets.weight[run]
    wanted = np.tensordot(by_unit[later], targets.pair[later], axes=1)
    expected = float((by_unit[:, None] * targets.tags * scores).sum()) + float((wanted * pairwise).sum())
    slope = by_unit[:, None] * (q - targets.tags)
    loss = float(targets.weight @ log_partition) - expected
    return loss, slope, np.tensordot(targets.weight, counts, axes=1) - wanted, slope[first].sum(axis=0)


def chain_loss(transitions: TagTransitions, targets: ChainBeliefs, weights: Floats, begins: Bools) -> BatchLoss:
    """Return the loss: the mean expected negative log-likelihood of the units with weight > 0.

    Args:
        transitions: The chain's parameters.
        targets: Beliefs of units and neighbours.
        weights: weights[i]; a sequence is split where the weight changes, and units with weight 0 are skipped.
        begins: begins[i], whether unit i is the first of its sequence.
    """

    def loss(unary: Tensor, units: Ints) -> tuple[Tensor, int]:
        kept = np.flatnonzero(weights[units])
        if not len(kept):
            return unary.sum() * 0.0, 0
        mine = units[kept]
        # Runs are neighbouring units of one sequence with equal weight
        is_first = begins[mine].copy()
        is_first[0] = True
        is_first[1:] |= (np.diff(mine) != 1) | (np.diff(weights[mine]) != 0)
        offsets = np.append(np.flatnonzero(is_first), len(mine))
        wanted = RunTargets(
            offsets=offsets, weight=weights[mine[offsets[:-1]]], tags=targets.q[mine], pair=targets.pair[mine]
        )
        chosen = unary if len(kept) == len(units) else unary[torch.from_numpy(kept).to(unary.device)]
        total: Tensor = _ExpectedLoss.apply(chosen, transitions.pairwise, transitions.start, wanted)  # type: ignore[no-untyped-call]
        return total / len(kept), len(kept)

    return loss


class ChainNeuralClassifier(NeuralClassifier):
    """ChainClassifier: a network with a CRF on top, which has an attribute `transitions`."""

    @property
    def transitions(self) -> TagTransitions:
        """The chain's parameters."""
        found = self.network.transitions
        if not isinstance(found, TagTransitions):
            raise OptionError(
                "The network has no transitions between tags. Use a classifier with a CRF, such as bilstm-crf."
            )
        return found

    def fit_epoch(self, corpus: Corpus, targets: Beliefs, weights: Floats | None = None) -> float:
        """Train for one epoch on targets of units, assuming that neighbours are independent."""
        check_targets(corpus, targets, weights, self.network.n_classes)
        pair = independent_pairs(targets, np.asarray(corpus.offsets))
        return self.fit_chain_epoch(corpus, ChainBeliefs(targets, pair), weights)

    def fit_chain_epoch(self, corpus: Corpus, targets: ChainBeliefs, weights: Floats | None = None) -> float:
        """Train for one epoch on targets of units and pairs; return the mean loss per unit."""
        check_targets(corpus, targets.q, weights, self.network.n_classes)
        sample_weight = np.ones(corpus.n_units) if weights is None else np.asarray(weights, dtype=np.float64)
        begins = sequence_starts(corpus.n_units, np.asarray(corpus.offsets))
        loss = chain_loss(self.transitions, targets, sample_weight, begins)
        self._known: WeakKeyDictionary[Corpus, ChainScores] = WeakKeyDictionary()
        return self.run_epoch(corpus, loss, sample_weight != 0)

    def predict_proba(self, corpus: Corpus) -> Beliefs:
        """Return p[i, k], the marginals of every unit."""
        return self.chain_scores(corpus).marginals()

    @torch.inference_mode()
    def chain_scores(self, corpus: Corpus) -> ChainScores:
        """Return the scores of the chain, cached until the weights change."""
        known: WeakKeyDictionary[Corpus, ChainScores] = self.__dict__.setdefault("_known", WeakKeyDictionary())
        if corpus not in known:
            unary = np.empty((corpus.n_units, self.network.n_classes))
            for outputs, units in self.forward_batches(corpus):
                unary[units] = outputs.double().cpu().numpy()
            between, start = _to_numpy(self.transitions.pairwise), _to_numpy(self.transitions.start)
            known[corpus] = ChainScores(
                unary=unary, transitions=between, start=start, offsets=np.asarray(corpus.offsets)
            )
        return known[corpus]

    def restore(self, arrays: Arrays) -> None:
        """Restore weights, epoch, seed and the optimiser from a saved state."""
        self._known = WeakKeyDictionary()
        super().restore(arrays)
