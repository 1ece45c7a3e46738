"""Output of `--json`: one object per command, declared as a dataclass from which its JSON schema is derived.

A command module lists its dataclasses in `OUTPUTS` (command -> class). docs/reference/json.md is generated from them:
`python -m crowdlogic.cli.json_output > docs/reference/json.md`.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
import types
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin, get_type_hints

from crowdlogic.cli.console import show_json
from crowdlogic.data.files import STANDARD_STREAM
from crowdlogic.errors import OptionError

if TYPE_CHECKING:
    from crowdlogic.confidence.expected_accuracy import ExpectedAccuracy

MERGED: Mapping[str, bool] = {"merged": True}
"""Metadata of a mapping whose entries are merged into the enclosing object."""


@dataclass(frozen=True, kw_only=True)
class Output:
    """Fields that are part of every command's output.

    Attributes:
        command: The command.
        notices: Notices on data that were left out or changed, or that look like mistakes.
        written: Paths of the files and folders that were written.
    """

    command: str
    notices: Sequence[str] = ()
    written: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Interval:
    """Expected accuracy.

    Attributes:
        mean: The expected share.
        low: Lower end of the range; null if it cannot be estimated.
        high: Upper end of the range; null if it cannot be estimated.
        source: Basis of the range: gold, labels, or the reason why there is none.
    """

    mean: float
    low: float
    high: float
    source: str


def make_interval(expected: ExpectedAccuracy | None) -> Interval | None:
    """Return the expected accuracy with its interval; None if the confidence is not calibrated."""
    if expected is None:
        return None
    rests_on = "gold" if expected.calibration.checked else "labels"
    source = rests_on if expected.is_known else expected.calibration.unknown
    return Interval(mean=expected.mean, low=expected.low, high=expected.high, source=source)


def list_written(*paths: str | Path | None) -> tuple[str, ...]:
    """Return the written paths, without None and standard output."""
    return tuple(str(path) for path in paths if path is not None and str(path) != STANDARD_STREAM)


def require_free_output(out: str | None, *, as_json: bool) -> None:
    """Raise an error if --json is combined with writing the result to standard output."""
    if as_json and out == STANDARD_STREAM:
        raise OptionError("--json and -o - both print to standard output. Write the result to a file with -o FILE.")


def show_output(output: Output) -> None:
    """Print the output of a command as one JSON object; NaN and infinities become null."""
    show_json(to_plain(output))


def to_plain(output: Output) -> dict[str, Any]:
    """Return an output as plain data, with merged mappings in the enclosing object."""
    plain: dict[str, Any] = {}
    for one in fields(output):
        value = getattr(output, one.name)
        plain |= value if one.metadata.get("merged") else {one.name: value}
    return {name: _plain(value) for name, value in plain.items()}


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, Mapping):
        return {name: _plain(entry) for name, entry in value.items()}
    return [_plain(entry) for entry in value] if isinstance(value, list | tuple) else value


# JSON schemas are derived from the dataclasses.

BY_TYPE: dict[Any, Any] = {str: "string", bool: "boolean", int: "integer", float: ["number", "null"]}
"""JSON type of a Python type. A float that is NaN or infinite is printed as null."""


def json_schema(kind: type) -> dict[str, Any]:
    """Return the JSON schema of a dataclass; descriptions come from the Attributes section of its docstring."""
    hints = get_type_hints(kind)
    described = describe_fields(kind)
    schema: dict[str, Any] = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    for one in fields(kind):
        if one.metadata.get("merged"):
            schema["additionalProperties"] = _type_schema(get_args(hints[one.name])[1])
            continue
        schema["properties"][one.name] = {**_type_schema(hints[one.name]), "description": described[one.name]}
        schema["required"].append(one.name)  # fields with defaults are always printed
    return schema


def _type_schema(hint: Any) -> dict[str, Any]:
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is Any:
        return {}
    if hint in BY_TYPE:
        return {"type": BY_TYPE[hint]}
    if origin in (Union, types.UnionType):
        options = [_type_schema(one) for one in arguments if one is not type(None)]
        return {"anyOf": [*options, {"type": "null"}]} if type(None) in arguments else {"anyOf": options}
    if isinstance(hint, type) and issubclass(hint, Enum):
        return {"type": "string", "enum": [one.value for one in hint]}
    if is_dataclass(hint) and isinstance(hint, type):
        return json_schema(hint)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _type_schema(arguments[1])}
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return {"type": "array", "items": _type_schema(arguments[0])}
    raise TypeError(f"{hint}: has no JSON schema")


def describe_fields(kind: type) -> dict[str, str]:
    """Return the description of each field, from the docstrings of a dataclass and its base classes."""
    described: dict[str, str] = {}
    for one in reversed(kind.__mro__):
        doc = inspect.getdoc(one) or ""
        entries = re.findall(r"^    (\w+): (.*(?:\n {8}.*)*)", doc.partition("Attributes:\n")[2], flags=re.MULTILINE)
        described |= {name: re.sub(r"\s+", " ", text) for name, text in entries}
    return described


def outputs() -> dict[str, type[Output]]:
    """Return the output class of every command with --json, including commands of extensions."""
    from crowdlogic.cli.app import commands

    found: dict[str, type[Output]] = {}
    for command in commands().values():
        found |= getattr(import_module(command.module), "OUTPUTS", {})
    return found


# docs/reference/json.md

INTRODUCTION = """# What `--json` prints

Every command takes `--json` and then prints one JSON object on standard output, also together with `-o`. Remarks stay
on standard error. Numbers that are undefined are `null`. Exit codes are the same as without `--json`: 0, 1 (a finding),
2 (bad input: one line on standard error, nothing on standard output).

The JSON schemas are those of this version; later versions may add fields. This page is generated by
`python -m crowdlogic.cli.json_output > docs/reference/json.md`. Every object has these fields:

"""


def write_page() -> str:
    """Return docs/reference/json.md."""
    return (
        INTRODUCTION
        + "\n\n".join([_field_table(Output), *(_section(words, kind) for words, kind in outputs().items())])
        + "\n"
    )


def _section(words: str, kind: type[Output]) -> str:
    own = {one.name for one in fields(kind)} - {one.name for one in fields(Output)}
    schema = json.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **json_schema(kind)})
    first = (inspect.getdoc(kind) or "").partition("\n")[0]
    return f"## crowdlogic {words}\n\n{first}\n\n{_field_table(kind, own)}\n\n```json\n{schema}\n```"


def _field_table(kind: type[Output], names: Iterable[str] | None = None) -> str:
    described = describe_fields(kind)
    shown = [one for one in fields(kind) if names is None or one.name in names]
    rows = [f"| {_field_name(one)} | {described[one.name]} |" for one in shown]
    return "\n".join(["| field | meaning |", "|---|---|", *rows])


def _field_name(one: Any) -> str:
    return f"(one per entry of `{one.name}`)" if one.metadata.get("merged") else f"`{one.name}`"


def merged() -> Any:
    """Return the default of a mapping whose entries are merged into the enclosing object."""
    return field(default_factory=dict, metadata=MERGED)


if __name__ == "__main__":
    sys.stdout.write(write_page())
