"""EBCC: classes have subtypes, so that annotators can make the same errors.

[LRC19] Li, Rubinstein and Cohn, "Exploiting worker correlation for label aggregation in crowdsourcing", 2019. Each
class is a mixture of M subtypes, each with its own confusion per annotator. Annotators are independent within a
subtype, but not within a class. Variational updates of their section 4.2, with the class prior from the
votes ("empirical prior") of their released program. The bound is the log evidence under expected log parameters less
the divergences.

Starts are random. The random numbers of an item are a hash of the labels it received (their classes, and the
number of labels of their annotators and how often these agree with the votes), not of its position in the file. So the
order of items, annotators and classes does not affect the result.

Axes: i unit, j annotator, k class, n given label, z latent state: subtype r of class k is state k * M + r.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from crowdlogic.annotators.label_sums import (
    Q,
    check_size,
    code_table,
    compiled_table_step,
    count_votes,
    is_compiled,
    tally,
    vote_shares,
    whole_counts,
)
from crowdlogic.data.blocks import Arrays, Engine, Shard, State
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.estimate import vote_shares as share_votes
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import OptionError
from crowdlogic.numerics.arrays import Bits, Floats, check_amounts, shuffle_bits, sum_by
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.numerics.logspace import dirichlet_divergence, expected_log
from crowdlogic.truth.dawid_skene import e_step
from crowdlogic.truth.fitting import DEFAULT_FIT, EngineFit, Fitting, Iterations, own_checkpoint, starting_beliefs
from crowdlogic.truth.methods import FitsBlocks


@dataclass(frozen=True)
class EBCC(FitsBlocks):
    """Enhanced Bayesian classifier combination ([LRC19]).

    Attributes:
        subtypes: Number of subtypes of each class.
        subtype_count: Prior count of all subtypes of a class together; smaller values lead to fewer subtypes.
        diagonal: Prior count of right labels, in each subtype, of every annotator.
        off_diagonal: Prior count of each wrong label.
        restarts: Number of random starts, in addition to one without subtypes; the fit with the best bound is used.
        seed: Random seed of the starts.
        convergence: Stopping criterion of each start, by the gain of the bound per label.
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
            raise OptionError("ebcc: subtypes and restarts must be at least 1.")

    def fit_over(
        self, blocks: Engine, *, labels: CrowdLabels | None = None, fitting: Fitting = DEFAULT_FIT
    ) -> EngineFit:
        """Fit to blocks of labels from several starts, and return the fit with the best bound."""
        check_size(self.name, blocks.n_annotators * self.subtypes, blocks.n_classes)
        votes, _ = blocks.sum(partial(vote_facts, n_annotators=blocks.n_annotators, n_classes=blocks.n_classes), {})
        start = starting_beliefs(labels, fitting)
        seeds = range(self.seed, self.seed + self.restarts + 1)
        fits = [self._fit_from(seed, blocks, votes, start, labels, fitting) for seed in seeds]
        return self._best(fits, blocks.n_classes)

    def _fit_from(
        self,
        seed: int,
        blocks: Engine,
        votes: Arrays,
        start: Beliefs | None,
        labels: CrowdLabels | None,
        fitting: Fitting,
    ) -> EngineFit:
        """Fit from one start: without subtypes if its seed equals the method's seed."""
        n_classes, size = blocks.n_classes, self.subtypes
        n_states, drawn = n_classes * size, seed != self.seed
        priors = self.prior_counts(votes)
        step = partial(e_step, states_per_class=size)
        if is_compiled(blocks, n_states):
            step = partial(compiled_table_step)

        # Initialise with the update for beliefs (or the shares of the votes) that are spread over the subtypes
        split = partial(split_step, n_classes=n_classes, subtypes=size)
        given = None if start is None else blocks.scatter({Q: start})
        _, states = blocks.sum(split, _draw_parameters(votes, seed) if drawn else {}, given)
        spread = tally(blocks, states=states, n_states=n_states)
        first = self.update(spread.counts, spread.totals, priors)
        fit = Iterations(self, blocks, first, labels=labels, fitting=own_checkpoint(fitting, str(seed)))
        for p in fit:
            log_table, log_prior = expected_logs(p)
            s, _ = blocks.sum(step, {"log_table": code_table(blocks, log_table), "log_prior": log_prior})
            following = self.update(whole_counts(s["counts"], log_table), s["totals"], priors)
            fit.update(following, objective=float(s["log_evidence"]) - divergence(p, priors))
        log_table, log_prior = expected_logs(fit.state)

        # Confusion matrices, weighted by the shares of the subtypes: [j, n, m, r] summed over r
        classes, subtypes = fit.state["classes"], fit.state["subtypes"]
        shares = subtypes / subtypes.sum(axis=1, keepdims=True)
        table = fit.state["table"] / fit.state["table"].sum(axis=1, keepdims=True)
        by_subtype = table.reshape(-1, n_classes, n_classes, size) * shares
        return fit.result(
            partial(class_beliefs, step=step, subtypes=size),
            {"log_table": code_table(blocks, log_table), "log_prior": log_prior},
            confusion=by_subtype.sum(axis=3).transpose(0, 2, 1),
            prior=classes / classes.sum(),
            others={"subtypes": shares},
        )

    def prior_counts(self, votes: Arrays) -> dict[str, Floats]:
        """Return the prior counts of the tables, [n, z], of the classes, [m], and of the subtypes, [m, r]."""
        n_classes = len(votes["shares"])
        per_label = np.eye(n_classes) * (self.diagonal - self.off_diagonal) + self.off_diagonal
        return {
            "table": np.repeat(per_label, self.subtypes, axis=1),
            "classes": 1e-9 + votes["shares"],
            "subtypes": np.full((n_classes, self.subtypes), self.subtype_count / self.subtypes),
        }

    def update(self, counts: Floats, totals: Floats, priors: Arrays) -> State:
        """Return the Dirichlet posteriors from expected counts[j, n, z] and totals[z] ([LRC19] section 4.2)."""
        by_class = totals.reshape(-1, self.subtypes)
        return {
            "table": counts + priors["table"],
            "classes": by_class.sum(axis=1) + priors["classes"],
            "subtypes": by_class + priors["subtypes"],
        }

    def _best(self, fits: list[EngineFit], n_classes: int) -> EngineFit:
        """Return the fit with the best bound; a random start must gain more than K log M nats over no subtypes.

        Choosing among its M subtypes costs a class up to log M nats of the bound, so a gain below that, per class, may
        only mean that a class was lost.
        """
        whole, *random = fits
        best = max(random, key=lambda fit: float(fit.trace[-1]))
        return best if best.trace[-1] > whole.trace[-1] + n_classes * np.log(self.subtypes) else whole


def class_beliefs(block: Shard, p: Arrays, state: Arrays, *, step: Any, subtypes: int) -> tuple[Arrays, Arrays]:
    """Run the E-step and return q[i, k], the beliefs in all subtypes of each class."""
    s, found = step(block, p, state, keep=True)
    q = found[Q]
    return s, {Q: q.reshape(len(q), q.shape[1] // subtypes, subtypes).sum(axis=2)}


def divergence(p: State, priors: Arrays) -> float:
    """Return the divergence of the posteriors from their priors."""
    axes = {"table": 1, "classes": 0, "subtypes": 1}
    return sum(dirichlet_divergence(p[name], priors[name], axis=axis) for name, axis in axes.items())


def expected_logs(p: State) -> tuple[Floats, Floats]:
    """Return E[log p] of the tables, [j, n, z], and of the states, [z]."""
    log_class = expected_log(p["classes"], axis=0)
    log_prior = log_class[:, None] + expected_log(p["subtypes"], axis=1)
    return expected_log(p["table"], axis=1), log_prior.ravel()


def vote_facts(shard: Shard, _p: Arrays, _state: Arrays, *, n_annotators: int, n_classes: int) -> tuple[Arrays, Arrays]:
    """Count votes of classes and annotators in a block, for the class prior and the random draws.

    Returns:
        shares[k] and votes[k] over all units; given[j] labels, of which agreed[j] agree with the votes.
    """
    free = replace(shard, fixed=np.empty(0, dtype=np.int32))
    plain = count_votes(replace(free, weight=np.empty(0)), n_classes)
    said = shard.label % max(n_classes, 1)
    agreement = share_votes(plain)[shard.unit, said]
    times = replace(shard, weight=np.empty(0)).row_weights()
    return {
        "shares": shard.unit_sum(vote_shares(free, n_classes)),
        "votes": shard.unit_sum(plain),
        "given": sum_by(shard.annotator, n_annotators, times),
        "agreed": sum_by(shard.annotator, n_annotators, agreement if times is None else times * agreement),
    }, {}


def split_step(
    shard: Shard, parameters: Arrays, state: Arrays, *, n_classes: int, subtypes: int
) -> tuple[Arrays, Arrays]:
    """Divide beliefs among the subtypes of each class: the new state is q[i, z].

    Beliefs are divided by Dirichlet(1, ..., 1) draws, or, without parameters, all put into the first subtype, which is
    the model without subtypes. With very few labels, the latter has the best bound, because the subtypes of a random
    start would have so few labels that a rare class is lost.

    Args:
        shard: The labels.
        parameters: See `_draw_parameters`; empty for no subtypes.
        state: q[i, k], if it is not the shares of the votes.
        n_classes: Number of classes.
        subtypes: Number of subtypes of each class.
    """
    free = replace(shard, fixed=np.empty(0, dtype=np.int32))
    q = state[Q] if Q in state else vote_shares(free, n_classes)
    shape = (len(q), n_classes * subtypes)
    if not parameters:
        return {}, {Q: (q[:, :, None] * np.eye(subtypes)[0]).reshape(shape)}
    noise = _content_noise(shard, parameters, subtypes)
    return {}, {Q: (q[:, :, None] * noise / noise.sum(axis=2, keepdims=True)).reshape(shape)}


def _draw_parameters(votes: Arrays, seed: int) -> dict[str, Bits]:
    """Return the inputs of the draws apart from a unit's labels: hashes of annotators, classes (and "not k"), and seed.

    An annotator is identified by the number of labels and how often they agree with the votes, a class by its votes.
    """
    agreed = np.round(votes["agreed"] / np.maximum(votes["given"], 1) * 1e6).astype(np.uint64)
    kind = shuffle_bits(votes["votes"].astype(np.uint64) + np.uint64(1))
    return {
        "annotator": shuffle_bits(shuffle_bits(votes["given"].astype(np.uint64)) + agreed),
        "kinds": np.concatenate([kind, shuffle_bits(kind)]),
        "seed": shuffle_bits(np.array([seed], dtype=np.uint64)),
    }


def _content_noise(shard: Shard, parameters: Arrays, size: int) -> Floats:
    """Return noise[i, k, r], exponential draws that depend on the seed and the labels of each unit, not on any order.

    A unit is identified by the sum of its (annotator, class) pairs; units with equal labels get equal draws.
    """
    kinds = parameters["kinds"]
    kind = kinds[: len(kinds) // 2]
    unit = np.zeros(shard.n_units, dtype=np.uint64)  # [i], a sum of hashes, which does not depend on the order
    np.add.at(unit, shard.unit, shuffle_bits(parameters["annotator"][shard.annotator] + kinds[shard.label]))
    base = shuffle_bits(unit + parameters["seed"])
    cells = shuffle_bits(base[:, None, None] + kind[:, None] + shuffle_bits(np.arange(size, dtype=np.uint64)))
    # The upper 53 bits of each cell as a uniform number in (0, 1), and its exponential
    uniform = ((cells >> np.uint64(11)).astype(np.float64) + 0.5) / 2.0**53
    return np.asarray(-np.log(uniform))
