"""Verdicts: the most serious flag first, each with its reason."""

from __future__ import annotations

import numpy as np

from crowdlogic.confidence.annotator_verdicts import FlagKind, judge_annotators
from crowdlogic.data.frames import from_sequences
from crowdlogic.data.simulate import simulate_crowd
from crowdlogic.truth.dawid_skene import DawidSkene


def test_drift_stands_beside_a_flag_of_character_and_has_a_reason_of_its_own() -> None:
    made = simulate_crowd(
        np.random.default_rng(0), units=1200, annotators=12, classes=3, pace=30, drift=0.8, mix={"expert": 1.0}
    )

    found = judge_annotators(made.labels, DawidSkene().infer(made.labels))

    j = next(j for j in range(12) if found.flag_kinds(j) == [FlagKind.drift])
    assert found.words()[j] == "drift"
    assert found.sentences()[j] == found.reason(FlagKind.drift, j)
    assert " gets worse: " in found.reason(FlagKind.drift, j)
    assert found.flag_rank()[j] == 3


def test_who_misses_spans_is_careless_by_span_f1() -> None:
    tags = ["B-PER", "O", "B-LOC", "O"]
    readings = {"ann": tags, "bob": tags, "cat": ["B-PER", "O", "O", "O"]}
    labels = from_sequences([(f"s{n}", who, given) for n in range(30) for who, given in readings.items()])

    found = judge_annotators(labels, DawidSkene().infer(labels))

    assert found.words()[:2] == ["ok", "ok"]
    assert found.words()[2] in ("careless", "biased")
    assert found.sentences()[:2] == [None, None]
