"""The `crowdlogic` command: a list of lazily imported commands, and the display of errors."""

from __future__ import annotations

import errno
import os
import sys
from dataclasses import dataclass
from enum import Enum
from functools import cache
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from crowdlogic import __version__
from crowdlogic.cli.console import (
    INTERRUPTED,
    complain,
    discard_output,
    interruption,
    point,
    show_spreadsheet_warnings,
    was_terminated,
)
from crowdlogic.errors import CrowdLogicError, Interrupted, OptionError, ResourceError, RuleError, did_you_mean
from crowdlogic.registry import extensions

# Help texts: readable names for option values, and suggestions for misspelt options.

METAVARS = {
    "labels": "FILE",
    "items": "FILE",
    "dev": "FILE",
    "test": "FILE",
    "rules": "FILE",
    "out": "FILE",
    "vectors": "FILE",
    "table": "NAME=FILE",
    "set": "OPTION=VALUE",
    "column": "ROLE=NAME",
    "classes": "A,B,C",
    "order": "A,B,C",
    "method": "METHOD",
    "methods": "METHODS",
    "preset": "PRESET",
    "model": "MODEL",
    "device": "DEVICE",
    "abstain": "VALUE",
}
"""Names of option values, by the name of the option."""

BY_TYPE = {"int": "N", "integer": "N", "float": "X"}
"""Names of option values by type, used for options not named above; otherwise TEXT."""


def name_values(command: Any) -> Any:
    """Return the command with a readable name for the value of every option, including those of subcommands."""
    for parameter in getattr(command, "params", ()):
        kind = value_type(parameter)
        if parameter.param_type_name == "option" and parameter.metavar is None and kind is not None:
            parameter.metavar = BY_TYPE.get(kind) or METAVARS.get(parameter.name, "TEXT")
    for one in getattr(command, "commands", {}).values():
        name_values(one)
    return command


def value_type(parameter: Any) -> str | None:
    """Return the name of the type of an option's value; None for flags and choices."""
    described = getattr(parameter, "type_descriptor", None)  # only typer's own options have this attribute
    kind = getattr(parameter, "type", None) if described is None else described.annotation
    is_choice = hasattr(kind, "choices") or (isinstance(kind, type) and issubclass(kind, Enum))
    if getattr(parameter, "is_flag", False) or is_choice:
        return None
    return str(getattr(kind, "__name__", None) or getattr(kind, "name", "")).split(" ")[0].lower()


OPTION_PANELS = {
    "Reading labels": (
        *("format", "column", "classes", "duplicates", "wide", "abstain", "empty_label"),
        *("question", "tokens", "boundaries", "threshold", "query"),
    ),
    "Method": (
        *("ties", "order", "iterations", "dependence", "seed"),
        *("preset", "time", "vectors", "grammar", "epochs", "patience", "set"),
    ),
    "Output": ("annotators", "min_confidence", "save", "to", "spreadsheet_safe", "figures", "json"),
    "Performance": ("threads", "memory", "engine", "address", "checkpoint", "device", "resume"),
}
"""Panels in the help of a command after the common options, and the options in each."""


class PanelCommand(TyperCommand):
    """Command whose help shows the common options first and the others in panels."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments and options in one section per panel."""
        panel_of = {name: panel for panel, names in OPTION_PANELS.items() for name in names}
        sections: dict[str, list[Any]] = {title: [] for title in ("Arguments", "Options", *OPTION_PANELS)}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            is_argument = parameter.param_type_name == "argument"
            if record is not None:
                sections["Arguments" if is_argument else panel_of.get(parameter.name or "", "Options")].append(record)
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


ELSEWHERE = {("doctor", "--items"): "It inspects one file; for the items, run: crowdlogic doctor ITEMS."}
"""Advice for options that exist on other commands only."""


def describe_usage_problem(problem: Any) -> str:
    """Return a one-sentence description of a wrong command line, with the nearest option and where to look."""
    context = getattr(problem, "ctx", None)
    where = "crowdlogic" if context is None else context.command_path
    wrong = getattr(problem, "option_name", None)
    if wrong is None or context is None:
        said = problem.format_message().replace("Value error, ", "").rstrip(".")
        return f"{said}{'' if said.endswith('?') else '.'} See {where} --help."
    if (context.info_name, wrong) in ELSEWHERE:
        return f"{where} has no option {wrong}. {ELSEWHERE[context.info_name, wrong]}"
    names = [name for one in context.command.params for name in (*one.opts, *one.secondary_opts)]
    known = [name for name in names if name.startswith("-")]
    return f"{where} has no option {wrong}.{did_you_mean(wrong, known)} See {where} --help."


# Memory limit of the process (`ulimit -v`). polars and numpy start threads with their own memory; if too little is
# left, they end the process without a message or hang, so a low limit is an error at the start.

LEAST = 1536 << 20
"""Minimum address space in bytes; a small file is aggregated in 1000 MiB."""


def check_memory_limit() -> None:
    """Raise an error if the memory limit is too low."""
    try:
        import resource
    except ModuleNotFoundError:  # not on Windows
        return
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY and limit < LEAST:
        raise ResourceError(
            f"this process may use {limit >> 20:,} MiB of memory (ulimit -v), but needs {LEAST >> 20:,}. Raise the "
            f"limit: ulimit -v {LEAST >> 10}"
        )


PANELS = {
    "start": "Start",
    "labels": "Labels",
    "learning": "Learning",
    "acting": "Acting on the results",
    "paper": "The paper",
}
"""Panels of `crowdlogic --help`, in order."""

CORE_COMMANDS = {
    "demo": ("start", "Compare majority vote, annotator models, a classifier and a rule on a simulated crowd."),
    "simulate": ("start", "Simulate a crowd with known truth: labels, items, gold and annotators."),
    "doctor": ("start", "Describe a file: what it holds, what is wrong with it, and which command to run first."),
    "aggregate": ("labels", "Estimate the true label of every item."),
    "panel": (
        "labels",
        "Assess a panel of judges: near-copies, the number of votes it is worth, and accuracy on gold.",
    ),
    "agreement": ("labels", "Measure agreement: Krippendorff's alpha, Fleiss' and Cohen's kappa, Gwet's AC1."),
    "evaluate": ("labels", "Score answers against gold: accuracy, F1, log loss, calibration; spans for sequences."),
    "convert": ("labels", "Convert labels or items between formats, or export the clean labels of a run."),
    "train": ("learning", "Train a classifier on crowd labels and rules, and assess every annotator and rule."),
    "predict": ("learning", "Predict new items with a trained classifier and its rules."),
    "explain": ("learning", "Show what the classifier, each annotator and each rule contributed to an answer."),
    "rules": ("learning", "Check rules, and measure whether they agree with the labels."),
    "report": ("acting", "Write an HTML report: whom to trust, which labels to check, which rules to keep."),
}
"""Panel and one-line help by command. Command `x` is `command` in `crowdlogic.cli.x`, or a group `app` there."""


@dataclass(frozen=True)
class Command:
    """Command of the core or of an extension; its module is imported when the command is called."""

    panel: str
    module: str
    help: str


@cache
def commands() -> dict[str, Command]:
    """Return all commands by name, sorted by panel; those of an extension follow those of the core."""
    found = {name: Command(panel, f"crowdlogic.cli.{name}", text) for name, (panel, text) in CORE_COMMANDS.items()}
    for extension in extensions():
        found |= {name: Command(*entry) for name, entry in getattr(extension, "COMMANDS", {}).items()}
    return dict(sorted(found.items(), key=lambda entry: list(PANELS).index(entry[1].panel)))


UsageProblem: type[Exception] = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
"""Class that typer raises for a wrong command line: click's, possibly from typer's own copy of click."""

LEARNING = {"demo", "train", "predict", "export", "review", "reproduce"}
"""Commands that may multiply large matrices."""


class LazyGroup(TyperGroup):
    """Group of commands that are imported when called and listed without being imported."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 (every context has the same commands)
        """Return the names of all commands in order."""
        return list(commands())

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """Import and return the command, or raise an error that suggests the nearest one."""
        if cmd_name not in commands():
            known = did_you_mean(cmd_name, list(commands()))
            raise OptionError(f"There is no command {cmd_name!r}.{known} See crowdlogic --help.")
        return load_command(cmd_name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """Write the part of --help that lists the commands, one section per panel."""
        for panel, title in PANELS.items():
            rows = [(name, command.help) for name, command in commands().items() if command.panel == panel]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


def load_command(name: str) -> Any:
    """Return the command of that name, as click runs it."""
    check_memory_limit()
    if name not in LEARNING:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # idle threads cost 0.1 s of CPU time
    module = import_module(commands()[name].module)
    group = getattr(module, "app", None)
    if group is None:
        group = typer.Typer(add_completion=False, rich_markup_mode=None)
        group.command(name, cls=PanelCommand)(module.command)
    command = typer.main.get_command(group)
    command.name = name
    return name_values(command)


app = typer.Typer(
    name="crowdlogic",
    cls=LazyGroup,
    help="Infer clean labels from noisy crowd labels and rules, and judge every annotator.",
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
        None,
        "--max-unpacked",
        metavar="SIZE",
        help="Maximum size of an unpacked file, such as 8G. Default: at least 512M, depending on the memory.",
    ),
) -> None:
    """Infer clean labels from noisy crowd labels and rules, and judge every annotator."""
    if max_unpacked is not None:
        from crowdlogic.data.folders import set_unpacked_limit

        set_unpacked_limit(max_unpacked)


def main() -> None:
    """Run a command. Exit codes: 0 done, 1 findings, 2 bad input (one line, nothing written), 130 or 143 stopped."""
    try:
        with show_spreadsheet_warnings():
            code = app(None if sys.argv[1:] else ["--help"], prog_name="crowdlogic", standalone_mode=False)
        if code == INTERRUPTED or was_terminated():  # typer turns Ctrl-C into an exit code; servers stop normally
            word, code = interruption()
            complain(word)
        sys.stdout.flush()  # flush here, because Python could not report a full disk at exit
        sys.exit(code or 0)
    except Interrupted as stop:
        complain(str(stop))
        sys.exit(interruption()[1])
    except RuleError as problem:
        point(str(problem))
    except CrowdLogicError as problem:
        complain(str(problem))
    except UsageProblem as problem:
        complain(describe_usage_problem(problem))
    except typer.Exit as done:
        sys.exit(done.exit_code)
    except (typer.Abort, KeyboardInterrupt):
        word, code = interruption()
        complain(word)
        sys.exit(code)
    except BrokenPipeError:
        discard_output(sys.stdout)
        sys.exit(0)
    except (OSError, MemoryError) as problem:
        complain(_describe_failure(problem))
    _flush_or_give_up()
    sys.exit(2)


def _describe_failure(problem: OSError | MemoryError) -> str:
    if isinstance(problem, MemoryError):
        return "there is not enough memory. Free some, or use a smaller file."
    if problem.errno == errno.EBADF and problem.filename is None:
        return "standard output is closed, so the result cannot be printed. Redirect it to a file or to /dev/null."
    return f"{problem.filename or 'the output'}: {problem.strerror or problem}. Check the path and the disk."


def _flush_or_give_up() -> None:
    """Flush standard output or give up, because Python would print an error at exit if the disk is full."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        discard_output(sys.stdout)
