from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.classifiers.planted_labels import label_task, symmetric_confusion
from tests.classifiers.planted_tasks import blob_task, review_task, tag_task
from tests.learning.memory_checkpoint import MemoryCheckpoint

pytest.importorskip("torch", reason="torch is not installed: pip install crowdlogic[torch]")

from crowdlogic.annotators.confusion import ConfusionMatrices
from crowdlogic.classifiers.linear import Linear
from crowdlogic.errors import OptionError
from crowdlogic.extensions.networks.cnn_gru import CNNGRU
from crowdlogic.extensions.networks.crowd_methods import DoctorNets
from crowdlogic.extensions.networks.kim_cnn import KimCNN
from crowdlogic.extensions.networks.mlp import MLP
from crowdlogic.extensions.networks.network import Training
from crowdlogic.learning.baselines import TwoStage
from crowdlogic.learning.learned import Learned
from crowdlogic.learning.stopping import HeldOut, TrainingLimits
from crowdlogic.rules.parser import parse_rules

SMALL = MLP(hidden_size=16, dropout=0.0, training=Training(learning_rate=0.01, batch_size=30))
TAGGER = CNNGRU(
    vector_size=8, filters=16, hidden_size=8, dropout=0.0, training=Training(learning_rate=0.01, batch_size=20)
)


def weight_logits(learned: Learned) -> np.ndarray:
    """One number per annotator, whose softmax weights the heads; the other arrays of the heads have more axes."""
    arrays = learned.classifier.arrays().items()
    (found,) = (a for name, a in arrays if name.startswith("model.output.") and a.ndim == 1 and a.dtype.kind == "f")
    return found


@pytest.mark.parametrize("count", [1, 4])
def test_annotators_who_all_say_the_same_teach_one_network_its_answers(count: int) -> None:
    """Equal heads stay equal, and Adam forgets that each has a part of the gradient only."""
    task = blob_task(count=150)
    one = label_task(task, symmetric_confusion(0.8, 3)[None])
    rows = np.tile(np.arange(one.n_labels), count)
    labels = label_task(task, np.stack([symmetric_confusion(0.8, 3)] * count))
    said = type(labels)(
        unit=one.unit[rows],
        annotator=np.repeat(np.arange(count), one.n_labels),
        label=one.label[rows],
        items=labels.items,
        annotators=labels.annotators,
        classes=labels.classes,
    )

    heads = DoctorNets(SMALL, limits=TrainingLimits(epochs=5, held_out=None)).fit(task.corpus, said)
    plain = TwoStage(classifier=SMALL, limits=TrainingLimits(epochs=5, held_out=None)).fit(task.corpus, one)

    np.testing.assert_allclose(heads.epoch.p, plain.epoch.p, atol=2e-4)
    np.testing.assert_allclose([row.loss for row in heads.history], [row.loss for row in plain.history], atol=2e-4)


def test_a_spammer_counts_less() -> None:
    task = blob_task(count=500)
    accuracy = (0.9, 0.9, 1 / 3, 0.9, 0.8)
    labels = label_task(task, np.stack([symmetric_confusion(a, 3) for a in accuracy]), share=0.5)

    alike, weighted = (
        DoctorNets(SMALL, weighted, limits=TrainingLimits(epochs=8, held_out=None)).fit(task.corpus, labels)
        for weighted in (False, True)
    )

    share = np.exp(weight_logits(weighted))
    share /= share.sum()
    assert share.argmin() == 2
    assert share[2] < 0.05
    truth = np.arange(500), task.truth
    assert np.log(weighted.epoch.p[truth]).mean() > np.log(alike.epoch.p[truth]).mean() + 0.03


@pytest.mark.parametrize("weighted", [False, True])
def test_sequences_are_learnt_and_predicted(weighted: bool) -> None:
    task, new = tag_task(count=150), tag_task(seed=9, count=60)
    labels = label_task(task, np.stack([symmetric_confusion(a, 3) for a in (0.9, 0.8, 0.8, 0.8)]), share=0.6)

    learned = DoctorNets(TAGGER, weighted, limits=TrainingLimits(epochs=8, held_out=None)).fit(task.corpus, labels)

    assert (learned.estimate.answer == task.truth).mean() > 0.95
    assert (learned.predict(new.corpus).argmax(axis=1) == new.truth).mean() > 0.95


@pytest.mark.parametrize("weighted", [False, True])
def test_one_label_for_each_item_and_annotators_without_any(weighted: bool) -> None:
    task = blob_task(count=200)
    dense = label_task(task, np.stack([symmetric_confusion(0.9, 3)] * 5))
    labels = dense.take((dense.annotator == dense.unit % 4) & (dense.unit >= 10))

    learned = DoctorNets(SMALL, weighted, limits=TrainingLimits(epochs=12, held_out=None)).fit(task.corpus, labels)

    assert (learned.estimate.answer == task.truth).mean() > 0.95
    np.testing.assert_allclose(learned.epoch.p.sum(axis=1), 1.0, rtol=1e-12)


def test_resuming_ends_the_same_to_the_last_bit() -> None:
    task = review_task(count=90)
    labels = label_task(task, np.stack([symmetric_confusion(0.8, 2)] * 4), share=0.7)
    method = DoctorNets(KimCNN(vector_size=6, filters=4), weighted=True, limits=TrainingLimits(epochs=4, held_out=None))

    checkpoint = MemoryCheckpoint(stop_after=2)
    whole = method.fit(task.corpus, labels)
    with pytest.raises(KeyboardInterrupt):
        method.fit(task.corpus, labels, checkpoint=checkpoint)
    resumed = method.fit(task.corpus, labels, checkpoint=checkpoint)

    np.testing.assert_array_equal(resumed.epoch.p, whole.epoch.p)
    np.testing.assert_array_equal(weight_logits(resumed), weight_logits(whole))


def test_the_order_of_annotators_does_not_matter() -> None:
    """Only their names change place: sums over them differ in the last digits."""
    task = blob_task(count=100)
    labels = label_task(task, np.stack([symmetric_confusion(a, 3) for a in (0.9, 0.5, 0.8, 0.7)]), share=0.5)
    order = np.array([2, 0, 3, 1])
    turned = replace(labels, annotator=order[labels.annotator])

    one, two = (
        DoctorNets(SMALL, weighted=True, limits=TrainingLimits(epochs=3, held_out=None)).fit(task.corpus, said)
        for said in (labels, turned)
    )

    np.testing.assert_allclose(one.epoch.p, two.epoch.p, atol=1e-4)
    np.testing.assert_allclose(one.estimate.confusion, two.estimate.confusion[order], atol=1e-3)


def test_annotators_are_judged_by_all_labels_when_some_were_held_out() -> None:
    task = blob_task(count=200)
    labels = label_task(task, np.stack([symmetric_confusion(0.8, 3)] * 3), share=0.8)

    learned = DoctorNets(SMALL, limits=TrainingLimits(epochs=3, held_out=HeldOut(refit=False))).fit(task.corpus, labels)

    assert learned.task.held_labels is not None
    model = ConfusionMatrices()
    expected = model.m_step(model.observe(labels), learned.epoch.p)
    np.testing.assert_allclose(learned.estimate.confusion, expected.confusion, rtol=1e-12)


@pytest.mark.parametrize(("weighted", "name"), [(False, "dl-dn"), (True, "dl-wdn")])
def test_rules_and_classifiers_that_are_no_network_are_refused(weighted: bool, name: str) -> None:
    task = review_task()
    labels = label_task(task, np.stack([symmetric_confusion(0.8, 2)] * 3))

    with pytest.raises(OptionError, match=rf"^{name} requires a neural network, which linear is not\. Choose kim-cnn"):
        DoctorNets(Linear(), weighted).fit(task.corpus, labels)
    with pytest.raises(OptionError, match=rf"^{name} does not support rules."):
        DoctorNets(KimCNN(), weighted).fit(task.corpus, labels, rules=parse_rules("1.0: include contrast('but')"))
