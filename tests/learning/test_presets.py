from __future__ import annotations

from dataclasses import replace

import pytest

pytest.importorskip("torch")

from crowdlogic.errors import OptionError
from crowdlogic.learning.presets import CONLL_TIES, READINGS, ner, sentiment
from crowdlogic.learning.schedules import Constant, Growing

TAGS = tuple(sorted(CONLL_TIES))


def test_sentiment_is_the_papers_table_2() -> None:
    found = sentiment(reading="paper")

    own = found.method
    assert (own.imitation, own.strength, own.loss, own.epochs, own.patience) == (Growing(0.94), 5.0, "plain", 30, 5)
    training = own.classifier.training
    assert (training.optimiser, training.learning_rate, training.halve_every, training.batch_size) == (
        "adadelta",
        1.0,
        5,
        50,
    )
    assert (own.classifier.windows, own.classifier.filters, own.classifier.dropout) == ((3, 4, 5), 100, 0.5)
    assert "After" in str(found.rules) or found.rules.statements


def test_ner_is_the_papers_table_2() -> None:
    own = ner(TAGS).method

    assert (own.imitation, own.strength, own.loss) == (Growing(0.90, most=0.8), 5.0, "annotators")
    assert own.start.order == CONLL_TIES
    training = own.classifier.training
    assert (training.optimiser, training.learning_rate, training.batch_size) == ("adam", 1e-3, 64)
    assert (own.classifier.filters, own.classifier.width, own.classifier.hidden_size) == (512, 5, 50)


def test_the_default_readings_are_those_of_the_decisions() -> None:
    assert ner(TAGS).method.preset == READINGS["released"]
    assert sentiment() == replace(
        sentiment(reading="paper"), method=replace(sentiment(reading="paper").method, imitation=Constant(0.2))
    )


@pytest.mark.parametrize("reading", READINGS)
def test_every_reading_has_rules_or_transitions(reading: str) -> None:
    found = ner(TAGS, reading=reading)

    assert (found.rules is None) != (found.method.transitions is None)


def test_an_unknown_reading_is_refused() -> None:
    with pytest.raises(OptionError, match="reading: 'literal' is none of"):
        ner(TAGS, reading="literal")
    with pytest.raises(OptionError, match="reading: 'released' is none of steady, paper"):
        sentiment(reading="released")


def test_tags_of_other_types_take_their_transitions_from_the_vote() -> None:
    found = ner(("B-GENE", "I-GENE", "O"))

    assert found.method.transitions == "estimated"
    assert found.rules is None
