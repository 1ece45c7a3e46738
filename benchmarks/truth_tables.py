"""Where benchmark figures are kept between runs, and how they become tables.

Every figure is stored the moment it is known, so a run that was stopped goes on where it was.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

Figures = dict[str, Any]


class Store:
    """Figures by key, in one JSON file."""

    def __init__(self, path: Path, *, fresh: bool = False) -> None:
        self.path = path
        self.figures: dict[str, Figures] = {}
        if path.is_file() and not fresh:
            self.figures = json.loads(path.read_text())

    def get(self, key: str, measure: Callable[[], Figures]) -> Figures:
        """The figures of a key: those stored, or else measured now and stored."""
        if key not in self.figures:
            self.figures[key] = measure()
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_text(json.dumps(self.figures, indent=1, sort_keys=True) + "\n")
            print(f"{key}: {self.figures[key]}", flush=True)
        return self.figures[key]


def markdown(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table in Markdown."""
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join("" if cell is None else str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def put_between(path: Path, marker: str, text: str) -> None:
    """Replace what stands between `<!-- marker -->` and `<!-- end marker -->` in a page."""
    page = path.read_text()
    begin, end = f"<!-- {marker} -->", f"<!-- end {marker} -->"
    before, _, rest = page.partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        raise SystemExit(f"{path} has no place for {marker!r}.")
    path.write_text(f"{before}{begin}\n\n{text}\n\n{end}{after}")
