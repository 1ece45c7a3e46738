"""Files that rules name: other rule files, and word lists. They are regular files beside or below the rule file.

A rule file may come from a stranger, and what it reads goes into the run, which people share: so it does not reach
outside of its folder unless its reader is told that it may.
"""

from __future__ import annotations

from pathlib import Path

from crowdlogic.data.files import open_regular
from crowdlogic.errors import DataError, RuleError


def find_nearby(name: str, folder: Path, root: Path | None) -> Path:
    """The path of a file that a rule file names.

    Args:
        name: The file as the rule file names it.
        folder: The folder of the rule file.
        root: What the file must lie in, links followed; None for anywhere.
    """
    try:
        path = (folder / name).resolve()
    except (OSError, ValueError, RuntimeError) as problem:  # a zero byte in it, too long, or links in a circle
        raise RuleError(f"{name!r:.80} cannot name a file ({problem}).") from None
    if root is not None and not path.is_relative_to(root.resolve()):
        raise RuleError(
            f"{name!r:.80} lies outside of the rule file's folder, and is not read. Copy it there, or allow it with "
            f"--allow-outside (allow_outside=True)."
        )
    return path


def read_nearby(path: Path) -> bytes:
    """The content of a file that a rule file names; a RuleError that tells nothing of the content if it cannot be."""
    try:
        with open_regular(path) as file:
            return file.read()
    except DataError as problem:
        raise RuleError(str(problem)) from None
    except OSError as problem:
        raise RuleError(f"{path.name}: cannot be read ({problem.strerror}).") from None
