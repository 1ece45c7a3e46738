from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from crowdlogic.cli.app import main


@dataclass(frozen=True)
class Result:
    """What a command did."""

    code: int
    out: str
    err: str


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Callable[..., Result]:
    """Run the command as a user would, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def command(*words: object) -> Result:
        monkeypatch.setattr(sys, "argv", ["crowdlogic", *map(str, words)])
        with pytest.raises(SystemExit) as stopped:
            main()
        out, err = capfd.readouterr()
        return Result(int(stopped.value.code or 0), out, err)

    return command
