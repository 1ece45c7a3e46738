"""Project beliefs q_a to beliefs q_b that satisfy weighted rules ([LNCL] eq. 14 and 15).

    q_b(t) proportional to q(t) exp(-C sum over l of w_l (1 - v_l(t)))

The algorithm depends on the groundings of the rules: a closed form if each is about a single unit (an item or a token),
forward-backward if they join neighbours in sequences, and belief propagation on a graph otherwise, which is exact if
there are no loops. A `Projector` contains the rules and all options. The projection of a chain (`ChainBeliefs`) is a
chain as well: the potentials of the rules are added to its scores.

[LNCL] "Learning from Noisy Crowd Labels with Logics". Axes: i unit, k class, l rule, s sequence.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from crowdlogic.data.chain_beliefs import AnyBeliefs, ChainBeliefs, unit_beliefs
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.names import Classes
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import ConvergenceWarning, OptionError, RuleError
from crowdlogic.numerics.arrays import Bools, Floats, Ints
from crowdlogic.numerics.chain import IMPOSSIBLE
from crowdlogic.numerics.logspace import LOG_ZERO, normalise, safe_log
from crowdlogic.rules.parser import as_rules
from crowdlogic.rules.potentials import Pairs, PerUnit, Potentials, Predictions, check_per_unit, potentials
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.projection.chain import chain_potentials, is_chain, project_marginals, project_path
from crowdlogic.rules.projection.graph import Graph, Propagation, infer
from crowdlogic.rules.syntax import RuleSet
from crowdlogic.rules.transitions import TransitionTable, estimate_transitions

if TYPE_CHECKING:
    from crowdlogic.rules.grounding import GroundRules


def refuse_impossible(impossible: Bools, start: Beliefs, ground: GroundRules) -> None:
    """Raise an error if hard rules forbid every class of a unit; the message names the first such unit and the rules.

    Args:
        impossible: impossible[i], whether every class of a unit is forbidden.
        start: start[i, k], the beliefs that the projection started from.
        ground: The rules.
    """
    if not impossible.any():
        return
    i = int(np.flatnonzero(impossible)[0])
    # The units that may influence unit i: its sequence, or itself and its direct partners
    offsets = ground.corpus.offsets
    if offsets is None:
        where = f"Item {ground.corpus.items[i]!r}"
        pairs = [(one.first, one.second) for rule in ground.rules for one in rule.blocks if one.second is not None]
        partners = [np.concatenate([second[first == i], first[second == i]]) for first, second in pairs]
        group = np.unique(np.concatenate([[i], *partners]))
    else:
        s = int(np.searchsorted(offsets, i, side="right")) - 1
        where = f"Sequence {ground.corpus.items[s]!r}, token {i - int(offsets[s]) + 1}"
        group = np.arange(offsets[s], offsets[s + 1])
    if not (start[i] > 0).any():
        raise RuleError(f"{where}: the beliefs are 0 for every class.")
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


# Variants of eq. 15 of the paper: the beliefs that the projection starts from, and its result.
#
# - `paper`: from q_a, exact marginals.
# - `released`: from the classifier; the best path gets exp(C), as in the authors' program.
# - `transitions`: from the classifier, exact marginals; meant for a TransitionTable.


class Start(StrEnum):
    """Which beliefs the projection starts from."""

    crowd = "crowd"
    """q_a: crowd and classifier together."""
    classifier = "classifier"
    """p(t | x): the classifier alone."""


class Result(StrEnum):
    """Result of the projection of a chain."""

    marginals = "marginals"
    """The marginals of eq. 15."""
    path = "path"
    """The beliefs it started from, with exp(C) on the most probable path."""


@dataclass(frozen=True)
class Preset:
    """A variant of eq. 15: where the projection starts, and its result."""

    start: Start = Start.crowd
    result: Result = Result.marginals


PRESETS = {
    "paper": Preset(Start.crowd, Result.marginals),
    "released": Preset(Start.classifier, Result.path),
    "transitions": Preset(Start.classifier, Result.marginals),
}


def find_preset(preset: Preset | str) -> Preset:
    """Look up a preset by its name; a Preset is returned unchanged."""
    if isinstance(preset, Preset):
        return preset
    if preset not in PRESETS:
        raise OptionError(f"preset: expected one of {', '.join(PRESETS)}; got {preset!r}.")
    return PRESETS[preset]


NO_RULES = RuleSet(())

ESTIMATED = "estimated"
"""Name for transitions that are estimated from the first targets."""

Predict = Callable[[Sequence[str]], Beliefs]
"""Function that returns the beliefs of the current classifier for texts."""


@dataclass(frozen=True, eq=False)
class Projection:
    """Result of a projection.

    Attributes:
        q_b: q_b[i, k], the projected beliefs.
        method: Algorithm that was used: single, chain, forest or loopy.
        path: path[i], the most probable labels, if the preset needs them.
        residual: The last change of a message; 0 where exact.
        converged: Whether belief propagation converged; always true where exact.
        iterations: Rounds of belief propagation; 0 where exact.
        chain: q_b with the beliefs of neighbours, where the projection started from a chain.
    """

    q_b: Beliefs
    method: str
    path: Ints | None = None
    residual: float = 0.0
    converged: bool = True
    iterations: int = 0
    chain: ChainBeliefs | None = None


@dataclass(frozen=True, kw_only=True)
class Projector:
    """Rules, and the options of their projection.

    Attributes:
        rules: The rules; None for none.
        vocabulary: Predicates in addition to the built-in ones.
        transitions: A table of transitions in addition to the rules, for tags; "estimated" makes `with_transitions`
            estimate it from the first targets.
        strength: Strength of the rules, C. Hard rules are not scaled.
        preset: Variant of the projection: paper, released, transitions, or a Preset.
        per_unit: Whether the groundings of a rule at a unit are summed (sum) or averaged (mean).
        propagation: Options for belief propagation, which is used if rules join units in loops.
        factors: factors[l], learnt multipliers of the weights of the expanded rules; None if all are 1.
    """

    rules: RuleSet | None = None
    vocabulary: Vocabulary | None = None
    transitions: TransitionTable | str | None = None
    strength: float = 5.0
    preset: Preset | str = "paper"
    per_unit: PerUnit | str = PerUnit.sum
    propagation: Propagation = Propagation()
    factors: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if not (np.isfinite(self.strength) and self.strength >= 0):
            raise OptionError(f"strength must be a finite number of at least 0; got {self.strength}.")
        object.__setattr__(self, "rules", as_rules(self.rules))
        find_preset(self.preset)
        check_per_unit(self.per_unit)
        if isinstance(self.transitions, str) and self.transitions != ESTIMATED:
            raise OptionError(f"transitions: {self.transitions!r} is neither a table nor {ESTIMATED!r}.")

    @property
    def is_idle(self) -> bool:
        """Whether there are neither rules nor transitions."""
        return (self.rules is None or not self.rules.statements) and self.transitions is None

    @property
    def starts_from_classifier(self) -> bool:
        """Whether the projection starts from the classifier's beliefs instead of q_a."""
        return find_preset(self.preset).start is Start.classifier

    def n_rules(self, classes: Classes) -> int:
        """Return the number of rules after rule sets are expanded."""
        from crowdlogic.rules.expansion import expand

        return 0 if self.rules is None else len(expand(self.rules, classes).rules)

    def ground(self, corpus: Corpus, classes: Classes) -> GroundRules:
        """Ground the rules over a corpus, and multiply their weights by the factors."""
        from crowdlogic.rules.grounding import ground_rules

        ground = ground_rules(self.rules or NO_RULES, corpus, classes, vocabulary=self.vocabulary)
        return ground if self.factors is None else ground.reweight(self.factors)

    def for_items(
        self, corpus: Corpus, classes: Classes, *, given_for: Corpus, renewed: Vocabulary | None = None
    ) -> Projector:
        """Return the projector for other items than those that its tables of facts are about.

        Args:
            corpus: The other items.
            classes: The classes.
            given_for: The items that the tables are about.
            renewed: Predicates that replace those of the same name, such as tables about the other items.
        """
        from crowdlogic.rules.expansion import expand
        from crowdlogic.rules.facts import refuse_namesakes

        words, renewed = self.vocabulary or Vocabulary(), renewed or Vocabulary()
        if self.rules is not None and words.tables.keys() - renewed.tables.keys():
            refuse_namesakes(expand(self.rules, classes), words, corpus, given_for=given_for, except_for=renewed.tables)
        return replace(self, vocabulary=words.updated(renewed))

    def reweight(self, factors: Sequence[float] | Floats | None) -> Projector:
        """Return the projector with other multipliers of the rules' weights."""
        return replace(self, factors=None if factors is None else tuple(map(float, factors)))

    def with_transitions(self, targets: Beliefs, offsets: Ints | None, classes: Classes) -> Projector:
        """Return the projector with a table of transitions for the classes, estimated from the targets if asked for.

        Args:
            targets: targets[i, k], the first targets.
            offsets: Where each sequence begins; None for documents.
            classes: The classes, in the order of the targets' columns.
        """
        if self.transitions is None:
            return self
        if isinstance(self.transitions, TransitionTable):
            return replace(self, transitions=self.transitions.over(classes))
        if offsets is None:
            raise OptionError("transitions are for sequences; the items here are documents.")
        return replace(self, transitions=estimate_transitions(targets, offsets, classes, given="current"))

    def project(
        self,
        q_a: AnyBeliefs,
        ground: GroundRules,
        *,
        predict: Predict | None = None,
        classifier: AnyBeliefs | None = None,
    ) -> Projection:
        """Project beliefs onto the rules ([LNCL] eq. 15).

        Args:
            q_a: q_a[i, k], the beliefs of crowd and classifier together; or a chain.
            ground: The rules, grounded over the units and classes of q_a.
            predict: The classifier, called once with all derived texts; needed if rules derive texts.
            classifier: p[i, k], the classifier's beliefs; needed to start from them, and for Predicted(S, C).
        """
        start = self.start(q_a, classifier, ground)
        by_unit = None if classifier is None else unit_beliefs(classifier)
        found = self.potentials(ground, make_predictions(ground, predict, by_unit))
        if isinstance(start, ChainBeliefs):
            return self._project_scores(start, found, ground)
        # log_unary[i, k], the logs of the first beliefs plus the log potentials of single units
        log_unary = found.apply(safe_log(start), self.strength)
        wants_path = find_preset(self.preset).result is Result.path and ground.corpus.is_sequential
        if found.pairs is None and self.transitions is None and not wants_path:
            q_b, log_sum = normalise(log_unary)  # single units, in closed form
            refuse_impossible(np.asarray(log_sum == LOG_ZERO), start, ground)
            return Projection(q_b, "single")
        if found.pairs is None or is_chain(found.pairs, ground.corpus):
            return self._project_chain(start, log_unary, found.pairs, ground)
        return self._project_graph(start, log_unary, found.pairs, ground)

    def start(self, q_a: AnyBeliefs, classifier: AnyBeliefs | None, ground: GroundRules) -> AnyBeliefs:
        """Return the beliefs that the projection starts from: q_a, or the classifier's."""
        shape = (ground.corpus.n_units, len(ground.classes))
        for name, beliefs in (("q_a", q_a), ("classifier", classifier)):
            if beliefs is not None and (found := unit_beliefs(beliefs).shape) != shape:
                raise OptionError(f"{name} has the shape {found}; the grounded rules need {shape}.")
        if not self.starts_from_classifier:
            return q_a
        if classifier is None:
            raise OptionError("This preset starts from the classifier's beliefs. Pass `classifier`.")
        return classifier

    def potentials(self, ground: GroundRules, predictions: Predictions) -> Potentials:
        """Return the sum of the penalties of all groundings, for each unit and each pair of units."""
        return potentials(ground, predictions, per_unit=self.per_unit)

    def _project_chain(self, start: Beliefs, log_unary: Floats, pairs: Pairs | None, ground: GroundRules) -> Projection:
        """Project onto rules over neighbours in sequences (eq. 15)."""
        offsets, table = ground.corpus.offsets, self._table(ground.classes)
        if offsets is None:
            raise OptionError("A transition table is for sequences; the items here are documents.")
        tables, which = chain_potentials(pairs, table, log_unary.shape, strength=self.strength)
        begin = None if table is None else table.log_start
        if find_preset(self.preset).result is Result.marginals:
            q_b, impossible = project_marginals(log_unary, tables, which, offsets=offsets, start=begin)
            refuse_impossible(np.repeat(impossible, np.diff(offsets)), start, ground)
            return Projection(q_b, "chain")
        path, impossible = project_path(log_unary, tables, which, offsets=offsets, start=begin)
        refuse_impossible(np.repeat(impossible, np.diff(offsets)), start, ground)
        return Projection(raise_path(start, path, self.strength), "chain", path=path)

    def _project_scores(self, start: ChainBeliefs, found: Potentials, ground: GroundRules) -> Projection:
        """Project a chain (eq. 15): the potentials of the rules are added to its scores."""
        if start.scores is None:
            raise OptionError("A mixture of chains cannot be projected. Project each of its parts instead.")
        if found.pairs is not None and not is_chain(found.pairs, ground.corpus):
            raise OptionError(
                "These rules join units that are not neighbours, but the classifier models chains of tags. Use a "
                "classifier without chain scores (cnn-gru, crf), or leave these rules out."
            )
        table, log_unary = self._table(ground.classes), found.apply(start.scores.unary, self.strength)
        tables, which = chain_potentials(found.pairs, table, log_unary.shape, strength=self.strength)
        scores = start.scores.join(log_unary, tables, which, start=None if table is None else table.log_start)
        path = None
        if find_preset(self.preset).result is Result.path:
            path = scores.best_path()
            refuse_impossible(path == IMPOSSIBLE, start.q, ground)
            raised = np.zeros_like(scores.unary)
            raised[np.arange(len(path)), path] = self.strength
            scores = start.scores.add(raised)
        projected = scores.beliefs()
        lost = np.asarray(projected.log_partition) == LOG_ZERO
        refuse_impossible(np.repeat(lost, np.diff(scores.offsets)), start.q, ground)
        return Projection(projected.q, "chain", path=path, chain=projected)

    def _table(self, classes: Classes) -> TransitionTable | None:
        """Return the table of transitions, or raise an error if it has other classes."""
        if isinstance(self.transitions, str):
            raise OptionError(
                f"transitions: {self.transitions!r} is only a name. Estimate the table first: with_transitions(...)."
            )
        if self.transitions is not None and tuple(map(str, self.transitions.classes)) != tuple(map(str, classes)):
            raise OptionError("The transition table has other classes than the beliefs, or another order of them.")
        return self.transitions

    def _project_graph(self, start: Beliefs, log_unary: Floats, pairs: Pairs, ground: GroundRules) -> Projection:
        """Project onto rules over any pairs of units (eq. 15)."""
        if find_preset(self.preset).result is Result.path:
            raise OptionError(
                "The best path requires a chain, but these rules also join units that are not neighbours."
            )
        if self.transitions is not None:
            raise OptionError(
                "A transition table requires a chain, but these rules also join units that are not neighbours."
            )
        graph = Graph(
            unary=log_unary,
            first=pairs.first,
            second=pairs.second,
            tables=pairs.log_potential(self.strength),
            which=pairs.which,
        )
        found = infer(graph, self.propagation)
        refuse_impossible(found.impossible, start, ground)
        if not found.converged:
            warnings.warn(
                f"Belief propagation did not converge in {found.iterations} rounds: the last change was "
                f"{found.residual:.2g}. Lower the strength, raise the damping, or average groundings "
                f"(per_unit = mean).",
                ConvergenceWarning,
                stacklevel=3,
            )
        return Projection(
            found.q,
            "loopy" if found.loops else "forest",
            residual=found.residual,
            converged=found.converged,
            iterations=found.iterations,
        )


def raise_path(beliefs: Beliefs, path: Ints, strength: float) -> Beliefs:
    """Multiply the beliefs on a path by exp(C) and normalise, as the authors' program does for q_b."""
    weight = safe_log(beliefs)
    weight[np.arange(len(path)), path] += strength
    return normalise(weight)[0]


def make_predictions(ground: GroundRules, predict: Predict | None, classifier: Beliefs | None) -> Predictions:
    """Return the predictions that rules need: on the units, and on all derived texts at once."""
    if not ground.texts:
        return Predictions(units=classifier)
    if predict is None:
        raise OptionError(f"The rules need predictions on {len(ground.texts):,} derived texts. Pass `predict`.")
    answers = predict(ground.texts)
    if answers.shape != (len(ground.texts), len(ground.classes)):
        raise OptionError(
            f"predict returned the shape {answers.shape} for {pluralise(len(ground.texts), 'text')} and "
            f"{pluralise(len(ground.classes), 'class', 'classes')}."
        )
    return Predictions(units=classifier, texts=answers)
