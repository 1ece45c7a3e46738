"""The drop-in beside crowd-kit itself on the same frames.

Needs a Python that has crowd-kit 1.4.2. It is looked for in the variable CROWDLOGIC_PEERS_PYTHON and in .venv-peers.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.compat.crowdkit.small_answers import planted_answers

from crowdlogic.compat import crowdkit

pytestmark = pytest.mark.heavy

ROOT = Path(__file__).parents[3]
FRAMES = {f"labels{labels}-seed{seed}": planted_answers(seed, labels=labels)[0] for labels in (2, 3) for seed in (0, 1)}
# crowd-kit's MACE adds up strategies of sorted workers and labels for parameters in the order of the data, so it is
# compared where both orders are one: sorted frames
FRAMES |= {
    f"sorted-{name}": frame.sort_values(["worker", "label", "task"]).reset_index(drop=True)
    for name, frame in FRAMES.items()
}


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    python = os.environ.get("CROWDLOGIC_PEERS_PYTHON", str(ROOT / ".venv-peers/bin/python"))
    if not Path(python).is_file():
        pytest.skip("there is no Python with crowd-kit: make .venv-peers/.installed")
    folder = tmp_path_factory.mktemp("frames")
    for name, frame in FRAMES.items():
        frame.to_parquet(folder / f"{name}.parquet")
    driver = Path(__file__).with_name("crowdkit_driver.py")
    done = subprocess.run([python, str(driver), str(folder)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


CASES = [
    (name, kind)
    for name in FRAMES
    for kind in (
        "DawidSkene",
        "OneCoinDawidSkene",
        "GLAD",
        "MajorityVote",
        "Wawa",
        "ZeroBasedSkill",
        "KOS",
        "MACE",
    )
    if (kind != "KOS" or "labels2" in name) and (kind != "MACE" or name.startswith("sorted"))
]
ATOL = {"GLAD": 2e-3, "MACE": 1e-6}
"""Where results differ by more than rounding: the search of GLAD's M-step ends where rounding leads it."""


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_results_are_those_of_crowd_kit(theirs: dict[str, Any], name: str, kind: str) -> None:
    expected = theirs[name]["aggregators"][kind]

    made = crowdkit.MACE(n_restarts=1) if kind == "MACE" else getattr(crowdkit, kind)()
    labels = made.fit_predict(FRAMES[name])

    assert {str(task): str(label) for task, label in labels.items()} == expected["labels"]
    if expected["values"] is not None:
        frame = getattr(made, "probas_", getattr(made, "scores_", None)).sort_index().sort_index(axis=1)
        values = [list(column.values()) for column in expected["values"].values()]
        np.testing.assert_allclose(frame.to_numpy().T, values, rtol=0, atol=ATOL.get(kind, 1e-8))


@pytest.mark.parametrize("name", FRAMES)
def test_the_size_of_mmsrs_skills_is_that_of_crowd_kit(theirs: dict[str, Any], name: str) -> None:
    """Signs are found in another way: here every worker is right more often than not, and crowd-kit turns some."""
    expected = theirs[name]["aggregators"]["MMSR"]["skills"]

    skills = crowdkit.MMSR().fit(FRAMES[name]).skills_

    np.testing.assert_allclose(skills, np.abs([expected[worker] for worker in skills.index]), rtol=1e-5)


@pytest.mark.parametrize("name", FRAMES)
def test_metrics_are_those_of_crowd_kit(theirs: dict[str, Any], name: str) -> None:
    for metric, value in theirs[name]["metrics"].items():
        assert getattr(crowdkit, metric)(FRAMES[name]) == pytest.approx(value, rel=1e-5)
