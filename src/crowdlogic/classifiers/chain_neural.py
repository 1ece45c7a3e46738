"""The classifier around a network whose outputs are the unary scores of a chain of tags.

It learns marginals of units and of neighbours (`fit_chain_epoch`), and says what it knows as scores of a chain
(`chain_scores`), which others may add evidence to.

Axes: i unit, u unit of a batch, k tag.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
import torch

from crowdlogic.classifiers.chain_loss import TagTransitions, chain_loss
from crowdlogic.classifiers.neural import NeuralClassifier
from crowdlogic.classifiers.protocol import Arrays, check_targets
from crowdlogic.data.chain_beliefs import ChainBeliefs, ChainScores, independent_pairs
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.tagging import sequence_starts
from crowdlogic.errors import OptionError
from crowdlogic.numerics.arrays import Floats


class ChainNeuralClassifier(NeuralClassifier):
    """A network with a CRF on top: a ChainClassifier. The network has an attribute `transitions`."""

    @property
    def transitions(self) -> TagTransitions:
        """The chain's parameters."""
        found = self.network.transitions
        if not isinstance(found, TagTransitions):
            raise OptionError("The network has no transitions between tags.")
        return found

    def fit_epoch(self, corpus: Corpus, targets: Beliefs, weights: Floats | None = None) -> float:
        """One epoch on targets of units; neighbours are taken to be independent."""
        check_targets(corpus, targets, weights, self.network.n_classes)
        pair = independent_pairs(targets, np.asarray(corpus.offsets))
        return self.fit_chain_epoch(corpus, ChainBeliefs(targets, pair), weights)

    def fit_chain_epoch(self, corpus: Corpus, targets: ChainBeliefs, weights: Floats | None = None) -> float:
        """One epoch of mini-batches on targets of units and of neighbours; the mean loss of a unit."""
        check_targets(corpus, targets.q, weights, self.network.n_classes)
        sample_weight = np.ones(corpus.n_units) if weights is None else np.asarray(weights, dtype=np.float64)
        begins = sequence_starts(corpus.n_units, np.asarray(corpus.offsets))
        loss = chain_loss(self.transitions, targets, sample_weight, begins)
        self._known: WeakKeyDictionary[Corpus, ChainScores] = WeakKeyDictionary()
        return self.run_epoch(corpus, loss, sample_weight != 0)

    def predict_proba(self, corpus: Corpus) -> Beliefs:
        """p[i, k], the marginals of every unit."""
        return self.chain_scores(corpus).marginals()

    @torch.inference_mode()
    def chain_scores(self, corpus: Corpus) -> ChainScores:
        """The scores of the chain, computed once between two changes of the weights."""
        known: WeakKeyDictionary[Corpus, ChainScores] = self.__dict__.setdefault("_known", WeakKeyDictionary())
        if corpus not in known:
            unary = np.empty((corpus.n_units, self.network.n_classes))
            for outputs, units in self.forward_batches(corpus):
                unary[units] = outputs.double().cpu().numpy()
            between, start = (
                tensor.detach().double().cpu().numpy() for tensor in (self.transitions.pairwise, self.transitions.start)
            )
            known[corpus] = ChainScores(
                unary=unary, transitions=between, start=start, offsets=np.asarray(corpus.offsets)
            )
        return known[corpus]

    def restore(self, arrays: Arrays) -> None:
        """Set weights, epoch, seed and the optimiser to a saved state."""
        self._known = WeakKeyDictionary()
        super().restore(arrays)
