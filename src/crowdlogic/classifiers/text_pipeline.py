"""scikit-learn pipelines that begin with a text vectoriser, such as TfidfVectorizer: fitted to the texts once.

The vectoriser learns its vocabulary from the training texts when the classifier is built; the rest of the pipeline is
then trained on its features, epoch by epoch. Vocabulary and idf are saved as arrays, so no pickle is needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from crowdlogic.classifiers.protocol import FIXED, Arrays, decode_json, encode_json, require_content
from crowdlogic.data.corpus import Corpus
from crowdlogic.errors import CorpusError

VOCABULARY, IDF = FIXED + "vocabulary", FIXED + "idf"


def split_pipeline(estimator: Any) -> tuple[Any | None, Any]:
    """The text vectoriser at the head of a pipeline, None where there is none, and what comes after it."""
    from sklearn.pipeline import Pipeline

    if not isinstance(estimator, Pipeline) or not hasattr(estimator.steps[0][1], "build_analyzer"):
        return None, estimator
    rest = estimator.steps[1:]
    return estimator.steps[0][1], rest[0][1] if len(rest) == 1 else Pipeline(rest)


def fit_vectorizer(vectorizer: Any, corpus: Corpus) -> Any:
    """A copy of the vectoriser, fitted to the texts of a corpus."""
    from sklearn.base import clone

    texts = require_content(corpus, "texts", type(vectorizer).__name__)
    try:
        return clone(vectorizer).fit(texts)
    except ValueError as problem:  # an empty vocabulary
        raise CorpusError(f"{type(vectorizer).__name__} finds no words in the texts: {problem}.") from problem


def vectorize(vectorizer: Any, corpus: Corpus) -> sparse.csr_array:
    """features[i, f] of every text."""
    found = vectorizer.transform(require_content(corpus, "texts", type(vectorizer).__name__))
    return sparse.csr_array(found, dtype=np.float64)


def vectorizer_arrays(vectorizer: Any) -> Arrays:
    """What the vectoriser learnt, as arrays."""
    known = getattr(vectorizer, "vocabulary_", None)
    arrays: Arrays = {} if known is None else {VOCABULARY: encode_json({word: int(n) for word, n in known.items()})}
    idf = getattr(vectorizer, "idf_", None)
    return arrays if idf is None else arrays | {IDF: np.asarray(idf)}


def load_vectorizer(vectorizer: Any, arrays: Arrays) -> Any:
    """The vectoriser with what it had learnt."""
    from sklearn.base import clone

    if VOCABULARY not in arrays:
        return clone(vectorizer)
    made = clone(vectorizer).set_params(vocabulary=decode_json(arrays[VOCABULARY]))
    if IDF in arrays:
        made.idf_ = np.asarray(arrays[IDF])
    return made
