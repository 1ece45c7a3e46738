"""Options shared by several commands."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Annotated, Any, get_args

import typer

from crowdlogic.data.intake.contract import Boundaries, Duplicates, Tokenizer
from crowdlogic.workflows.inputs import InputOptions, parse_columns, parse_names

FORMAT_NAMES = "FORMAT"
"""Name of the value of format options in help texts."""

LabelsFile = Annotated[
    str,
    typer.Argument(
        metavar="LABELS",
        help="File of labels, such as .csv; - for standard input. All formats: crowdlogic convert --formats.",
    ),
]
OutFile = Annotated[str, typer.Option("--out", "-o", help="Output file; - for standard output.")]
FormatOption = Annotated[
    str | None,
    typer.Option(
        "--format",
        "-f",
        metavar=FORMAT_NAMES,
        help="Format of the input, if not clear from its suffix; see crowdlogic convert --formats.",
    ),
]
ColumnsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--column", help="Role of a column as role=name, such as item=task_number. Can be given several times."
    ),
]
ClassesOption = Annotated[
    str | None, typer.Option("--classes", help="Classes, separated by commas, in the order used to break ties.")
]
DuplicatesOption = Annotated[
    Duplicates, typer.Option("--duplicates", help="What to do if an annotator labels an item twice.")
]
WideOption = Annotated[bool, typer.Option("--wide", help="The table has one row per item, one column per annotator.")]
AbstainOption = Annotated[
    str | None, typer.Option("--abstain", help="With --wide: a value that stands for no label, such as -1.")
]
EmptyLabelOption = Annotated[
    str | None,
    typer.Option(
        "--empty-label", metavar="NAME", help="Class that an empty cell stands for. Default: empty cells are skipped."
    ),
]
QuestionOption = Annotated[
    str | None,
    typer.Option(
        "--question",
        metavar="NAME",
        help="Question to read if an export has several (from_name, schema); topic=sports selects one answer.",
    ),
]
TokensOption = Annotated[Tokenizer, typer.Option("--tokens", help="How to split texts with marked spans into tokens.")]
BoundariesOption = Annotated[
    Boundaries, typer.Option("--boundaries", help="What to do if a span begins or ends inside a token.")
]
FeaturesOption = Annotated[
    str | None,
    typer.Option(
        "--features",
        metavar="COLUMNS",
        help="Numeric features of the items: columns such as 'f*', a column of lists, or an .npz with ids.",
    ),
]
QueryOption = Annotated[
    str | None,
    typer.Option("--query", metavar="SQL", help="For a database: query that returns the rows; it cannot modify data."),
]
ThresholdOption = Annotated[
    float | None, typer.Option("--threshold", help="For evaluations: minimum score that counts as a pass.")
]
ToOption = Annotated[
    str | None,
    typer.Option("--to", metavar=FORMAT_NAMES, help="Output format, if not clear from the suffix."),
]
SpreadsheetOption = Annotated[
    bool,
    typer.Option("--spreadsheet-safe", help="In csv and tsv, prefix cells that look like formulas with a quote (')."),
]
GroupsOption = Annotated[
    str | None,
    typer.Option(
        "--groups",
        metavar="FILE",
        help="Groups of annotators that count as one: columns annotator and group.",
    ),
]
OrderedOption = Annotated[
    bool | None,
    typer.Option(
        "--ordered/--nominal", help="Does the order of the classes mean something? For numbers it does by default."
    ),
]
AnchorsOption = Annotated[
    str | None, typer.Option("--anchors", metavar="FILE", help="Items whose truth is known: item and label, or tags.")
]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="Random seed.")]
TablesOption = Annotated[
    list[str] | None, typer.Option("--table", help="Facts for a predicate, as Name=file. May repeat.")
]
OutsideOption = Annotated[
    bool, typer.Option("--allow-outside", help="Allow rules to refer to files outside the folder of the rule file.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")]
RunFolder = Annotated[str, typer.Argument(metavar="RUN", help="Folder of a run written by `crowdlogic train`.")]


def input_options(
    *,
    classes: ClassesOption = None,
    duplicates: DuplicatesOption = Duplicates.error,
    wide: WideOption = False,
    abstain: AbstainOption = None,
    empty_label: EmptyLabelOption = None,
    column: ColumnsOption = None,
    format: FormatOption = None,
    question: QuestionOption = None,
    tokens: TokensOption = Tokenizer.words,
    boundaries: BoundariesOption = Boundaries.widen,
    threshold: ThresholdOption = None,
    query: QueryOption = None,
    features: FeaturesOption = None,
) -> InputOptions:
    """Return the options for reading labels, shared by all commands that read labels."""
    return InputOptions(
        format=format,
        columns=parse_columns(column),
        classes=parse_names(classes),
        duplicates=duplicates,
        wide=wide,
        abstain=abstain,
        empty_label=empty_label,
        question=question,
        tokens=tokens,
        boundaries=boundaries,
        threshold=threshold,
        query=query,
        features=features,
    )


def reads_labels(command: Callable[..., None]) -> Callable[..., None]:
    """Add all options of `input_options` to a command, which receives them as its argument `input`."""
    return _offer(command, "input", _reading_parameters(), input_options)


def may_read_labels(command: Callable[..., None]) -> Callable[..., None]:
    """Add all options of `input_options` without defaults, so that a config file can set them.

    The command receives them as a mapping in its argument `reading`.
    """
    parameters = []
    for one in _reading_parameters():
        kind, *marks = get_args(one.annotation)
        optional: Any = Annotated[(kind | None, *marks)]
        parameters.append(one if kind is bool else one.replace(annotation=optional, default=None))
    return _offer(command, "reading", parameters, dict)


def _reading_parameters() -> list[inspect.Parameter]:
    return list(inspect.signature(input_options, eval_str=True).parameters.values())


def _offer(
    command: Callable[..., None],
    name: str,
    shared: Sequence[inspect.Parameter],
    gather: Callable[..., Any],
) -> Callable[..., None]:
    """Return a command with additional options, which are collected into its argument `name`."""
    own = inspect.signature(command, eval_str=True).parameters.values()
    at_end = [one for one in own if one.name == "json"]
    parameters = [one for one in own if one.name not in (name, "json")]
    parameters = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in (*parameters, *shared, *at_end)]

    @wraps(command)
    def with_options(**given: Any) -> None:
        gathered = gather(**{one.name: given.pop(one.name) for one in shared})
        command(**given, **{name: gathered})

    with_options.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    with_options.__annotations__ = {one.name: one.annotation for one in parameters}
    del with_options.__wrapped__
    return with_options
