"""Held-out labels: how they are drawn, their likelihood by hand, and which epoch they choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from tests.learning.planted_likelihoods import plant_likelihoods

from crowdlogic.annotators.confusion import Confusion, ConfusionMatrices
from crowdlogic.classifiers.class_prior import ClassPrior
from crowdlogic.data.corpus import Corpus, documents
from crowdlogic.data.frames import from_arrays
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.simulate import simulate_ner, simulate_sentiment
from crowdlogic.errors import OptionError
from crowdlogic.learning import stopping as held_out
from crowdlogic.learning.algorithm import LogicLNCL
from crowdlogic.learning.baselines import AggNet
from crowdlogic.learning.stopping import (
    SHARPNESS,
    HeldOut,
    HeldOutLikelihood,
    TrainingLimits,
    is_indistinguishable,
    log_likelihood_by_item,
)
from crowdlogic.learning.training import Epoch
from crowdlogic.numerics.arrays import Floats

MODEL = ConfusionMatrices()
TAGGED = simulate_ner(0, items=60, annotators=8, test_items=1).labels


def annotators_with(confusion: Floats) -> Confusion:
    """Parameters from confusion[j, m, n]."""
    return Confusion(confusion.transpose(0, 2, 1))


@pytest.mark.parametrize("unit", ["items", "annotations"])
def test_every_label_is_learnt_or_held_out(unit: str) -> None:
    learnt, held = HeldOut(0.2, unit).split(TAGGED, seed=1)

    def rows(part: CrowdLabels) -> set[tuple[int, int]]:
        return set(zip(part.unit.tolist(), part.annotator.tolist(), strict=True))

    assert rows(learnt) | rows(held) == rows(TAGGED)
    assert not rows(learnt) & rows(held)
    assert abs(len(rows(held)) / len(rows(TAGGED)) - 0.2) < 0.1


def test_annotations_are_held_out_whole() -> None:
    learnt, held = HeldOut(0.2, "annotations").split(TAGGED, seed=1)

    def pairs(part: CrowdLabels) -> set[tuple[int, int]]:
        return set(zip(part.item_of_unit[part.unit].tolist(), part.annotator.tolist(), strict=True))

    assert not pairs(learnt) & pairs(held)


def test_items_are_held_out_whole() -> None:
    learnt, held = HeldOut(0.2, "items").split(TAGGED, seed=1)

    assert not set(learnt.item_of_unit[learnt.unit].tolist()) & set(held.item_of_unit[held.unit].tolist())


def mean_log_likelihood(labels: CrowdLabels, annotators: Confusion, view: Floats) -> float:
    return float(log_likelihood_by_item(labels, MODEL.observe(labels), annotators, view).sum()) / labels.n_labels


def test_the_likelihood_of_held_out_labels_by_hand() -> None:
    labels = from_arrays(["a", "a", "b"], ["x", "y", "x"], [0, 1, 1])
    confusion = np.array([[[0.9, 0.1], [0.3, 0.7]], [[0.6, 0.4], [0.2, 0.8]]])
    view = np.array([[0.25, 0.75], [0.5, 0.5]])

    found = mean_log_likelihood(labels, annotators_with(confusion), view)

    def by_hand(power: float) -> float:
        first, second = view**power / (view**power).sum(axis=1, keepdims=True)
        item_a = first[0] * 0.9 * 0.4 + first[1] * 0.3 * 0.8
        item_b = second[0] * 0.1 + second[1] * 0.7
        return float(np.log(item_a) + np.log(item_b)) / 3

    assert found == pytest.approx(max(by_hand(power) for power in SHARPNESS))
    assert found > by_hand(1.0)  # here the labels speak against the view, so less of it is more


def test_views_are_tried_from_a_tenth_to_twice_their_confidence() -> None:
    assert SHARPNESS == (0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.85, 1.0, 1.25, 1.5, 2.0)


def test_overconfidence_alone_does_not_count_against_a_view() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=600)
    said = np.where(rng.random(600) < 0.8, truth, 1 - truth)
    labels = from_arrays(np.arange(600), ["x"] * 600, said)
    annotators = annotators_with(np.array([[[0.8, 0.2], [0.2, 0.8]]]))
    lean = np.where(rng.random(600) < 0.8, truth, 1 - truth)
    modest, loud, wrong = (np.where(np.eye(2)[lean] > 0, sure, 1 - sure) for sure in (0.8, 0.9999, 0.2))

    scores = [mean_log_likelihood(labels, annotators, view) for view in (modest, loud, wrong)]

    assert scores[1] == pytest.approx(scores[0], abs=0.003)
    assert scores[2] < scores[0] - 0.01


def test_the_likelihood_of_an_item_is_the_sum_over_its_units() -> None:
    labels = simulate_ner(0, items=30, annotators=6).labels
    rng = np.random.default_rng(0)
    view = rng.dirichlet(np.ones(labels.n_classes), size=labels.n_units)
    confusion = rng.dirichlet(np.ones(labels.n_classes), size=(len(labels.annotators), labels.n_classes))
    held = HeldOut(0.3).split(labels, seed=1)[1]

    found = log_likelihood_by_item(held, MODEL.observe(held), annotators_with(confusion), view)

    def by_hand(power: float) -> Floats:
        total = np.zeros(len(labels.items))
        for unit in np.unique(held.unit):
            sure = view[unit] ** power / (view[unit] ** power).sum()
            for row in np.flatnonzero(held.unit == unit):
                sure = sure * confusion[held.annotator[row], :, held.label[row]]
            total[labels.item_of_unit[unit]] += np.log(sure.sum())
        return total

    np.testing.assert_allclose(found, max(map(by_hand, SHARPNESS), key=np.sum), rtol=1e-12, atol=1e-12)
    assert np.count_nonzero(found) == 9


HIGH = np.array([-1.0, -2.0, -3.0, -4.0])


@pytest.mark.parametrize(
    ("behind", "level"),
    [
        # the sum of the differences against its standard error, sqrt(4 * sample variance), both by hand
        ([0.5, 0.0, -0.2, 0.1], True),  # 0.4 against sqrt(4 * 0.26 / 3) = 0.589
        ([0.5, 0.4, 0.5, 0.6], False),  # 2.0 against sqrt(4 * 0.02 / 3) = 0.163
        ([0.3, 0.3, -0.1, 0.1], False),  # 0.6 against sqrt(4 * 0.11 / 3) = 0.383
        ([0.3, -0.3, 0.0, 0.3], True),  # 0.3 against sqrt(4 * 0.2475 / 3) = 0.574
        ([0.0, 0.0, 0.0, 0.0], True),
    ],
)
def test_an_epoch_within_a_standard_error_of_the_best_is_as_good(behind: list[float], level: bool) -> None:
    found = HIGH - behind

    assert is_indistinguishable(found, HIGH, 4) is level
    others = np.zeros(9)  # items that are not held out
    assert is_indistinguishable(np.append(found, others), np.append(HIGH, others), 4) is level


def test_how_many_standard_errors_count_may_be_said() -> None:
    found = HIGH - [0.3, 0.3, -0.1, 0.1]  # behind by 0.6, which is 1.57 standard errors of 0.383

    assert [is_indistinguishable(found, HIGH, 4, errors=errors) for errors in (0.0, 1.5, 1.6)] == [False, False, True]


def test_one_item_alone_has_no_standard_error() -> None:
    assert is_indistinguishable(HIGH[:1], HIGH[:1], 1)
    assert not is_indistinguishable(HIGH[:1] - 0.001, HIGH[:1], 1)


WORSE, LEVEL, MUCH_WORSE = [0.3, 0.3, -0.1, 0.1], [0.5, 0.0, -0.2, 0.1], [2.0, 2.1, 1.9, 2.0]


@pytest.mark.parametrize(
    ("behind", "chosen", "run"),
    [
        ([MUCH_WORSE, [0] * 4, LEVEL, LEVEL, LEVEL, LEVEL], 6, 6),  # a plateau runs on, and its last epoch is as good
        ([MUCH_WORSE, [0] * 4, WORSE, WORSE, LEVEL, LEVEL], 2, 4),  # worse beyond chance for as long as the patience
        ([MUCH_WORSE, [0] * 4, WORSE, LEVEL, WORSE, WORSE], 4, 6),  # patience is counted from the epoch that is kept
        ([[4.0] * 4, [3.0] * 4, [2.0] * 4, [1.0] * 4, [0] * 4, MUCH_WORSE], 5, 6),  # ever higher
        ([[0] * 4, [-0.5] * 4, LEVEL, LEVEL, LEVEL, LEVEL], 2, 4),  # what was level with the first is not with a higher
    ],
)
def test_the_latest_epoch_that_is_indistinguishable_from_the_highest_is_kept(
    monkeypatch: pytest.MonkeyPatch, behind: list[list[float]], chosen: int, run: int
) -> None:
    corpus = documents([f"d{i}" for i in range(8)], [f"text {i}" for i in range(8)])
    labels = from_arrays([f"d{i}" for i in range(8)], ["x"] * 8, [0, 1] * 4)
    plant_likelihoods(monkeypatch, [np.append(HIGH - row, np.zeros(4)) for row in behind])

    method = AggNet(ClassPrior(), limits=TrainingLimits(epochs=6, held_out=HeldOut(0.5, patience=2, refit=False)))
    learned = method.fit(corpus, labels)

    assert (learned.chosen, len(learned.history)) == (chosen, run)
    assert [row.epoch for row in learned.history if row.kept][-1] == chosen
    assert learned.refit_history == ()


def test_a_rule_that_is_restored_judges_as_if_it_had_seen_all_epochs(monkeypatch: pytest.MonkeyPatch) -> None:
    labels = from_arrays(np.arange(4), ["x"] * 4, [0, 1, 0, 1])
    curve = [HIGH - 1, HIGH, HIGH - WORSE, HIGH - LEVEL]
    whole, resumed = (HeldOutLikelihood(9, HeldOut(patience=3), labels, MODEL) for _ in range(2))
    p = np.full((4, 2), 0.5)
    epoch = Epoch(loss=0.0, k=0.0, p=p, q_a=p, q_b=p, q_f=p, annotators=MODEL.m_step(MODEL.observe(labels), p))
    points = iter([*curve, *curve[2:]])
    monkeypatch.setattr(held_out, "log_likelihood_by_item", lambda *_: next(points))

    first = [whole.judge(epoch, {}) for _ in range(2)]
    resumed.restore(whole.arrays(), kept=first[-1][0], done=2)
    rest, again = ([rule.judge(epoch, {}) for _ in range(2)] for rule in (whole, resumed))

    assert rest == again
    assert [is_kept for _, is_kept in (*first, *rest)] == [True, True, False, True]
    assert [score for score, _ in first] == [-3.5, -2.5]  # per held-out label
    assert (whole.epochs, whole.patience) == (9, 3)


@dataclass(frozen=True)
class Forgetful:
    """A classifier that learns the truth for some epochs, and then unlearns it: overfitting, planted."""

    errors: tuple[float, ...]
    truth: tuple[int, ...]

    name = "forgetful"

    def build(self, corpus: Corpus, classes: Any, *, seed: int) -> Forgetting:
        return Forgetting(self)

    def load(self, arrays: Any, classes: Any) -> Any:
        raise NotImplementedError


@dataclass(eq=False)
class Forgetting:
    options: Forgetful
    epoch: int = 0

    def fit_epoch(self, corpus: Corpus, targets: Any, weights: Any = None) -> float:
        self.epoch += 1
        return 1.0 / self.epoch

    def predict_proba(self, corpus: Corpus) -> Any:
        truth = np.array(self.options.truth)
        wrong = np.random.default_rng(0).random(len(truth)) < self.options.errors[self.epoch - 1]
        return np.where(np.eye(2)[np.where(wrong, 1 - truth, truth)] > 0, 0.9, 0.1)

    def arrays(self) -> Any:
        return {"progress.epoch": np.array(self.epoch)}

    def restore(self, arrays: Any) -> None:
        self.epoch = int(arrays["progress.epoch"])


@pytest.mark.parametrize("refit", [True, False])
def test_planted_overfitting_is_stopped_in_time(refit: bool) -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(2, size=400)
    rows = [(f"d{i}", f"a{j}", int(truth[i] ^ (rng.random() < 0.25))) for i in range(400) for j in range(3)]
    labels = from_arrays(*map(list, zip(*rows, strict=True)))
    corpus = documents([f"d{i}" for i in range(400)], features=truth[:, None].astype(float))
    errors = (0.4, 0.2, 0.05, 0.05, 0.2, 0.3, *([0.4] * 20))

    method = AggNet(
        Forgetful(errors, tuple(truth)),
        limits=TrainingLimits(epochs=26, held_out=HeldOut(0.4, patience=4, refit=refit)),
    )
    learned = method.fit(corpus, labels)

    assert learned.chosen == 4  # the latest of the two best
    assert len(learned.history) == 8
    assert (learned.epoch.p.argmax(axis=1) == truth).mean() > 0.94


def test_final_answers_look_at_all_labels() -> None:
    made = simulate_sentiment(0, items=200, annotators=8)

    learned = LogicLNCL(limits=TrainingLimits(epochs=4, held_out=HeldOut(refit=False))).fit(made.corpus, made.labels)

    held = learned.task.held_labels
    assert held is not None
    assert held.n_labels > 0
    units = np.unique(held.unit)
    # of a held-out item only the classifier's view was known while learning; its answer now has its labels in it, too
    assert (np.abs(learned.epoch.q_a[units] - learned.epoch.p[units]).max(axis=1) > 1e-6).all()
    assert learned.estimate.annotators.to_list() == made.labels.annotators.to_list()


def test_too_few_labels_to_hold_any_out_is_said() -> None:
    with pytest.raises(OptionError) as refused:
        HeldOut().split(from_arrays(["a", "b"], ["x", "x"], [0, 1]), seed=0)

    assert str(refused.value) == (
        "2 labels are too few to hold out 10%. Give a dev set with gold, or run all epochs (held_out = none)."
    )


def test_the_usual_options() -> None:
    assert HeldOut() == HeldOut(share=0.1, unit="items", patience=10, refit=True, errors=1.0, average=5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"share": 0.0}, "held-out share must lie between 0 and 1, got 0.0."),
        ({"share": 1.0}, "held-out share must lie between 0 and 1, got 1.0."),
        ({"unit": "rows"}, "held-out unit must be one of items, annotations; got 'rows'."),
        ({"patience": 0}, "held-out patience must be at least 1, got 0."),
        ({"errors": -1.0}, "held-out errors must be at least 0, got -1.0."),
        ({"errors": float("nan")}, "held-out errors must be at least 0, got nan."),
        ({"average": 0}, "held-out average must be at least 1, got 0. Use 1 to disable averaging."),
        ({"average": 2.5}, "held-out average must be at least 1, got 2.5. Use 1 to disable averaging."),
    ],
)
def test_senseless_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError) as refused:
        HeldOut(**options)

    assert str(refused.value) == message
