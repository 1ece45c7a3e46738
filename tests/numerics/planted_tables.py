"""A small random table of labels, laid out as the kernels read it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

UNITS, ANNOTATORS, CLASSES = 6, 4, 3


@dataclass(frozen=True)
class LabelTable:
    """Rows sorted by unit; unit 2 has no labels."""

    starts: np.ndarray
    annotator: np.ndarray
    label: np.ndarray
    weight: np.ndarray = field(default_factory=lambda: np.empty(0))
    fixed: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    times: np.ndarray = field(default_factory=lambda: np.empty(0))

    @property
    def columns(self) -> tuple[np.ndarray, ...]:
        return self.starts, self.annotator, self.label, self.weight, self.fixed, self.times

    @property
    def often(self) -> np.ndarray:
        """For how many units each unit stands."""
        return self.times if len(self.times) else np.ones(UNITS)

    def rows(self, i: int) -> list[tuple[int, int, float]]:
        """(annotator, label, weight) of the labels of unit i."""
        here = range(int(self.starts[i]), int(self.starts[i + 1]))
        weight = self.weight if len(self.weight) else np.ones(len(self.label))
        return [(int(self.annotator[row]), int(self.label[row]), float(weight[row])) for row in here]


def random_table(seed: int, *, weighted: bool = False, fixed: bool = False, repeated: bool = False) -> LabelTable:
    rng = np.random.default_rng(seed)
    counts = np.array([3, 2, 0, 4, 1, 3])
    size = int(counts.sum())
    known = np.full(UNITS, -1)
    known[[0, 2]] = [1, 0]
    return LabelTable(
        starts=np.concatenate([[0], np.cumsum(counts)]),
        annotator=rng.integers(ANNOTATORS, size=size),
        label=rng.integers(CLASSES, size=size),
        weight=rng.choice([0.0, 0.5, 2.0], size=size) if weighted else np.empty(0),
        fixed=known if fixed else np.empty(0, dtype=np.int64),
        times=np.array([1.0, 5.0, 2.0, 1.0, 3.0, 7.0]) if repeated else np.empty(0),
    )
