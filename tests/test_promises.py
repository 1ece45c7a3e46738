"""The page of promises is true: the tests that it names are there, and its numbers are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.fuzz import fuzzer

from crowdlogic.cli.app import LEAST
from crowdlogic.data.folders import UNPACKED_LIMIT, UNPACKED_RATIO
from crowdlogic.errors import LONGEST_LINE
from crowdlogic.rules.parser import MAX_FILES, MAX_INCLUDE_DEPTH
from crowdlogic.rules.predicates.patterns import MAX_SECONDS, MAX_SIZE

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "reference" / "promises.md").read_text()


def test_every_row_names_tests_that_are_there() -> None:
    rows = [
        line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith(("| promise", "| command"))
    ]
    for row in rows:
        named = re.findall(r"`((?:tests/)?[\w/]*test_\w+\.py|tests/[\w/]+)`", row.rsplit("|", 2)[1])
        folder = ROOT / "tests"
        assert named, row
        for name in named:
            path = ROOT / name if name.startswith("tests/") else folder / name
            folder = path.parent if name.startswith("tests/") else folder
            assert path.exists(), (row, name)


@pytest.mark.parametrize(
    "said",
    [
        f"{UNPACKED_LIMIT >> 20} MiB, or {UNPACKED_RATIO} times the size of the file",
        f"{LONGEST_LINE:,} characters a line",
        f"{MAX_FILES} files, {MAX_INCLUDE_DEPTH} deep",
        f"{MAX_SIZE:,} parts with repetitions written out, {MAX_SECONDS:g} s",
        f"(`ulimit -v`) below {LEAST / 2**30:g} GiB",
        f"{fuzzer.MEMORY >> 30} GiB of address space",
        f"an unpacking limit of {fuzzer.UNPACKED.removesuffix('M')} MiB",
        f"more than {fuzzer.SECONDS:g} seconds",
    ],
)
def test_the_numbers_of_the_page_are_those_of_the_code(said: str) -> None:
    assert said in " ".join(PAGE.split())
