"""A small training, once for all tests of workflows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

from crowdlogic.data.simulate import simulate_sentiment
from crowdlogic.workflows.simulate import write_simulation
from crowdlogic.workflows.train import TrainingOutcome, TrainOptions, prepare_training

BUT = "1.0: Label(S, C) & After(S, 'but', B) -> Predicted(B, C)\n"


@dataclass(frozen=True)
class Trained:
    """A training, and the files that it was made from: labels, items, gold, test, but.rules."""

    folder: Path
    options: TrainOptions
    outcome: TrainingOutcome

    def file(self, name: str) -> str:
        """The path of one of its files."""
        return str(self.folder / name)


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """A run on simulated reviews in the folder run. Tests must not change it."""
    folder = tmp_path_factory.mktemp("trained")
    write_simulation(simulate_sentiment(2, items=120, test_items=40, annotators=10, labels_per_item=3), folder)
    pl.read_csv(folder / "gold.csv").drop("label").write_csv(folder / "items.csv")
    (folder / "but.rules").write_text(BUT)
    names = {"labels": "labels.csv", "items": "items.csv", "rules": "but.rules", "test": "test.csv"}
    options = TrainOptions(**{option: str(folder / name) for option, name in names.items()}, epochs=3)
    return Trained(folder, options, prepare_training(options, folder / "run").train())
