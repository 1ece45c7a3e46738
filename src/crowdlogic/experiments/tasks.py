"""The tasks of the experiments: their data, and the configuration that every row of a table starts from.

The paper's two are `sentiment` (with `-published` for its leaking split) and `ner`; `quick-sentiment` and `quick-ner`
are simulated tasks with small networks that run in minutes and need no data.
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
from crowdlogic.errors import OptionError, did_you_mean, name_list
from crowdlogic.experiments.methods import with_classifier, with_imitation
from crowdlogic.experiments.paper import QUICK
from crowdlogic.learning.algorithm import LogicLNCL
from crowdlogic.learning.imitation import GrowingImitation
from crowdlogic.learning.presets import PAPER, PresetConfiguration, ner, sentiment
from crowdlogic.registry import CLASSIFIERS

WEAK_MODELS = ("linear", "kim-cnn")
"""The classifiers of the tasks of weak supervision, the default first."""

TASKS = (
    "sentiment", "sentiment-published", "ner", "weak-youtube", "weak-sms", "labelme", "quick-sentiment", "quick-ner"
)  # fmt: skip
"""The names of all tasks."""

QUICK_ITEMS = {"sentiment": 300, "ner": 200}
"""Number of training items of the simulated tasks, and of dev and test items together."""

QUICK_EPOCHS, QUICK_RATE = 6, {"sentiment": 1.0, "ner": 5e-3}
"""Maximum number of epochs and learning rates of the simulated tasks."""

QUICK_BATCH = 8
"""Few items make few gradient steps per epoch: small batches make more of them."""

PAPER_STEPS = {"sentiment": 100, "ner": 94}
"""Gradient steps per epoch on the paper's data: 4,999 reviews in batches of 50, 5,985 sentences in batches of 64."""


def load_task(task: str, variant: str = "") -> tuple[Benchmark, PresetConfiguration]:
    """Load the data of a task and its configuration.

    Args:
        task: One of TASKS.
        variant: How the rules of tags are read (one of READINGS), or the classifier of a task of weak supervision (one
            of WEAK_MODELS); empty for the default.
    """
    if variant and task.removeprefix(QUICK).split("-")[0] in ("sentiment", "labelme"):
        raise OptionError(f"row: the task {task} has no option {variant!r}.")
    match task.split("-"):
        case ["sentiment"]:
            return _sentiment("clean")
        case ["sentiment", split]:
            return _sentiment(split)
        case ["ner"]:
            return _ner(variant or None)
        case ["weak", name]:
            return _weak(name, variant)
        case ["labelme"]:
            return _labelme()
        case ["quick", ("sentiment" | "ner") as kind]:
            return _quick(kind, variant or None)
    raise OptionError(f"task: no task is called {task!r}.{did_you_mean(task, TASKS)} There are {name_list(TASKS)}.")


def sample_items(data: Benchmark, size: int, *, seed: int) -> Benchmark:
    """The same data with fewer training items, drawn at random; dev and test stay whole."""
    labels, corpus = align(data.labels, data.corpus)
    if not 0 < size <= len(corpus.items):
        raise OptionError(f"samples: {size:,} requested, but there are {len(corpus.items):,} items.")
    if size < len(corpus.items):
        labels, corpus = labels.split(size, seed=seed)[0], corpus.split(size, seed=seed)[0]
    return replace(data, labels=labels, corpus=corpus)


@cache
def _sentiment_data(split: str) -> Benchmark:
    return load_benchmark("sentiment_mturk", split=split)


@cache
def _both_vectors() -> WordVectors:
    """GloVe and word2vec vectors, concatenated."""
    return concatenate_vectors(*(read_vectors(path) for path in sorted((data_folder() / "vectors").glob("*.npz"))))


@cache
def _glove() -> WordVectors:
    return read_vectors(next(iter(sorted((data_folder() / "vectors").glob("*glove*.npz")))))


@cache
def _load_cached(name: str) -> Benchmark:
    return load_benchmark(name)


def _sentiment(split: str) -> tuple[Benchmark, PresetConfiguration]:
    return _sentiment_data(split), sentiment(_both_vectors(), reading=PAPER)


def _ner(reading: str | None) -> tuple[Benchmark, PresetConfiguration]:
    data = _load_cached("ner_conll_mturk")
    return data, ner(data.labels.classes, _glove(), reading=reading)


def _weak(name: str, model: str) -> tuple[Benchmark, PresetConfiguration]:
    """Weak supervision: annotators are labelling functions; kim-cnn uses the word vectors of the sentiment task."""
    if model not in ("", *WEAK_MODELS):
        raise OptionError(f"row: the task weak-{name} has no option {model!r}. It has {name_list(WEAK_MODELS)}.")
    data = _load_cached(f"weak/{name}")
    if model == "kim-cnn":
        return data, PresetConfiguration(sentiment(_both_vectors()).method, None)
    return data, PresetConfiguration(LogicLNCL(Linear()), None)


def _labelme() -> tuple[Benchmark, PresetConfiguration]:
    return _load_cached("truth/labelme"), PresetConfiguration(LogicLNCL(CLASSIFIERS.load("mlp")()), None)


def _quick(kind: str, reading: str | None) -> tuple[Benchmark, PresetConfiguration]:
    """A small simulated task with a small network."""
    made = _simulate(kind, QUICK_ITEMS[kind])
    if kind == "sentiment":
        base, changed = sentiment(reading=PAPER), {"windows": (2, 3), "filters": 16, "vector_size": 24}
    else:
        base, changed = ner(made.labels.classes, reading=reading), {"filters": 32, "hidden_size": 24, "vector_size": 24}
    network: Any = base.method.classifier
    training = replace(network.training, batch_size=QUICK_BATCH, learning_rate=QUICK_RATE[kind])
    small = replace(network, **changed, training=training)
    method = with_classifier(base.method, small, epochs=QUICK_EPOCHS)
    # k(t) counts the paper's epochs, which have about four times as many gradient steps as those here. Unchanged, it
    # gives the rules almost half of the weight while the network has not found a single entity; and as the rules of
    # tags correct the network's own predictions, the targets lose their entities, too. So k grows per gradient step
    # as it does on the paper's data.
    schedule = method.imitation
    if isinstance(schedule, GrowingImitation):
        steps = QUICK_ITEMS[kind] / QUICK_BATCH
        schedule = replace(schedule, base=schedule.base ** (steps / PAPER_STEPS[kind]))
    return _as_benchmark(made), replace(base, method=with_imitation(method, schedule))


@cache
def _simulate(kind: str, items: int) -> Simulation:
    simulate = simulate_sentiment if kind == "sentiment" else simulate_ner
    return simulate(0, items=items, test_items=items, labels_per_item=4)


def _as_benchmark(made: Simulation) -> Benchmark:
    """Half of the items without labels are dev, half are test."""
    if made.test is None:
        raise OptionError(f"{made.name} has no items to test with.")
    dev, test = made.test.split(len(made.test.items) // 2, seed=0)
    return Benchmark(name=f"simulated {made.name}", labels=made.labels, corpus=made.corpus, dev=dev, test=test)
