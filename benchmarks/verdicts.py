"""Measure how often planted poor annotators are flagged, and good ones falsely, in small crowds.

    python -m benchmarks.verdicts [--seeds 12]

The crowds are simulated: 100 to 300 items, 3 to 7 labels per item, 2 to 4 classes and 7 to 20 annotators. A
user-defined method represents methods that count votes and do not estimate the annotators' reliability.
"""

from __future__ import annotations

import argparse
import itertools
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator

import numpy as np
import polars as pl

from crowdlogic.confidence.annotator_verdicts import NO_FLAG, judge_annotators
from crowdlogic.confidence.calibration import infer_calibrated
from crowdlogic.data.estimate import Estimate, make_estimate, vote_shares
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.extensions.paper.results import format_table
from crowdlogic.numerics.arrays import Floats
from crowdlogic.truth.dependence import state_confidence
from crowdlogic.truth.methods import truth_method

GOOD, MEDIOCRE = "good", "70 % of the usual skill"
PLANTED = (["careless"], ["spammer"], ["biased"], ["careless", "biased"], ["careless", "spammer"], [MEDIOCRE])
"""Poor annotators of each crowd; all others are good."""
METHODS = ("ensemble", "dawid-skene", "majority", "own")


def confusion_of(rng: np.random.Generator, character: str, classes: int) -> Floats:
    """Return confusion[m, n] of an annotator with a given character."""
    eye = np.eye(classes)
    if character == "spammer":
        return np.tile(rng.dirichlet(np.full(classes, 5.0)), (classes, 1))
    if character in ("careless", MEDIOCRE):
        skill = rng.uniform(0.1, 0.25) if character == "careless" else 0.7 * 0.75
        return np.asarray(skill * eye + (1 - skill) / classes)
    right = rng.uniform(0.72, 0.93)
    confusion = np.asarray(right * eye + (1 - right) * (1 - eye) / (classes - 1))
    if character == "biased":
        m = int(rng.integers(classes))
        confusion[m] = 0.25 * eye[m] + 0.75 * eye[(m + 1 + rng.integers(classes - 1)) % classes]
    return confusion


def draw_crowd(
    rng: np.random.Generator, *, items: int, each: int, classes: int, annotators: int, planted: list[str]
) -> tuple[CrowdLabels, list[str]]:
    """Return simulated labels and the character of every annotator."""
    characters = rng.permutation([*planted, *[GOOD] * (annotators - len(planted))]).tolist()
    confusion = np.stack([confusion_of(rng, character, classes) for character in characters])
    unit = np.repeat(np.arange(items), each)
    annotator = np.concatenate([rng.choice(annotators, size=each, replace=False) for _ in range(items)])
    share = confusion[annotator, rng.integers(classes, size=items)[unit]].cumsum(axis=1)
    label = np.minimum((rng.random(len(unit))[:, None] > share).sum(axis=1), classes - 1).astype(np.int32)
    labels = CrowdLabels(
        unit=unit,
        annotator=annotator,
        label=label,
        items=pl.Series([f"i{i}" for i in range(items)]),
        annotators=pl.Series([f"a{j}" for j in range(annotators)]),
        classes=tuple(f"c{k}" for k in range(classes)),
    )
    return labels, characters


def draw_crowds(seeds: int) -> Iterator[tuple[CrowdLabels, list[str]]]:
    """Return a crowd of every size for every seed."""
    for items, each, classes, annotators in itertools.product((100, 200, 300), (3, 5, 7), (2, 3, 4), (7, 10, 20)):
        for seed in range(seeds):
            rng = np.random.default_rng([seed, items, each, classes, annotators])
            planted = PLANTED[seed % len(PLANTED)]
            yield draw_crowd(rng, items=items, each=each, classes=classes, annotators=annotators, planted=planted)


def estimate_by(method: str, labels: CrowdLabels) -> Estimate:
    """Return the estimate of a method."""
    if method == "own":
        return state_confidence(labels, make_estimate(labels, "own", vote_shares(labels.votes())))
    return infer_calibrated(truth_method(method), labels)


def _percent(flagged: Counter[bool]) -> str:
    return f"{100 * flagged[True] / flagged.total():.1f}"


def main() -> None:
    """Print how often each character is flagged, by method."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seeds", type=int, default=12, help="Number of crowds of each size.")
    warnings.simplefilter("ignore")
    flagged: dict[tuple[str, str], Counter[bool]] = defaultdict(Counter)
    for labels, drawn in draw_crowds(options.parse_args().seeds):
        for method in METHODS:
            words = judge_annotators(labels, estimate_by(method, labels)).words()
            for character, word in zip(drawn, words, strict=True):
                flagged[character, method][word != NO_FLAG] += 1
    characters = ("careless", "spammer", "biased", MEDIOCRE, GOOD)
    rows = [(one, *(_percent(flagged[one, method]) for method in METHODS)) for one in characters]
    print(format_table(["flagged (%)", *METHODS], rows))


if __name__ == "__main__":
    main()
