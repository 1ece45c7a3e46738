from __future__ import annotations

import numpy as np
import pytest
from scipy.special import softmax
from tests.classifiers.planted_labels import label_task, symmetric_confusion
from tests.classifiers.planted_tasks import blob_task, review_task, tag_task

torch = pytest.importorskip("torch", reason="torch is not installed: pip install crowdlogic[torch]")

from crowdlogic.errors import FormatError  # noqa: E402
from crowdlogic.extensions.networks import crowd_layer as crowd_heads  # noqa: E402
from crowdlogic.extensions.networks.cnn_gru import CNNGRU  # noqa: E402
from crowdlogic.extensions.networks.crowd_layer import HAS_LABELS, add_annotator_heads, fit_weight_logits, label_pairs  # noqa: E402
from crowdlogic.extensions.networks.kim_cnn import KimCNN  # noqa: E402
from crowdlogic.extensions.networks.mlp import MLP  # noqa: E402

SMALL = MLP(hidden_size=6, dropout=0.0)


def head_by_hand(made, hidden: np.ndarray, j: int) -> np.ndarray:
    weight, bias = (made.arrays()[f"model.output.{name}"].astype(np.float64) for name in ("weight", "bias"))
    return softmax(hidden @ weight[j].T + bias[j], axis=1)


def hidden_of(made, corpus) -> np.ndarray:
    found = np.empty((corpus.n_units, made.heads.weight.shape[-1]))
    for answers, units in made.forward_batches(corpus):
        found[units] = answers.numpy()
    return found


def test_heads_start_as_the_output_layer_and_average_to_it() -> None:
    task = review_task()
    labels = label_task(task, np.stack([symmetric_confusion(0.8, 2)] * 3))
    plain = KimCNN(vector_size=4, filters=3).build(task.corpus, task.classes, seed=0)
    before = plain.predict_proba(task.corpus)

    made = add_annotator_heads(plain, labels)

    np.testing.assert_allclose(made.predict_proba(task.corpus), before, rtol=1e-5)


@pytest.mark.parametrize("at_once", [1, 50, 2**20])
def test_the_prediction_is_the_mean_over_the_heads_that_learnt_however_many_fit_at_once(
    at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = blob_task()
    labels = label_task(task, np.stack([symmetric_confusion(0.7, 3)] * 4))
    labels = labels.take(labels.annotator != 2)
    made = add_annotator_heads(SMALL.build(task.corpus, task.classes, seed=0), labels)
    for _ in range(3):
        made.fit_labels(task.corpus, labels)
    monkeypatch.setattr(crowd_heads, "MAX_AT_ONCE", at_once)

    p = made.predict_proba(task.corpus)

    hidden = hidden_of(made, task.corpus)
    expected = np.mean([head_by_hand(made, hidden, j) for j in (0, 1, 3)], axis=0)
    np.testing.assert_allclose(p, expected, rtol=1e-5)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)


def test_a_label_moves_only_its_annotators_head() -> None:
    task = blob_task()
    labels = label_task(task, np.stack([symmetric_confusion(0.7, 3)] * 4))
    made = add_annotator_heads(SMALL.build(task.corpus, task.classes, seed=0), labels)
    before = made.arrays()["model.output.weight"]

    made.fit_labels(task.corpus, labels.take(labels.annotator == 1))

    moved = np.abs(made.arrays()["model.output.weight"] - before).max(axis=(1, 2)) > 0
    np.testing.assert_array_equal(moved, [False, True, False, False])


def test_the_loss_is_that_of_every_label_at_its_annotators_head() -> None:
    task = tag_task(count=12)
    labels = label_task(task, np.stack([symmetric_confusion(0.7, 3)] * 4), share=0.5)
    tagger = CNNGRU(vector_size=4, filters=3, hidden_size=3, dropout=0.0)
    made = add_annotator_heads(tagger.build(task.corpus, task.classes, seed=0), labels)
    with torch.no_grad():
        made.heads.weight.add_(torch.randn(made.heads.weight.shape, generator=torch.Generator().manual_seed(0)))
    hidden = hidden_of(made, task.corpus)
    expected = np.mean(
        [
            -np.log(head_by_hand(made, hidden, j)[i, n])
            for i, j, n in zip(labels.unit, labels.annotator, labels.label, strict=True)
        ]
    )

    loss = made.fit_labels(task.corpus, labels)

    np.testing.assert_allclose(loss, expected, rtol=1e-5)


@pytest.mark.parametrize("at_once", [1, 2**20])
def test_weights_are_fitted_to_what_each_head_gives_to_the_labels_of_others(
    at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = blob_task(count=40)
    labels = label_task(task, np.stack([symmetric_confusion(a, 3) for a in (0.9, 0.8, 0.7, 0.34)]), share=0.5)
    made = add_annotator_heads(SMALL.build(task.corpus, task.classes, seed=0), labels)
    for _ in range(3):
        made.fit_labels(task.corpus, labels)
    pairs, hidden = label_pairs(labels, most=10**6), hidden_of(made, task.corpus)
    p = np.stack([head_by_hand(made, hidden, j)[pairs.unit, pairs.label] for j in range(4)], axis=1)
    monkeypatch.setattr(crowd_heads, "MAX_AT_ONCE", at_once)

    made.fit_head_weights(task.corpus, labels)

    fitted = fit_weight_logits(torch.zeros(4), torch.ones(4, dtype=torch.bool), torch.from_numpy(p), pairs)
    found = made.arrays()["model.output.weight_logits"]
    assert np.abs(found).min() > 0.1
    np.testing.assert_allclose(found, fitted, rtol=0, atol=1e-3)


def test_where_everybody_labelled_everything_all_heads_count_the_same() -> None:
    task = blob_task()
    labels = label_task(task, np.stack([symmetric_confusion(a, 3) for a in (0.9, 0.4, 0.4)]))
    made = add_annotator_heads(SMALL.build(task.corpus, task.classes, seed=0), labels)
    made.fit_labels(task.corpus, labels)

    made.fit_head_weights(task.corpus, labels)

    np.testing.assert_array_equal(made.arrays()["model.output.weight_logits"], np.zeros(3))


def test_kims_constraint_holds_for_every_class_of_every_head() -> None:
    task = review_task()
    labels = label_task(task, np.stack([symmetric_confusion(0.8, 2)] * 3))
    made = add_annotator_heads(
        KimCNN(vector_size=4, filters=3, max_norm=0.1).build(task.corpus, task.classes, seed=0), labels
    )

    before = np.linalg.norm(made.arrays()["model.output.weight"], axis=-1)

    made.fit_labels(task.corpus, labels)

    norms = np.linalg.norm(made.arrays()["model.output.weight"], axis=-1)
    assert norms.shape == (3, 2)
    assert before.min() > 0.2
    assert norms.max() < 0.1 + 1e-6
    assert norms.min() > 0.09  # of all classes together it would be 0.1 / sqrt(2)


def test_heads_are_loaded_as_heads_and_never_taken_for_an_output_layer() -> None:
    task = blob_task()
    labels = label_task(task, np.stack([symmetric_confusion(0.8, 3)] * 2))
    network = add_annotator_heads(SMALL.build(task.corpus, task.classes, seed=0), labels)
    network.fit_labels(task.corpus, labels)
    kept = network.arrays()

    loaded = SMALL.load(kept, task.classes)

    np.testing.assert_array_equal(loaded.predict_proba(task.corpus), network.predict_proba(task.corpus))
    with pytest.raises(FormatError, match=r"output.weight is \(2, 3, 6\), expected \(3, 6\)"):
        SMALL.load({name: array for name, array in kept.items() if name != HAS_LABELS}, task.classes)
