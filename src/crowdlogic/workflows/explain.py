"""Why an item got its answer: what the classifier, each annotator and each rule contributed, in bits.

Axes: i unit, k class.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from crowdlogic.data.wording import pluralise
from crowdlogic.errors import OptionError
from crowdlogic.learning.explain import BIT, Evidence, RuleEvidence
from crowdlogic.learning.saved_run import load_run
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.numerics.logspace import safe_log
from crowdlogic.workflows.tables import ResultTable, percent

SHOWN_CLASSES = 4
"""How many classes a table shows, the most probable ones; `figures` has all."""

NEGLIGIBLE = 5e-3
"""What is below this many bits for every class would show as 0.00 and is left out."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Explanation:
    """Why an item, or one token of a sentence, got its answer.

    Attributes:
        evidence: The evidence of all units of the item.
        units: The units that are explained.
    """

    evidence: Evidence
    units: range

    @property
    def notices(self) -> tuple[str, ...]:
        """What a person should know beside the table."""
        if not self.units:
            return (f"{self.evidence.item}: has no tokens, so there is nothing to explain.",)
        if len(self.units) > 1:
            return ("The evidence of one token: --token N.",)
        return (*self._dependence_notice(), *self._interaction_notice())

    def _dependence_notice(self) -> tuple[str, ...]:
        """That bits were scaled, if they were."""
        sharpness = float(self.evidence.sharpness[self.units[0]])
        if sharpness == 1.0:
            return ()
        return (
            f"Everything counts for {100 * sharpness:.0f}% of its face value, because annotators often make the same "
            f"mistake on an item; --raw shows the full value.",
        )

    def _interaction_notice(self) -> tuple[str, ...]:
        """That the bits of rules do not add up by themselves, if they do not."""
        rules = self.evidence.rules
        if rules is None or rules.is_exact:
            return ()
        return ("The rules interact here: a rule's bits are what is lost without it; the rest is what they share.",)

    @property
    def heading(self) -> tuple[str, ...]:
        """The item and its words, for a single unit."""
        words = self.evidence.words
        return tuple(f"{self.evidence.item}: {words[i] if i < len(words) else ''}" for i in self.units[:1]) * (
            len(self.units) == 1
        )

    def tables(self) -> list[ResultTable]:
        """A sentence at a glance, or a single unit source by source."""
        if not self.units:
            return []
        return [tokens_table(self.evidence) if len(self.units) > 1 else unit_table(self.evidence, self.units[0])]

    def figures(self) -> dict[str, Any]:
        """The evidence as plain data."""
        found = self.evidence
        return {
            "item": found.item,
            "classes": [str(name) for name in found.classes],
            "k": found.k,
            "calibrated": bool((found.sharpness != 1.0).any()),
            "exact": found.rules is None or found.rules.is_exact,
            "units": [_unit_figures(found, i) for i in self.units],
        }


def explain(run: str, item: str, *, token: int | None = None, calibrated: bool = True) -> Explanation:
    """Explain the answer of a training item.

    Args:
        run: The folder of the run.
        item: The name of the item.
        token: For a sentence: one token, counted from 1; None for all.
        calibrated: Whether the stated confidence is explained; else what was learnt.
    """
    loaded = load_run(run)
    evidence = loaded.explain(item, calibrated=calibrated)
    n_units = len(evidence.q_f)
    if token is not None and loaded.estimate.offsets is None:
        raise OptionError(f"--token {token}: {item} is a text with one answer, and no sentence. Leave --token out.")
    if token is not None and token > n_units:
        raise OptionError(f"--token {token}: the sentence {item} has {pluralise(n_units, 'token')}, counted from 1.")
    return Explanation(evidence=evidence, units=range(n_units) if token is None else range(token - 1, token))


def tokens_table(found: Evidence) -> ResultTable:
    """A sentence at a glance: the answer of each source for each token."""
    rows = []
    for i, (word, chosen) in enumerate(zip(found.words, found.answer, strict=True)):
        views = (found.classifier[i], found.q_a[i], found.q_b[i])
        best = [str(found.classes[int(view.argmax())]) for view in views]
        labels = [str(found.classes[label]) for label in found.crowd.label[found.crowd.unit == i]]
        rows.append((i + 1, word, found.classes[chosen], percent(found.q_f[i, chosen]), " ".join(labels), *best))
    names = ["token", "word", "answer", "confidence", "labels", "classifier", "with the crowd", "with the rules"]
    return ResultTable(title=f"{found.item} (k {found.k:.2f})", columns=names, rows=rows)


def unit_table(found: Evidence, i: int) -> ResultTable:
    """One unit, source by source."""
    shown = shown_classes(found.q_f[i])
    chosen, rival = (int(k) for k in np.argsort(-found.q_f[i], kind="stable")[:2])
    rows = []
    for line in evidence_lines(found, i):
        cells = [percent(p) for p in line.value[shown]] if line.is_belief else format_bits(line.value[shown])
        log = safe_log(line.value) / BIT if line.is_belief else line.value
        rows.append((line.name, *cells, *format_bits(log[[chosen]] - log[[rival]])))  # the last column: log odds
    columns = ["source", *(str(found.classes[k]) for k in shown)]
    title = (
        f"{found.classes[chosen]}, {percent(found.q_f[i, chosen])}: evidence in bits (one bit more doubles the odds)"
    )
    versus = f"{found.classes[chosen]} over {found.classes[rival]}"
    return ResultTable(title=title, columns=[*columns, versus], rows=rows)


def shown_classes(belief: Floats) -> Ints:
    """The classes that a table shows, in their order."""
    return np.sort(np.argsort(-belief, kind="stable")[:SHOWN_CLASSES])


@dataclass(frozen=True, eq=False)
class EvidenceLine:
    """A line of the table: a term in bits, or the beliefs that terms add up to; value[k]."""

    name: str
    value: Floats
    is_belief: bool = False


def evidence_lines(found: Evidence, i: int) -> Iterator[EvidenceLine]:
    """The terms of a unit, and what they add up to."""
    yield EvidenceLine("classifier", found.classifier[i])
    for n in np.flatnonzero(found.crowd.unit == i):
        label = found.classes[int(found.crowd.label[n])]
        yield EvidenceLine(f"{found.crowd.annotator[n]} said {label}", found.crowd.term[n])
    if found.neighbours is not None:
        yield EvidenceLine("the other tokens, through transitions", found.neighbours[i])
    if found.known[i]:
        yield EvidenceLine("= the truth that was given (anchor)", found.q_f[i], is_belief=True)
        return
    yield EvidenceLine("to make it add up to 1", np.full(len(found.classes), -found.normaliser[i]))
    yield EvidenceLine("= classifier and crowd", found.q_a[i], is_belief=True)
    if found.rules is not None and (found.rules.from_classifier or not np.array_equal(found.q_a[i], found.q_b[i])):
        yield from _rule_lines(found, found.rules, i)
    if found.doubt[i].any():
        yield EvidenceLine("uniform doubt", found.doubt[i])
        yield EvidenceLine("= stated", found.q_f[i], is_belief=True)


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
    yield EvidenceLine("to make it add up to 1", np.full(len(found.classes), -rules.normaliser[i]))
    yield EvidenceLine("= with the rules", found.q_b[i], is_belief=True)
    if found.sharpness[i] == 1.0:
        yield EvidenceLine(f"answer: {1 - found.k:.2f} without + {found.k:.2f} with", _mixed(found, i), is_belief=True)
        return
    # both were mixed before their bits were multiplied, so that what is shown of them does not mix to the answer
    yield EvidenceLine(f"mixed: {1 - found.k:.2f} without the rules, {found.k:.2f} with them", found.mixture[i])
    yield EvidenceLine("= mixed", _mixed(found, i), is_belief=True)


def _mixed(found: Evidence, i: int) -> Floats:
    """The beliefs in the answer before doubt."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.exp2(safe_log(found.q_b[i]) / BIT + found.mixture[i]))


def format_bits(terms: Floats) -> list[str]:
    """Bits with two digits; what is impossible is a dash."""
    return [f"{term:+.2f}" if np.isfinite(term) else "-" for term in terms]


def _unit_figures(found: Evidence, i: int) -> dict[str, Any]:
    chosen = int(found.answer[i])
    labels = [
        {
            "annotator": found.crowd.annotator[n],
            "label": str(found.classes[int(found.crowd.label[n])]),
            "bits": found.crowd.term[n].tolist(),
        }
        for n in np.flatnonzero(found.crowd.unit == i)
    ]
    return {
        "word": found.words[i] if i < len(found.words) else None,
        "answer": str(found.classes[chosen]),
        "confidence": float(found.q_f[i, chosen]),
        "classifier": found.classifier[i].tolist(),
        "annotators": labels,
        "neighbours": None if found.neighbours is None else found.neighbours[i].tolist(),
        "normaliser": float(found.normaliser[i]),
        "q_a": found.q_a[i].tolist(),
        "rules": _rule_figures(found, i),
        "q_b": found.q_b[i].tolist(),
        "mixture": found.mixture[i].tolist(),
        "sharpness": float(found.sharpness[i]),
        "doubt": found.doubt[i].tolist(),
        "q_f": found.q_f[i].tolist(),
    }


def _rule_figures(found: Evidence, i: int) -> dict[str, Any] | None:
    rules = found.rules
    if rules is None:
        return None
    return {
        "from_classifier": rules.from_classifier,
        "base": rules.base[i].tolist(),
        "rules": [
            {"rule": text, "bits": share[i].tolist()} for text, share in zip(rules.rules, rules.share, strict=True)
        ],
        "transitions": None if rules.transitions is None else rules.transitions[i].tolist(),
        "residual": rules.residual[i].tolist(),
        "normaliser": float(rules.normaliser[i]),
    }
