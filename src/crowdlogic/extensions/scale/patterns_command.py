"""`crowdlogic patterns`: group items with identical labels into one row with a count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from crowdlogic.cli.console import Output, list_written, require_free_output, say, show_lines, show_output, summary
from crowdlogic.cli.options import JsonOption, SpreadsheetOption, ToOption, reads_labels
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import OptionError
from crowdlogic.extensions.scale.patterns import COUNT, PatternOptions, pattern_query, write_patterns
from crowdlogic.workflows.inputs import InputOptions, parse_names

LabelsOrTable = Annotated[
    str, typer.Argument(metavar="LABELS", help="File of labels; with --sql also the name of a table in the warehouse.")
]
OutOption = Annotated[str | None, typer.Option("--out", "-o", help="Output file.")]
SqlOption = Annotated[
    bool, typer.Option("--sql", help="Print the SQL query that groups items with equal labels in a data warehouse.")
]
FromOption = Annotated[
    str | None, typer.Option("--from", metavar="TABLE", help="With --sql: name of the table in the warehouse.")
]
AnnotatorsOption = Annotated[
    str | None, typer.Option("--annotators", help="With --sql: the annotators, if there is no file to read them from.")
]
BackticksOption = Annotated[
    bool, typer.Option("--backticks", help="With --sql: quote names with backticks, for BigQuery, MySQL and Spark.")
]


@dataclass(frozen=True, kw_only=True)
class PatternsOutput(Output):
    """JSON output of `crowdlogic patterns`.

    Attributes:
        items: Number of items; null with --sql.
        patterns: Number of patterns; null with --sql.
        sql: The query, with --sql.
    """

    items: int | None = None
    patterns: int | None = None
    sql: str | None = None


OUTPUTS = {"patterns": PatternsOutput}


@reads_labels
def command(
    labels: LabelsOrTable,
    *,
    out: OutOption = None,
    sql: SqlOption = False,
    from_: FromOption = None,
    annotators: AnnotatorsOption = None,
    backticks: BackticksOption = False,
    threads: Annotated[int, typer.Option("--threads", min=1, help="Number of threads.")] = 2,
    to: ToOption = None,
    spreadsheet_safe: SpreadsheetOption = False,
    input: InputOptions,
    json: JsonOption = False,
) -> None:
    """Group items with identical labels, locally or by SQL in a warehouse."""
    require_free_output(out, as_json=json)
    if sql and out is not None:
        raise OptionError(f"--sql prints a query, -o {out} writes patterns. Remove one of them.")
    if not sql and (from_ is not None or annotators is not None or backticks):
        raise OptionError("--from, --annotators and --backticks require --sql. Add --sql.")
    options = PatternOptions(
        labels=labels,
        out=out,
        format=to,
        spreadsheet_safe=spreadsheet_safe,
        table=from_,
        annotators=parse_names(annotators),
        mark="`" if backticks else '"',
        threads=threads,
        input=input,
    )
    if sql:
        query = pattern_query(options) + ";"
        show_output(PatternsOutput(command="patterns", sql=query)) if json else show_lines([query])
        return
    found = write_patterns(options)
    items = pluralise(int(found[COUNT].sum()), "item has", "items have")
    say(f"{items} {pluralise(len(found), 'pattern')} -> {out}")
    if json:
        n_items = int(found[COUNT].sum())
        with summary():
            show_output(
                PatternsOutput(command="patterns", written=list_written(out), items=n_items, patterns=len(found))
            )
