"""Every threshold that docs/reference/report.md states is the constant in the code, and it states no other."""

from __future__ import annotations

import re
from inspect import signature
from pathlib import Path

from crowdlogic.confidence import annotator_verdicts as drift
from crowdlogic.confidence import annotator_verdicts as flags
from crowdlogic.confidence import annotator_verdicts as scores
from crowdlogic.extensions.review.next import MAX_PLANNED
from crowdlogic.reporting.inputs import ReportLimits
from crowdlogic.reporting.pages import annotators, comparison, labels, overview, rules, training
from crowdlogic.reporting.pages import annotators as pairs
from crowdlogic.truth.near_copies import find_similar

DOCUMENT = Path(__file__).parents[3] / "docs" / "reference" / "report.md"


def percent(share: float) -> str:
    return f"{100 * share:g} %"


def points(share: float) -> str:
    return f"{100 * share:g} points"


LIMITS = ReportLimits()
NEAR_COPIES = signature(find_similar).parameters["false_discovery_rate"].default
STATED = {
    "What": [
        f"the upper end of the {percent(scores.LEVEL)} credible interval",
        f"leaves a {percent((1 - scores.LEVEL) / 2)} probability of error",
    ],
    "Overview": [
        f"with {percent(overview.LEVEL)} intervals",
        f"alpha below {overview.POOR_ALPHA} is poor, below {overview.MODERATE_ALPHA} (",
        f"differ by more than {points(overview.SKEW)}",
        f"{overview.CALIBRATION_BINS} bins of confidence",
        f"A calibration error above {points(overview.HIGH_CALIBRATION_ERROR)}",
    ],
    "Labels": [
        f"More than {percent(labels.MANY)} expected wrong is a finding to act on",
        f"more than {percent(labels.MANY)} ties one to look at",
        f"for each confidence ({', '.join(map(str, labels.THRESHOLDS))})",
        f"at least {percent(labels.WORTH_CHECKING)} of the mistakes",
        f"contradicts with {percent(labels.SURE)} confidence or more",
        f"more than {labels.OVERCONFIDENT:g} times as often",
    ],
    "Annotators": [
        f"up to {annotators.MOST_IN_MATRIX} classes",
        f"fewer than {flags.FEW_ITEMS} items ({flags.FEW_SENTENCES} sentences)",
        f"skill below {flags.ADVERSARY_SKILL}, and the upper end of its {percent(flags.ADVERSARY_LEVEL)} interval below 0",
        f"certainly below {flags.LITTLE_SKILL}, and an informativeness above {flags.ADVERSARY_INFORMATIVENESS}",
        f"at least {percent(flags.ONE_CLASS_SHARE)} of the labels are one class",
        f"at least {percent(flags.OTHER_TRUTH_SHARE)} of the truth is another",
        f"the skill is not certainly above {flags.NO_SKILL}",
        f"skill below {flags.NO_SKILL}, not certainly above 0, and certainly below {flags.LITTLE_SKILL}",
        f"met at least {flags.BIASED_LABELS} times",
        f"in at least {percent(flags.BIASED_SHARE)} of the cases, certainly at least {percent(flags.BIASED_LOWER_END)}",
        f"skill below {percent(flags.CARELESS_FRACTION)} of the median annotator's",
        f"certainly below {percent(flags.CARELESS_UPPER_END)} of it",
        f"an F1 certainly below {percent(flags.CARELESS_SPANS)} of what the best quarter",
        f"permutation test, false discovery rate {percent(NEAR_COPIES)}",
        f"false discovery rate over all annotators {percent(drift.FALSE_DISCOVERY_RATE)}",
        f"by at least {points(drift.LEAST_FALL)} from the first to the last of {drift.BINS} equal parts",
        f"from {drift.LEAST_ANNOTATIONS} annotations on",
        f"the {pairs.BUSIEST} busiest",
        f"more than {percent(annotators.OVERLOOKED_SHARE)} of the spans, having met at least {annotators.OVERLOOKED_SPANS}",
    ],
    "Rules": [f"by more than {rules.STANDARD_ERRORS:g} standard errors"],
    "Training": [
        f"after {percent(training.LATE)} of the maximum number of epochs",
        f"lower by more than {training.WORSE:g} points",
    ],
    "Comparison": [
        f"more than {comparison.STANDARD_ERRORS:g} standard errors",
        f"more than {percent(comparison.DISPUTED)} of the labels",
    ],
    "Plan": [f"the expected gain from buying up to {MAX_PLANNED} labels"],
    "Size": [
        f"Tables are limited to {LIMITS.items} items, {LIMITS.annotators} annotators and {LIMITS.rules} rules",
        f"texts are limited to {LIMITS.text} characters",
    ],
}
"""By section, whatever it states with a number."""

NO_THRESHOLDS = (
    r"1 - confidence", r"\(1 - chance\)", r"\bF1\b", r"1 means always right, 0 means guessing", r"below 0 is worse",
    r"skill below 0,", r"below 30 %",
)  # fmt: skip
"""Numbers of formulas and examples."""


def sections() -> dict[str, str]:
    found = re.split(r"^## ", DOCUMENT.read_text(encoding="utf-8"), flags=re.M)[1:]
    return {one.split()[0]: " ".join(one.split()) for one in found}


def test_every_threshold_of_the_document_is_that_of_the_code() -> None:
    missing = [phrase for name, phrases in STATED.items() for phrase in phrases if phrase not in sections()[name]]

    assert missing == []


def test_the_document_states_no_other_number() -> None:
    left = {}
    for name, text in sections().items():
        rest = text
        for phrase in STATED[name]:
            rest = rest.replace(phrase, "")
        for pattern in NO_THRESHOLDS:
            rest = re.sub(pattern, "", rest)
        left[name] = re.findall(r".{20}\d.{10}", rest) if name != "Size" else []

    assert {name: found for name, found in left.items() if found} == {}
