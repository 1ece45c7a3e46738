"""Words of the field that a report cannot do without, each with a short explanation, shown on hover or tap."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

GLOSSARY = {
    "Krippendorff's alpha": "How far annotators agree: 0 is what guessing would give, 1 is full agreement.",
    "majority vote": "The label that most annotators gave to an item.",
    "calibration error": "How far stated confidences are from how often the answers are really right.",
    "confidence": "The probability that an answer is right, as far as the labels tell.",
    "reliability": "The expected share of an annotator's labels that are right; for spans, the F1 of whole spans.",
    "skill": "How much better than guessing an annotator is: 100% is always right, 0% no better than guessing.",
    "span F1": "How many true spans were found and how few were invented, in one figure: 100% is best.",
    "by gold": "Checked against answers that are known to be true.",
    "gold": "Answers that are known to be true, from an expert or a check.",
    "held-out": "Labels that the model was not shown while learning, to see how well it predicts them.",
    "epochs": "Rounds in which the model goes once over all items.",
    "epoch": "A round in which the model goes once over all items.",
    "dev items": "Items with known answers that only decide when to stop learning.",
    "classifier": "The part that learns from the texts themselves, and can answer new ones.",
    "converged": "The answers no longer changed from one step to the next.",
    "loss": "How far what the model says is from what it should say: 0 is best.",
    "confusion matrices": "Tables of which label an annotator gave where another was true.",
    "anchors": "Items whose true label is known and given along.",
}
"""Term -> explanation. Where one term holds another, the longer one comes first."""

TERMS = re.compile("|".join(rf"\b{re.escape(term)}\b" for term in sorted(GLOSSARY, key=len, reverse=True)))


def gloss(text: str) -> Markup:
    """Text as HTML, in which the first occurrence of each term carries its explanation."""
    parts, at, seen = [], 0, set[str]()
    for found in TERMS.finditer(text):
        term = found.group()
        if term not in seen:
            seen.add(term)
            parts += [escape(text[at : found.start()]), _explained(term)]
            at = found.end()
    return Markup("").join([*parts, escape(text[at:])])


def _explained(term: str) -> Markup:
    note = Markup('<span class="gloss" role="tooltip">{}</span>').format(GLOSSARY[term])
    return Markup('<span class="term" tabindex="0">{}{}</span>').format(term, note)
