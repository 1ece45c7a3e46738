"""`crowdlogic review`, up to the moment that it serves; tests/web has the rest."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from crowdlogic.errors import MissingExtraError
from crowdlogic.extensions.review import command as review


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "crowdlogic", "review", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120, check=False)


def test_bad_input_is_one_line_and_leaves_no_folder(tmp_path: Path) -> None:
    for arguments, said in {
        ("nothing.csv",): "nothing.csv",
        ("nothing.csv", "--host", "0.0.0.0"): "--host 0.0.0.0: others can reach this server.",
        ("nothing.csv", "--password-file", "none"): "none",
        (".",): "contains neither a run nor an estimate",
    }.items():
        found = run(*arguments, cwd=tmp_path)
        assert found.returncode == 2
        assert said in found.stderr
        assert found.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_without_fastapi_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastapi", None)
    for name in [name for name in sys.modules if name.startswith("crowdlogic.extensions.review.")]:
        monkeypatch.delitem(sys.modules, name)

    with pytest.raises(MissingExtraError) as caught:
        review.load_server()

    assert str(caught.value) == (
        "review needs the package fastapi, which is not installed: pip install crowdlogic[web]"
    )


def test_the_command_line_starts_without_fastapi() -> None:
    script = "import sys; from crowdlogic.cli.app import load_command; load_command('review'); sys.exit('fastapi' in sys.modules or 'uvicorn' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", script], timeout=120, check=False).returncode == 0
