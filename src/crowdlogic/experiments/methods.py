"""The methods of the rows: how each is built from the configuration of a task, and how one of its options is changed.

This module alone knows which option of `learning` is called what. `TaskMethod` is Logic-LNCL as the task configures it;
every other method takes over from it what both have in common (`_limits`, `_projection`, `_annotator_model`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, TypeAlias

from crowdlogic.classifiers.protocol import Architecture
from crowdlogic.data.estimate import Estimate
from crowdlogic.learning.crf_ma import CRFMA
from crowdlogic.learning.crowd_layer import CrowdLayer, Kind
from crowdlogic.learning.doctor_nets import DoctorNets
from crowdlogic.learning.logic_lncl import LogicLNCL, Loss
from crowdlogic.learning.presets import CONLL_TIES, Configured
from crowdlogic.learning.schedules import Imitation
from crowdlogic.learning.settled_truth import Answered, SettledTruth
from crowdlogic.learning.special import AggNet, Raykar
from crowdlogic.learning.stopping import HeldOut
from crowdlogic.learning.two_stage import Gold, TwoStage
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.projection.presets import PRESETS, Start
from crowdlogic.rules.syntax import RuleSet
from crowdlogic.rules.transitions import CONLL_START, TransitionTable, transition_table
from crowdlogic.truth.methods import TruthMethod, truth_method
from crowdlogic.truth.ties import Ties

TaskMethod: TypeAlias = LogicLNCL

Built: TypeAlias = tuple[LogicLNCL | TwoStage | Gold | CrowdLayer | DoctorNets | CRFMA, RuleSet | None]
"""A method and the rules that its `fit` is given."""

Builder: TypeAlias = Callable[[Configured, int], Built]
"""From the configuration of a task and a random seed to a method."""

UNREALISTIC = {("O", "O"): 1.0} | {
    (f"B-{kind}", f"{part}-{kind}"): 1.0 for kind in ("PER", "LOC", "ORG", "MISC") for part in "BI"
}
"""The paper's "other rules" of tags: a tag follows a tag of its own type and nothing else, so no entity can begin."""


# What other methods take over from the method of the task.


def _limits(method: TaskMethod, seed: int) -> dict[str, Any]:
    """Number of epochs, patience and random seed."""
    return {"epochs": method.epochs, "patience": method.patience, "seed": seed}


def _projection(method: TaskMethod) -> dict[str, Any]:
    """How rules correct predictions."""
    return {"strength": method.strength, "preset": method.preset, "transitions": method.transitions}


def _annotator_model(method: TaskMethod) -> dict[str, Any]:
    """The first targets and the prior of the confusion matrices."""
    return {"start": method.start, "smoothing": method.smoothing, "trust": method.trust}


# One function per option that a row or a task changes.


def with_seed(method: TaskMethod, seed: int) -> TaskMethod:
    """Another random seed."""
    return replace(method, seed=seed)


def with_classifier(method: TaskMethod, classifier: Architecture, *, epochs: int) -> TaskMethod:
    """Another classifier and another maximum number of epochs."""
    return replace(method, classifier=classifier, epochs=epochs)


def with_strength(method: TaskMethod, strength: float) -> TaskMethod:
    """Another C, the strength of the rules (eq. 15)."""
    return replace(method, strength=strength)


def with_imitation(method: TaskMethod, imitation: Imitation) -> TaskMethod:
    """Another schedule k(t) (eq. 9)."""
    return replace(method, imitation=imitation)


def with_transitions(method: TaskMethod, transitions: TransitionTable | None) -> TaskMethod:
    """Another table of transitions between tags, or none."""
    return replace(method, transitions=transitions)


def projecting_predictions(method: TaskMethod) -> TaskMethod:
    """The rules start from the classifier's predictions instead of q_a."""
    preset = PRESETS[method.preset] if isinstance(method.preset, str) else method.preset
    return replace(method, preset=replace(preset, start=Start.classifier))


def without_patience(method: TaskMethod) -> TaskMethod:
    """All epochs are run, whatever stops the method otherwise."""
    held_out = None if method.held_out is None else replace(method.held_out, patience=method.epochs)
    return replace(method, patience=method.epochs, held_out=held_out)


def with_held_out(method: TaskMethod, held_out: HeldOut) -> TaskMethod:
    """Other held-out labels to stop by."""
    return replace(method, held_out=held_out)


# One builder per kind of row.


def logic_lncl(task: Configured, seed: int) -> Built:
    """Logic-LNCL as the task configures it."""
    return with_seed(task.method, seed), task.rules


def without_rules(task: Configured, seed: int) -> Built:
    """Logic-LNCL without rules and transitions."""
    return with_seed(with_transitions(task.method, None), seed), None


def other_rules(task: Configured, seed: int) -> Built:
    """Rules that do not hold: "however" in place of "but"; for tags, transitions that let no entity begin."""
    method = with_seed(task.method, seed)
    table = method.transitions
    if table is None:
        return method, parse_rules("1.0: include contrast('however')", source="other rules")
    classes = table.classes if isinstance(table, TransitionTable) else tuple(sorted(CONLL_TIES))
    return with_transitions(method, transition_table(UNREALISTIC, classes, start=CONLL_START)), task.rules


def without_gold(unit: str, *, average: int = HeldOut().average) -> Builder:
    """Logic-LNCL without dev gold: held-out labels (all labels of some items, or single annotations) stop it."""

    def build(task: Configured, seed: int) -> Built:
        return with_seed(with_held_out(task.method, HeldOut(apart=unit, average=average)), seed), task.rules

    return build


def rules_on_truth(name: str | None) -> Builder:
    """The rules on the answers of a truth method; None for the majority vote that Algorithm 1 starts with."""

    def build(task: Configured, seed: int) -> Built:
        return _fixed_truth(task, None if name is None else truth_method(name), seed)

    return build


def rules_on_estimate(task: Configured, estimate: Estimate, seed: int) -> Built:
    """The rules on the answers of an earlier fit."""
    return _fixed_truth(task, Answered(estimate), seed)


def _fixed_truth(task: Configured, truth: TruthMethod | None, seed: int) -> Built:
    options = {field.name: getattr(task.method, field.name) for field in fields(task.method)}
    return SettledTruth(**(options | {"seed": seed}), truth=truth), task.rules


def gold(task: Configured, seed: int) -> Built:
    """The upper bound: the classifier learns the gold."""
    method = task.method
    return Gold(method.classifier, **_projection(method), **_limits(method, seed)), task.rules


def two_stage(name: str | None) -> Builder:
    """A truth method, then the classifier; None for the majority vote that Algorithm 1 starts with."""

    def build(task: Configured, seed: int) -> Built:
        method = task.method
        truth = method.start if name is None else truth_method(name)
        hard = name is None and method.start.ties != Ties.soft
        options = _projection(method) | _limits(method, seed)
        return TwoStage(truth, method.classifier, hard=hard, **options), task.rules

    return build


def aggnet(task: Configured, seed: int) -> Built:
    """AggNet with the network of the task."""
    method = task.method
    options = _annotator_model(method) | _limits(method, seed)
    return AggNet(classifier=method.classifier, loss=Loss.plain, **options), None


def aggnet_with_silence(task: Configured, seed: int) -> Built:
    """AggNet for labelling functions, which abstain."""
    method = task.method
    return AggNet(classifier=method.classifier, start=method.start, silence=True, seed=seed), None


def raykar(task: Configured, seed: int) -> Built:
    """AggNet with a linear classifier."""
    return Raykar(**_annotator_model(task.method), **_limits(task.method, seed)), None


def crf_ma(_: Configured, seed: int) -> Built:
    """CRF-MA, for tags only; deterministic, so all seeds agree."""
    return CRFMA(seed=seed), None


def crowd_layer(kind: Kind, *, pretraining: int) -> Builder:
    """A crowd layer after some epochs of pre-training on the majority vote that Algorithm 1 starts with."""

    def build(task: Configured, seed: int) -> Built:
        method = task.method
        options = _limits(method, seed)
        return CrowdLayer(method.classifier, kind, pretraining=pretraining, start=method.start, **options), None

    return build


def doctor_nets(*, weighted: bool) -> Builder:
    """Doctor nets: a head per annotator, all alike (DL-DN) or weighted (DL-WDN)."""

    def build(task: Configured, seed: int) -> Built:
        return DoctorNets(task.method.classifier, weighted=weighted, **_limits(task.method, seed)), None

    return build
