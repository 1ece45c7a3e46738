"""Truth methods over engines: every sharding, and units that stand for several, give the answers of the whole table."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from crowdlogic.errors import ConvergenceWarning
from crowdlogic.registry import TRUTH_METHODS
from crowdlogic.truth.fitting import fits_over_engines

METHODS = [name for name in TRUTH_METHODS if fits_over_engines(name)]


@pytest.fixture(autouse=True)
def _no_convergence_warnings() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def test_these_methods_are_fitted_over_engines() -> None:
    assert set(METHODS) >= {
        "majority",
        "wawa",
        "dawid-skene",
        "one-coin",
        "ibcc",
        "ebcc",
        "glad",
        "mace",
        "pm",
        "catd",
    }
