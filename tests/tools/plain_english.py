"""Check that phrases which native speakers stumble over do not come back: `python -m tests.tools.plain_english`.

The list is short on purpose. It catches relapses in code, templates and pages.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PLACES = ("src/crowdlogic", "docs", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "ARCHITECTURE.md")
SUFFIXES = {".py", ".pyi", ".md", ".j2", ".html", ".js"}

INSTEAD = {
    r"\bis none of (?:\{|')": "must be one of ...; got ...",
    r"\bforet(?:old|ells?)\b": "predicted",
    r"\banew\b": "again, or a verb with re-",
    r"\b(?:came|comes?) to rest\b": "converged",
    r"\bof one's own\b": "user-defined, own",
    r"\b(?:an|a) own\b": "user-defined",
    r"\bis none that\b": "is not ...",
    r"\bWhat messages call\b": "Name of ... in messages",
    r"\bre-fit(?:s|ted|ting)?\b": "refit",
    r"\bmeanwhile\b": "in the meantime, or leave it out",
    r"\bof other [a-z]+ than\b": "differ from",
    r"\btoday's tagger\b": "the name of the model",
    r"\bby heart\b": "memorised",
    r"\bstumbl(?:e|es|ed)\b": "make mistakes, fail",
    r"\bto the last bit\b": "bitwise equal",
    r"\bput(?:s|ting)? right\b": "correct",
    r"\b(?:is|are) said\b": "is reported, with a notice",
    r"\bsays? nothing of\b": "does not show",
    r"\b(?:the first|at least|after) so many\b": "the number, or name a maximum",
    r"\bin so far\b": "in this respect",
    r"\bown ones\b": "name the things",
    r"\bunless told otherwise\b": "by default",
    r"\bwhat is (?:stated|believed)\b": "the confidence, the beliefs",
}
"""Pattern -> what to write."""


def find_relapses(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield the line, the phrase and the replacement for every phrase on the list."""
    for number, line in enumerate(text.splitlines(), 1):
        for pattern, instead in INSTEAD.items():
            for found in re.finditer(pattern, line):
                yield number, found[0], instead


def main() -> int:
    """Print every relapse; return 1 if there are any."""
    count = 0
    for place in PLACES:
        root = ROOT / place
        for path in sorted(root.rglob("*")) if root.is_dir() else [root]:
            if path.suffix not in SUFFIXES:
                continue
            for number, phrase, instead in find_relapses(path.read_text(encoding="utf-8")):
                print(f"{path.relative_to(ROOT)}:{number}: {phrase!r}: write {instead}")  # noqa: T201
                count += 1
    return int(count > 0)


if __name__ == "__main__":
    sys.exit(main())
