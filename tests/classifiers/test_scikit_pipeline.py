from __future__ import annotations

from sklearn.base import clone

from crowdlogic.classifiers.scikit import HashedNgrams


def test_the_transformer_can_be_cloned() -> None:
    made = clone(HashedNgrams(max_ngram=1, hash_bits=4))

    assert made.fit(["a"]).transform(["a b", ""]).shape == (2, 16)
