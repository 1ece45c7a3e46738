"""The verdicts on annotators, which several pages need."""

from __future__ import annotations

from crowdlogic.annotators.verdicts.judging import AnnotatorVerdicts, judge_annotators
from crowdlogic.report.context import Context


def annotator_verdicts(context: Context) -> AnnotatorVerdicts:
    """Judge every annotator, mistakes in spans by gold where there is any; `context.once(annotator_verdicts)`."""
    inputs = context.inputs
    return judge_annotators(inputs.labels, inputs.estimate, gold=inputs.gold if inputs.known.any() else None)
