"""Simulated data sets, as written by `crowdlogic simulate` and used by the demo.

Items, crowd and test set use independent random generators, so that the size of the test set affects nothing else.

Axes: j annotator, k class, m true class, n given label.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.simulate.crowds import (
    DEFAULT_TAIL,
    HARD_MIX,
    HARD_TAIL,
    SimulatedCrowd,
    check_count,
    check_mean,
    label_truth,
    simulate_crowd,
    simulate_hard_crowd,
)
from crowdlogic.data.simulate.reviews import SENTIMENTS, simulate_reviews
from crowdlogic.data.simulate.sentences import simulate_entities, simulate_sentences
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import OptionError
from crowdlogic.numerics.arrays import Floats


@dataclass(frozen=True, eq=False)
class Simulation:
    """Simulated data set with the planted truth.

    Attributes:
        name: sentiment, ner or labels.
        description: Description in one line, which says that the data are simulated.
        labels: The labels of the crowd.
        corpus: The labelled items, with gold.
        test: Other items with gold but without labels; None if the items have no texts.
        annotators: One row per annotator: name, character, number of labels, and the planted rates.
        confusion: confusion[j, m, n], the planted matrices; None if the errors are those of spans.
    """

    name: str
    description: str
    labels: CrowdLabels
    corpus: Corpus
    test: Corpus | None
    annotators: pl.DataFrame
    confusion: Floats | None


def simulate_sentiment(
    seed: int,
    *,
    items: int = 1000,
    test_items: int = 500,
    annotators: int = 30,
    labels_per_item: float | None = None,
    contrast: float = 0.3,
    hard: bool = True,
) -> Simulation:
    """Simulate reviews with "A but B" contrasts, and a crowd that labels them positive or negative.

    Args:
        seed: Random seed.
        items: Number of reviews that the crowd labels.
        test_items: Number of reviews in the test set.
        annotators: Number of annotators.
        labels_per_item: Mean number of annotators who see a review; by default 5.
        contrast: Share of contrasts.
        hard: Whether the crowd is one on which majority vote fails.
    """
    check_sizes(items, annotators, labels_per_item, test_items=test_items)
    texts, people, unseen = spawn_generators(seed)
    reviews = simulate_reviews(texts, items=items, contrast=contrast)
    corpus, truth = reviews.corpus, np.asarray(reviews.corpus.gold)
    make = simulate_hard_crowd if hard else label_truth
    crowd = make(people, truth, SENTIMENTS, annotators=annotators, labels_per_unit=labels_per_item, items=corpus.items)
    return Simulation(
        name="sentiment",
        description=(
            f"{items:,} simulated reviews, {int(reviews.contrast.sum()):,} of them 'A but B', labelled by "
            f"{annotators:,} simulated annotators (seed {seed})"
        ),
        labels=crowd.labels,
        corpus=corpus,
        test=simulate_reviews(unseen, items=test_items, contrast=contrast, prefix="t").corpus,
        annotators=describe_annotators(crowd),
        confusion=crowd.confusion,
    )


def simulate_ner(
    seed: int,
    *,
    items: int = 500,
    test_items: int = 300,
    annotators: int = 20,
    labels_per_item: float | None = None,
    mix: Mapping[str, float] | None = None,
) -> Simulation:
    """Simulate sentences with named entities, and a crowd that misses entities, their boundaries or their types.

    Args:
        seed: Random seed.
        items: Number of sentences that the crowd annotates.
        test_items: Number of sentences in the test set.
        annotators: Number of annotators.
        labels_per_item: Mean number of annotators who see a sentence; by default 5.
        mix: TaggerCharacter -> share or number of annotators.
    """
    check_sizes(items, annotators, labels_per_item, test_items=test_items)
    people, unseen, _ = spawn_generators(seed)
    crowd = simulate_entities(
        people, sentences=items, annotators=annotators, labels_per_sentence=labels_per_item, mix=mix
    )
    rates = {name: getattr(crowd.rates, name) for name in ("ignore", "boundary", "type", "spurious")}
    return Simulation(
        name="ner",
        description=(
            f"{items:,} simulated sentences with named entities, annotated by {annotators:,} simulated annotators "
            f"(seed {seed})"
        ),
        labels=crowd.labels,
        corpus=crowd.corpus,
        test=simulate_sentences(unseen, sentences=test_items, prefix="t"),
        annotators=_annotator_table(crowd.labels, crowd.characters).with_columns(
            pl.Series(name, rate) for name, rate in rates.items()
        ),
        confusion=None,
    )


def simulate_labels(
    seed: int,
    *,
    items: int = 500,
    annotators: int = 20,
    classes: int | Sequence[str] = 3,
    labels_per_item: float | None = None,
    balance: Sequence[float] | None = None,
    mix: Mapping[str, float] | None = None,
    tail: float | None = None,
    abstention: float = 0.0,
    pace: float | None = None,
    hard: bool = False,
) -> Simulation:
    """Simulate labels without texts, for truth methods.

    Args:
        seed: Random seed.
        items: Number of items.
        annotators: Number of annotators.
        classes: Number of classes, or their names.
        labels_per_item: Mean number of annotators who see an item; by default 5.
        balance: Share of each class.
        mix: Character -> share or number of annotators.
        tail: Exponent of the long-tailed activity; by default 1, and less if `hard` is set.
        abstention: Probability that an annotator skips an item.
        pace: Mean number of seconds per label; None for labels without times.
        hard: Whether the crowd is one on which majority vote fails.
    """
    check_sizes(items, annotators, labels_per_item)
    if hard and mix is not None:
        raise OptionError("mix: the hard crowd has a fixed mix. Give either a mix or the option for the hard crowd.")
    default_tail = HARD_TAIL if hard else DEFAULT_TAIL
    crowd = simulate_crowd(
        spawn_generators(seed)[0],
        units=items,
        annotators=annotators,
        classes=classes,
        balance=balance,
        mix=HARD_MIX if hard else mix,
        labels_per_unit=labels_per_item,
        tail=default_tail if tail is None else tail,
        abstention=abstention,
        pace=pace,
    )
    labels = crowd.labels
    return Simulation(
        name="labels",
        description=(
            f"{pluralise(labels.n_labels, 'simulated label')} of {pluralise(items, 'item')} in "
            f"{pluralise(labels.n_classes, 'class', 'classes')} by "
            f"{pluralise(annotators, 'simulated annotator')} (seed {seed})"
        ),
        labels=labels,
        corpus=Corpus(labels.items, classes=labels.classes, gold=crowd.truth),
        test=None,
        annotators=describe_annotators(crowd),
        confusion=crowd.confusion,
    )


def check_sizes(items: int, annotators: int, labels_per_item: float | None, *, test_items: int = 1) -> None:
    """Raise an error for invalid sizes, with the names that the options have in this module."""
    for name, count in (("items", items), ("test_items", test_items), ("annotators", annotators)):
        check_count(name, count)
    if labels_per_item is not None:
        check_mean("labels_per_item", labels_per_item, annotators)


def spawn_generators(seed: int) -> tuple[np.random.Generator, np.random.Generator, np.random.Generator]:
    """Return three independent generators from one seed."""
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise OptionError(f"seed: expected an integer of 0 or more, got {seed!r}.")
    first, second, third = np.random.default_rng(seed).spawn(3)
    return first, second, third


def describe_annotators(crowd: SimulatedCrowd) -> pl.DataFrame:
    """Return one row per annotator: name, character, number of labels, abstention rate and accuracy.

    The accuracy is that of the planted confusion matrix: its diagonal, weighted by the shares of the classes.
    """
    share = np.bincount(crowd.truth, minlength=crowd.labels.n_classes) / len(crowd.truth)
    right = np.einsum("jmm,m->j", crowd.confusion, share)
    return _annotator_table(crowd.labels, crowd.characters).with_columns(
        pl.Series("abstention", crowd.abstention), pl.Series("accuracy", right)
    )


def _annotator_table(labels: CrowdLabels, characters: tuple[str, ...]) -> pl.DataFrame:
    columns = {"annotator": labels.annotators, "character": characters, "labels": labels.labels_per_annotator()}
    return pl.DataFrame(columns)
