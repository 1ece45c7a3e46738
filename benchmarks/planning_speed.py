"""Measure the time of planning on 100,000 items with 500,000 labels: a refit, the order of review, the next labels.

python -m benchmarks.planning_speed
"""

from __future__ import annotations

import resource
import time
import warnings
from collections.abc import Callable

import numpy as np

from benchmarks.machine import best_seconds, describe_machine
from crowdlogic.data.simulate.crowds import simulate_crowd
from crowdlogic.extensions.review.next import annotator_skills, choose_next, make_forecast
from crowdlogic.extensions.review.review_queue import (
    NO_DECISIONS,
    Decisions,
    expected_mistakes_removed,
    make_committee,
    make_queue,
    refit,
)
from crowdlogic.truth.dawid_skene import DawidSkene

ITEMS, EACH, ANNOTATORS, CLASSES, DECIDED = 100_000, 5, 500, 3, 100


def main() -> None:
    """Measure and print."""
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    drawn = simulate_crowd(rng, units=ITEMS, annotators=ANNOTATORS, classes=CLASSES, labels_per_unit=EACH)
    labels, method = drawn.labels, DawidSkene()
    chosen = rng.permutation(ITEMS)[:DECIDED].tolist()
    decisions = Decisions(truth={labels.items[i]: labels.classes[int(drawn.truth[i])] for i in chosen})
    first = refit(method, labels, None, NO_DECISIONS)
    committee = make_committee(labels, first)
    removed = expected_mistakes_removed(labels, first, decisions=decisions, before=committee)
    skills = annotator_skills(labels, first)
    batch = choose_next(labels, first, skills, count=300)
    steps: dict[str, Callable[[], object]] = {
        f"refit of Dawid-Skene with {DECIDED} decisions": lambda: refit(method, labels, first, decisions),
        "creation of the committee, once per set of labels": lambda: make_committee(labels, first),
        "expected mistakes removed, for every item": lambda: expected_mistakes_removed(
            labels, first, decisions=decisions, before=committee
        ),
        "a queue of 50 items": lambda: make_queue(removed, labels, open_items=~decisions.items(labels), length=50),
        "choice of 300 further labels": lambda: choose_next(labels, first, annotator_skills(labels, first), count=300),
        "the forecast": lambda: make_forecast(labels, first, skills, batch),
    }
    print(f"{labels.n_labels:,} labels of {ITEMS:,} items by {ANNOTATORS} annotators, {CLASSES} classes\n")
    print("| step | seconds of processor time |\n|---|---|")
    for name, work in steps.items():
        print(f"| {name} | {best_seconds(work, repeats=3, clock=time.process_time):.2f} |", flush=True)
    print(
        f"\nPeak of memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB. {describe_machine()}."
    )


if __name__ == "__main__":
    main()
