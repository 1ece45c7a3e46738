"""Train on random keyword functions over real texts: are the answers of `train` at least as good as `aggregate`'s?

    CROWDLOGIC_DATA=DIR python -m benchmarks.keyword_functions [--texts youtube,sms,sentiment] [--seeds 6:18]

Design. The texts and their gold come from weak/youtube, weak/sms and sentiment_mturk; their own labels are not used.
Each seed draws 6 to 24 functions. A function labels every text that contains one word or phrase with one class. Its
accuracy is drawn between 0.55 and 0.97, and frequent words are preferred. Answers are scored on the texts that some
function labels, predictions on the test texts. "Estimated in every epoch" is the same method with
`annotators=Abstaining()`, which re-estimates the rates of the functions in every epoch.

The options of `train` for labelling functions were chosen on the texts of youtube and sms with the seeds 6 to 17.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
import polars as pl
from sklearn.feature_extraction.text import CountVectorizer

from crowdlogic import aggregate
from crowdlogic.annotators.abstaining import Abstaining
from crowdlogic.data.corpus import Corpus, documents
from crowdlogic.data.frames import from_arrays
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.extensions.paper.benchmarks import load_benchmark
from crowdlogic.learning.algorithm import LogicLNCL
from crowdlogic.numerics.arrays import Ints

SOURCES = {"youtube": "weak/youtube", "sms": "weak/sms", "sentiment": "sentiment_mturk"}
METHODS = {"train": LogicLNCL(), "estimated in every epoch": LogicLNCL(annotators=Abstaining())}


def draw_functions(corpus: Corpus, seed: int) -> tuple[CrowdLabels, Corpus, Ints]:
    """Return the labels of random functions, the texts without gold, and their truth."""
    rng = np.random.default_rng(seed)
    texts, truth = list(corpus.texts or ()), np.array([int(str(corpus.classes[k])) for k in np.asarray(corpus.gold)])
    vectorizer = CountVectorizer(binary=True, ngram_range=(1, 2), min_df=max(5, len(texts) // 400))
    words = vectorizer.fit_transform(texts).tocsc()
    coverage = np.asarray(words.mean(axis=0)).ravel()
    of_one = np.asarray(words.T @ (truth == 1)) / np.asarray(words.sum(axis=0)).ravel()
    unit, function, given = [], [], []
    for accuracy in rng.uniform(0.55, 0.97, size=rng.integers(6, 25)):
        k = int(rng.integers(2))
        rate = of_one if k else 1 - of_one
        usable = np.flatnonzero((np.abs(rate - accuracy) < 0.06) & (coverage < 0.4))
        if len(usable):
            word = rng.choice(usable, p=coverage[usable] / coverage[usable].sum())
            found = words.indices[words.indptr[word] : words.indptr[word + 1]].tolist()
            unit += found
            function += [f"has {vectorizer.get_feature_names_out()[word]!r}: {k}"] * len(found)
            given += [str(k)] * len(found)
    rows = pl.DataFrame({"item": unit, "annotator": function, "label": given}).unique(maintain_order=True)
    labels = from_arrays(*(rows[name].to_list() for name in rows.columns), classes=("0", "1"))
    return labels, documents(range(len(texts)), texts), truth


def main() -> None:
    """Print a row for each set of functions, and the means."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--texts", default=",".join(SOURCES))
    options.add_argument("--seeds", default="6:18", help="FIRST:LAST")
    chosen = options.parse_args()
    warnings.simplefilter("ignore")
    print("| texts | seed | functions | aggregate |", *(f"{name}: answers | test |" for name in METHODS))
    print("|---" * (4 + 2 * len(METHODS)) + "|")
    gains: list[list[float]] = []
    for name in chosen.texts.split(","):
        found = load_benchmark(SOURCES[name])
        assert found.corpus is not None
        assert found.test is not None
        test_truth = np.array([int(str(found.test.classes[k])) for k in np.asarray(found.test.gold)])
        for seed in range(*map(int, chosen.seeds.split(":"))):
            labels, corpus, truth = draw_functions(found.corpus, seed)
            alone = aggregate(labels)
            covered = np.asarray(alone.items)
            base = 100 * float(np.mean(alone.answer == truth[covered]))
            row: list[float] = []
            for method in METHODS.values():
                learned = method.fit(corpus, labels)
                answer = dict(zip(learned.estimate.items, learned.estimate.answer.tolist(), strict=True))
                right = np.mean(np.array([answer[i] for i in covered.tolist()]) == truth[covered])
                predicted = learned.predict(documents(range(len(test_truth)), found.test.texts)).argmax(axis=1)
                row += [100 * float(right), 100 * float(np.mean(predicted == test_truth))]
            gains.append([row[0] - base, row[1], row[2] - base, row[3]])
            figures = " | ".join(f"{figure:.1f}" for figure in (base, *row))
            print(f"| {name} | {seed} | {len(labels.annotators)} | {figures} |", flush=True)
    for m, method_name in enumerate(METHODS):
        answers, test = np.array(gains)[:, 2 * m], np.array(gains)[:, 2 * m + 1]
        print(
            f"{method_name}: answers - aggregate {answers.mean():+.2f} on average, {answers.min():+.2f} at worst; "
            f"test {test.mean():.2f}"
        )


if __name__ == "__main__":
    main()
