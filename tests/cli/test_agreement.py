"""`crowdlogic agreement` as a user would call it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.cli.conftest import CSV, Result

Run = Callable[..., Result]


def test_agreement_prints_every_coefficient(run: Run) -> None:
    Path("l.csv").write_text(CSV)

    figures = json.loads(run("agreement", "l.csv", "--json", "--replicates", 50).out)["coefficients"]

    assert set(figures) == {"observed", "alpha", "fleiss", "ac1", "cohen"}
    assert figures["observed"]["value"] == pytest.approx((1 / 3 + 0) / 2)


def test_agreement_that_is_undefined_says_why(run: Run) -> None:
    Path("l.csv").write_text("item,annotator,label\nu,a,x\n")

    done = run("agreement", "l.csv")

    assert done.code == 0
    assert "Krippendorff's alpha is undefined: no item has two labels." in done.err
