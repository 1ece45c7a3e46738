"""What is stated after training is calibrated, and no answer changes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from crowdlogic.annotators.confusion import ConfusionMatrices
from crowdlogic.data.corpus import Corpus, align, documents
from crowdlogic.data.estimate import KnownTruths
from crowdlogic.data.frames import from_arrays
from crowdlogic.data.simulate import simulate_ner, simulate_sentiment
from crowdlogic.learning.algorithm import LogicLNCL
from crowdlogic.learning.baselines import TwoStage
from crowdlogic.learning.confidence import (
    SPAN_SHIFT,
    SPAN_SLOPE,
    PredictionScale,
    PredictionScales,
    ScaleSource,
    answer_sharpness,
    fit_to_gold,
    fit_to_labels,
)
from crowdlogic.learning.stopping import HeldOut, TrainingLimits
from crowdlogic.metrics.calibration import calibration_error
from crowdlogic.numerics.logspace import temper
from crowdlogic.rules.parser import parse_rules
from crowdlogic.truth.dependence import PUBLIC_CROWDS

MADE = simulate_sentiment(3, items=200, annotators=10, test_items=100)
BUT = parse_rules("1.0: include contrast('but')")
SHORT = TrainingLimits(epochs=3)


def plant(rng: np.random.Generator, n: int, sharpness: float) -> tuple[np.ndarray, np.ndarray]:
    """Beliefs of a classifier whose best sharpness is the given one, and the truth."""
    q = rng.dirichlet([0.6] * 3, size=n)
    truth = np.array([rng.choice(3, p=row) for row in q], dtype=np.int32)
    return temper(q, 1.0 / sharpness), truth


@pytest.mark.parametrize("sharpness", [0.5, 1.0, 2.0])
def test_a_planted_sharpness_is_found_by_gold(sharpness: float) -> None:
    beliefs, truth = plant(np.random.default_rng(0), 4000, sharpness)

    scale = fit_to_gold(beliefs, truth)

    assert scale.sharpness == pytest.approx(sharpness, rel=0.07)
    assert scale.source is ScaleSource.gold
    assert scale.n == 4000
    assert scale.error_before == calibration_error(truth, beliefs)
    assert scale.error_after is not None
    assert scale.error_after < 0.025


@pytest.mark.parametrize("sharpness", [0.5, 2.0])
def test_a_planted_sharpness_is_found_by_held_out_labels(sharpness: float) -> None:
    rng = np.random.default_rng(1)
    beliefs, truth = plant(rng, 4000, sharpness)
    confusion = np.full((3, 3), 0.15) + 0.55 * np.eye(3)
    said = np.array([[rng.choice(3, p=confusion[t]) for _ in range(2)] for t in truth])
    items = np.repeat(np.arange(4000), 2).tolist()
    labels = from_arrays(items, ["a", "b"] * 4000, said.ravel().tolist(), classes=[0, 1, 2])
    evidence = np.log(confusion)[:, said].sum(axis=2).T

    scale = fit_to_labels(beliefs, labels, evidence)

    assert scale.sharpness == pytest.approx(sharpness, rel=0.15)
    assert (scale.source, scale.n) == (ScaleSource.held_out, 4000)


def test_few_known_items_hardly_move_a_scale() -> None:
    beliefs, truth = plant(np.random.default_rng(0), 4000, 0.25)

    few, many = fit_to_gold(beliefs[:5], truth[:5]), fit_to_gold(beliefs, truth)

    assert abs(np.log(few.sharpness)) < 0.5 * abs(np.log(many.sharpness))


def test_predictions_are_on_the_scale_that_dev_gold_found() -> None:
    learned = LogicLNCL(limits=SHORT).fit(MADE.corpus, MADE.labels, rules=BUT, dev=MADE.test)
    gold = np.asarray(MADE.test.gold)

    for student, scale in ((True, learned.scales.student), (False, learned.scales.teacher)):
        raw, stated = (learned.predict(MADE.test, student=student, calibrated=how) for how in (False, True))
        assert scale == fit_to_gold(raw, gold)
        np.testing.assert_array_equal(stated, temper(raw, scale.sharpness))
        np.testing.assert_array_equal(stated.argmax(axis=1), raw.argmax(axis=1))
    assert learned.scales.student.sharpness != learned.scales.teacher.sharpness


@pytest.mark.parametrize("refit", [True, False])
def test_without_gold_held_out_items_find_the_scale(refit: bool) -> None:
    method = LogicLNCL(limits=replace(SHORT, held_out=HeldOut(0.2, refit=refit)))

    learned = method.fit(MADE.corpus, MADE.labels, rules=BUT)

    for scale in (learned.scales.student, learned.scales.teacher):
        assert (scale.source, scale.n) == (ScaleSource.held_out, 40)
        assert scale.sharpness != 1.0
        assert scale.error_before is None


@pytest.mark.parametrize("held_out", [None, HeldOut(0.2, unit="annotations")])
def test_without_new_items_predictions_stay_as_they_are(held_out: HeldOut | None) -> None:
    learned = LogicLNCL(limits=replace(SHORT, held_out=held_out)).fit(MADE.corpus, MADE.labels)

    assert learned.scales == PredictionScales()
    np.testing.assert_array_equal(learned.predict(MADE.test), learned.predict(MADE.test, calibrated=False))


def test_answers_keep_their_class_and_lose_confidence_by_their_labels() -> None:
    learned = LogicLNCL(limits=SHORT).fit(MADE.corpus, MADE.labels, rules=BUT)
    calibration = learned.estimate.calibration

    votes = learned.task.labels.votes()
    public = replace(PUBLIC_CROWDS.calibration(votes), doubt=PUBLIC_CROWDS.doubt)
    assert calibration is not None
    few, many = calibration.fewest_wrong, calibration.most_wrong
    assert calibration == replace(
        public, span_shift=SPAN_SHIFT, span_slope=SPAN_SLOPE, fewest_wrong=few, most_wrong=many
    )
    expected = temper(learned.epoch.q_f, 1 / (1 + calibration.correlation * votes.sum(axis=1)), calibration.doubt)
    np.testing.assert_allclose(learned.estimate.beliefs, expected, rtol=1e-12)
    np.testing.assert_array_equal(learned.estimate.answer, learned.epoch.q_f.argmax(axis=1))
    assert learned.estimate.confidence.mean() < learned.epoch.q_f.max(axis=1).mean()


def test_an_item_without_labels_is_as_sure_as_a_prediction() -> None:
    labels, _ = align(from_arrays(["a", "a", "b"], ["u", "v", "u"], ["x", "y", "y"]), documents(["a", "b", "c"]))
    calibration = replace(PUBLIC_CROWDS.calibration(labels.votes()), correlation=0.5)
    scales = PredictionScales(teacher=PredictionScale(sharpness=0.7))

    np.testing.assert_allclose(answer_sharpness(labels, calibration, scales), [0.5, 2 / 3, 0.7])


def test_labels_that_the_fit_has_discounted_are_not_discounted_twice() -> None:
    labels, _ = align(from_arrays(["a", "a", "b"], ["u", "v", "u"], ["x", "y", "y"]), documents(["a", "b"]))
    calibration = replace(PUBLIC_CROWDS.calibration(labels.votes()), correlation=0.5, counted=1.0)

    # a: three witnesses (two labels, one classifier) are worth 3 / 2, and were taken for 1 + 1; b: 2 / 1.5 and 1 + 1
    np.testing.assert_allclose(answer_sharpness(labels, calibration, PredictionScales()), [1.5 / 2, (2 / 1.5) / 2])


def test_a_run_says_what_its_annotators_counted_with() -> None:
    learned = LogicLNCL(limits=SHORT, annotators=ConfusionMatrices(correlation=0.8)).fit(MADE.corpus, MADE.labels)

    calibration = learned.estimate.calibration
    assert calibration is not None
    assert calibration.counted == 0.8
    sharpness = answer_sharpness(learned.task.labels, calibration, learned.scales)
    np.testing.assert_allclose(
        learned.estimate.beliefs, temper(learned.epoch.q_f, sharpness, calibration.doubt), rtol=1e-12
    )


def test_known_truths_stay_certain_and_enough_of_them_move_the_scale_of_the_others() -> None:
    made = simulate_sentiment(5, items=300, annotators=10)
    names = [str(made.corpus.classes[k]) for k in np.asarray(made.corpus.gold)]
    anchors = dict(zip(made.corpus.items.to_list(), names, strict=True))

    few, many = (
        LogicLNCL(limits=SHORT).fit(made.corpus, made.labels, anchors=dict(list(anchors.items())[:n])) for n in (19, 80)
    )

    for learned, n in ((few, 19), (many, 80)):
        assert (learned.estimate.confidence[:n] == 1.0).all()
        assert (learned.estimate.confidence[n:] < 1.0).all()
    assert (few.estimate.calibration.sharpness, few.estimate.calibration.anchors) == (1.0, 0)
    assert many.estimate.calibration.anchors == 80
    assert many.estimate.calibration.sharpness != 1.0


def test_known_sentences_move_the_scale_too() -> None:
    made = simulate_ner(5, items=60, annotators=6)
    corpus: Corpus = made.corpus
    tags = [str(corpus.classes[k]) for k in np.asarray(corpus.gold)]
    ends = corpus.offsets
    anchors = {corpus.items[s]: tags[ends[s] : ends[s + 1]] for s in range(35)}

    learned = LogicLNCL(limits=TrainingLimits(epochs=1, held_out=None)).fit(corpus, made.labels, anchors=anchors)

    assert learned.estimate.calibration.anchors == 35
    assert (learned.estimate.confidence[: ends[35]] == 1.0).all()


def test_answers_of_another_kind_are_not_put_on_this_scale() -> None:
    learned = TwoStage(limits=SHORT).fit(MADE.corpus, MADE.labels)

    assert learned.estimate.calibration is None
    np.testing.assert_array_equal(learned.estimate.beliefs, learned.epoch.q_f)
    assert learned.scales.student.source is ScaleSource.held_out


def test_the_spans_of_a_run_have_a_scale_of_their_own() -> None:
    made = simulate_ner(0, items=40, annotators=6)

    learned = LogicLNCL(limits=SHORT).fit(made.corpus, made.labels)

    calibration = learned.estimate.calibration
    assert calibration is not None
    assert (calibration.span_shift, calibration.span_slope) == (SPAN_SHIFT, SPAN_SLOPE)
    assert (calibration.span_shift, calibration.span_slope) != (PUBLIC_CROWDS.span_shift, PUBLIC_CROWDS.span_slope)


def test_only_known_truths_drawn_at_random_move_the_scale() -> None:
    made = simulate_sentiment(3, items=200, annotators=10, labels_per_item=3)
    names = made.corpus.items.to_list()
    truths = {name: made.corpus.classes[k] for name, k in zip(names[:120], made.corpus.gold[:120], strict=True)}
    method = LogicLNCL(limits=TrainingLimits(epochs=1))

    anchors = [
        method.fit(made.corpus, made.labels, anchors=KnownTruths(truths, at_random=names[:n])).estimate.calibration
        for n in (10, 50)
    ]

    assert [one.anchors for one in anchors if one is not None] == [0, 50]
    assert anchors[0] is not None
    assert anchors[0].sharpness == 1.0
