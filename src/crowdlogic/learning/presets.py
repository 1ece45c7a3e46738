"""The configurations of the paper's Table 2, and the choices its text leaves open, by name.

`sentiment` and `ner` are the defaults that docs/decisions gives reasons for; what the paper's text says, and what its
authors' program does, are readings of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from crowdlogic.data.names import Classes
from crowdlogic.data.vectors import WordVectors
from crowdlogic.errors import OptionError
from crowdlogic.learning.logic_lncl import LogicLNCL, Loss
from crowdlogic.learning.schedules import Constant, Growing, Imitation
from crowdlogic.registry import CLASSIFIERS
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.projection.presets import Preset, Result, Start
from crowdlogic.rules.projection.projector import ESTIMATED
from crowdlogic.rules.syntax import RuleSet
from crowdlogic.rules.transitions import TransitionTable, conll_transitions
from crowdlogic.truth.majority import MajorityVote
from crowdlogic.truth.ties import Ties

CONLL_TIES = ("I-MISC", "I-ORG", "B-ORG", "I-PER", "B-PER", "I-LOC", "B-LOC", "B-MISC", "O")
"""The order in which ties of the majority vote are decided in the paper's file."""


@dataclass(frozen=True)
class Configured:
    """A method and the rules that go with it."""

    method: LogicLNCL
    rules: RuleSet | None


PAPER = "paper"
"""The reading that is the paper's text, in either task."""

IMITATIONS: dict[str, Imitation] = {"steady": Constant(0.2), PAPER: Growing(0.94)}
"""How far the rule about reviews is imitated, by the reading's name: a little all the time, or more and more."""


def sentiment(
    vectors: WordVectors | None = None, *, seed: int = 0, word: str = "but", reading: str = "steady"
) -> Configured:
    """Kim-CNN and "A but B"; C = 5, eq. 8.

    Args:
        vectors: Word vectors.
        seed: Where all chance comes from.
        word: The word between A and B.
        reading: `steady` has k = 0.2, `paper` k(t) = 1 - 0.94^t.
    """
    if reading not in IMITATIONS:
        raise OptionError(f"reading: {reading!r} is none of {', '.join(IMITATIONS)}.")
    method = LogicLNCL(
        classifier=CLASSIFIERS.load("kim-cnn")(vectors=vectors),
        imitation=IMITATIONS[reading],
        strength=5.0,
        preset="paper",
        loss=Loss.plain,
        start=MajorityVote(ties=Ties.soft),
        seed=seed,
    )
    return Configured(method, parse_rules(f"1.0: include contrast('{word}')", source="the preset sentiment"))


READINGS = {
    "released": Preset(Start.classifier, Result.path),
    "transitions": Preset(Start.classifier, Result.marginals),
    "estimated": Preset(Start.classifier, Result.marginals),
    "released from the crowd": Preset(Start.crowd, Result.path),
    PAPER: Preset(Start.crowd, Result.marginals),
    "paper from the classifier": Preset(Start.classifier, Result.marginals),
}
"""How the rules are read: as the rules of BIO, or as transitions (the authors' table, or `estimated` from the vote)."""


def ner(
    classes: Classes, vectors: WordVectors | None = None, *, seed: int = 0, reading: str | None = None
) -> Configured:
    """CNN-GRU and the grammar of BIO tags; k(t) = min(0.8, 1 - 0.9^t), C = 5, eq. 10.

    Args:
        classes: The tags.
        vectors: Word vectors.
        seed: Where all chance comes from.
        reading: One of READINGS; if not given, `released` for the tags of CoNLL, for which there is a table of
            transitions, and `estimated` for others.
    """
    reading = reading or ("released" if _is_conll(classes) else "estimated")
    if reading not in READINGS:
        raise OptionError(f"reading: {reading!r} is none of {', '.join(READINGS)}.")
    by_rules = reading.startswith("paper")
    method = LogicLNCL(
        classifier=CLASSIFIERS.load("cnn-gru")(vectors=vectors),
        imitation=Growing(0.90, most=0.8),
        strength=5.0,
        loss=Loss.annotators,
        start=_conll_vote(classes),
        preset=READINGS[reading],
        seed=seed,
        transitions=_transitions(reading, classes),
    )
    return Configured(method, parse_rules("1.0: include bio", source="the preset ner") if by_rules else None)


def _transitions(reading: str, classes: Classes) -> TransitionTable | str | None:
    if reading.startswith("paper"):
        return None
    return ESTIMATED if reading == "estimated" else conll_transitions(classes)


def _conll_vote(classes: Classes) -> MajorityVote:
    """The hard majority vote, with the paper's order for the tags of CoNLL."""
    if _is_conll(classes):
        return MajorityVote(ties=Ties.order, order=CONLL_TIES)
    return MajorityVote(ties=Ties.random)


def _is_conll(classes: Classes) -> bool:
    return {str(name) for name in classes} == set(CONLL_TIES)


def sentiment_preset(classes: Classes) -> Configured:  # noqa: ARG001 (any classes will do)
    """`--preset sentiment`: the defaults that docs/decisions gives reasons for."""
    return sentiment()


def sentiment_paper_preset(classes: Classes) -> Configured:  # noqa: ARG001
    """`--preset sentiment-paper`: to the letter of the paper."""
    return sentiment(reading=PAPER)


def ner_preset(classes: Classes) -> Configured:
    """`--preset ner`: the defaults that docs/decisions gives reasons for."""
    return ner(classes)


def ner_paper_preset(classes: Classes) -> Configured:
    """`--preset ner-paper`: to the letter of the paper."""
    return ner(classes, reading=PAPER)
