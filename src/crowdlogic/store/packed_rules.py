"""Rules in a run directory: their text in config.json, tables of facts and word lists in folders of their own.

Nothing outside the run is needed, wherever it is moved; and nothing outside it is read, whatever its config.json says.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from crowdlogic.store.damage import InvalidValueError, require, require_entry
from crowdlogic.store.files import get_table, put_bytes, put_table, read_own_bytes
from crowdlogic.store.layout import TABLES, WORDS
from crowdlogic.store.own_files import make_own_folder


@dataclass(frozen=True, kw_only=True, eq=False)
class PackedRules:
    """Rules as plain data.

    Attributes:
        text: The rules as a rule file would hold them; included files are written out.
        source: What to call the text in messages.
        tables: The facts of each table by its predicate's name: a column per place, and `truth` when not always 1.
        table_sources: What to call each table in messages.
        word_lists: The content of each word list, by the name that the text has for it: a file name without a folder.
        functions: The predicates that were registered from Python, and are not packed.
    """

    text: str
    source: str = "the rules"
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    table_sources: Mapping[str, str] = field(default_factory=dict)
    word_lists: Mapping[str, bytes] = field(default_factory=dict)
    functions: tuple[str, ...] = ()


def put_rules(folder: Path, packed: PackedRules) -> tuple[dict[str, Any], dict[str, str]]:
    """Write tables and word lists into a run; what config.json holds of the rules, and the SHA-256 of each file."""
    sums = {}
    for name, frame in packed.tables.items():
        sums[f"{TABLES}/{name}.parquet"] = put_table(make_own_folder(folder, TABLES) / f"{name}.parquet", frame)
    for name, content in packed.word_lists.items():
        sums[f"{WORDS}/{name}"] = put_bytes(make_own_folder(folder, WORDS) / name, content)
    noted = {
        "source": packed.source,
        "text": packed.text,
        "tables": dict(packed.table_sources),
        "functions": list(packed.functions),
    }
    return noted, sums


def get_rules(folder: Path, stored: Any, files: Collection[str]) -> PackedRules:
    """What `put_rules` wrote.

    Args:
        folder: The run.
        stored: What config.json holds of the rules.
        files: The files of the run, by their names in it; nothing else is read.
    """
    sources = require_entry(stored, "tables", Mapping, where="rules")
    functions = require_entry(stored, "functions", list, where="rules")
    for name, source in sources.items():
        if not (name.isidentifier() and name.isascii()):
            raise InvalidValueError(f"{name!r} cannot name a table")
        require(source, str, f"rules: {name}")
        if f"{TABLES}/{name}.parquet" not in files:
            raise InvalidValueError(f"no {TABLES}/{name}.parquet")
    return PackedRules(
        text=require_entry(stored, "text", str, where="rules"),
        source=require_entry(stored, "source", str, where="rules"),
        tables={name: get_table(folder / TABLES / f"{name}.parquet") for name in sources},
        table_sources=dict(sources),
        word_lists={
            file.removeprefix(f"{WORDS}/"): read_own_bytes(folder / file)
            for file in sorted(files)
            if file.startswith(f"{WORDS}/")
        },
        functions=tuple(require(name, str, "rules: functions") for name in functions),
    )
