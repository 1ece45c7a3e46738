"""What pyproject.toml declares: lower bounds that admit the pinned versions, and extras that something imports."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PINNED = dict(
    re.fullmatch(r"([\w.-]+)==(\S+)", line).groups()  # type: ignore[union-attr]
    for line in (ROOT / "requirements" / "constraints.txt").read_text().splitlines()
    if re.fullmatch(r"([\w.-]+)==(\S+)", line)
)
TESTED = {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in PINNED.items()}
"""Packages of which files are read, and nothing is imported."""


@pytest.mark.parametrize("text", PROJECT["dependencies"])
def test_a_dependency_has_a_lower_bound_only_and_admits_the_pinned_version(text: str) -> None:
    needed = Requirement(text)

    assert {one.operator for one in needed.specifier} == {">="}
    assert needed.specifier.contains(TESTED[needed.name])


def test_the_lowest_versions_that_are_tested_are_the_lower_bounds() -> None:
    lines = (ROOT / "requirements" / "lowest.txt").read_text().splitlines()
    lowest = dict(line.removesuffix(".*").split("==") for line in lines if "==" in line)

    for text in [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["compat"]]:
        needed = Requirement(text)
        assert str(needed.specifier) == f">={lowest[needed.name]}"


def test_python_has_a_lower_bound_only() -> None:
    claimed = [line.rsplit(" ", 1)[1] for line in PROJECT["classifiers"] if "Python :: 3." in line]

    assert claimed == ["3.11", "3.12", "3.13", "3.14"]
    assert PROJECT["requires-python"] == ">=3.11"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built here."""
    folder = tmp_path_factory.mktemp("wheel")
    words = ["wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT)]
    done = subprocess.run([sys.executable, "-m", "pip", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("the wheel cannot be built: pip cannot reach a package index")
    return next(folder.glob("*.whl"))


@pytest.mark.heavy  # minutes with a slow package index
@pytest.mark.parametrize("bounds", [["polars<2", "pandas<3", "scikit-learn<1.7"], ["numpy<2.1"]])
def test_pip_resolves_the_wheel_together_with_older_releases(bounds: list[str], wheel: Path) -> None:
    pip = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet", "--only-binary=:all:"]

    done = subprocess.run([*pip, f"{wheel}[compat]", *bounds], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
