from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from crowdlogic.classifiers.class_prior import ClassPrior
from crowdlogic.classifiers.protocol import averageable_weights
from crowdlogic.data.corpus import Corpus, documents
from crowdlogic.data.frames import from_arrays
from crowdlogic.data.simulate import simulate_ner, simulate_sentiment
from crowdlogic.errors import OptionError
from crowdlogic.learning import course
from crowdlogic.learning.learned import Learned
from crowdlogic.learning.logic_lncl import LogicLNCL
from crowdlogic.learning.scoring import score
from crowdlogic.learning.special import AggNet, Raykar
from crowdlogic.learning.steps import e_step, m_step
from crowdlogic.learning.stopping import SHARPNESS, HeldOut, held_out_likelihood, is_level, n_items, told_by_item
from crowdlogic.learning.two_stage import TwoStage
from crowdlogic.rules.parser import parse_rules
from crowdlogic.truth.dawid_skene import DawidSkene


@pytest.mark.parametrize("apart", ["items", "annotations"])
def test_every_label_is_learnt_or_kept_apart(apart: str) -> None:
    labels = simulate_ner(0, items=60, annotators=8).labels

    learnt, held = HeldOut(0.2, apart).split(labels, seed=1)

    def rows(part) -> set:
        return set(zip(part.unit.tolist(), part.annotator.tolist(), strict=True))

    assert rows(learnt) | rows(held) == rows(labels)
    assert not rows(learnt) & rows(held)
    assert abs(len(rows(held)) / len(rows(labels)) - 0.2) < 0.1


def test_annotations_are_kept_apart_whole() -> None:
    labels = simulate_ner(0, items=60, annotators=8).labels

    learnt, held = HeldOut(0.2, "annotations").split(labels, seed=1)

    def pairs(part) -> set:
        return set(zip(part.item_of_unit[part.unit].tolist(), part.annotator.tolist(), strict=True))

    assert not pairs(learnt) & pairs(held)


def test_items_are_kept_apart_whole() -> None:
    labels = simulate_ner(0, items=60, annotators=8).labels

    learnt, held = HeldOut(0.2, "items").split(labels, seed=1)

    assert not set(learnt.item_of_unit[learnt.unit].tolist()) & set(held.item_of_unit[held.unit].tolist())


def test_the_likelihood_of_held_out_labels_by_hand() -> None:
    labels = from_arrays(["a", "a", "b"], ["x", "y", "x"], [0, 1, 1])
    confusion = np.array([[[0.9, 0.1], [0.3, 0.7]], [[0.6, 0.4], [0.2, 0.8]]])
    view = np.array([[0.25, 0.75], [0.5, 0.5]])

    found = held_out_likelihood(labels, confusion, view)

    def by_hand(power: float) -> float:
        first, second = view**power / (view**power).sum(axis=1, keepdims=True)
        item_a = first[0] * 0.9 * 0.4 + first[1] * 0.3 * 0.8
        item_b = second[0] * 0.1 + second[1] * 0.7
        return (np.log(item_a) + np.log(item_b)) / 3

    assert found == pytest.approx(max(by_hand(power) for power in SHARPNESS))
    assert found > by_hand(1.0)  # here the labels speak against the view, so less of it is more


def test_overconfidence_alone_does_not_count_against_a_view() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=600)
    said = np.where(rng.random(600) < 0.8, truth, 1 - truth)
    labels = from_arrays(np.arange(600), ["x"] * 600, said)
    confusion = np.array([[[0.8, 0.2], [0.2, 0.8]]])
    lean = np.where(rng.random(600) < 0.8, truth, 1 - truth)
    modest, loud, wrong = (np.where(np.eye(2)[lean] > 0, sure, 1 - sure) for sure in (0.8, 0.9999, 0.2))

    scores = [held_out_likelihood(labels, confusion, view) for view in (modest, loud, wrong)]

    assert scores[1] == pytest.approx(scores[0], abs=0.003)
    assert scores[2] < scores[0] - 0.01


def test_final_answers_look_at_all_labels() -> None:
    made = simulate_sentiment(0, items=200, annotators=8)

    learned = LogicLNCL(epochs=4, held_out=HeldOut(refit=False)).fit(made.corpus, made.labels)

    held = learned.task.held
    assert held is not None
    assert held.n_labels > 0
    kept = np.unique(held.unit)
    # an item kept apart had only the classifier's view while learning; its answer now has its labels in it, too
    assert (np.abs(learned.epoch.q_a[kept] - learned.epoch.p[kept]).max(axis=1) > 1e-6).all()
    assert learned.estimate.annotators.to_list() == made.labels.annotators.to_list()


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
def test_an_epoch_within_a_standard_error_of_the_best_is_level_with_it(behind: list[float], level: bool) -> None:
    told = HIGH - behind

    assert is_level(told, HIGH, 4) is level
    assert is_level(np.append(told, np.zeros(9)), np.append(HIGH, np.zeros(9)), 4) is level  # items not kept apart


def test_how_many_standard_errors_count_may_be_said() -> None:
    told = HIGH - [0.3, 0.3, -0.1, 0.1]  # behind by 0.6, which is 1.57 standard errors of 0.383

    assert [is_level(told, HIGH, 4, errors=errors) for errors in (0.0, 1.5, 1.6)] == [False, False, True]


def test_one_item_alone_has_no_standard_error() -> None:
    assert is_level(HIGH[:1], HIGH[:1], 1)
    assert not is_level(HIGH[:1] - 0.001, HIGH[:1], 1)


def test_what_is_told_of_an_item_is_the_sum_over_its_units() -> None:
    labels = simulate_ner(0, items=30, annotators=6).labels
    rng = np.random.default_rng(0)
    view = rng.dirichlet(np.ones(labels.n_classes), size=labels.n_units)
    confusion = rng.dirichlet(np.ones(labels.n_classes), size=(len(labels.annotators), labels.n_classes))
    held = HeldOut(0.3).split(labels, seed=1)[1]

    told = told_by_item(held, confusion, view)

    def by_hand(power: float) -> np.ndarray:
        total = np.zeros(len(labels.items))
        for unit in np.unique(held.unit):
            sure = view[unit] ** power / (view[unit] ** power).sum()
            for row in np.flatnonzero(held.unit == unit):
                sure = sure * confusion[held.annotator[row], :, held.label[row]]
            total[labels.item_of_unit[unit]] += np.log(sure.sum())
        return total

    np.testing.assert_allclose(told, max(map(by_hand, SHARPNESS), key=np.sum), rtol=1e-12, atol=1e-12)
    assert np.count_nonzero(told) == n_items(held) == 9


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
def test_the_latest_epoch_that_cannot_be_told_from_the_highest_is_kept(
    monkeypatch: pytest.MonkeyPatch, behind: list[list[float]], chosen: int, run: int
) -> None:
    corpus = documents([f"d{i}" for i in range(8)], [f"text {i}" for i in range(8)])
    labels = from_arrays([f"d{i}" for i in range(8)], ["x"] * 8, [0, 1] * 4)
    curve = iter([np.append(HIGH - row, np.zeros(4)) for row in behind])
    monkeypatch.setattr(course, "told_by_item", lambda *_: next(curve))

    method = AggNet(ClassPrior(), epochs=6, held_out=HeldOut(0.5, patience=2, refit=False))
    learned = method.fit(corpus, labels)

    assert (learned.chosen, len(learned.history)) == (chosen, run)
    assert [row.epoch for row in learned.history if row.kept][-1] == chosen
    assert learned.again == ()


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

    method = AggNet(Forgetful(errors, tuple(truth)), epochs=26, held_out=HeldOut(0.4, patience=4, refit=refit))
    learned = method.fit(corpus, labels)

    assert learned.chosen == 4  # the latest of the two best
    assert len(learned.history) == 8
    assert (learned.epoch.p.argmax(axis=1) == truth).mean() > 0.94


METHODS = {
    "logic-lncl": LogicLNCL(epochs=6, loss="annotators"),
    "aggnet": AggNet(epochs=6, seed=4),
    "raykar": Raykar(epochs=5, held_out=HeldOut(0.2, "annotations")),
    "two stages": TwoStage(epochs=5),
    "two hard stages": TwoStage(DawidSkene(), hard=True, epochs=4),
}
BUT = parse_rules("1.0: include contrast('but')")


@pytest.mark.parametrize("name", METHODS)
def test_the_second_pass_is_a_fit_of_so_many_epochs_on_all_labels(name: str) -> None:
    made, method = simulate_sentiment(3, items=120, annotators=8), METHODS[name]
    method = replace(method, held_out=replace(method.held_out, average=1))
    rules = None if isinstance(method, AggNet) else BUT

    learned = method.fit(made.corpus, made.labels, rules=rules, watched={"test": made.test})
    plain = replace(method, held_out=None, epochs=learned.chosen).fit(
        made.corpus, made.labels, rules=rules, watched={"test": made.test}
    )

    for view in ("p", "q_a", "q_b", "q_f", "confusion"):
        np.testing.assert_array_equal(getattr(learned.epoch, view), getattr(plain.epoch, view))
    np.testing.assert_array_equal(learned.predict(made.test), plain.predict(made.test))
    for one, other in zip(learned.again, plain.history, strict=True):
        assert repr(replace(one, seconds=0, again=False)) == repr(replace(other, seconds=0))
    assert learned.final is learned.again[-1]
    assert all(row.again for row in learned.again)
    assert not any(row.again for row in learned.history)
    assert all(row.stopping < 0 for row in learned.history)
    assert learned.history[0].loss != learned.again[0].loss  # the first pass did without some of the labels


def planted(monkeypatch: pytest.MonkeyPatch, curve: list[float]) -> None:
    """The labels kept apart are foretold by this curve, epoch for epoch, the same for each of 12 items."""
    points = iter(curve)
    monkeypatch.setattr(course, "told_by_item", lambda *_: np.full(12, next(points)))


@pytest.mark.parametrize("name", METHODS)
def test_the_answer_is_the_mean_of_the_weights_from_the_best_epoch_on(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    made, method = simulate_sentiment(3, items=120, annotators=8), METHODS[name]
    method = replace(method, epochs=8, held_out=replace(method.held_out, patience=2, average=3))
    rules = None if isinstance(method, AggNet) else BUT
    planted(monkeypatch, [-3.0, -2.0, -1.0, -2.0, -2.0])

    learned = method.fit(made.corpus, made.labels, rules=rules, watched={"test": made.test})

    def plain(epochs: int) -> Learned:
        return replace(method, held_out=None, epochs=epochs).fit(made.corpus, made.labels, rules=rules)

    weights = [plain(epochs).classifier.arrays() for epochs in (3, 4, 5)]
    found = learned.classifier.arrays()
    assert averageable_weights(found)
    for part in averageable_weights(found):
        np.testing.assert_allclose(found[part], np.mean([one[part] for one in weights], axis=0), rtol=1e-6, atol=1e-12)
    assert (learned.chosen, learned.since, len(learned.history), len(learned.again)) == (3, 3, 5, 5)
    np.testing.assert_array_equal(learned.epoch.p, learned.classifier.predict_proba(learned.task.corpus))
    assert learned.final.scores["test student"] == score(made.test, learned.predict(made.test, student=True))
    assert learned.final.scores["test teacher" if rules else "test student"] == score(
        made.test, learned.predict(made.test)
    )


@pytest.mark.parametrize(
    ("curve", "least", "since", "length"),
    [
        ([-3, -1, -1, -1, -1, -1], 2, 2, 6),  # a plateau is averaged to its end
        ([-3, -1, -2, -2, -2, -2], 3, 2, 4),  # and so many epochs, at least, where there is none
        ([-6, -5, -4, -3, -2, -1], 4, None, 6),  # but none beyond the last that is allowed
        ([-6, -5, -4, -3, -1, -1], 4, 5, 6),
        ([-3, -1, -1, -2, -2, -2], 1, None, 3),  # one epoch is no average
    ],
)
def test_which_epochs_are_averaged(
    monkeypatch: pytest.MonkeyPatch, curve: list[float], least: int, since: int | None, length: int
) -> None:
    made = simulate_sentiment(3, items=120, annotators=8)
    planted(monkeypatch, curve)

    learned = AggNet(epochs=6, held_out=HeldOut(patience=6, average=least)).fit(made.corpus, made.labels)

    assert (learned.since, len(learned.again)) == (since, length)


def test_what_cannot_be_averaged_is_learnt_for_the_epochs_that_were_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    made = simulate_sentiment(3, items=120, annotators=8)
    planted(monkeypatch, [-3, -1, -1, -2, -2, -2])

    learned = AggNet(ClassPrior(), epochs=6).fit(made.corpus, made.labels)

    assert (learned.since, learned.chosen, len(learned.again)) == (None, 3, 3)


def test_what_is_believed_with_the_mean_is_the_next_round_without_its_learning() -> None:
    made, method = simulate_sentiment(3, items=120, annotators=8), METHODS["logic-lncl"]

    learned = method.fit(made.corpus, made.labels, rules=BUT)

    length = len(learned.again)
    assert learned.since is not None
    last = replace(method, held_out=None, epochs=length).fit(made.corpus, made.labels, rules=BUT)
    labels, k, p = last.task.labels, last.epoch.k, learned.epoch.p
    confusion = m_step(labels, last.epoch.q_f, smoothing=method.smoothing, trust=method.trust)
    q_a = e_step(labels, confusion, p)[0]
    q_b = learned.teacher.corrected(learned.task.corpus, q_a, p, learned.classifier)
    np.testing.assert_allclose(learned.epoch.confusion, confusion)
    np.testing.assert_allclose(learned.epoch.q_a, q_a)
    np.testing.assert_allclose(learned.epoch.q_f, (1 - k) * q_a + k * q_b)


def test_tags_are_learnt_again_with_the_transitions_of_all_labels() -> None:
    made = simulate_ner(3, items=60, annotators=6)
    method = LogicLNCL(epochs=4, transitions="estimated", preset="transitions", held_out=HeldOut(average=1))

    learned = method.fit(made.corpus, made.labels)
    plain = replace(method, held_out=None, epochs=learned.chosen).fit(made.corpus, made.labels)

    np.testing.assert_array_equal(learned.epoch.q_f, plain.epoch.q_f)
    np.testing.assert_array_equal(learned.predict(made.test), plain.predict(made.test))


def test_weights_of_rules_that_the_first_pass_learnt_are_those_of_the_second() -> None:
    made = simulate_sentiment(5, items=150, annotators=8)
    rules = parse_rules("1: Contains(S, 'the') -> Label(S, 'positive')\n1: include contrast('but')")
    method = LogicLNCL(epochs=5, learn_weights=True)

    first = replace(method, held_out=HeldOut(refit=False)).fit(made.corpus, made.labels, rules=rules)
    learned = method.fit(made.corpus, made.labels, rules=rules)

    assert first.teacher.factors is not None
    assert (first.teacher.factors != 1).any()
    np.testing.assert_array_equal(learned.teacher.factors, first.teacher.factors)
    assert learned.chosen == first.chosen
    assert learned.task.learnt.n_labels == made.labels.n_labels
    assert (learned.epoch.q_f != first.epoch.q_f).any()


def test_with_dev_gold_there_is_one_pass() -> None:
    made = simulate_sentiment(3, items=80, annotators=8)

    learned = LogicLNCL(epochs=3).fit(made.corpus, made.labels, dev=made.test)

    assert learned.again == ()
    assert learned.final is learned.history[learned.chosen - 1]


def test_too_few_labels_to_keep_any_apart_is_said() -> None:
    labels = from_arrays(["a", "b"], ["x", "x"], [0, 1])

    with pytest.raises(
        OptionError,
        match=r"2 labels are too few to keep 10% apart. Give a dev set with gold, or run all epochs \(held_out = none\).",
    ):
        HeldOut().split(labels, seed=0)


@pytest.mark.parametrize(("share", "apart"), [(0.0, "items"), (1.0, "items"), (0.1, "rows")])
def test_senseless_options_are_refused(share: float, apart: str) -> None:
    with pytest.raises(OptionError, match="held-out"):
        HeldOut(share, apart)
    with pytest.raises(OptionError, match=r"held-out errors: -1.0 is less than 0."):
        HeldOut(errors=-1.0)
    for average in (0, 2.5):
        with pytest.raises(OptionError, match=rf"held-out average: {average} is no number of epochs."):
            HeldOut(average=average)
