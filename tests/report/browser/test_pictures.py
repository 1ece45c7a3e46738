"""The picture of the README can be taken again, and has the pages that a report of today has."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from tests.report.browser.chrome import Chrome
from tests.report.browser.pictures import HEIGHT, WIDTH, picture_report

IMAGE = Path(__file__).parents[3] / "docs" / "images" / "report.png"

pytestmark = pytest.mark.heavy


def size_of(picture: Path) -> tuple[int, int]:
    width, height = struct.unpack(">II", picture.read_bytes()[16:24])
    return width, height


def test_the_picture_is_as_large_as_the_one_in_the_readme(
    browser: Chrome, pages: dict[str, Path], tmp_path: Path
) -> None:
    picture_report(browser, pages["documents"], tmp_path / "report.png")

    assert size_of(tmp_path / "report.png") == size_of(IMAGE) == (WIDTH, HEIGHT)
