from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.classifiers.planted_labels import label_task, symmetric_confusion
from tests.classifiers.planted_tasks import blob_task, review_task, tag_task
from tests.learning.memory_checkpoint import MemoryCheckpoint
from tests.learning.planted_likelihoods import plant_likelihoods

pytest.importorskip("torch", reason="torch is not installed: pip install crowdlogic[torch]")

from crowdlogic.classifiers.linear import Linear
from crowdlogic.errors import OptionError
from crowdlogic.extensions.networks.cnn_gru import CNNGRU
from crowdlogic.extensions.networks.crowd_layer import CrowdLayerClassifier
from crowdlogic.extensions.networks.crowd_methods import CrowdLayer, LayerKind
from crowdlogic.extensions.networks.kim_cnn import KimCNN
from crowdlogic.extensions.networks.mlp import MLP
from crowdlogic.extensions.networks.network import Training
from crowdlogic.learning.baselines import TwoStage
from crowdlogic.learning.stopping import HeldOut, TrainingLimits
from crowdlogic.rules.parser import parse_rules

SMALL = MLP(hidden_size=16, dropout=0.0, training=Training(learning_rate=0.01, batch_size=30))
QUICK = MLP(hidden_size=16, dropout=0.0, training=Training(learning_rate=0.03, batch_size=100))
TAGGER = CNNGRU(
    vector_size=8, filters=16, hidden_size=8, dropout=0.0, training=Training(learning_rate=0.01, batch_size=20)
)


def mixed_up(size: int = 3) -> np.ndarray:
    """Three who are mostly right, one who turns classes round, one who takes the first for the second."""
    turned = np.roll(np.eye(size), 1, axis=1) * 0.8 + 0.2 / size
    blind = symmetric_confusion(0.9, size)
    blind[0] = blind[1]
    return np.stack(
        [symmetric_confusion(0.9, size), symmetric_confusion(0.8, size), symmetric_confusion(0.7, size), turned, blind]
    )


def test_matrices_recover_planted_confusions() -> None:
    """To within 0.1 in every cell, and with the greatest cell of every row (but ties) in its place."""
    task, planted = blob_task(count=600), mixed_up()
    labels = label_task(task, planted)

    learned = CrowdLayer(QUICK, limits=TrainingLimits(epochs=40, held_out=None)).fit(task.corpus, labels)

    assert (learned.estimate.answer == task.truth).mean() > 0.97
    assert np.abs(learned.estimate.confusion - planted).max() < 0.1
    np.testing.assert_array_equal(learned.estimate.confusion.argmax(axis=2), planted.argmax(axis=2))


@pytest.mark.parametrize("kind", [LayerKind.VW, LayerKind.VW_B])
def test_scales_tell_who_is_right_more_often(kind: LayerKind) -> None:
    task = blob_task(count=600)
    labels = label_task(task, np.stack([symmetric_confusion(a, 3) for a in (0.95, 0.95, 0.7, 0.4)]))

    learned = CrowdLayer(SMALL, kind, limits=TrainingLimits(epochs=15, held_out=None)).fit(task.corpus, labels)

    right = np.trace(learned.estimate.confusion, axis1=1, axis2=2) / 3
    assert min(right[:2]) > right[2] + 0.05 > right[3] + 0.1
    assert (learned.estimate.answer == task.truth).mean() > 0.95


@pytest.mark.parametrize("kind", list(LayerKind))
def test_before_the_first_labels_the_network_has_learnt_the_vote_and_forgotten_how(
    monkeypatch: pytest.MonkeyPatch, kind: LayerKind
) -> None:
    given = blob_task()
    labels = label_task(given, mixed_up())
    votes = labels.votes()
    by_hand = SMALL.build(given.corpus, given.classes, seed=0)
    seen, memory = [], []

    def look(self: CrowdLayerClassifier, *_: Any) -> float:  # what follows is left out
        seen.append(self.predict_proba(given.corpus))
        memory.append(dict(self.optimiser.state))
        return 0.0

    monkeypatch.setattr(CrowdLayerClassifier, "fit_labels", look)

    learned = CrowdLayer(SMALL, kind, pretraining=3, limits=TrainingLimits(epochs=2, held_out=None)).fit(
        given.corpus, labels
    )
    for _ in range(3):
        by_hand.fit_epoch(given.corpus, votes / votes.sum(axis=1, keepdims=True))

    assert len(seen) == 2
    for p in (*seen, learned.epoch.p):
        np.testing.assert_array_equal(p, by_hand.predict_proba(given.corpus))
    assert memory == [{}, {}]


def test_resuming_ends_the_same_to_the_last_bit() -> None:
    task = review_task(count=90)
    labels = label_task(task, np.stack([symmetric_confusion(0.8, 2)] * 4), share=0.7)
    method = CrowdLayer(KimCNN(vector_size=6, filters=4), pretraining=2, limits=TrainingLimits(epochs=4, held_out=None))
    whole = method.fit(task.corpus, labels)

    for after in (1, 3):
        checkpoint = MemoryCheckpoint(stop_after=after)
        with pytest.raises(KeyboardInterrupt):
            method.fit(task.corpus, labels, checkpoint=checkpoint)
        resumed = method.fit(task.corpus, labels, checkpoint=checkpoint)

        np.testing.assert_array_equal(resumed.epoch.p, whole.epoch.p)
        np.testing.assert_array_equal(resumed.estimate.confusion, whole.estimate.confusion)
        assert [row.loss for row in resumed.history] == [row.loss for row in whole.history]


def test_one_perfect_annotator_teaches_as_the_truth_does() -> None:
    task = blob_task(count=300)
    labels = label_task(task, np.eye(3)[None])

    crowd = CrowdLayer(SMALL, limits=TrainingLimits(epochs=10, held_out=None)).fit(task.corpus, labels)
    taught = TwoStage(classifier=SMALL, limits=TrainingLimits(epochs=15, held_out=None)).fit(task.corpus, labels)

    same = crowd.predict(task.corpus).argmax(axis=1) == taught.predict(task.corpus).argmax(axis=1)
    assert same.mean() > 0.99


@pytest.mark.parametrize("kind", list(LayerKind))
def test_sequences_are_learnt_and_predicted(kind: LayerKind) -> None:
    task, new = tag_task(count=150), tag_task(seed=9, count=60)
    labels = label_task(task, np.stack([symmetric_confusion(a, 3) for a in (0.9, 0.8, 0.7, 0.6)]), share=0.6)

    learned = CrowdLayer(TAGGER, kind, limits=TrainingLimits(epochs=8, held_out=None)).fit(task.corpus, labels)

    assert (learned.estimate.answer == task.truth).mean() > 0.97
    assert (learned.predict(new.corpus).argmax(axis=1) == new.truth).mean() > 0.97


def test_one_label_for_each_item_is_enough_to_run_on_and_abstention_is_no_label() -> None:
    """Items 0 to 9 have no label, the last annotator gave none, and all others have one each."""
    task = blob_task(count=200)
    dense = label_task(task, np.stack([symmetric_confusion(0.9, 3)] * 5))
    labels = dense.take((dense.annotator == dense.unit % 4) & (dense.unit >= 10))

    learned = CrowdLayer(SMALL, limits=TrainingLimits(epochs=10, held_out=None)).fit(task.corpus, labels)

    assert (learned.estimate.answer == task.truth).mean() > 0.95
    start = np.exp(np.eye(3)) / np.exp(np.eye(3)).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(learned.estimate.confusion[4], start, rtol=1e-6)


def test_held_out_labels_choose_the_epochs_and_are_then_learnt_too() -> None:
    """The second pass begins anew, with the majority vote of all labels."""
    task = blob_task(count=200)
    labels = label_task(task, mixed_up(), share=0.6)

    learned = CrowdLayer(SMALL, pretraining=2, limits=TrainingLimits(epochs=4, held_out=HeldOut(average=1))).fit(
        task.corpus, labels
    )

    whole = CrowdLayer(SMALL, pretraining=2, limits=TrainingLimits(epochs=learned.chosen, held_out=None)).fit(
        task.corpus, labels
    )
    np.testing.assert_array_equal(learned.epoch.q_f, whole.epoch.q_f)
    np.testing.assert_array_equal(learned.estimate.confusion, whole.estimate.confusion)
    np.testing.assert_array_equal(learned.epoch.q_f, learned.classifier.predict_proba(task.corpus))


def test_a_mean_of_epochs_answers_with_its_own_view(monkeypatch: pytest.MonkeyPatch) -> None:
    task = blob_task(count=200)
    labels = label_task(task, mixed_up(), share=0.6)
    plant_likelihoods(monkeypatch, [-2.0, -1.0, -2.0, -2.0])  # held-out labels are likeliest in the second epoch

    learned = CrowdLayer(SMALL, pretraining=2, limits=TrainingLimits(epochs=4)).fit(task.corpus, labels)

    assert (learned.averaged_from, len(learned.refit_history)) == (2, 4)
    np.testing.assert_array_equal(learned.epoch.q_f, learned.classifier.predict_proba(task.corpus))
    np.testing.assert_array_equal(learned.estimate.confusion, learned.classifier.confusion())


def test_a_classifier_that_is_no_network_is_refused() -> None:
    task = review_task()
    labels = label_task(task, np.stack([symmetric_confusion(0.8, 2)] * 3))

    message = r"^crowd-layer requires a neural network, which linear is not\. Choose kim-cnn, "
    with pytest.raises(OptionError, match=message):
        CrowdLayer(Linear()).fit(task.corpus, labels)


def test_rules_are_refused() -> None:
    task = review_task()
    labels = label_task(task, np.stack([symmetric_confusion(0.8, 2)] * 3))

    with pytest.raises(
        OptionError, match=r"^crowd-layer does not support rules. Use logic-lncl, or leave the rules out.$"
    ):
        CrowdLayer(KimCNN()).fit(task.corpus, labels, rules=parse_rules("1.0: include contrast('but')"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "SW"}, "kind: expected one of MW, VW, VW-B; got 'SW'."),
        ({"pretraining": -1}, "pretraining must be at least 0 epochs, got -1."),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict, message: str) -> None:
    with pytest.raises(OptionError, match=f"^{message}$"):
        CrowdLayer(SMALL, **options)
