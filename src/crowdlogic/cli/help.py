"""Help texts for people: what an option takes is named in words, and a slip of the pen gets a suggestion."""

from __future__ import annotations

from enum import Enum
from typing import Any

from crowdlogic.errors import did_you_mean

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
"""What an option takes, by its name, where its declaration does not say."""

BY_TYPE = {"int": "N", "integer": "N", "float": "X"}
"""What it takes, by the name of its type, which goes before its own name; else TEXT."""


def name_values(command: Any) -> Any:
    """The command with a readable name for the value of every option, in those of its commands, too."""
    for parameter in getattr(command, "params", ()):
        kind = value_type(parameter)
        if parameter.param_type_name == "option" and parameter.metavar is None and kind is not None:
            parameter.metavar = BY_TYPE.get(kind) or METAVARS.get(parameter.name, "TEXT")
    for one in getattr(command, "commands", {}).values():
        name_values(one)
    return command


def value_type(parameter: Any) -> str | None:
    """The name of the type of an option's value; None for a flag, and for a choice, which shows what there is."""
    described = getattr(parameter, "type_descriptor", None)  # typer's own options; click's have a type
    kind = getattr(parameter, "type", None) if described is None else described.annotation
    is_choice = hasattr(kind, "choices") or (isinstance(kind, type) and issubclass(kind, Enum))
    if getattr(parameter, "is_flag", False) or is_choice:
        return None
    return str(getattr(kind, "__name__", None) or getattr(kind, "name", "")).split(" ")[0].lower()


ELSEWHERE = {("doctor", "--items"): "It looks at one file; ask it of the items, too: crowdlogic doctor ITEMS."}
"""Options of other commands that people try on one, and what to do instead."""


def describe_usage_problem(problem: Any) -> str:
    """A wrong command line in one sentence, with the nearest option and where to look."""
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
