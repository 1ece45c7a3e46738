"""Truth methods with a confidence that known truths have put right."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import crowdlogic
from crowdlogic.confidence.annotator_verdicts import annotator_table
from crowdlogic.confidence.calibration import (
    ENOUGH_ANCHORS,
    fit_sharpness,
    infer_calibrated,
    mistakes_by_rank,
    predict_anchors,
)
from crowdlogic.data.estimate import KnownTruths
from crowdlogic.data.frames import from_frame
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.simulate.crowds import simulate_crowd
from crowdlogic.metrics.calibration import calibration_error, log_loss
from crowdlogic.numerics.arrays import Ints
from crowdlogic.numerics.logspace import temper
from crowdlogic.truth.dawid_skene import DawidSkene
from crowdlogic.truth.dependence import PUBLIC_CROWDS, state_confidence
from crowdlogic.truth.fitting import Fitting
from crowdlogic.truth.majority import MajorityVote
from crowdlogic.truth.methods import TruthMethod
from crowdlogic.truth.pool import Ensemble, MethodPool


def copying_crowd(seed: int, share: float) -> tuple[CrowdLabels, Ints]:
    """Labels of which a share is copied from the first one of the item."""
    rng = np.random.default_rng(seed)
    drawn = simulate_crowd(rng, units=800, annotators=30, labels_per_unit=7)
    labels = drawn.labels
    first = labels.label[np.searchsorted(labels.unit, np.arange(labels.n_units))]
    copied = rng.random(labels.n_labels) < share
    return replace(labels, label=np.where(copied, first[labels.unit], labels.label).astype(np.int32)), drawn.truth


def anchors(labels: CrowdLabels, truth: Ints, count: int) -> dict[object, object]:
    return {labels.items[i]: labels.classes[int(truth[i])] for i in range(count)}


def test_the_best_sharpness_is_that_of_a_grid() -> None:
    rng = np.random.default_rng(0)
    q = rng.dirichlet(np.ones(3), 500)
    gold = np.array([rng.choice(3, p=row) for row in temper(q, 2.0)])
    grid = np.exp(np.linspace(-3, 3, 2001))
    cost = [500 * log_loss(gold, temper(q, one)) + 0.5 * (np.log(one) / 0.25) ** 2 for one in grid]

    found = fit_sharpness(q, gold, spread=0.25)

    assert found == pytest.approx(grid[int(np.argmin(cost))], rel=0.005)
    assert 1.3 < found < 2.2


def test_units_whose_truth_is_not_known_do_not_count() -> None:
    rng = np.random.default_rng(1)
    q, gold = rng.dirichlet(np.ones(3), 60), rng.integers(3, size=60)

    alone = fit_sharpness(q[:40], gold[:40], spread=0.25)

    assert fit_sharpness(q, np.where(np.arange(60) < 40, gold, -1), spread=0.25) == alone


def test_enough_anchors_halve_the_error_where_public_sets_mislead() -> None:
    """Seven labels in ten are copied, which nothing in the labels gives away."""
    before, after = [], []
    for seed in range(3):
        labels, truth = copying_crowd(seed, 0.7)
        known = anchors(labels, truth, 150)
        rest = slice(150, None)
        plain = infer_calibrated(Ensemble(), labels)
        fitted = infer_calibrated(Ensemble(), labels, fitting=Fitting(anchors=known))
        before.append(calibration_error(truth[rest], plain.beliefs[rest]))
        after.append(calibration_error(truth[rest], fitted.beliefs[rest]))
        assert fitted.calibration is not None
        assert fitted.calibration.sharpness < 0.8
        assert fitted.calibration.anchors == 150

    assert np.mean(after) < 0.7 * np.mean(before)


def test_few_anchors_fix_their_items_and_leave_the_scale() -> None:
    labels, truth = copying_crowd(0, 0.3)
    known = anchors(labels, truth, ENOUGH_ANCHORS - 1)

    found = infer_calibrated(DawidSkene(), labels, fitting=Fitting(anchors=known))

    assert found.calibration is not None
    assert (found.calibration.sharpness, found.calibration.anchors) == (1.0, 0)
    np.testing.assert_array_equal(found.beliefs[: len(known)], np.eye(3)[truth[: len(known)]])


def test_an_anchor_is_predicted_by_fits_that_do_not_know_it() -> None:
    """An anchor that contradicts all its labels is not predicted, although the fit that knows it answers it."""
    labels, truth = copying_crowd(0, 0.0)
    unanimous = int(np.flatnonzero(labels.votes().max(axis=1) >= 7)[0])
    said = int(labels.votes()[unanimous].argmax())
    known = anchors(labels, truth, 40) | {labels.items[unanimous]: labels.classes[(said + 1) % 3]}
    fitting = Fitting(anchors=known)

    predicted = predict_anchors(DawidSkene(), labels, None, fitting=fitting, dependence=PUBLIC_CROWDS)

    assert predicted[unanimous].argmax() == said
    np.testing.assert_allclose(predicted.sum(axis=1), 1.0, rtol=1e-9)


def test_without_dependence_nothing_is_stated() -> None:
    labels, _ = copying_crowd(0, 0.0)

    found = infer_calibrated(DawidSkene(), labels, dependence=None)

    np.testing.assert_array_equal(found.beliefs, DawidSkene().infer(labels).beliefs)
    assert found.calibration is None


def test_without_anchors_it_is_the_statement_of_public_sets() -> None:
    labels, _ = copying_crowd(0, 0.0)

    found = infer_calibrated(DawidSkene(), labels)

    np.testing.assert_array_equal(found.beliefs, state_confidence(labels, DawidSkene().infer(labels)).beliefs)


def test_a_name_and_a_frame_go_straight_in() -> None:
    frame = pl.DataFrame({"item": ["u", "u", "v", "v"], "annotator": list("abab"), "label": list("xxyx")})

    found = infer_calibrated("majority", frame)  # type: ignore[arg-type]

    np.testing.assert_array_equal(found.beliefs, infer_calibrated(MajorityVote(), from_frame(frame)).beliefs)


def test_only_anchors_drawn_at_random_calibrate() -> None:
    made = simulate_crowd(np.random.default_rng(5), units=400, annotators=20, classes=3, labels_per_unit=4)
    names, classes = made.labels.items.to_list(), made.labels.classes
    truths = {names[i]: classes[int(made.truth[i])] for i in range(120)}
    few, many = (KnownTruths(truths, at_random=names[:n]) for n in (ENOUGH_ANCHORS - 1, 60))

    chosen, sampled = (infer_calibrated(DawidSkene(), made.labels, fitting=Fitting(anchors=one)) for one in (few, many))

    assert chosen.calibration is not None
    assert sampled.calibration is not None
    assert (chosen.calibration.sharpness, chosen.calibration.anchors) == (1.0, 0)
    assert sampled.calibration.anchors == 60
    predicted = predict_anchors(
        DawidSkene(), made.labels, None, fitting=Fitting(anchors=truths), dependence=PUBLIC_CROWDS
    )
    gold = np.where(np.arange(400) < 60, made.truth, -1)
    by_hand = fit_sharpness(predicted, gold, spread=PUBLIC_CROWDS.sharpness_spread)
    assert sampled.calibration.sharpness == pytest.approx(by_hand)
    assert (sampled.answer[:120] == made.truth[:120]).all()


def panel(seed: int = 0, *, schools: int) -> CrowdLabels:
    """Eight judges who label everything and follow, with some noise, one of several schools, each right in 75 %."""
    rng = np.random.default_rng(seed)
    labels = simulate_crowd(rng, units=2000, annotators=8, classes=2, labels_per_unit=8, tail=0).labels
    truth = rng.integers(2, size=2000)
    opinions = np.stack([np.where(rng.random(2000) < 0.75, truth, 1 - truth) for _ in range(schools)], axis=1)
    said = opinions[labels.unit, labels.annotator % schools]
    return replace(labels, label=np.where(rng.random(len(said)) < 0.85, said, 1 - said).astype(np.int32))


@pytest.mark.parametrize("method", [DawidSkene(), MethodPool()])
def test_no_number_of_wrong_answers_is_given_for_a_panel_that_errs_together(method: TruthMethod) -> None:
    apart = infer_calibrated(method, panel(schools=8)).calibration
    together = infer_calibrated(method, panel(schools=2)).calibration

    assert apart is not None
    assert together is not None
    assert apart.unknown == ""
    assert apart.most_wrong is not None
    assert together.unknown.startswith("pairs of annotators agree far more")
    assert together.most_wrong is None


@pytest.mark.parametrize("method", [DawidSkene(), MethodPool()])
def test_the_interval_by_random_gold_holds_for_copied_labels(method: TruthMethod) -> None:
    held = []
    for seed in range(8):
        labels, truth = copying_crowd(seed, 0.7)
        known = dict(zip(labels.items.to_list(), (labels.classes[k] for k in truth), strict=True))
        chosen = np.random.default_rng(seed).choice(len(truth), 60, replace=False)
        anchors_at_random = {labels.items[int(i)]: known[labels.items[int(i)]] for i in chosen}

        found = infer_calibrated(method, labels, fitting=Fitting(anchors=anchors_at_random))

        wrong = np.count_nonzero(found.answer != truth)
        assert found.calibration is not None
        assert found.calibration.fewest_wrong is not None
        assert found.calibration.most_wrong is not None
        assert found.calibration.anchors == 60
        held.append(found.calibration.fewest_wrong <= wrong <= found.calibration.most_wrong)

    assert np.mean(held) >= 0.85


def test_near_copies_count_once_and_are_named() -> None:
    rng = np.random.default_rng(3)
    made = simulate_crowd(rng, units=600, annotators=6, classes=3, labels_per_unit=6, tail=0)
    own = made.labels
    rows = np.flatnonzero(own.annotator == 0)
    copies = replace(
        own,
        unit=np.concatenate([own.unit, own.unit[rows], own.unit[rows]]),
        annotator=np.concatenate([own.annotator, np.full(len(rows), 6), np.full(len(rows), 7)]).astype(np.int32),
        label=np.concatenate([own.label, own.label[rows], own.label[rows]]),
        annotators=pl.Series([*own.annotators.to_list(), "copy 1", "copy 2"]),
    )

    with_copies, without = infer_calibrated(MethodPool(), copies), infer_calibrated(MethodPool(), own)

    np.testing.assert_allclose(with_copies.beliefs, without.beliefs, atol=1e-3)
    verdicts = annotator_table(copies, with_copies)
    assert all("near-copy" in str(verdict) for verdict in verdicts["verdict"].to_list()[6:])
    assert str(own.annotators[0]) in str(verdicts["reason"][6])
    assert "near-copy" not in str(verdicts["verdict"][1])


def test_the_share_of_the_mistakes_in_the_most_doubtful_answers_is_between_the_ends() -> None:
    inside = []
    for seed in range(6):
        made = simulate_crowd(np.random.default_rng(seed), units=800, annotators=20, classes=3, labels_per_unit=4)
        found = infer_calibrated(DawidSkene(), made.labels)
        wrong = (found.answer != made.truth)[np.argsort(found.confidence, kind="stable")]

        shares = mistakes_by_rank(made.labels, found)

        assert [size for size, _, _ in shares] == [50, 100, 200]
        for size, one, other in shares:
            low, high = sorted((one, other))
            inside.append(low - 0.12 <= wrong[:size].sum() / wrong.sum() <= high + 0.12)

    assert np.mean(inside) >= 0.9


def test_a_single_vote_of_an_unknown_annotator_is_not_near_certain() -> None:
    """Six items and at most two annotators say little about how reliable anybody is."""
    one = crowdlogic.from_frame(pl.DataFrame({"item": range(6), "annotator": ["a"] * 6, "label": list("xyxyxy")}))
    pairs = [(i, who, "xy"[i % 2]) for i in range(5) for who in "ab"] + [(5, "a", "x")]
    two = crowdlogic.from_frame(pl.DataFrame(pairs, schema=["item", "annotator", "label"], orient="row"))

    alone, together = crowdlogic.aggregate(one), crowdlogic.aggregate(two)

    assert alone.confidence.max() < 0.85
    assert together.confidence[5] < together.confidence[0] < 0.93


def test_a_late_start_does_not_lower_the_reliability() -> None:
    """Annotators who are equally good are rated alike, whenever they began and however few labels others gave."""
    late, early = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        truth = rng.integers(2, size=600)
        table = np.where(rng.random((600, 5)) < 0.8, truth[:, None], 1 - truth[:, None])
        present = np.ones((600, 5), dtype=bool)
        present[:400, 4] = False  # the last annotator joins late,
        present[400:, :2] = False  # when two others have left
        item, who = np.nonzero(present)
        rows = {"item": item, "annotator": who, "label": table[item, who], "time": item.astype(float)}
        labels = crowdlogic.from_frame(pl.DataFrame(rows))
        found = crowdlogic.annotator_table(labels, crowdlogic.aggregate(labels)).sort("annotator")
        right = np.array([(table[:, j] == truth)[present[:, j]].mean() for j in range(5)])
        off = found["reliability"].to_numpy() - right
        late.append(off[4])
        early.append(off[:4].mean())
        assert found["verdict"][4] == "ok"

    assert np.mean(late) > np.mean(early) - 0.02
