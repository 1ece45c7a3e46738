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
from tests.extensions.compat.crowdkit.small_answers import planted_answers

from crowdlogic.extensions.compat import crowdkit

pytestmark = pytest.mark.heavy

ROOT = Path(__file__).parents[4]
FRAMES = {f"{labels}-labels": planted_answers(labels, tasks=60, workers=8, labels=labels)[0] for labels in (2, 3)}
# crowd-kit's MACE adds up strategies of sorted workers and labels for parameters in the order of the data, so it is
# compared where both orders are one: sorted frames
FRAMES |= {
    f"sorted-{name}": frame.sort_values(["worker", "label", "task"]).reset_index(drop=True)
    for name, frame in FRAMES.items()
}


def run_crowdkit(folder: Path) -> dict[str, Any]:
    """What crowd-kit makes of the frames."""
    python = os.environ.get("CROWDLOGIC_PEERS_PYTHON", str(ROOT / ".venv-peers/bin/python"))
    if not Path(python).is_file():
        pytest.skip("there is no Python with crowd-kit: make .venv-peers/.installed")
    for name, frame in FRAMES.items():
        frame.to_parquet(folder / f"{name}.parquet")
    driver = Path(__file__).with_name("crowdkit_driver.py")
    done = subprocess.run([python, str(driver), str(folder)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


ATOL = {"GLAD": 2e-3, "MACE": 1e-6}
"""Where results differ by more than rounding: the search of GLAD's M-step ends where rounding leads it."""


def check_aggregator(frame: Any, kind: str, expected: dict[str, Any]) -> None:
    made = crowdkit.MACE(n_restarts=1) if kind == "MACE" else getattr(crowdkit, kind)()
    labels = made.fit_predict(frame)

    assert {str(task): str(label) for task, label in labels.items()} == expected["labels"], kind
    if expected["values"] is not None:
        ours = made.probas_.sort_index().sort_index(axis=1)
        values = [list(column.values()) for column in expected["values"].values()]
        np.testing.assert_allclose(ours.to_numpy().T, values, rtol=0, atol=ATOL.get(kind, 1e-8), err_msg=kind)


def check_mmsr(frame: Any, expected: dict[str, Any]) -> None:
    """The sizes of the skills. Signs are found in another way: here everybody is right more often than not."""
    skills = crowdkit.MMSR().fit(frame).skills_

    np.testing.assert_allclose(
        np.abs(skills), np.abs([expected["skills"][worker] for worker in skills.index]), rtol=1e-5
    )


def test_results_are_those_of_crowd_kit(tmp_path: Path) -> None:
    """One test, since crowd-kit takes its time and should do so once."""
    theirs = run_crowdkit(tmp_path)

    for name, frame in FRAMES.items():
        for kind, expected in theirs[name]["aggregators"].items():
            if kind == "MMSR":
                check_mmsr(frame, expected)
            elif kind != "MACE" or name.startswith("sorted"):
                check_aggregator(frame, kind, expected)
        for metric, value in theirs[name]["metrics"].items():
            assert getattr(crowdkit, metric)(frame) == pytest.approx(value, rel=1e-5), metric
