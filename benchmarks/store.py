"""Where benchmark figures are kept between runs.

Every figure is stored the moment it is known, so a run that was stopped goes on where it was.
"""

from __future__ import annotations

import json
from collections.abc import Callable
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
