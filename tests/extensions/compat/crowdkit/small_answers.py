"""Small frames of answers with known results, and larger ones with a planted truth."""

from __future__ import annotations

import numpy as np
import pandas as pd

YES_NO = pd.DataFrame(
    [
        ("t1", "w1", "no"),
        ("t1", "w2", "yes"),
        ("t1", "w3", "yes"),
        ("t2", "w1", "yes"),
        ("t2", "w2", "yes"),
        ("t2", "w3", "no"),
        ("t3", "w1", "no"),
        ("t3", "w2", "no"),
        ("t3", "w3", "no"),
    ],
    columns=["task", "worker", "label"],
)


def planted_answers(
    seed: int, *, tasks: int = 300, workers: int = 12, labels: int = 3, each: int = 5, liars: int = 0
) -> tuple[pd.DataFrame, pd.Series]:
    """Answers in random order by workers who are right 6 to 9 times in 10 (liars 1 time in 10), and the truth."""
    rng = np.random.default_rng(seed)
    names = np.array(["cat", "dog", "emu", "fox"][:labels])
    truth = rng.integers(labels, size=tasks)
    right = rng.uniform(0.6, 0.9, size=workers)
    right[:liars] = 0.1
    rows = [(i, j) for i in range(tasks) for j in rng.permutation(workers)[:each]]
    task, worker = np.array(rows).T
    given = np.where(
        rng.random(len(task)) < right[worker],
        truth[task],
        (truth[task] + rng.integers(1, labels, size=len(task))) % labels,
    )
    frame = pd.DataFrame({"task": task, "worker": [f"w{j}" for j in worker], "label": names[given]})
    return frame.sample(frac=1, random_state=seed).reset_index(drop=True), pd.Series(names[truth], name="truth")
