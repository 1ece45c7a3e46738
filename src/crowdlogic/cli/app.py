"""The `crowdlogic` command: the list of commands, each loaded when it is called; and how errors are shown."""

from __future__ import annotations

import errno
import gc
import os
import sys
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

from crowdlogic import __version__
from crowdlogic.cli.console import complain, discard_output, point, show_spreadsheet_warnings
from crowdlogic.cli.help import describe_usage_problem, name_values
from crowdlogic.cli.memory_limit import check_memory_limit
from crowdlogic.cli.plain_values import keep_plain_values
from crowdlogic.errors import CrowdLogicError, Interrupted, OptionError, RuleError, did_you_mean

COMMANDS = {
    "demo": "Simulate a crowd on which majority vote fails; see what annotator models, a classifier and a rule add.",
    "simulate": "Simulate a crowd with a planted truth: labels, items, gold and who the annotators are.",
    "doctor": "Say what a file is, what it holds, what it allows, and what to do first.",
    "aggregate": "Estimate the true label of every item.",
    "patterns": "Group the items that were labelled alike, here or by SQL in a warehouse: one row each, with a count.",
    "train": "Learn a classifier, whom to trust, and what is true, from crowd labels and rules.",
    "predict": "Answer new items with a trained classifier, and its rules.",
    "export": "Write a trained run as an ONNX model, or as a folder that Hugging Face's transformers load.",
    "explain": "Say what the classifier, each annotator and each rule contributed to an answer.",
    "next": "Say which items are worth one more label, by whom, what that should bring, and when to stop.",
    "report": "Write one page: whom to trust, which labels to check, which rules to keep.",
    "review": "Decide the doubtful items in the browser; the rest is fitted again with what you decided.",
    "reproduce": "Run the paper's methods over several seeds; write its tables and figures with ours beside them.",
    "evaluate": "Score answers against gold: accuracy and more, or precision, recall and F1 of spans.",
    "agreement": "Measure agreement: Krippendorff's alpha, Fleiss' and Cohen's kappa, Gwet's AC1, with intervals.",
    "convert": "Read labels (or items) in one layout and write them in another; of a run, its clean labels.",
    "datasets": "List the data sets and say which are here; with a name, load that one and check its size.",
    "rules": "Check rules, and audit what each one does.",
}
"""Every command and its help in one line. Command `x` is `command` in `crowdlogic.cli.x`, or a group `app` there."""

UsageProblem: type[Exception] = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
"""What typer raises on a wrong command line: click's class, of its own copy of click where it carries one."""

LEARNING = {"demo", "train", "predict", "export", "review", "reproduce"}
"""The commands that may multiply large matrices."""

INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it."""


class LazyGroup(TyperGroup):
    """A group that imports a command's module when the command is called, and lists commands without importing any."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        keep_plain_values(self)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 (every context has the same commands)
        """The names, in the order of the list."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """The command, imported now; an unknown one is an error with the nearest name."""
        if cmd_name not in COMMANDS:
            known = did_you_mean(cmd_name, list(COMMANDS))
            raise OptionError(f"There is no command {cmd_name!r}.{known} See crowdlogic --help.")
        return load_command(cmd_name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """The part of --help that lists the commands."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def load_command(name: str) -> Any:
    """The command of that name, as click runs it."""
    check_memory_limit()
    if name not in LEARNING:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads that only wait for work cost 0.1 s of a processor
        os.environ.setdefault("_RJEM_MALLOC_CONF", "thp:always")  # polars' memory in large pages: 0.05 s a million rows
    module = import_module(f"crowdlogic.cli.{name}")
    gc.freeze()  # what is loaded stays, so Python need not look through it for cycles when it ends: 0.06 s
    gc.enable()
    group = getattr(module, "app", None)
    if group is None:
        group = typer.Typer(add_completion=False, rich_markup_mode=None)
        group.command(name)(module.command)
    command = typer.main.get_command(group)
    command.name = name
    return keep_plain_values(name_values(command))


app = typer.Typer(
    name="crowdlogic",
    cls=LazyGroup,
    help="Noisy crowd labels, and the rules you know, made into clean labels and a verdict on every annotator.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(False, "--version", callback=_show_version, is_eager=True, help="Print the version."),  # noqa: ARG001
    max_unpacked: str | None = typer.Option(
        None, "--max-unpacked", metavar="SIZE", help="What a packed file may unpack to, such as 8G; else 2 GiB or more."
    ),
) -> None:
    """Noisy crowd labels, and the rules you know, made into clean labels and a verdict on every annotator."""
    if max_unpacked is not None:
        from crowdlogic.data.limits import set_unpacked_limit

        set_unpacked_limit(max_unpacked)


def main() -> None:
    """Run a command. Exit codes: 0 done, 1 a finding, 2 bad input (one line on stderr, nothing written)."""
    try:
        with show_spreadsheet_warnings():
            code = app(None if sys.argv[1:] else ["--help"], prog_name="crowdlogic", standalone_mode=False)
        if code == INTERRUPTED:  # typer turns Ctrl-C into an exit code
            complain("interrupted")
        sys.stdout.flush()  # here, and not when Python ends, where a full disk could not be reported
        sys.exit(code or 0)
    except Interrupted as stop:
        complain(str(stop))
        sys.exit(INTERRUPTED)
    except RuleError as problem:
        point(str(problem))
    except CrowdLogicError as problem:
        complain(str(problem))
    except UsageProblem as problem:
        complain(describe_usage_problem(problem))
    except typer.Exit as done:
        sys.exit(done.exit_code)
    except (typer.Abort, KeyboardInterrupt):
        complain("interrupted")
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        discard_output(sys.stdout)
        sys.exit(0)
    except (OSError, MemoryError) as problem:
        complain(_describe_failure(problem))
    _flush_or_give_up()
    sys.exit(2)


def _describe_failure(problem: OSError | MemoryError) -> str:
    if isinstance(problem, MemoryError):
        return "there is not enough memory for this. Free some, or give a smaller file."
    if problem.errno == errno.EBADF and problem.filename is None:
        return "standard output is closed, so the result cannot be printed. Redirect it to a file or to /dev/null."
    return f"{problem.filename or 'the output'}: {problem.strerror or problem}. Check the path and the disk."


def _flush_or_give_up() -> None:
    """Write what is left for standard output, which may be a full disk: Python would complain about it at its end."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        discard_output(sys.stdout)
