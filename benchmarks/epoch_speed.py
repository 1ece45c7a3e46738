"""Measure an epoch of the paper's two networks: ours, and the same network implemented plainly (epoch_plain).

    python -m benchmarks.epoch_speed            # the paper's data if CROWDLOGIC_DATA is set, otherwise simulated

An epoch consists of training on the corpus, then predictions for it, as in Algorithm 1. Times are CPU seconds of one
thread, the best of several epochs, which depend little on other programs. The targets are 5 times the speed for cnn-gru
on the NER data with GloVe vectors, and 2 times for kim-cnn on the sentiment data with both sets of vectors
concatenated.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from benchmarks.epoch_plain import (
    PlainKim,
    PlainTagger,
    padded_data,
    plain_epoch,
    plain_optimiser,
    plain_prediction,
)
from benchmarks.machine import best_seconds, describe_machine
from crowdlogic.annotators.confusion import ConfusionMatrices
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import vote_shares
from crowdlogic.data.simulate import simulate_ner, simulate_sentiment
from crowdlogic.data.vectors import WordVectors, concatenate_vectors, read_vectors
from crowdlogic.errors import MissingDataError
from crowdlogic.extensions.networks.cnn_gru import CNNGRU
from crowdlogic.extensions.networks.kim_cnn import KimCNN
from crowdlogic.extensions.networks.network import NeuralClassifier
from crowdlogic.extensions.paper.benchmarks import data_folder, is_present, load_benchmark
from crowdlogic.learning.posterior import crowd_posterior

GLOVE, WORD2VEC = "glove_wink_100d_subset.npz", "word2vec_googlenews_300d_bolukbasi_subset.npz"


@dataclass(frozen=True, eq=False)
class Setting:
    """Corpus with word vectors, and the required speed-up of our network."""

    name: str
    corpus: Corpus
    vectors: WordVectors
    bar: float


def sentiment() -> Setting:
    """Return the setting with the sentences of the paper's sentiment data."""
    try:
        vectors = concatenate_vectors(*(read_vectors(data_folder() / "vectors" / name) for name in (GLOVE, WORD2VEC)))
        return Setting("kim-cnn on sentiment_mturk", load_benchmark("sentiment_mturk").corpus, vectors, 2.0)
    except MissingDataError:
        corpus = simulate_sentiment(0, items=5000, test_items=0).corpus
        words = tuple({word for text in corpus.texts or () for word in text.lower().split()})
        return Setting("kim-cnn on simulated reviews", corpus, random_vectors(words, 400), 2.0)


def named_entities() -> Setting:
    """Return the setting with the sentences of the paper's NER data."""
    try:
        vectors = read_vectors(data_folder() / "vectors" / GLOVE)
        return Setting("cnn-gru on ner_conll_mturk", load_benchmark("ner_conll_mturk").corpus, vectors, 5.0)
    except MissingDataError:
        corpus = simulate_ner(0, items=6000, test_items=0).corpus
        return Setting(
            "cnn-gru on simulated sentences", corpus, random_vectors(tuple(set(corpus.tokens or ())), 100), 5.0
        )


def random_vectors(words: tuple[str, ...], size: int) -> WordVectors:
    """Return random vectors for simulated words."""
    return WordVectors(words, np.random.default_rng(0).normal(size=(len(words), size)).astype(np.float32))


@dataclass(frozen=True)
class Times:
    """CPU seconds of the parts of the best epoch."""

    learning: float
    predicting: float

    @property
    def epoch(self) -> float:
        """Seconds for learning and predicting."""
        return self.learning + self.predicting


def best_epoch(learn: Callable[[], object], predict: Callable[[], object], repeats: int) -> Times:
    """Return the best of several epochs, after a warm-up epoch."""
    learn()
    learning = best_seconds(learn, repeats=repeats, clock=time.process_time)
    predict()
    return Times(learning, best_seconds(predict, repeats=repeats, clock=time.process_time))


def ours(setting: Setting, made: NeuralClassifier, repeats: int) -> Times:
    """Return the times of our classifier."""
    targets = soft_targets(setting.corpus)
    return best_epoch(
        lambda: made.fit_epoch(setting.corpus, targets), lambda: made.predict_proba(setting.corpus), repeats
    )


def soft_targets(corpus: Corpus) -> np.ndarray:
    """Return targets[i, k]: 0.8 for the gold class, and 0.2 divided among all classes."""
    return np.asarray(0.8 * np.eye(len(corpus.classes))[corpus.gold] + 0.2 / len(corpus.classes))


def plain(setting: Setting, made: NeuralClassifier, options: KimCNN | CNNGRU, repeats: int) -> Times:
    """Return the times of the same network implemented plainly."""
    inputs, n_classes = made.inputs(setting.corpus), len(setting.corpus.classes)
    vectors = made.network.embedding.own.detach().numpy()  # type: ignore[union-attr, operator]
    is_tagger = isinstance(options, CNNGRU)
    data = padded_data(inputs.rows[0], inputs.offsets, soft_targets(setting.corpus), tokens=is_tagger)
    network: torch.nn.Module = (
        PlainTagger(vectors, n_classes, filters=options.filters, width=options.width, hidden_size=options.hidden_size)
        if isinstance(options, CNNGRU)
        else PlainKim(vectors, n_classes, windows=options.windows, filters=options.filters)
    )
    optimiser, rng = plain_optimiser(network, options.training), np.random.default_rng(0)
    return best_epoch(
        lambda: plain_epoch(network, optimiser, data, options.training, rng),
        lambda: plain_prediction(network, data, options.training.batch_size),
        repeats,
    )


def compare(setting: Setting, options: KimCNN | CNNGRU, repeats: int) -> float:
    """Measure and print; return the seconds of our epoch."""
    made = options.build(setting.corpus, setting.corpus.classes, seed=0)
    lengths = made.inputs(setting.corpus).lengths
    print(f"{setting.name}: {len(lengths):,} sentences, mean length {lengths.mean():.1f}, longest {lengths.max()}")
    quick, ordinary = ours(setting, made, repeats), plain(setting, made, options, repeats)
    print(f"  {'':10} {'learning':>9} {'predicting':>11} {'epoch':>8}   (CPU seconds, one thread, best of {repeats})")
    for name, times in (("ours", quick), ("ordinary", ordinary)):
        print(f"  {name:10} {times.learning:9.2f} {times.predicting:11.2f} {times.epoch:8.2f}")
    ratios = [getattr(ordinary, part) / getattr(quick, part) for part in ("learning", "predicting", "epoch")]
    verdict = "met" if ratios[2] >= setting.bar else "missed"
    print(f"  {'times':10} {ratios[0]:9.2f} {ratios[1]:11.2f} {ratios[2]:8.2f}   bar {setting.bar:g}: {verdict}")
    return quick.epoch


def print_steps_share(name: str, seconds: float) -> None:
    """Print the share of the E- and M-step (eq. 13 and 12) in an epoch, given the classifier's seconds."""
    labels = load_benchmark(name).labels
    q = vote_shares(labels.votes())
    model = ConfusionMatrices()
    crowd = model.observe(labels)
    model.m_step(crowd, q)  # the first call compiles
    steps = best_seconds(lambda: crowd_posterior(q, model.m_step(crowd, q), crowd), repeats=3, clock=time.process_time)
    print(f"{name}: E- and M-step {1000 * steps:.1f} ms, {steps / (steps + seconds):.2%} of an epoch")


def main() -> None:
    """Measure both networks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--repeats", type=int, default=3)
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    print(f"{describe_machine()}, torch {torch.__version__}")
    tags, reviews = named_entities(), sentiment()
    epochs = {
        "ner_conll_mturk": compare(tags, CNNGRU(vectors=tags.vectors), chosen.repeats),
        "sentiment_mturk": compare(reviews, KimCNN(vectors=reviews.vectors), chosen.repeats),
    }
    for name, seconds in epochs.items():
        if is_present(name):
            print_steps_share(name, seconds)


if __name__ == "__main__":
    main()
