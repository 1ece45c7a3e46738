"""Spark gives the answers of a table in memory, whoever dies on the way (in an environment of its own)."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

NEAR = 1e-8


@pytest.mark.heavy
def test_a_fit_over_partitions_is_the_fit_in_memory(run_case: Callable[..., Any]) -> None:
    found = run_case("spark", "agree", "--methods", "dawid-skene")

    assert found["dawid-skene"] < NEAR
    assert "steps transferred" in found["moved"]


@pytest.mark.long
def test_every_method_and_five_shardings_agree(run_case: Callable[..., Any]) -> None:
    found = run_case("spark", "agree", "--methods", "all", "--shardings", "5")

    found.pop("moved")
    assert len(found) >= 10
    assert max(found.values()) < NEAR, found


@pytest.mark.long
def test_sentences_in_five_shardings_agree(run_case: Callable[..., Any]) -> None:
    found = run_case("spark", "sentences", "--shardings", "5")

    assert set(found) == {"hmm-crowd", "bsc-seq"}
    assert max(found.values()) < NEAR, found


@pytest.mark.long
def test_a_fit_goes_on_when_a_worker_is_killed(run_case: Callable[..., Any]) -> None:
    found = run_case("spark", "kill-worker", "--methods", "dawid-skene,glad")

    assert found["killed"] >= 2
    assert max(found["dawid-skene"], found["glad"]) < NEAR


@pytest.mark.long
def test_a_killed_driver_resumes(run_case: Callable[..., Any], tmp_path: Path) -> None:
    assert run_case("spark", "kill-driver", "--folder", str(tmp_path)) == -signal.SIGKILL

    found = run_case("spark", "kill-driver", "--folder", str(tmp_path))

    assert found["first"] == 4
    assert found["apart"] < NEAR
