"""The linear classifier against scikit-learn's, and against its own mathematics."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import optimize
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from tests.classifiers.planted_tasks import SmallTask, review_task, scaled_blobs, tag_task

from crowdlogic.classifiers.linear import Linear, objective
from crowdlogic.data.corpus import Corpus, documents, sentences
from crowdlogic.errors import FormatError, OptionError

SETTLED = Linear(ridge=1e-2, steps=2000)


def settle(options: Linear, task: SmallTask, targets: np.ndarray, weights: np.ndarray | None = None):
    made = options.build(task.corpus, task.classes, seed=0)
    for _ in range(10):
        made.fit_epoch(task.corpus, targets, weights)
    return made


@pytest.mark.parametrize("task", [review_task(), tag_task()], ids=["texts", "tokens"])
def test_hard_targets_give_the_regression_of_scikit_learn(task: SmallTask) -> None:
    made = settle(SETTLED, task, task.targets)
    # Of two classes scikit-learn has the difference w only, and ours are w / 2 and -w / 2: half the ridge on w.
    ridge = SETTLED.ridge * (0.5 if len(task.classes) == 2 else 1.0)
    peer = LogisticRegression(C=1 / (ridge * len(task.truth)), tol=1e-10, max_iter=10_000)
    features = made.columns.select(task.corpus)

    peer.fit(features, task.truth)

    np.testing.assert_allclose(made.predict_proba(task.corpus), peer.predict_proba(features), rtol=0, atol=3e-4)


def test_given_features_give_the_regression_of_scikit_learn() -> None:
    task = scaled_blobs()

    made = settle(SETTLED, task, task.targets)
    peer = LogisticRegression(C=1 / (SETTLED.ridge * 60), tol=1e-10, max_iter=10_000)
    peer.fit(task.corpus.features, task.truth)

    np.testing.assert_allclose(made.weights.T - made.weights.T.mean(0), peer.coef_, rtol=0, atol=1e-4)
    np.testing.assert_allclose(made.bias - made.bias.mean(), peer.intercept_, rtol=0, atol=1e-4)


def test_soft_targets_and_weights_are_weighted_copies() -> None:
    task = scaled_blobs()
    rng = np.random.default_rng(1)
    soft, weights = rng.dirichlet(np.ones(3), size=60), rng.random(60)

    made = settle(SETTLED, task, soft, weights)
    peer = LogisticRegression(C=1 / (SETTLED.ridge * weights.sum()), tol=1e-10, max_iter=10_000)
    peer.fit(
        np.repeat(task.corpus.features, 3, axis=0),
        np.tile(np.arange(3), 60),
        sample_weight=(soft * weights[:, None]).ravel(),
    )

    np.testing.assert_allclose(
        made.predict_proba(task.corpus), peer.predict_proba(task.corpus.features), rtol=0, atol=1e-4
    )


@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_gradient_is_that_of_finite_differences(ridge: float) -> None:
    rng = np.random.default_rng(0)
    features, targets, share = rng.normal(size=(7, 4)), 2 * rng.random((7, 3)), rng.dirichlet(np.ones(7))

    def of(flat: np.ndarray) -> tuple[float, np.ndarray]:
        return objective(flat[:12].reshape(4, 3), flat[12:], features, targets=targets, share=share, ridge=ridge)

    at = rng.normal(size=15)
    slow = optimize.approx_fprime(at, lambda flat: of(flat)[0], 1e-6)

    np.testing.assert_allclose(of(at)[1], slow, rtol=0, atol=1e-5)


def test_loss_is_the_mean_cross_entropy_and_never_rises() -> None:
    task = review_task()
    soft = task.soft_targets()
    made = Linear(ridge=0.0, steps=2).build(task.corpus, task.classes, seed=0)

    losses = [made.fit_epoch(task.corpus, soft) for _ in range(6)]

    p = made.predict_proba(task.corpus)
    np.testing.assert_allclose(losses[-1], -(soft * np.log(p)).sum(axis=1).mean(), rtol=1e-9)
    assert (np.diff(losses) <= 0).all()
    assert losses[-1] < losses[0]


def test_features_unseen_in_training_count_for_nothing() -> None:
    made = settle(SETTLED, review_task(), review_task().targets)

    known, strange, empty = made.predict_proba(documents(range(3), ["fine", "zzz qqq", ""]))

    np.testing.assert_array_equal(strange, empty)
    assert known[1] > 0.5


def test_tokens_are_judged_by_their_neighbours_too() -> None:
    task = tag_task(count=200)
    made = settle(Linear(steps=50), task, task.targets)

    p = made.predict_proba(sentences(range(2), [["Ann", "sees"], ["the", "sees"]]))

    np.testing.assert_array_equal(p.argmax(axis=1), [1, 2, 0, 0])


def test_nothing_is_learnt_when_nothing_counts() -> None:
    task = review_task()
    made = Linear().build(task.corpus, task.classes, seed=0)

    loss = made.fit_epoch(task.corpus, task.targets, np.zeros(60))

    assert loss == 0.0
    np.testing.assert_array_equal(made.predict_proba(task.corpus), 0.5)


@pytest.mark.parametrize("wrong", [{"ridge": -1}, {"ridge": np.nan}, {"steps": 0}, {"max_ngram": 0}, {"hash_bits": 31}])
def test_senseless_options_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(OptionError) as caught:
        Linear(**wrong)

    assert (
        str(caught.value) == "linear: ridge must be at least 0, steps and max_ngram at least 1, hash_bits from 1 to 30."
    )


def test_arrays_of_another_classifier_are_refused() -> None:
    task = review_task()
    arrays = Linear().build(task.corpus, task.classes, seed=0).arrays()

    with pytest.raises(FormatError, match=r"model.weights is \(\d+, 2\) where \(\d+, 3\) is expected"):
        Linear().load(arrays, ("a", "b", "c"))
    with pytest.raises(FormatError, match=r"model.bias is missing where \(2,\) is expected"):
        Linear().load({name: array for name, array in arrays.items() if name != "model.bias"}, task.classes)


def test_texts_without_pairs_of_words_are_weighted_as_by_tf_idf() -> None:
    texts = ["good good film", "bad film", "a film", "good"]
    corpus = Corpus(pl.Series(range(4)), texts=tuple(texts))
    made = Linear(max_ngram=1, idf_power=1.0).build(corpus, ("neg", "pos"), seed=0)
    peer = TfidfVectorizer(binary=True, token_pattern=r"\w+").fit_transform(texts)

    ours = made.columns.select(corpus)

    # Columns are hashed, so products of rows are compared; ours have norm sqrt(2).
    np.testing.assert_allclose((ours @ ours.T).toarray(), 2.0 * (peer @ peer.T).toarray(), rtol=1e-12)


def test_a_pair_of_words_has_half_the_weight_of_a_word() -> None:
    corpus = Corpus(pl.Series([0]), texts=("not good",))

    row = Linear(idf_power=0.0).build(corpus, ("neg", "pos"), seed=0).columns.select(corpus).toarray()

    assert sorted((row / row.max()).ravel()) == pytest.approx([0.5, 1.0, 1.0])
