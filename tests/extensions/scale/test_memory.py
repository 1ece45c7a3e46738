"""How much memory a job may use."""

from __future__ import annotations

from pathlib import Path

import pytest

from crowdlogic.extensions.scale import sources as memory
from crowdlogic.extensions.scale.sources import DEFAULT_FREE_BYTES, USABLE_SHARE, available_memory, may_be_large


def test_the_smaller_of_free_memory_and_the_limit_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    free, limit = tmp_path / "meminfo", tmp_path / "memory.max"
    monkeypatch.setattr(memory, "MEMINFO", free)
    monkeypatch.setattr(memory, "GROUP_LIMIT", limit)

    assert available_memory() == int(USABLE_SHARE * DEFAULT_FREE_BYTES)
    free.write_text("MemTotal: 9000 kB\nMemAvailable:    4000 kB\n")
    assert available_memory() == int(USABLE_SHARE * (4000 << 10))
    limit.write_text("max\n")
    assert available_memory() == int(USABLE_SHARE * (4000 << 10))
    limit.write_text("1048576\n")
    assert available_memory() == int(USABLE_SHARE * (1 << 20))


def test_a_small_file_is_not_looked_at(tmp_path: Path) -> None:
    small = tmp_path / "a.csv"
    small.write_text("item,annotator,label\n")

    assert not may_be_large(str(small), None)
    assert may_be_large(str(small), 1 << 30)
    assert may_be_large(str(tmp_path), None)
