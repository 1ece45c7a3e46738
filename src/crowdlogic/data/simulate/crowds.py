"""Crowds with planted truth: the annotators, how they answer, and the labels they give.

Everything that an estimate should find out (truth, confusion matrices, characters) is kept with the labels.
Axes: i unit, j annotator, k class, m true class, n given label, s sequence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from crowdlogic.data.intake.contract import Intake
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import Names
from crowdlogic.data.simulate.characters import DEFAULT_MIX, Character, planted_abstention, planted_confusion
from crowdlogic.data.simulate.options import (
    allocate_mix,
    check_count,
    check_mean,
    check_share,
    check_tail,
    class_balance,
    class_names,
    numbered_names,
)
from crowdlogic.data.simulate.workload import (
    annotator_progress,
    draw_counts,
    draw_pairs,
    label_times,
    long_tailed_activity,
)
from crowdlogic.errors import OptionError
from crowdlogic.numerics.arrays import Floats, Ints

DEFAULT_LABELS = 5.0
"""Default mean number of annotators per item (all annotators, when there are fewer)."""
DEFAULT_TAIL = 1.0
"""Default exponent of the activity: the busiest 6 of 30 annotators do about half the work."""

HARD_MIX: dict[str, float] = {
    Character.expert: 0.30,
    Character.ordinary: 0.10,
    Character.spammer: 0.25,
    Character.adversary: 0.15,
    Character.biased: 0.20,
}
"""A crowd on which majority vote fails: experts are outnumbered, but agree often enough to be identified."""
HARD_TAIL = 0.4
"""A flatter tail, so that nearly every annotator gives enough labels for an estimate."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SimulatedCrowd:
    """Labels, and what was planted in them.

    Attributes:
        labels: The labels, as any reader would return them.
        truth: truth[i], the true class of each unit.
        confusion: confusion[j, m, n], how annotator j answers m, before drift.
        characters: The character of each annotator.
        abstention: abstention[j], the probability that annotator j gives no answer to an item shown.
        activity: activity[j], the planted share of the work; the shares sum to one.
        shown: shown[j], how many items annotator j was shown, answered or not.
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
    """Draw a truth, and a crowd that labels it.

    Args:
        rng: Random number generator.
        units: How many units.
        annotators: How many annotators.
        classes: How many classes, or their names.
        balance: balance[k], how common each class is; all alike when not given.
        mix: Character -> share (floats) or count (whole numbers that make up the annotators).
        labels_per_unit: The mean number of annotators a unit is shown to, from 1 to all.
        tail: The exponent of the long-tailed activity; 0 makes all alike.
        abstention: How often anybody gives no answer; the lazy do it more often.
        pace: Seconds per label on average, which gives every label a time; no times when not given.
        drift: The probability that the last answer of an annotator is a random guess; it grows evenly from 0.
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
    """A crowd on which majority vote clearly fails, while a model of the annotators does well.

    Six in ten are spammers, adversaries or biased; a model recognises the experts by their agreement with each other.
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
    """A simulated crowd that labels a truth you have.

    Args:
        rng: Random number generator.
        truth: truth[i], codes among the classes.
        classes: How many classes, or their names.
        balance: How common each class is held to be; counted from the truth when not given.
        annotators: As in `simulate_crowd`, and so on to `drift`.
        mix: Character -> share or count.
        labels_per_unit: The mean number of annotators per item.
        tail: The exponent of the activity.
        abstention: How often an item shown is not answered.
        pace: Seconds per label.
        drift: How much answers turn into guesses.
        items: The names of the items.
        offsets: Where each sequence begins, when units are tokens: annotators then take whole sequences.
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
    given = add_drift(rng, given, progress=progress, drift=drift, classes=len(names))
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
    """item[p], annotator[p] of the pairs that were answered, and shown[j], how many items each annotator was shown."""
    item, annotator = draw_pairs(rng, counts, activity)
    answered = rng.random(len(item)) >= abstention[annotator]
    return item[answered], annotator[answered], np.bincount(annotator, minlength=len(activity))


def draw_labels(rng: np.random.Generator, truth: Ints, confusion: Floats, *, unit: Ints, annotator: Ints) -> Ints:
    """label[p], drawn from confusion[annotator[p], truth[unit[p]]] for every pair p.

    The rows in use of all matrices are laid end to end as one rising function, the r-th from r to r + 1, so that one
    search draws every label, however many classes there are.
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


def add_drift(rng: np.random.Generator, given: Ints, *, progress: Floats, drift: float, classes: int) -> Ints:
    """The labels with some replaced by random guesses: none when an annotator begins, a share of `drift` by the end."""
    guessed = rng.random(len(given)) < drift * progress
    return np.where(guessed, rng.integers(classes, size=len(given)), given).astype(np.int32)


def units_of_pairs(item: Ints, offsets: Ints | None) -> tuple[Ints, Ints]:
    """The units that each (item, annotator) pair covers, and for each of them the pair it belongs to."""
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
