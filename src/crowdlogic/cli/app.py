"""The `crowdlogic` command: every command in one place, and the one handler of what users get wrong."""

from __future__ import annotations

import os
import sys

import typer

from crowdlogic import __version__
from crowdlogic.cli import (
    aggregate,
    agreement,
    convert,
    datasets,
    demo,
    evaluate,
    explain,
    predict,
    report,
    reproduce,
    rules,
    simulate,
    train,
)
from crowdlogic.cli.console import complain, point
from crowdlogic.errors import CrowdLogicError, RuleError

UsageProblem: type[Exception] = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
"""What typer raises on a wrong command line: click's class, of its own copy of click where it carries one."""

app = typer.Typer(
    name="crowdlogic",
    help="Noisy crowd labels, and the rules you know, made into clean labels and a verdict on every annotator.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

app.command("demo")(demo.command)
app.command("simulate")(simulate.command)
app.command("aggregate")(aggregate.command)
app.command("train")(train.command)
app.command("predict")(predict.command)
app.command("explain")(explain.command)
app.command("report")(report.command)
app.command("reproduce")(reproduce.command)
app.command("evaluate")(evaluate.command)
app.command("agreement")(agreement.command)
app.command("convert")(convert.command)
app.command("datasets")(datasets.command)
app.add_typer(rules.app, name="rules")


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(False, "--version", callback=_show_version, is_eager=True, help="Print the version."),
) -> None:
    """Noisy crowd labels, and the rules you know, made into clean labels and a verdict on every annotator."""


def main() -> None:
    """Run a command. Exit codes: 0 done, 1 a finding, 2 bad input (one line on stderr, nothing written)."""
    try:
        code = app(None if sys.argv[1:] else ["--help"], prog_name="crowdlogic", standalone_mode=False)
        sys.exit(code or 0)
    except RuleError as problem:
        point(str(problem))
    except CrowdLogicError as problem:
        complain(str(problem))
    except UsageProblem as problem:
        complain(f"{getattr(problem, 'format_message', problem.__str__)()} See crowdlogic --help.")
    except typer.Exit as done:
        sys.exit(done.exit_code)
    except (typer.Abort, KeyboardInterrupt):
        complain("interrupted")
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as problem:
        complain(f"{problem.filename or 'the output'}: {problem.strerror or problem}. Check the path and the disk.")
    sys.exit(2)
