"""Why an item has its answer, in bits for the answer against its strongest rival, as a reviewer sees it.

Of a run it is the evidence of `learning.explain`. Of a truth method every vote counts by its annotator's confusion
matrix; what pooling and doubt make of the votes is the rest, so that the bits add up to the stated confidence:

    log2 q[a] / q[r] = prior + sum over votes of sharpness log2 confusion[j, a, n] / confusion[j, r, n] + rest.

Axes: i unit, j annotator, k class, m true class, n given label, a answer, r rival.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from crowdlogic.annotators.label_sums import tally
from crowdlogic.annotators.protocol import MOST_CELLS
from crowdlogic.classifiers.protocol import predict_texts
from crowdlogic.data.blocks import make_shards
from crowdlogic.data.corpus import UNKNOWN, Corpus
from crowdlogic.data.estimate import Beliefs, Estimate
from crowdlogic.data.evidence import EvidenceSource, EvidenceTerm, UnitEvidence, with_rest
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import Classes
from crowdlogic.data.tagging import NOT_SEEN, Spans, TagSet, is_span_tag_set, parse_tags, spans_to_tags, tags_to_spans
from crowdlogic.data.wording import pluralise, shorten_name
from crowdlogic.errors import DataError, did_you_mean, name_list
from crowdlogic.learning.evidence import BIT, unit_evidence
from crowdlogic.learning.explain import explain, is_explicable
from crowdlogic.learning.learned import Learned
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.numerics.intervals import HALF
from crowdlogic.numerics.logspace import design_effect, safe_log
from crowdlogic.rules.contributions import rule_contributions
from crowdlogic.rules.expansion import stay_within_items
from crowdlogic.rules.grounding import GroundRules
from crowdlogic.rules.parser import read_rules
from crowdlogic.rules.projection.projector import Projector
from crowdlogic.workflows.inputs import read_vocabulary

# Answers as reviewers see and give them: a class, or the spans of a sentence; and as codes, which fits work with.
#
# A span covers the tokens start to end (exclusive) and has a type. In tag sets that are no span tags (parts of
# speech)
# every token is a span of its own, and its type is its tag. Classes are compared as text.
#
# Axes: i unit, s sequence.


def item_units(offsets: Ints | None, items: Ints) -> Ints:
    """The units of some items, laid out one item after the other."""
    if offsets is None:
        return items
    return np.concatenate([np.arange(offsets[s], offsets[s + 1]) for s in items] or [np.zeros(0, dtype=np.int64)])


@dataclass(frozen=True, eq=False)
class AnswerForm:
    """What an answer to an item of these labels looks like."""

    labels: CrowdLabels

    @cached_property
    def class_names(self) -> tuple[str, ...]:
        """The classes as text."""
        return tuple(str(name) for name in self.labels.classes)

    @cached_property
    def _codes(self) -> dict[str, int]:
        return {name: k for k, name in enumerate(self.class_names)}

    @cached_property
    def tag_set(self) -> TagSet | None:
        """The tags split into prefix and type; None unless they are span tags."""
        sequential = self.labels.is_sequential and is_span_tag_set(self.labels.classes)
        return parse_tags(self.labels.classes) if sequential else None

    @property
    def types(self) -> tuple[str, ...]:
        """What a document, a span or a token can be."""
        return self.class_names if self.tag_set is None else self.tag_set.types

    def length(self, item: int) -> int:
        """How many units an item has."""
        offsets = self.labels.offsets
        return 1 if offsets is None else int(offsets[item + 1] - offsets[item])

    def encode(self, item: int, answer: Any) -> Ints:
        """The codes of an answer: of a class, or of one tag per token.

        An answer that does not fit the item is refused with the reason.
        """
        tags = [answer] if self.labels.offsets is None else answer
        if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
            raise DataError("An answer is a class, or one tag for each token of a sentence.")
        if len(tags) != self.length(item):
            raise DataError(
                f"{pluralise(len(tags), 'tag')} for {pluralise(self.length(item), 'token')}. Give one for each token."
            )
        return np.array([self._code(tag) for tag in tags], dtype=np.int32)

    def _code(self, name: str) -> int:
        if name not in self._codes:
            hint = did_you_mean(name, self.class_names)
            raise DataError(f"{name!r} is not a class.{hint} There are {name_list(self.class_names)}.")
        return self._codes[name]

    def decode(self, codes: Ints) -> str | list[str]:
        """The answer that codes mean: a class, or the tags of a sentence; ? where there is no answer."""
        names = [*self.class_names, NOT_SEEN]
        tags = [names[int(code)] for code in codes]
        return tags[0] if self.labels.offsets is None else tags

    def spans(self, codes: Ints) -> list[dict[str, Any]]:
        """The spans of a sentence's tags, as start, end and type."""
        if self.tag_set is None:
            names = [*self.class_names, NOT_SEEN]
            return [{"start": i, "end": i + 1, "type": names[int(code)]} for i, code in enumerate(codes)]
        found = tags_to_spans(codes, np.array([0, len(codes)]), self.tag_set)
        return [
            {"start": int(start), "end": int(end), "type": self.tag_set.types[int(kind)]}
            for start, end, kind in zip(found.start, found.end, found.kind, strict=True)
        ]

    def tags_of_spans(self, item: int, spans: Sequence[Mapping[str, Any]]) -> list[str]:
        """One tag per token from spans, which must fit the sentence and not overlap."""
        if self.labels.offsets is None:
            raise DataError("Spans are of sentences. Answer a document with its class.")
        size, ordered = self.length(item), sorted(spans, key=lambda span: int(span["start"]))
        reached = 0
        for span in ordered:
            start, end = int(span["start"]), int(span["end"])
            if not reached <= start < end <= size:
                raise DataError(
                    f"The span {start} to {end} overlaps another, or does not fit {pluralise(size, 'token')}."
                )
            reached = end
        return self._plain_tags(size, ordered) if self.tag_set is None else self._span_tags(size, ordered)

    def _plain_tags(self, size: int, spans: Sequence[Mapping[str, Any]]) -> list[str]:
        tags = [NOT_SEEN] * size
        for span in spans:
            tags[int(span["start"]) : int(span["end"])] = [str(span["type"])] * (int(span["end"]) - int(span["start"]))
        if NOT_SEEN in tags:
            raise DataError(f"Token {tags.index(NOT_SEEN) + 1} has no tag. Give each token one.")
        return tags

    def _span_tags(self, size: int, spans: Sequence[Mapping[str, Any]]) -> list[str]:
        kinds = [self._type(str(span["type"])) for span in spans]
        start, end = (np.array([int(span[name]) for span in spans], dtype=np.int64) for name in ("start", "end"))
        tag_set = self.tag_set
        if tag_set is None:
            return []
        codes = spans_to_tags(Spans(start, end, np.array(kinds, dtype=np.int64)), size, tag_set)
        if len(self.spans(codes)) != len(spans):  # a long span without I- falls apart
            tags = name_list(self.class_names)
            raise DataError(f"These spans cannot be written with the tags {tags}: one is missing.")
        return list(self.decode(codes))

    def _type(self, name: str) -> int:
        if name not in self.types:
            raise DataError(
                f"{name!r} is not a type.{did_you_mean(name, self.types)} There are {name_list(self.types)}."
            )
        return self.types.index(name)


# What rules say of the items of a review, and how their word compares with what reviewers decided.
#
# A rule speaks for the classes that its potential favours at a unit ([LNCL] eq. 15), in bits. Rules that ask a
# classifier
# need a run, which has one.
#
# [LNCL] "Learning from Noisy Crowd Labels with Logics". Axes: l rule, i unit, k class.

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


@dataclass(frozen=True, kw_only=True)
class ItemEvidence:
    """Why an item has its answer: unit by unit; and what the rules say of it."""

    units: list[UnitEvidence]
    rules: list[RuleWord]


def hide_names(unit: UnitEvidence, names: Mapping[str, str]) -> UnitEvidence:
    """The same evidence with other names of the annotators."""
    terms = (
        replace(term, name=names.get(term.name, "")) if term.source is EvidenceSource.annotator else term
        for term in unit.terms
    )
    return replace(unit, terms=tuple(terms))


def annotator_confusion(labels: CrowdLabels, estimate: Estimate) -> Floats | None:
    """confusion[j, m, n]: the method's own, or expected from its beliefs; None where it would be too large."""
    if estimate.confusion is not None:
        return estimate.confusion
    if labels.n_classes < 2 or len(labels.annotators) * labels.n_classes**2 > MOST_CELLS:
        return None
    counts = tally(make_shards(labels), estimate.beliefs).counts.transpose(0, 2, 1) + HALF / labels.n_classes
    return np.asarray(counts / counts.sum(axis=2, keepdims=True))


def vote_evidence(labels: CrowdLabels, estimate: Estimate, confusion: Floats, item: int) -> list[UnitEvidence]:
    """The evidence of all votes on an item, unit by unit."""
    found = []
    for place, unit in enumerate(item_units(labels.offsets, np.array([item])).tolist()):
        rows = slice(*np.searchsorted(labels.unit, [unit, unit + 1]).tolist())
        terms = vote_terms(labels, estimate, confusion, rows)
        found.append(_unit(labels, estimate, terms, unit=unit, rows=rows, token=place))
    return found


def vote_terms(labels: CrowdLabels, estimate: Estimate, confusion: Floats, rows: slice) -> Floats:
    """terms[n, k] in bits: of the prior first, then of each vote of a unit; scaled as the confidence is."""
    weight = labels.weights[rows]
    calibration = estimate.calibration
    effect = 1.0 if calibration is None else float(design_effect(weight.sum(), calibration.correlation))
    sharpness = (1.0 if calibration is None else calibration.sharpness) / effect
    votes = safe_log(confusion[labels.annotator[rows], :, labels.label[rows]]) * weight[:, None]
    prior = np.zeros(labels.n_classes) if estimate.prior is None else safe_log(estimate.prior)
    return np.asarray(np.vstack([prior, votes]) * sharpness / BIT)


def _unit(
    labels: CrowdLabels, estimate: Estimate, terms: Floats, *, unit: int, rows: slice, token: int
) -> UnitEvidence:
    beliefs, names = estimate.beliefs[unit], [str(name) for name in labels.classes]
    is_known = bool(beliefs.max() == 1.0)
    ranked = np.argsort(-(terms.sum(axis=0) if is_known else beliefs), kind="stable")
    answer = int(beliefs.argmax())
    rival = int(next((k for k in ranked if k != answer), answer))
    bits = [_finite(term[answer] - term[rival]) for term in terms]
    said = [names[k] for k in labels.label[rows]]
    people = labels.annotators.gather(labels.annotator[rows]).to_list()
    found = [EvidenceTerm(source=EvidenceSource.prior, bits=bits[0])] if estimate.prior is not None else []
    found += [
        EvidenceTerm(source=EvidenceSource.annotator, name=str(who), said=label, bits=bit)
        for who, label, bit in zip(people, said, bits[1:], strict=True)
    ]
    stated = None if is_known else _finite(float(np.log2(beliefs[answer]) - np.log2(max(beliefs[rival], 1e-300))))
    place = None if labels.offsets is None else token
    terms_shown = with_rest(found, stated)
    return UnitEvidence(token=place, answer=names[answer], rival=names[rival], terms=terms_shown, bits=stated)


def _finite(bits: float) -> float | None:
    return round(float(bits), 6) if np.isfinite(bits) else None


def run_evidence(learned: Learned, item: Any) -> list[UnitEvidence]:
    """Return the evidence of a run for each unit of an item; empty if its method cannot be explained."""
    if not is_explicable(learned):
        return []
    found, is_token = explain(learned, item), learned.task.labels.is_sequential
    units = (unit_evidence(found, i, token=i if is_token else None) for i in range(len(found.q_f)))
    return [one for one in units if one is not None]
