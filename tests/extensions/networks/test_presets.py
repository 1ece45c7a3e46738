"""The configurations of the paper, by reading and by name."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")

from crowdlogic.data.vectors import WordVectors
from crowdlogic.errors import OptionError
from crowdlogic.learning.algorithm import ConstantImitation, GrowingImitation
from crowdlogic.learning.presets import CONLL_TIES, READINGS, PresetConfiguration, ner, sentiment
from crowdlogic.registry import CLASSIFIERS, PRESETS
from crowdlogic.store.options import encode_options

TAGS = tuple(sorted(CONLL_TIES))
KIM_CNN, CNN_GRU = CLASSIFIERS.create("kim-cnn"), CLASSIFIERS.create("cnn-gru")


def test_sentiment_is_the_papers_table_2() -> None:
    found = sentiment(KIM_CNN, reading="paper")

    own = found.method
    assert (own.imitation, own.projector.strength, own.loss) == (GrowingImitation(0.94), 5.0, "plain")
    assert (own.limits.epochs, own.limits.patience) == (30, 5)
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
    own = ner(CNN_GRU, TAGS).method

    assert (own.imitation, own.projector.strength, own.loss) == (GrowingImitation(0.90, maximum=0.8), 5.0, "annotators")
    assert own.start.order == CONLL_TIES
    training = own.classifier.training
    assert (training.optimiser, training.learning_rate, training.batch_size) == ("adam", 1e-3, 64)
    assert (own.classifier.filters, own.classifier.width, own.classifier.hidden_size) == (512, 5, 50)


def test_the_default_readings_are_those_of_the_decisions() -> None:
    assert ner(CNN_GRU, TAGS).method.projector.preset == READINGS["released"]
    paper = sentiment(KIM_CNN, reading="paper")
    assert sentiment(KIM_CNN) == replace(paper, method=replace(paper.method, imitation=ConstantImitation(0.2)))


@pytest.mark.parametrize("reading", READINGS)
def test_every_reading_has_rules_or_transitions(reading: str) -> None:
    found = ner(CNN_GRU, TAGS, reading=reading)

    assert (found.rules is None) != (found.method.projector.transitions is None)


def test_an_unknown_reading_is_refused() -> None:
    with pytest.raises(OptionError, match="reading must be one of"):
        ner(CNN_GRU, TAGS, reading="literal")
    with pytest.raises(OptionError, match="reading must be one of steady, paper; got 'released'"):
        sentiment(KIM_CNN, reading="released")


def test_tags_of_other_types_take_their_transitions_from_the_vote() -> None:
    found = ner(CNN_GRU, ("B-GENE", "I-GENE", "O"))

    assert found.method.projector.transitions == "estimated"
    assert found.rules is None


def test_an_encoder_of_reviews_is_bounded_and_needs_no_gold() -> None:
    """Its confidence ends at 85 %: it weighs as much as an annotator who is right as often, and no more."""
    found, plain = PRESETS.load("sentiment-encoder")(), sentiment(KIM_CNN)

    training = found.method.classifier.training
    assert 1 - training.label_smoothing / 2 == pytest.approx(0.85)
    assert (found.method.folds, found.method.settle) == (2, True)
    assert (found.method.limits.epochs, found.method.limits.held_out) == (3, None)
    assert found.method.projector == plain.method.projector
    assert found.method.imitation == plain.method.imitation
    assert str(found.rules) == str(plain.rules)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("sentiment", sentiment(KIM_CNN)),
        ("sentiment-paper", sentiment(KIM_CNN, reading="paper")),
        ("ner-released", ner(CNN_GRU, TAGS)),
        ("ner-paper", ner(CNN_GRU, TAGS, reading="paper")),
    ],
)
def test_presets_are_the_papers_configurations_with_its_networks(name: str, expected: PresetConfiguration) -> None:
    found = PRESETS.load(name)(TAGS)

    assert encode_options(found.method) == encode_options(expected.method)
    assert str(found.rules) == str(expected.rules)


def test_the_tagger_starts_from_bsc_seq_and_keeps_given_vectors() -> None:
    vectors = WordVectors(("a", "b"), np.ones((2, 3), np.float32))

    found = PRESETS.load("ner")(vectors=vectors).method

    assert (found.start.name, found.annotators.name, found.classifier.name) == ("bsc-seq", "sequential", "bilstm-crf")
    assert found.classifier.vectors is vectors
    assert (found.warm_up, found.limits.epochs, found.classifier.training.batch_tokens) == (5, 18, 2048)
