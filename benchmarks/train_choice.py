"""`train` without options, beside every preset that fits the data and beside `aggregate`.

    CROWDLOGIC_DATA=DIR python -m benchmarks.train_choice [--sets reviews,entities,labelme,youtube,sms,sentiment,ner]
                                                          [--time 5m] [--seeds 1]

Scores in percent: accuracy, or span F1 for named entities. "inference" is about the training items; "test" is the
prediction for new items with the rules of the preset, or without rules for `train`. For labelling functions the
inference is about the items with labels.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

import crowdlogic
from crowdlogic.data.corpus import UNKNOWN, Corpus, align
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.simulate import simulate_ner, simulate_sentiment
from crowdlogic.extensions.paper.benchmarks import load_benchmark
from crowdlogic.learning.task import score, score_answers

SETS = {
    "reviews": ("linear-paper", "sentiment"),
    "entities": ("linear-paper", "ner"),
    "labelme": (),
    "youtube": ("linear-paper", "sentiment"),
    "sms": ("linear-paper", "sentiment"),
    "sentiment": ("linear-paper", "sentiment", "sentiment-encoder"),
    "ner": ("ner", "ner-released"),
}
"""The presets that fit each set."""


def load_set(name: str, seed: int) -> tuple[CrowdLabels, Corpus, Corpus]:
    """Return labels, items with gold, and test items with gold."""
    if name in ("reviews", "entities"):
        made = (simulate_sentiment if name == "reviews" else simulate_ner)(100 + seed, items=1000, test_items=500)
        labels, corpus, test = made.labels, made.corpus, made.test
    else:
        known = {"labelme": "truth/labelme", "sentiment": "sentiment_mturk", "ner": "ner_conll_mturk"}
        found = load_benchmark(known.get(name, f"weak/{name}"))
        labels, corpus, test = found.labels, found.corpus, found.test
    assert corpus is not None
    assert test is not None
    labels, corpus = align(labels, corpus)
    corpus = corpus.with_classes(labels.classes)
    if name in ("youtube", "sms"):
        assert corpus.gold is not None
        corpus = replace(corpus, gold=np.where(labels.labels_per_unit() > 0, corpus.gold, UNKNOWN))
    return labels, corpus, test.with_classes(labels.classes)


def rows(name: str, seed: int, allowed: str) -> Iterator[tuple[str, float, float | None, float]]:
    """Yield method, score of the inference, score on test items, and seconds."""
    labels, corpus, test = load_set(name, seed)
    unlabelled = replace(corpus, gold=None, classes=())  # nobody must see the gold
    begin = time.perf_counter()
    estimate = crowdlogic.aggregate(labels)
    yield "aggregate", 100 * score_answers(corpus, estimate.answer), None, time.perf_counter() - begin
    for preset in (None, *SETS[name]):
        begin = time.perf_counter()
        learned = crowdlogic.train(
            labels, unlabelled, preset=preset, seed=seed, time=allowed if preset is None else None
        )
        seconds = time.perf_counter() - begin
        title = f"train ({type(learned.classifier).__name__})" if preset is None else f"--preset {preset}"
        inference = score_answers(corpus, learned.estimate.answer)
        yield title, 100 * inference, 100 * score(test, learned.predict(test)), seconds


def main() -> None:
    """Print a row per method and set."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--sets", default=",".join(SETS))
    options.add_argument("--time", default="5m")
    options.add_argument("--seeds", type=int, default=1)
    chosen = options.parse_args()
    warnings.simplefilter("ignore")
    print("| set | method | inference | test | seconds |")
    print("|---|---|---|---|---|")
    for name in chosen.sets.split(","):
        runs = [list(rows(name, seed, chosen.time)) for seed in range(chosen.seeds)]
        for same in zip(*runs, strict=True):
            inference, seconds = np.mean([row[1] for row in same]), np.mean([row[3] for row in same])
            tests = [row[2] for row in same if row[2] is not None]
            test = f"{np.mean(tests):.2f}" if tests else ""
            print(f"| {name} | {same[0][0]} | {inference:.2f} | {test} | {seconds:.0f} |", flush=True)


if __name__ == "__main__":
    main()
