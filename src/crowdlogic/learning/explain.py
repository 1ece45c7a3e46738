"""Explain answers: the contributions of the classifier, each annotator and each rule, in bits.

    log2 q_a(t) = log2 p(t|x) + sum over annotators j of log2 pi_j[t, y_j] - normaliser              ([LNCL] eq. 13)
    log2 q_b(t) = base(t) + sum over rules l of share_l(t) + residual(t) - normaliser                ([LNCL] eq. 15)
    q_f = (1 - k) q_a + k q_b                                                                        ([LNCL] eq. 9)

    q    = (1 - doubt) q_f^sharpness / (its sum) + doubt / K                                         (calibrated)

The first line is exact. If tags form chains, it has one more term, `neighbours`: the evidence from other tokens through
the transitions of the chain, computed as the difference between log2 q_a and the token's own terms. In the second line,
base is log2 q_a, or log2 p if the projection starts from the classifier; the shares are exact for rules about single
units. For other rules a share is the change when the rule is left out, and the residual is the rest. Each additional
bit for a class doubles its odds.

The last line is the calibration (`confidence`): all bits above it are multiplied by the sharpness of the unit, q_a, q_b
and q_f are raised to that power, and uniform doubt is a separate term. If k is below 1, the mixture of q_a and q_b is
also a term, so that the bits of a unit add up to its calibrated beliefs (`Evidence.added_up`).

[LNCL] "Learning from Noisy Crowd Labels with Logics". Axes: i unit of the item, k class, l rule, n label of the item.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from crowdlogic.classifiers.protocol import ChainClassifier, is_absent, predict, predict_texts
from crowdlogic.data.chain_beliefs import ChainBeliefs
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.evidence import EvidenceSource, EvidenceTerm, UnitEvidence, with_rest
from crowdlogic.data.labels import find_codes
from crowdlogic.data.names import Classes
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import OptionError, require_kind, shorten
from crowdlogic.learning.confidence import answer_sharpness
from crowdlogic.learning.learned import Learned
from crowdlogic.numerics.arrays import Bools, Floats, Ints
from crowdlogic.numerics.logspace import log_sum_exp, normalise, safe_log, temper
from crowdlogic.rules.contributions import rule_contributions
from crowdlogic.rules.expansion import stay_within_items

# The evidence of an item, and its form as a table.

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

    def leading_to(self, q_b: Beliefs) -> RuleEvidence:
        """Return the evidence with the residual and the normaliser that make it add up to log2 q_b."""
        explained = self.base + self.share.sum(axis=0) + (0.0 if self.transitions is None else self.transitions)
        residual, normaliser = left_over(explained, safe_log(q_b) / BIT)
        return replace(self, residual=residual, normaliser=normaliser)


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
        """Return log2 q_f[i, k] as the sum of all terms; NaN for a class that only uniform doubt makes possible."""
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

    terms = [
        EvidenceTerm(source=source, name=name, said=said, bits=odds(value))
        for source, name, said, value in _terms_before_rules(found, i)
    ]
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


def _terms_before_rules(found: Evidence, i: int) -> Iterator[tuple[EvidenceSource, str, str | None, Floats]]:
    """Yield the terms of classifier, annotators and neighbours: source, annotator, label and value[k]."""
    yield EvidenceSource.classifier, "", None, found.classifier[i]
    for n in np.flatnonzero(found.crowd.unit == i):
        who, said = str(found.crowd.annotator[n]), str(found.classes[int(found.crowd.label[n])])
        yield EvidenceSource.annotator, who, said, found.crowd.term[n]
    if found.neighbours is not None:
        yield EvidenceSource.neighbours, "", None, found.neighbours[i]


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
    names = {
        EvidenceSource.classifier: "classifier",
        EvidenceSource.neighbours: "the other tokens, through transitions",
    }
    for source, who, said, value in _terms_before_rules(found, i):
        yield EvidenceLine(names.get(source, f"{who} said {said}"), value)
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


# Calibration of evidence: bits times the sharpness of their unit, and uniform doubt.

CLOSE_SHARE = 1e-6
"""Tolerance for the difference between the calibrated beliefs and the sum of their evidence."""


def state(found: Evidence, sharpness: Floats, doubt: float, stated: Beliefs) -> Evidence:
    """Return the evidence on the scale of the calibrated confidence: bits times the sharpness of their unit, and doubt.

    Units with a given truth are not changed.

    Args:
        found: The evidence.
        sharpness: sharpness[i], the factor for bits.
        doubt: Share of uniform doubt.
        stated: stated[i, k], the calibrated beliefs.
    """
    known = found.known | (stated.max(axis=1, initial=0.0) == 1.0)  # with doubt, no other belief is certain
    sharpness = np.where(known, 1.0, sharpness)
    q_a, q_b, q_f = (temper(beliefs, sharpness) for beliefs in (found.q_a, found.q_b, found.q_f))
    explained = np.where(known[:, None], found.q_f, temper(found.q_f, sharpness, doubt))
    if np.abs(explained - stated).max(initial=0.0) > CLOSE_SHARE:
        raise OptionError(
            f"{found.item}: the calibrated confidence does not match its evidence. Explain it without calibration "
            f"(calibrated=False)."
        )
    bits = sharpness[:, None]
    crowd = replace(found.crowd, term=found.crowd.term * sharpness[found.crowd.unit, None])
    classifier = found.classifier * bits
    neighbours = None if found.neighbours is None else found.neighbours * bits
    together = classifier + crowd.total(len(q_f)) + (0.0 if neighbours is None else neighbours)
    rules = found.rules
    if rules is not None:
        rules = replace(
            rules,
            base=rules.base * bits if rules.from_classifier else safe_log(q_a) / BIT,
            share=rules.share * bits,
            transitions=None if rules.transitions is None else rules.transitions * bits,
        ).leading_to(q_b)
    return replace(
        found,
        classifier=classifier,
        crowd=crowd,
        normaliser=log_sum_exp(together * BIT, axis=1) / BIT,
        neighbours=neighbours,
        rules=rules,
        q_a=q_a,
        q_b=q_b,
        mixture=difference(q_f, q_a if rules is None else q_b),
        sharpness=sharpness,
        doubt=difference(explained, q_f),
        q_f=explained,
        known=known,
    )


CLOSE = 1e-6
"""Tolerance for the difference between log2 q_a and the sum of its terms."""

CLOSE_CHAIN = 1e-3
"""Tolerance for chains, whose scores a network recomputes in different batches."""

TOGETHER = "all rules together (one by one: with the classifier)"
"""Name of the joint contribution of all rules, if they cannot be separated because the run has no classifier."""

_NOT_ADDED_UP = (
    "{}: its answers are not the sum of the classifier's and the annotators' terms, so they cannot be explained this "
    "way. Explain a run of logic-lncl, aggnet or raykar."
)


ExplainedChain: TypeAlias = tuple[ChainBeliefs, ChainBeliefs]
"""Chains of the classifier for some items, without and with the annotators' evidence."""


def explain(learned: Learned, item: Any, *, calibrated: bool = True) -> Evidence:
    """Return the evidence behind the answers for one training item.

    Args:
        learned: Result of a fit, or `load_run(folder).learned`.
        item: Name of the item.
        calibrated: Whether to explain the calibrated confidence instead of the uncalibrated beliefs.
    """
    one = "Pass a single item; for several, use learning.explain_all(learned, items)."
    require_kind(item, (str, int, float, np.generic), "explain", one)
    return explain_all(learned, [item], calibrated=calibrated)[0]


def explain_all(learned: Learned, items: Sequence[Any], *, calibrated: bool = True) -> list[Evidence]:
    """Return the evidence behind the answers for several training items; labels and rules are evaluated only once.

    Args:
        learned: Result of a fit, or `load_run(folder).learned`.
        items: Names of the items, without duplicates.
        calibrated: Whether to explain the calibrated confidence instead of the uncalibrated beliefs.
    """
    chosen = find_codes(items, learned.task.corpus.items, "item")
    if not len(chosen):
        return []
    offsets = learned.task.corpus.offsets
    units = [np.arange(s, s + 1) if offsets is None else np.arange(*offsets[s : s + 2]) for s in chosen.tolist()]
    crowd = crowd_evidence(learned, chosen, units)
    chain = explained_chain(learned, chosen, units, crowd)
    rules = [None] * len(units) if learned.teacher.is_idle else rule_evidence(learned, chosen, units, chain)
    task, epoch, corpus = learned.task, learned.epoch, learned.task.corpus
    found = []
    for s, mine, said, one in zip(chosen.tolist(), units, crowd, rules, strict=True):
        classifier = safe_log(epoch.p[mine]) / BIT
        q_a, q_b, q_f = (beliefs[mine] for beliefs in (epoch.q_a, epoch.q_b, epoch.q_f))
        together = classifier + said.total(len(mine))
        neighbours = None
        if isinstance(learned.classifier, ChainClassifier):
            neighbours, normaliser = left_over(together, safe_log(q_a) / BIT)
            together = together + neighbours
        else:
            normaliser = log_sum_exp(together * BIT, axis=1) / BIT
        explained = np.exp2(together - normaliser[:, None])
        known = is_known(q_a, explained)
        if not np.abs(q_a - explained)[~known].max(initial=0.0) <= CLOSE:  # also true for NaN
            raise OptionError(_NOT_ADDED_UP.format(learned.estimate.method))
        evidence = Evidence(
            item=corpus.items[s],
            words=corpus.sentence(s) if corpus.tokens is not None else (corpus.texts[s],) if corpus.texts else (),
            classes=task.labels.classes,
            classifier=classifier,
            crowd=said,
            normaliser=normaliser,
            neighbours=neighbours,
            rules=one,
            k=epoch.k,
            q_a=q_a,
            q_b=q_b,
            mixture=difference(q_f, q_a if one is None else q_b),
            sharpness=np.ones(len(mine)),
            doubt=np.zeros_like(q_f),
            q_f=q_f,
            known=known,
            path=None if neighbours is None else np.asarray(learned.estimate.answer[mine]),
        )
        found.append(evidence)
    calibration = learned.estimate.calibration
    if not calibrated or calibration is None:
        return found
    sharpness, beliefs = answer_sharpness(learned.task.labels, calibration, learned.scales), learned.estimate.beliefs
    return [
        state(one, sharpness[mine], calibration.doubt, beliefs[mine]) for one, mine in zip(found, units, strict=True)
    ]


def is_explicable(learned: Learned) -> bool:
    """Return whether the answers are the sum of the classifier's and annotators' terms, which `explain` requires."""
    epoch, close = learned.epoch, CLOSE
    evidence = epoch.annotators.evidence(learned.model.observe(learned.task.labels))
    if isinstance(learned.classifier, ChainClassifier):
        scores = predict(learned.classifier, learned.task.corpus)
        if not isinstance(scores, ChainBeliefs) or scores.scores is None:
            return False
        q_a, close = scores.scores.add(evidence).marginals(), CLOSE_CHAIN
    else:
        q_a, _ = normalise(safe_log(epoch.p) + evidence)
    return bool(np.abs(q_a - epoch.q_a)[~is_known(epoch.q_a, q_a)].max(initial=0.0) <= close)


def is_known(q_a: Beliefs, explained: Beliefs) -> Bools:
    """Return known[i]: whether the belief is certain but not because of classifier and annotators (a given truth)."""
    return np.asarray(
        (q_a.max(axis=1, initial=0.0) == 1.0) & (np.abs(q_a - explained).max(axis=1, initial=0.0) > CLOSE)
    )


def crowd_evidence(learned: Learned, items: Ints, units: Sequence[Ints]) -> list[CrowdEvidence]:
    """Return the evidence of every label of some items, one result per item."""
    labels = learned.task.labels.take_items(items)
    terms = learned.epoch.annotators.terms(learned.model.observe(labels)) / BIT
    names = labels.annotators.gather(labels.annotator).to_list()
    # units are ordered by item, and rows are sorted by unit
    ends = np.cumsum([0, *(len(mine) for mine in units)])
    bounds = np.searchsorted(labels.unit, ends)
    return [
        CrowdEvidence(
            unit=labels.unit[rows] - first,
            annotator=tuple(names[rows]),
            label=labels.label[rows],
            term=terms[rows],
        )
        for first, rows in zip(ends, (slice(a, b) for a, b in pairwise(bounds.tolist())), strict=False)
    ]


def explained_chain(
    learned: Learned, items: Ints, units: Sequence[Ints], crowd: Sequence[CrowdEvidence]
) -> ExplainedChain | None:
    """Return the chains of some items if the classifier models chains; raise an error if q_a is not their posterior."""
    if not isinstance(learned.classifier, ChainClassifier):
        return None
    p = learned.classifier.chain_scores(learned.task.corpus.take_items(items)).beliefs()
    terms = [said.total(len(mine)) for said, mine in zip(crowd, units, strict=True)]
    if p.scores is None:
        return None
    q_a = p.scores.add(np.concatenate(terms) * BIT).beliefs()
    believed = learned.epoch.q_a[np.concatenate(units)]
    if np.abs(q_a.q - believed)[~is_known(believed, q_a.q)].max(initial=0.0) > CLOSE_CHAIN and not len(
        learned.task.known
    ):
        raise OptionError(_NOT_ADDED_UP.format(learned.estimate.method))
    return p, q_a


def rule_evidence(
    learned: Learned, items: Ints, units: Sequence[Ints], chain: ExplainedChain | None = None
) -> list[RuleEvidence]:
    """Return the contribution of each rule to the units of some items, projecting only these if possible."""
    task, epoch, teacher = learned.task, learned.epoch, learned.teacher
    rules, vocabulary = teacher.projector.rules, teacher.projector.vocabulary
    alone = rules is None or stay_within_items(rules, teacher.classes, vocabulary)
    corpus = task.corpus.take_items(items) if alone else task.corpus
    seen = np.concatenate(units) if alone else np.arange(task.corpus.n_units)
    ends = np.cumsum([len(mine) for mine in units])
    places = [np.arange(end - len(mine), end) for mine, end in zip(units, ends, strict=True)] if alone else units
    ground = teacher.ground(corpus)
    if ground.texts and is_absent(learned.classifier):
        return [rules_together(learned, mine) for mine in units]
    found = rule_contributions(
        teacher.projector,
        epoch.q_a[seen] if chain is None else chain[1],
        ground,
        predict=lambda texts: predict_texts(learned.classifier, texts),
        classifier=epoch.p[seen] if chain is None else chain[0],
    )
    evidence = []
    for place, mine in zip(places, units, strict=True):
        share, q_b = found.per_rule[:, place] / BIT, epoch.q_b[mine]
        touching = [rule for rule in range(len(share)) if (np.abs(share[rule]) > 0).any()]
        known = RuleEvidence(
            base=safe_log(found.start[place]) / BIT,
            from_classifier=found.from_classifier,
            rules=tuple(str(ground.rules[rule].rule) for rule in touching),
            share=share[touching],
            transitions=None if found.transitions is None else found.transitions[place] / BIT,
            residual=np.zeros_like(q_b),
            normaliser=np.zeros(len(q_b)),
            is_exact=found.is_exact,
        )
        evidence.append(known.leading_to(q_b))
    return evidence


def rules_together(learned: Learned, mine: Ints) -> RuleEvidence:
    """Return the joint contribution of all rules to the units of an item, used if the classifier is not available."""
    epoch, starts = learned.epoch, learned.teacher.projector.starts_from_classifier
    base, q_b = (epoch.p if starts else epoch.q_a)[mine], epoch.q_b[mine]
    _, normaliser = left_over(safe_log(base) / BIT, safe_log(q_b) / BIT)
    return RuleEvidence(
        base=safe_log(base) / BIT,
        from_classifier=starts,
        rules=(TOGETHER,),
        share=(difference(q_b, base) + normaliser[:, None])[None],
        transitions=None,
        residual=np.zeros_like(q_b),
        normaliser=normaliser,
        is_exact=True,
    )
