"""Rules that a run carries with it: their text in config.json, tables of facts and word lists in folders of their own.

Nothing outside the run is needed, wherever it is moved; and nothing outside it is read, whatever its config.json says.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crowdlogic.errors import FormatError
from crowdlogic.rules.packing import PackedRules, pack_rules, unpack_rules
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.syntax import RuleSet
from crowdlogic.store.damage import require, require_entry
from crowdlogic.store.files import get_table, put_bytes, put_table
from crowdlogic.store.layout import TABLES, WORDS


def carry_rules(folder: Path, rules: RuleSet, vocabulary: Vocabulary) -> dict[str, Any]:
    """Write what rules need into the run; what config.json says of them."""
    packed = pack_rules(rules, vocabulary)
    for name, frame in packed.tables.items():
        (folder / TABLES).mkdir(exist_ok=True)
        put_table(folder / TABLES / f"{name}.parquet", frame)
    for name, content in packed.word_lists.items():
        (folder / WORDS).mkdir(exist_ok=True)
        put_bytes(folder / WORDS / name, content)
    return {
        "source": packed.source,
        "text": packed.text,
        "tables": dict(packed.table_sources),
        "functions": list(packed.functions),
    }


def carried_rules(
    folder: Path, noted: Mapping[str, Any], vocabulary: Vocabulary | None = None
) -> tuple[RuleSet, Vocabulary]:
    """The rules of a run, and their vocabulary.

    Args:
        folder: The run.
        noted: What config.json says of the rules.
        vocabulary: Predicates to use beside (or instead of) those that the run carries.
    """
    tables, functions, text, source = (
        require_entry(noted, name, kind, where="rules")
        for name, kind in (("tables", Mapping), ("functions", list), ("text", str), ("source", str))
    )
    for name, its_source in tables.items():
        if not (name.isidentifier() and name.isascii()):
            raise FormatError(f"{folder}: the run is damaged ({name!r} cannot name a table). Train it again.")
        require(its_source, str, f"rules: {name}")
    packed = PackedRules(
        text=text,
        source=source,
        tables={
            name: get_table(folder / TABLES / f"{name}.parquet")
            for name in tables
            if vocabulary is None or vocabulary.find(name) is None
        },
        table_sources=dict(tables),
        word_lists=_read_word_lists(folder / WORDS),
        functions=tuple(require(name, str, "rules: functions") for name in functions),
    )
    return unpack_rules(packed, vocabulary, where=str(folder))


def _read_word_lists(folder: Path) -> dict[str, bytes]:
    """The run's own word lists; a link to another file is none of them."""
    files = sorted(folder.iterdir()) if folder.is_dir() and not folder.is_symlink() else []
    return {file.name: file.read_bytes() for file in files if file.is_file() and not file.is_symlink()}
