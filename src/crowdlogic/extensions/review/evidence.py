"""Explanation of answers in a review: evidence in bits for the answer compared with its strongest rival.

For runs this is the evidence of `learning.explain`. For truth methods each vote counts by its annotator's confusion
matrix; the effect of pooling and calibration is the rest, so that the bits add up to the stated confidence:

    log2 q[a] / q[r] = prior + sum over votes of sharpness log2 confusion[j, a, n] / confusion[j, r, n] + rest.

[LNCL] "Learning from Noisy Crowd Labels with Logics".

Axes: i unit, j annotator, k class, m true class, n given label, a answer, r rival, s sequence, l rule.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from crowdlogic.annotators.label_sums import MOST_CELLS, tally
from crowdlogic.classifiers.protocol import predict_texts
from crowdlogic.data.blocks import make_shards
from crowdlogic.data.corpus import UNKNOWN, Corpus
from crowdlogic.data.estimate import Beliefs, Estimate
from crowdlogic.data.evidence import EvidenceSource, EvidenceTerm, UnitEvidence, with_rest
from crowdlogic.data.labels import NOT_SEEN, CrowdLabels
from crowdlogic.data.names import Classes
from crowdlogic.data.tagging import Spans, TagSet, is_span_tag_set, parse_tags, spans_to_tags, tags_to_spans
from crowdlogic.data.wording import pluralise, shorten_name
from crowdlogic.errors import DataError, did_you_mean, name_list
from crowdlogic.learning.explain import BIT, explain, is_explicable, unit_evidence
from crowdlogic.learning.learned import Learned
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.numerics.logspace import HALF, design_effect, safe_log
from crowdlogic.rules.contributions import rule_contributions
from crowdlogic.rules.expansion import stay_within_items
from crowdlogic.rules.grounding import GroundRules
from crowdlogic.rules.parser import read_rules
from crowdlogic.rules.projection.projector import Projector
from crowdlogic.workflows.inputs import read_vocabulary

# Answers are a class, or the spans of a sentence; internally, codes. A span covers the tokens start to end (exclusive)
# and has a type. In other tag sets (parts of speech), every token is a span with its tag as type.


def item_units(offsets: Ints | None, items: Ints) -> Ints:
    """Return the units of some items, concatenated."""
    if offsets is None:
        return items
    return np.concatenate([np.arange(offsets[s], offsets[s + 1]) for s in items] or [np.zeros(0, dtype=np.int64)])


@dataclass(frozen=True, eq=False)
class AnswerForm:
    """Converter between the forms of an answer: class names or tags, spans, and integer codes."""

    labels: CrowdLabels

    @cached_property
    def class_names(self) -> tuple[str, ...]:
        """Classes as text."""
        return tuple(str(name) for name in self.labels.classes)

    @cached_property
    def _codes(self) -> dict[str, int]:
        return {name: k for k, name in enumerate(self.class_names)}

    @cached_property
    def tag_set(self) -> TagSet | None:
        """Tags split into prefix and type; None unless they are span tags."""
        sequential = self.labels.is_sequential and is_span_tag_set(self.labels.classes)
        return parse_tags(self.labels.classes) if sequential else None

    @property
    def types(self) -> tuple[str, ...]:
        """Possible types of a document, a span or a token."""
        return self.class_names if self.tag_set is None else self.tag_set.types

    def length(self, item: int) -> int:
        """Return the number of units of an item."""
        offsets = self.labels.offsets
        return 1 if offsets is None else int(offsets[item + 1] - offsets[item])

    def encode(self, item: int, answer: Any) -> Ints:
        """Return the codes of an answer: a class, or one tag per token.

        An answer that does not fit the item raises an error.
        """
        tags = [answer] if self.labels.offsets is None else answer
        if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
            raise DataError("An answer is a class, or one tag for each token of a sentence.")
        if len(tags) != self.length(item):
            raise DataError(
                f"{pluralise(len(tags), 'tag')} for {pluralise(self.length(item), 'token')}. Give one for each token."
            )
        unknown = next((tag for tag in tags if tag not in self._codes), None)
        if unknown is not None:
            hint = did_you_mean(unknown, self.class_names)
            raise DataError(f"{unknown!r} is not a class.{hint} Choose one of {name_list(self.class_names)}.")
        return np.array([self._codes[tag] for tag in tags], dtype=np.int32)

    def decode(self, codes: Ints) -> str | list[str]:
        """Return the answer for codes: a class, or the tags of a sentence; ? where there is no answer."""
        names = [*self.class_names, NOT_SEEN]
        tags = [names[int(code)] for code in codes]
        return tags[0] if self.labels.offsets is None else tags

    def spans(self, codes: Ints) -> list[dict[str, Any]]:
        """Return the spans of a sentence's tags, with start, end and type."""
        if self.tag_set is None:
            names = [*self.class_names, NOT_SEEN]
            return [{"start": i, "end": i + 1, "type": names[int(code)]} for i, code in enumerate(codes)]
        found = tags_to_spans(codes, np.array([0, len(codes)]), self.tag_set)
        return [
            {"start": int(start), "end": int(end), "type": self.tag_set.types[int(kind)]}
            for start, end, kind in zip(found.start, found.end, found.kind, strict=True)
        ]

    def tags_of_spans(self, item: int, spans: Sequence[Mapping[str, Any]]) -> list[str]:
        """Return one tag per token from spans, which must fit the sentence and not overlap."""
        if self.labels.offsets is None:
            raise DataError("Spans are only valid for sentences. Answer a document with its class.")
        size, ordered = self.length(item), sorted(spans, key=lambda span: int(span["start"]))
        starts, ends, kinds = ([span[name] for span in ordered] for name in ("start", "end", "type"))
        for before, start, end in zip([0, *ends], starts, ends, strict=False):
            if not before <= start < end <= size:
                raise DataError(
                    f"The span {start} to {end} overlaps another, or does not fit {pluralise(size, 'token')}. Correct "
                    f"its ends."
                )
        if self.tag_set is None:
            tags = [NOT_SEEN] * size
            for start, end, kind in zip(starts, ends, kinds, strict=True):
                tags[start:end] = [str(kind)] * (end - start)
            if NOT_SEEN in tags:
                raise DataError(f"Token {tags.index(NOT_SEEN) + 1} has no tag. Give every token a tag.")
            return tags
        unknown = next((str(kind) for kind in kinds if kind not in self.types), None)
        if unknown is not None:
            hint = did_you_mean(unknown, self.types)
            raise DataError(f"{unknown!r} is not a type.{hint} Choose one of {name_list(self.types)}.")
        codes = [self.types.index(kind) for kind in kinds]
        marked = Spans(*(np.array(column, dtype=np.int64) for column in (starts, ends, codes)))
        found = spans_to_tags(marked, size, self.tag_set)
        if len(self.spans(found)) != len(spans):  # without an I- tag, a long span is split
            shown = name_list(self.class_names)
            raise DataError(
                f"These spans cannot be represented: the tags {shown} lack one that they need, such as I-. Mark other "
                f"spans."
            )
        return list(self.decode(found))


MIN_BITS = 1e-3
"""Contributions of a rule below this number of bits are ignored."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ReviewRules:
    """Rules grounded on the items of a review.

    Attributes:
        projector: The rules with their strength and options.
        corpus: The items.
        classes: The classes.
        kept: Indices of the usable rules; rules that need a classifier are excluded unless there is one.
        texts: The usable rules as text.
        units: units[l], the units touched by rule l.
        are_local: Whether contributions to an item only depend on that item.
    """

    projector: Projector
    corpus: Corpus
    classes: Classes
    kept: tuple[int, ...]
    texts: tuple[str, ...]
    units: tuple[Ints, ...]
    are_local: bool

    def say(self, items: Ints, beliefs: Beliefs, learned: Learned | None = None) -> Floats:
        """Return bits[l, u, k], the contributions of each rule to the units of some items ([LNCL] eq. 15).

        Args:
            items: The items, by code.
            beliefs: q[i, k] of all units.
            learned: Run whose classifier is used by the rules.
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
    """Read the rules of a file, with a notice for each rule skipped because it needs a classifier."""
    projector = Projector(rules=read_rules(path), vocabulary=read_vocabulary(tables))
    ground = projector.ground(corpus, classes)
    left_out = tuple(
        f"{rule.rule.place}: the rule {shorten_name(rule.rule)} needs a classifier (Predicted) and is skipped. Review "
        f"a run, which has one."
        for rule in ground.rules
        if not rule.is_static
    )
    return _make_rules(projector, corpus, classes, ground, needs_none=True), (
        *left_out,
        *(one.line for one in ground.notices),
    )


def rules_of_run(learned: Learned) -> ReviewRules | None:
    """Return the rules of a run on its items; None without rules."""
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
    """Return a short name of a rule: the word that it quotes, or its beginning."""
    word = re.search(r"'([^']+)'", text)
    return f"the rule about {shorten_name(word[1])!r}" if word else f"the rule {shorten_name(text)}"


def count_contradictions(bits: Floats, truths: Ints) -> list[tuple[int, int]]:
    """Return for each rule the number of known units that it contradicts, and the number it applies to.

    Args:
        bits: bits[l, u, k], the contributions of each rule.
        truths: truths[u], the decided class; UNKNOWN if undecided.
    """
    known = np.flatnonzero(truths != UNKNOWN)
    said = np.maximum(bits[:, known], -1e9)  # hard rules contribute minus infinity
    speaks = np.ptp(said, axis=2) > MIN_BITS
    best = said.max(axis=2)
    chosen = np.take_along_axis(said, np.broadcast_to(truths[known][None, :, None], (*said.shape[:2], 1)), axis=2)
    against = speaks & (best - chosen[:, :, 0] > MIN_BITS)
    return list(zip(against.sum(axis=1).tolist(), speaks.sum(axis=1).tolist(), strict=True))


@dataclass(frozen=True, kw_only=True)
class RuleWord:
    """Contribution of a rule to an item or a token: the favoured class, and its lead over the next in bits."""

    rule: str
    token: int | None
    favours: str
    bits: float


MAX_RULE_WORDS = 20
"""Maximum number of rule contributions shown per item, strongest first."""
MAX_BITS = 99.0
"""Bits displayed for a hard rule."""


def rule_words(bits: Floats, texts: Sequence[str], class_names: Sequence[str], *, is_sentence: bool) -> list[RuleWord]:
    """Return the contributions of rules to the units of one item, strongest first."""
    found = []
    for text, units in zip(texts, bits, strict=True):
        for place, said in enumerate(np.maximum(units, -MAX_BITS)):
            second, best = np.sort(said)[-2:] if len(said) > 1 else (0.0, 0.0)
            if best - second > MIN_BITS:
                token = place if is_sentence else None
                strength = round(float(min(best - second, MAX_BITS)), 3)
                found.append(RuleWord(rule=text, token=token, favours=class_names[int(said.argmax())], bits=strength))
    return sorted(found, key=lambda word: -word.bits)[:MAX_RULE_WORDS]


@dataclass(frozen=True, kw_only=True)
class ItemEvidence:
    """Evidence for the answer of an item, by unit, and the contributions of the rules."""

    units: list[UnitEvidence]
    rules: list[RuleWord]


def hide_names(unit: UnitEvidence, names: Mapping[str, str]) -> UnitEvidence:
    """Replace the names of the annotators in the evidence."""
    terms = (
        replace(term, name=names.get(term.name, "")) if term.source is EvidenceSource.annotator else term
        for term in unit.terms
    )
    return replace(unit, terms=tuple(terms))


def annotator_confusion(labels: CrowdLabels, estimate: Estimate) -> Floats | None:
    """Return confusion[j, m, n] of the method, or computed from its beliefs; None if too large."""
    if estimate.confusion is not None:
        return estimate.confusion
    if labels.n_classes < 2 or len(labels.annotators) * labels.n_classes**2 > MOST_CELLS:
        return None
    counts = tally(make_shards(labels), estimate.beliefs).counts.transpose(0, 2, 1) + HALF / labels.n_classes
    return np.asarray(counts / counts.sum(axis=2, keepdims=True))


def vote_evidence(labels: CrowdLabels, estimate: Estimate, confusion: Floats, item: int) -> list[UnitEvidence]:
    """Return the evidence of all votes on an item, unit by unit."""
    found = []
    for place, unit in enumerate(item_units(labels.offsets, np.array([item])).tolist()):
        rows = slice(*np.searchsorted(labels.unit, [unit, unit + 1]).tolist())
        terms = vote_terms(labels, estimate, confusion, rows)
        found.append(_unit(labels, estimate, terms, unit=unit, rows=rows, token=place))
    return found


def vote_terms(labels: CrowdLabels, estimate: Estimate, confusion: Floats, rows: slice) -> Floats:
    """Return terms[n, k] in bits: the prior, then each vote of a unit, scaled like the confidence."""
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
    is_known = bool(beliefs.max() == 1.0)  # the truth was given
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
