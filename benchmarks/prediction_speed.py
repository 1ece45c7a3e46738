"""Measure the time to predict one text or sentence, with a loaded run and with its exports: the median on one core.

    OMP_NUM_THREADS=1 python -m benchmarks.prediction_speed [--repeats 200]

The linear model over 2,000 simulated reviews, alone and with a rule; the tagger of the paper (512 filters) over 500
simulated sentences. Every text is different. The table goes into docs/how-to/production.md.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("POLARS_MAX_THREADS", "1")

from benchmarks.machine import describe_machine
from crowdlogic import Linear, LogicLNCL, TrainingLimits, load_run, parse_rules
from crowdlogic.data.simulate import simulate_ner, simulate_sentiment
from crowdlogic.extensions.networks import CNNGRU
from crowdlogic.extensions.networks.export import export_run
from crowdlogic.extensions.networks.runtime import Predictor
from crowdlogic.extensions.paper.results import format_table, write_section
from crowdlogic.learning import train_run
from crowdlogic.learning.method import TrainingData

PAGE = Path("docs/how-to/production.md")
CONTRAST = "1.0: Label(S, C) & After(S, 'but', B) -> Predicted(B, C)"
BARS = {"linear": 5.0, "tagger": 20.0}
"""Time limit for one text, in milliseconds."""


def median_milliseconds(work: Callable[[Any], object], items: list[Any]) -> float:
    """Return the median time of one call, each with a different item."""
    work(items[0])
    seconds = []
    for item in items:
        begin = time.perf_counter()
        work(item)
        seconds.append(time.perf_counter() - begin)
    return statistics.median(seconds) * 1000


def predict_one(predict: Callable[[list[Any]], object], item: Any) -> object:
    """Return the prediction for a list of one item."""
    return predict([item])


def train(folder: Path, classifier: Any, crowd: Any, rules: str | None) -> None:
    """Return a short fit, since the quality of the fit does not affect the times."""
    data = TrainingData(corpus=crowd.corpus, labels=crowd.labels, rules=None if rules is None else parse_rules(rules))
    train_run(folder, LogicLNCL(classifier=classifier, limits=TrainingLimits(epochs=1, held_out=None)), data)


def measure(home: Path, repeats: int) -> list[tuple[object, ...]]:
    """Return one row per model and way to use it."""
    reviews, tagged = simulate_sentiment(0, items=2000, annotators=20), simulate_ner(0, items=500, annotators=8)
    texts = list(simulate_sentiment(1, items=repeats, annotators=2).corpus.texts or ())
    corpus = simulate_ner(1, items=repeats, annotators=2).corpus
    sentences = [list(corpus.sentence(s)) for s in range(len(corpus.items))]
    cases: list[tuple[str, str, Any, Any, str | None, list[Any]]] = [
        ("linear", "linear", Linear(), reviews, None, texts),
        ("linear, with a rule", "linear", Linear(), reviews, CONTRAST, texts),
        ("tagger (cnn-gru)", "tagger", CNNGRU(), tagged, None, sentences),
    ]
    rows: list[tuple[object, ...]] = []
    for number, (name, bar, classifier, crowd, rules, items) in enumerate(cases):
        folder = home / str(number)
        train(folder, classifier, crowd, rules)
        run = load_run(folder)
        export_run(folder, home / f"{number}-onnx", to="onnx")
        model = Predictor(home / f"{number}-onnx")
        ours = median_milliseconds(partial(predict_one, run.predict), items)
        onnx = median_milliseconds(partial(predict_one, model.predict_proba), items)
        met = "yes" if ours < BARS[bar] else "no"
        rows.append((name, f"{ours:.2f}", f"{onnx:.2f}", f"{BARS[bar]:g}", met))
    return rows


def main() -> None:
    """Measure, and write the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--repeats", type=int, default=200)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(Path(folder), chosen.repeats)
    columns = ["one text", "`run.predict`, ms", "`predict.py` (ONNX), ms", "limit, ms", "within the limit"]
    words = f"Median of {chosen.repeats} texts, `python -m benchmarks.prediction_speed`, measured {describe_machine()}."
    write_section(PAGE, "prediction", f"{format_table(columns, rows)}\n\n{words}")
    print(format_table(columns, rows))


if __name__ == "__main__":
    main()
