"""Builders of the methods in the rows, from the configuration of a task.

`TaskMethod` is Logic-LNCL as configured by the task; all other methods are derived from it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

from crowdlogic.annotators.abstaining import Abstaining
from crowdlogic.data.estimate import Estimate
from crowdlogic.extensions.paper.crf_ma import CRFMA
from crowdlogic.learning.algorithm import LogicLNCL
from crowdlogic.learning.baselines import AggNet, FixedTruth, Gold, KnownAnswers, Raykar, TwoStage
from crowdlogic.learning.method import LearningMethod
from crowdlogic.learning.presets import CONLL_TIES, PresetConfiguration
from crowdlogic.learning.stopping import HeldOut, TrainingLimits
from crowdlogic.registry import LEARNING_METHODS, PRESETS
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.syntax import RuleSet
from crowdlogic.rules.transitions import CONLL_START, TransitionTable, transition_table
from crowdlogic.truth.majority import MajorityVote
from crowdlogic.truth.methods import TruthMethod, truth_method
from crowdlogic.truth.ties import Ties

TaskMethod: TypeAlias = LogicLNCL

Built: TypeAlias = tuple[LearningMethod, RuleSet | None]
"""Method and the rules passed to its `fit`."""

Builder: TypeAlias = Callable[[PresetConfiguration, int], Built]
"""Function that builds a method from the configuration of a task and a random seed."""

UNREALISTIC = {("O", "O"): 1.0} | {
    (f"B-{kind}", f"{part}-{kind}"): 1.0 for kind in ("PER", "LOC", "ORG", "MISC") for part in "BI"
}
"""The paper's "other rules" for tags: a tag only follows a tag of its own type, so no entity can begin."""


def _limits(method: TaskMethod, seed: int) -> TrainingLimits:
    """Return the limits of the task with another random seed."""
    return replace(method.limits, seed=seed)


def with_seed(method: TaskMethod, seed: int) -> TaskMethod:
    """Set the random seed."""
    return replace(method, limits=_limits(method, seed))


def with_transitions(method: TaskMethod, transitions: TransitionTable | None) -> TaskMethod:
    """Set the table of transitions between tags, or None."""
    return replace(method, projector=replace(method.projector, transitions=transitions))


def without_patience(method: TaskMethod) -> TaskMethod:
    """Run all epochs, without early stopping."""
    limits = method.limits
    held_out = None if limits.held_out is None else replace(limits.held_out, patience=limits.epochs)
    return replace(method, limits=replace(limits, patience=limits.epochs, held_out=held_out))


def logic_lncl(task: PresetConfiguration, seed: int) -> Built:
    """Build Logic-LNCL as configured by the task."""
    return with_seed(task.method, seed), task.rules


def without_rules(task: PresetConfiguration, seed: int) -> Built:
    """Build Logic-LNCL without rules and transitions."""
    return with_seed(with_transitions(task.method, None), seed), None


def other_rules(task: PresetConfiguration, seed: int) -> Built:
    """Build Logic-LNCL with wrong rules: "however" instead of "but", or transitions without entities."""
    method = with_seed(task.method, seed)
    table = method.projector.transitions
    if table is None:
        return method, parse_rules("1.0: include contrast('however')", source="other rules")
    classes = table.classes if isinstance(table, TransitionTable) else tuple(sorted(CONLL_TIES))
    return with_transitions(method, transition_table(UNREALISTIC, classes, start=CONLL_START)), task.rules


def without_gold(unit: str, *, average: int = HeldOut().average) -> Builder:
    """Return a builder of Logic-LNCL that stops by held-out labels (of items, or annotations), not by dev gold."""

    def build(task: PresetConfiguration, seed: int) -> Built:
        limits = replace(task.method.limits, held_out=HeldOut(unit=unit, average=average), seed=seed)
        return replace(task.method, limits=limits), task.rules

    return build


def rules_on_truth(name: str | None) -> Builder:
    """Return a builder that applies rules to a truth method's answers; None for the initial majority vote."""

    def build(task: PresetConfiguration, seed: int) -> Built:
        return _fixed_truth(task, None if name is None else truth_method(name), seed)

    return build


def rules_on_estimate(task: PresetConfiguration, estimate: Estimate, seed: int) -> Built:
    """Build a method that applies the rules to the answers of an earlier fit."""
    return _fixed_truth(task, KnownAnswers(estimate), seed)


def _fixed_truth(task: PresetConfiguration, truth: TruthMethod | None, seed: int) -> Built:
    method = task.method
    fixed_truth = FixedTruth(
        truth=truth,
        classifier=method.classifier,
        annotators=method.annotators,
        projector=method.projector,
        imitation=method.imitation,
        loss=method.loss,
        start=method.start,
        doubt=method.doubt,
        limits=_limits(method, seed),
    )
    return fixed_truth, task.rules


def gold(task: PresetConfiguration, seed: int) -> Built:
    """Build the upper bound: the classifier trained on gold."""
    method = task.method
    return Gold(method.classifier, projector=method.projector, limits=_limits(method, seed)), task.rules


def two_stage(name: str | None) -> Builder:
    """Return a builder of a two-stage method; None for the initial majority vote of Algorithm 1."""

    def build(task: PresetConfiguration, seed: int) -> Built:
        method = task.method
        truth = method.start if name is None else truth_method(name)
        hard = isinstance(truth, MajorityVote) and name is None and truth.ties != Ties.soft
        limits = _limits(method, seed)
        made = TwoStage(truth, method.classifier, hard=hard, projector=method.projector, limits=limits)
        return made, task.rules

    return build


def aggnet(task: PresetConfiguration, seed: int) -> Built:
    """Build AggNet with the network of the task."""
    method = task.method
    return AggNet(
        classifier=method.classifier, annotators=method.annotators, start=method.start, limits=_limits(method, seed)
    ), None


def aggnet_with_silence(task: PresetConfiguration, seed: int) -> Built:
    """Build AggNet for labelling functions, which abstain."""
    method = task.method
    return AggNet(
        classifier=method.classifier, start=method.start, annotators=Abstaining(), limits=TrainingLimits(seed=seed)
    ), None


def replace_tagger(task: PresetConfiguration) -> PresetConfiguration:
    """Return the configuration of `--preset ner` with the word vectors, limits and network size of a task."""
    given: Any = task.method.classifier
    found: PresetConfiguration = PRESETS.load("ner")(vectors=given.vectors)
    network: Any = found.method.classifier
    if given.vectors is None:  # a simulated task
        shared = ("hidden_size", "vector_size", "training")
        network = replace(network, **{name: getattr(given, name) for name in shared if hasattr(given, name)})
    limits = replace(found.method.limits, epochs=min(task.method.limits.epochs, found.method.limits.epochs))
    return replace(found, method=replace(found.method, classifier=network, limits=limits))


def replace_classifier(task: PresetConfiguration) -> PresetConfiguration:
    """Replace only the classifier by the tagger of `--preset ner`, keeping start, annotators and rules."""
    return replace(task, method=replace(task.method, classifier=replace_tagger(task).method.classifier))


def raykar(task: PresetConfiguration, seed: int) -> Built:
    """Build Raykar: AggNet with a linear classifier."""
    method = task.method
    return Raykar(annotators=method.annotators, start=method.start, limits=_limits(method, seed)), None


def crf_ma(_: PresetConfiguration, seed: int) -> Built:
    """Build CRF-MA, for tags only; deterministic, so all seeds agree."""
    return CRFMA(limits=TrainingLimits(seed=seed)), None


def crowd_layer(kind: str, *, pretraining: int) -> Builder:
    """Return a builder of a crowd layer with pretraining on the initial majority vote of Algorithm 1."""

    def build(task: PresetConfiguration, seed: int) -> Built:
        method, limits = task.method, _limits(task.method, seed)
        made = LEARNING_METHODS.load("crowd-layer")(
            method.classifier, kind, pretraining=pretraining, start=method.start, limits=limits
        )
        return made, None

    return build


def doctor_nets(*, weighted: bool) -> Builder:
    """Return a builder of doctor nets: one head per annotator, with equal (DL-DN) or learnt weights (DL-WDN)."""

    def build(task: PresetConfiguration, seed: int) -> Built:
        made = LEARNING_METHODS.load("dl-dn")(
            task.method.classifier, weighted=weighted, limits=_limits(task.method, seed)
        )
        return made, None

    return build
