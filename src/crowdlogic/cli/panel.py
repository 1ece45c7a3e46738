"""`crowdlogic panel`: assess a panel of judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from crowdlogic.cli.console import Output, list_written, require_free_output, say, show_output, show_tables, summary
from crowdlogic.cli.options import GroupsOption, JsonOption, LabelsFile, OrderedOption, SeedOption, reads_labels
from crowdlogic.workflows.inputs import InputOptions, parse_names
from crowdlogic.workflows.panel import PanelOptions, assess_panel


@dataclass(frozen=True, kw_only=True)
class JudgeOutput:
    """Assessment of a judge.

    Attributes:
        name: Name of the judge.
        reliability: Estimated accuracy.
        low: Lower end of its interval.
        high: Upper end of its interval.
        right_on_gold: Number of correct labels on gold items.
        gold: Number of labels on gold items.
        group: The judge that this one is a near-copy of, or the judge itself.
        winning_rate: With --people: the share of people whom the judge may replace; null if not tested.
    """

    name: str
    reliability: float
    low: float
    high: float
    right_on_gold: int
    gold: int
    group: str
    winning_rate: float | None


@dataclass(frozen=True, kw_only=True)
class PanelOutput(Output):
    """Assessment of a panel of judges.

    Attributes:
        judges: The judges.
        effective_votes: Number of independent votes with the same information.
        mistakes: Range of the number of wrong answers: low, high, source; null if it is unknown.
        unknown: Why the range is unknown.
        answers: Number of items with an answer.
        gold: Gold used for estimation: items, mistakes; null without gold.
        change: With --versions: old, new, common, changed, most_from, most_to, most_count, gold, better, worse,
            p_value; null without it.
    """

    judges: Sequence[JudgeOutput]
    effective_votes: float
    mistakes: Mapping[str, Any] | None
    unknown: str | None
    answers: int
    gold: Mapping[str, float] | None
    change: Mapping[str, Any] | None


OUTPUTS = {"panel": PanelOutput}


@reads_labels
def command(
    labels: LabelsFile,
    *,
    out: Annotated[str | None, typer.Option("--out", "-o", help="Also write the panel's answers.")] = None,
    gold: Annotated[
        str | None,
        typer.Option("--gold", metavar="FILE", help="Items with known truth, used for estimation: item, label."),
    ] = None,
    chosen: Annotated[
        bool, typer.Option("--gold-chosen", help="The gold items were chosen, not drawn at random.")
    ] = False,
    groups: GroupsOption = None,
    people: Annotated[
        str | None,
        typer.Option(
            "--people", metavar="FILE", help="Labels by people, to test whether a judge may replace a person."
        ),
    ] = None,
    versions: Annotated[
        str | None,
        typer.Option("--versions", metavar="OLD,NEW", help="Two versions of a judge, to see what changed."),
    ] = None,
    ordered: OrderedOption = None,
    seed: SeedOption = 0,
    input: InputOptions,
    json: JsonOption = False,
) -> None:
    """Assess a panel of judges: near-copies, the number of votes it is worth, and accuracy on gold."""
    require_free_output(out, as_json=json)
    options = PanelOptions(
        labels=labels,
        gold=gold,
        groups=groups,
        people=people,
        gold_is_random=not chosen,
        ordered=ordered,
        versions=parse_names(versions),
        out=out,
        seed=seed,
        input=input,
    )
    result = assess_panel(options)
    say(*result.notices)
    if json:
        figures = result.figures()
        judges = [JudgeOutput(**one) for one in figures.pop("judges")]
        with summary():
            show_output(
                PanelOutput(
                    command="panel", notices=result.notices, written=list_written(out), judges=judges, **figures
                )
            )
    else:
        show_tables(result.table())
    say(*result.sentences())
