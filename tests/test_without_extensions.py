"""Every extension can be removed by deleting its folder: what is left works, and is listed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from crowdlogic.registry import extensions

ROOT = Path(__file__).parents[1]
EXTENSIONS = [module.__name__.rpartition(".")[2] for module in extensions()]

SLICE = (
    "tests/data/test_labels.py",
    "tests/truth/test_dawid_skene.py",
    "tests/workflows/test_python_aggregate.py",
    "tests/learning/test_imitation.py",
)
"""A quick part of the core's tests that passes through reading, fitting and training."""

LEFT = """
import crowdlogic, sys
from crowdlogic import registry
from crowdlogic.cli.app import main
for kind in (registry.TRUTH_METHODS, registry.FORMATS, registry.PREDICATES, registry.PAGES, registry.SOURCES):
    for name in kind:
        kind.load(name)
crowdlogic.aggregate, crowdlogic.DawidSkene, crowdlogic.LogicLNCL
sys.argv = ["crowdlogic", "--help"]
main()
"""
"""Load what is registered and quickly loaded, and list the commands."""


@pytest.fixture(scope="module", params=EXTENSIONS)
def without(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """An extension and a copy of the source tree without it."""
    name, copy = request.param, tmp_path_factory.mktemp(f"without_{request.param}")
    for folder in ("src", "tests"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.rmtree(copy / "src/crowdlogic/extensions" / name)
    shutil.rmtree(copy / "tests/extensions" / name)
    for file in ("pyproject.toml", "ARCHITECTURE.md", "README.md", "docs", "benchmarks"):
        (copy / file).symlink_to(ROOT / file)
    return name, copy


def run(copy: Path, *words: str) -> subprocess.CompletedProcess[str]:
    changed = {"PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, *words], cwd=copy, env=os.environ | changed, capture_output=True, text=True, check=False
    )


def test_what_is_left_is_listed_and_can_be_loaded(without: tuple[str, Path]) -> None:
    name, copy = without
    removed = getattr(import_module(f"crowdlogic.extensions.{name}"), "COMMANDS", {})

    done = run(copy, "-c", LEFT)

    assert done.returncode == 0, done.stderr
    listed = {line.split()[0] for line in done.stdout.splitlines() if line.startswith("  ") and line.split()}
    assert {"aggregate", "train", "report"} <= listed
    assert not set(removed) & listed


def test_a_slice_of_the_core_passes(without: tuple[str, Path]) -> None:
    _, copy = without

    done = run(copy, "-m", "pytest", "-x", "-n", "0", "-p", "no:cacheprovider", *SLICE)

    assert done.returncode == 0, done.stdout[-4000:]


@pytest.mark.long
def test_the_whole_core_passes(without: tuple[str, Path]) -> None:
    _, copy = without
    skipped = ("extensions", "long", "tools", "benchmarks", "docs", "fuzz", "test_without_extensions.py")

    chosen = sorted(str(path.relative_to(copy)) for path in (copy / "tests").iterdir() if path.name not in skipped)
    words = [one for one in chosen if "/." not in one and (one.endswith(".py") or "." not in one)]
    done = run(copy, "-m", "pytest", "-n", "2", "-p", "no:cacheprovider", "-m", "not heavy and not long", *words)

    assert done.returncode == 0, done.stdout[-6000:]
