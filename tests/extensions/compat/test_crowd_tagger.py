from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold
from tests.extensions.compat.small_crowds import tagged_sentences

from crowdlogic.errors import CorpusError, LabelError
from crowdlogic.extensions.compat.scikit_learn import CrowdTagger, read_sentences, read_tags


def test_tags_are_learnt_from_annotations() -> None:
    sentences, given, gold = tagged_sentences()

    made = CrowdTagger("crf", epochs=3).fit(sentences, given)

    assert made.score(sentences, gold) > 0.8
    assert [len(tags) for tags in made.predict(sentences)] == [len(tokens) for tokens in sentences]
    assert made.predict_proba(sentences)[0].shape == (len(sentences[0]), len(made.classes_))
    right = [a == b for tags, true in zip(made.labels_, gold, strict=True) for a, b in zip(tags, true, strict=True)]
    assert np.mean(right) > 0.95


def test_grid_search_by_held_out_annotations() -> None:
    sentences, given, _ = tagged_sentences()

    search = GridSearchCV(CrowdTagger("crf", epochs=1), {"annotators": ["confusion", "one-coin"]}, cv=KFold(2))
    search.fit(sentences, given)

    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_score_ < 0


def test_forms_of_annotations() -> None:
    by_name = read_tags([{"ann": ["O", "B-X"]}, {"bob": ["O"]}], 2)
    by_place = read_tags([[["O", "B-X"], None], [None, ["O"]]], 2)
    frame = pd.DataFrame({"item": [0, 1], "annotator": ["ann", "bob"], "tags": [["O", "B-X"], ["O"]]})

    assert by_name.annotators.to_list() == ["ann", "bob"]
    for other in (by_place, read_tags(frame, 2)):
        np.testing.assert_array_equal(other.label, by_name.label)
        np.testing.assert_array_equal(other.unit, by_name.unit)


def test_what_is_no_sentence_or_annotation_is_refused() -> None:
    with pytest.raises(CorpusError, match="each a list of tokens"):
        read_sentences(["a sentence"])
    with pytest.raises(LabelError, match="Found 2 sentences in X, but annotations of 1"):
        read_tags([{}], 2)
    with pytest.raises(ValueError, match="requires y to be passed"):
        CrowdTagger().fit([["a"]])


def test_it_can_be_cloned() -> None:
    assert clone(CrowdTagger("crf", strength=3.0)).get_params()["strength"] == 3.0
