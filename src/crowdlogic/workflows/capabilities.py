"""What labels allow: truth methods, coefficients of agreement, intervals, scores, training and the report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.wording import list_names, pluralise
from crowdlogic.metrics.agreement import agreement
from crowdlogic.registry import TRUTH_METHODS
from crowdlogic.truth.methods import applicable_methods, needs_sequences
from crowdlogic.workflows.label_facts import LabelFacts
from crowdlogic.workflows.truth_methods import suggest_method

FEW_LABELS = 20
"""Below this many labels, the 95 % credible interval of an annotator's reliability is wider than 0.3 or so."""

AGREEMENT, REPORT = "agreement with intervals", "report"
PARTIAL = "some labels say only which class it is not"


@dataclass(frozen=True, kw_only=True)
class Capability:
    """Something that can be done with labels, or cannot.

    Attributes:
        name: What it is.
        possible: Whether the labels allow it.
        remark: Why not, or under which limits.
    """

    name: str
    possible: bool
    remark: str = ""


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """What labels allow.

    Attributes:
        methods: The truth methods that can take them.
        refused: The truth methods that cannot, with the reason.
        suggested: The truth method that suits them.
        reason: Why it does.
        others: Agreement, intervals, scores, training and report.
    """

    methods: tuple[str, ...]
    refused: dict[str, str]
    suggested: str
    reason: str
    others: tuple[Capability, ...]

    def figures(self) -> dict[str, Any]:
        """The same as plain data."""
        return {
            "methods": list(self.methods),
            "refused_methods": self.refused,
            "suggested_method": self.suggested,
            "reason": self.reason,
            "allows": {one.name: {"possible": one.possible, "remark": one.remark} for one in self.others},
        }

    def rows(self) -> list[tuple[str, str]]:
        """The same as rows of a table: what, and whether."""
        rows = [("truth methods", ", ".join(self.methods)), ("suggested", f"{self.suggested} ({self.reason})")]
        for why in dict.fromkeys(self.refused.values()):
            names = ", ".join(name for name, reason in self.refused.items() if reason == why)
            rows.append(("not for these labels", f"{names}: {why}"))
        for one in self.others:
            text = "yes" if one.possible else "no"
            rows.append((one.name, f"{text}: {one.remark}" if one.remark else text))
        return rows


def find_capabilities(labels: CrowdLabels, facts: LabelFacts) -> Capabilities:
    """What the labels allow. Nothing is fitted, so it is quick."""
    suitable, partial = applicable_methods(labels), labels.negated is not None
    refused = {
        name: "it models the tags of sentences" if needs_sequences(name) and not labels.is_sequential else PARTIAL
        for name in TRUTH_METHODS.loadable()
        if name not in suitable
    }
    suggested, reason = suggest_method(labels)
    others = (
        *([Capability(name=AGREEMENT, possible=False, remark=PARTIAL)] if partial else _agreement(labels)),
        _reliability(labels),
        _scores(facts),
        _training(facts),
        Capability(name=REPORT, possible=False, remark=PARTIAL) if partial else _report(facts),
    )
    return Capabilities(methods=tuple(suitable), refused=refused, suggested=suggested, reason=reason, others=others)


def _agreement(labels: CrowdLabels) -> list[Capability]:
    """The coefficients with an interval, and those that are undefined, with the reason."""
    found = agreement(labels, replicates=0)
    defined = [one.title for one in found if one.reason is None]
    undefined = [Capability(name=one.title, possible=False, remark=one.reason) for one in found if one.reason]
    if not defined:
        return [Capability(name=AGREEMENT, possible=False, remark=undefined[0].remark)]
    return [Capability(name=AGREEMENT, possible=True, remark=", ".join(defined)), *undefined]


def _reliability(labels: CrowdLabels) -> Capability:
    """Credible intervals of the annotators, and how many of these gave too few labels for a narrow one."""
    name = "reliability of annotators with intervals"
    if not (labels.labels_per_unit() > 1).any():
        return Capability(name=name, possible=False, remark="no two annotators labelled the same unit")
    few = np.flatnonzero(labels.labels_per_annotator() < FEW_LABELS)
    if not len(few):
        return Capability(name=name, possible=True)
    who = list_names(labels.annotators.gather(few).to_list())
    remark = f"wide for {pluralise(len(few), 'annotator')} with fewer than {FEW_LABELS} labels ({who})"
    return Capability(name=name, possible=True, remark=remark)


def _scores(facts: LabelFacts) -> Capability:
    remark = f"gold of {pluralise(facts.gold, 'unit')}" if facts.gold else "no gold in the file; give it with --gold"
    return Capability(name="scores by gold", possible=facts.gold > 0, remark=remark)


def _training(facts: LabelFacts) -> Capability:
    remark = "" if facts.texts else "no texts in the file; give them with --items"
    return Capability(name="training a classifier", possible=facts.texts, remark=remark)


def _report(facts: LabelFacts) -> Capability:
    without = "" if facts.texts else "; without texts, items are shown by name only"
    return Capability(name=REPORT, possible=facts.labels > 0, remark=f"whom to trust, which labels to check{without}")
