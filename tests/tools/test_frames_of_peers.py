"""Frames as crowd-kit and cleanlab use them: those packages take them, and we read the same files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from crowdlogic.data.reading import read_labels
from crowdlogic.truth.majority import MajorityVote

pytestmark = pytest.mark.heavy

CROWD_KIT = """
import json
import pandas as pd
from crowdkit.aggregation import MajorityVote
rows = [(f"t{i}", f"w{j}", "cat" if (i + j) % 3 else "dog") for i in range(6) for j in range(3)]
frame = pd.DataFrame(rows, columns=["task", "worker", "label"])
frame.to_csv("crowd.csv", index=False)
print(json.dumps(MajorityVote().fit_predict(frame).to_dict()))
"""
CLEANLAB = """
import json
import numpy as np
import pandas as pd
from cleanlab.multiannotator import get_majority_vote_label
labels = pd.DataFrame({f"annotator_{j}": [float((i * j) % 2) if (i + j) % 4 else np.nan for i in range(8)] for j in range(5)})
labels.to_csv("multiannotator.csv", index=False)
print(json.dumps([int(one) for one in get_majority_vote_label(labels.astype("Int64"))]))
"""


def test_a_frame_of_crowd_kit(tools: Callable[..., str], tmp_path: Path) -> None:
    theirs = json.loads(tools(CROWD_KIT).splitlines()[-1])

    labels = read_labels(tmp_path / "crowd.csv")

    assert dict(zip(labels.items, MajorityVote().infer(labels).answer_names(), strict=True)) == theirs


def test_a_frame_of_cleanlab(tools: Callable[..., str], tmp_path: Path) -> None:
    theirs = json.loads(tools(CLEANLAB).splitlines()[-1])

    labels = read_labels(tmp_path / "multiannotator.csv", wide=True)
    estimate = MajorityVote().infer(labels)

    answers = [int(float(str(name))) for name in estimate.answer_names()]
    tied = (estimate.beliefs.max(axis=1, keepdims=True) == estimate.beliefs).sum(axis=1) > 1
    assert [one for one, tie in zip(answers, tied, strict=True) if not tie] == [
        one for one, tie in zip(theirs, tied, strict=True) if not tie
    ]
