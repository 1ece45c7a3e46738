"""Explain an answer: contributions of the classifier, each annotator and each rule, in bits.

Axes: i unit, k class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from crowdlogic.data.wording import pluralise
from crowdlogic.errors import OptionError
from crowdlogic.learning.explain import Evidence, tokens_table, unit_table
from crowdlogic.learning.saved_run import load_run
from crowdlogic.workflows.inputs import ResultTable
from crowdlogic.workflows.report import absent_notice


@dataclass(frozen=True, kw_only=True, eq=False)
class Explanation:
    """Explanation of the answer for an item, or for one token of a sentence.

    Attributes:
        evidence: Evidence for all units (the item itself, or its tokens).
        units: The units to explain.
        absent: Notices about parts that cannot be explained without the classifier of the run.
    """

    evidence: Evidence
    units: range
    absent: tuple[str, ...] = ()

    @property
    def notices(self) -> tuple[str, ...]:
        """Notices shown with the table."""
        if not self.units:
            return (f"{self.evidence.item} has no tokens, so there is nothing to explain.",)
        if len(self.units) > 1:
            return ("The evidence of one token: --token N.",)
        found: list[str] = []
        sharpness = float(self.evidence.sharpness[self.units[0]])
        if sharpness != 1.0:
            found.append(
                f"Everything counts for {100 * sharpness:.0f}% of its face value, because annotators often make the "
                f"same mistake on an item; --raw shows the full value."
            )
        if self.evidence.rules is not None and not self.evidence.rules.is_exact:
            found.append(
                "The rules interact here: the bits of a rule are the change when it is left out; the rest is shared "
                "by the rules."
            )
        return (*found, *self.absent)

    @property
    def heading(self) -> tuple[str, ...]:
        """The item and its words, if a single unit is explained."""
        words = self.evidence.words
        if len(self.units) != 1:
            return ()
        return (f"{self.evidence.item}: {words[self.units[0]] if self.units[0] < len(words) else ''}",)

    def tables(self) -> list[ResultTable]:
        """Return a table of a sentence by token, or of a single unit by source."""
        if not self.units:
            return []
        made = tokens_table(self.evidence) if len(self.units) > 1 else unit_table(self.evidence, self.units[0])
        return [ResultTable(title=made.title, columns=made.columns, rows=made.rows)]

    def figures(self) -> dict[str, Any]:
        """Return the evidence as plain data."""
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
        token: For a sentence: number of a token, starting at 1; None for all.
        calibrated: Whether to explain the calibrated confidence instead of the uncalibrated beliefs.
    """
    loaded = load_run(run)
    evidence = loaded.explain(item, calibrated=calibrated)
    n_units = len(evidence.q_f)
    if token is not None and loaded.estimate.offsets is None:
        raise OptionError(f"--token {token}: {item} is a text with one answer, not a sentence. Leave --token out.")
    if token is not None and token > n_units:
        raise OptionError(
            f"--token {token}: the sentence {item} has only {pluralise(n_units, 'token')}. Choose one of them."
        )
    return Explanation(
        evidence=evidence,
        units=range(n_units) if token is None else range(token - 1, token),
        absent=absent_notice(loaded.learned),
    )


def _unit_figures(found: Evidence, i: int) -> dict[str, Any]:
    chosen, rules = int(found.answer[i]), found.rules
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
        "rules": None
        if rules is None
        else {
            "from_classifier": rules.from_classifier,
            "base": rules.base[i].tolist(),
            "rules": [
                {"rule": text, "bits": share[i].tolist()} for text, share in zip(rules.rules, rules.share, strict=True)
            ],
            "transitions": None if rules.transitions is None else rules.transitions[i].tolist(),
            "residual": rules.residual[i].tolist(),
            "normaliser": float(rules.normaliser[i]),
        },
        "q_b": found.q_b[i].tolist(),
        "mixture": found.mixture[i].tolist(),
        "sharpness": float(found.sharpness[i]),
        "doubt": found.doubt[i].tolist(),
        "q_f": found.q_f[i].tolist(),
    }
