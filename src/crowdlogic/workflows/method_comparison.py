"""Compare truth methods on the same labels: agreement, and scores if there is gold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crowdlogic.confidence.expected_accuracy import warning_signs
from crowdlogic.data.estimate import Estimate
from crowdlogic.errors import CrowdLogicWarning
from crowdlogic.numerics.arrays import Floats
from crowdlogic.truth.comparison import shown_scores
from crowdlogic.truth.methods import TruthMethod, infer_truth
from crowdlogic.truth.pool import MethodPool
from crowdlogic.workflows.aggregate import (
    FitOptions,
    collect_warnings,
    configured_method,
    describe_estimate,
    fit_calibrated,
    methods_to_compare,
    parse_dependence,
    read_for_fit,
    suggest_method,
)
from crowdlogic.workflows.inputs import ResultTable, percent

if TYPE_CHECKING:
    from crowdlogic.truth.comparison import MethodResult

MUCH_DISAGREEMENT = 0.1
"""A notice names the methods that answer more than this share of the units differently from the default method."""


@dataclass(frozen=True, kw_only=True)
class CompareOptions(FitOptions):
    """The options of `compare_truth_methods`.

    Attributes:
        methods: The names of the truth methods, or the one name `all`.
    """

    methods: Sequence[str]


@dataclass(frozen=True, kw_only=True, eq=False)
class MethodComparison:
    """Several truth methods on the same labels.

    Attributes:
        results: Result of each method.
        agreement: agreement[a, b], the share of units with the same answer by methods a and b.
        default: The name of the method that `aggregate` would choose.
        notices: Notices on the labels and the methods.
    """

    results: Sequence[MethodResult]
    agreement: Floats
    default: str
    notices: tuple[str, ...]

    def table(self) -> ResultTable:
        """Return one row per method."""
        first = self.results[0]
        agreements = ("agrees with others", f"with {first.name}")
        columns = ["method", *shown_scores(self.results), *agreements, "iterations", "converged", "seconds"]
        others = max(len(self.results) - 1, 1)
        rows = [
            (
                f"{one.name} (default)" if one.name == self.default else one.name,
                *(percent(one.scores[name]) for name in shown_scores(self.results)),
                percent((agreement.sum() - 1) / others),
                percent(agreement[0]),
                len(one.estimate.trace),
                "yes" if one.estimate.converged else "no",
                f"{one.seconds:.2f}",
            )
            for one, agreement in zip(self.results, self.agreement, strict=True)
        ]
        return ResultTable(title=describe_estimate(first.estimate), columns=columns, rows=rows)

    def figures(self) -> dict[str, Any]:
        """Return the results as plain data, by method."""
        names = [one.name for one in self.results]
        return {
            one.name: {
                **one.scores,
                "seconds": one.seconds,
                "iterations": len(one.estimate.trace),
                "converged": one.estimate.converged,
                "default": one.name == self.default,
                "agreement": dict(zip(names, row.tolist(), strict=True)),
            }
            for one, row in zip(self.results, self.agreement, strict=True)
        }


def compare_truth_methods(options: CompareOptions) -> MethodComparison:
    """Run several truth methods on the same labels; nothing is written."""
    from crowdlogic.truth.comparison import compare_methods, pairwise_agreement

    crowd, gold, fitting = read_for_fit(options)
    anchored = options.anchors is not None
    with collect_warnings(CrowdLogicWarning) as left_out:
        names = methods_to_compare(options.methods, crowd.labels, option="--methods", anchored=anchored)
    dependence = parse_dependence(options.dependence)
    methods = [configured_method(name, seed=options.seed, dependence=dependence) for name in names]

    def infer(method: TruthMethod) -> Estimate:
        """Fit as `aggregate` does, with calibration for the pool, which learns from gold."""
        if isinstance(method, MethodPool):
            return fit_calibrated(method, crowd, options, fitting=fitting)
        return infer_truth(method, crowd.labels, crowd.corpus, fitting=fitting)

    results = compare_methods(methods, crowd.labels, crowd.corpus, gold=gold, infer=infer)
    agreement = pairwise_agreement(results)
    default = suggest_method(crowd.labels, anchored=anchored)[0]
    signs = (sign for one in results for sign in warning_signs(crowd.labels, one.estimate))
    notices = [*left_out, *crowd.labels.intake.messages(), *dict.fromkeys(signs)]
    if default in names:
        apart = 1.0 - agreement[names.index(default)]
        far = [(share, name) for share, name in zip(apart.tolist(), names, strict=True) if share > MUCH_DISAGREEMENT]
        if far:
            listed = ", ".join(f"{name} on {percent(share)}" for share, name in sorted(far, reverse=True))
            notices.append(f"Methods differ from {default} on many answers: {listed}. Check some of these items.")
    return MethodComparison(results=results, agreement=agreement, default=default, notices=tuple(notices))
