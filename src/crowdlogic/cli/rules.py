"""`crowdlogic rules`: check rules, suggest rules, and judge rules by labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from crowdlogic.cli.console import Output, say, show_lines, show_output, show_tables
from crowdlogic.cli.options import (
    AnchorsOption,
    JsonOption,
    OutsideOption,
    SeedOption,
    TablesOption,
    reads_labels,
)
from crowdlogic.data.files import STANDARD_STREAM
from crowdlogic.workflows.inputs import InputOptions

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    help="Suggest rules, check them, and judge each one by the labels.",
)

RulesFile = Annotated[str, typer.Argument(metavar="RULES", help="A rule file.")]
LabelsFile = Annotated[str, typer.Argument(metavar="LABELS", help="The crowd's labels.")]
ItemsOption = Annotated[
    str | None, typer.Option("--items", help="The items: item and text (and label, where gold is known), or sentences.")
]
RunOption = Annotated[
    str | None,
    typer.Option("--run", metavar="RUN", help="A trained run, for its classes and the strength of its rules."),
]


@dataclass(frozen=True, kw_only=True)
class RuleFinding:
    """Finding in a rule file.

    Attributes:
        severity: error or warning.
        place: File, line and column.
        message: The finding.
    """

    severity: str
    place: str
    message: str


@dataclass(frozen=True, kw_only=True)
class CheckOutput(Output):
    """Findings on a rule file.

    Attributes:
        rules: The rule file.
        findings: Errors and warnings; the exit code is 1 if there are any.
    """

    rules: str
    findings: Sequence[RuleFinding]


@dataclass(frozen=True, kw_only=True)
class AuditOutput(Output):
    """The verdict on each rule.

    Attributes:
        rules: Each rule: text, place, weight and new_weight (null for hard rules), groundings, units, coverage,
            informed cases, holds with low and high, chance, lift, gain, gold_cases and gold_holds, outcome, reason.
    """

    rules: Sequence[dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class SuggestOutput(Output):
    """Suggested rules.

    Attributes:
        rules: Each rule: text with its weight, shape, the figures of its verdict, examples and counterexamples.
    """

    rules: Sequence[dict[str, Any]]


OUTPUTS = {"rules check": CheckOutput, "rules audit": AuditOutput, "rules suggest": SuggestOutput}


@app.command("check")
@reads_labels
def check_command(
    rules: RulesFile,
    *,
    labels: Annotated[str | None, typer.Option("--labels", help="Labels, for their classes.")] = None,
    items: ItemsOption = None,
    table: TablesOption = None,
    allow_outside: OutsideOption = False,
    show: Annotated[bool, typer.Option("--show", help="Print the rules with included sets expanded.")] = False,
    input: InputOptions,
    json: JsonOption = False,
) -> None:
    """Check a rule file: names, arities, classes, contradictions, duplicates, rules that match nothing."""
    from crowdlogic.workflows.rules import CheckRulesOptions, check_rules

    checked = check_rules(
        CheckRulesOptions(
            rules=rules,
            labels=labels,
            items=items,
            tables=tuple(table or ()),
            allow_outside=allow_outside,
            input=input,
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
@reads_labels
def audit_command(
    rules: RulesFile,
    labels: LabelsFile,
    *,
    items: ItemsOption = None,
    anchors: AnchorsOption = None,
    strength: Annotated[
        float | None,
        typer.Option("--strength", min=0, help="Strength of the rules (C). Default: that of the run, or 5."),
    ] = None,
    run: RunOption = None,
    table: TablesOption = None,
    allow_outside: OutsideOption = False,
    input: InputOptions,
    json: JsonOption = False,
) -> None:
    """Judge each rule by held-out labels: it helps, has no effect, contradicts the labels, or cannot be judged."""
    from crowdlogic.workflows.rules import AuditRulesOptions, audit_rules

    options = AuditRulesOptions(
        rules=rules,
        labels=labels,
        items=items,
        anchors=anchors,
        strength=strength,
        run=run,
        tables=tuple(table or ()),
        allow_outside=allow_outside,
        input=input,
    )
    result = audit_rules(options)
    say(*result.notices)
    if json:
        found = result.figures()
        show_output(AuditOutput(command="rules audit", notices=result.notices, rules=found))
        return
    show_tables(result.table())
    say(*result.reasons)


@app.command("suggest")
@reads_labels
def suggest_command(
    labels: LabelsFile,
    *,
    items: ItemsOption = None,
    out: Annotated[str, typer.Option("--out", "-o", help="Output rule file; - for standard output.")],
    anchors: AnchorsOption = None,
    run: Annotated[
        str | None, typer.Option("--run", metavar="RUN", help="A trained run, whose rules are not suggested again.")
    ] = None,
    most: Annotated[int, typer.Option("--most", min=1, help="Maximum number of rules.")] = 30,
    seed: SeedOption = 0,
    input: InputOptions,
    json: JsonOption = False,
) -> None:
    """Suggest rules that the labels support: words, phrases, connectives and transitions between tags."""
    from crowdlogic.workflows.rules import SuggestRulesOptions, suggest_rules_for

    result = suggest_rules_for(
        SuggestRulesOptions(
            labels=labels, items=items, out=out, anchors=anchors, run=run, most=most, seed=seed, input=input
        ),
        progress=lambda step: say(f"suggest: {step}"),
    )
    say(*result.notices)
    if json:
        found, written = result.figures(), () if out == STANDARD_STREAM else (out,)
        show_output(SuggestOutput(command="rules suggest", notices=result.notices, written=written, rules=found))
        return
    if out != STANDARD_STREAM:
        show_tables(result.table())
        say(result.message)
