"""Pipelines of scikit-learn that begin with a text vectoriser."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from crowdlogic.classifiers.scikit import Scikit, split_pipeline
from crowdlogic.data.corpus import documents, sentences
from crowdlogic.errors import CorpusError

TEXTS = documents(range(6), ["good film", "bad film", "good plot", "bad plot", "good", "bad"])
TARGETS = np.eye(2)[[1, 0, 1, 0, 1, 0]]


@pytest.mark.parametrize(
    "pipeline",
    [
        make_pipeline(TfidfVectorizer(ngram_range=(1, 2)), LogisticRegression()),
        make_pipeline(CountVectorizer(), MaxAbsScaler(), LogisticRegression()),
        make_pipeline(HashingVectorizer(n_features=64), LogisticRegression()),
    ],
    ids=["tfidf", "counts and a scaler", "hashing"],
)
def test_a_pipeline_with_a_vectoriser_learns_from_texts_and_is_the_same_after_saving(pipeline: object) -> None:
    options = Scikit(pipeline)
    made = options.build(TEXTS, ("neg", "pos"), seed=0)
    for _ in range(2):
        made.fit_epoch(TEXTS, TARGETS)
    new = documents(["x", "y"], ["good good film", "bad"])

    found = made.predict_proba(new)
    again = options.load(made.arrays(), ("neg", "pos")).predict_proba(new)

    assert found.argmax(axis=1).tolist() == [1, 0]
    np.testing.assert_allclose(again, found, rtol=0, atol=1e-12)


def test_a_pipeline_without_a_vectoriser_stays_whole() -> None:
    pipeline = make_pipeline(MaxAbsScaler(), LogisticRegression())

    assert split_pipeline(pipeline) == (None, pipeline)


def test_a_vectoriser_needs_texts_with_words() -> None:
    options = Scikit(make_pipeline(TfidfVectorizer(), LogisticRegression()))

    with pytest.raises(CorpusError) as tokens:
        options.build(sentences(["s"], [["a"]]), ("x", "y"), seed=0)
    with pytest.raises(CorpusError) as empty:
        options.build(documents(["a"], [" "]), ("x", "y"), seed=0)

    assert str(tokens.value) == "TfidfVectorizer needs texts, but the items have tokens. Choose another model."
    assert str(empty.value) == (
        "TfidfVectorizer finds no words in the texts: empty vocabulary; perhaps the documents only contain stop words."
    )
