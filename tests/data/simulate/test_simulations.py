"""Whole simulated data sets: they fit together, say that they are simulated, and follow from their seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from crowdlogic.data.corpus import align
from crowdlogic.data.simulate import Simulation, simulate_labels, simulate_ner, simulate_sentiment
from crowdlogic.data.tagging import parse_tags, tags_to_spans
from crowdlogic.errors import OptionError
from crowdlogic.truth.majority import MajorityVote

ALL = [simulate_sentiment, simulate_ner, simulate_labels]
Simulate = Callable[..., Simulation]


@pytest.fixture(params=ALL, ids=lambda function: function.__name__)
def simulate(request: pytest.FixtureRequest) -> Simulate:
    return request.param  # type: ignore[no-any-return]


def test_labels_and_corpus_are_of_the_same_items_and_classes(simulate: Simulate) -> None:
    simulation = simulate(0, items=60)

    labels, corpus = align(simulation.labels, simulation.corpus)

    assert labels.items.to_list() == simulation.labels.items.to_list()
    assert labels.classes == simulation.labels.classes == corpus.classes
    assert len(corpus.items) == 60
    np.testing.assert_array_equal(corpus.gold, simulation.corpus.gold)


def test_the_description_is_one_line_and_says_simulated(simulate: Simulate) -> None:
    description = simulate(3, items=60).description

    assert "simulated" in description
    assert "60" in description
    assert "seed 3" in description
    assert "\n" not in description


def test_the_annotators_frame_has_a_row_for_each_with_their_labels(simulate: Simulate) -> None:
    simulation = simulate(0, items=60)

    assert simulation.annotators["annotator"].to_list() == simulation.labels.annotators.to_list()
    np.testing.assert_array_equal(simulation.annotators["labels"], simulation.labels.labels_per_annotator())
    assert simulation.annotators["character"].null_count() == 0


def test_the_same_seed_gives_the_same_and_another_seed_another(simulate: Simulate) -> None:
    first, again, other = (simulate(seed, items=60) for seed in (1, 1, 2))

    np.testing.assert_array_equal(first.labels.label, again.labels.label)
    np.testing.assert_array_equal(first.labels.unit, again.labels.unit)
    np.testing.assert_array_equal(first.corpus.gold, again.corpus.gold)
    assert first.annotators.equals(again.annotators)
    assert first.corpus.texts == again.corpus.texts
    assert first.corpus.tokens == again.corpus.tokens
    assert not np.array_equal(first.labels.label[:50], other.labels.label[:50])


@pytest.mark.parametrize("simulate_with_test", [simulate_sentiment, simulate_ner])
def test_a_larger_test_set_changes_nothing_else(simulate_with_test: Simulate) -> None:
    small, large = (simulate_with_test(1, items=40, test_items=n) for n in (10, 50))

    assert small.test is not None
    assert large.test is not None
    assert (len(small.test.items), len(large.test.items)) == (10, 50)
    np.testing.assert_array_equal(small.labels.label, large.labels.label)
    assert small.corpus.texts == large.corpus.texts
    assert small.corpus.tokens == large.corpus.tokens


@pytest.mark.parametrize("simulate_with_test", [simulate_sentiment, simulate_ner])
def test_another_crowd_is_shown_the_same_items(simulate_with_test: Simulate) -> None:
    few, many = (simulate_with_test(1, items=40, test_items=20, annotators=n) for n in (6, 40))

    assert few.test is not None
    assert many.test is not None
    assert few.corpus.texts == many.corpus.texts
    assert few.corpus.tokens == many.corpus.tokens
    assert few.test.texts == many.test.texts
    assert few.test.tokens == many.test.tokens


@pytest.mark.parametrize("simulate_with_test", [simulate_sentiment, simulate_ner])
def test_training_and_test_items_have_different_names_and_the_same_classes(simulate_with_test: Simulate) -> None:
    simulation = simulate_with_test(0, items=30, test_items=30)

    assert simulation.test is not None
    assert not set(simulation.test.items) & set(simulation.corpus.items)
    assert simulation.test.classes == simulation.corpus.classes


def test_planted_accuracy_matches_the_labels() -> None:
    simulation = simulate_labels(0, items=8000, annotators=6, classes=4, labels_per_item=6, balance=[4, 3, 2, 1])
    labels, gold = simulation.labels, simulation.corpus.gold
    assert gold is not None

    right = np.bincount(labels.annotator, weights=labels.label == gold[labels.unit], minlength=6)

    found = right / labels.labels_per_annotator()
    np.testing.assert_allclose(simulation.annotators["accuracy"].to_numpy(), found, rtol=0, atol=0.02)


@pytest.mark.parametrize("simulate_crowd", [simulate_labels, simulate_sentiment])
def test_majority_vote_fails_on_the_hard_crowd_more_than_on_the_usual_one(simulate_crowd: Simulate) -> None:
    def accuracy(simulation: Simulation) -> float:
        return float((MajorityVote().infer(simulation.labels).answer == simulation.corpus.gold).mean())

    hard, usual = (np.mean([accuracy(simulate_crowd(seed, hard=hard)) for seed in range(8)]) for hard in (True, False))

    assert hard < 0.8
    assert usual > hard + 0.05


def test_voting_on_entities_overlooks_more_than_it_invents() -> None:
    simulation = simulate_ner(0)
    assert simulation.corpus.offsets is not None
    assert simulation.corpus.gold is not None
    tags = parse_tags(simulation.corpus.classes)
    voted = MajorityVote().infer(simulation.labels).answer

    true, given = (
        {*zip(found.start.tolist(), found.end.tolist(), found.kind.tolist(), strict=True)}
        for found in (
            tags_to_spans(codes, simulation.corpus.offsets, tags) for codes in (simulation.corpus.gold, voted)
        )
    )

    precision, recall = len(true & given) / len(given), len(true & given) / len(true)
    assert 0.5 < recall < precision - 0.05 < 0.9


def test_labels_of_a_thousand_classes_and_of_one_work() -> None:
    assert simulate_labels(0, items=50, annotators=2, classes=1000).labels.n_classes == 1000
    assert simulate_labels(0, items=50, annotators=2, classes=1).corpus.classes == ("class_0",)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: simulate_sentiment(0, test_items=0), "test_items: expected an integer of 1 or more, got 0."),
        (lambda: simulate_labels(-1), "seed: expected an integer of 0 or more, got -1."),
        (
            lambda: simulate_labels(0, hard=True, mix={"expert": 1.0}),
            "mix: the hard crowd has a fixed mix. Give either a mix or the option for the hard crowd.",
        ),
    ],
)
def test_a_senseless_option_is_refused_in_one_line(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(OptionError) as refused:
        call()

    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"items": 0}, "items: expected an integer of 1 or more, got 0."),
        ({"annotators": 0}, "annotators: expected an integer of 1 or more, got 0."),
        (
            {"annotators": 3, "labels_per_item": 4},
            "labels_per_item: 4 annotators per item requested, but there are 3. Give a mean from 1 to 3.",
        ),
    ],
)
def test_impossible_sizes_are_refused_under_the_names_used(
    simulate: Simulate, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(OptionError) as refused:
        simulate(0, **options)

    assert str(refused.value) == message
