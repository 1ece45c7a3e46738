"""The network over given features."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from tests.classifiers.planted_tasks import blob_task

torch = pytest.importorskip("torch", reason="torch is not installed: pip install crowdlogic[torch]")

from crowdlogic.data.corpus import Corpus, documents  # noqa: E402
from crowdlogic.errors import CorpusError, FormatError, OptionError  # noqa: E402
from crowdlogic.extensions.networks.mlp import MLP, standardise_features  # noqa: E402
from crowdlogic.extensions.networks.network import Training  # noqa: E402
from crowdlogic.extensions.paper.benchmarks import load_benchmark  # noqa: E402


def test_forward_is_a_hidden_layer_of_relu_and_a_softmax() -> None:
    task = blob_task()
    made = MLP(hidden_size=7).build(task.corpus, task.classes, seed=0)

    p = made.predict_proba(task.corpus)

    weights = {name: tensor.detach().double().numpy() for name, tensor in made.network.named_parameters()}
    given = task.corpus.features
    seen = (given - given.mean(axis=0)) / given.std(axis=0)
    hidden = np.maximum(seen @ weights["hidden.weight"].T + weights["hidden.bias"], 0)
    scores = np.exp(hidden @ weights["output.weight"].T + weights["output.bias"])
    np.testing.assert_allclose(p, scores / scores.sum(axis=1, keepdims=True), rtol=0, atol=1e-6)


def test_new_items_are_shifted_and_scaled_as_the_training_items_were() -> None:
    task = blob_task()
    made = MLP(hidden_size=7).build(task.corpus, task.classes, seed=0)
    p = made.predict_proba(task.corpus)

    first = made.predict_proba(task.corpus.take_items(np.array([0, 1, 2])))

    np.testing.assert_allclose(first, p[:3], rtol=0, atol=1e-6)


def test_scale_has_no_part_when_features_are_standardised() -> None:
    task = blob_task()
    stretched = replace(task.corpus, features=task.corpus.features * 1000 - 3)

    one, two = (MLP().build(corpus, task.classes, seed=0).predict_proba(corpus) for corpus in (task.corpus, stretched))

    np.testing.assert_allclose(one, two, rtol=0, atol=1e-5)


def test_features_are_left_as_they_are_when_asked() -> None:
    task = blob_task()

    made = MLP(standardise=False).build(task.corpus, task.classes, seed=0)

    np.testing.assert_array_equal(made.inputs(task.corpus).features, task.corpus.features.astype(np.float32))


def test_a_feature_that_never_varies_says_nothing() -> None:
    given = np.array([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]])

    found = standardise_features(given, given.mean(axis=0), np.array([given[:, 0].std(), 1.0]))

    np.testing.assert_array_equal(found[:, 1], 0)
    made = MLP().build(documents(range(3), features=given), ("a", "b"), seed=0)
    assert np.isfinite(made.predict_proba(documents([0], features=np.array([[2.0, 9.0]])))).all()


def test_tokens_with_features_are_units_of_their_own() -> None:
    features = np.random.default_rng(0).normal(size=(5, 3))
    corpus = Corpus(pl.Series([0, 1]), offsets=np.array([0, 2, 5]), features=features)
    flat = documents(range(5), features=features)

    one, two = (MLP().build(some, ("a", "b"), seed=0).predict_proba(some) for some in (corpus, flat))

    np.testing.assert_array_equal(one, two)


def test_the_paper_s_network_has_its_numbers() -> None:
    corpus = documents(range(3), features=np.ones((3, 512)))

    made = MLP().build(corpus, tuple("abcdefgh"), seed=0)

    assert sum(tensor.numel() for tensor in made.network.parameters()) == 512 * 128 + 128 + 128 * 8 + 8
    assert MLP().training == Training("adam", learning_rate=1e-3, batch_size=64)
    assert made.network.dropout.p == 0.5


def test_items_with_other_features_are_refused() -> None:
    task = blob_task()
    made = MLP().build(task.corpus, task.classes, seed=0)

    with pytest.raises(CorpusError) as caught:
        made.predict_proba(documents([0], features=np.ones((1, 2))))
    assert str(caught.value) == (
        "These items have 2 features, but the network was trained on 5. Use items with the same features."
    )
    with pytest.raises(CorpusError) as caught:
        made.predict_proba(documents([0], ["words"]))
    assert str(caught.value) == "mlp needs features, but the items have texts. Choose another model."


def test_arrays_of_another_kind_are_refused() -> None:
    with pytest.raises(
        FormatError, match=r"do not belong to a network over features: fixed.centre or fixed.scale is missing"
    ):
        MLP().load({}, ("a", "b"))


def test_senseless_options_are_refused() -> None:
    with pytest.raises(OptionError, match="hidden_size must be at least 1"):
        MLP(hidden_size=0)


@pytest.mark.data
def test_labelme_s_gold_is_learnt_from_vgg16_features(data_root: object) -> None:
    benchmark = load_benchmark("truth/labelme", root=str(data_root))
    classes = benchmark.corpus.classes
    made = MLP().build(benchmark.corpus, classes, seed=0)

    for _ in range(20):
        made.fit_epoch(benchmark.corpus, np.eye(len(classes))[benchmark.corpus.gold])

    right = made.predict_proba(benchmark.test).argmax(axis=1) == benchmark.test.gold
    assert right.mean() > 0.88  # [ROD18] reports 90.1 % when trained on the truth
