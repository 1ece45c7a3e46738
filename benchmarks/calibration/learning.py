"""Confidence after training: answers for training items, and predictions of student and teacher, before and after."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from benchmarks.calibration.sets import score_beliefs
from benchmarks.figures_file import Figures, FiguresFile
from crowdlogic.data.corpus import UNKNOWN, Corpus
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.simulate import simulate_sentiment
from crowdlogic.extensions.paper.benchmarks import Benchmark, load_benchmark
from crowdlogic.extensions.paper.results import format_table
from crowdlogic.learning.algorithm import ConstantImitation, LogicLNCL
from crowdlogic.learning.learned import Learned
from crowdlogic.learning.stopping import TrainingLimits
from crowdlogic.rules.parser import parse_rules

SEEDS = 2
BUT = parse_rules("1.0: include contrast('but')")
SCORES = ("calibration error", "gap")

SETS = ("sentiment_mturk", "simulated reviews")


def load(name: str, seed: int) -> Benchmark:
    """Return training items with labels, dev items and test items."""
    if name == "sentiment_mturk":
        return load_benchmark(name, split="clean")
    made = simulate_sentiment(seed, items=2000, test_items=2000)
    test = made.test
    if test is None:
        raise ValueError("The simulation has no test items.")
    dev, rest = (test.take_items(np.arange(*part)) for part in ((0, 1000), (1000, 2000)))
    return Benchmark(name=name, labels=made.labels, corpus=made.corpus, dev=dev, test=rest)


def views(learned: Learned, data: Benchmark) -> Iterator[tuple[str, Corpus, Beliefs, Beliefs]]:
    """Yield what is scored: name, items, and the beliefs as learnt and as calibrated."""
    yield "truth on training items", learned.task.corpus, learned.epoch.q_f, learned.estimate.beliefs
    for who in ("student", "teacher"):
        for where, items in (("dev", data.dev), ("test", data.test)):
            if items is not None:
                corpus = items.with_classes(learned.task.labels.classes)
                raw, stated = (
                    learned.predict(corpus, student=who == "student", calibrated=how) for how in (False, True)
                )
                yield f"{who} on {where}", corpus, raw, stated


def measure(name: str, seed: int, *, gold: bool) -> Figures:
    """Return the scores before and after calibration, with dev gold or with held-out items."""
    data = load(name, seed)
    method = LogicLNCL(imitation=ConstantImitation(0.2), limits=TrainingLimits(seed=seed))
    learned = method.fit(data.corpus, data.labels, rules=BUT, dev=data.dev if gold else None)
    found: Figures = {"sharpness": [learned.scales.student.sharpness, learned.scales.teacher.sharpness]}
    for what, corpus, raw, stated in views(learned, data):
        truth = np.asarray(corpus.gold)
        known = truth != UNKNOWN
        scores = [score_beliefs(truth[known], beliefs[known]) for beliefs in (raw, stated)]
        found[what] = [round(one[score], 3) for score in SCORES for one in scores]
    return found


def learning_table(file: FiguresFile) -> str:
    """Return a row per data set, source of the scale and view: means over the seeds."""
    rows = []
    for name in SETS:
        for gold in (False, True):
            by = "dev gold" if gold else "held-out items"
            runs = [
                file.get(f"learning {name}, {by}, seed {seed}", partial(measure, name, seed, gold=gold))
                for seed in range(SEEDS)
            ]
            for what in runs[0]:
                if what != "sharpness":
                    mean = np.mean([run[what] for run in runs], axis=0)
                    rows.append(
                        (
                            name,
                            by,
                            what,
                            *(f"{value:.1f}" for value in mean[:2]),
                            *(f"{value:+.1f}" for value in mean[2:]),
                        )
                    )
    columns = ["calibration error (%) before", "after", "confidence minus accuracy (points) before", "after"]
    return format_table(["data", "calibrated by", "predictions", *columns], rows)
