"""File of benchmark figures, which allows an interrupted benchmark to continue.

Every figure is written as soon as it is measured.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Figures = dict[str, Any]


class FiguresFile:
    """Figures by key in a JSON file."""

    def __init__(self, path: Path, *, fresh: bool = False) -> None:
        self.path = path
        self.figures: dict[str, Figures] = {}
        if path.is_file() and not fresh:
            self.figures = json.loads(path.read_text())

    def get(self, key: str, measure: Callable[[], Figures]) -> Figures:
        """Return the figures of a key from the file; measure and write them if they are missing."""
        if key not in self.figures:
            self.figures[key] = measure()
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_text(json.dumps(self.figures, indent=1, sort_keys=True) + "\n")
            print(f"{key}: {self.figures[key]}", flush=True)
        return self.figures[key]
