"""Presets with networks: functions from the classes to a method and its rules.

Each takes word vectors as an option if its network uses them. docs/decisions gives the reasons for the choices.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from crowdlogic.annotators.sequential import Sequential
from crowdlogic.data.names import Classes
from crowdlogic.data.vectors import WordVectors
from crowdlogic.learning.algorithm import ConstantImitation, LogicLNCL, Loss
from crowdlogic.learning.presets import PAPER, PresetConfiguration, ner, sentiment
from crowdlogic.learning.stopping import TrainingLimits
from crowdlogic.registry import CLASSIFIERS
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.projection.projector import Projector
from crowdlogic.truth.bsc_seq import BSCSeq


def sentiment_preset(classes: Classes = (), *, vectors: WordVectors | None = None) -> PresetConfiguration:  # noqa: ARG001 (the rule holds for any classes)
    """Return the configuration of `--preset sentiment`: Kim-CNN with a constant imitation (docs/decisions/0008)."""
    return sentiment(CLASSIFIERS.load("kim-cnn")(vectors=vectors))


def sentiment_paper_preset(classes: Classes = (), *, vectors: WordVectors | None = None) -> PresetConfiguration:  # noqa: ARG001
    """Return the configuration of `--preset sentiment-paper`: Kim-CNN, as in the paper's text."""
    return sentiment(CLASSIFIERS.load("kim-cnn")(vectors=vectors), reading=PAPER)


def sentiment_encoder_preset(classes: Classes = ()) -> PresetConfiguration:  # noqa: ARG001
    """Return the configuration of `--preset sentiment-encoder`: a pre-trained encoder, fine-tuned for a few epochs.

    Its targets are smoothed and cross-fitting is used, so that the network does not outvote the annotators with their
    own labels. Since three epochs give few updates to the annotators, M- and E-steps continue afterwards
    (docs/decisions/0033).
    """
    encoder = _with_training(
        CLASSIFIERS.load("transformer")(frozen_layers=2, precision="auto"),
        optimiser="adamw",
        learning_rate=1e-4,
        halve_every=1,
        batch_size=32,
        clip_norm=1.0,
        weight_decay=0.01,
        label_smoothing=0.3,
    )
    base = sentiment(encoder)
    limits = TrainingLimits(epochs=3, held_out=None)
    return replace(base, method=replace(base.method, folds=2, settle=True, limits=limits))


def ner_preset(classes: Classes = (), *, vectors: WordVectors | None = None) -> PresetConfiguration:  # noqa: ARG001 (it holds for any BIO tags)
    """Return the configuration of `--preset ner`: BiLSTM-CRF with sequential annotators and the grammar of BIO tags.

    It starts from BSC-seq. In eq. 13 all labels of a token together count as one (docs/decisions/0030).
    """
    # Batches of long documents are smaller, because an epoch would otherwise have too few steps for the network to
    # learn anything during its warm-up.
    tagger = _with_training(
        CLASSIFIERS.load("bilstm-crf")(vectors=vectors),
        optimiser="adam",
        learning_rate=2e-3,
        halve_every=4,
        batch_size=32,
        batch_tokens=2048,
        clip_norm=5.0,
    )
    method = LogicLNCL(
        learn_weights=False,  # the paper's weights are fixed
        classifier=tagger,
        annotators=Sequential(correlation=1.0),
        projector=Projector(strength=5.0, preset="paper"),
        imitation=ConstantImitation(0.5),
        loss=Loss.plain,
        start=BSCSeq(),
        warm_up=5,
        limits=TrainingLimits(epochs=18, patience=5),
    )
    return PresetConfiguration(method, parse_rules("1.0: include bio", source="the preset"))


def ner_released_preset(classes: Classes, *, vectors: WordVectors | None = None) -> PresetConfiguration:
    """Return the configuration of `--preset ner-released`: the paper's CNN-GRU with the released program's rules."""
    return ner(CLASSIFIERS.load("cnn-gru")(vectors=vectors), classes)


def ner_paper_preset(classes: Classes, *, vectors: WordVectors | None = None) -> PresetConfiguration:
    """Return the configuration of `--preset ner-paper`: CNN-GRU, as in the paper's text."""
    return ner(CLASSIFIERS.load("cnn-gru")(vectors=vectors), classes, reading=PAPER)


def _with_training(network: Any, **options: Any) -> Any:
    """Return a network with these training options, and defaults for the others."""
    return replace(network, training=type(network.training)(**options))
