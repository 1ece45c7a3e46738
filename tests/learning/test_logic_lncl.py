from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from crowdlogic.classifiers.class_prior import ClassPrior
from crowdlogic.classifiers.linear import Linear
from crowdlogic.data.corpus import Corpus, documents, sentences
from crowdlogic.data.frames import from_arrays, from_sequences
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.simulate import simulate_ner, simulate_sentiment
from crowdlogic.errors import CorpusError, OptionError
from crowdlogic.learning.logic_lncl import LogicLNCL, first_targets
from crowdlogic.learning.schedules import Constant, Growing
from crowdlogic.learning.special import AggNet, Raykar
from crowdlogic.learning.steps import abstention_m_step
from crowdlogic.learning.task import annotator_weights, task_of
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.transitions import TransitionTable
from crowdlogic.truth.dawid_skene import DawidSkene
from crowdlogic.truth.majority import MajorityVote

BUT = parse_rules("1.0: include contrast('but')")
BIO = parse_rules("1.0: include bio")


def epochs_of(method: LogicLNCL, corpus: Corpus, labels: CrowdLabels, rules=None, count: int = 3):
    """The epochs that Algorithm 1 makes, one after the other, with the classifier's state before each E-step."""
    task = task_of(corpus, labels, dev=None, watched=None, held_out=None, seed=method.seed)
    teacher = method.teacher(task, rules, None)
    classifier = method.classifier.build(task.corpus, task.labels.classes, seed=method.seed)
    q_f = first_targets(task.learnt, method.start)
    for t in range(1, count + 1):
        weights = annotator_weights(task) if method.loss == "annotators" else task.counted
        epoch = method.epoch(task, teacher, classifier, weights, q_f, t)
        yield t, task, classifier, q_f, epoch
        q_f = epoch.q_f


def slow_q_a(labels: CrowdLabels, before, p, smoothing: float, trust: float):
    """Eq. 12 and 13, label by label."""
    size = labels.n_classes
    counts = np.full((len(labels.annotators), size, size), smoothing) + trust * np.eye(size)
    for i, j, n in zip(labels.unit, labels.annotator, labels.label, strict=True):
        for m in range(size):
            counts[j, m, n] += before[i, m]
    confusion = counts / counts.sum(axis=2, keepdims=True)
    q_a = np.array(p)
    for i, j, n in zip(labels.unit, labels.annotator, labels.label, strict=True):
        for k in range(size):
            q_a[i, k] *= confusion[j, k, n]
    return q_a / q_a.sum(axis=1, keepdims=True)


def test_q_f_of_documents_is_equations_9_13_and_15_done_by_hand() -> None:
    made = simulate_sentiment(1, items=60, annotators=12, labels_per_item=2)
    method = LogicLNCL(imitation=Growing(0.8), strength=2.0)

    for t, task, classifier, before, epoch in epochs_of(method, made.corpus, made.labels, BUT):
        q_a = slow_q_a(task.learnt, before, classifier.predict_proba(task.corpus), 0.01, 1.0)
        q_b = q_a.copy()
        for i, text in enumerate(task.corpus.texts):
            _, found, clause = text.partition(" but ")
            if found:
                sigma = classifier.predict_proba(documents(["clause"], [clause]))[0]
                q_b[i] = q_a[i] * np.exp(-2.0 * (1.0 - sigma))
        q_b /= q_b.sum(axis=1, keepdims=True)
        k = 1.0 - 0.8**t

        np.testing.assert_allclose(epoch.q_f, (1 - k) * q_a + k * q_b, rtol=1e-9, atol=1e-12)
        assert np.abs(epoch.q_f - q_a).max() > 0.01  # the rule had a say


def test_q_f_of_sequences_is_equations_9_13_and_15_done_by_hand() -> None:
    tokens = [["Ann", "went"], ["to", "New", "York"], ["she", "liked", "it", "there"]]
    labels = from_sequences(
        [
            ("s0", "a", ["B-X", "O"]),
            ("s1", "a", ["O", "I-X", "I-X"]),
            ("s2", "a", ["O", "O", "O", "O"]),
            ("s0", "b", ["I-X", "O"]),
            ("s1", "b", ["O", "B-X", "I-X"]),
            ("s1", "c", ["I-X", "O", "I-X"]),
            ("s2", "c", ["O", "I-X", "O", "B-X"]),
        ]
    )
    corpus = sentences(["s0", "s1", "s2"], tokens)
    method = LogicLNCL(imitation=Constant(0.5), strength=1.5, loss="annotators")

    for _, task, classifier, before, epoch in epochs_of(method, corpus, labels, BIO):
        names = [str(name) for name in task.labels.classes]
        q_a = slow_q_a(task.learnt, before, classifier.predict_proba(task.corpus), 0.01, 1.0)
        q_b = np.zeros_like(q_a)
        for first, last in itertools.pairwise(task.corpus.offsets):
            for path in itertools.product(range(len(names)), repeat=last - first):
                tags = [names[k] for k in path]
                broken = (tags[0] == "I-X") + sum(
                    b == "I-X" and a not in ("B-X", "I-X") for a, b in itertools.pairwise(tags)
                )
                weight = np.exp(-1.5 * broken) * np.prod([q_a[first + t, k] for t, k in enumerate(path)])
                for t, k in enumerate(path):
                    q_b[first + t, k] += weight
        q_b /= q_b.sum(axis=1, keepdims=True)

        np.testing.assert_allclose(epoch.q_f, 0.5 * q_a + 0.5 * q_b, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("options", [{"imitation": Constant(0.0)}, {"strength": 0.0}])
@pytest.mark.parametrize("kind", ["documents", "sequences"])
def test_without_imitation_or_strength_rules_change_nothing(options: dict, kind: str) -> None:
    made = (
        simulate_sentiment(2, items=80, annotators=6)
        if kind == "documents"
        else simulate_ner(2, items=30, annotators=5)
    )
    rules = BUT if kind == "documents" else BIO
    common = {"epochs": 3, "held_out": None}

    with_rules = LogicLNCL(**common, **options).fit(made.corpus, made.labels, rules=rules)
    without = LogicLNCL(**common).fit(made.corpus, made.labels)

    if "imitation" in options:
        np.testing.assert_array_equal(with_rules.epoch.q_f, without.epoch.q_f)
    else:  # multiplying with exp(0) goes through logarithms and back
        np.testing.assert_allclose(with_rules.epoch.q_f, without.epoch.q_f, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_with_the_class_prior_for_a_classifier_it_is_dawid_skene(seed: int) -> None:
    made = simulate_sentiment(seed, items=100, annotators=8)
    method = LogicLNCL(ClassPrior(), smoothing=0.0, trust=0.0, epochs=20, held_out=None)

    learned = method.fit(made.corpus, made.labels)
    with pytest.warns(match="stopped after 20 iterations"):
        alone = DawidSkene(smoothing=0.0, trust=0.0, convergence=Convergence(max_iterations=20, tolerance=0.0)).infer(
            made.labels
        )

    np.testing.assert_allclose(learned.estimate.beliefs, alone.beliefs, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(learned.estimate.confusion, alone.confusion, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("classifier", [ClassPrior(), Linear(ridge=0.0, steps=3)])
def test_the_objective_never_falls_when_the_classifier_does_its_part(classifier) -> None:
    made = simulate_sentiment(3, items=120, annotators=8)

    learned = AggNet(classifier, smoothing=0.0, trust=0.0, epochs=25, held_out=None).fit(made.corpus, made.labels)

    objective = np.array([row.objective for row in learned.history])
    assert (np.diff(objective) > -1e-9).all()
    assert objective[-1] > objective[0] + 0.01


def test_an_item_counts_by_its_annotators_over_the_mean() -> None:
    labels = from_arrays(["a", "a", "a", "b"], ["x", "y", "z", "x"], [0, 1, 0, 1])
    task = task_of(
        documents(["a", "b", "c"], ["one", "two", "three"]), labels, dev=None, watched=None, held_out=None, seed=0
    )

    assert annotator_weights(task).tolist() == [1.5, 0.5, 0.0]


def test_first_targets_are_shares_or_the_winner() -> None:
    labels = from_arrays(["a", "a", "a", "b"], ["x", "y", "z", "x"], ["no", "yes", "no", "yes"])

    soft = first_targets(labels, MajorityVote(ties="soft"))
    hard = first_targets(labels, MajorityVote(ties="first"))

    np.testing.assert_allclose(soft, [[2 / 3, 1 / 3], [0, 1]])
    assert hard.tolist() == [[1, 0], [0, 1]]


def test_doubt_adds_votes_to_every_class() -> None:
    labels = from_arrays(["a", "a", "a", "b"], ["x", "y", "z", "x"], ["no", "yes", "no", "yes"])
    single = from_arrays(["a", "b"], ["x", "y"], ["no", "yes"])

    doubted = first_targets(labels, MajorityVote(ties="soft"), doubt=0.5)
    usual = first_targets(labels, MajorityVote(ties="soft"), doubt=None)
    alone = first_targets(single, MajorityVote(ties="soft"), doubt=None)

    np.testing.assert_allclose(doubted, [[2.5 / 4, 1.5 / 4], [0.25, 0.75]])
    np.testing.assert_allclose(usual, [[2 / 3, 1 / 3], [0, 1]])
    np.testing.assert_allclose(alone, [[1.3 / 1.6, 0.3 / 1.6], [0.3 / 1.6, 1.3 / 1.6]])


def test_rules_help_where_the_planted_rule_decides() -> None:
    made = simulate_sentiment(0, items=600, test_items=400)
    plain = LogicLNCL(epochs=15, held_out=None)

    without = plain.fit(made.corpus, made.labels)
    with_rules = plain.fit(made.corpus, made.labels, rules=BUT)
    test = made.test.with_classes(made.labels.classes)

    right = {
        name: (learned.predict(test).argmax(axis=1) == test.gold).mean()
        for name, learned in (("without", without), ("with", with_rules))
    }
    assert right["with"] > right["without"]


def test_the_epoch_with_the_best_dev_score_is_kept() -> None:
    made = simulate_sentiment(4, items=150, test_items=100, annotators=6)
    dev = made.test

    learned = LogicLNCL(epochs=8, patience=8).fit(made.corpus, made.labels, dev=dev)

    scores = [row.scores["dev student"] for row in learned.history]
    assert learned.chosen == int(np.argmax(scores)) + 1
    right = (
        learned.predict(dev.with_classes(made.labels.classes), student=True).argmax(axis=1)
        == dev.with_classes(made.labels.classes).gold
    ).mean()
    assert right == pytest.approx(max(scores))


def test_patience_stops_a_fit_that_gets_no_better() -> None:
    made = simulate_sentiment(4, items=150, test_items=100, annotators=6)

    learned = LogicLNCL(epochs=30, patience=2).fit(made.corpus, made.labels, dev=made.test)

    assert len(learned.history) == min(learned.chosen + 2, 30)


def test_special_cases_refuse_rules() -> None:
    made = simulate_sentiment(4, items=50, annotators=6)

    with pytest.raises(
        OptionError, match=r"aggnet has no place for rules or transitions. Use logic-lncl, or leave them out."
    ):
        AggNet().fit(made.corpus, made.labels, rules=BUT)
    with pytest.raises(OptionError, match=r"raykar has a linear classifier, not prior. Use aggnet for that."):
        Raykar(ClassPrior())


def test_unlabelled_items_are_answered_but_not_learnt_from() -> None:
    made = simulate_sentiment(5, items=100, annotators=6)
    kept = made.labels.take(made.labels.unit >= 30)

    learned = LogicLNCL(epochs=3, held_out=None).fit(made.corpus, kept)
    only = LogicLNCL(epochs=3, held_out=None).fit(
        made.corpus.take_items(np.arange(30, 100)), kept.take_items(np.arange(30, 100))
    )

    assert (learned.estimate.answer >= 0).all()
    np.testing.assert_allclose(learned.epoch.q_f[30:], only.epoch.q_f, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(learned.epoch.q_f[:30], learned.epoch.p[:30], rtol=1e-12)


def test_nothing_to_learn_from_is_said() -> None:
    corpus = documents(["a", "b"], ["one", "two"])
    one = from_arrays(["a", "b"], ["x", "x"], ["yes", "yes"])

    with pytest.raises(
        CorpusError, match=r"There is nothing to learn: all labels are 'yes'. Bring two classes or more."
    ):
        LogicLNCL().fit(corpus, one)
    with pytest.raises(CorpusError, match=r"The dev items have no gold. Give gold with them, or leave them out."):
        LogicLNCL().fit(corpus, from_arrays(["a", "b"], ["x", "x"], ["yes", "no"]), dev=corpus)


def test_one_label_per_item_is_enough_to_find_the_confusion_matrices() -> None:
    """Learning from noisy labels: nobody labels an item twice, so only the classifier can tell the annotators apart."""
    rng = np.random.default_rng(0)
    centres = np.array([[3.0, 0.0], [-3.0, 0.0], [0.0, 4.0]])
    truth = rng.integers(3, size=6000)
    features = centres[truth] + rng.normal(size=(6000, 2))
    planted = np.array(
        [
            [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.2, 0.1, 0.7]],
            [[0.6, 0.3, 0.1], [0.1, 0.9, 0.0], [0.1, 0.3, 0.6]],
        ]
    )
    who = rng.integers(2, size=6000)
    said = np.array([rng.choice(3, p=planted[j, m]) for j, m in zip(who, truth, strict=True)])
    labels = from_arrays(np.arange(6000), who, said)
    corpus = documents(np.arange(6000), features=features)

    learned = LogicLNCL(Linear(ridge=1e-6, steps=20), epochs=60, held_out=None, trust=0.0).fit(corpus, labels)

    assert np.abs(learned.estimate.confusion - planted).max() < 0.05
    assert (learned.estimate.answer == truth).mean() > (said == truth).mean() + 0.15


def test_a_resumed_course_ends_where_an_uninterrupted_one_does() -> None:
    made = simulate_sentiment(6, items=80, annotators=6, test_items=50)
    method = LogicLNCL(epochs=6, patience=6)

    class Kept:
        saved = None

        def save(self, last, best, note) -> None:
            self.saved = ({n: a.copy() for n, a in last.items()}, {n: a.copy() for n, a in best.items()}, dict(note))
            if len(note["history"]) == 3 and not self.stopped:
                self.stopped = True
                raise KeyboardInterrupt

        def load(self):
            return self.saved

        stopped = False

    keeper = Kept()
    whole = method.fit(made.corpus, made.labels, rules=BUT, dev=made.test)
    with pytest.raises(KeyboardInterrupt):
        method.fit(made.corpus, made.labels, rules=BUT, dev=made.test, keeper=keeper)
    resumed = method.fit(made.corpus, made.labels, rules=BUT, dev=made.test, keeper=keeper)

    np.testing.assert_array_equal(resumed.epoch.q_f, whole.epoch.q_f)
    assert [row.epoch for row in resumed.history] == [row.epoch for row in whole.history]
    assert resumed.chosen == whole.chosen


def test_what_is_missing_to_one_is_silence() -> None:
    labels = from_arrays(["a", "b", "c"], ["f", "f", "g"], [1, 1, 0]).take_items(np.array([0, 1, 2]))
    q = np.array([[0.5, 0.5], [0.0, 1.0], [1.0, 0.0]])

    found = abstention_m_step(labels, q)

    np.testing.assert_allclose(found[0], [[0.0, 0.5 / 1.5], [0.0, 1.5 / 1.5]], atol=1e-9)
    np.testing.assert_allclose(found[1], [[1.0 / 1.5, 0.0], [0.0, 0.0]], atol=1e-9)


def test_annotators_who_keep_silence_are_read_by_how_often_they_speak() -> None:
    made = simulate_sentiment(3, items=120, annotators=8)
    method = LogicLNCL(epochs=2, held_out=None, silence=True)

    learned = method.fit(made.corpus, made.labels)

    before = list(epochs_of(method, made.corpus, made.labels, count=2))[-1]
    np.testing.assert_array_equal(
        learned.estimate.confusion, abstention_m_step(made.labels, before[3], smoothing=0.01, trust=1.0)
    )


@pytest.mark.parametrize("loss", ["plain", "annotators"])
def test_a_label_of_weight_0_is_as_good_as_not_there(loss: str) -> None:
    made = simulate_sentiment(0, items=60, annotators=8)
    keep = np.random.default_rng(0).random(made.labels.n_labels) < 0.6
    method = LogicLNCL(epochs=2, held_out=None, loss=loss)

    weighed = method.fit(made.corpus, replace(made.labels, weight=keep.astype(float)))
    taken = method.fit(made.corpus, made.labels.take(keep))

    np.testing.assert_allclose(weighed.epoch.q_f, taken.epoch.q_f, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "options", [{"smoothing": -5.0}, {"trust": float("nan")}, {"doubt": -1.0}, {"strength": -1.0}, {"seed": -1}]
)
def test_senseless_counts_are_refused(options: dict) -> None:
    with pytest.raises(OptionError, match=f"logic-lncl: {next(iter(options))} must be 0 or more"):
        LogicLNCL(**options)


def test_weights_cannot_be_learnt_without_labels_kept_apart() -> None:
    with pytest.raises(OptionError, match="learn_weights needs labels that are kept apart"):
        LogicLNCL(learn_weights=True, held_out=None)


def test_gold_with_another_class_widens_tie_order_and_transitions() -> None:
    made = simulate_ner(0, items=60, test_items=20)
    order = tuple(reversed(made.labels.classes))
    names = (*made.test.classes, "B-NEW")
    gold = np.array(made.test.gold)
    gold[0] = len(names) - 1
    dev = replace(made.test, classes=names, gold=gold)
    table = TransitionTable(made.labels.classes, np.full((9, 9), 0.5), np.full(9, 0.5))
    method = LogicLNCL(epochs=1, start=MajorityVote(ties="order", order=order), transitions=table, preset="transitions")

    learned = method.fit(made.corpus, made.labels, dev=dev)

    assert "B-NEW" in learned.task.labels.classes
    assert learned.teacher.projector.transitions.probability[learned.task.labels.classes.index("B-NEW")].sum() == 0


def test_a_chosen_order_of_classes_is_kept_when_gold_has_more() -> None:
    made = simulate_sentiment(0, items=40, annotators=6)
    labels = made.labels.with_classes(("positive", "negative"))
    gold = np.array(made.test.gold)
    gold[0] = 2
    dev = replace(made.test, classes=(*made.test.classes, "neutral"), gold=gold)

    learned = LogicLNCL(epochs=1).fit(made.corpus, labels, dev=dev)

    assert learned.estimate.classes == ("positive", "negative", "neutral")
