"""What pyproject.toml declares: lower bounds that admit the pinned versions, and extras that something imports."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from crowdlogic.extensions.networks.transformer import ENCODERS

ROOT = Path(__file__).parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
SOURCES = "\n".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
IMPORTED_AS = {"scikit-learn": "sklearn"}
PACKAGES_OF_DATA = {encoder.package for encoder in ENCODERS.values()}
"""Packages of which files are read, and nothing is imported."""
WEIGHTS = (ROOT / "requirements" / "encoder.txt").read_text()


@pytest.mark.parametrize("extra", sorted(set(PROJECT["optional-dependencies"]) - {"dev"}))
def test_an_extra_brings_what_something_imports(extra: str) -> None:
    for text in PROJECT["optional-dependencies"][extra]:
        name = Requirement(text).name
        module = IMPORTED_AS.get(name, name)
        found = re.search(rf"\b(?:import|from) {module}\b|load_driver\(\"{module}\"\)", SOURCES)
        assert found or name in PACKAGES_OF_DATA, name


def test_a_package_of_weights_is_pinned_alike_everywhere() -> None:
    for encoder in ENCODERS.values():
        pin = f"{encoder.package}=={encoder.version}"
        assert pin in PROJECT["optional-dependencies"]["encoder"]
        assert re.search(rf"^{pin} --hash=sha256:[0-9a-f]{{64}}$", WEIGHTS, re.MULTILINE)
