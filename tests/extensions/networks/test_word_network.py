"""Networks over words: their vocabulary and vectors are saved and loaded with them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.classifiers.planted_tasks import OTHERS, random_vectors, review_task

torch = pytest.importorskip("torch", reason="torch is not installed: pip install crowdlogic[torch]")

from crowdlogic.extensions.networks.kim_cnn import KimCNN  # noqa: E402


@pytest.mark.parametrize("tuned", [True, False])
def test_a_network_is_loaded_without_the_vectors_it_was_built_with(tuned: bool) -> None:
    """The arrays hold all vectors; whether they were trained is seen from them, not from the options."""
    task = review_task()
    options = KimCNN(vectors=random_vectors(OTHERS, 6), filters=4, tune_vectors=tuned)
    made = options.build(task.corpus, task.classes, seed=0)
    made.fit_epoch(task.corpus, task.targets)

    bare = replace(options, vectors=None, tune_vectors=None).load(made.arrays(), task.classes)

    np.testing.assert_array_equal(bare.predict_proba(task.corpus), made.predict_proba(task.corpus))
    assert bare.fit_epoch(task.corpus, task.targets) == made.fit_epoch(task.corpus, task.targets)
    assert bare.arrays().keys() == made.arrays().keys()


def test_given_vectors_are_handed_out_without_a_copy() -> None:
    task = review_task()
    made = KimCNN(vectors=random_vectors(OTHERS, 6), filters=4).build(task.corpus, task.classes, seed=0)

    one, two = made.arrays(), made.arrays()

    fixed = [name for name in one if name.startswith("fixed.")]
    assert sorted(fixed) == ["fixed.model.embedding.own", "fixed.model.embedding.rest", "fixed.words"]
    assert all(one[name] is two[name] for name in fixed)
    assert not any(one[name].flags.writeable for name in fixed)


def test_seeds_of_words_and_weights_both_follow_the_seed() -> None:
    task = review_task()
    one, two = (KimCNN(vector_size=6, filters=4).build(task.corpus, task.classes, seed=seed).network for seed in (0, 1))

    assert not torch.equal(one.embedding.own, two.embedding.own)
    assert not torch.equal(one.filters.weight, two.filters.weight)
