"""The `crowdlogic` command: every command in one place, and the one handler of what users get wrong."""

from __future__ import annotations

import os
import sys

import typer
from click import ClickException
from click.exceptions import Abort, Exit

from crowdlogic import __version__
from crowdlogic.cli import aggregate, convert, datasets
from crowdlogic.cli.console import complain
from crowdlogic.errors import CrowdLogicError

app = typer.Typer(
    name="crowdlogic",
    help="Noisy crowd labels, and the rules you know, made into clean labels and a verdict on every annotator.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

app.command("aggregate")(aggregate.command)
app.command("convert")(convert.command)
app.command("datasets")(datasets.command)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(__version__)
        raise Exit


@app.callback()
def options(
    version: bool = typer.Option(False, "--version", callback=_show_version, is_eager=True, help="Print the version."),
) -> None:
    """Noisy crowd labels, and the rules you know, made into clean labels and a verdict on every annotator."""


def main() -> None:
    """Run a command. Exit codes: 0 done, 1 a finding, 2 bad input (one line on stderr, nothing written)."""
    try:
        sys.exit(app(standalone_mode=False) or 0)
    except CrowdLogicError as problem:
        complain(str(problem))
    except ClickException as problem:
        complain(problem.format_message())
    except Exit as done:
        sys.exit(done.exit_code)
    except (Abort, KeyboardInterrupt):
        complain("interrupted")
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    sys.exit(2)
