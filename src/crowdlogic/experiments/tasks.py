"""The tasks of the experiments: their data, and the configuration that every row of a table starts from.

The paper's two are `sentiment` (with `-published` for its leaking split) and `ner`; `quick-sentiment` and `quick-ner`
are simulated stand-ins with small networks, for a look at the whole machinery within minutes and without any data.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from crowdlogic.classifiers.linear import Linear
from crowdlogic.data.benchmarks import Benchmark, data_folder, load_benchmark
from crowdlogic.data.corpus import align
from crowdlogic.data.simulate import Simulation, simulate_ner, simulate_sentiment
from crowdlogic.data.vectors import WordVectors, concatenate_vectors, read_vectors
from crowdlogic.errors import OptionError
from crowdlogic.learning.logic_lncl import LogicLNCL
from crowdlogic.learning.presets import PAPER, Configured, ner, sentiment
from crowdlogic.registry import CLASSIFIERS

QUICK = "quick-"
"""Before the name of a task: its simulated stand-in."""

WEAK_MODELS = ("linear", "kim-cnn")
"""The models of the tasks of weak supervision; the first if none is asked for."""

QUICK_EPOCHS, QUICK_RATE = 6, {"sentiment": 1.0, "ner": 5e-3}


def task_named(task: str, option: str = "") -> tuple[Benchmark, Configured]:
    """The data of a task and its configuration.

    Args:
        task: sentiment, sentiment-published, ner, weak-youtube, weak-sms, labelme, quick-sentiment or quick-ner.
        option: How the rules of tags are read (see READINGS), or the model of a weak task; empty for the default.
    """
    if option and task.removeprefix(QUICK).split("-")[0] in ("sentiment", "labelme"):
        raise OptionError(f"row: the task {task} has no option {option!r}.")
    match task.split("-"):
        case ["sentiment"]:
            return _sentiment("clean")
        case ["sentiment", split]:
            return _sentiment(split)
        case ["ner"]:
            return _ner(option or None)
        case ["weak", name]:
            return _weak(name, option)
        case ["labelme"]:
            return _labelme()
        case ["quick", ("sentiment" | "ner") as kind]:
            return _quick(kind, option or None)
    raise OptionError(f"task: {task!r} is none of sentiment, ner, weak-youtube, weak-sms and labelme.")


def sample(data: Benchmark, size: int, *, seed: int) -> Benchmark:
    """The same task with fewer training items, drawn by seed; dev and test stay whole."""
    labels, corpus = align(data.labels, data.corpus)
    if not 0 < size <= len(corpus.items):
        raise OptionError(f"samples: {size:,} asked for, but there are {len(corpus.items):,} items.")
    return replace(
        data,
        labels=labels if size == len(corpus.items) else labels.split(size, seed=seed)[0],
        corpus=corpus if size == len(corpus.items) else corpus.split(size, seed=seed)[0],
    )


@cache
def _sentiment_data(split: str) -> Benchmark:
    return load_benchmark("sentiment_mturk", split=split)


@cache
def _both_vectors() -> WordVectors:
    """Both sets of vectors side by side."""
    return concatenate_vectors(*(read_vectors(path) for path in sorted((data_folder() / "vectors").glob("*.npz"))))


@cache
def _glove() -> WordVectors:
    return read_vectors(next(iter(sorted((data_folder() / "vectors").glob("*glove*.npz")))))


@cache
def _set_named(name: str) -> Benchmark:
    return load_benchmark(name)


def _sentiment(split: str) -> tuple[Benchmark, Configured]:
    return _sentiment_data(split), sentiment(_both_vectors(), reading=PAPER)


def _ner(reading: str | None) -> tuple[Benchmark, Configured]:
    data = _set_named("ner_conll_mturk")
    return data, ner(data.labels.classes, _glove(), reading=reading)


def _weak(name: str, model: str) -> tuple[Benchmark, Configured]:
    """Labelling functions for annotators; the model is linear, or kim-cnn with the vectors of the sentiment task."""
    if model not in ("", *WEAK_MODELS):
        raise OptionError(f"row: the model {model!r} is none of {', '.join(WEAK_MODELS)}.")
    data = _set_named(f"weak/{name}")
    if model == "kim-cnn":
        return data, Configured(sentiment(_both_vectors()).method, None)
    return data, Configured(LogicLNCL(Linear()), None)


def _labelme() -> tuple[Benchmark, Configured]:
    return _set_named("truth/labelme"), Configured(LogicLNCL(CLASSIFIERS.load("mlp")()), None)


def _quick(kind: str, reading: str | None) -> tuple[Benchmark, Configured]:
    """A small simulated task: half of the unlabelled items are dev, half are test."""
    changed: dict[str, Any]
    if kind == "sentiment":
        made, base = simulate_sentiment(0, items=300, test_items=300, labels_per_item=4), sentiment(reading=PAPER)
        changed = {"windows": (2, 3), "filters": 16, "vector_size": 24}
    else:
        made = simulate_ner(0, items=200, test_items=200, labels_per_item=4)
        base = ner(made.labels.classes, reading=reading)
        changed = {"filters": 32, "hidden_size": 24, "vector_size": 24}
    # Few items make few steps: small batches make more of them.
    network: Any = base.method.classifier
    small = replace(
        network, **changed, training=replace(network.training, batch_size=8, learning_rate=QUICK_RATE[kind])
    )
    return _as_benchmark(made), replace(base, method=replace(base.method, classifier=small, epochs=QUICK_EPOCHS))


def _as_benchmark(made: Simulation) -> Benchmark:
    if made.test is None:
        raise OptionError(f"{made.name} has no items to test with.")
    dev, test = made.test.split(len(made.test.items) // 2, seed=0)
    return Benchmark(f"simulated {made.name}", made.labels, made.corpus, dev, test)
