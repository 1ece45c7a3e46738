"""The rows of the paper's tables: which method with which options, on which of its two tasks."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import cache
from typing import Any

import numpy as np

from crowdlogic.classifiers.linear import Linear
from crowdlogic.data.benchmarks import Benchmark, data_folder, load_benchmark
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.tagging import Scheme
from crowdlogic.data.vectors import WordVectors, beside, read_vectors
from crowdlogic.errors import OptionError
from crowdlogic.experiments.jobs import Job
from crowdlogic.learning.crowd_layer import CrowdLayer, Kind
from crowdlogic.learning.doctor_nets import DoctorNets
from crowdlogic.learning.learned import Learned
from crowdlogic.learning.logic_lncl import LogicLNCL, Loss
from crowdlogic.learning.presets import Configured, ner, sentiment
from crowdlogic.learning.scoring import score
from crowdlogic.learning.special import AggNet
from crowdlogic.learning.stopping import HeldOut
from crowdlogic.learning.two_stage import Gold, TwoStage
from crowdlogic.metrics.spans import span_scores
from crowdlogic.numerics.arrays import Ints
from crowdlogic.rules.syntax import RuleSet
from crowdlogic.truth.confusion import DawidSkene
from crowdlogic.truth.difficulty import GLAD
from crowdlogic.truth.methods import TruthMethod
from crowdlogic.truth.ties import Ties

Made = tuple[LogicLNCL | TwoStage | Gold | CrowdLayer | DoctorNets, RuleSet | None]
"""A method and the rules that its `fit` is given."""

Maker = Callable[[Configured, int], Made]
"""A row: from a task's configuration and a seed to a method."""


def _gold(base: Configured, seed: int) -> Made:
    own = base.method
    return Gold(own.classifier, own.strength, own.preset, own.transitions, seed=seed), base.rules


def _two_stage(truth: TruthMethod | None) -> Maker:
    """Majority vote as the method itself starts, or another truth method, and then the classifier."""

    def make(base: Configured, seed: int) -> Made:
        own, hard = base.method, truth is None and base.method.start.ties != Ties.soft
        chosen = truth or own.start
        method = TwoStage(
            chosen, own.classifier, hard, own.strength, own.preset, own.transitions, seed=seed
        )  # fmt: skip
        return method, base.rules

    return make


def _agg_net(base: Configured, seed: int) -> Made:
    own = base.method
    plain = AggNet(
        classifier=own.classifier, loss=Loss.plain, start=own.start, smoothing=own.smoothing, trust=own.trust, seed=seed
    )
    return plain, None


def _silence(base: Configured, seed: int) -> Made:
    own = base.method
    return AggNet(classifier=own.classifier, start=own.start, silence=True, seed=seed), None


def _crowd_layer(kind: Kind, pretraining: int) -> Maker:
    """A crowd layer after so many epochs on the majority vote, as the method itself starts."""

    def make(base: Configured, seed: int) -> Made:
        own = base.method
        return CrowdLayer(own.classifier, kind, pretraining, own.start, seed=seed), None

    return make


def _doctor_nets(weighted: bool) -> Maker:
    def make(base: Configured, seed: int) -> Made:
        return DoctorNets(base.method.classifier, weighted, seed=seed), None

    return make


def _without_rules(base: Configured, seed: int) -> Made:
    return replace(base.method, transitions=None, seed=seed), None


def _logic(base: Configured, seed: int) -> Made:
    return replace(base.method, seed=seed), base.rules


def _gold_free(apart: str) -> Maker:
    """No dev gold: labels kept apart decide when to stop."""

    def make(base: Configured, seed: int) -> Made:
        return replace(base.method, held_out=HeldOut(apart=apart), seed=seed), base.rules

    return make


def _all_epochs(base: Configured, seed: int) -> Made:
    return replace(base.method, patience=1000, seed=seed), base.rules


ROWS: dict[str, Maker] = {
    "gold": _gold,
    "majority": _two_stage(None),
    "dawid-skene": _two_stage(DawidSkene()),
    "glad": _two_stage(GLAD()),
    "aggnet": _agg_net,
    "aggnet with silence": _silence,
    "cl mw": _crowd_layer(Kind.MW, 5),
    "cl vw": _crowd_layer(Kind.VW, 5),
    "cl vw-b": _crowd_layer(Kind.VW_B, 5),
    "cl mw 1": _crowd_layer(Kind.MW, 1),
    "dl-dn": _doctor_nets(weighted=False),
    "dl-wdn": _doctor_nets(weighted=True),
    "without rules": _without_rules,
    "logic-lncl": _logic,
    "all epochs": _all_epochs,
    "gold-free items": _gold_free("items"),
    "gold-free annotations": _gold_free("annotations"),
}


@cache
def sentiment_task(split: str) -> tuple[Benchmark, WordVectors]:
    """The data and both sets of vectors side by side."""
    folder = data_folder() / "vectors"
    sets = [read_vectors(path) for path in sorted(folder.glob("*.npz"))]
    return load_benchmark("sentiment_mturk", split=split), beside(*sets)


@cache
def ner_task() -> tuple[Benchmark, WordVectors]:
    """The data and GloVe."""
    path = next(iter(sorted((data_folder() / "vectors").glob("*glove*.npz"))))
    return load_benchmark("ner_conll_mturk"), read_vectors(path)


@cache
def extra_task(name: str) -> Benchmark:
    """A data set beyond the paper's two."""
    return load_benchmark(name)


def _sentiment(job: Job, _: str) -> tuple[Benchmark, Configured]:
    data, vectors = sentiment_task(job.task.partition("-")[2] or "clean")
    return data, sentiment(vectors)


def _ner(_: Job, reading: str) -> tuple[Benchmark, Configured]:
    data, vectors = ner_task()
    return data, ner(data.labels.classes, vectors, reading=reading or None)


def _weak(job: Job, model: str) -> tuple[Benchmark, Configured]:
    """Labelling functions for annotators; the model is linear, or kim-cnn with the vectors of the sentiment task."""
    data = extra_task(f"weak/{job.task.partition('-')[2]}")
    if model == "kim-cnn":
        return data, Configured(sentiment(sentiment_task("clean")[1]).method, None)
    return data, Configured(LogicLNCL(Linear()), None)


def _labelme(_: Job, __: str) -> tuple[Benchmark, Configured]:
    from crowdlogic.classifiers.mlp import MLP

    return extra_task("truth/labelme"), Configured(LogicLNCL(MLP()), None)


TASKS = {"sentiment": _sentiment, "ner": _ner, "weak": _weak, "labelme": _labelme}


def configured(job: Job) -> tuple[Benchmark, Configured, Maker]:
    """The data of a job, its configuration and its method. A row is `method`, or `method, reading` (or model)."""
    row, _, reading = job.row.partition(", ")
    if row not in ROWS:
        raise OptionError(f"row: {row!r} is none of {', '.join(ROWS)}.")
    return *TASKS[job.task.partition("-")[0]](job, reading), ROWS[row]


def run(job: Job) -> dict[str, Any]:
    """Fit a row with a seed, and score it."""
    data, base, make = configured(job)
    method, rules = make(base, job.seed)
    begin = time.perf_counter()
    gold_free = job.row.startswith("gold-free")
    parts = {"test": data.test, "dev gold": data.dev} if gold_free or job.row == "all epochs" else {}
    watched = {name: corpus for name, corpus in parts.items() if corpus is not None}
    learned = method.fit(data.corpus, data.labels, rules=rules, dev=None if gold_free else data.dev, watched=watched)
    seconds = time.perf_counter() - begin
    return {
        **asdict(job), "seconds": seconds, "chosen": learned.chosen, "scores": final_scores(learned, data),
        "history": [asdict(row) for row in learned.history],
    }  # fmt: skip


def final_scores(learned: Learned, data: Benchmark) -> dict[str, dict[str, float]]:
    """What the chosen epoch scores: prediction on the test (and dev) items, and inference on the training items."""
    answers = {"inference": (learned.task.corpus, learned.epoch.q_f)}
    for mark, corpus in (("", data.test), ("dev ", data.dev)):
        if corpus is not None:
            items = corpus.with_classes(learned.task.labels.classes)
            student = learned.classifier.predict_proba(items)
            answers[f"{mark}student"] = (items, student)
            answers[f"{mark}teacher"] = (items, learned.teacher.predict(items, learned.classifier, student))
    return {name: figures(corpus, beliefs) for name, (corpus, beliefs) in answers.items()}


def figures(corpus: Corpus, beliefs: Beliefs) -> dict[str, float]:
    """Accuracy; for tags precision, recall and F1 under both schemes."""
    answer = beliefs.argmax(axis=1)
    if corpus.offsets is None:
        return {"accuracy": score(corpus, beliefs), "f1": _second_class_f1(np.asarray(corpus.gold), answer)}
    found: dict[str, float] = {}
    for scheme in Scheme:
        said = span_scores(corpus.gold, answer, corpus.offsets, corpus.classes, scheme=scheme)  # type: ignore[arg-type]
        mark = "" if scheme is Scheme.conll else "strict "
        found |= {f"{mark}precision": said.precision, f"{mark}recall": said.recall, f"{mark}f1": said.f1}
    return found


def _second_class_f1(gold: Ints, answer: Ints) -> float:
    """F1 of the second class, which is what is looked for where there are two: spam, say."""
    right = int(((gold == 1) & (answer == 1)).sum())
    return 2 * right / max(int((gold == 1).sum() + (answer == 1).sum()), 1)
