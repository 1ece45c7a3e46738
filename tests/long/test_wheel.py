"""The built wheel alone, in an environment of its own and without extras, runs the demo in another folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]


def test_the_wheel_without_extras_runs_the_demo(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    constraints = ROOT / "requirements" / "constraints.txt"
    subprocess.run([*pip, "wheel", "--no-deps", "--wheel-dir", tmp_path, ROOT], check=True)
    (wheel,) = tmp_path.glob("crowdlogic-*.whl")
    home = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", home], check=True)
    python = home / "bin" / "python"
    subprocess.run([python, *pip[1:], "install", "--constraint", constraints, wheel], check=True)
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(words, cwd=tmp_path, env=clean, capture_output=True, text=True, check=False)

    done = run(home / "bin" / "crowdlogic", "demo", "-o", "shown")
    without = run(python, "-c", "import torch")

    assert done.returncode == 0, done.stderr
    assert without.returncode != 0
    assert (tmp_path / "shown" / "report.html").stat().st_size > 100_000
