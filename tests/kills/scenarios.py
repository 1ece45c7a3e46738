"""Commands that are killed: how their input is made, what they write, and how they go on afterwards."""

from __future__ import annotations

import hashlib
import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from crowdlogic.data.frames import from_arrays
from crowdlogic.data.reading import write_corpus, write_labels
from crowdlogic.data.simulate import simulate_sentiment
from crowdlogic.learning.algorithm import LogicLNCL
from crowdlogic.learning.stopping import TrainingLimits

Words = tuple[str, ...]

MOMENT = re.compile(rb"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?([.]\d+)?([+]\d\d:\d\d|Z)?")
"""When a report was written."""


def digest(path: Path) -> str:
    """Return the SHA-256 of a file's content, without the moment when it was written."""
    content = path.read_bytes()
    if path.suffix == ".xlsx" and zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as packed:
            content = b"".join(packed.read(name) for name in sorted(packed.namelist()))
    return hashlib.sha256(MOMENT.sub(b"", content)).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A command that is stopped.

    Attributes:
        name: Its name in the table.
        make: Write its input into a folder.
        words: The command line.
        outputs: The files and folders that it writes.
        compared: In an output that is a folder: the files that must be the same; all of them when empty.
        resume: The command line that goes on; None where the command is run again.
        resumable: The file without which there is nothing to go on with.
    """

    name: str
    make: Callable[[Path], None]
    words: Words
    outputs: Words
    compared: Words = ()
    resume: Words | None = None
    resumable: str = ""

    def next_words(self, folder: Path) -> Words:
        """Return the command line that goes on, or begins again."""
        return self.resume if self.resume is not None and (folder / self.resumable).is_file() else self.words

    def digests(self, folder: Path) -> dict[str, str]:
        """Return the SHA-256 of each output that is there, by its path."""
        found = {}
        for name in self.outputs:
            path = folder / name
            inside = [path / one for one in self.compared] if self.compared else sorted(path.rglob("*"))
            for one in inside if path.is_dir() else [path]:
                if one.is_file():
                    found[str(one.relative_to(folder))] = digest(one)
        return found


def write_votes(folder: Path) -> None:
    """Write 60,000 labels of 20,000 items."""
    rng = np.random.default_rng(0)
    item = np.repeat(np.arange(20_000), 3)
    annotator = (item * 7 + np.tile([0, 5, 11], 20_000)) % 40
    truth = rng.integers(3, size=20_000)[item]
    label = np.where(rng.random(len(item)) < 0.75, truth, rng.integers(3, size=len(item)))
    write_labels(folder / "labels.csv", from_arrays(item.tolist(), annotator.tolist(), label.tolist()))


def write_reviews(folder: Path) -> None:
    """Write labels and texts of reviews, new reviews, and a rule file."""
    made = simulate_sentiment(2, items=300, test_items=100, annotators=12, labels_per_item=3)
    write_labels(folder / "labels.csv", made.labels)
    write_corpus(folder / "items.csv", made.corpus)
    write_corpus(folder / "new.csv", made.test)
    (folder / "but.rules").write_text("1.0: include contrast('but')\n")


def write_run(folder: Path) -> None:
    """Write reviews, and a run trained on them."""
    write_reviews(folder)
    made = simulate_sentiment(2, items=300, test_items=100, annotators=12, labels_per_item=3)
    method = LogicLNCL(limits=TrainingLimits(epochs=2, held_out=None))
    method.fit(made.corpus, made.labels, save=folder / "run")


TRAIN = ("train", "--labels", "labels.csv", "--items", "items.csv", "--rules", "but.rules", "--seed", "3")
LONG = ("--epochs", "5", "--set", "classifier.steps=80", "--set", "classifier.ridge=1e-9")

SCENARIOS = (
    Scenario(
        name="train",
        make=write_reviews,
        words=(*TRAIN, *LONG, "-o", "model"),
        outputs=("model",),
        compared=("labels.parquet", "model.safetensors", "annotators.safetensors", "rules.json"),
        resume=("train", "--resume", "-o", "model"),
        resumable="model/config.json",
    ),
    Scenario(
        name="aggregate",
        make=write_votes,
        words=("aggregate", "labels.csv", "-m", "dawid-skene", "-o", "out.csv", "--annotators", "who.csv"),
        outputs=("out.csv", "who.csv"),
    ),
    Scenario(
        name="aggregate --save",
        make=write_votes,
        words=("aggregate", "labels.csv", "-m", "dawid-skene", "-o", "out.csv", "--save", "saved"),
        outputs=("out.csv", "saved"),
    ),
    Scenario(
        name="aggregate out of core",
        make=write_votes,
        words=("aggregate", "labels.csv", "-m", "dawid-skene", "-o", "out.csv", "--memory", "1M"),
        outputs=("out.csv",),
    ),
    Scenario(
        name="report",
        make=write_votes,
        words=("report", "labels.csv", "-o", "report.html"),
        outputs=("report.html", "report.json"),
    ),
    Scenario(
        name="convert",
        make=write_votes,
        words=("convert", "labels.csv", "out.xlsx"),
        outputs=("out.xlsx",),
    ),
    Scenario(
        name="predict",
        make=write_run,
        words=("predict", "run", "new.csv", "-o", "out.csv"),
        outputs=("out.csv",),
    ),
    Scenario(
        name="export",
        make=write_run,
        words=("export", "run", "--to", "onnx", "-o", "exported"),
        outputs=("exported",),
    ),
    Scenario(
        name="simulate",
        make=lambda folder: None,
        words=("simulate", "sentiment", "-o", "made", "--items", "4000"),
        outputs=("made",),
    ),
)
