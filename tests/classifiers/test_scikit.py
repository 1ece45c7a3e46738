"""scikit-learn's classifiers, taught with soft targets and kept without pickle."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Perceptron, Ridge, SGDClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from tests.classifiers.planted_tasks import SmallTask, review_task, scaled_blobs, tag_task

from crowdlogic.classifiers.linear import Linear
from crowdlogic.classifiers.scikit import Scikit, describe_estimator
from crowdlogic.data.corpus import documents
from crowdlogic.errors import FormatError, OptionError

LOGISTIC = LogisticRegression(C=2.0, tol=1e-10, max_iter=10_000)


@pytest.mark.parametrize("task", [review_task(), tag_task(), scaled_blobs()], ids=["texts", "tokens", "features"])
def test_logistic_regression_is_the_linear_classifier(task: SmallTask) -> None:
    """Two ways to one optimum: weighted copies of examples in scikit-learn, soft targets in our own."""
    soft, weights = task.soft_targets(), np.random.default_rng(1).random(len(task.truth))
    ridge = (2.0 if len(task.classes) == 2 else 1.0) / (LOGISTIC.C * weights.sum())

    theirs = Scikit(LOGISTIC, min_probability=0.0).build(task.corpus, task.classes, seed=0)
    ours = Linear(ridge=ridge, steps=2000).build(task.corpus, task.classes, seed=0)
    ours.columns.scale = None  # Scikit takes n-grams without weights
    theirs.fit_epoch(task.corpus, soft, weights)
    for _ in range(10):
        ours.fit_epoch(task.corpus, soft, weights)

    np.testing.assert_allclose(theirs.predict_proba(task.corpus), ours.predict_proba(task.corpus), rtol=0, atol=5e-4)


def test_the_loss_is_the_weighted_mean_cross_entropy() -> None:
    task = scaled_blobs()
    soft, weights = task.soft_targets(), np.random.default_rng(1).random(60)
    classifier = Scikit(LOGISTIC).build(task.corpus, task.classes, seed=0)

    loss = classifier.fit_epoch(task.corpus, soft, weights)

    each = -(soft * np.log(classifier.predict_proba(task.corpus))).sum(axis=1)
    np.testing.assert_allclose(loss, weights @ each / weights.sum(), rtol=1e-12)


def test_nothing_is_impossible_to_a_tree() -> None:
    task = scaled_blobs()
    classifier = Scikit(DecisionTreeClassifier(), min_probability=0.01).build(task.corpus, task.classes, seed=0)
    classifier.fit_epoch(task.corpus, task.targets)

    p = classifier.predict_proba(task.corpus)

    np.testing.assert_allclose(p[np.arange(60), task.truth], 0.98, rtol=1e-12)
    np.testing.assert_allclose(p.min(axis=1), 0.01, rtol=1e-12)


def test_a_class_that_no_target_has_gets_the_least() -> None:
    task = scaled_blobs()
    classifier = Scikit("GaussianNB", min_probability=0.001).build(task.corpus, ("a", "b", "none", "c"), seed=0)

    classifier.fit_epoch(task.corpus, np.insert(task.targets, 2, 0.0, axis=1))

    p = classifier.predict_proba(task.corpus)
    np.testing.assert_allclose(p[:, 2], 0.001, rtol=1e-9)
    assert (np.delete(p, 2, axis=1).argmax(axis=1) == task.truth).mean() > 0.9


def test_naive_bayes_forgets_the_targets_of_earlier_epochs() -> None:
    task = scaled_blobs()
    once, twice = (Scikit(GaussianNB()).build(task.corpus, task.classes, seed=0) for _ in range(2))

    twice.fit_epoch(task.corpus, task.soft_targets(seed=3))
    for classifier in (once, twice):
        classifier.fit_epoch(task.corpus, task.targets)

    np.testing.assert_array_equal(once.predict_proba(task.corpus), twice.predict_proba(task.corpus))


def test_what_has_partial_fit_learns_on() -> None:
    task = scaled_blobs()
    options = Scikit(SGDClassifier(loss="log_loss", learning_rate="constant", eta0=0.001))
    classifier = options.build(task.corpus, task.classes, seed=0)

    losses = [classifier.fit_epoch(task.corpus, task.targets) for _ in range(5)]

    assert (np.diff(losses) < 0).all()


KEPT = {
    "attributes": [LOGISTIC, GaussianNB(), SGDClassifier(loss="log_loss")],
    "examples": [
        RandomForestClassifier(n_estimators=5),
        AdaBoostClassifier(n_estimators=5),
        make_pipeline(StandardScaler(), LogisticRegression()),
        DecisionTreeClassifier(),
    ],
}


@pytest.mark.parametrize(
    ("estimator", "way"),
    [(estimator, way) for way, estimators in KEPT.items() for estimator in estimators],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_each_estimator_is_kept_in_the_way_that_works(estimator: BaseEstimator, way: str) -> None:
    task = scaled_blobs()
    options = Scikit(estimator)
    classifier = options.build(task.corpus, task.classes, seed=0)
    for _ in range(2):
        classifier.fit_epoch(task.corpus, task.soft_targets())

    kept = classifier.arrays()
    loaded = options.load(kept, task.classes)

    assert any(name.startswith(f"model.{way[:-1]}") for name in kept)
    np.testing.assert_array_equal(loaded.predict_proba(task.corpus), classifier.predict_proba(task.corpus))
    assert loaded.arrays().keys() == kept.keys()


def test_hashed_features_are_kept_with_their_examples() -> None:
    task = review_task()
    options = Scikit("RandomForestClassifier", {"n_estimators": 5})
    classifier = options.build(task.corpus, task.classes, seed=0)
    classifier.fit_epoch(task.corpus, task.soft_targets())

    loaded = options.load(classifier.arrays(), task.classes)

    np.testing.assert_array_equal(loaded.predict_proba(task.corpus), classifier.predict_proba(task.corpus))


@pytest.mark.parametrize(
    "estimator",
    [
        MLPClassifier(hidden_layer_sizes=[4], max_iter=5),
        SGDClassifier(loss="log_loss", average=True),  # predicts the same from its numbers, but learns on otherwise
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_what_learns_on_and_cannot_be_kept_is_refused(estimator: BaseEstimator) -> None:
    task = scaled_blobs()
    classifier = Scikit(estimator).build(task.corpus, task.classes, seed=0)
    classifier.fit_epoch(task.corpus, task.targets)

    with pytest.raises(OptionError) as caught:
        classifier.arrays()

    assert str(caught.value) == (
        f"{type(estimator).__name__} is trained incrementally, and its state cannot be saved as plain arrays. "
        "Set refit = true to fit it from scratch in every epoch, or choose another classifier."
    )


def test_an_estimator_that_no_longer_says_the_same_is_refused() -> None:
    task = scaled_blobs()
    options = Scikit(RandomForestClassifier(n_estimators=5))
    classifier = options.build(task.corpus, task.classes, seed=0)
    classifier.fit_epoch(task.corpus, task.targets)
    kept = classifier.arrays()

    with pytest.raises(FormatError, match="fitted to its examples again, predicts different"):
        options.load(kept | {"model.probe": kept["model.probe"][:, ::-1]}, task.classes)


def test_chance_follows_the_seed() -> None:
    task = scaled_blobs()
    fits = [
        Scikit(RandomForestClassifier(n_estimators=5, random_state=state)).build(task.corpus, task.classes, seed=seed)
        for state, seed in ((None, 0), (None, 0), (None, 1), (7, 0), (7, 1))
    ]
    for classifier in fits:
        classifier.fit_epoch(task.corpus, task.soft_targets())

    said = [classifier.predict_proba(task.corpus) for classifier in fits]

    assert np.array_equal(said[0], said[1])
    assert not np.array_equal(said[0], said[2])
    assert np.array_equal(said[3], said[4])


def test_an_estimator_and_its_name_are_one() -> None:
    assert Scikit(LogisticRegression(C=2.0)) == Scikit("LogisticRegression", {"C": 2.0})
    assert Scikit(LogisticRegression()) == Scikit()
    assert Scikit(LogisticRegression(C=2.0)) != Scikit()


def test_the_estimator_given_is_not_fitted_itself() -> None:
    task, own = scaled_blobs(), make_pipeline(StandardScaler(), LogisticRegression())
    classifier = Scikit(own).build(task.corpus, task.classes, seed=0)

    classifier.fit_epoch(task.corpus, task.targets)

    assert not hasattr(own[-1], "coef_")


@pytest.mark.parametrize(
    ("estimator", "parameters", "message"),
    [
        ("LogisticRegresion", {}, "no classifier 'LogisticRegresion'. Did you mean 'LogisticRegression'?"),
        ("os.system", {}, "scikit-learn has no classifier 'os.system'."),
        ("LinearRegression", {}, "scikit-learn has no classifier 'LinearRegression'."),
        ("LogisticRegression", {"c": 1}, "LogisticRegression has no parameter 'c'."),
        (
            Perceptron(),
            {},
            "Perceptron does not provide probabilities with these parameters. Wrap it, as in CalibratedClassifierCV(Perceptron()), or choose another estimator, such as LogisticRegression().",
        ),
        (
            Ridge(),
            {},
            "Ridge is a regressor, not a classifier. Choose a classifier, such as LogisticRegression().",
        ),
        (
            TfidfVectorizer(),
            {},
            "TfidfVectorizer is not a classifier. Put it in a pipeline before one: make_pipeline(TfidfVectorizer(), "
            "LogisticRegression()).",
        ),
        (
            make_pipeline(TfidfVectorizer(), LinearSVC()),
            {},
            "LinearSVC does not provide probabilities with these parameters. Wrap it, as in CalibratedClassifierCV(LinearSVC()), or choose another estimator, such as LogisticRegression().",
        ),
        (KNeighborsClassifier(), {}, "KNeighborsClassifier does not accept sample weights"),
    ],
)
def test_what_cannot_serve_is_refused(estimator: object, parameters: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError) as caught:
        Scikit(estimator, parameters)

    assert message in str(caught.value)


def test_anew_false_needs_partial_fit() -> None:
    with pytest.raises(OptionError, match="LogisticRegression has no partial_fit"):
        Scikit(refit=False)


def test_an_estimator_s_own_complaint_is_told() -> None:
    task = review_task()
    classifier = Scikit("GaussianNB").build(task.corpus, task.classes, seed=0)

    with pytest.raises(OptionError, match=r"^GaussianNB cannot be fitted to these items: Sparse data was passed"):
        classifier.fit_epoch(task.corpus, task.targets)


def test_other_packages_estimators_are_kept_as_they_are() -> None:
    class Even(ClassifierMixin, BaseEstimator):
        def fit(self, X, y, sample_weight=None):  # noqa: N803
            self.classes_ = np.unique(y)
            return self

        def predict_proba(self, X):  # noqa: N803
            return np.full((X.shape[0], len(self.classes_)), 1 / len(self.classes_))

    task = scaled_blobs()
    assert describe_estimator(Even()) is None
    classifier = Scikit(Even()).build(task.corpus, task.classes, seed=0)
    classifier.fit_epoch(task.corpus, task.targets)

    np.testing.assert_allclose(classifier.predict_proba(task.corpus), 1 / 3, rtol=1e-12)


def test_uniform_before_anything_was_learnt() -> None:
    task = review_task()

    classifier = Scikit().build(task.corpus, task.classes, seed=0)

    np.testing.assert_array_equal(classifier.predict_proba(task.corpus), 0.5)
    assert Scikit().load(classifier.arrays(), task.classes).estimator is None


def test_arrays_of_another_corpus_are_refused() -> None:
    task = review_task()
    other = Scikit().build(documents([0], ["words"]), task.classes, seed=0)

    with pytest.raises(FormatError, match="built for another corpus"):
        Scikit().build(task.corpus, task.classes, seed=0).restore(other.arrays())


def test_multinomial_bayes_reads_words() -> None:
    task = review_task(count=150)
    classifier = Scikit(MultinomialNB()).build(task.corpus, task.classes, seed=0)

    classifier.fit_epoch(task.corpus, task.targets)

    fresh = review_task(seed=9)
    assert (classifier.predict_proba(fresh.corpus).argmax(axis=1) == fresh.truth).mean() > 0.93
