"""kill -9 at random moments loses nothing that was acknowledged."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.extensions.review.killing import check_kills


@pytest.mark.heavy
def test_five_kills_lose_nothing(data: Path, tmp_path: Path) -> None:
    check_kills(data, tmp_path / "review", kills=5)


@pytest.mark.long
def test_fifty_kills_lose_nothing(data: Path, tmp_path: Path) -> None:
    check_kills(data, tmp_path / "review", kills=50, seed=1)
