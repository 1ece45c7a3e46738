"""Scripts run in the environment with other tools' packages (requirements/tools.txt)."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"


@pytest.fixture
def tools(tmp_path: Path) -> Callable[..., str]:
    """Run a script with the tools' packages, in tmp_path; what it printed."""
    python = os.environ.get("CROWDLOGIC_TOOLS_PYTHON")
    if not python:
        pytest.skip("CROWDLOGIC_TOOLS_PYTHON names no environment with the tools' packages (make test-all)")

    def run(script: str, *arguments: object) -> str:
        environment = os.environ | {"PYTHONPATH": str(SOURCE), "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
        words = [python, "-c", script, *map(str, arguments)]
        done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-2000:]
        return done.stdout

    return run
