"""find_label_issues on planted mistakes."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import roc_auc_score

from crowdlogic.errors import LabelError, OptionError
from crowdlogic.learning import LogicLNCL, find_label_issues
from crowdlogic.learning.stopping import TrainingLimits


def planted(n: int = 200, *, wrong: float = 0.15) -> tuple[dict[int, str], dict[int, str], np.ndarray]:
    """Texts whose words give the class away, one label each, and which labels are wrong."""
    rng = np.random.default_rng(3)
    truth = rng.integers(2, size=n)
    words = np.array([["bad", "dull", "poor", "weak"], ["good", "fine", "great", "fun"]])
    texts = {
        i: " ".join([*rng.choice(words[t], 2), *rng.choice(["a", "film", "the", "plot"], 3)])
        for i, t in enumerate(truth)
    }
    is_wrong = rng.random(n) < wrong
    return texts, {i: ["neg", "pos"][t ^ w] for i, (t, w) in enumerate(zip(truth, is_wrong, strict=True))}, is_wrong


def test_planted_mistakes_come_first() -> None:
    texts, labels, is_wrong = planted()

    found = find_label_issues(texts, labels).sort("item")

    assert roc_auc_score(is_wrong, 1.0 - found["probability"].to_numpy()) > 0.9
    assert (found["issue"].to_numpy() == is_wrong).mean() > 1.0 - is_wrong.mean()


def test_rows_are_ranked_and_a_list_of_labels_equals_a_dictionary() -> None:
    texts, labels, _ = planted(60)

    found = find_label_issues(texts, labels)

    assert found["probability"].is_sorted()
    assert found.equals(find_label_issues(texts, list(labels.values())))


def test_what_cannot_be_judged_is_refused() -> None:
    with pytest.raises(LabelError, match="2 labels for 1 items"):
        find_label_issues({1: "a"}, ["x", "y"])
    with pytest.raises(OptionError, match="folds must be at least 2"):
        find_label_issues({1: "a"}, ["x"], folds=1)


def test_training_corrects_single_labels_without_annotators() -> None:
    texts, labels, is_wrong = planted()
    frame = pl.DataFrame({"item": list(labels), "annotator": ["one"] * len(labels), "label": list(labels.values())})

    learned = LogicLNCL(limits=TrainingLimits(epochs=5, held_out=None)).fit(texts, frame)

    np.testing.assert_allclose(learned.estimate.confusion[0], [[0.85, 0.15], [0.15, 0.85]])
    answers = learned.to_frame().sort("item")["label"].to_list()
    corrected = np.array([answer != labels[i] for i, answer in enumerate(answers)])
    assert (corrected == is_wrong).mean() > 0.9
