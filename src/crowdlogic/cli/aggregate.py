"""`crowdlogic aggregate`: estimate the most probable label of every item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from crowdlogic.cli.console import (
    Interval,
    Output,
    list_written,
    make_interval,
    merged,
    require_free_output,
    say,
    show_output,
    show_tables,
    summary,
)
from crowdlogic.cli.options import (
    AnchorsOption,
    GroupsOption,
    JsonOption,
    LabelsFile,
    OrderedOption,
    SeedOption,
    SpreadsheetOption,
    ToOption,
    reads_labels,
)
from crowdlogic.data.folders import parse_size
from crowdlogic.errors import OptionError
from crowdlogic.registry import ENGINES, TRUTH_METHODS
from crowdlogic.truth.ties import Ties
from crowdlogic.workflows.aggregate import AggregateOptions, aggregate_files
from crowdlogic.workflows.inputs import InputOptions, default_answers, parse_names, relabel_path

OutOption = Annotated[
    str | None, typer.Option("--out", "-o", help="Output file; - for standard output. Default: LABELS.truth.csv.")
]
MethodOption = Annotated[
    str | None,
    typer.Option(
        "--method",
        "-m",
        help=f"Truth method: {', '.join(TRUTH_METHODS)}. Default: chosen to suit the labels.",
    ),
]
MethodsOption = Annotated[
    str | None, typer.Option("--methods", help="Compare methods instead: all, or names separated by commas.")
]
AnnotatorsOption = Annotated[
    str | None,
    typer.Option("--annotators", metavar="FILE", help="Also write the estimated parameters of each annotator."),
]
GoldOption = Annotated[
    str | None,
    typer.Option("--gold", metavar="FILE", help="The truth, to score the answers with; not used for estimation."),
]
ItemsOption = Annotated[
    str | None,
    typer.Option("--items", metavar="FILE", help="The items, whose texts go into the list of items to label again."),
]
ConfidenceOption = Annotated[
    float | None,
    typer.Option(
        "--min-confidence",
        metavar="P",
        help="Write items with a confidence below P and their votes to OUT with .relabel in its name.",
    ),
]
SaveOption = Annotated[
    str | None, typer.Option("--save", metavar="FOLDER", help="Also save the estimate, for crowdlogic report.")
]
DependenceOption = Annotated[
    str,
    typer.Option(
        "--dependence",
        help="Assumed dependence of labels on one item: public (as on public crowd sets) or none (the method's own "
        "posterior, which is overconfident).",
    ),
]
ThreadsOption = Annotated[
    int | None, typer.Option("--threads", min=1, help="Number of threads. Default: two from a million labels on.")
]
MemoryOption = Annotated[
    str | None,
    typer.Option("--memory", metavar="SIZE", help="Memory limit, such as 3GiB; larger inputs are processed on disk."),
]
EngineOption = Annotated[
    str | None,
    typer.Option("--engine", help=f"Where labels are processed: {', '.join(ENGINES)}; --threads sets its workers."),
]
AddressOption = Annotated[
    str | None, typer.Option("--address", help="Address of a Ray or Spark cluster. Default: this machine.")
]
IterationsOption = Annotated[int | None, typer.Option("--iterations", min=1, help="Maximum number of iterations.")]
CheckpointOption = Annotated[
    str | None,
    typer.Option(
        "--checkpoint", metavar="FILE", help="Save the state of the fit here, and resume from it if it exists."
    ),
]


@dataclass(frozen=True, kw_only=True)
class AggregateOutput(Output):
    """Answers and their expected accuracy.

    Attributes:
        method: The truth method.
        reason: Reason for the choice of method; empty if it was named.
        counts: Number of items and annotators; in memory also units, classes, unanswered and ties; for patterns also
            patterns.
        expected_accuracy: Expected accuracy; null if the confidence is not calibrated.
        scores: With --gold: every score by name, such as accuracy, coverage and accuracy_all.
    """

    method: str
    reason: str
    counts: Mapping[str, int]
    expected_accuracy: Interval | None
    scores: Mapping[str, float] = merged()


@dataclass(frozen=True, kw_only=True)
class MethodsOutput(Output):
    """Comparison of truth methods on the same labels.

    Attributes:
        default: The default method.
        methods: Each method: its scores with --gold (accuracy, ...), seconds, iterations, converged, default, and
            agreement, the share of answers that agree with each method.
    """

    default: str
    methods: Mapping[str, dict[str, Any]]


OUTPUTS = {"aggregate": AggregateOutput, "aggregate --methods": MethodsOutput}


@reads_labels
def command(
    labels: LabelsFile,
    *,
    out: OutOption = None,
    method: MethodOption = None,
    methods: MethodsOption = None,
    annotators: AnnotatorsOption = None,
    anchors: AnchorsOption = None,
    gold: GoldOption = None,
    items: ItemsOption = None,
    min_confidence: ConfidenceOption = None,
    save: SaveOption = None,
    ties: Annotated[Ties | None, typer.Option("--ties", help="How majority vote breaks ties.")] = None,
    order: Annotated[str | None, typer.Option("--order", help="With --ties order: the classes, best first.")] = None,
    seed: SeedOption = 0,
    threads: ThreadsOption = None,
    memory: MemoryOption = None,
    iterations: IterationsOption = None,
    engine: EngineOption = None,
    address: AddressOption = None,
    dependence: DependenceOption = "public",
    groups: GroupsOption = None,
    ordered: OrderedOption = None,
    checkpoint: CheckpointOption = None,
    to: ToOption = None,
    spreadsheet_safe: SpreadsheetOption = False,
    input: InputOptions,
    json: JsonOption = False,
) -> None:
    """Estimate the true label of every item."""
    fit: dict[str, Any] = {"labels": labels, "anchors": anchors, "gold": gold, "seed": seed, "threads": threads}
    fit |= {"items": items, "checkpoint": checkpoint, "dependence": dependence, "input": input}
    fit |= {"iterations": iterations, "groups": groups, "ordered": ordered}
    if methods is not None:
        alone = {"-o": out, "--annotators": annotators, "--min-confidence": min_confidence, "--save": save}
        given = [option for option, value in alone.items() if value is not None]
        if given:
            raise OptionError(
                f"{' and '.join(given)} cannot be combined with --methods, which shows a comparison and writes "
                f"nothing. Name one method instead: -m METHOD."
            )
        compare_methods(fit, parse_names(methods) or (), json=json)
        return
    out = out or default_answers(labels, input, read_as=input.format)
    require_free_output(out, as_json=json)
    result = aggregate_files(
        AggregateOptions(
            out=out,
            method=method,
            annotators=annotators,
            min_confidence=min_confidence,
            save=save,
            ties=ties,
            order=parse_names(order),
            format=to,
            spreadsheet_safe=spreadsheet_safe,
            engine=None if engine is None else ENGINES.check(engine),
            address=address,
            memory=None if memory is None else parse_size(memory, "--memory"),
            **fit,
        )
    )
    with summary():
        if json:
            relabel = None if min_confidence is None else relabel_path(out)
            show_output(
                AggregateOutput(
                    command="aggregate",
                    notices=result.notices,
                    written=list_written(out, relabel, annotators, save),
                    method=result.method,
                    reason=result.reason,
                    counts=result.counts,
                    expected_accuracy=make_interval(result.expected),
                    scores=dict(result.scores),
                )
            )
        elif result.scores:
            show_tables(result.table())
    said = (*result.notices, result.message, result.confidence_message)
    say(*(sentence for sentence in said if sentence))


def compare_methods(fit: Mapping[str, Any], methods: Sequence[str], *, json: bool) -> None:
    """Compare several truth methods on the same labels and print the result."""
    from crowdlogic.workflows.method_comparison import CompareOptions, compare_truth_methods

    compared = compare_truth_methods(CompareOptions(methods=methods, **fit))
    say(*compared.notices)
    if not json:
        show_tables(compared.table())
        return
    name, found = "aggregate --methods", compared.figures()
    show_output(MethodsOutput(command=name, notices=compared.notices, default=compared.default, methods=found))
