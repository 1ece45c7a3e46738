"""Simulated crowds: annotators with planted confusion matrices, and the labels that they give to items.

What an estimate should find (truth, confusion matrices, kinds of annotators) is returned together with the labels.

Axes: i unit, j annotator, k class, m true class, n given label, s sequence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import polars as pl

from crowdlogic.data.intake.contract import Intake
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import Names
from crowdlogic.errors import OptionError, did_you_mean
from crowdlogic.numerics.arrays import Floats, Ints

# The characters of simulated annotators, as planted confusion matrices.
#
# A character determines the form of the confusion matrix. The numbers are drawn for each annotator.
#
# Axes: j annotator, k class, m true class, n given label.


class Character(StrEnum):
    """Kinds of annotators."""

    expert = "expert"
    ordinary = "ordinary"
    spammer = "spammer"
    adversary = "adversary"
    biased = "biased"
    lazy = "lazy"


DEFAULT_MIX: dict[str, float] = {
    Character.expert: 0.20,
    Character.ordinary: 0.45,
    Character.spammer: 0.10,
    Character.adversary: 0.05,
    Character.biased: 0.12,
    Character.lazy: 0.08,
}
"""Shares of the characters in a usual crowd: most annotators are competent."""

EXPERT_RIGHT = (0.90, 0.99)
ORDINARY_RIGHT = (0.60, 0.85)
ADVERSARY_RIGHT = (0.02, 0.15)
TO_PARTNER = 0.9
"""Share of an adversary's wrong answers that go to the same class."""
LEAN = (0.40, 0.70)
"""Share of the items for which a biased or lazy annotator gives the favourite answer, whatever the truth."""
SWAP = (0.40, 0.60)
"""Rate at which a biased annotator confuses two classes."""
LAZY_ABSTENTION = 0.3
"""Rate at which a lazy annotator abstains."""


def planted_confusion(rng: np.random.Generator, characters: Sequence[str], balance: Floats) -> Floats:
    """Draw confusion[j, m, n], a confusion matrix for each annotator according to their character.

    Args:
        rng: Random number generator.
        characters: One Character per annotator.
        balance: balance[k], the share of each class; lazy annotators prefer the most common class.
    """
    if len(balance) == 1:
        return np.ones((len(characters), 1, 1))
    return np.stack([MATRICES[Character(character)](rng, balance) for character in characters])


def planted_abstention(characters: Sequence[str], base: float) -> Floats:
    """Return abstention[j]: the base rate, and a higher one for lazy annotators."""
    lazy = np.array([character == Character.lazy for character in characters])
    return np.where(lazy, 1 - (1 - base) * (1 - LAZY_ABSTENTION), base)


def expert(rng: np.random.Generator, balance: Floats) -> Floats:
    """Return the matrix of an annotator who is almost always right, in every class."""
    return confusion_with_accuracy(rng, rng.uniform(*EXPERT_RIGHT, len(balance)))


def ordinary(rng: np.random.Generator, balance: Floats) -> Floats:
    """Return the matrix of an annotator who is right more often than not."""
    return confusion_with_accuracy(rng, rng.uniform(*ORDINARY_RIGHT, len(balance)))


def spammer(rng: np.random.Generator, balance: Floats) -> Floats:
    """Return a matrix with equal rows: always the same class, or any class with equal probability."""
    classes = len(balance)
    if rng.random() < 0.5:
        return np.full((classes, classes), 1.0 / classes)
    return np.tile(np.eye(classes)[rng.integers(classes)], (classes, 1))


def adversary(rng: np.random.Generator, balance: Floats) -> Floats:
    """Return the matrix of an annotator who systematically gives another class."""
    classes = len(balance)
    right = rng.uniform(*ADVERSARY_RIGHT, classes)
    wrong = 1.0 - right[:, None]
    elsewhere = confusion_with_accuracy(rng, np.zeros(classes))
    # partner[m], the class that m is mistaken for: the next one in a random cycle of all classes, so never m itself
    order = rng.permutation(classes)
    partner = np.empty(classes, dtype=np.int64)
    partner[order] = np.roll(order, 1)
    return np.diag(right) + wrong * (TO_PARTNER * np.eye(classes)[partner] + (1 - TO_PARTNER) * elsewhere)


def biased(rng: np.random.Generator, balance: Floats) -> Floats:
    """Return the matrix of a competent annotator who prefers one class, or confuses two classes."""
    base = expert(rng, balance)
    if rng.random() < 0.5:
        return add_bias(base, int(rng.integers(len(balance))), rng.uniform(*LEAN))
    pair = rng.choice(len(balance), 2, replace=False)
    swap = rng.uniform(*SWAP)
    base[pair] = (1 - swap) * base[pair] + swap * np.eye(len(balance))[pair[::-1]]
    return base


def lazy(rng: np.random.Generator, balance: Floats) -> Floats:
    """Return the matrix of an annotator who often gives the most common class."""
    return add_bias(ordinary(rng, balance), int(np.argmax(balance)), rng.uniform(*LEAN))


MATRICES: dict[Character, Callable[[np.random.Generator, Floats], Floats]] = {
    Character.expert: expert,
    Character.ordinary: ordinary,
    Character.spammer: spammer,
    Character.adversary: adversary,
    Character.biased: biased,
    Character.lazy: lazy,
}


def confusion_with_accuracy(rng: np.random.Generator, right: Floats) -> Floats:
    """Draw a matrix with the given diagonal and random errors, which are unevenly distributed over the classes."""
    errors: Floats = rng.exponential(size=(len(right), len(right)))
    np.fill_diagonal(errors, 0.0)
    share: Floats = (1.0 - right) / errors.sum(axis=1)
    return np.diag(right) + errors * share[:, None]


def add_bias(confusion: Floats, favourite: int, share: float) -> Floats:
    """Return the matrix of an annotator who gives the favourite class to a share of the items, whatever the truth."""
    leaned = (1.0 - share) * confusion
    leaned[:, favourite] += share
    return leaned


# Who labels what, and when: long-tailed activity, distinct annotators per item, times.
#
# Axes: i item (a whole document or sequence), j annotator, p pair of item and annotator.

STREAM_ROUNDS = 3
"""Number of rounds of drawing, after which the few items that still lack annotators are completed in one step."""
RACE_CELLS = 1 << 22
"""Maximum number of (item, annotator) cells in memory at once: 32 MB."""
EPOCH = 1_704_067_200.0
"""1 January 2024 in seconds since 1970, when the first simulated annotators begin."""
RECRUITING = 14 * 24 * 3600.0
"""Duration in seconds, two weeks, within which annotators begin."""


def long_tailed_activity(rng: np.random.Generator, annotators: int, exponent: float) -> Floats:
    """Draw activity[j], shares proportional to rank^-exponent (Zipf) in random order; equal shares for exponent 0."""
    activity = np.arange(1, annotators + 1, dtype=np.float64) ** -exponent
    return rng.permutation(activity / activity.sum())


def draw_counts(rng: np.random.Generator, items: int, annotators: int, mean: float) -> Ints:
    """Draw n[i], the number of annotators of each item, from 1 to all, with the given mean."""
    if annotators == 1:
        return np.ones(items, dtype=np.int64)
    return 1 + rng.binomial(annotators - 1, (mean - 1) / (annotators - 1), size=items)


def draw_pairs(rng: np.random.Generator, counts: Ints, activity: Floats) -> tuple[Ints, Ints]:
    """Draw item[p], annotator[p]: for each item, the given number of distinct annotators, preferring the active ones.

    Annotators of an item are drawn one after the other, annotator j with rate activity[j], until enough distinct ones
    are found, for all items at once. Items that still lack annotators after a few rounds are completed by sampling the
    first arrival of each annotator (independent exponential times), which gives the same distribution.
    """
    annotators = len(activity)
    keys = np.empty(0, dtype=np.int64)
    arrivals = np.cumsum(activity) / activity.sum()
    for _ in range(STREAM_ROUNDS):
        item = np.repeat(np.arange(len(counts)), counts - np.bincount(keys // annotators, minlength=len(counts)))
        drawn = np.minimum(np.searchsorted(arrivals, rng.random(len(item)), side="right"), annotators - 1)
        keys = np.sort(np.concatenate([keys, item * annotators + drawn]))  # several times as fast as np.unique
        keys = keys[np.diff(keys, prepend=-1) != 0]
    missing = counts - np.bincount(keys // annotators, minlength=len(counts))
    late = _draw_latecomers(rng, keys, missing, activity)
    keys = np.sort(np.concatenate([keys, late]))
    return keys // annotators, keys % annotators


def _draw_latecomers(rng: np.random.Generator, keys: Ints, missing: Ints, activity: Floats) -> Ints:
    """Draw further annotators for the items that lack some: those that arrive first among the others.

    Pairs of item and annotator are represented by keys, item * number of annotators + annotator.
    """
    annotators = len(activity)
    short = np.flatnonzero(missing)
    row_of = np.full(len(missing), -1, dtype=np.int64)
    found = [np.empty(0, dtype=np.int64)]
    for block in np.array_split(short, max(1, -(-len(short) * annotators // RACE_CELLS))):
        row_of[block] = np.arange(len(block))
        arrival = rng.exponential(size=(len(block), annotators)) / activity
        there = keys[row_of[keys // annotators] >= 0]
        arrival[row_of[there // annotators], there % annotators] = np.inf
        rank = arrival.argsort(axis=1).argsort(axis=1)
        row, annotator = np.nonzero(rank < missing[block, None])
        found.append(block[row] * annotators + annotator)
        row_of[block] = -1
    return np.concatenate(found)


def annotator_progress(rng: np.random.Generator, annotator: Ints, annotators: int) -> tuple[Ints, Ints]:
    """Draw place[p], the position of pair p in its annotator's random order; also return count[j], their number."""
    order = np.lexsort((rng.random(len(annotator)), annotator))
    count = np.bincount(annotator, minlength=annotators)
    first = np.cumsum(count) - count
    place = np.empty(len(annotator), dtype=np.int64)
    place[order] = np.arange(len(annotator)) - first[annotator[order]]
    return place, count


def label_times(rng: np.random.Generator, annotator: Ints, place: Ints, count: Ints, *, pace: float) -> Floats:
    """Draw time[p] in seconds since 1970: annotators start on a random day and need about `pace` seconds per label."""
    begin = EPOCH + rng.uniform(0, RECRUITING, size=len(count))
    gaps = rng.exponential(pace, size=len(annotator))
    order = np.lexsort((place, annotator))
    elapsed = np.cumsum(gaps)
    first = np.cumsum(count) - count
    before = np.concatenate([[0.0], elapsed])[first]
    time = np.empty(len(annotator))
    time[order] = begin[annotator[order]] + elapsed - before[annotator[order]]
    return time


# Checks of the options of a simulation: counts, shares, means, mixes of characters.

STEEPEST_TAIL = 10
"""Maximum exponent of the activity."""


def check_count(name: str, value: int) -> None:
    """Raise an error unless a count is an integer of at least 1."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise OptionError(f"{name}: expected an integer of 1 or more, got {value!r}.")


def check_share(name: str, value: float) -> None:
    """Raise an error unless a share is between 0 and 1."""
    if not 0 <= value <= 1:
        raise OptionError(f"{name}: expected a number from 0 to 1, got {value!r}.")


def check_mean(name: str, value: float, most: int) -> None:
    """Raise an error unless the mean number of annotators per item is from 1 to the number of annotators."""
    if not 1 <= value <= most:
        raise OptionError(
            f"{name}: {value!r} annotators per item requested, but there are {most}. Give a mean from 1 to {most}."
        )


def check_tail(tail: float) -> None:
    """Raise an error unless the exponent of the activity is valid."""
    if not 0 <= tail <= STEEPEST_TAIL:
        raise OptionError(
            f"tail must be from 0 (equal activity) to {STEEPEST_TAIL} (one annotator does nearly all), got {tail!r}."
        )


def class_names(classes: int | Sequence[str]) -> tuple[str, ...]:
    """Return the given names, or class_0, class_1, ..., padded with zeros so that sorting keeps their order."""
    if isinstance(classes, str):
        raise OptionError(f"classes: {classes!r} is one text. Give a number of classes or a list of names.")
    if isinstance(classes, Sequence):
        names = tuple(classes)
        if not names or len(set(names)) != len(names):
            raise OptionError("classes: expected at least one class, each once. Correct the list.")
        return names
    check_count("classes", classes)
    return numbered_names("class_", classes, start=0)


def numbered_names(prefix: str, count: int, *, start: int = 1) -> tuple[str, ...]:
    """Return prefix01, prefix02, ..., padded with zeros."""
    width = len(str(start + count - 1))
    return tuple(f"{prefix}{n:0{width}d}" for n in range(start, start + count))


def class_balance(balance: Sequence[float] | None, classes: int) -> Floats:
    """Return balance[k], the share of each class: the given numbers divided by their sum; equal shares by default."""
    if balance is None:
        return np.full(classes, 1.0 / classes)
    given: Floats = np.asarray(balance, dtype=np.float64)
    if given.shape != (classes,) or not np.isfinite(given).all() or (given < 0).any() or given.sum() == 0:
        raise OptionError(f"balance: expected {classes} numbers of 0 or more, one per class, got {list(balance)}.")
    return np.asarray(given / given.sum())


def allocate_mix(mix: Mapping[str, float], known: Sequence[str], annotators: int) -> tuple[str, ...]:
    """Return the character of each annotator according to a mix: integers are numbers of annotators, others are shares.

    Shares are rounded by the largest remainder method, so that the numbers sum to the number of annotators.
    """
    for name, amount in mix.items():
        if name not in known:
            raise OptionError(
                f"mix: unknown kind of annotator {name!r}.{did_you_mean(name, [*map(str, known)])} "
                f"Choose from {', '.join(known)}."
            )
        if not (np.isfinite(amount) and amount >= 0):
            raise OptionError(f"mix: {amount!r} of {str(name)!r} is not valid. Give counts or shares of 0 or more.")
    amounts = np.array(list(mix.values()), dtype=np.float64)
    if amounts.sum() == 0:
        raise OptionError("mix: all amounts are 0. Give at least one character a count or a share.")
    if all(isinstance(amount, (int, np.integer)) for amount in mix.values()):
        if amounts.sum() != annotators:
            raise OptionError(
                f"mix: the numbers sum to {int(amounts.sum())}, but there are {annotators} annotators. Correct them, "
                f"or give shares."
            )
        counts = amounts.astype(np.int64)
    else:
        exact = amounts / amounts.sum() * annotators
        counts = np.floor(exact).astype(np.int64)
        counts[np.argsort(counts - exact, kind="stable")[: annotators - counts.sum()]] += 1
    return tuple(name for name, count in zip(mix, counts, strict=True) for _ in range(count))


DEFAULT_LABELS = 5.0
"""Default mean number of annotators per item; all annotators if there are fewer."""
DEFAULT_TAIL = 1.0
"""Default exponent of the activity: the busiest 6 of 30 annotators do about half the work."""

HARD_MIX: dict[str, float] = {
    Character.expert: 0.30,
    Character.ordinary: 0.10,
    Character.spammer: 0.25,
    Character.adversary: 0.15,
    Character.biased: 0.20,
}
"""Shares in a crowd on which majority vote fails. The few experts agree often enough to be identified."""
HARD_TAIL = 0.4
"""Exponent of the activity in that crowd, low so that nearly all annotators give enough labels for an estimate."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SimulatedCrowd:
    """Simulated labels with their truth and the properties of their annotators.

    Attributes:
        labels: The labels.
        truth: truth[i], the true class of each unit.
        confusion: confusion[j, m, n], the probability that annotator j gives label n if the truth is m, without drift.
        characters: The character of each annotator.
        abstention: abstention[j], the probability that annotator j skips an item.
        activity: activity[j], the planted share of the work.
        shown: shown[j], the number of items that annotator j saw, including skipped ones.
    """

    labels: CrowdLabels
    truth: Ints
    confusion: Floats
    characters: tuple[str, ...]
    abstention: Floats
    activity: Floats
    shown: Ints


def simulate_crowd(
    rng: np.random.Generator,
    *,
    units: int = 40,
    annotators: int = 4,
    classes: int | Sequence[str] = 3,
    balance: Sequence[float] | None = None,
    mix: Mapping[str, float] | None = None,
    labels_per_unit: float | None = None,
    tail: float = DEFAULT_TAIL,
    abstention: float = 0.0,
    pace: float | None = None,
    drift: float = 0.0,
) -> SimulatedCrowd:
    """Simulate true classes, and a crowd that labels the units.

    Args:
        rng: Random number generator.
        units: Number of units.
        annotators: Number of annotators.
        classes: Number of classes, or their names.
        balance: balance[k], the share of each class; equal by default.
        mix: Character -> share (floats) or number of annotators (integers, which must sum to `annotators`).
        labels_per_unit: Mean number of annotators who see a unit, from 1 to all.
        tail: Exponent of the long-tailed activity; with 0, all annotators are equally active.
        abstention: Probability that an annotator skips a unit; lazy annotators skip more.
        pace: Mean number of seconds per label; None for labels without times.
        drift: Probability that an annotator's last label is a random guess; it grows linearly from 0.
    """
    check_count("units", units)
    names = class_names(classes)
    shares = class_balance(balance, len(names))
    truth = rng.choice(len(names), size=units, p=shares).astype(np.int32)
    return label_truth(
        rng,
        truth,
        names,
        balance=shares,
        annotators=annotators,
        mix=mix,
        labels_per_unit=labels_per_unit,
        tail=tail,
        abstention=abstention,
        pace=pace,
        drift=drift,
    )


def simulate_hard_crowd(
    rng: np.random.Generator,
    truth: Ints,
    classes: int | Sequence[str],
    *,
    annotators: int = 30,
    labels_per_unit: float | None = None,
    items: Names | None = None,
) -> SimulatedCrowd:
    """Simulate a crowd on which majority vote clearly fails, while a model of the annotators succeeds.

    60% are spammers, adversaries or biased. A model recognises the experts because they agree with each other.
    """
    return label_truth(
        rng,
        truth,
        classes,
        annotators=annotators,
        mix=HARD_MIX,
        labels_per_unit=labels_per_unit,
        tail=HARD_TAIL,
        items=items,
    )


def label_truth(
    rng: np.random.Generator,
    truth: Ints,
    classes: int | Sequence[str],
    *,
    balance: Sequence[float] | Floats | None = None,
    annotators: int = 30,
    mix: Mapping[str, float] | None = None,
    labels_per_unit: float | None = None,
    tail: float = DEFAULT_TAIL,
    abstention: float = 0.0,
    pace: float | None = None,
    drift: float = 0.0,
    items: Names | None = None,
    offsets: Ints | None = None,
) -> SimulatedCrowd:
    """Simulate a crowd that labels units whose true classes are given.

    Args:
        rng: Random number generator.
        truth: truth[i], the code of each unit's class.
        classes: Number of classes, or their names.
        balance: balance[k], the share of each class; by default, that in the truth.
        annotators: Number of annotators.
        mix: Character -> share or number of annotators; see `simulate_crowd`, also for the following options.
        labels_per_unit: Mean number of annotators per item.
        tail: Exponent of the long-tailed activity.
        abstention: Probability that an annotator skips an item.
        pace: Mean number of seconds per label.
        drift: Probability that an annotator's last label is a random guess.
        items: Name of each item.
        offsets: First unit of each sequence, and the number of units, if the units are tokens; annotators then label
            whole sequences.
    """
    names = class_names(classes)
    _check_crowd(truth, len(names), annotators, abstention=abstention, tail=tail, pace=pace, drift=drift)
    mean = min(DEFAULT_LABELS, annotators) if labels_per_unit is None else labels_per_unit
    check_mean("labels_per_unit", mean, annotators)
    characters = tuple(rng.permutation(allocate_mix(mix or DEFAULT_MIX, tuple(Character), annotators)).tolist())
    known = np.bincount(truth, minlength=len(names)) if balance is None else balance
    confusion = planted_confusion(rng, characters, class_balance(list(known), len(names)))
    skips = planted_abstention(characters, abstention)
    activity = long_tailed_activity(rng, annotators, tail)
    n_items = len(truth) if offsets is None else len(offsets) - 1
    item, annotator, shown = draw_answered_pairs(rng, draw_counts(rng, n_items, annotators, mean), activity, skips)
    place, count = annotator_progress(rng, annotator, annotators)
    unit, pair = units_of_pairs(item, offsets)
    given = draw_labels(rng, truth, confusion, unit=unit, annotator=annotator[pair])
    progress = (place / np.maximum(count - 1, 1)[annotator])[pair]  # from 0 (first label) to 1 (last), per label
    guessed = rng.random(len(given)) < drift * progress
    given = np.where(guessed, rng.integers(len(names), size=len(given)), given).astype(np.int32)
    labels = CrowdLabels(
        unit=unit,
        annotator=annotator[pair],
        label=given,
        items=pl.Series(numbered_names("item", n_items)) if items is None else items,
        annotators=pl.Series(numbered_names("w", annotators)),
        classes=names,
        offsets=offsets,
        time=None if pace is None else label_times(rng, annotator, place, count, pace=pace)[pair],
        intake=Intake(rows=len(item)),
    )
    return SimulatedCrowd(
        labels=labels,
        truth=np.asarray(truth),
        confusion=confusion,
        characters=characters,
        abstention=skips,
        activity=activity,
        shown=shown,
    )


def draw_answered_pairs(
    rng: np.random.Generator, counts: Ints, activity: Floats, abstention: Floats
) -> tuple[Ints, Ints, Ints]:
    """Draw item[p], annotator[p] of the answered pairs, and shown[j], the number of items shown to each annotator."""
    item, annotator = draw_pairs(rng, counts, activity)
    answered = rng.random(len(item)) >= abstention[annotator]
    return item[answered], annotator[answered], np.bincount(annotator, minlength=len(activity))


def draw_labels(rng: np.random.Generator, truth: Ints, confusion: Floats, *, unit: Ints, annotator: Ints) -> Ints:
    """Draw label[p] from confusion[annotator[p], truth[unit[p]]] for every pair p.

    The cumulative distributions in use are concatenated to one increasing array, the r-th with values from r to r + 1,
    so that a single binary search draws all labels.
    """
    annotators, classes, _ = confusion.shape
    row = annotator.astype(np.int64) * classes + truth[unit]
    used = np.zeros(annotators * classes, dtype=bool)
    used[row] = True
    cumulative = np.cumsum(confusion.reshape(-1, classes)[used], axis=1)
    rising = cumulative / cumulative[:, -1:] + np.arange(len(cumulative))[:, None]
    at = (np.cumsum(used) - 1)[row]
    place: Ints = np.searchsorted(rising.ravel(), at + rng.random(len(at)), side="right")
    label: Ints = np.minimum(place - at * classes, classes - 1)  # at + random may round up to at + 1
    return label.astype(np.int32)


def units_of_pairs(item: Ints, offsets: Ints | None) -> tuple[Ints, Ints]:
    """Return the units of all (item, annotator) pairs, and the pair that each belongs to."""
    if offsets is None:
        return item, np.arange(len(item))
    length = np.diff(offsets)[item]
    pair = np.repeat(np.arange(len(item)), length)
    within = np.arange(length.sum()) - np.repeat(np.cumsum(length) - length, length)
    return offsets[item][pair] + within, pair


def _check_crowd(
    truth: Ints, classes: int, annotators: int, *, abstention: float, tail: float, pace: float | None, drift: float
) -> None:
    check_count("units", len(truth))
    check_count("annotators", annotators)
    check_share("abstention", abstention)
    check_share("drift", drift)
    if truth.min() < 0 or truth.max() >= classes:
        raise OptionError(f"truth: codes from {truth.min()} to {truth.max()}; they must lie in 0 to {classes - 1}.")
    check_tail(tail)
    if pace is not None and not (np.isfinite(pace) and pace > 0):
        raise OptionError(f"pace: {pace!r} seconds per label. Give a number above 0, or None for no times.")
