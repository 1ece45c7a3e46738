"""A linear-chain conditional random field on hashed features: a tagger that models transitions between tags. No torch.

p(y | x) is proportional to exp(start[y_1] + sum_t features[t] . weights[:, y_t] + sum_t transitions[y_(t-1), y_t]).
The loss is the mean over units of -log p(y | x), with an L2 penalty on all three. It is convex, so an epoch is a few
steps of L-BFGS on all sequences, starting from the last epoch's potentials. It is deterministic.

The gradient depends on the targets only through expected counts: how often each unit has each tag, and how often each
tag follows each. Soft targets are treated as independent across units: tag k at a unit and k' at the next have the
count targets[i, k] targets[i + 1, k'].

Units that form no sequences (documents) are sequences of length one; the model is then multinomial logistic regression.

[LMP01] Lafferty, McCallum and Pereira, "Conditional random fields", 2001.

Axes: i unit, f feature, k tag (and k' the next one), s run of units.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import optimize

from crowdlogic.classifiers.features import FeatureColumns, FeatureOptions, Features, find_columns, load_columns
from crowdlogic.classifiers.protocol import MODEL, Arrays, check_targets, saved_array
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.names import Classes
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.numerics.chain import ChainMarginals, best_path, marginals

TINY = float(np.finfo(float).tiny)


class CRFPotentials(NamedTuple):
    """Parameters of a chain: weights[f, k], start[k] and transitions[k, k']."""

    weights: Floats
    start: Floats
    transitions: Floats

    @property
    def flat(self) -> Floats:
        """Concatenation of all parameters in one vector."""
        return np.concatenate([part.ravel() for part in self])

    def unflatten(self, flat: Floats) -> CRFPotentials:
        """Return the parameters in a vector from `flat`, with the shapes of these parameters."""
        ends = np.cumsum([part.size for part in self])[:-1]
        parts = zip(np.split(flat, ends), self, strict=True)
        return CRFPotentials(*(one.reshape(own.shape) for one, own in parts))


@dataclass(frozen=True, eq=False, kw_only=True)
class ExpectedCounts:
    """Counts that the chain should expect after training, and the weight of each run of units.

    Attributes:
        unit: The units of weight > 0, ordered by run.
        offsets: offsets[s] is the position of the first unit of run s, offsets[-1] the number of units.
        share: share[s], the weight of run s divided by the sum over all units.
        tags: tags[i, k], the expected number of tag k at unit i, times its run's share.
        start: start[k], the expected number of runs that begin with k, times their share.
        transitions: transitions[k, k'], the expected number of transitions from k to k', times their share.
    """

    unit: Ints
    offsets: Ints
    share: Floats
    tags: Floats
    start: Floats
    transitions: Floats


@dataclass(frozen=True)
class CRF(FeatureOptions):
    """A linear-chain conditional random field.

    Attributes:
        ridge: Strength of the L2 penalty: half of it times the squared potentials is added to the mean loss.
        steps: Number of L-BFGS steps in an epoch.
        max_ngram: The maximum length of the n-grams of a text.
        hash_bits: Features of words are hashed to 2^hash_bits columns.
    """

    ridge: float = 1e-7

    name = "crf"

    def build(self, corpus: Corpus, classes: Classes, *, seed: int) -> CRFClassifier:  # noqa: ARG002 (deterministic)
        """Return a classifier with zero potentials for the features of a corpus."""
        return CRFClassifier(self, find_columns(corpus, self.features), len(classes))

    def load(self, arrays: Arrays, classes: Classes) -> CRFClassifier:
        """Return a classifier with a saved state."""
        made = CRFClassifier(self, load_columns(arrays, self.features), len(classes))
        made.restore(arrays)
        return made


class CRFClassifier:
    """Linear-chain CRF with its current potentials, and the feature columns that they belong to."""

    averages = True

    def __init__(self, options: CRF, columns: FeatureColumns, n_tags: int) -> None:
        self.options, self.columns = options, columns
        shapes = ((len(columns), n_tags), (n_tags,), (n_tags, n_tags))
        self.potentials = CRFPotentials(*(np.zeros(shape) for shape in shapes))

    def fit_epoch(self, corpus: Corpus, targets: Beliefs, weights: Floats | None = None) -> float:
        """Run a few steps of L-BFGS and return the loss after them.

        Sequences are cut where the weight changes, and units of weight 0 are left out.
        """
        check_targets(corpus, targets, weights, len(self.potentials.start))
        sample_weight = np.ones(corpus.n_units) if weights is None else weights
        return self.fit_counts(corpus, counts_from_targets(sequence_offsets(corpus), targets, sample_weight))

    def fit_counts(self, corpus: Corpus, counts: ExpectedCounts, *, steps: int | None = None) -> float:
        """Run `steps` steps of L-BFGS (by default those of an epoch) on expected counts; return the loss."""
        if not len(counts.unit):
            return 0.0
        features = self.columns.select(corpus)
        features = features if len(counts.unit) == corpus.n_units else features[counts.unit]

        def loss_and_gradient(flat: Floats) -> tuple[float, Floats]:
            loss, gradient = objective(self.potentials.unflatten(flat), features, counts, self.options.ridge)
            return loss, gradient.flat

        start: Floats = self.potentials.flat
        count = self.options.steps if steps is None else steps
        found = optimize.minimize(loss_and_gradient, start, jac=True, method="L-BFGS-B", options={"maxiter": count})
        self.potentials = self.potentials.unflatten(found.x)
        return float(found.fun)

    def predict_proba(self, corpus: Corpus) -> Beliefs:
        """Return p[i, k], the marginals of every unit."""
        return self.marginals(corpus).q

    def marginals(self, corpus: Corpus) -> ChainMarginals:
        """Return marginals, expected transitions and log partition functions of a corpus (forward-backward)."""
        _, start, transitions = self.potentials
        return marginals(self.unary(corpus), transitions, sequence_offsets(corpus), start=start)

    def best_path(self, corpus: Corpus) -> Ints:
        """Return tags[i] of the most probable tagging of each sequence (Viterbi)."""
        _, start, transitions = self.potentials
        return best_path(self.unary(corpus), transitions, sequence_offsets(corpus), start=start)

    def unary(self, corpus: Corpus) -> Floats:
        """Return unary[i, k], the score of tag k at unit i by its features alone."""
        return np.asarray(self.columns.select(corpus) @ self.potentials.weights)

    def arrays(self) -> Arrays:
        """Return the potentials and the columns they belong to."""
        held = self.potentials._asdict().items()
        return self.columns.arrays() | {MODEL + name: part.copy() for name, part in held}

    def restore(self, arrays: Arrays) -> None:
        """Set the potentials to a saved state."""
        saved = (saved_array(arrays, MODEL + name, own.shape) for name, own in self.potentials._asdict().items())
        self.potentials = CRFPotentials(*(np.array(array, dtype=np.float64) for array in saved))


def sequence_offsets(corpus: Corpus) -> Ints:
    """Return offsets[s], the first unit of each sequence; a document is a sequence of length one."""
    return np.arange(corpus.n_units + 1) if corpus.offsets is None else np.asarray(corpus.offsets)


def objective(
    model: CRFPotentials, features: Features, counts: ExpectedCounts, ridge: float
) -> tuple[float, CRFPotentials]:
    """Return the L2-penalised loss and its gradient: expected counts under the model minus those of the targets.

    Args:
        model: The potentials.
        features: features[i, f] of the units in the counts.
        counts: The counts of the targets.
        ridge: Strength of the L2 penalty.
    """
    unary = np.asarray(features @ model.weights)
    # Use one copy of the transition table for each distinct share, so that expected transitions are summed by share.
    distinct, which = np.unique(counts.share, return_inverse=True)
    lengths = np.diff(counts.offsets)
    tables = np.broadcast_to(model.transitions, (len(distinct), *model.transitions.shape))
    found = marginals(unary, tables, counts.offsets, start=model.start, table=np.repeat(which, lengths))
    # score is the expected score of the targets; the loss is the log partition minus the score, weighted by share.
    score = (counts.tags * unary).sum() + counts.start @ model.start + (counts.transitions * model.transitions).sum()
    loss = counts.share @ found.log_partition - score + 0.5 * ridge * sum(float((part**2).sum()) for part in model)
    model_tags = found.q * np.repeat(counts.share, lengths)[:, None]
    slope = CRFPotentials(
        weights=np.asarray(features.T @ (model_tags - counts.tags)),
        start=model_tags[counts.offsets[:-1]].sum(axis=0) - counts.start,
        transitions=np.tensordot(distinct, found.transitions, axes=1) - counts.transitions,
    )
    return float(loss), CRFPotentials(*(one + ridge * own for one, own in zip(slope, model, strict=True)))


def counts_from_targets(offsets: Ints, targets: Beliefs, weights: Floats) -> ExpectedCounts:
    """Return the counts of soft targets with sample weights. A run lies in one sequence and has a constant weight."""
    begins = np.zeros(len(targets), dtype=bool)
    begins[offsets[:-1][np.diff(offsets) > 0]] = True
    begins[1:] |= weights[1:] != weights[:-1]
    unit = np.flatnonzero(weights)
    first = np.flatnonzero(begins[unit])
    total = max(weights.sum(), TINY)
    tags = targets[unit] * (weights[unit] / total)[:, None]
    onward = np.setdiff1d(np.arange(len(unit)), first, assume_unique=True)
    return ExpectedCounts(
        unit=unit,
        offsets=np.append(first, len(unit)),
        share=weights[unit[first]] / total,
        tags=tags,
        start=tags[first].sum(axis=0),
        transitions=targets[unit[onward - 1]].T @ tags[onward],
    )
