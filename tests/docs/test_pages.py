"""Pages of documentation: links resolve, and tutorials, how-tos and concepts stay short."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
SHORT = sorted(page for group in ("tutorials", "how-to", "concepts") for page in (DOCS / group).rglob("*.md"))
MAX_WORDS, MAX_ROWS = 1500, 15


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_resolve(page: Path) -> None:
    prose = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)

    for link in re.findall(r"\]\(([^)\s]+)\)", prose):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        found = (page.parent / path).resolve() if path else page
        assert found.exists(), link
        assert not anchor or anchor in anchors(found), link


@pytest.mark.parametrize("page", SHORT, ids=name)
def test_pages_for_readers_are_short(page: Path) -> None:
    text = page.read_text(encoding="utf-8")

    assert len(text.split()) <= MAX_WORDS
    assert len(re.findall(r"^\|", text, flags=re.MULTILINE)) <= MAX_ROWS


def test_every_page_for_readers_is_linked_from_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    assert [name(page) for page in SHORT if f"({name(page)})" not in readme] == []
