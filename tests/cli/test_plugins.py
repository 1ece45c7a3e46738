"""Things that another installed package adds through entry points: in help texts, in errors, and at work."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = '''
import io
from dataclasses import dataclass

import numpy as np
import polars as pl

from crowdlogic.classifiers.class_prior import ClassPrior
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.formats.tables import TableFormat
from crowdlogic.data.intake.contract import TableSource
from crowdlogic.learning.algorithm import LogicLNCL
from crowdlogic.rules.predicates.definition import Kind, Predicate, Role


@dataclass(frozen=True)
class AlwaysLast:
    """Every item has the last class."""

    name = "toy"

    def infer(self, labels, corpus=None, *, fitting=None):
        beliefs = np.zeros((labels.n_units, labels.n_classes))
        beliefs[:, -1] = 1.0
        return Estimate(
            method=self.name,
            beliefs=beliefs,
            answer=beliefs.argmax(axis=1).astype(np.int32),
            items=labels.items,
            classes=labels.classes,
            offsets=labels.offsets,
            annotators=labels.annotators,
        )


class Semicolons(TableFormat):
    name, title, suffixes = "semi", "semicolons", (".semi",)

    def read_table(self, file):
        return pl.read_csv(io.BytesIO(file.content), separator=";", infer_schema=False), TableSource(file.name)


SEMICOLONS = Semicolons()


class ToyPrior(ClassPrior):
    name = "toy-model"


class ToyLearner(LogicLNCL):
    @property
    def name(self):
        return "toy-learner"


SHOUTS = Predicate(
    name="Shouts",
    kinds=(Kind.readable,),
    role=Role.text,
    units="documents",
    function=lambda texts: texts.str.contains("!"),
    example="Shouts(S)",
    meaning="the text has an exclamation mark",
)
'''

ENTRY_POINTS = """
[crowdlogic.methods]
toy = toy_package:AlwaysLast

[crowdlogic.formats]
semi = toy_package:SEMICOLONS

[crowdlogic.classifiers]
toy-model = toy_package:ToyPrior

[crowdlogic.learners]
toy-learner = toy_package:ToyLearner

[crowdlogic.predicates]
Shouts = toy_package:SHOUTS
"""

LABELS = "item;annotator;label\nu;a;x\nu;b;x\nv;a;x\nv;b;y\n"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which a package with entry points is installed, as pip would leave it."""
    home = tmp_path_factory.mktemp("site")
    (home / "toy_package.py").write_text(PACKAGE)
    info = home / "toy_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    return home


def crowdlogic(installed: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The command in a process that finds the package."""
    path = os.pathsep.join([str(installed), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.run(
        [sys.executable, "-m", "crowdlogic", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def unwrap(text: str) -> str:
    """A help text on one line; names are broken at their hyphens."""
    return re.sub(r"-\s+", "-", " ".join(text.split()))


def test_a_truth_method_and_a_format_are_listed_and_work(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "labels.semi").write_text(LABELS)

    shown = crowdlogic(installed, tmp_path, "aggregate", "--help")
    done = crowdlogic(installed, tmp_path, "aggregate", "-m", "toy", "labels.semi", "-o", "o.csv")
    refused = crowdlogic(installed, tmp_path, "aggregate", "-m", "toi", "labels.semi", "-o", "p.csv")

    assert "bsc-seq, toy." in unwrap(shown.stdout)
    assert "conll|semi]" in unwrap(shown.stdout)
    assert (done.returncode, done.stderr) == (0, "toy: 2 items, 2 annotators -> o.csv\n")
    assert (tmp_path / "o.csv").read_text().splitlines()[1:] == ["u,y,1.0,0.0,1.0", "v,y,1.0,0.0,1.0"]
    assert refused.returncode == 2
    assert refused.stderr.startswith("crowdlogic: No truth method is called 'toi'. Did you mean 'toy'?")
    assert refused.stderr.endswith("bsc-seq, toy.\n")


def test_a_learning_method_a_classifier_and_a_predicate_are_listed_and_work(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "labels.semi").write_text(LABELS)
    (tmp_path / "items.csv").write_text("item,text\nu,so good!\nv,so so\n")
    (tmp_path / "my.rules").write_text("1.0: Shouts(S) -> Label(S, 'x')\n")
    words = (
        "--labels",
        "labels.semi",
        "--items",
        "items.csv",
        "--rules",
        "my.rules",
        "--epochs",
        "1",
        "--set",
        "limits.held_out=none",
        "-o",
        "out",
    )

    shown = crowdlogic(installed, tmp_path, "train", "--help")
    done = crowdlogic(installed, tmp_path, "train", "-m", "toy-learner", "--model", "toy-model", *words)

    assert "crf-ma, toy-learner." in unwrap(shown.stdout)
    assert "prior, toy-model." in unwrap(shown.stdout)
    assert done.returncode == 0, done.stderr
    assert "my.rules: 1 rules." in done.stderr
    method = json.loads((tmp_path / "out/config.json").read_text())["method"]
    assert (method["name"], method["classifier"]["name"]) == ("toy-learner", "toy-model")
