"""The parts of the demo that are arithmetic."""

from __future__ import annotations

from pathlib import Path

import pytest

from crowdlogic.workflows.demo import WITH_RULE, WITHOUT_RULE, free_folder, gains


def test_gains_are_differences_of_accuracy() -> None:
    rows = [
        {"method": "majority", "accuracy": 0.7, "new": None},
        {"method": "dawid-skene", "accuracy": 0.85, "new": None},
        {"method": WITHOUT_RULE, "accuracy": 0.9, "new": 0.8},
        {"method": WITH_RULE, "accuracy": 0.92, "new": 0.87},
    ]

    expected = {"annotators": 0.15, "classifier": 0.05, "rule": 0.02, "rule_on_new": 0.07}
    assert gains(rows, "dawid-skene") == pytest.approx(expected, abs=1e-12)


def test_a_folder_that_is_taken_gets_a_number(tmp_path: Path) -> None:
    wanted = tmp_path / "demo"

    made = []
    for _ in range(3):
        made.append(free_folder(wanted))
        made[-1].mkdir()

    assert [one.name for one in made] == ["demo", "demo-2", "demo-3"]
