"""A run: fit the method of a row with a random seed, and score it."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Any

import numpy as np

from crowdlogic.classifiers.protocol import predict
from crowdlogic.data.benchmarks import Benchmark
from crowdlogic.data.chain_beliefs import AnyBeliefs, answers
from crowdlogic.data.corpus import Corpus, align
from crowdlogic.data.tagging import Scheme
from crowdlogic.experiments import methods
from crowdlogic.experiments.jobs import Job
from crowdlogic.experiments.reliability import annotator_record
from crowdlogic.experiments.rows import AGGNET_RULE, ROWS, TRUTH_ROWS, RowSetup, set_up
from crowdlogic.experiments.tasks import load_task
from crowdlogic.learning.epoch import HistoryRow
from crowdlogic.learning.learned import Learned
from crowdlogic.learning.method import TrainingData
from crowdlogic.learning.scoring import score
from crowdlogic.metrics.spans import span_scores
from crowdlogic.numerics.arrays import Ints

Record = dict[str, Any]
"""Part of a result, as its file holds it."""


def run_job(job: Job) -> Record:
    """Fit a row with a seed and score it."""
    if job.row in TRUTH_ROWS:
        return asdict(job) | _infer(job)
    row = set_up(job)
    begin = time.perf_counter()
    learned = fit_row(row, job.seed)
    seconds = time.perf_counter() - begin
    record = asdict(job) | {"seconds": seconds, "chosen": learned.chosen, "scores": final_scores(learned, row.data)}
    if row.name == "annotators":
        record["annotators"] = annotator_record(learned)
    return record | _history_records(learned)


def fit_row(row: RowSetup, seed: int) -> Learned:
    """Fit the method of a row; `aggnet rule` takes two fits."""
    if row.name == AGGNET_RULE:
        first = _fit(methods.aggnet(row.task, seed), row)
        return _fit(methods.rules_on_estimate(row.task, first.estimate, seed), row)
    return _fit(ROWS[row.name](row.task, seed), row)


def _fit(built: methods.Built, row: RowSetup) -> Learned:
    method, rules = built
    data = row.data
    parts = {"test": data.test, "dev gold": data.dev} if row.scores_every_epoch else {}
    watched = {name: corpus for name, corpus in parts.items() if corpus is not None}
    dev = None if row.is_gold_free else data.dev
    return method.learn(TrainingData(corpus=data.corpus, labels=data.labels, rules=rules, dev=dev, watched=watched))


def _history_records(learned: Learned) -> Record:
    """The epochs; those of the second fit with all labels, too, where there is one."""
    records: Record = {}
    if learned.refit_history:
        records["averaged_from"] = learned.averaged_from
        records["refit_history"] = [_epoch_record(epoch) for epoch in learned.refit_history]
    return records | {"history": [_epoch_record(epoch) for epoch in learned.history]}


def _epoch_record(epoch: HistoryRow) -> Record:
    """An epoch as result files hold it: the names there stay the same when fields are renamed."""
    return {
        "epoch": epoch.epoch,
        "loss": epoch.loss,
        "k": epoch.k,
        "stopping": epoch.stopping,
        "change": epoch.change,
        "objective": epoch.objective,
        "seconds": epoch.seconds,
        "scores": dict(epoch.scores),
        "kept": epoch.kept,
        "refit": epoch.refit,
    }


def _infer(job: Job) -> Record:
    """A truth method's answers, scored; nothing is learnt, so no epoch is chosen."""
    begin = time.perf_counter()
    data, _ = load_task(job.task)
    labels, corpus = align(data.labels, data.corpus)
    answer = TRUTH_ROWS[job.row](job.seed).infer(labels, corpus).answer
    hard = np.eye(labels.n_classes)[np.maximum(answer, 0)]
    scores = {"inference": score_answers(corpus.with_classes(labels.classes), hard)}
    return {"seconds": time.perf_counter() - begin, "chosen": 0, "scores": scores, "history": []}


def final_scores(learned: Learned, data: Benchmark) -> dict[str, dict[str, float]]:
    """What the chosen epoch scores: prediction on the test (and dev) items, and inference on the training items."""
    found: dict[str, tuple[Corpus, AnyBeliefs]] = {"inference": (learned.task.corpus, learned.epoch.targets)}
    for prefix, corpus in (("", data.test), ("dev ", data.dev)):
        if corpus is not None:
            items = corpus.with_classes(learned.task.labels.classes)
            student = predict(learned.classifier, items)
            found[f"{prefix}student"] = (items, student)
            found[f"{prefix}teacher"] = (items, learned.teacher.project(items, student, student, learned.classifier))
    return {name: score_answers(corpus, beliefs) for name, (corpus, beliefs) in found.items()}


def score_answers(corpus: Corpus, beliefs: AnyBeliefs) -> dict[str, float]:
    """Accuracy and F1 of the second class; for tags precision, recall and F1 of spans under both schemes."""
    answer = answers(beliefs, corpus.offsets)
    if corpus.offsets is None:
        return {"accuracy": score(corpus, beliefs), "f1": _second_class_f1(np.asarray(corpus.gold), answer)}
    scores: dict[str, float] = {}
    for scheme in Scheme:
        spans = span_scores(np.asarray(corpus.gold), answer, corpus.offsets, corpus.classes, scheme=scheme)
        prefix = "" if scheme is Scheme.conll else "strict "
        scores |= {f"{prefix}precision": spans.precision, f"{prefix}recall": spans.recall, f"{prefix}f1": spans.f1}
    return scores


def _second_class_f1(gold: Ints, answer: Ints) -> float:
    """F1 of the second class, which is the one to find where there are two, such as spam."""
    right = int(((gold == 1) & (answer == 1)).sum())
    return 2 * right / max(int((gold == 1).sum() + (answer == 1).sum()), 1)
