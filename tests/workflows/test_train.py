"""A training, called from Python."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from sklearn.metrics import f1_score
from tests.workflows.conftest import Trained

from crowdlogic.errors import DataError, Interrupted, OptionError
from crowdlogic.learning.saved_run import load_run
from crowdlogic.learning.training import HistoryRow
from crowdlogic.workflows.train import HELD_OUT, TrainOptions, prepare_training, resolve_options


def test_an_outcome_says_what_the_run_holds(trained: Trained) -> None:
    outcome = trained.outcome
    figures, scores = outcome.figures(), outcome.run.final.scores

    assert outcome.has_scores
    assert figures["scores"] == dict(scores)
    assert figures["epochs"] == 3
    assert [row[0] for row in outcome.table().rows] == list(scores)
    test = outcome.run.task.watched["test"]
    answer = outcome.run.predict(test, student=True, calibrated=False).argmax(axis=1)
    assert figures["macro_f1"]["test student"] == pytest.approx(f1_score(test.gold, answer, average="macro"))
    assert list(figures["macro_f1"]) == list(scores)
    assert outcome.message.startswith("logic-lncl: 120 items, 10 annotators, epoch ")
    home = trained.folder / "run"
    assert outcome.message.endswith(f" -> {home} (clean labels: {home / 'truth.csv'})")
    assert pl.read_csv(home / "truth.csv")["label"].to_list() == outcome.run.estimate.answer_names()


def test_an_outcome_says_what_its_confidence_rests_on(trained: Trained, tmp_path: Path) -> None:
    options = replace(trained.options, dev=trained.file("test.csv"))
    outcome = prepare_training(options, tmp_path / "run").train()
    scales = outcome.run.scales

    student, teacher = (
        f"{100 * scale.error_before:.2f} % before and {100 * scale.error_after:.2f} % after"
        for scale in (scales.student, scales.teacher)
    )
    assert outcome.confidence_message.endswith(
        f" On new items it is calibrated by dev gold (40); calibration error: student {student}, teacher {teacher}."
    )
    assert " if annotators err independently, " in outcome.confidence_message
    assert outcome.figures()["confidence"]["teacher"]["error_after"] == scales.teacher.error_after


def test_the_stopping_score_is_that_of_dev_or_of_held_out_labels(trained: Trained, tmp_path: Path) -> None:
    held_out = prepare_training(trained.options, tmp_path / "a")
    dev = prepare_training(replace(trained.options, dev=trained.file("test.csv")), tmp_path / "b")
    neither = prepare_training(replace(trained.options, set={"limits": {"held_out": "none"}}), tmp_path / "c")

    assert [one.stopping_score for one in (held_out, dev, neither)] == [HELD_OUT, "dev accuracy", ""]
    assert not list(tmp_path.iterdir())  # preparing writes nothing


def test_an_interrupt_is_an_error_that_says_how_to_go_on(trained: Trained, tmp_path: Path) -> None:
    seen = []

    def interrupt(row: HistoryRow, most: int) -> None:
        seen.append((row.epoch, most))
        raise KeyboardInterrupt

    with pytest.raises(Interrupted) as caught:
        prepare_training(trained.options, tmp_path / "run").train(callback=interrupt)

    assert seen == [(1, 3)]
    assert str(caught.value) == (
        f"interrupted after epoch 1. Resume it with crowdlogic train --resume -o {tmp_path / 'run'}"
    )
    resumed = prepare_training(TrainOptions(), tmp_path / "run", resume=True).train()
    assert resumed.figures()["scores"] == trained.outcome.figures()["scores"]


def test_options_win_over_a_file_and_both_over_the_run(trained: Trained, tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text('labels = "file.csv"\nepochs = 7\nseed = 5\n')
    run = trained.folder / "run"

    known = resolve_options(TrainOptions(seed=9), run, config=str(tmp_path / "c.toml"), resume=True)

    assert (known.seed, known.epochs, known.labels) == (9, 7, "file.csv")
    assert known.rules == trained.file("but.rules")
    with pytest.raises(OptionError, match=r"there is no run to resume\. Name the folder of an interrupted run"):
        resolve_options(TrainOptions(), tmp_path / "none", config=None, resume=True)


def flip(content: bytes) -> bytes:
    return content[:20] + bytes([content[20] ^ 1]) + content[21:]


@pytest.mark.parametrize("change", [flip, lambda content: content[:-40], None])
def test_clean_labels_that_were_changed_or_deleted_are_noticed(trained: Trained, tmp_path: Path, change: Any) -> None:
    home = Path(shutil.copytree(trained.folder / "run", tmp_path / "run"))
    clean = home / "truth.csv"
    assert f"  {clean.name}\n" in (home / "SHA256SUMS").read_text()
    if change is None:
        clean.unlink()
    else:
        clean.write_bytes(change(clean.read_bytes()))

    with pytest.raises(DataError, match=r"truth\.csv"):
        load_run(home)
