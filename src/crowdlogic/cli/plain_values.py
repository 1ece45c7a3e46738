"""Values of options that need no conversion: defaults, and text for an option that takes text.

typer converts the value of every option with an adapter of pydantic. Loading pydantic and building some thirty
adapters takes a tenth of a second, which is more than most of our commands do on a small file.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import partial
from typing import Any

from crowdlogic.cli.help import value_type

PLAIN = (str, int, float)
TEXT = ("str", "text")
"""What typer and click call the type of a text."""


def keep_plain_values(command: Any) -> Any:
    """The command (or group of commands), whose values are only converted where there is something to convert."""
    find_help_option = command.get_help_option
    command.get_help_option = lambda context: _keep_plain(find_help_option(context))
    for parameter in command.params:
        _keep_plain(parameter)
    for one in getattr(command, "commands", {}).values():
        keep_plain_values(one)
    return command


def _keep_plain(parameter: Any) -> Any:
    """The parameter, whose value is only converted where there is something to convert."""
    if parameter is not None and "process_value" not in vars(parameter):
        parameter.process_value = partial(_process, parameter, parameter.process_value)
    return parameter


def _process(parameter: Any, convert: Callable[[Any, Any], Any], context: Any, value: Any) -> Any:
    """The value as it is, where it is of the right type already, else converted by typer."""
    is_default = getattr(context.get_parameter_source(parameter.name), "name", "") == "DEFAULT"
    if not (is_default and _is_plain_default(parameter, value)) and not _is_plain_text(parameter, value):
        return convert(context, value)
    plain = () if value is None and _takes_several(parameter) else value
    return plain if parameter.callback is None else parameter.callback(context, parameter, plain)


def _is_plain_default(parameter: Any, value: Any) -> bool:
    """Whether a default is what the command takes; that of a choice may be the name of one."""
    if value is None:
        return not parameter.required
    return isinstance(value, Enum | bool) or (value_type(parameter) is not None and type(value) in PLAIN)


def _is_plain_text(parameter: Any, value: Any) -> bool:
    return type(value) is str and value_type(parameter) in TEXT and not _takes_several(parameter)


def _takes_several(parameter: Any) -> bool:
    return parameter.nargs != 1 or bool(getattr(parameter, "multiple", False))
