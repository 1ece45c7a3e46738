"""A linear-chain conditional random field on hashed features: tags that look at the tags beside them. No torch.

p(y | x) is proportional to exp(start[y_1] + sum_t features[t] . weights[:, y_t] + sum_t transitions[y_(t-1), y_t]).
The loss is the mean over units of -log p(y | x), with a ridge on all three; it is convex, so an epoch is a few steps of
L-BFGS on all sequences, from where the last epoch ended. No chance enters: the same data give the same classifier.

The gradient needs the targets only as counts (how often each unit should have each tag, how often each tag should
follow each), so several weighted taggings of one sequence cost one forward-backward, not one each. Soft targets are
those of independent units: tag k at a unit and k' at the next count targets[i, k] targets[i + 1, k'].

Units that are no sequences (documents) are sequences of one: then this is multinomial regression.

[LMP01] Lafferty, McCallum and Pereira, "Conditional random fields", 2001.

Axes: i unit, f feature, k tag (and k' the next one), s run of units, c path (a tagging of a sequence).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import optimize

from crowdlogic.classifiers.features import FeatureColumns, Features, extract_features, find_columns, load_columns
from crowdlogic.classifiers.protocol import MODEL, Arrays, check_targets
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.names import Classes
from crowdlogic.errors import FormatError, OptionError
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.numerics.chain import ChainMarginals, best_path, marginals


class CRFPotentials(NamedTuple):
    """What a chain is scored by: weights[f, k], start[k] and transitions[k, k']."""

    weights: Floats
    start: Floats
    transitions: Floats

    @property
    def flat(self) -> Floats:
        """One after the other."""
        return np.concatenate([part.ravel() for part in self])

    def unflatten(self, flat: Floats) -> CRFPotentials:
        """The parts of what `flat` put together."""
        ends = np.cumsum([part.size for part in self])[:-1]
        parts = zip(np.split(flat, ends), self, strict=True)
        return CRFPotentials(*(one.reshape(own.shape) for one, own in parts))


@dataclass(frozen=True, eq=False)
class TagPaths:
    """Taggings of whole sequences, one after the other; a sequence may have several, and no path is empty.

    Attributes:
        unit: The unit of each step.
        tag: Its tag.
        offsets: offsets[c] is the first step of path c, offsets[-1] the number of steps.
    """

    unit: Ints
    tag: Ints
    offsets: Ints

    @property
    def onward(self) -> Ints:
        """The steps that have one before them in the same path."""
        return np.asarray(np.setdiff1d(np.arange(len(self.unit)), self.offsets[:-1], assume_unique=True))


@dataclass(frozen=True, eq=False)
class ExpectedCounts:
    """What a chain should come to expect, and how much each run of units counts.

    Attributes:
        unit: The units that count, run after run.
        offsets: offsets[s] is where run s begins among them, offsets[-1] their number.
        share: share[s], how much run s counts.
        tags: tags[i, k], how often unit i should have tag k, times its run's share.
        start: start[k], how often a run should begin with k, likewise.
        transitions: transitions[k, k'], how often k should be followed by k', likewise.
    """

    unit: Ints
    offsets: Ints
    share: Floats
    tags: Floats
    start: Floats
    transitions: Floats


@dataclass(frozen=True)
class CRF:
    """A linear-chain conditional random field.

    Attributes:
        ridge: How strongly potentials are drawn to zero: half of it times their squares is added to the mean loss.
        steps: Steps of L-BFGS in an epoch.
        max_ngram: The longest run of words that is a feature of a text.
        hash_bits: Features of words are hashed to 2^hash_bits columns.
    """

    ridge: float = 1e-7
    steps: int = 10
    max_ngram: int = 2
    hash_bits: int = 18

    name = "crf"

    def __post_init__(self) -> None:
        if not (0 <= self.ridge < math.inf and self.steps >= 1 and self.max_ngram >= 1 and 1 <= self.hash_bits <= 30):
            raise OptionError(
                f"{self.name}: ridge must be 0 or more, steps and max_ngram 1 or more, hash_bits from 1 to 30."
            )

    def build(self, corpus: Corpus, classes: Classes, *, seed: int) -> CRFClassifier:  # noqa: ARG002 (no chance)
        """Zero potentials for the features that the corpus has."""
        return CRFClassifier(self, find_columns(corpus, self.features), len(classes))

    def load(self, arrays: Arrays, classes: Classes) -> CRFClassifier:
        """The classifier that these arrays were taken from."""
        made = CRFClassifier(self, load_columns(arrays, self.features), len(classes))
        made.restore(arrays)
        return made

    def features(self, corpus: Corpus) -> Features:
        """features[i, f] of every unit: those given, else those of its words."""
        return extract_features(corpus, max_ngram=self.max_ngram, hash_bits=self.hash_bits, name=self.name)


class CRFClassifier:
    """CRFPotentials, and the features that they belong to."""

    averages = True

    def __init__(self, options: CRF, columns: FeatureColumns, n_tags: int) -> None:
        self.options, self.columns = options, columns
        empty = ((len(columns), n_tags), (n_tags,), (n_tags, n_tags))
        self.potentials = CRFPotentials(*(np.zeros(shape) for shape in empty))

    def fit_epoch(self, corpus: Corpus, targets: Beliefs, weights: Floats | None = None) -> float:
        """A few steps of L-BFGS towards the targets; the loss where they end.

        A sequence is cut where the weight changes, and what weighs 0 is left out, so that nothing is learnt from it.
        """
        check_targets(corpus, targets, weights, len(self.potentials.start))
        counting = np.ones(corpus.n_units) if weights is None else weights
        return self.fit_counts(corpus, counts_from_targets(sequence_offsets(corpus), targets, counting))

    def fit_counts(self, corpus: Corpus, wanted: ExpectedCounts, *, steps: int | None = None) -> float:
        """Some steps of L-BFGS (those of an epoch) towards what is wanted; the loss where they end."""
        if not len(wanted.unit):
            return 0.0
        features = self.columns.of(corpus)
        features = features if len(wanted.unit) == corpus.n_units else features[wanted.unit]

        def lost(flat: Floats) -> tuple[float, Floats]:
            loss, gradient = objective(self.potentials.unflatten(flat), features, wanted, self.options.ridge)
            return loss, gradient.flat

        count = self.options.steps if steps is None else steps
        begin: Floats = self.potentials.flat
        found = optimize.minimize(lost, begin, jac=True, method="L-BFGS-B", options={"maxiter": count})
        self.potentials = self.potentials.unflatten(found.x)
        return float(found.fun)

    def predict_proba(self, corpus: Corpus) -> Beliefs:
        """p[i, k], the marginals of every unit."""
        return self.marginals(corpus).q

    def marginals(self, corpus: Corpus) -> ChainMarginals:
        """Marginals, expected transitions and partition functions of a corpus."""
        _, start, transitions = self.potentials
        return marginals(self.unary(corpus), transitions, sequence_offsets(corpus), start=start)

    def best_path(self, corpus: Corpus) -> Ints:
        """tags[i] of the most probable tagging of each sequence (Viterbi)."""
        _, start, transitions = self.potentials
        return best_path(self.unary(corpus), transitions, sequence_offsets(corpus), start=start)

    def unary(self, corpus: Corpus) -> Floats:
        """unary[i, k], what the features say of tag k at unit i."""
        return np.asarray(self.columns.of(corpus) @ self.potentials.weights)

    def arrays(self) -> Arrays:
        """CRFPotentials and the columns they belong to."""
        held = self.potentials._asdict().items()
        return self.columns.arrays() | {MODEL + name: part.copy() for name, part in held}

    def restore(self, arrays: Arrays) -> None:
        """Go on where `arrays` was taken."""
        for name, own in self.potentials._asdict().items():
            found = arrays[MODEL + name].shape if MODEL + name in arrays else "missing"
            if found != own.shape:
                raise FormatError(
                    f"These potentials are of another crf: {MODEL + name} is {found} where {own.shape} is expected."
                )
        self.potentials = CRFPotentials(*(np.array(arrays[MODEL + name]) for name in CRFPotentials._fields))


def sequence_offsets(corpus: Corpus) -> Ints:
    """Where each sequence begins; a document is a sequence of one."""
    return np.arange(corpus.n_units + 1) if corpus.offsets is None else np.asarray(corpus.offsets)


def objective(
    model: CRFPotentials, features: Features, wanted: ExpectedCounts, ridge: float
) -> tuple[float, CRFPotentials]:
    """The loss with its ridge, and the gradient.

    Args:
        model: The potentials.
        features: features[i, f] of the units that are wanted.
        wanted: What the chain should come to expect.
        ridge: How strongly potentials are drawn to zero.
    """
    unary = np.asarray(features @ model.weights)
    # One table for each amount that runs count, so that their expected transitions are told apart.
    amounts, amount = np.unique(wanted.share, return_inverse=True)
    lengths = np.diff(wanted.offsets)
    tables = np.broadcast_to(model.transitions, (len(amounts), *model.transitions.shape))
    found = marginals(unary, tables, wanted.offsets, start=model.start, table=np.repeat(amount, lengths))
    said = (wanted.tags * unary).sum() + wanted.start @ model.start + (wanted.transitions * model.transitions).sum()
    loss = wanted.share @ found.log_partition - said + 0.5 * ridge * sum(float((part**2).sum()) for part in model)
    counted = found.q * np.repeat(wanted.share, lengths)[:, None]
    slope = CRFPotentials(
        np.asarray(features.T @ (counted - wanted.tags)),
        counted[wanted.offsets[:-1]].sum(axis=0) - wanted.start,
        np.tensordot(amounts, found.transitions, axes=1) - wanted.transitions,
    )
    return float(loss), CRFPotentials(*(one + ridge * own for one, own in zip(slope, model, strict=True)))


def counts_from_targets(offsets: Ints, targets: Beliefs, weights: Floats) -> ExpectedCounts:
    """From the beliefs of independent units, unit i counting weights[i]: a run is of one sequence and one weight."""
    begins = np.zeros(len(targets), dtype=bool)
    begins[offsets[:-1][np.diff(offsets) > 0]] = True
    begins[1:] |= weights[1:] != weights[:-1]
    unit = np.flatnonzero(weights)
    first = np.flatnonzero(begins[unit])
    tags = targets[unit] * (weights[unit] / max(weights.sum(), np.finfo(float).tiny))[:, None]
    onward = np.setdiff1d(np.arange(len(unit)), first, assume_unique=True)
    share = weights[unit[first]] / max(weights.sum(), np.finfo(float).tiny)
    return ExpectedCounts(
        unit,
        np.append(first, len(unit)),
        share,
        tags,
        tags[first].sum(axis=0),
        targets[unit[onward - 1]].T @ tags[onward],
    )


def counts_from_paths(paths: TagPaths, weights: Floats, offsets: Ints, n_tags: int) -> ExpectedCounts:
    """From paths, path c counting weights[c]; a sequence counts what its paths do together.

    Args:
        paths: Taggings of whole sequences.
        weights: How much each counts.
        offsets: offsets[s] is the first unit of sequence s of the corpus.
        n_tags: How many tags there are.
    """
    lengths = np.diff(offsets)
    sequence = np.searchsorted(offsets, paths.unit[paths.offsets[:-1]], side="right") - 1
    share = np.bincount(sequence, weights=weights, minlength=len(lengths))
    kept = share > 0
    total = max(float((share * lengths).sum()), np.finfo(float).tiny)
    step = np.repeat(weights, np.diff(paths.offsets)) / total
    unit = np.flatnonzero(np.repeat(kept, lengths))
    tags = _counted(paths.unit * n_tags + paths.tag, step, (int(offsets[-1]), n_tags))[unit]
    first, onward = paths.offsets[:-1], paths.onward
    pairs = paths.tag[onward - 1] * n_tags + paths.tag[onward]
    return ExpectedCounts(
        unit,
        np.append(0, np.cumsum(lengths[kept])),
        share[kept] / total,
        tags,
        _counted(paths.tag[first], step[first], (n_tags,)),
        _counted(pairs, step[onward], (n_tags, n_tags)),
    )


def _counted(cells: Ints, weights: Floats, shape: tuple[int, ...]) -> Floats:
    """The weight that fell on each cell of a table."""
    found = np.bincount(cells, weights=weights, minlength=math.prod(shape))
    return np.asarray(found, dtype=np.float64).reshape(shape)


def path_scores(unary: Floats, model: CRFPotentials, paths: TagPaths) -> Floats:
    """score[c] of each path: log p(y | x) before the partition function is taken off."""
    step = unary[paths.unit, paths.tag]
    step[paths.offsets[:-1]] += model.start[paths.tag[paths.offsets[:-1]]]
    step[paths.onward] += model.transitions[paths.tag[paths.onward - 1], paths.tag[paths.onward]]
    return np.asarray(np.add.reduceat(step, paths.offsets[:-1]) if len(step) else np.zeros(0))
