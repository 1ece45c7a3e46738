"""Simulated reviews: counting words goes a long way, contrasts lead it astray, and the clause after "but" decides."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from crowdlogic.data.simulate import SimulatedReviews, simulate_reviews
from crowdlogic.errors import OptionError


def reviews(seed: int, **options: Any) -> SimulatedReviews:
    return simulate_reviews(np.random.default_rng(seed), **options)


def texts_of(simulated: SimulatedReviews) -> list[str]:
    assert simulated.corpus.texts is not None
    return list(simulated.corpus.texts)


@pytest.fixture(scope="module")
def test_set() -> SimulatedReviews:
    return reviews(1000, items=1500)


@pytest.fixture(scope="module")
def word_counter() -> Any:
    """A linear classifier of word counts, trained on other reviews."""
    train = reviews(1, items=2000)
    return make_pipeline(CountVectorizer(), LogisticRegression(max_iter=1000)).fit(texts_of(train), train.corpus.gold)


def test_counting_words_is_well_above_chance_and_well_below_certain(
    word_counter: Any, test_set: SimulatedReviews
) -> None:
    accuracy = (word_counter.predict(texts_of(test_set)) == test_set.corpus.gold).mean()

    assert 0.85 < accuracy < 0.93


def test_contrasts_lead_word_counts_astray(word_counter: Any, test_set: SimulatedReviews) -> None:
    right = word_counter.predict(texts_of(test_set)) == test_set.corpus.gold

    assert right[test_set.contrast].mean() < right[~test_set.contrast].mean() - 0.08


def test_the_words_after_but_decide_and_those_before_it_mislead(word_counter: Any, test_set: SimulatedReviews) -> None:
    assert test_set.corpus.gold is not None
    rows = np.flatnonzero(test_set.contrast)
    clauses = [texts_of(test_set)[row].split(" but ") for row in rows]
    gold = test_set.corpus.gold[rows]

    before = (word_counter.predict([a for a, _ in clauses]) == gold).mean()
    after = (word_counter.predict([b for _, b in clauses]) == gold).mean()

    assert after > 0.9
    assert before < 0.2


@pytest.mark.parametrize(("share", "expected"), [(0.0, 0), (0.3, 60), (0.333, 67), (1.0, 200)])
def test_contrasts_are_exactly_as_many_as_asked_and_exactly_those_marked(share: float, expected: int) -> None:
    simulated = reviews(3, items=200, contrast=share)

    found = np.array([" but " in f" {text} " for text in texts_of(simulated)])

    assert found.sum() == expected
    np.testing.assert_array_equal(found, simulated.contrast)


def test_a_contrast_has_one_but_with_words_on_both_sides() -> None:
    for text in texts_of(reviews(4, items=300, contrast=1.0)):
        before, after = text.split(" but ")

        assert len(before.split()) >= 3
        assert len(after.split()) >= 3


def test_no_text_is_empty_or_has_a_hole() -> None:
    for text in texts_of(reviews(5, items=500)):
        assert len(text.split()) >= 3
        assert text == " ".join(text.split())
        assert "{" not in text


def test_reviews_are_punctuated_and_capitalised_like_prose() -> None:
    for text in texts_of(reviews(5, items=500)):
        sentences = re.findall(r"[^.]+\.", text)
        assert not re.search(r"\s[.,!?;:]|[,.](?=\S)|\bi\b", text), text
        assert all(sentence.lstrip()[0].isupper() for sentence in sentences), text
        assert "".join(sentences) == text


def test_reviews_are_varied() -> None:
    texts = texts_of(reviews(6, items=3000))

    assert len(set(texts)) > 0.97 * len(texts)
    assert len({word for text in texts for word in text.split()}) > 300


def test_sentiments_are_as_common_as_asked() -> None:
    corpus = reviews(7, items=4000, positive=0.2).corpus

    assert corpus.classes == ("negative", "positive")
    assert np.mean(corpus.gold == 1) == pytest.approx(0.2, abs=0.03)


def test_noise_blurs_plain_reviews() -> None:
    train = reviews(8, items=800, contrast=0.0, noise=0.0)
    fitted = make_pipeline(CountVectorizer(), LogisticRegression(max_iter=1000)).fit(texts_of(train), train.corpus.gold)
    clean, noisy = (reviews(9, items=800, contrast=0.0, noise=noise) for noise in (0.0, 0.3))

    scores = [fitted.score(texts_of(simulated), simulated.corpus.gold) for simulated in (clean, noisy)]

    assert scores[1] < scores[0] - 0.1


def test_the_same_seed_gives_the_same_reviews_and_another_seed_others() -> None:
    first, again, other = (reviews(seed, items=50) for seed in (1, 1, 2))

    assert first.corpus.texts == again.corpus.texts
    np.testing.assert_array_equal(first.corpus.gold, again.corpus.gold)
    np.testing.assert_array_equal(first.contrast, again.contrast)
    assert first.corpus.texts != other.corpus.texts


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"items": 0}, "items: expected an integer of 1 or more, got 0."),
        ({"contrast": 1.2}, "contrast: expected a number from 0 to 1, got 1.2."),
        ({"positive": -1}, "positive: expected a number from 0 to 1, got -1."),
        ({"noise": float("nan")}, "noise: expected a number from 0 to 1, got nan."),
    ],
)
def test_a_senseless_option_is_refused_in_one_line(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError) as refused:
        reviews(0, **options)

    assert str(refused.value) == message
