"""What rules say of the items of a review, and how their word compares with what reviewers decided.

A rule speaks for the classes that its potential favours at a unit ([LNCL] eq. 15), in bits. Rules that ask a classifier
need a run, which has one.

[LNCL] "Learning from Noisy Crowd Labels with Logics". Axes: l rule, i unit, k class.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crowdlogic.classifiers.protocol import predict_texts
from crowdlogic.data.corpus import UNKNOWN, Corpus
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.names import Classes
from crowdlogic.data.wording import shorten_name
from crowdlogic.learning.evidence import BIT
from crowdlogic.learning.learned import Learned
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.rules.contributions import rule_contributions
from crowdlogic.rules.grounding import GroundRules
from crowdlogic.rules.parser import read_rules
from crowdlogic.rules.projection.projector import Projector
from crowdlogic.rules.reach import stay_within_items
from crowdlogic.workflows.inputs import read_vocabulary
from crowdlogic.workflows.review.answers import item_units

FAINT = 1e-3
"""A rule that says less than this many bits says nothing."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ReviewRules:
    """Rules over the items of a review.

    Attributes:
        projector: The rules, and how they are obeyed.
        corpus: The items.
        classes: The classes.
        kept: Which of the rules can be asked: those that need no classifier, unless there is one.
        texts: The rules as text, those that are kept.
        units: units[l], the units that rule l touches.
        are_local: Whether what they say of an item depends on that item alone.
    """

    projector: Projector
    corpus: Corpus
    classes: Classes
    kept: tuple[int, ...]
    texts: tuple[str, ...]
    units: tuple[Ints, ...]
    are_local: bool

    def say(self, items: Ints, beliefs: Beliefs, learned: Learned | None = None) -> Floats:
        """bits[l, u, k], what each rule says of the units of some items, laid out one item after the other.

        Args:
            items: The items, by code.
            beliefs: q[i, k] of all units.
            learned: The run whose classifier the rules ask.
        """
        whole = self.corpus if not self.are_local else self.corpus.take_items(items)
        mine = item_units(self.corpus.offsets, items)
        seen = mine if self.are_local else np.arange(self.corpus.n_units)
        ground = self.projector.ground(whole, self.classes).only(list(self.kept))
        found = rule_contributions(
            self.projector,
            beliefs[seen],
            ground,
            predict=None if learned is None else lambda texts: predict_texts(learned.classifier, texts),
            classifier=None if learned is None else learned.epoch.p[seen],
        )
        rows = slice(None) if self.are_local else mine
        return np.asarray(found.per_rule[:, rows] / BIT)


def read_review_rules(
    path: str, tables: Sequence[str], corpus: Corpus, classes: Classes
) -> tuple[ReviewRules, tuple[str, ...]]:
    """The rules of a file over some items, and a notice for each that needs a classifier and is left out."""
    projector = Projector(rules=read_rules(path), vocabulary=read_vocabulary(tables))
    ground = projector.ground(corpus, classes)
    left_out = tuple(
        f"{rule.rule.place}: the rule {shorten_name(rule.rule)} asks a classifier (Predicted) and is left out. Review "
        f"a run, which has one."
        for rule in ground.rules
        if not rule.is_static
    )
    return _make_rules(projector, corpus, classes, ground, needs_none=True), (
        *left_out,
        *(one.line for one in ground.notices),
    )


def rules_of_run(learned: Learned) -> ReviewRules | None:
    """The rules of a run over its items; None without any."""
    projector = learned.teacher.projector
    if projector.rules is None:
        return None
    corpus = learned.task.corpus
    return _make_rules(projector, corpus, learned.teacher.classes, learned.teacher.ground(corpus), needs_none=False)


def _make_rules(
    projector: Projector, corpus: Corpus, classes: Classes, ground: GroundRules, *, needs_none: bool
) -> ReviewRules:
    kept = tuple(n for n, rule in enumerate(ground.rules) if rule.is_static or not needs_none)
    return ReviewRules(
        projector=projector,
        corpus=corpus,
        classes=classes,
        kept=kept,
        texts=tuple(str(ground.rules[n].rule) for n in kept),
        units=tuple(ground.rules[n].units for n in kept),
        are_local=projector.rules is not None and stay_within_items(projector.rules, classes, projector.vocabulary),
    )


def rule_name(text: str) -> str:
    """A rule in a sentence: by the word that it quotes, or by its beginning."""
    word = re.search(r"'([^']+)'", text)
    return f"the rule about {shorten_name(word[1])!r}" if word else f"the rule {shorten_name(text)}"


def count_contradictions(bits: Floats, truths: Ints) -> list[tuple[int, int]]:
    """For each rule, how many known units it speaks against, and of how many it speaks at all.

    Args:
        bits: bits[l, u, k], what each rule says.
        truths: truths[u], the class that was decided; UNKNOWN where nothing was.
    """
    known = np.flatnonzero(truths != UNKNOWN)
    said = np.maximum(bits[:, known], -1e9)  # what a hard rule forbids is minus infinity
    speaks = np.ptp(said, axis=2) > FAINT
    best = said.max(axis=2)
    chosen = np.take_along_axis(said, np.broadcast_to(truths[known][None, :, None], (*said.shape[:2], 1)), axis=2)
    against = speaks & (best - chosen[:, :, 0] > FAINT)
    return list(zip(against.sum(axis=1).tolist(), speaks.sum(axis=1).tolist(), strict=True))


@dataclass(frozen=True, kw_only=True)
class RuleWord:
    """What one rule says of an item, or of a token of a sentence: for which class, and how many bits over the next."""

    rule: str
    token: int | None
    favours: str
    bits: float


MOST_WORDS = 20
"""How many words of rules are shown of one item: those that say most."""
CERTAIN = 99.0
"""How many bits a hard rule is shown with."""


def rule_words(bits: Floats, texts: Sequence[str], class_names: Sequence[str], *, is_sentence: bool) -> list[RuleWord]:
    """What rules say of the units of one item, the strongest first."""
    found = []
    for text, units in zip(texts, bits, strict=True):
        for place, said in enumerate(np.maximum(units, -CERTAIN)):
            second, best = np.sort(said)[-2:] if len(said) > 1 else (0.0, 0.0)
            if best - second > FAINT:
                token = place if is_sentence else None
                strength = round(float(min(best - second, CERTAIN)), 3)
                found.append(RuleWord(rule=text, token=token, favours=class_names[int(said.argmax())], bits=strength))
    return sorted(found, key=lambda word: -word.bits)[:MOST_WORDS]
