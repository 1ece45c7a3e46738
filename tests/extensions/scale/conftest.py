from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]

RunCase = Callable[..., Any]


@pytest.fixture
def run_case(tmp_path: Path) -> RunCase:
    """Run a case of `remote_cases` in the environment with Ray and Spark; its figures, or its exit code if it died."""
    python = os.environ.get("CROWDLOGIC_ENGINES_PYTHON")
    if not python or not Path(python).exists():
        pytest.skip("CROWDLOGIC_ENGINES_PYTHON names no environment with Ray and Spark (make test-all)")

    def run(*words: str) -> Any:
        if words[0] == "spark" and shutil.which("java") is None and "JAVA_HOME" not in os.environ:
            pytest.skip("Spark needs Java, and there is none")
        paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
        done = subprocess.run(
            [python, "-m", "tests.extensions.scale.remote_cases", *words],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": paths},
            capture_output=True,
            text=True,
            check=False,
            timeout=1500,
        )
        if done.returncode < 0:
            return done.returncode
        assert done.returncode == 0, done.stderr[-3000:]
        return json.loads(done.stdout.splitlines()[-1])

    return run
