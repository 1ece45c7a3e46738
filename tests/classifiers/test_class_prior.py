"""The classifier that does not look."""

from __future__ import annotations

import numpy as np
from tests.classifiers.planted_tasks import review_task

from crowdlogic.classifiers.class_prior import ClassPrior


def test_every_unit_has_the_weighted_mean_of_the_targets_and_the_loss_is_its_entropy() -> None:
    task = review_task()
    soft, weights = task.soft_targets(), np.random.default_rng(1).random(60)
    made = ClassPrior().build(task.corpus, task.classes, seed=0)

    loss = made.fit_epoch(task.corpus, soft, weights)

    p = made.predict_proba(task.corpus)
    np.testing.assert_allclose(p, np.tile(weights @ soft / weights.sum(), (60, 1)), rtol=1e-12)
    np.testing.assert_allclose(loss, weights @ -(soft * np.log(p)).sum(axis=1) / weights.sum(), rtol=1e-12)
