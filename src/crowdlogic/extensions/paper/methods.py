"""The methods of the rows: how each is built from the configuration of a task, and how one of its options is changed.

This module alone knows which option of `learning` is called what. `TaskMethod` is Logic-LNCL as the task configures it;
every other method takes over from it what both have in common (`_limits`, `_projection`, `_annotator_model`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

from crowdlogic.annotators.abstaining import Abstaining
from crowdlogic.classifiers.protocol import Architecture
from crowdlogic.data.estimate import Estimate
from crowdlogic.extensions.paper.crf_ma import CRFMA
from crowdlogic.learning.algorithm import LogicLNCL
from crowdlogic.learning.baselines.aggnet import AggNet, Raykar
from crowdlogic.learning.baselines.fixed_truth import FixedTruth, KnownAnswers
from crowdlogic.learning.baselines.two_stage import Gold, TwoStage
from crowdlogic.learning.imitation import Imitation
from crowdlogic.learning.method import LearningMethod
from crowdlogic.learning.presets import CONLL_TIES, PresetConfiguration, bilstm_crf
from crowdlogic.learning.stopping import HeldOut, TrainingLimits
from crowdlogic.registry import ANNOTATOR_MODELS, LEARNING_METHODS
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.projection.projector import Start, find_preset
from crowdlogic.rules.syntax import RuleSet
from crowdlogic.rules.transitions import CONLL_START, TransitionTable, transition_table
from crowdlogic.truth.majority import MajorityVote
from crowdlogic.truth.methods import TruthMethod, truth_method
from crowdlogic.truth.ties import Ties

TaskMethod: TypeAlias = LogicLNCL

Built: TypeAlias = tuple[LearningMethod, RuleSet | None]
"""A method and the rules that its `fit` is given."""

Builder: TypeAlias = Callable[[PresetConfiguration, int], Built]
"""From the configuration of a task and a random seed to a method."""

UNREALISTIC = {("O", "O"): 1.0} | {
    (f"B-{kind}", f"{part}-{kind}"): 1.0 for kind in ("PER", "LOC", "ORG", "MISC") for part in "BI"
}
"""The paper's "other rules" of tags: a tag follows a tag of its own type and nothing else, so no entity can begin."""


# What other methods take over from the method of the task.


def _limits(method: TaskMethod, seed: int) -> TrainingLimits:
    """The limits of the task with another random seed."""
    return replace(method.limits, seed=seed)


# One function per option that a row or a task changes.


def with_seed(method: TaskMethod, seed: int) -> TaskMethod:
    """Another random seed."""
    return replace(method, limits=replace(method.limits, seed=seed))


def with_classifier(method: TaskMethod, classifier: Architecture, *, epochs: int) -> TaskMethod:
    """Another classifier and another maximum number of epochs."""
    return replace(method, classifier=classifier, limits=replace(method.limits, epochs=epochs))


def with_strength(method: TaskMethod, strength: float) -> TaskMethod:
    """Another C, the strength of the rules (eq. 15)."""
    return replace(method, projector=replace(method.projector, strength=strength))


def with_imitation(method: TaskMethod, imitation: Imitation) -> TaskMethod:
    """Another schedule k(t) (eq. 9)."""
    return replace(method, imitation=imitation)


def with_transitions(method: TaskMethod, transitions: TransitionTable | None) -> TaskMethod:
    """Another table of transitions between tags, or none."""
    return replace(method, projector=replace(method.projector, transitions=transitions))


def projecting_predictions(method: TaskMethod) -> TaskMethod:
    """The rules start from the classifier's predictions instead of q_a."""
    preset = find_preset(method.projector.preset)
    return replace(method, projector=replace(method.projector, preset=replace(preset, start=Start.classifier)))


def with_start(method: TaskMethod, name: str) -> TaskMethod:
    """The first targets of another truth method; the vote's are the winners, ties in the paper's order."""
    vote = MajorityVote(ties=Ties.order, order=CONLL_TIES)
    return replace(method, start=vote if name == vote.name else truth_method(name))


def with_annotators(method: TaskMethod, name: str) -> TaskMethod:
    """Another annotator model, with the correlation of the present one."""
    correlation = getattr(method.annotators, "correlation", 0.0)
    changed = replace(method, annotators=ANNOTATOR_MODELS.create(name))
    return with_correlation(changed, correlation) if correlation else changed


def with_correlation(method: TaskMethod, correlation: float) -> TaskMethod:
    """Labels of one unit that depend on each other to another degree."""
    annotators: Any = method.annotators
    return replace(method, annotators=replace(annotators, correlation=correlation))


def with_halving(method: TaskMethod, epochs: int) -> TaskMethod:
    """The learning rate halved after another number of epochs; 0 keeps it constant."""
    classifier: Any = method.classifier
    training = replace(classifier.training, halve_every=epochs)
    return replace(method, classifier=replace(classifier, training=training))


def with_warm_up(method: TaskMethod, epochs: int) -> TaskMethod:
    """Another number of epochs that learn the first targets."""
    return replace(method, warm_up=epochs)


def without_patience(method: TaskMethod) -> TaskMethod:
    """All epochs are run, whatever stops the method otherwise."""
    limits = method.limits
    held_out = None if limits.held_out is None else replace(limits.held_out, patience=limits.epochs)
    return replace(method, limits=replace(limits, patience=limits.epochs, held_out=held_out))


def with_held_out(method: TaskMethod, held_out: HeldOut) -> TaskMethod:
    """Other held-out labels to stop by."""
    return replace(method, limits=replace(method.limits, held_out=held_out))


# One builder per kind of row.


def logic_lncl(task: PresetConfiguration, seed: int) -> Built:
    """Logic-LNCL as the task configures it."""
    return with_seed(task.method, seed), task.rules


def without_rules(task: PresetConfiguration, seed: int) -> Built:
    """Logic-LNCL without rules and transitions."""
    return with_seed(with_transitions(task.method, None), seed), None


def other_rules(task: PresetConfiguration, seed: int) -> Built:
    """Rules that do not hold: "however" in place of "but"; for tags, transitions that let no entity begin."""
    method = with_seed(task.method, seed)
    table = method.projector.transitions
    if table is None:
        return method, parse_rules("1.0: include contrast('however')", source="other rules")
    classes = table.classes if isinstance(table, TransitionTable) else tuple(sorted(CONLL_TIES))
    return with_transitions(method, transition_table(UNREALISTIC, classes, start=CONLL_START)), task.rules


def without_gold(unit: str, *, average: int = HeldOut().average) -> Builder:
    """Logic-LNCL without dev gold: held-out labels (all labels of some items, or single annotations) stop it."""

    def build(task: PresetConfiguration, seed: int) -> Built:
        return with_seed(with_held_out(task.method, HeldOut(unit=unit, average=average)), seed), task.rules

    return build


def rules_on_truth(name: str | None) -> Builder:
    """The rules on the answers of a truth method; None for the majority vote that Algorithm 1 starts with."""

    def build(task: PresetConfiguration, seed: int) -> Built:
        return _fixed_truth(task, None if name is None else truth_method(name), seed)

    return build


def rules_on_estimate(task: PresetConfiguration, estimate: Estimate, seed: int) -> Built:
    """The rules on the answers of an earlier fit."""
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
    """The upper bound: the classifier learns the gold."""
    method = task.method
    return Gold(method.classifier, projector=method.projector, limits=_limits(method, seed)), task.rules


def two_stage(name: str | None) -> Builder:
    """A truth method, then the classifier; None for the majority vote that Algorithm 1 starts with."""

    def build(task: PresetConfiguration, seed: int) -> Built:
        method = task.method
        truth = method.start if name is None else truth_method(name)
        hard = isinstance(truth, MajorityVote) and name is None and truth.ties != Ties.soft
        limits = _limits(method, seed)
        made = TwoStage(truth, method.classifier, hard=hard, projector=method.projector, limits=limits)
        return made, task.rules

    return build


def aggnet(task: PresetConfiguration, seed: int) -> Built:
    """AggNet with the network of the task."""
    method = task.method
    return AggNet(
        classifier=method.classifier, annotators=method.annotators, start=method.start, limits=_limits(method, seed)
    ), None


def aggnet_with_silence(task: PresetConfiguration, seed: int) -> Built:
    """AggNet for labelling functions, which abstain."""
    method = task.method
    return AggNet(
        classifier=method.classifier, start=method.start, annotators=Abstaining(), limits=TrainingLimits(seed=seed)
    ), None


def replace_tagger(task: PresetConfiguration) -> PresetConfiguration:
    """The configuration of `--preset ner`, with the word vectors and limits of a task; small where its network is."""
    given: Any = task.method.classifier
    found = bilstm_crf(given.vectors)
    network: Any = found.method.classifier
    if given.vectors is None:  # a simulated task
        shared = ("hidden_size", "vector_size", "training")
        network = replace(network, **{name: getattr(given, name) for name in shared if hasattr(given, name)})
    return replace(
        found,
        method=with_classifier(
            found.method, network, epochs=min(task.method.limits.epochs, found.method.limits.epochs)
        ),
    )


def replace_classifier(task: PresetConfiguration) -> PresetConfiguration:
    """The same configuration with the tagger of `--preset ner` alone: its vote, annotators and rules stay."""
    return replace(task, method=replace(task.method, classifier=replace_tagger(task).method.classifier))


def raykar(task: PresetConfiguration, seed: int) -> Built:
    """AggNet with a linear classifier."""
    method = task.method
    return Raykar(annotators=method.annotators, start=method.start, limits=_limits(method, seed)), None


def crf_ma(_: PresetConfiguration, seed: int) -> Built:
    """CRF-MA, for tags only; deterministic, so all seeds agree."""
    return CRFMA(limits=TrainingLimits(seed=seed)), None


def crowd_layer(kind: str, *, pretraining: int) -> Builder:
    """A crowd layer after some epochs of pre-training on the majority vote that Algorithm 1 starts with."""

    def build(task: PresetConfiguration, seed: int) -> Built:
        method, limits = task.method, _limits(task.method, seed)
        made = LEARNING_METHODS.load("crowd-layer")(
            method.classifier, kind, pretraining=pretraining, start=method.start, limits=limits
        )
        return made, None

    return build


def doctor_nets(*, weighted: bool) -> Builder:
    """Doctor nets: a head per annotator, all alike (DL-DN) or weighted (DL-WDN)."""

    def build(task: PresetConfiguration, seed: int) -> Built:
        made = LEARNING_METHODS.load("dl-dn")(
            task.method.classifier, weighted=weighted, limits=_limits(task.method, seed)
        )
        return made, None

    return build
