"""Tables in Markdown, and pages with sections that are written by programs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from crowdlogic.data.files import write_bytes
from crowdlogic.errors import FormatError


def format_table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table in Markdown; None is an empty cell."""
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join("" if cell is None else str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def fill_section(page: str, marker: str, text: str) -> str:
    """A page with `text` between `<!-- marker -->` and `<!-- end marker -->`."""
    begin, end = f"<!-- {marker} -->", f"<!-- end {marker} -->"
    before, found, rest = page.partition(begin)
    _, ended, after = rest.partition(end)
    if not found or not ended:
        raise FormatError(f"The page has no section {marker!r}. Put {begin} and {end} where it belongs.")
    return f"{before}{begin}\n\n{text}\n\n{end}{after}"


def write_section(path: Path, marker: str, text: str) -> None:
    """Replace a section of the page at `path`."""
    write_bytes(path, fill_section(path.read_text(encoding="utf-8"), marker, text).encode())
