"""Made-up reports as files for the tests in a browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.report.example_reports import documents, tagged

from crowdlogic.reporting.html import to_html


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The made-up reports as files: every page there is, with hostile text, and a large one."""
    home = tmp_path_factory.mktemp("pages")
    made = {
        "documents": documents(),
        "tagged": tagged(),
        "large": documents(items=100_000, shown=5000, people=3000, texts=("word " * 180,)),
    }
    for name, report in made.items():
        (home / f"{name}.html").write_text(to_html(report), encoding="utf-8")
    return {name: home / f"{name}.html" for name in made}
