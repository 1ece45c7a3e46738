"""Fits with Ray or Spark beside fits in memory, in an environment that has these packages; prints figures as JSON.

    python -m tests.extensions.scale.remote_cases ray agree --methods dawid-skene,glad --shardings 5
    python -m tests.extensions.scale.remote_cases spark kill-worker

`kill-driver` ends its own process with SIGKILL in the middle of a fit the first time it is run in a folder, and goes on
from the checkpoint the second time.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from crowdlogic import CRF, Linear, LogicLNCL, TrainingLimits, load_run, parse_rules
from crowdlogic.data import from_matrix, from_sequences
from crowdlogic.data.blocks import make_shards
from crowdlogic.data.corpus import Corpus, sentences
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.simulate import Simulation, simulate_ner, simulate_sentiment
from crowdlogic.errors import CorpusError
from crowdlogic.extensions.scale import prediction
from crowdlogic.extensions.scale.coded_files import Manifest, write_annotators, write_coded, write_manifest, write_shard
from crowdlogic.learning import train_run
from crowdlogic.learning.method import TrainingData
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.registry import TRUTH_METHODS
from crowdlogic.truth.fitting import Fitting, Progress, fits_over_engines
from crowdlogic.truth.methods import truth_method
from crowdlogic.truth.ties import Ties
from crowdlogic.workflows.predict import PredictOptions, predict

SHARDINGS = ([], [30], [10, 20, 47], [1, 2, 3, 59], [5, 15, 25, 35, 45, 55])
"""Where sixty units are cut: one shard, two, uneven ones, single units, more shards than workers."""


def example() -> CrowdLabels:
    """Sixty units, five annotators of different skill, three classes, some labels missing."""
    rng = np.random.default_rng(7)
    truth = rng.integers(0, 3, 60)
    right = rng.random((60, 5)) < np.array([0.95, 0.8, 0.7, 0.6, 0.4])
    given = np.where(right, truth[:, None], rng.integers(0, 3, (60, 5)))
    given[rng.random((60, 5)) < 0.2] = -1
    return from_matrix(given, classes=["x", "y", "z"])


def limited(name: str, iterations: int = 5) -> Any:
    """A method with a fixed number of iterations."""
    method: Any = truth_method(name)
    stop = Convergence(max_iterations=iterations, tolerance=None if name in ("pm", "catd") else 0.0)
    options: dict[str, Any] = {"convergence": stop, "restarts": 1, "subtypes": 2, "ties": Ties.first}
    return replace(method, **{one.name: options[one.name] for one in fields(method) if one.name in options})


def write_cut(folder: Path, labels: CrowdLabels, cuts: list[int]) -> Path:
    """Write the labels as a coded folder, cut before some units."""
    folder.mkdir(parents=True)
    whole = make_shards(labels, threads=1).parts[0]
    sizes = []
    for at, (begin, end) in enumerate(pairwise([0, *cuts, labels.n_units])):
        rows = slice(int(whole.starts[begin]), int(whole.starts[end]))
        starts = whole.starts[begin : end + 1] - whole.starts[begin]
        part = replace(whole, first=begin, starts=starts, annotator=whole.annotator[rows], label=whole.label[rows])
        sizes.append(write_shard(folder, at, part, labels.items[begin:end]))
    write_annotators(folder, labels.annotators)
    write_manifest(folder, Manifest(n_annotators=5, classes=labels.classes, shards=tuple(sizes)))
    return folder


def cut_example(home: str) -> Path:
    """The example as a coded folder of three shards."""
    return write_cut(Path(home) / "cut", example(), [20, 40])


def open_engine(name: str, folder: Path) -> Any:
    """The engine of that name, with two workers."""
    if name == "ray":
        from crowdlogic.extensions.scale.ray import open_ray

        return open_ray(folder, workers=2)
    from crowdlogic.extensions.scale.spark import open_spark

    return open_spark(folder, workers=2)


@contextmanager
def started(name: str) -> Iterator[None]:
    """Ray or Spark on this machine, for several engines one after the other."""
    if name == "ray":
        import ray

        from crowdlogic.extensions.scale.ray import start_ray

        start_ray(2)
        yield
        ray.shutdown()
    else:
        from crowdlogic.extensions.scale.spark import start_spark

        session, _ = start_spark(2)
        yield
        session.stop()


def agree(engine_name: str, methods: list[str], shardings: int) -> dict[str, Any]:
    """The largest difference between beliefs by an engine and in memory, by method; and the bytes that were moved."""
    labels, found = example(), dict[str, Any]()
    whole = {name: limited(name).infer(labels) for name in methods}
    with tempfile.TemporaryDirectory() as home, started(engine_name):
        for at, cuts in enumerate(SHARDINGS[:shardings]):
            with open_engine(engine_name, write_cut(Path(home) / str(at), labels, cuts)) as engine:
                for name in methods:
                    fit = limited(name).fit_over(engine)
                    streamed = np.concatenate([q for _, q in fit.stream()])
                    apart = max(np.abs(q - whole[name].beliefs).max() for q in (streamed, fit.gather()))
                    found[name] = max(found.get(name, 0.0), float(apart))
                found["moved"] = str(engine.traffic)
    return found


SENTENCE_ROWS = (1000, 60, 31, 14, 5)
"""How many rows shards of sentences have about: one shard, two, ... up to single sentences."""


def sentences_agree(engine_name: str, shardings: int) -> dict[str, Any]:
    """The same for tags of sentences, whose shards hold them whole."""
    labels, corpus = noisy_sentences()
    found = dict[str, Any]()
    for name in ("hmm-crowd", "bsc-seq"):
        method = limited(name)
        whole = method.infer(labels, corpus)
        with tempfile.TemporaryDirectory() as home, started(engine_name):
            for at, rows in enumerate(SENTENCE_ROWS[:shardings]):
                folder = Path(home) / str(at)
                write_coded(folder, method.arrange(labels), rows=rows)
                with open_engine(engine_name, folder) as engine:
                    fit = method.infer_over(engine, labels, corpus)
                apart = float(np.abs(fit.beliefs - whole.beliefs).max()) + float((fit.answer != whole.answer).any())
                found[name] = max(found.get(name, 0.0), apart)
    return found


def noisy_sentences() -> tuple[CrowdLabels, Corpus]:
    """Twelve sentences of four words with random tags by three annotators."""
    rng = np.random.default_rng(3)
    tags = np.array(["B-X", "I-X", "O"])
    rows = [(f"s{s}", j, tags[rng.integers(3, size=4)].tolist()) for s in range(12) for j in range(3)]
    words = rng.choice(["Ann", "runs", "7", "far"], size=(12, 4)).tolist()
    return from_sequences(rows, classes=tags.tolist()), sentences([f"s{s}" for s in range(12)], words)


def frame(methods: list[str]) -> dict[str, Any]:
    """The largest difference between the answers for a Spark DataFrame and those for a table in memory."""
    from crowdlogic.confidence.calibration import infer_calibrated
    from crowdlogic.errors import LabelError
    from crowdlogic.extensions.scale.spark import start_spark
    from crowdlogic.extensions.scale.spark_aggregation import aggregate_spark

    labels, found = example(), dict[str, Any]()
    rows = [(f"i{item}", f"w{who}", said) for item, who, said in labels.to_frame().rows()]
    session, _ = start_spark(2)
    given = session.createDataFrame([*rows, rows[0], ("i0", "w9", None)], "item string, worker string, label string")
    for name in methods:
        whole = infer_calibrated(limited(name), labels)
        answers = {row["item"]: row for row in aggregate_spark(given, method=limited(name)).collect()}
        q = [[answers[f"i{item}"][f"p_{k}"] for k in labels.classes] for item in range(60)]
        found[name] = float(np.abs(np.array(q) - whole.beliefs).max())
        found["answers"] = len(answers)
    other = "x" if rows[0][2] != "x" else "y"
    try:
        aggregate_spark(given.union(session.createDataFrame([(*rows[0][:2], other)], given.schema)), method="majority")
    except LabelError as problem:
        found["refused"] = str(problem)
    session.stop()
    return found


def kill_worker(engine_name: str, methods: list[str]) -> dict[str, Any]:
    """The difference where a worker is killed in the middle of the fit."""
    labels, found = example(), dict[str, Any](killed=0)
    with tempfile.TemporaryDirectory() as home, open_engine(engine_name, cut_example(home)) as engine:

        def kill(progress: Progress) -> None:
            if progress.iteration == 3:
                for process in engine.processes()[:1] if engine_name == "ray" else spark_workers():
                    os.kill(process, signal.SIGKILL)
                    found["killed"] += 1

        for name in methods:
            whole = limited(name).infer(labels)
            fit = limited(name).fit_over(engine, fitting=Fitting(progress=kill))
            streamed = np.concatenate([q for _, q in fit.stream()])
            found[name] = float(np.abs(streamed - whole.beliefs).max())
    return found


def spark_workers() -> list[int]:
    """The processes in which Spark runs Python, of this Spark alone: descendants of this process."""
    parents, names = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text().rsplit(")", 1)[1].split()
                names[int(entry.name)] = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            parents[int(entry.name)] = int(stat[1])

    def is_ours(process: int) -> bool:
        while process in parents and process != os.getpid():
            process = parents[process]
        return process == os.getpid()

    daemons = [one for one, line in names.items() if b"pyspark.daemon" in line and is_ours(one)]
    return [one for one in daemons if parents[one] in daemons]


def kill_driver(engine_name: str, folder: Path) -> dict[str, Any]:
    """Die in the middle of a fit; the second time, go on from the checkpoint."""
    labels, seen = example(), list[int]()
    resumes = (folder / "state").exists()
    cut = folder / "cut" if (folder / "cut").exists() else write_cut(folder / "cut", labels, [20, 40])

    def progress(now: Progress) -> None:
        seen.append(now.iteration)
        if not resumes and now.iteration == 4:
            os.kill(os.getpid(), signal.SIGKILL)

    with open_engine(engine_name, cut) as engine:
        fit = limited("glad", 7).fit_over(
            engine, fitting=Fitting(checkpoint=folder / "state", every=1, progress=progress)
        )
        apart = np.abs(fit.gather() - limited("glad", 7).infer(labels).beliefs).max()
    return {"first": seen[0], "apart": float(apart)}


def train_example(folder: Path, crowd: Simulation, rules: str, classifier: Any) -> str:
    """Train a run on simulated data; return its folder."""
    data = TrainingData(corpus=crowd.corpus, labels=crowd.labels, rules=parse_rules(rules))
    method = LogicLNCL(classifier=classifier, limits=TrainingLimits(epochs=2, held_out=None))
    train_run(folder, method, data)
    return str(folder)


BUT = "1.0: Label(S, C) & After(S, 'but', B) -> Predicted(B, C)"


def predict_pieces(engine_name: str, home: Path) -> dict[str, Any]:
    """The largest difference between predictions by an engine and without one, and what bad input leaves behind."""
    run = train_example(home / "run", simulate_sentiment(0, items=80, annotators=6), BUT, Linear())
    prediction.PIECE_ROWS = 11
    texts = simulate_sentiment(1, items=60, annotators=2).corpus.texts
    table = pl.DataFrame({"item": range(60), "text": texts})
    table.write_parquet(home / "items.parquet")
    options = PredictOptions(run=run, items=str(home / "items.parquet"), out=str(home / "whole.parquet"))
    predict(options)
    done = predict(replace(options, out=str(home / "out.parquet"), engine=engine_name, workers=2))
    whole, pieces = (pl.read_parquet(home / f"{name}.parquet") for name in ("whole", "out"))
    found: dict[str, Any] = {"items": done.counts["items"]}
    found["apart"] = float(np.abs(whole.drop("label").to_numpy() - pieces.drop("label").to_numpy()).max())
    assert whole["label"].equals(pieces["label"])
    bad = table.with_columns(text=pl.when(pl.col("item") == 17).then(None).otherwise("text"))
    bad.write_parquet(home / "bad.parquet")
    (home / "left").mkdir()
    try:
        out = str(home / "left" / "out.parquet")
        predict(replace(options, items=str(home / "bad.parquet"), out=out, engine=engine_name))
    except CorpusError as problem:
        found["refused"] = str(problem)
    found["left"] = [path.name for path in (home / "left").iterdir()]
    return found


def predict_in_frames(home: Path) -> dict[str, Any]:
    """The largest difference between the answers of a UDF of Spark and those of the run."""
    from crowdlogic.extensions.scale.spark import start_spark
    from crowdlogic.extensions.scale.spark_prediction import prediction_udf

    documents = train_example(home / "documents", simulate_sentiment(0, items=80, annotators=6), BUT, Linear())
    tags = train_example(home / "tags", simulate_ner(0, items=30, annotators=4), "include bio\n", CRF())
    texts = list(simulate_sentiment(1, items=30, annotators=2).corpus.texts or ())
    session, _ = start_spark(2)
    frame = session.createDataFrame([*enumerate(texts), (30, None)], "id int, text string")
    found: dict[str, Any] = {"null": []}
    for name, folder in (("documents", documents), ("tags", tags)):
        answers = frame.select("id", prediction_udf(folder)("text").alias("answer")).orderBy("id").collect()
        run = load_run(folder)
        if name == "documents":
            ours = np.array([row["answer"]["confidence"] for row in answers[:30]])
            theirs = run.predict(texts).max(axis=1)
            assert [row["answer"]["label"] for row in answers[:30]] == run.predict_labels(texts)
        else:
            assert [row["answer"]["tags"] for row in answers[:30]] == run.predict_labels(texts)
            ours = np.concatenate([row["answer"]["confidence"] for row in answers[:30]])
            chosen = np.concatenate(run.predict_labels(texts))
            codes = [list(map(str, run.estimate.classes)).index(tag) for tag in chosen]
            theirs = run.predict(texts)[np.arange(len(codes)), codes]
        found[name] = float(np.abs(ours - theirs).max())
        found["null"].append(answers[30]["answer"]["label" if name == "documents" else "tags"])
    session.stop()
    return found


def main() -> None:
    """Run a case."""
    parser = argparse.ArgumentParser()
    parser.add_argument("engine", choices=["ray", "spark"])
    parser.add_argument("case", choices=["agree", "sentences", "kill-worker", "kill-driver", "frame", "predict", "udf"])
    parser.add_argument("--methods", default="dawid-skene")
    parser.add_argument("--shardings", type=int, default=1)
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    every = [name for name in TRUTH_METHODS if fits_over_engines(name)]
    methods = every if given.methods == "all" else given.methods.split(",")
    warnings.simplefilter("ignore")
    if given.case == "agree":
        found = agree(given.engine, methods, given.shardings)
    elif given.case == "sentences":
        found = sentences_agree(given.engine, given.shardings)
    elif given.case == "frame":
        found = frame(methods)
    elif given.case in ("predict", "udf"):
        with tempfile.TemporaryDirectory() as home:
            found = (
                predict_pieces(given.engine, Path(home)) if given.case == "predict" else predict_in_frames(Path(home))
            )
    elif given.case == "kill-worker":
        found = kill_worker(given.engine, methods)
    else:
        found = kill_driver(given.engine, given.folder)
    sys.stdout.write("\n" + json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
