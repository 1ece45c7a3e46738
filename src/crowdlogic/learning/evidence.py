"""Evidence behind the answers of an item: contributions of the classifier, each annotator and each rule, in bits.

`learning/explain.py` computes it and defines the terms and how they add up. This module also formats it as a table.

Axes: i unit of the item, k class, l rule, n label of the item.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.evidence import EvidenceSource, EvidenceTerm, UnitEvidence, with_rest
from crowdlogic.data.names import Classes
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import shorten
from crowdlogic.numerics.arrays import Bools, Floats, Ints
from crowdlogic.numerics.logspace import safe_log

BIT = float(np.log(2.0))


@dataclass(frozen=True, eq=False, kw_only=True)
class CrowdEvidence:
    """Evidence of an item's labels, one row per label.

    Attributes:
        unit: unit[n], the unit of the item that the label belongs to.
        annotator: annotator[n], the name of the annotator.
        label: label[n], the class of the label.
        term: term[n, k], the evidence of the label for each class: log2 pi_j[k, label] with confusion matrices.
    """

    unit: Ints
    annotator: tuple[Any, ...]
    label: Ints
    term: Floats

    def total(self, n_units: int) -> Floats:
        """Return total[i, k], the evidence of all labels of each unit."""
        total = np.zeros((n_units, self.term.shape[1]))
        np.add.at(total, self.unit, self.term)
        return total


@dataclass(frozen=True, eq=False, kw_only=True)
class RuleEvidence:
    """Evidence of the rules, relative to the beliefs that the projection starts from.

    Attributes:
        base: base[i, k], log2 of the beliefs that the projection starts from.
        from_classifier: Whether these beliefs are the classifier's p; otherwise they are q_a.
        rules: The rules that apply to the item, as text.
        share: share[l, i, k], the contribution of each rule.
        transitions: transitions[i, k], the contribution of the table of transitions; None without one.
        residual: residual[i, k], the part that the contributions do not account for.
        normaliser: normaliser[i] of q_b.
        is_exact: Whether the contributions add up exactly; otherwise each is the change when its rule is left out.
    """

    base: Floats
    from_classifier: bool
    rules: tuple[str, ...]
    share: Floats
    transitions: Floats | None
    residual: Floats
    normaliser: Floats
    is_exact: bool


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Evidence:
    """Evidence behind the answers for the units of an item, in bits.

    If the sharpness is not 1, bits and beliefs are on the scale of the calibrated confidence.

    Attributes:
        item: Name of the item.
        words: Its tokens, or its text as a single entry.
        classes: The classes.
        classifier: classifier[i, k], log2 p.
        crowd: The evidence of the labels.
        normaliser: normaliser[i] of q_a.
        neighbours: neighbours[i, k], contribution of the labels of other tokens through the transitions of a chain;
            None if units are independent.
        rules: Evidence of the rules; None without rules.
        k: The imitation.
        q_a: q_a[i, k].
        q_b: q_b[i, k].
        mixture: mixture[i, k], change of log2 q_b by mixing q_b with q_a.
        sharpness: sharpness[i], the factor that all bits were multiplied by.
        doubt: doubt[i, k], contribution of uniform doubt.
        q_f: q_f[i, k], the beliefs of the answer.
        known: known[i], whether the truth was given as an anchor; the terms then do not add up to q_a.
        path: path[i], the most probable tagging if tags form chains; it can differ from the most probable tags.
    """

    item: Any
    words: tuple[str, ...]
    classes: Classes
    classifier: Floats
    crowd: CrowdEvidence
    normaliser: Floats
    neighbours: Floats | None = None
    rules: RuleEvidence | None
    k: float
    q_a: Beliefs
    q_b: Beliefs
    mixture: Floats
    sharpness: Floats
    doubt: Floats
    q_f: Beliefs
    known: Bools
    path: Ints | None = None

    def __repr__(self) -> str:

        return describe_evidence(self)

    @property
    def answer(self) -> Ints:
        """Chosen class answer[i]."""
        return np.asarray(self.q_f.argmax(axis=1)) if self.path is None else self.path

    def added_up(self) -> Floats:
        """Return log2 q_f[i, k] as the sum of all terms; NaN for a class that is impossible without doubt."""
        rules = self.rules
        if rules is None:
            total = self.classifier + self.crowd.total(len(self.q_f)) - self.normaliser[:, None]
            total = total if self.neighbours is None else total + self.neighbours
        else:
            total = rules.base + rules.share.sum(axis=0) + rules.residual - rules.normaliser[:, None]
            total = total if rules.transitions is None else total + rules.transitions
        with np.errstate(invalid="ignore"):
            return np.asarray(total + self.mixture + self.doubt)


def left_over(explained: Floats, log_q_b: Floats) -> tuple[Floats, Floats]:
    """Return the residual[i, k] and the normaliser[i] with which the explained terms add up to log2 q_b.

    Classes that either side considers impossible have no residual, because their sum is already minus infinity.
    """
    possible: Bools = np.isfinite(explained) & np.isfinite(log_q_b)
    gap = np.where(possible, log_q_b, 0.0) - np.where(possible, explained, 0.0)
    mean = gap.sum(axis=1) / np.maximum(possible.sum(axis=1), 1)
    return np.where(possible, gap - mean[:, None], 0.0), -mean


def difference(after: Beliefs, before: Beliefs) -> Floats:
    """Return log2 after - log2 before, 0 where both are equal."""
    with np.errstate(invalid="ignore"):
        found = (safe_log(after) - safe_log(before)) / BIT
    return np.where(after == before, 0.0, found)


def unit_evidence(found: Evidence, i: int, *, token: int | None) -> UnitEvidence | None:
    """Return the evidence of unit i for its answer against the next most probable class.

    None if there is a single class, or if the true label was given.
    """
    if len(found.classes) < 2 or found.known[i]:
        return None
    answer, rival = (int(k) for k in np.argsort(-found.q_f[i], kind="stable")[:2])

    def odds(term: Floats) -> float | None:
        pair = term[[answer, rival]]
        return round(float(pair[0] - pair[1]), 6) if np.isfinite(pair).all() else None

    terms = [EvidenceTerm(source=EvidenceSource.classifier, bits=odds(found.classifier[i]))]
    for n in np.flatnonzero(found.crowd.unit == i):
        who, said = str(found.crowd.annotator[n]), str(found.classes[int(found.crowd.label[n])])
        terms.append(EvidenceTerm(source=EvidenceSource.annotator, name=who, said=said, bits=odds(found.crowd.term[n])))
    if found.neighbours is not None:
        terms.append(EvidenceTerm(source=EvidenceSource.neighbours, bits=odds(found.neighbours[i])))
    if found.rules is not None:
        for text, share in zip(found.rules.rules, found.rules.share, strict=True):
            if np.abs(share[i]).max() > 0:
                terms.append(EvidenceTerm(source=EvidenceSource.rule, name=text, bits=odds(share[i])))
        if found.rules.transitions is not None:
            terms.append(EvidenceTerm(source=EvidenceSource.transitions, bits=odds(found.rules.transitions[i])))
    bits = odds(safe_log(found.q_f[i]) / BIT)
    return UnitEvidence(
        token=token,
        answer=str(found.classes[answer]),
        rival=str(found.classes[rival]),
        terms=with_rest(terms, bits),
        bits=bits,
    )


SHOWN_CLASSES = 4
"""Number of classes in a table, the most probable ones; `figures` contains all."""

NEGLIGIBLE = 5e-3
"""Terms below this number of bits for every class would be shown as 0.00 and are left out."""


MOST_LINES = 30
"""Maximum number of lines of a printed table; `evidence_lines` yields all."""

MOST_WORDS = 100
"""Maximum number of characters of a printed text, and of the name of a term."""


@dataclass(frozen=True, kw_only=True)
class EvidenceTable:
    """Table of evidence: title, column names and cells."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    def __str__(self) -> str:
        shown = [[shorten(cell, MOST_WORDS) for cell in row] for row in self.rows[:MOST_LINES]]
        width = [max(map(len, column)) for column in zip(self.columns, *shown, strict=True)]
        lines = [
            "  ".join([row[0].ljust(width[0]), *(cell.rjust(n) for cell, n in zip(row[1:], width[1:], strict=True))])
            for row in (self.columns, *shown)
        ]
        rest = len(self.rows) - len(shown)
        return "\n".join([self.title, *lines, *([f"... and {pluralise(rest, 'more line')}"] if rest > 0 else [])])


def describe_evidence(found: Evidence) -> str:
    """Return the evidence of an item as text: a table by source for a document, by token for a sentence."""
    if not len(found.q_f):
        return f"{found.item} has no tokens, so there is nothing to explain."
    if len(found.q_f) > 1:
        return str(tokens_table(found))
    words = f": {shorten(found.words[0], MOST_WORDS)}" if found.words else ""
    return f"{found.item}{words}\n{unit_table(found, 0)}"


def tokens_table(found: Evidence) -> EvidenceTable:
    """Return a table of the tokens of a sentence with the answer of each source."""
    rows = []
    for i, (word, chosen) in enumerate(zip(found.words, found.answer, strict=True)):
        views = (found.classifier[i], found.q_a[i], found.q_b[i])
        best = [str(found.classes[int(view.argmax())]) for view in views]
        labels = " ".join(str(found.classes[label]) for label in found.crowd.label[found.crowd.unit == i])
        answer = str(found.classes[chosen])
        rows.append((str(i + 1), word, answer, _percent(found.q_f[i, chosen]), labels, *best))
    names = ["token", "word", "answer", "confidence", "labels", "classifier", "with the crowd", "with the rules"]
    return EvidenceTable(title=f"{found.item} (k {found.k:.2f})", columns=names, rows=rows)


def unit_table(found: Evidence, i: int) -> EvidenceTable:
    """Return a table of the evidence for one unit, one row per source."""
    shown = shown_classes(found.q_f[i])
    ranked = np.argsort(-found.q_f[i], kind="stable")
    chosen, rival = int(ranked[0]), int(ranked[:2][-1])  # a single class is compared with itself
    rows = []
    for line in evidence_lines(found, i):
        cells = [_percent(p) for p in line.value[shown]] if line.is_belief else format_bits(line.value[shown])
        log = safe_log(line.value) / BIT if line.is_belief else line.value
        rows.append((line.name, *cells, *format_bits(log[[chosen]] - log[[rival]])))  # the last column: log odds
    columns = ["source", *(str(found.classes[k]) for k in shown)]
    title = f"{found.classes[chosen]}, {_percent(found.q_f[i, chosen])}: evidence in bits (each bit doubles the odds)"
    versus = f"{found.classes[chosen]} over {found.classes[rival]}"
    return EvidenceTable(title=title, columns=[*columns, versus], rows=rows)


def _percent(share: float) -> str:
    return f"{100 * share:.2f} %"


def shown_classes(belief: Floats) -> Ints:
    """Return the classes shown in a table, in their order."""
    return np.sort(np.argsort(-belief, kind="stable")[:SHOWN_CLASSES])


@dataclass(frozen=True, eq=False)
class EvidenceLine:
    """Row of the table: a term in bits, or the beliefs that the terms add up to; value[k]."""

    name: str
    value: Floats
    is_belief: bool = False


def evidence_lines(found: Evidence, i: int) -> Iterator[EvidenceLine]:
    """Yield the terms of a unit and their sums."""
    yield EvidenceLine("classifier", found.classifier[i])
    for n in np.flatnonzero(found.crowd.unit == i):
        label = found.classes[int(found.crowd.label[n])]
        yield EvidenceLine(f"{found.crowd.annotator[n]} said {label}", found.crowd.term[n])
    if found.neighbours is not None:
        yield EvidenceLine("the other tokens, through transitions", found.neighbours[i])
    if found.known[i]:
        yield EvidenceLine("= the given truth (anchor)", found.q_f[i], is_belief=True)
        return
    yield EvidenceLine("normalisation to sum 1", np.full(len(found.classes), -found.normaliser[i]))
    yield EvidenceLine("= classifier and crowd", found.q_a[i], is_belief=True)
    if found.rules is not None and (found.rules.from_classifier or not np.array_equal(found.q_a[i], found.q_b[i])):
        yield from _rule_lines(found, found.rules, i)
    if found.doubt[i].any():
        yield EvidenceLine("uniform doubt", found.doubt[i])
        yield EvidenceLine("= calibrated", found.q_f[i], is_belief=True)


def _rule_lines(found: Evidence, rules: RuleEvidence, i: int) -> Iterator[EvidenceLine]:
    if rules.from_classifier:
        yield EvidenceLine("rules start from the classifier", rules.base[i])
    for text, share in zip(rules.rules, rules.share, strict=True):
        if np.abs(share[i]).max() > NEGLIGIBLE:
            yield EvidenceLine(text, share[i])
    if rules.transitions is not None:
        yield EvidenceLine("transitions", rules.transitions[i])
    if np.abs(rules.residual[i]).max() > NEGLIGIBLE:
        yield EvidenceLine("the rest", rules.residual[i])
    yield EvidenceLine("normalisation to sum 1", np.full(len(found.classes), -rules.normaliser[i]))
    yield EvidenceLine("= with the rules", found.q_b[i], is_belief=True)
    if found.sharpness[i] == 1.0:
        yield EvidenceLine(
            f"answer: {1 - found.k:.2f} without rules + {found.k:.2f} with rules", _mixed(found, i), is_belief=True
        )
        return
    # The two beliefs were mixed before calibration, so their calibrated values do not mix to the answer.
    yield EvidenceLine(f"mixed: {1 - found.k:.2f} without the rules, {found.k:.2f} with them", found.mixture[i])
    yield EvidenceLine("= mixed", _mixed(found, i), is_belief=True)


def _mixed(found: Evidence, i: int) -> Floats:
    """Return the beliefs of the answer before uniform doubt."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.exp2(safe_log(found.q_b[i]) / BIT + found.mixture[i]))


def format_bits(terms: Floats) -> list[str]:
    """Format bits with two digits; infinite values as a dash."""
    return [f"{term:+.2f}" if np.isfinite(term) else "-" for term in terms]
