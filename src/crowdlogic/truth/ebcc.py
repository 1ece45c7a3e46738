"""EBCC: classes have subtypes, so that annotators can make the same errors.

[LRC19] Li, Rubinstein and Cohn, "Exploiting worker correlation for label aggregation in crowdsourcing", 2019. Each
class is a mixture of M subtypes with confusion of their own per annotator; within a subtype annotators are
independent, within a class they are not. Variational updates of their section 4.2, with the class prior from the
votes ("empirical prior") of their released program. The bound is the log evidence under expected log parameters less
the divergences.

Starts are random. The random numbers of an item are a hash of the labels it received (their classes, and how many
labels their annotators gave and how often they agree with the votes), not of its position in the file: so the order of
items, annotators and classes does not change the result.

Axes: i unit, j annotator, k class, n given label, z latent state: subtype r of class k is state k * M + r.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from crowdlogic.annotators.protocol import check_size
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs, Estimate, make_estimate, vote_shares
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.engines.shards import Shards, make_shards
from crowdlogic.engines.sweeps import Sweep, table_sweep, tally
from crowdlogic.errors import OptionError
from crowdlogic.numerics import dirichlet
from crowdlogic.numerics.arrays import Floats
from crowdlogic.numerics.checks import check_amounts
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.numerics.sums import sum_by
from crowdlogic.truth.accepting import takes_frames
from crowdlogic.truth.fitting import DEFAULT_FIT, Fit, Fitting, empty_estimate, iterate, starting_beliefs


@dataclass(frozen=True)
class EBCC:
    """Enhanced Bayesian classifier combination ([LRC19]).

    Attributes:
        subtypes: Number of subtypes of each class.
        subtype_count: Prior count of all subtypes of a class together; the smaller, the fewer subtypes are used.
        diagonal: Prior count of right labels, in each subtype, of every annotator.
        off_diagonal: Prior count of each wrong label.
        restarts: Number of random starts, beside one without subtypes; the fit with the best bound is taken.
        seed: Random seed of the starts.
        convergence: When each start stops: by the gain of the bound per label.
    """

    subtypes: int = 10
    subtype_count: float = 0.1
    diagonal: float = 4.0
    off_diagonal: float = 1.0
    restarts: int = 10
    seed: int = 0
    convergence: Convergence = Convergence()

    name = "ebcc"
    takes_partial_labels: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_amounts(self, positive=("subtype_count", "diagonal", "off_diagonal"))
        if self.subtypes < 1 or self.restarts < 1:
            raise OptionError("ebcc: subtypes and restarts must be 1 or more.")

    @takes_frames
    def infer(self, labels: CrowdLabels, corpus: Corpus | None = None, *, fitting: Fitting = DEFAULT_FIT) -> Estimate:  # noqa: ARG002 (no text needed)
        """Iterate the updates from several starts, and take the one with the best bound."""
        if not labels.n_labels:
            return empty_estimate(labels, self.name)
        check_size(self.name, len(labels.annotators) * self.subtypes, labels.n_classes)
        shards = make_shards(labels, threads=fitting.threads, anchors=fitting.anchors, partial=True)
        priors = self._priors(labels)
        fits = [
            self._fit(labels, shards, priors, seed=self.seed + at, fitting=fitting) for at in range(self.restarts + 1)
        ]
        return self._estimate(labels, shards, self._best(fits, labels.n_classes), fitting)

    def _best(self, fits: list[Fit], n_classes: int) -> Fit:
        """The fit with the best bound; the one without subtypes unless a random start gains more than K log M nats.

        Choosing among its M subtypes costs a class up to log M nats of the bound, so a gain below that, per class, may
        only mean that a class was lost.
        """
        whole, *random = fits
        best = max(random, key=lambda fit: float(fit.trace[-1]))
        return best if best.trace[-1] > whole.trace[-1] + n_classes * np.log(self.subtypes) else whole

    def _priors(self, labels: CrowdLabels) -> dict[str, Floats]:
        n_classes = labels.n_classes
        # [n, m], then [n, z] with each true class repeated for its subtypes
        per_label = np.eye(n_classes) * (self.diagonal - self.off_diagonal) + self.off_diagonal
        return {
            "table": np.repeat(per_label, self.subtypes, axis=1),
            "classes": 1e-9 + vote_shares(labels.votes())[labels.labels_per_unit() > 0].sum(axis=0),
            "subtypes": np.full((n_classes, self.subtypes), self.subtype_count / self.subtypes),
        }

    def _fit(
        self, labels: CrowdLabels, shards: Shards, priors: dict[str, Floats], *, seed: int, fitting: Fitting
    ) -> Fit:
        def initial() -> dict[str, Floats]:
            started = starting_beliefs(labels, fitting)
            q = vote_shares(labels.votes()) if started is None else started
            return _posterior(tally(shards, self._split(labels, q, seed)), priors)

        def step(state: dict[str, Floats]) -> tuple[dict[str, Floats], float]:
            found = _sweep(shards, state)
            divergence = dirichlet.divergence(state["table"], priors["table"], axis=1)
            divergence += dirichlet.divergence(state["classes"], priors["classes"], axis=0)
            divergence += dirichlet.divergence(state["subtypes"], priors["subtypes"], axis=1)
            return _posterior(found, priors), found.log_evidence - divergence

        own = fitting
        if fitting.checkpoint is not None:
            own = replace(fitting, checkpoint=Path(f"{fitting.checkpoint}.{seed}"))
        return iterate(self, labels, initial=initial, step=step, fitting=own)

    def _split(self, labels: CrowdLabels, q: Beliefs, seed: int) -> Floats:
        """q[i, z]: each belief spread over the subtypes by Dirichlet(1, ..., 1) draws; all in one for the first start.

        The first start is the model without subtypes. On a handful of labels it has the best bound: there the subtypes
        of a random start have so few labels each that a rare class is lost.
        """
        if seed == self.seed:
            return np.asarray((q[:, :, None] * np.eye(self.subtypes)[0]).reshape(len(q), -1))
        noise = _content_noise(labels, self.subtypes, seed)
        return np.asarray((q[:, :, None] * noise / noise.sum(axis=2, keepdims=True)).reshape(len(q), -1))

    def _estimate(self, labels: CrowdLabels, shards: Shards, fit: Fit, fitting: Fitting) -> Estimate:
        n_classes = labels.n_classes
        # q[i, z] summed over the subtypes of each class; likewise table[j, n, z], weighted by the subtypes' shares
        q = np.asarray(_sweep(shards, fit.state, keep=True).q).reshape(-1, n_classes, self.subtypes).sum(axis=2)
        subtypes = fit.state["subtypes"] / fit.state["subtypes"].sum(axis=1, keepdims=True)
        table = fit.state["table"] / fit.state["table"].sum(axis=1, keepdims=True)
        confusion = (table.reshape(-1, n_classes, n_classes, self.subtypes) * subtypes).sum(axis=3).transpose(0, 2, 1)
        classes = fit.state["classes"]
        return make_estimate(
            labels,
            self.name,
            q,
            confusion=confusion,
            prior=classes / classes.sum(),
            trace=fit.trace,
            converged=fit.converged,
            answer_all=fitting.answer_all,
            parameters={"subtypes": subtypes},
        )


def _sweep(shards: Shards, state: dict[str, Floats], *, keep: bool = False) -> Sweep:
    log_class = dirichlet.expected_log(state["classes"], axis=0)
    log_prior = log_class[:, None] + dirichlet.expected_log(state["subtypes"], axis=1)
    return table_sweep(shards, dirichlet.expected_log(state["table"], axis=1), log_prior.ravel(), keep=keep)


def _posterior(found: Sweep, priors: dict[str, Floats]) -> dict[str, Floats]:
    """Concentrations from expected counts ([LRC19] section 4.2)."""
    by_class = found.totals.reshape(priors["subtypes"].shape)
    return {
        "table": found.counts + priors["table"],
        "classes": by_class.sum(axis=1) + priors["classes"],
        "subtypes": by_class + priors["subtypes"],
    }


Bits = NDArray[np.uint64]


def _content_noise(labels: CrowdLabels, size: int, seed: int) -> Floats:
    """noise[i, k, r], exponential draws that depend on the seed and on what each unit received, not on any order.

    An annotator is known by how many labels they gave and how often they agree with the votes, a class by its votes, a
    unit by the sum of its (annotator, class) pairs; units that received the same get the same draws.
    """
    votes = labels.votes(weighted=False)
    agreement = vote_shares(votes)[labels.unit, labels.label]
    said = labels.label if labels.negated is None else labels.label + labels.n_classes * labels.negated
    given = labels.labels_per_annotator()
    agreed = sum_by(labels.annotator, len(given), agreement) / np.maximum(given, 1)
    annotator = _shuffle_bits(_shuffle_bits(given.astype(np.uint64)) + np.round(agreed * 1e6).astype(np.uint64))
    kind = _shuffle_bits(votes.sum(axis=0).astype(np.uint64) + np.uint64(1))
    kinds = kind if labels.negated is None else np.concatenate([kind, _shuffle_bits(kind)])  # of "not k" behind
    unit = np.zeros(labels.n_units, dtype=np.uint64)  # [i], a sum of hashes, which no order changes
    np.add.at(unit, labels.unit, _shuffle_bits(annotator[labels.annotator] + kinds[said]))
    base = _shuffle_bits(unit + _shuffle_bits(np.array([seed], dtype=np.uint64)))
    cells = _shuffle_bits(base[:, None, None] + kind[:, None] + _shuffle_bits(np.arange(size, dtype=np.uint64)))
    # The upper 53 bits of each cell as a uniform number in (0, 1), and its exponential
    uniform = ((cells >> np.uint64(11)).astype(np.float64) + 0.5) / 2.0**53
    return np.asarray(-np.log(uniform))


def _shuffle_bits(value: Bits) -> Bits:
    """Sixty-four bits well shuffled (the finaliser of splitmix64); sums wrap around."""
    with np.errstate(over="ignore"):
        value = value + np.uint64(0x9E3779B97F4A7C15)
        value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(value ^ (value >> np.uint64(31)), dtype=np.uint64)
