"""A file of benchmark figures that survives interruptions.

Every figure is written as soon as it is measured, so an interrupted benchmark continues where it stopped.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Figures = dict[str, Any]


class FiguresFile:
    """Figures by key, in one JSON file."""

    def __init__(self, path: Path, *, fresh: bool = False) -> None:
        self.path = path
        self.figures: dict[str, Figures] = {}
        if path.is_file() and not fresh:
            self.figures = json.loads(path.read_text())

    def get(self, key: str, measure: Callable[[], Figures]) -> Figures:
        """The figures of a key: from the file, or else measured now and written."""
        if key not in self.figures:
            self.figures[key] = measure()
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_text(json.dumps(self.figures, indent=1, sort_keys=True) + "\n")
            print(f"{key}: {self.figures[key]}", flush=True)
        return self.figures[key]
