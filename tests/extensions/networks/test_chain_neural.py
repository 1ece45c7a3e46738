"""A network with a CRF on top: it learns how tags follow each other, and says so."""

from __future__ import annotations

import numpy as np
import pytest
from tests.classifiers.planted_tasks import tag_task

torch = pytest.importorskip("torch", reason="torch is not installed: pip install crowdlogic[torch]")

from crowdlogic.classifiers.protocol import ChainClassifier, fit_epoch, predict  # noqa: E402
from crowdlogic.data.chain_beliefs import ChainBeliefs, independent_pairs  # noqa: E402
from crowdlogic.data.corpus import sentences  # noqa: E402
from crowdlogic.extensions.networks.bilstm_crf import BiLSTMCRF  # noqa: E402
from crowdlogic.extensions.networks.chain_networks import ChainNeuralClassifier  # noqa: E402
from crowdlogic.extensions.networks.cnn_gru import CNNGRU  # noqa: E402
from crowdlogic.extensions.networks.network import Training  # noqa: E402

OPTIONS = BiLSTMCRF(vector_size=8, hidden_size=6, training=Training(learning_rate=2e-2, batch_size=8))


def test_transitions_are_learnt_from_the_beliefs_of_neighbours() -> None:
    """All words are alike, and so are the beliefs of units: only those of neighbours say that tags alternate."""
    corpus = sentences(range(40), [["word"] * 4] * 40)
    q = np.full((160, 2), 0.5)
    pair = independent_pairs(q, np.asarray(corpus.offsets))
    pair[pair.sum(axis=(1, 2)) > 0] = [[0.0, 0.5], [0.5, 0.0]]
    made = OPTIONS.build(corpus, ("A", "B"), seed=0)

    for _ in range(12):
        fit_epoch(made, corpus, ChainBeliefs(q, pair), None)

    assert isinstance(made, ChainNeuralClassifier)
    scores = made.chain_scores(corpus)
    assert scores.transitions[0, 1] - scores.transitions[0, 0] > 1.5
    assert scores.transitions[1, 0] - scores.transitions[1, 1] > 1.5
    path = scores.best_path().reshape(-1, 4)
    assert (path[:, 1:] != path[:, :-1]).all()


def test_probabilities_are_the_marginals_of_the_scores_and_follow_the_weights() -> None:
    task = tag_task()
    made = OPTIONS.build(task.corpus, task.classes, seed=0)
    first = made.predict_proba(task.corpus)

    made.fit_epoch(task.corpus, task.targets)
    second = made.predict_proba(task.corpus)
    saved = made.arrays()
    made.fit_epoch(task.corpus, task.targets)
    made.restore(saved)

    assert isinstance(made, ChainClassifier)
    found = predict(made, task.corpus)
    assert isinstance(found, ChainBeliefs)
    np.testing.assert_allclose(found.q, second, rtol=0, atol=1e-12)
    np.testing.assert_allclose(second.sum(axis=1), 1.0, rtol=1e-12)
    assert np.abs(first - second).max() > 1e-3


def test_cnn_gru_may_have_a_chain_too() -> None:
    task = tag_task()
    options = CNNGRU(vector_size=8, filters=8, hidden_size=6, chain=True, training=Training(learning_rate=1e-2))

    made, plain = (one.build(task.corpus, task.classes, seed=0) for one in (options, CNNGRU(vector_size=8, filters=8)))

    assert isinstance(made, ChainClassifier)
    assert not isinstance(plain, ChainClassifier)
    assert made.fit_epoch(task.corpus, task.targets) > made.fit_epoch(task.corpus, task.targets)
