"""Measure the accuracy of every truth method on the public data sets, with crowd-kit's and published figures.

    python -m benchmarks.truth_accuracy [--peers PYTHON] [--fresh]

Needs CROWDLOGIC_DATA. The tables are written into docs/evidence/truth-methods.md. Figures are kept in
benchmarks/results/, so an interrupted benchmark continues where it stopped.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.figures_file import Figures, FiguresFile
from benchmarks.machine import PEERS, describe_machine
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.formats.tables import labels_table
from crowdlogic.extensions.paper.benchmarks import Benchmark, load_benchmark
from crowdlogic.extensions.paper.results import format_table, write_section
from crowdlogic.metrics.scores import accuracy_ties_half, score
from crowdlogic.metrics.spans import span_scores
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.registry import TRUTH_METHODS
from crowdlogic.truth.dawid_skene import DawidSkene
from crowdlogic.truth.majority import MajorityVote
from crowdlogic.truth.methods import TruthMethod, needs_sequences, truth_method

SETS = (
    "sentiment_mturk", "truth/bluebird", "truth/dog", "truth/rte", "truth/temp", "truth/trec", "truth/weather_amt",
    "truth/sp_amt", "truth/music_genre", "truth/labelme", "truth/adult2",
)  # fmt: skip
PAGE = Path("docs/evidence/truth-methods.md")
RESULTS = Path("benchmarks/results/truth_accuracy.json")
UNSMOOTHED = DawidSkene(smoothing=0, trust=0, convergence=Convergence(max_iterations=100, tolerance=0))
CROWD_KIT = {"majority": "MajorityVote", "dawid-skene": "DawidSkene", "glad": "GLAD", "mace": "MACE"}
"""Methods of crowd-kit; Wawa of version 1.4.2 is missing because it fails with scikit-learn 1.6 or later."""
PUBLISHED_EBCC = {
    "truth/bluebird": 86.11, "truth/dog": 84.01, "truth/rte": 93.12, "truth/trec": 70.37, "truth/sp_amt": 94.40,
    "truth/adult2": 74.77,
}  # fmt: skip
"""Figures of the authors' notebook in yuan-li/truth-inference-at-scale: the best bound of 40 starts. The notebook drops
repeated labels, which we keep."""
PAPER_ORDER = ("I-MISC", "I-ORG", "B-ORG", "I-PER", "B-PER", "I-LOC", "B-LOC", "B-MISC", "O")
"""Order by which the published majority vote breaks ties."""
PEER_LIMIT = 300
"""Time limit for a peer, in seconds."""


def score_estimate(estimate: Estimate, data: Benchmark) -> Figures:
    """Return accuracy, with ties counted half, and calibration."""
    gold = np.asarray(data.corpus.gold)
    scores = score(gold, estimate.answer, estimate.beliefs)
    return {
        "accuracy": round(100 * accuracy_ties_half(gold, estimate.answer, estimate.beliefs), 2),
        "calibration_error": None if scores.calibration_error is None else round(100 * scores.calibration_error, 1),
        "log_loss": None if scores.log_loss is None else round(scores.log_loss, 3),
        "iterations": len(estimate.trace),
    }


def measure_accuracy(method: TruthMethod, data: Benchmark) -> Figures:
    """Return the scores of one method on one data set."""
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimate = method.infer(data.labels)
    return {**score_estimate(estimate, data), "seconds": round(time.perf_counter() - begin, 2)}


def peer_answers(peer: str, method: str, data: Benchmark, *, iterations: int, tolerance: float) -> pl.DataFrame | None:
    """Return the probabilities from crowd-kit; None if it exceeded the time limit."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "labels.csv", Path(folder) / "out.csv"
        labels_table(data.labels).select("item", "annotator", "label").write_csv(source)
        words = [peer, "benchmarks/truth_peer.py", method, source, target, iterations, tolerance]
        try:
            subprocess.run(list(map(str, words)), check=True, timeout=PEER_LIMIT, capture_output=True)
        except subprocess.TimeoutExpired:
            return None
        return pl.read_csv(target, infer_schema_length=0)


def peer_beliefs(table: pl.DataFrame, data: Benchmark) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Return these probabilities in the order of our items and classes."""
    names = [str(name) for name in data.labels.classes]
    order = pl.DataFrame({"item": data.labels.items.cast(pl.String)})
    missing = [pl.lit("0").alias(name) for name in names if name not in table.columns]
    joined = order.join(table.with_columns(missing), on="item", how="left", maintain_order="left")
    return joined.select(pl.col(names).cast(pl.Float64).fill_null(0.0)).to_numpy()


def peer_figures(peer: str, name: str, data: Benchmark) -> Figures:
    """Return crowd-kit's accuracy with its defaults; for Dawid-Skene also after exactly 100 iterations."""
    table = peer_answers(peer, CROWD_KIT[name], data, iterations=100 if name != "mace" else 50, tolerance=1e-5)
    if table is None:
        return {"accuracy": None}
    beliefs = peer_beliefs(table, data)
    gold = np.asarray(data.corpus.gold)
    right = accuracy_ties_half(gold, beliefs.argmax(axis=1), beliefs)
    found: Figures = {"accuracy": round(100 * right, 2)}
    if name == "dawid-skene":
        full = peer_answers(peer, "DawidSkene", data, iterations=100, tolerance=-1e9)
        theirs = peer_beliefs(full, data) if full is not None else beliefs
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ours = UNSMOOTHED.infer(data.labels)
        differ = np.flatnonzero(theirs.argmax(axis=1) != ours.answer)
        ranked = np.sort(theirs, axis=1)
        found["accuracy_100"] = round(100 * accuracy_ties_half(gold, theirs.argmax(axis=1), theirs), 2)
        found["differ"] = len(differ)
        found["differ_beyond_ties"] = int((ranked[differ, -1] - ranked[differ, -2] > 1e-6).sum())
    return found


def measure_spans(name: str, data: Benchmark) -> Figures:
    """Return span F1 of one method on the NER set under both schemes; sequence methods with and without the words."""
    plain = name.removesuffix(" without words")
    method = MajorityVote(ties="order", order=PAPER_ORDER) if plain == "majority" else truth_method(plain)
    words = data.corpus if needs_sequences(plain) and plain == name else None
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimate = method.infer(data.labels, words)
    gold, offsets = np.asarray(data.corpus.gold), np.asarray(data.labels.offsets)
    found: Figures = {"seconds": round(time.perf_counter() - begin, 1), "iterations": len(estimate.trace)}
    for scheme in ("conll", "strict"):
        one = span_scores(gold, estimate.answer, offsets, data.labels.classes, scheme=scheme)
        found[scheme] = [round(100 * value, 2) for value in (one.precision, one.recall, one.f1)]
    return found


def accuracy_table(file: FiguresFile, peer: str | None) -> str:
    """Return one row per method and one column per data set."""
    names = [name for name in TRUTH_METHODS if not needs_sequences(name)]
    rows: dict[str, list[object]] = {name: [] for name in names}
    rows |= {"dawid-skene, no smoothing, 100 iterations": []}
    theirs: dict[str, list[object]] = {name: [] for name in CROWD_KIT} if peer else {}
    theirs |= {"dawid-skene, 100 iterations": [], "answers that differ from ours": []} if peer else {}
    for each in SETS:
        data = load_benchmark(each)
        for name in names:
            method = MajorityVote(ties="soft") if name == "majority" else truth_method(name)
            key = f"{each} {name}"
            rows[name].append(file.get(key, partial(measure_accuracy, method, data))["accuracy"])
        key = f"{each} unsmoothed"
        found = file.get(key, partial(measure_accuracy, UNSMOOTHED, data))
        rows["dawid-skene, no smoothing, 100 iterations"].append(found["accuracy"])
        for name in CROWD_KIT if peer else ():
            found = file.get(f"{each} crowd-kit {name}", partial(peer_figures, str(peer), name, data))
            theirs[name].append(found["accuracy"] if found["accuracy"] is not None else "> 5 min")
            if name == "dawid-skene":
                theirs["dawid-skene, 100 iterations"].append(found["accuracy_100"])
                theirs["answers that differ from ours"].append(f"{found['differ_beyond_ties']}")
    short = [each.removeprefix("truth/").removesuffix("_mturk") for each in SETS]
    lines: list[tuple[object, ...]] = [(name, *_format_scores(name, values, rows)) for name, values in rows.items()]
    lines += [("*ebcc, authors' notebook*", *(PUBLISHED_EBCC.get(each, "") for each in SETS))]
    lines += [(f"*crowd-kit {name}*", *values) for name, values in theirs.items()]
    return format_table(["method", *short], lines)


def _format_scores(name: str, values: list[object], rows: dict[str, list[object]]) -> list[str]:
    """Format scores; those of IBCC and EBCC that are below Dawid-Skene's (with its defaults) are marked."""
    base = rows["dawid-skene"]
    short = [name in ("ibcc", "ebcc") and float(str(v)) < float(str(b)) for v, b in zip(values, base, strict=True)]
    return [f"{value:.2f}{' ↓' if mark else ''}" for value, mark in zip(values, short, strict=True)]


def calibration_table(file: FiguresFile) -> str:
    """Return the expected calibration error and log loss, averaged over the data sets."""
    rows = []
    for name in (name for name in TRUTH_METHODS if not needs_sequences(name)):
        found = [file.figures[f"{each} {name}"] for each in SETS]
        errors = [one["calibration_error"] for one in found]
        losses = [one["log_loss"] for one in found]
        rows.append((name, f"{np.mean(errors):.1f}", f"{max(errors):.1f}", f"{np.mean(losses):.3f}"))
    return format_table(["method", "calibration error, mean (%)", "worst set (%)", "log loss, mean (nats)"], rows)


def span_table(file: FiguresFile) -> str:
    """Return precision, recall and F1 of spans on the NER set."""
    data = load_benchmark("ner_conll_mturk")
    names = [*TRUTH_METHODS, *(f"{name} without words" for name in TRUTH_METHODS if needs_sequences(name))]
    rows = []
    for name in names:
        found = file.get(f"ner {name}", partial(measure_spans, name, data))
        cells = [" / ".join(f"{value:.2f}" for value in found[scheme]) for scheme in ("conll", "strict")]
        rows.append((name, *cells, found["iterations"], found["seconds"]))
    return format_table(["method", "conlleval P / R / F1", "strict P / R / F1", "iterations", "seconds"], rows)


def main() -> None:
    """Measure what is missing and write the tables."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--peers", default=str(PEERS) if PEERS.is_file() else None, help="Python with crowd-kit.")
    options.add_argument("--fresh", action="store_true", help="Ignore earlier figures.")
    chosen = options.parse_args()
    file = FiguresFile(RESULTS, fresh=chosen.fresh)
    write_section(PAGE, "accuracy", f"{accuracy_table(file, chosen.peers)}\n\nMeasured {describe_machine()}.")
    write_section(PAGE, "calibration", calibration_table(file))
    write_section(PAGE, "spans", span_table(file))
    print(json.dumps({"figures": len(file.figures), "page": str(PAGE)}))


if __name__ == "__main__":
    main()
