"""Configurations of the paper's Table 2 by name, including choices that its text leaves open.

The networks are referred to by their registered names; the extension that provides them registers the presets.
`sentiment` and `ner` are defaults, explained in docs/decisions; other readings follow the paper's text or its authors'
program.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from crowdlogic.annotators.sequential import Sequential
from crowdlogic.data.names import Classes
from crowdlogic.data.tagging import is_span_tag_set
from crowdlogic.data.vectors import WordVectors
from crowdlogic.errors import OptionError
from crowdlogic.learning.algorithm import ConstantImitation, GrowingImitation, Imitation, LogicLNCL, Loss
from crowdlogic.learning.stopping import TrainingLimits
from crowdlogic.registry import CLASSIFIERS
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.projection.projector import ESTIMATED, Preset, Projector, Result, Start
from crowdlogic.rules.syntax import RuleSet
from crowdlogic.rules.transitions import TransitionTable, conll_transitions
from crowdlogic.truth.bsc_seq import BSCSeq
from crowdlogic.truth.majority import MajorityVote
from crowdlogic.truth.ties import Ties

CONLL_TIES = ("I-MISC", "I-ORG", "B-ORG", "I-PER", "B-PER", "I-LOC", "B-LOC", "B-MISC", "O")
"""Order in which ties of the majority vote are broken in the paper's file."""


ENCODER_TRAINING: Mapping[str, Any] = {
    "optimiser": "adamw",
    "learning_rate": 1e-4,
    "halve_every": 1,
    "batch_size": 32,
    "clip_norm": 1.0,
    "weight_decay": 0.01,
    "label_smoothing": 0.3,
}
"""Training options of the encoder of reviews."""

TAGGER_TRAINING: Mapping[str, Any] = {
    "optimiser": "adam",
    "learning_rate": 2e-3,
    "halve_every": 4,
    "batch_size": 32,
    "batch_tokens": 2048,
    "clip_norm": 5.0,
}
"""Training options of the tagger of entities. Batches of long documents are smaller, because an epoch would otherwise
have too few steps for the network to learn anything during its warm-up."""


@dataclass(frozen=True)
class PresetConfiguration:
    """A method and the rules that belong to it."""

    method: LogicLNCL
    rules: RuleSet | None


PAPER = "paper"
"""Name of the reading that follows the paper's text, for both tasks."""

IMITATIONS: dict[str, Imitation] = {"steady": ConstantImitation(0.2), PAPER: GrowingImitation(0.94)}
"""Imitation of the rule about reviews by the name of the reading: constant or growing."""


def sentiment(
    vectors: WordVectors | None = None, *, seed: int = 0, word: str = "but", reading: str = "steady"
) -> PresetConfiguration:
    """Return Kim-CNN with the rule "A but B"; C = 5, eq. 8.

    Args:
        vectors: Word vectors.
        seed: Random seed.
        word: The word between A and B.
        reading: `steady` has k = 0.2, `paper` k(t) = 1 - 0.94^t.
    """
    if reading not in IMITATIONS:
        raise OptionError(f"reading must be one of {', '.join(IMITATIONS)}; got {reading!r}.")
    method = LogicLNCL(
        learn_weights=False,  # the paper's weights are fixed
        classifier=CLASSIFIERS.load("kim-cnn")(vectors=vectors),
        projector=Projector(strength=5.0, preset="paper"),
        imitation=IMITATIONS[reading],
        loss=Loss.plain,
        start=MajorityVote(ties=Ties.soft),
        limits=TrainingLimits(seed=seed),
    )
    return PresetConfiguration(method, parse_rules(f"1.0: include contrast('{word}')", source="the preset sentiment"))


def sentiment_encoder(*, seed: int = 0, word: str = "but") -> PresetConfiguration:
    """Return a pre-trained encoder, fine-tuned for a few epochs, with the rule "A but B"; C = 5, k = 0.2, eq. 8.

    Its targets are smoothed and cross-fitting is used, so that the network does not outvote the annotators with their
    own labels. Since three epochs give few updates to the annotators, M- and E-steps continue afterwards.
    docs/decisions/0033 gives the reasons.

    Args:
        seed: Random seed.
        word: The word between A and B.
    """
    base = sentiment(seed=seed, word=word)
    method = replace(
        base.method,
        classifier=_with_training(CLASSIFIERS.load("transformer")(frozen_layers=2, precision="auto"), ENCODER_TRAINING),
        folds=2,
        settle=True,
        limits=replace(base.method.limits, epochs=3, held_out=None),
    )
    return replace(base, method=method)


READINGS = {
    "released": Preset(Start.classifier, Result.path),
    "transitions": Preset(Start.classifier, Result.marginals),
    "estimated": Preset(Start.classifier, Result.marginals),
    "released from the crowd": Preset(Start.crowd, Result.path),
    PAPER: Preset(Start.crowd, Result.marginals),
    "paper from the classifier": Preset(Start.classifier, Result.marginals),
}
"""How the rules are applied: as the rules of BIO, or as transitions (the authors' table, or `estimated` from the
vote)."""


def ner(
    classes: Classes, vectors: WordVectors | None = None, *, seed: int = 0, reading: str | None = None
) -> PresetConfiguration:
    """Return CNN-GRU with the grammar of BIO tags; k(t) = min(0.8, 1 - 0.9^t), C = 5, eq. 10.

    Args:
        classes: The tags.
        vectors: Word vectors.
        seed: Random seed.
        reading: One of READINGS. Default: `released` for the tags of CoNLL, for which there is a table of transitions,
            otherwise `estimated`.
    """
    reading = reading or ("released" if _is_conll(classes) else "estimated")
    if reading not in READINGS:
        raise OptionError(f"reading must be one of {', '.join(READINGS)}; got {reading!r}.")
    by_rules = reading.startswith("paper")
    method = LogicLNCL(
        learn_weights=False,  # the paper's weights are fixed
        classifier=CLASSIFIERS.load("cnn-gru")(vectors=vectors),
        projector=Projector(strength=5.0, preset=READINGS[reading], transitions=_transitions(reading, classes)),
        imitation=GrowingImitation(0.90, maximum=0.8),
        loss=Loss.annotators,
        start=_conll_vote(classes),
        limits=TrainingLimits(seed=seed),
    )
    return PresetConfiguration(method, parse_rules("1.0: include bio", source="the preset ner") if by_rules else None)


def bilstm_crf(vectors: WordVectors | None = None, *, seed: int = 0) -> PresetConfiguration:
    """Return BiLSTM-CRF with sequential annotators and the grammar of BIO tags, started from BSC-seq; eq. 8.

    In eq. 13 all labels of a token together count as one; docs/decisions/0030 gives the reasons.

    Args:
        vectors: Word vectors.
        seed: Random seed.
    """
    method = LogicLNCL(
        learn_weights=False,  # the paper's weights are fixed
        classifier=_with_training(CLASSIFIERS.load("bilstm-crf")(vectors=vectors), TAGGER_TRAINING),
        annotators=Sequential(correlation=1.0),
        projector=Projector(strength=5.0, preset="paper"),
        imitation=ConstantImitation(0.5),
        loss=Loss.plain,
        start=BSCSeq(),
        warm_up=5,
        limits=TrainingLimits(epochs=18, patience=5, seed=seed),
    )
    return PresetConfiguration(method, parse_rules("1.0: include bio", source="the preset ner"))


def _with_training(network: Any, training: Mapping[str, Any]) -> Any:
    """Return a network with these training options, and defaults for the others."""
    return replace(network, training=type(network.training)(**training))


def _transitions(reading: str, classes: Classes) -> TransitionTable | str | None:
    if reading.startswith("paper"):
        return None
    return ESTIMATED if reading == "estimated" else conll_transitions(classes)


def _conll_vote(classes: Classes) -> MajorityVote:
    """Return the hard majority vote, with the paper's tie order for the tags of CoNLL."""
    if _is_conll(classes):
        return MajorityVote(ties=Ties.order, order=CONLL_TIES)
    return MajorityVote(ties=Ties.random)


def _is_conll(classes: Classes) -> bool:
    return {str(name) for name in classes} == set(CONLL_TIES)


def linear_paper_preset(classes: Classes) -> PresetConfiguration:
    """Return the configuration of `--preset linear-paper`: the paper's text, with the linear classifier.

    No cross-fitting, fixed weights of the rules, and the paper's k(t), C, loss and start; torch is not needed.
    """
    tags = is_span_tag_set(classes)
    method = LogicLNCL(
        learn_weights=False,
        classifier=CLASSIFIERS.load("linear")(),
        projector=Projector(strength=5.0, preset="paper"),
        imitation=GrowingImitation(0.90, maximum=0.8) if tags else GrowingImitation(0.94),
        loss=Loss.annotators if tags else Loss.plain,
        start=_conll_vote(classes) if tags else MajorityVote(ties=Ties.soft),
        folds=1,
    )
    rule = "bio" if tags else "contrast('but')"
    return PresetConfiguration(method, parse_rules(f"1.0: include {rule}", source="the preset linear-paper"))


def sentiment_preset(classes: Classes) -> PresetConfiguration:  # noqa: ARG001 (the rule holds for any classes)
    """Return the configuration of `--preset sentiment`; docs/decisions/0008 gives the reasons."""
    return sentiment()


def sentiment_paper_preset(classes: Classes) -> PresetConfiguration:  # noqa: ARG001
    """Return the configuration of `--preset sentiment-paper`, which follows the paper's text."""
    return sentiment(reading=PAPER)


def sentiment_encoder_preset(classes: Classes) -> PresetConfiguration:  # noqa: ARG001
    """Return the configuration of `--preset sentiment-encoder`; docs/decisions/0033 gives the reasons."""
    return sentiment_encoder()


def ner_preset(classes: Classes) -> PresetConfiguration:  # noqa: ARG001 (it holds for any BIO tags)
    """Return the configuration of `--preset ner`; docs/decisions/0030 gives the reasons."""
    return bilstm_crf()


def ner_released_preset(classes: Classes) -> PresetConfiguration:
    """Return the configuration of `--preset ner-released`: the paper's networks with the rules of its program."""
    return ner(classes)


def ner_paper_preset(classes: Classes) -> PresetConfiguration:
    """Return the configuration of `--preset ner-paper`, which follows the paper's text."""
    return ner(classes, reading=PAPER)
