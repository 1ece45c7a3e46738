from __future__ import annotations

import os
from pathlib import Path

import pytest

from crowdlogic.errors import RuleError
from crowdlogic.rules.syntax import find_nearby, read_nearby


def test_a_file_beside_or_below_is_found_and_one_outside_is_not(tmp_path: Path) -> None:
    root = tmp_path / "rules"

    assert find_nearby("words.txt", root, root) == root / "words.txt"
    assert find_nearby("../words.txt", root / "sub", root) == root / "words.txt"
    assert find_nearby("../words.txt", root, None) == tmp_path / "words.txt"
    for name in ("../words.txt", "/etc/hostname", "../rules-2/words.txt"):
        with pytest.raises(RuleError, match=r"is outside the folder of the rule file, so it is not read"):
            find_nearby(name, root, root)


@pytest.mark.parametrize("name", ["a\0b", "a" * 5000])
def test_what_cannot_name_a_file_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(RuleError):
        read_nearby(find_nearby(name, tmp_path, tmp_path))


def test_only_a_regular_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"content")
    os.mkfifo(tmp_path / "pipe")

    assert read_nearby(tmp_path / "f") == b"content"
    for name in ("pipe", "none", "."):
        with pytest.raises(RuleError):
            read_nearby(tmp_path / name)
