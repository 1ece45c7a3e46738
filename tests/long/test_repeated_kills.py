"""A training that is killed again and again, at random moments, ends as if it had never been."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from crowdlogic.data.reading import write_corpus, write_labels
from crowdlogic.data.simulate import simulate_ner, simulate_sentiment

pytestmark = pytest.mark.long

TRAIN = (sys.executable, "-m", "crowdlogic", "train")
SLOW = ("--set", "classifier.steps=150", "--set", "classifier.ridge=1e-9")
MOST_KILLS = 12


def epochs_done(run: Path) -> int:
    """Lines of both histories."""
    files = (run / "history.jsonl", run / "refit.jsonl")
    return sum(len(file.read_text().splitlines()) for file in files if file.is_file())


def wait_for_an_epoch(run: Path, process: subprocess.Popen[bytes]) -> bool:
    """Wait until one more epoch is done; False when the training ends before."""
    before = epochs_done(run)
    while epochs_done(run) <= before:
        if process.poll() is not None:
            return False
        time.sleep(0.02)
    return True


def write_reviews(folder: Path) -> tuple[str, ...]:
    """Simulated reviews, and the options of a training that is long enough to be killed."""
    made = simulate_sentiment(2, items=1500, annotators=12, labels_per_item=3)
    write_labels(folder / "labels.csv", made.labels)
    write_corpus(folder / "items.csv", made.corpus)
    (folder / "but.rules").write_text("1.0: include contrast('but')\n")
    return ("--labels", "labels.csv", "--items", "items.csv", "--rules", "but.rules", "--epochs", "12", *SLOW)


def write_sentences(folder: Path) -> tuple[str, ...]:
    """Simulated sentences, and the tagger of the preset, which goes through its warm-up."""
    pytest.importorskip("torch")
    made = simulate_ner(2, items=400, annotators=12)
    write_labels(folder / "labels.jsonl", made.labels)
    write_corpus(folder / "items.jsonl", made.corpus)
    return ("--labels", "labels.jsonl", "--items", "items.jsonl", "--preset", "ner", "--epochs", "8")


@pytest.mark.parametrize("write", [write_reviews, write_sentences])
def test_a_training_killed_at_random_moments_ends_the_same(
    tmp_path: Path, write: Callable[[Path], tuple[str, ...]]
) -> None:
    options = (*write(tmp_path), "--seed", "3")
    subprocess.run([*TRAIN, *options, "-o", "whole"], cwd=tmp_path, check=True, capture_output=True)

    draw, kills = random.Random(0), 0
    while True:
        resumable = (tmp_path / "killed" / "config.json").is_file()
        words = ["--resume"] if resumable else list(options)
        process = subprocess.Popen([*TRAIN, *words, "-o", "killed"], cwd=tmp_path, stderr=subprocess.PIPE)
        if kills < MOST_KILLS and wait_for_an_epoch(tmp_path / "killed", process):
            time.sleep(0.3 * draw.random())
            process.send_signal(signal.SIGKILL)
            kills += 1
        _, err = process.communicate(timeout=600)
        if process.returncode != -signal.SIGKILL:
            assert process.returncode == 0, err.decode()
            break

    assert kills >= 3
    one, two = (pl.read_parquet(tmp_path / name / "labels.parquet") for name in ("whole", "killed"))
    assert two.equals(one)
    for file in ("model.safetensors", "annotators.safetensors", "rules.json"):
        assert (tmp_path / "killed" / file).read_bytes() == (tmp_path / "whole" / file).read_bytes()
