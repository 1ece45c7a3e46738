"""Projection: from beliefs q_a to beliefs q_b that obey the rules as far as they are worth ([LNCL] eq. 14 and 15).

    q_b(t) proportional to q(t) exp(-C sum over l of w_l (1 - v_l(t)))

Groundings over single units give it in closed form; neighbours in sequences by forward-backward; any other pairs
on a graph, exactly where it has no loops. Three presets name the readings of the paper:

- `paper`: from q_a, exact marginals.
- `released`: from the classifier; the best path gets exp(C), as in the authors' program.
- `transitions`: from the classifier, exact marginals; meant for a TransitionTable.

[LNCL] "Learning from Noisy Crowd Labels with Logics". Axes: i unit, k class, l rule, s sequence.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from crowdlogic.data.estimate import Beliefs
from crowdlogic.errors import ConvergenceWarning, OptionError, RuleError
from crowdlogic.numerics.arrays import Bools, Floats, Ints
from crowdlogic.numerics.logspace import LOG_ZERO, normalise, safe_log
from crowdlogic.rules.blocks import Predictions
from crowdlogic.rules.grounding import GroundRules
from crowdlogic.rules.potentials import PerUnit, Potentials, potentials
from crowdlogic.rules.projection.chain import chain_potentials, is_chain, project_marginals, project_path
from crowdlogic.rules.projection.graph import Graph, infer
from crowdlogic.rules.transitions import TransitionTable


class Start(StrEnum):
    """Which beliefs the projection starts from."""

    crowd = "crowd"
    """q_a: crowd and classifier together."""
    classifier = "classifier"
    """p(t | x): the classifier alone."""


class Result(StrEnum):
    """What the projection of a chain gives."""

    marginals = "marginals"
    """The marginals of eq. 15."""
    path = "path"
    """The beliefs it started from, with exp(C) on the most probable path."""


@dataclass(frozen=True)
class Preset:
    """A reading of eq. 15: where it starts and what it gives."""

    start: Start = Start.crowd
    result: Result = Result.marginals


PRESETS = {
    "paper": Preset(Start.crowd, Result.marginals),
    "released": Preset(Start.classifier, Result.path),
    "transitions": Preset(Start.classifier, Result.marginals),
}


@dataclass(frozen=True)
class Settling:
    """When belief propagation on a graph with loops has settled.

    Attributes:
        damping: The share of the old message that is kept.
        tolerance: The largest change of a message that counts as settled.
        max_iterations: When to give up.
    """

    damping: float = 0.5
    tolerance: float = 1e-6
    max_iterations: int = 500


@dataclass(frozen=True, eq=False)
class Projection:
    """Beliefs that obey the rules.

    Attributes:
        q_b: q_b[i, k].
        method: How they were found: single, chain, forest or loopy.
        path: path[i], the most probable labelling, when that was asked for.
        residual: The last change of a message; 0 where exact.
        converged: Whether it settled; always true where exact.
        iterations: Rounds of belief propagation; 0 where exact.
    """

    q_b: Beliefs
    method: str
    path: Ints | None = None
    residual: float = 0.0
    converged: bool = True
    iterations: int = 0


Predict = Callable[[Sequence[str]], Beliefs]
"""The current classifier on texts."""


def project(
    q_a: Beliefs,
    ground: GroundRules,
    *,
    predict: Predict | None = None,
    classifier: Beliefs | None = None,
    strength: float = 5.0,
    preset: Preset | str = "paper",
    transitions: TransitionTable | None = None,
    per_unit: PerUnit | str = PerUnit.sum,
    settling: Settling | None = None,
) -> Projection:
    """Project beliefs onto the rules.

    Args:
        q_a: q_a[i, k], what crowd and classifier believe.
        ground: The rules, grounded over the same units and classes.
        predict: The classifier on texts, asked once about all derived texts. Needed where rules derive texts.
        classifier: p[i, k], the classifier on the units themselves. Needed to start from it, and for Predicted(S, C).
        strength: C: how strongly the rules pull. Hard rules are not scaled.
        preset: paper, released, transitions, or a Preset.
        transitions: A table of transitions that holds beside the rules; for sequences.
        per_unit: Whether the groundings of a rule add up at a unit (sum) or are averaged (mean).
        settling: When belief propagation has settled.
    """
    reading = _preset(preset)
    start = _start(q_a, classifier, reading, ground)
    if not (np.isfinite(strength) and strength >= 0):
        raise OptionError(f"strength: {strength} is not a number of 0 or more.")
    said = potentials(ground, _predictions(ground, predict, classifier), per_unit=per_unit)
    log_unary = said.applied(safe_log(start), strength)
    wants_path = reading.result is Result.path and ground.corpus.is_sequential
    if said.pairs is None and transitions is None and not wants_path:
        return _single(log_unary, start, ground)
    if said.pairs is None or is_chain(said.pairs, ground.corpus):
        return _chain(log_unary, start, said, ground, transitions, strength, reading)
    return _graph(log_unary, start, said, ground, transitions, strength, reading, settling or Settling())


def _preset(preset: Preset | str) -> Preset:
    if isinstance(preset, Preset):
        return preset
    if preset not in PRESETS:
        raise OptionError(f"preset: {preset!r} is none of {', '.join(PRESETS)}.")
    return PRESETS[preset]


def _start(q_a: Beliefs, classifier: Beliefs | None, reading: Preset, ground: GroundRules) -> Beliefs:
    shape = (ground.corpus.n_units, len(ground.classes))
    for name, beliefs in (("q_a", q_a), ("classifier", classifier)):
        if beliefs is not None and beliefs.shape != shape:
            raise OptionError(f"{name} has the shape {beliefs.shape}; the grounded rules need {shape}.")
    if reading.start is Start.crowd:
        return q_a
    if classifier is None:
        raise OptionError("This preset starts from the classifier's beliefs: give `classifier`.")
    return classifier


def _predictions(ground: GroundRules, predict: Predict | None, classifier: Beliefs | None) -> Predictions:
    if not ground.texts:
        return Predictions(units=classifier)
    if predict is None:
        raise OptionError(f"The rules ask for predictions on {len(ground.texts):,} derived texts: give `predict`.")
    said = predict(ground.texts)
    if said.shape != (len(ground.texts), len(ground.classes)):
        raise OptionError(
            f"predict gave the shape {said.shape} for {len(ground.texts):,} texts and {len(ground.classes)} classes."
        )
    return Predictions(units=classifier, texts=said)


def _single(log_unary: Floats, start: Beliefs, ground: GroundRules) -> Projection:
    """Eq. 15 in closed form."""
    q_b, log_sum = normalise(log_unary)
    _refuse_impossible(np.asarray(log_sum == LOG_ZERO), start, ground)
    return Projection(q_b, "single")


def _chain(
    log_unary: Floats,
    start: Beliefs,
    said: Potentials,
    ground: GroundRules,
    transitions: TransitionTable | None,
    strength: float,
    reading: Preset,
) -> Projection:
    offsets = ground.corpus.offsets
    if offsets is None:
        raise OptionError("A transition table is for sequences; the items here are documents.")
    n_units, size = log_unary.shape
    tables, table = chain_potentials(said.pairs, _fitting(transitions, ground), n_units, size, strength)
    begin = None if transitions is None else transitions.log_start
    if reading.result is Result.marginals:
        q_b, impossible = project_marginals(log_unary, tables, table, offsets, begin)
        _refuse_impossible(np.repeat(impossible, np.diff(offsets)), start, ground)
        return Projection(q_b, "chain")
    path, impossible = project_path(log_unary, tables, table, offsets, begin)
    _refuse_impossible(np.repeat(impossible, np.diff(offsets)), start, ground)
    return Projection(raised(start, path, strength), "chain", path=path)


def raised(beliefs: Beliefs, path: Ints, strength: float) -> Beliefs:
    """The beliefs with exp(C) on a path, normalised: what the authors' program calls q_b."""
    weight = safe_log(beliefs)
    weight[np.arange(len(path)), path] += strength
    return normalise(weight)[0]


def _fitting(transitions: TransitionTable | None, ground: GroundRules) -> TransitionTable | None:
    if transitions is not None and tuple(map(str, transitions.classes)) != tuple(map(str, ground.classes)):
        raise OptionError("The transition table is over other classes, or in another order, than the beliefs.")
    return transitions


def _graph(
    log_unary: Floats,
    start: Beliefs,
    said: Potentials,
    ground: GroundRules,
    transitions: TransitionTable | None,
    strength: float,
    reading: Preset,
    settling: Settling,
) -> Projection:
    if reading.result is Result.path:
        raise OptionError("The best path is for chains: these rules also join units that are no neighbours.")
    if transitions is not None:
        raise OptionError("A transition table is for chains: these rules also join units that are no neighbours.")
    if said.pairs is None:
        raise OptionError("There are no pairs of units.")
    graph = Graph(log_unary, said.pairs.first, said.pairs.second, said.pairs.log(strength), said.pairs.which)
    found = infer(graph, damping=settling.damping, tolerance=settling.tolerance, max_iterations=settling.max_iterations)
    _refuse_impossible(found.impossible, start, ground)
    if not found.converged:
        warnings.warn(
            f"Belief propagation did not settle in {found.iterations} rounds: the last change was "
            f"{found.residual:.2g}. Lower the strength, raise the damping, or average groundings (per_unit = mean).",
            ConvergenceWarning,
            stacklevel=3,
        )
    method = "loopy" if found.loops else "forest"
    return Projection(found.q, method, residual=found.residual, converged=found.converged, iterations=found.iterations)


def _refuse_impossible(impossible: Bools, start: Beliefs, ground: GroundRules) -> None:
    """An error that names the hard rules at the first unit for which no class is left."""
    if not impossible.any():
        return
    i = int(np.flatnonzero(impossible)[0])
    where = _item_of(i, ground)
    if not (start[i] > 0).any():
        raise RuleError(f"{where}: the beliefs are 0 for every class.")
    group = _connected(i, ground)
    named = [
        f"{rule.rule.place}: {rule.rule}"
        for rule in ground.rules
        if rule.rule.weight is None and np.isin(rule.units, group).any()
    ]
    others = np.count_nonzero(impossible) - 1
    raise RuleError(
        f"{where}: the hard rules forbid every class that the beliefs allow"
        f"{f' (and for {others:,} more units)' if others else ''}. The rules there:\n    "
        + "\n    ".join(named or ["none; a transition of probability 0 forbids it"])
    )


def _item_of(i: int, ground: GroundRules) -> str:
    if ground.corpus.offsets is None:
        return f"Item {ground.corpus.items[i]!r}"
    s = int(np.searchsorted(ground.corpus.offsets, i, side="right")) - 1
    return f"Sequence {ground.corpus.items[s]!r}, token {i - int(ground.corpus.offsets[s]) + 1}"


def _connected(i: int, ground: GroundRules) -> Ints:
    """The units that may have a say in unit i: its sequence, or itself and its direct partners."""
    if ground.corpus.offsets is not None:
        s = int(np.searchsorted(ground.corpus.offsets, i, side="right")) - 1
        return np.arange(ground.corpus.offsets[s], ground.corpus.offsets[s + 1])
    partners = [np.array([i])]
    for rule in ground.rules:
        for block in rule.blocks:
            if block.second is not None:
                partners += [block.second[block.first == i], block.first[block.second == i]]
    return np.unique(np.concatenate(partners))
