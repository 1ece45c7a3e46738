"""`crowdlogic rules`: check rules before they are used, and audit what each one does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from crowdlogic.cli.console import say, show_lines, show_tables
from crowdlogic.cli.json_output import Output, show_output
from crowdlogic.cli.options import ClassesOption, ColumnsOption, FormatOption, JsonOption, OutsideOption, TablesOption
from crowdlogic.registry import TRUTH_METHODS
from crowdlogic.workflows.inputs import InputOptions, parse_columns, parse_names

app = typer.Typer(
    no_args_is_help=True, add_completion=False, rich_markup_mode=None, help="Check rules, and audit what each one does."
)

RulesFile = Annotated[str, typer.Argument(metavar="RULES", help="A rule file.")]
LabelsFile = Annotated[str, typer.Argument(metavar="LABELS", help="The crowd's labels.")]
ItemsOption = Annotated[
    str | None, typer.Option("--items", help="The items: item and text (and label, where gold is known), or sentences.")
]
MethodOption = Annotated[
    str,
    typer.Option(
        "--method", "-m", help=f"The truth method that gives the crowd's posterior: {', '.join(TRUTH_METHODS)}."
    ),
]
RunOption = Annotated[
    str | None, typer.Option("--run", metavar="RUN", help="A trained run, for rules that ask a classifier.")
]


@dataclass(frozen=True, kw_only=True)
class RuleFinding:
    """Something that is wrong, or looks wrong, in a rule file.

    Attributes:
        severity: error or warning.
        place: File, line and column.
        message: What was found.
    """

    severity: str
    place: str
    message: str


@dataclass(frozen=True, kw_only=True)
class CheckOutput(Output):
    """Findings on a rule file.

    Attributes:
        rules: The rule file.
        findings: What is wrong, or looks wrong; the exit code is 1 if there is anything.
    """

    rules: str
    findings: Sequence[RuleFinding]


@dataclass(frozen=True, kw_only=True)
class AuditOutput(Output):
    """What each rule does.

    Attributes:
        method: The truth method whose answers were audited.
        rules: Each rule: text, place, groundings, units, coverage, applications, satisfaction with low and high,
            chance, moved, flipped, flipped_right and flipped_wrong (null without gold), verdict, reason.
    """

    method: str
    rules: Sequence[dict[str, Any]]


OUTPUTS = {"rules check": CheckOutput, "rules audit": AuditOutput}


@app.command("check")
def check_command(
    rules: RulesFile,
    *,
    labels: Annotated[str | None, typer.Option("--labels", help="Labels, for their classes.")] = None,
    items: ItemsOption = None,
    classes: ClassesOption = None,
    table: TablesOption = None,
    allow_outside: OutsideOption = False,
    show: Annotated[bool, typer.Option("--show", help="Print the rules, ready-made sets expanded.")] = False,
    column: ColumnsOption = None,
    format: FormatOption = None,
    json: JsonOption = False,
) -> None:
    """Check a rule file: names, arities, classes, contradictions, duplicates, rules that never ground."""
    from crowdlogic.workflows.rules import CheckRulesOptions, check_rules

    read = InputOptions(format=format, columns=parse_columns(column), classes=parse_names(classes))
    checked = check_rules(
        CheckRulesOptions(
            rules=rules,
            labels=labels,
            items=items,
            tables=tuple(table or ()),
            allow_outside=allow_outside,
            input=read,
        )
    )
    if json:
        found = [RuleFinding(**one) for one in checked.figures()]
        show_output(CheckOutput(command="rules check", rules=rules, findings=found))
    else:
        show_lines([str(checked.rules).rstrip("\n")] if show else [])
        show_lines(map(str, checked.findings))
    say(checked.message)
    raise typer.Exit(1 if checked.findings else 0)


@app.command("audit")
def audit_command(
    rules: RulesFile,
    labels: LabelsFile,
    *,
    items: ItemsOption = None,
    method: MethodOption = "dawid-skene",
    strength: Annotated[float, typer.Option("--strength", min=0, help="How strongly rules pull (C).")] = 5.0,
    run: RunOption = None,
    table: TablesOption = None,
    allow_outside: OutsideOption = False,
    classes: ClassesOption = None,
    column: ColumnsOption = None,
    format: FormatOption = None,
    json: JsonOption = False,
) -> None:
    """Audit each rule: what it touches, how far the crowd agrees, what it flips, and whether it helps."""
    from crowdlogic.workflows.rules import AuditRulesOptions, audit_rules

    options = AuditRulesOptions(
        rules=rules,
        labels=labels,
        items=items,
        method=method,
        strength=strength,
        run=run,
        tables=tuple(table or ()),
        allow_outside=allow_outside,
        input=InputOptions(format=format, columns=parse_columns(column), classes=parse_names(classes)),
    )
    result = audit_rules(options)
    say(*result.notices)
    if json:
        found = result.figures()
        show_output(AuditOutput(command="rules audit", notices=result.notices, method=result.method, rules=found))
        return
    show_tables(result.table())
    say(*result.reasons)
