from __future__ import annotations

import numpy as np
import pytest
from tests.classifiers.planted_labels import label_task, symmetric_confusion
from tests.classifiers.planted_tasks import blob_task, review_task

torch = pytest.importorskip("torch", reason="torch is not installed: pip install crowdlogic[torch]")

from crowdlogic.extensions.networks.crowd_layer import (  # noqa: E402
    AnnotatorLayer,
    add_crowd_layer,
    crowd_label_loss,
)
from crowdlogic.extensions.networks.kim_cnn import KimCNN  # noqa: E402
from crowdlogic.extensions.networks.mlp import MLP  # noqa: E402

KINDS = {"MW": (True, False), "VW": (False, False), "VW-B": (False, True)}
CPU = torch.device("cpu")


def layer_of(kind: str, n_annotators: int = 4, n_classes: int = 3, *, seed: int | None = 0) -> AnnotatorLayer:
    matrix, bias = KINDS[kind]
    layer = AnnotatorLayer(n_annotators, n_classes, matrix=matrix, bias=bias).double()
    if seed is not None:
        rng = np.random.default_rng(seed)
        with torch.no_grad():
            for tensor in layer.parameters():
                tensor.add_(torch.from_numpy(rng.normal(size=tuple(tensor.shape))))
    return layer


def slow_loss(layer: AnnotatorLayer, labels, logits: np.ndarray, units: np.ndarray) -> float:
    """[ROD18], label by label: the sum over the batch's labels."""
    weight = layer.weight.detach().numpy()
    bias = np.zeros(weight.shape[::2]) if layer.bias is None else layer.bias.detach().numpy()
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    total = 0.0
    for i, j, n in zip(labels.unit, labels.annotator, labels.label, strict=True):
        for place in np.flatnonzero(units == i):
            full = weight[j] if weight.ndim == 3 else np.diag(weight[j])
            said = p[place] @ full + (bias[j] if layer.bias is not None else 0.0)
            total -= np.log(np.exp(said[n]) / np.exp(said).sum())
    return total


@pytest.mark.parametrize("kind", KINDS)
def test_the_loss_is_the_cross_entropy_of_every_label_through_its_annotators_layer(kind: str) -> None:
    task = blob_task(count=20)
    labels = label_task(task, np.stack([symmetric_confusion(0.6, 3)] * 4), share=0.5)
    layer, units = layer_of(kind), np.array([7, 0, 19, 3, 4])
    logits = np.random.default_rng(1).normal(size=(5, 3))

    mean, counted = crowd_label_loss(labels, lambda a, j: layer(torch.softmax(a, dim=-1), j), CPU)(
        torch.from_numpy(logits), units
    )

    per_unit = labels.n_labels / len(np.unique(labels.unit))
    assert counted == len(set(units) & set(labels.unit.tolist()))
    np.testing.assert_allclose(mean.item() * counted * per_unit, slow_loss(layer, labels, logits, units), rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_those_of_finite_differences(kind: str) -> None:
    task = blob_task(count=20)
    labels = label_task(task, np.stack([symmetric_confusion(0.6, 3)] * 4), share=0.5)
    layer, units = layer_of(kind), np.array([7, 0, 19, 3, 4])
    logits = torch.from_numpy(np.random.default_rng(1).normal(size=(5, 3))).requires_grad_()
    loss = crowd_label_loss(labels, lambda a, j: layer(torch.softmax(a, dim=-1), j), CPU)

    loss(logits, units)[0].backward()

    for tensor in (logits, *layer.parameters()):
        for cell in np.ndindex(*tensor.shape):
            sides = []
            for shift in (1e-6, -1e-6):
                with torch.no_grad():
                    tensor[cell] += shift
                    sides.append(loss(logits, units)[0].item())
                    tensor[cell] -= shift
            np.testing.assert_allclose(tensor.grad[cell].item(), (sides[0] - sides[1]) / 2e-6, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_layer_says_the_softmax_of_what_the_network_believes(kind: str) -> None:
    layer = layer_of(kind, seed=None)
    p = torch.from_numpy(np.random.default_rng(0).dirichlet(np.ones(3), size=6))

    said = layer(p, torch.tensor([0, 1, 2, 3, 0, 1]))

    np.testing.assert_array_equal(said.detach().numpy(), p.numpy())


@pytest.mark.parametrize("kind", KINDS)
def test_the_confusion_is_what_is_said_where_the_network_is_sure(kind: str) -> None:
    layer = layer_of(kind)

    confusion = layer.confusion().detach().numpy()

    for j in range(4):
        said = layer(torch.eye(3).double(), torch.full((3,), j)).detach().numpy()
        np.testing.assert_allclose(confusion[j], np.exp(said) / np.exp(said).sum(axis=1, keepdims=True), rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_the_layer_is_learnt_and_kept_but_leaves_predictions_to_the_network(kind: str) -> None:
    task = review_task()
    labels = label_task(task, np.stack([symmetric_confusion(0.8, 2)] * 3))
    matrix, bias = KINDS[kind]
    plain = KimCNN(vector_size=4, filters=3).build(task.corpus, task.classes, seed=0)
    before = plain.predict_proba(task.corpus)
    made = add_crowd_layer(plain, labels, matrix=matrix, bias=bias)

    np.testing.assert_array_equal(made.predict_proba(task.corpus), before)
    made.fit_labels(task.corpus, labels)
    learnt = made.arrays()

    expected = {"model.crowd.weight", *(["model.crowd.bias"] if bias else [])}
    assert {name for name in learnt if "crowd" in name} == expected
    assert np.abs(made.confusion()[0] - made.confusion()[1]).max() > 1e-4
    plain = KimCNN(vector_size=4, filters=3).load(learnt, task.classes)
    np.testing.assert_array_equal(plain.predict_proba(task.corpus), made.predict_proba(task.corpus))


def test_the_order_of_labels_does_not_matter() -> None:
    """CrowdLabels sorts its rows, so the same labels in any order are the same to the last bit."""
    task = blob_task()
    labels = label_task(task, np.stack([symmetric_confusion(0.7, 3)] * 5), share=0.6)
    order = np.random.default_rng(3).permutation(labels.n_labels)
    losses = []

    for said in (labels, labels.take(order)):
        made = add_crowd_layer(MLP().build(task.corpus, task.classes, seed=0), said, matrix=True, bias=False)
        losses.append([made.fit_labels(task.corpus, said) for _ in range(2)])

    assert losses[0] == losses[1]
