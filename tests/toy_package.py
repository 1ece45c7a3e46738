"""Another package that adds one thing of every kind to crowdlogic: each is one module and one entry point."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

METHOD = '''
from dataclasses import dataclass

import numpy as np

from crowdlogic.data.estimate import Estimate


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
'''

ANNOTATORS = '''
from dataclasses import dataclass

import numpy as np

from crowdlogic.annotators.protocol import TableAnnotators
from crowdlogic.data.blocks import make_shards


@dataclass(frozen=True)
class KnownAccuracy:
    """Every annotator is right with the same known probability."""

    accuracy: float = 0.9

    name = "toy-annotators"
    correlation = 0.0

    def observe(self, labels, *, anchors=None, threads=1):
        return make_shards(labels, anchors=anchors, threads=threads)

    def m_step(self, shards, q):
        wrong = (1 - self.accuracy) / (shards.n_classes - 1)
        one = np.full((shards.n_classes, shards.n_classes), wrong)
        np.fill_diagonal(one, self.accuracy)
        return self.load({"confusion": np.tile(one, (shards.n_annotators, 1, 1))})

    def load(self, arrays):
        return Tables(arrays["confusion"])


class Tables(TableAnnotators):
    confusion = None

    def __init__(self, confusion):
        self.confusion = confusion

    @property
    def log_table(self):
        return np.ascontiguousarray(np.log(self.confusion).transpose(0, 2, 1))

    def arrays(self):
        return {"confusion": self.confusion}
'''

FORMAT = """
import io

import polars as pl

from crowdlogic.data.formats.tables import TableFormat
from crowdlogic.data.intake.contract import TableSource


class Semicolons(TableFormat):
    name, title, suffixes, only_text = "semi", "semicolons", (".semi",), True

    def read_table(self, file):
        return pl.read_csv(io.BytesIO(file.content), separator=";", infer_schema=False), TableSource(file.name)

    def encode_table(self, table, target):
        return table.write_csv(separator=";").encode()


SEMICOLONS = Semicolons()
"""

CLASSIFIER = """
from crowdlogic.classifiers.class_prior import ClassPrior


class ToyPrior(ClassPrior):
    name = "toy-model"
"""

LEARNER = """
from crowdlogic.learning.algorithm import LogicLNCL


class ToyLearner(LogicLNCL):
    @property
    def name(self):
        return "toy-learner"
"""

PREDICATE = """
from crowdlogic.rules.predicates.definition import Kind, Predicate, Role

SHOUTS = Predicate(
    name="Shouts",
    kinds=(Kind.readable,),
    role=Role.text,
    units="documents",
    function=lambda texts: texts.str.contains("!"),
    example="Shouts(S)",
    meaning="the text has an exclamation mark",
)
"""

PAGE = """
from dataclasses import dataclass

from crowdlogic.reporting.findings import ReportFinding, Urgency
from crowdlogic.reporting.page import Page


@dataclass(frozen=True)
class ToyFindings:
    findings: tuple


def compute(context):
    n = len(context.inputs.labels.annotators)
    return ToyFindings((ReportFinding(f"A toy counted {n} annotators.", Urgency.know, importance=99),))


PAGE = Page(title="Toy page", module=__name__, compute=compute, draw=lambda found, task: {})
"""

FILES = {
    "__init__.py": "",
    "method.py": METHOD,
    "annotators.py": ANNOTATORS,
    "format.py": FORMAT,
    "classifier.py": CLASSIFIER,
    "learner.py": LEARNER,
    "predicate.py": PREDICATE,
    "page.py": PAGE,
    "page.html.j2": "{{ m.findings(found.findings) }}",
}

ENTRY_POINTS = """
[crowdlogic.methods]
toy = toy_package.method:AlwaysLast

[crowdlogic.annotators]
toy-annotators = toy_package.annotators:KnownAccuracy

[crowdlogic.formats]
semi = toy_package.format:SEMICOLONS

[crowdlogic.classifiers]
toy-model = toy_package.classifier:ToyPrior

[crowdlogic.learners]
toy-learner = toy_package.learner:ToyLearner

[crowdlogic.predicates]
Shouts = toy_package.predicate:SHOUTS

[crowdlogic.pages]
toy-page = toy_package.page:PAGE
"""

LABELS = "item;annotator;label\nu;a;x\nu;b;x\nv;a;x\nv;b;y\n"
"""Labels in the format of the package."""


def install(home: Path) -> Path:
    """Leave the package in a folder as pip would."""
    for name, text in FILES.items():
        path = home / "toy_package" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    info = home / "toy_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    return home


def run_python(installed: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Python in a process that finds the package."""
    path = os.pathsep.join([str(installed), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def run_crowdlogic(installed: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The command in a process that finds the package."""
    return run_python(installed, folder, "-m", "crowdlogic", *words)
