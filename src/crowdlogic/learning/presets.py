"""The paper's two configurations of Algorithm 1 (its Table 2), for any classifier.

`sentiment` and `ner` return a method and its rules. Where the paper's text leaves a choice open, or differs from the
authors' program, `reading` names one of the possible choices; docs/decisions explains the defaults. Presets with
networks are in the extension that provides these networks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from crowdlogic.classifiers.linear import Linear
from crowdlogic.classifiers.protocol import Architecture
from crowdlogic.data.names import Classes
from crowdlogic.data.tagging import is_span_tag_set
from crowdlogic.errors import OptionError
from crowdlogic.learning.algorithm import ConstantImitation, GrowingImitation, Imitation, LogicLNCL, Loss
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.projection.projector import ESTIMATED, Preset, Projector, Result, Start
from crowdlogic.rules.syntax import RuleSet
from crowdlogic.rules.transitions import TransitionTable, conll_transitions
from crowdlogic.truth.majority import MajorityVote
from crowdlogic.truth.ties import Ties

CONLL_TIES = ("I-MISC", "I-ORG", "B-ORG", "I-PER", "B-PER", "I-LOC", "B-LOC", "B-MISC", "O")
"""Order in which ties of the majority vote are broken in the paper's file."""


@dataclass(frozen=True)
class PresetConfiguration:
    """A method and the rules that belong to it."""

    method: LogicLNCL
    rules: RuleSet | None


PAPER = "paper"
"""Name of the reading that follows the paper's text, for both tasks."""

IMITATIONS: dict[str, Imitation] = {"steady": ConstantImitation(0.2), PAPER: GrowingImitation(0.94)}
"""Imitation of the rule about reviews by the name of the reading: constant or growing."""


def sentiment(classifier: Architecture, *, reading: str = "steady") -> PresetConfiguration:
    """Return the configuration for reviews, with the rule "A but B"; C = 5, eq. 8.

    Args:
        classifier: The classifier.
        reading: `steady` has k = 0.2, `paper` k(t) = 1 - 0.94^t.
    """
    if reading not in IMITATIONS:
        raise OptionError(f"reading must be one of {', '.join(IMITATIONS)}; got {reading!r}.")
    method = LogicLNCL(
        learn_weights=False,  # the paper's weights are fixed
        classifier=classifier,
        projector=Projector(strength=5.0, preset="paper"),
        imitation=IMITATIONS[reading],
        loss=Loss.plain,
        start=MajorityVote(ties=Ties.soft),
    )
    return PresetConfiguration(method, parse_rules("1.0: include contrast('but')", source="the preset"))


READINGS = {
    "released": Preset(Start.classifier, Result.path),
    "transitions": Preset(Start.classifier, Result.marginals),
    "estimated": Preset(Start.classifier, Result.marginals),
    "released from the crowd": Preset(Start.crowd, Result.path),
    PAPER: Preset(Start.crowd, Result.marginals),
    "paper from the classifier": Preset(Start.classifier, Result.marginals),
}
"""Ways to apply the rules of tags. The readings whose names begin with `paper` use the grammar of BIO tags; all others
use a table of transitions, which is the authors' or, for `estimated`, counted in the majority vote."""


def ner(classifier: Architecture, classes: Classes, *, reading: str | None = None) -> PresetConfiguration:
    """Return the configuration for named entities; k(t) = min(0.8, 1 - 0.9^t), C = 5, eq. 10.

    Args:
        classifier: The classifier.
        classes: The tags.
        reading: One of READINGS. Default: `released` for the tags of CoNLL, for which there is a table of transitions,
            otherwise `estimated`.
    """
    is_conll = {str(name) for name in classes} == set(CONLL_TIES)
    reading = reading or ("released" if is_conll else "estimated")
    if reading not in READINGS:
        raise OptionError(f"reading must be one of {', '.join(READINGS)}; got {reading!r}.")
    transitions: TransitionTable | str | None = None
    rules: RuleSet | None = None
    if reading.startswith(PAPER):
        rules = parse_rules("1.0: include bio", source="the preset")
    else:
        transitions = ESTIMATED if reading == "estimated" else conll_transitions(classes)
    method = LogicLNCL(
        learn_weights=False,  # the paper's weights are fixed
        classifier=classifier,
        projector=Projector(strength=5.0, preset=READINGS[reading], transitions=transitions),
        imitation=GrowingImitation(0.90, maximum=0.8),
        loss=Loss.annotators,
        start=MajorityVote(ties=Ties.order, order=CONLL_TIES) if is_conll else MajorityVote(ties=Ties.random),
    )
    return PresetConfiguration(method, rules)


def linear_paper_preset(classes: Classes) -> PresetConfiguration:
    """Return the configuration of `--preset linear-paper`: the paper's text with the linear classifier, without torch.

    Cross-fitting is disabled, as in the paper.
    """
    tags = is_span_tag_set(classes)
    base = ner(Linear(), classes, reading=PAPER) if tags else sentiment(Linear(), reading=PAPER)
    return replace(base, method=replace(base.method, folds=1))
