"""The loss of crowd labels, label by label."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.classifiers.planted_labels import label_task, symmetric_confusion
from tests.classifiers.planted_tasks import blob_task

torch = pytest.importorskip("torch", reason="torch is not installed: pip install crowdlogic[torch]")

from crowdlogic.extensions.networks.crowd_layer import crowd_label_loss, label_rows, unit_starts  # noqa: E402

CPU = torch.device("cpu")


def test_labels_count_as_much_as_they_weigh() -> None:
    task = blob_task()
    labels = label_task(task, np.stack([symmetric_confusion(0.7, 3)] * 2))
    said = lambda answers, _: answers  # noqa: E731
    logits = torch.from_numpy(np.random.default_rng(0).normal(size=(60, 3)))
    weighed = replace(labels, weight=np.where(labels.annotator == 0, 2.0, 0.5))

    mean, _ = crowd_label_loss(weighed, said, CPU)(logits, np.arange(60))

    each = torch.nn.functional.cross_entropy(
        logits[labels.unit.copy()], torch.from_numpy(labels.label.astype(np.int64)), reduction="none"
    ).numpy()
    np.testing.assert_allclose(float(mean), np.average(each, weights=weighed.weight), rtol=1e-12)


def test_the_loss_of_a_batch_is_the_sum_over_its_labels_by_annotator() -> None:
    """Over the labelled units of the batch, and the mean number of labels of a unit in the corpus."""
    labels = label_task(blob_task(count=20), np.stack([symmetric_confusion(0.6, 3)] * 4), share=0.4)
    rng, units = np.random.default_rng(1), np.array([7, 0, 19, 3, 4])
    outputs, bias = rng.normal(size=(5, 3)), rng.normal(size=(4, 3))
    loss = crowd_label_loss(labels, lambda hidden, j: hidden + torch.from_numpy(bias)[j], CPU)

    mean, counted = loss(torch.from_numpy(outputs), units)

    total = 0.0
    for i, j, n in zip(labels.unit, labels.annotator, labels.label, strict=True):
        for u in np.flatnonzero(units == i):
            logits = outputs[u] + bias[j]
            total += np.log(np.exp(logits).sum()) - logits[n]
    per_unit = labels.n_labels / len(np.unique(labels.unit))
    assert counted == len(set(units.tolist()) & set(labels.unit.tolist()))
    np.testing.assert_allclose(float(mean), total / (counted * per_unit), rtol=1e-10)


def test_label_rows_are_those_of_the_units_in_their_order() -> None:
    labels = label_task(blob_task(count=20), np.stack([symmetric_confusion(0.6, 3)] * 3), share=0.4)
    units = np.array([11, 2, 2, 0, 19])

    place, row = label_rows(unit_starts(labels), units)

    expected = [(u, r) for u, unit in enumerate(units) for r in np.flatnonzero(labels.unit == unit)]
    assert list(zip(place.tolist(), row.tolist(), strict=True)) == expected
