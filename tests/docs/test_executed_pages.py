"""The examples of these pages run, in their order and in an empty folder, as a reader would run them."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = (
    "reference/from-crowd-kit.md",
    "how-to/from-cleanlab.md",
    "how-to/scikit-learn.md",
    "how-to/production.md",
    "how-to/notebooks.md",
)


def examples(page: str) -> list[str]:
    """The blocks of Python of a page."""
    return re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), flags=re.DOTALL)


@pytest.mark.filterwarnings("ignore::crowdlogic.errors.ConvergenceWarning")
@pytest.mark.parametrize("page", PAGES)
def test_the_examples_of_a_page_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    names: dict[str, object] = {"__name__": "__main__"}

    for number, example in enumerate(examples(page), 1):
        exec(compile(example, f"docs/{page}, example {number}", "exec"), names)  # noqa: S102 (the pages are ours)

    assert len(examples(page)) >= 2


def test_the_grid_search_of_the_page_is_ten_lines_and_finds_parameters() -> None:
    (search,) = [one for one in examples("how-to/scikit-learn.md") if "GridSearchCV(\n" in one]

    assert len(search.strip().splitlines()) <= 11
    assert {"strength", "imitation"} <= set(re.findall(r'"(\w+)":', search))
