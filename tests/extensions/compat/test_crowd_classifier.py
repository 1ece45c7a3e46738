from __future__ import annotations

import copy

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.extensions.compat.small_crowds import reviews, two_clouds

from crowdlogic import Linear, LogicLNCL, Projector, TrainingLimits
from crowdlogic.classifiers.scikit import Scikit
from crowdlogic.data.corpus import documents
from crowdlogic.data.frames import from_matrix
from crowdlogic.errors import OptionError
from crowdlogic.extensions.compat.scikit_learn import (
    CrowdClassifier,
    as_texts,
    make_architecture,
    make_imitation,
    make_rules,
)
from crowdlogic.learning import ConstantImitation, GrowingImitation

CONTRAST = "1.0: Label(S, C) & After(S, 'but', B) -> Predicted(B, C)"


def test_it_is_algorithm_1() -> None:
    features, given, _ = two_clouds()
    limits = TrainingLimits(epochs=4, held_out=None, seed=int(np.random.RandomState(0).randint(2**31 - 1)))
    learned = LogicLNCL(limits=limits).fit(documents(range(120), features=features), from_matrix(given))

    made = CrowdClassifier(epochs=4).fit(features, given)

    np.testing.assert_allclose(made.predict_proba(features), learned.predict(learned.task.corpus), rtol=1e-9)
    np.testing.assert_allclose(made.confusion_, learned.estimate.confusion, rtol=1e-9)
    assert made.n_iter_ == 4


@pytest.mark.parametrize(
    "inner", ["linear", Linear(ridge=1e-3), LogisticRegression()], ids=["name", "options", "scikit"]
)
def test_truth_and_predictions_are_better_than_an_annotator(inner: object) -> None:
    features, given, truth = two_clouds()

    made = CrowdClassifier(inner, epochs=5).fit(features, given)

    assert (made.labels_ == truth).mean() > 0.95
    assert made.score(features, truth) > 0.93
    assert made.annotators_ == list(range(6))


def test_sparse_numbers_are_as_good_as_dense_ones() -> None:
    features, given, _ = two_clouds()
    dense = CrowdClassifier(epochs=3).fit(features, given)

    thin = CrowdClassifier(epochs=3).fit(sparse.csr_array(features), given)

    np.testing.assert_allclose(
        thin.predict_proba(sparse.csr_array(features)), dense.predict_proba(features), rtol=0, atol=1e-6
    )


def test_texts_and_rules_by_text() -> None:
    texts, given, truth = reviews()

    with_rules = CrowdClassifier(rules=CONTRAST, epochs=4).fit(texts, given)
    without = CrowdClassifier(epochs=4).fit(texts, given)

    assert (with_rules.labels_ == truth).mean() > 0.9
    assert not np.allclose(with_rules.predict_proba(texts), without.predict_proba(texts))


def test_class_names_keep_their_type() -> None:
    features, given, truth = two_clouds()
    names = np.where(given < 0, None, np.array(["no", "yes"], dtype=object)[given])

    made = CrowdClassifier(epochs=2).fit(features, names)

    assert made.classes_.tolist() == ["no", "yes"]
    assert set(made.predict(features)) == {"no", "yes"}
    assert made.score(features, np.array(["no", "yes"])[truth]) > 0.9


def test_held_out_annotations_score_by_their_likelihood() -> None:
    features, given, _ = two_clouds()
    made = CrowdClassifier(epochs=4).fit(features, given)
    p, confusion = made.predict_proba(features), made.confusion_

    score = made.score(features, given)

    # log p(labels of an item) = log sum_k p[k] prod_j confusion[j, k, label], at the best of some powers of p
    def by_hand(power: float) -> float:
        view = p**power / (p**power).sum(axis=1, keepdims=True)
        total = 0.0
        for i in range(len(given)):
            people = np.flatnonzero(given[i] >= 0)
            terms = view[i] * np.prod([confusion[j, :, given[i, j]] for j in people], axis=0)
            total += np.log(terms.sum()) if len(people) else 0.0
        return total / (given >= 0).sum()

    assert score == pytest.approx(
        max(by_hand(power) for power in (0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.85, 1, 1.25, 1.5, 2))
    )
    assert made.score(features, pd.DataFrame(given)) == score


def test_grid_search_by_held_out_annotations_in_a_pipeline() -> None:
    features, given, truth = two_clouds()
    pipeline = make_pipeline(StandardScaler(), CrowdClassifier(epochs=3))

    search = GridSearchCV(pipeline, {"crowdclassifier__annotators": ["confusion", "one-coin"]}, cv=KFold(3))
    search.fit(features, given)

    assert search.best_params_["crowdclassifier__annotators"] in ("confusion", "one-coin")
    assert (search.predict(features) == truth).mean() > 0.9
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_annotations_are_routed_as_metadata() -> None:
    texts, given, truth = reviews()
    with sklearn.config_context(enable_metadata_routing=True):
        inner = CrowdClassifier(LogisticRegression(), epochs=2)
        inner.set_fit_request(annotations=True).set_score_request(annotations=True)
        search = GridSearchCV(make_pipeline(TfidfVectorizer(), inner), {"crowdclassifier__epochs": [1, 3]}, cv=2).fit(
            texts, truth, annotations=given
        )

    assert search.best_score_ < 0  # a log-likelihood, not an accuracy
    assert (search.best_estimator_[-1].labels_ == truth).mean() > 0.85


def test_clones_and_copies() -> None:
    features, given, _ = two_clouds()
    made = CrowdClassifier(rules=CONTRAST, strength=2.0, random_state=3)

    assert clone(made).get_params() == made.get_params()
    fitted = CrowdClassifier(epochs=2).fit(features, given)
    np.testing.assert_array_equal(copy.deepcopy(fitted).predict_proba(features), fitted.predict_proba(features))


def test_what_cannot_be_fitted_says_why() -> None:
    features, given, _ = two_clouds()

    with pytest.raises(ValueError, match="requires y to be passed"):
        CrowdClassifier().fit(features)
    with pytest.raises(ValueError, match="only one class is present: all annotations are"):
        CrowdClassifier().fit(features, np.ones_like(given))
    with pytest.raises(OptionError, match="no annotations to score"):
        CrowdClassifier(epochs=1).fit(features, given).score(features, np.full((120, 1), 7.0))


def test_parameters_become_parts() -> None:
    assert make_imitation("growing") == GrowingImitation()
    assert make_imitation(0.3) == ConstantImitation(0.3)
    assert make_imitation(GrowingImitation(0.5)) == GrowingImitation(0.5)
    assert make_architecture("linear") == Linear()
    assert isinstance(make_architecture(LogisticRegression()), Scikit)
    assert make_rules(None) is None
    assert len(make_rules(CONTRAST).statements) == 1
    assert Projector(strength=2.0).strength == 2.0


def test_texts_are_told_from_numbers() -> None:
    assert as_texts(["a", "b"]) == ("a", "b")
    assert as_texts(pd.Series(["a"])) == ("a",)
    assert as_texts([[1.0]]) is None
    assert as_texts(np.zeros((2, 2))) is None
