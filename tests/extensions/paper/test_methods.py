"""Builders take over the configuration of the task, and each changes what it says."""

import pytest

from crowdlogic.extensions.networks.crowd_methods import LayerKind
from crowdlogic.extensions.paper import methods
from crowdlogic.extensions.paper.runs import apply_option, load_task

pytest.importorskip("torch")


@pytest.fixture(scope="module")
def tagging():
    return load_task("quick-ner")[1]


@pytest.mark.parametrize(
    "build", [methods.gold, methods.two_stage(None), methods.aggnet, methods.doctor_nets(weighted=True)]
)
def test_other_methods_learn_with_the_network_and_the_limits_of_the_task(tagging, build):
    method, _ = build(tagging, 3)

    assert method.classifier is tagging.method.classifier
    own = tagging.method.limits
    assert (method.limits.epochs, method.limits.patience, method.limits.seed) == (own.epochs, own.patience, 3)


@pytest.mark.parametrize("build", [methods.gold, methods.two_stage("glad")])
def test_methods_with_a_teacher_project_as_the_task_does(tagging, build):
    method, _ = build(tagging, 0)

    assert method.projector is tagging.method.projector


def test_aggnet_has_the_annotator_model_of_the_task_and_no_rules(tagging):
    method, rules = methods.aggnet(tagging, 0)

    own = tagging.method
    assert (method.start, method.annotators, rules) == (own.start, own.annotators, None)


@pytest.mark.parametrize("pretraining", [1, 5])
def test_a_crowd_layer_starts_as_the_task_does(tagging, pretraining):
    method, rules = methods.crowd_layer(LayerKind.MW, pretraining=pretraining)(tagging, 3)

    assert (method.name, method.limits.seed, rules) == ("crowd-layer", 3, None)
    assert (method.kind, method.start, method.pretraining) == ("MW", tagging.method.start, pretraining)


@pytest.mark.parametrize(("weighted", "name"), [(False, "dl-dn"), (True, "dl-wdn")])
def test_doctor_nets_have_weighted_heads_or_equal_ones(tagging, weighted, name):
    method, rules = methods.doctor_nets(weighted=weighted)(tagging, 0)

    assert (method.name, method.weighted, rules) == (name, weighted, None)


def test_other_rules_let_no_entity_begin_inside_a_sentence(tagging):
    method, _ = methods.other_rules(tagging, 0)

    table = method.projector.transitions
    at = {name: k for k, name in enumerate(table.classes)}
    assert table.probability[at["O"], at["B-PER"]] == 0 < table.probability[at["B-PER"], at["I-PER"]]
    assert table.classes == tagging.method.projector.transitions.classes


def test_other_rules_of_reviews_are_about_another_word():
    _, task = load_task("quick-sentiment")

    method, rules = methods.other_rules(task, 0)

    assert "however" in str(rules)
    assert method.classifier is task.method.classifier


def test_without_rules_there_are_neither_rules_nor_transitions(tagging):
    method, rules = methods.without_rules(tagging, 2)

    assert (method.projector.transitions, rules, method.limits.seed) == (None, None, 2)


def test_without_gold_the_answer_is_a_mean_of_weights_unless_said(tagging):
    averaged, _ = methods.without_gold("items")(tagging, 0)
    single, _ = methods.without_gold("annotations", average=1)(tagging, 0)

    assert (averaged.limits.held_out.unit, averaged.limits.held_out.average) == ("items", 5)
    assert (single.limits.held_out.unit, single.limits.held_out.average) == ("annotations", 1)


def test_without_patience_nothing_stops_a_fit_early():
    data, task = load_task("quick-ner")

    patient = apply_option(data, task, "all epochs", seed=0)[1].method

    assert patient.limits.patience == patient.limits.held_out.patience == patient.limits.epochs
