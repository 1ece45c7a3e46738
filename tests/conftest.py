"""Fixtures that every part of the tests may use."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest
from hypothesis import settings

# Small networks on a busy machine take ten times the processor time when torch's threads wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")

settings.register_profile("patient", deadline=None)  # a busy machine is no failure
settings.load_profile("patient")


def pytest_unconfigure() -> None:
    """Commands freeze what is loaded, for a process of their own; in this one it must be freed before bindings look."""
    gc.unfreeze()


@pytest.fixture
def data_root() -> Path:
    """The folder of the real data sets; a test that needs it is marked `data` and skipped where it is absent."""
    root = os.environ.get("CROWDLOGIC_DATA", "")
    if not root or not Path(root).is_dir():
        pytest.skip("CROWDLOGIC_DATA does not name a folder with the real data sets")
    return Path(root)
