"""Held-out labels whose likelihood is planted, epoch by epoch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from crowdlogic.classifiers.protocol import Arrays
from crowdlogic.learning import stopping as held_out
from crowdlogic.learning.stopping import HeldOutLikelihood
from crowdlogic.learning.training import Epoch


def plant_likelihoods(monkeypatch: pytest.MonkeyPatch, curve: Sequence[Any]) -> None:
    """Epoch t of every first pass, resumed or not, finds the log-likelihood by item curve[t - 1] (or all items alike)."""

    class Planted(HeldOutLikelihood):
        done = 0

        def judge(self, epoch: Epoch, scores: Mapping[str, float]) -> tuple[float, bool]:
            found = np.broadcast_to(np.asarray(curve[self.done], dtype=np.float64), len(self.held.items))
            monkeypatch.setattr(held_out, "log_likelihood_by_item", lambda *_: found)
            self.done += 1
            return super().judge(epoch, scores)

        def restore(self, arrays: Arrays, kept: float, done: int) -> None:
            super().restore(arrays, kept, done)
            self.done = done

    monkeypatch.setattr(held_out, "HeldOutLikelihood", Planted)
