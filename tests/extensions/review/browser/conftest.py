"""Browsers, and reviews with hostile texts."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.report.browser.chrome import Chrome, chrome

HOSTILE = (
    "<script>window.pwned=1</script>",
    '</p><img src=x onerror="window.pwned=2">',
    "\u202egnp.exe",
    "javascript:window.pwned=3",
    "{{constructor.constructor('window.pwned=4')()}} ${window.pwned=5}",
    '=HYPERLINK("http://evil.example")',
)


@pytest.fixture(scope="session")
def second(browser: Chrome) -> Iterator[Chrome]:
    """Another reviewer's browser."""
    with chrome() as started:
        yield started


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with labels.csv and items.csv in which every text, name and class is out to run something."""
    folder = tmp_path_factory.mktemp("hostile")
    people, classes = (
        [f"<b onclick=alert(1)>w{n}</b>" for n in range(3)],
        ["<i>yes</i>", '"><script>window.pwned=9</script>'],
    )
    with (folder / "labels.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["item", "annotator", "label"])
        for n, text in enumerate(HOSTILE):
            rows.writerows([f"{n} {text}", who, classes[(n + j * (n % 2)) % 2]] for j, who in enumerate(people))
    with (folder / "items.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["item", "text"])
        rows.writerows([f"{n} {text}", f"{text} and more"] for n, text in enumerate(HOSTILE))
    return folder
