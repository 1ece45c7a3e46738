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


def copy_without(names: list[str], copy: Path) -> None:
    """Copy the source tree and its tests without some extensions and their tests."""
    for folder in ("src", "tests"):
        shutil.copytree(ROOT / folder, copy / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name in names:
        shutil.rmtree(copy / "src/crowdlogic/extensions" / name)
        shutil.rmtree(copy / "tests/extensions" / name)
    for file in ("pyproject.toml", "ARCHITECTURE.md", "README.md", "docs", "benchmarks"):
        (copy / file).symlink_to(ROOT / file)


@pytest.fixture(scope="module", params=EXTENSIONS)
def without(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """An extension and a copy of the source tree without it."""
    name, copy = request.param, tmp_path_factory.mktemp(f"without_{request.param}")
    copy_without([name], copy)
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


WHOLE = (
    "extensions",
    "long",
    "tools",
    "benchmarks",
    "docs",
    "fuzz",
    "test_extending_guide.py",
    "test_house.py",
    "test_packaging.py",
    "test_promises.py",
    "test_readme.py",
    "test_without_extensions.py",
)
"""Tests of an extension, of the documents, or of the repository as a whole."""


@pytest.mark.long
def test_the_whole_core_passes_without_any_extension(tmp_path: Path) -> None:
    copy_without(EXTENSIONS, tmp_path)
    inside = sorted(path for path in (tmp_path / "tests").iterdir() if path.name not in WHOLE)
    words = [f"tests/{path.name}" for path in inside if path.is_dir() or path.name.startswith("test_")]

    done = run(tmp_path, "-m", "pytest", "-n", "2", "-p", "no:cacheprovider", "-m", "not heavy and not long", *words)

    assert done.returncode == 0, done.stdout[-6000:]
