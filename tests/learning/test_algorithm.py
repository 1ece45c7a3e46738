"""Algorithm 1 against its equations written out, its special cases, and every annotator model in it."""

from __future__ import annotations

import itertools
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from tests.data.simulate.tagged_words import simulate_tags
from tests.learning.memory_checkpoint import MemoryCheckpoint

from crowdlogic.annotators.abstaining import Abstaining
from crowdlogic.annotators.confusion import ConfusionMatrices
from crowdlogic.annotators.protocol import AnnotatorModel
from crowdlogic.annotators.sequential import Sequential
from crowdlogic.classifiers.class_prior import ClassPrior
from crowdlogic.classifiers.linear import Linear
from crowdlogic.classifiers.protocol import Architecture, Classifier
from crowdlogic.data.corpus import Corpus, documents, sentences
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.frames import from_arrays, from_sequences
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.simulate import simulate_ner, simulate_sentiment
from crowdlogic.errors import OptionError
from crowdlogic.learning.algorithm import ConstantImitation, GrowingImitation, LogicLNCL, Parts, run_algorithm
from crowdlogic.learning.baselines import AggNet
from crowdlogic.learning.explain import is_explicable
from crowdlogic.learning.posterior import Teacher, first_targets
from crowdlogic.learning.stopping import HeldOut, TrainingLimits
from crowdlogic.learning.task import Task, prepare_task, score
from crowdlogic.learning.training import Epoch, TrainingPass, passes
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.numerics.logspace import normalise
from crowdlogic.registry import ANNOTATOR_MODELS
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.projection.projector import Projector
from crowdlogic.rules.transitions import TransitionTable
from crowdlogic.truth.dawid_skene import DawidSkene
from crowdlogic.truth.majority import MajorityVote
from crowdlogic.workflows.aggregate import aggregate

BUT = parse_rules("1.0: include contrast('but')")
BIO = parse_rules("1.0: include bio")


def limits(epochs: int, **more: Any) -> TrainingLimits:
    return TrainingLimits(epochs=epochs, **{"held_out": None, **more})


@dataclass(frozen=True, eq=False)
class Recorded:
    """An epoch of a fit, the targets before it, and the classifier as it was then."""

    t: int
    task: Task
    classifier: Classifier
    before: Beliefs
    epoch: Epoch


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> list[Recorded]:
    """Every epoch of the fits of a test, in their order."""
    seen: list[Recorded] = []
    record = TrainingPass.record

    def note(self: TrainingPass, epoch: Epoch, **options: Any) -> None:
        seen.append(Recorded(len(self.history) + 1, self.task, deepcopy(self.classifier), self.q_f, epoch))
        record(self, epoch, **options)

    monkeypatch.setattr(TrainingPass, "record", note)
    return seen


def slow_q_a(labels: CrowdLabels, before: Beliefs, p: Beliefs, smoothing: float, trust: float) -> Beliefs:
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
    return np.asarray(q_a / q_a.sum(axis=1, keepdims=True))


def test_q_f_of_documents_is_equations_9_13_and_15_done_by_hand(recorded: list[Recorded]) -> None:
    made = simulate_sentiment(1, items=60, annotators=12, labels_per_item=2)
    method = LogicLNCL(imitation=GrowingImitation(0.8), projector=Projector(strength=2.0), limits=limits(3))

    method.fit(made.corpus, made.labels, rules=BUT)

    assert len(recorded) == 3
    for one in recorded:
        task, classifier = one.task, one.classifier
        q_a = slow_q_a(task.training_labels, one.before, classifier.predict_proba(task.corpus), 0.01, 1.0)
        q_b = q_a.copy()
        for i, text in enumerate(task.corpus.texts or ()):
            _, found, clause = text.partition(" but ")
            if found:
                sigma = classifier.predict_proba(documents(["clause"], [clause]))[0]
                q_b[i] = q_a[i] * np.exp(-2.0 * (1.0 - sigma))
        q_b /= q_b.sum(axis=1, keepdims=True)
        k = 1.0 - 0.8**one.t
        np.testing.assert_allclose(one.epoch.q_f, (1 - k) * q_a + k * q_b, rtol=1e-9, atol=1e-12)
        assert np.abs(one.epoch.q_f - q_a).max() > 0.01  # the rule had a say


def test_q_f_of_sequences_is_equations_9_13_and_15_done_by_hand(recorded: list[Recorded]) -> None:
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
    method = LogicLNCL(
        imitation=ConstantImitation(0.5), loss="annotators", projector=Projector(strength=1.5), limits=limits(3)
    )

    method.fit(corpus, labels, rules=BIO)

    assert len(recorded) == 3
    for one in recorded:
        task = one.task
        names = [str(name) for name in task.labels.classes]
        q_a = slow_q_a(task.training_labels, one.before, one.classifier.predict_proba(task.corpus), 0.01, 1.0)
        q_b = np.zeros_like(q_a)
        for first, last in itertools.pairwise(np.asarray(task.corpus.offsets)):
            for path in itertools.product(range(len(names)), repeat=last - first):
                tags = [names[k] for k in path]
                broken = (tags[0] == "I-X") + sum(
                    b == "I-X" and a not in ("B-X", "I-X") for a, b in itertools.pairwise(tags)
                )
                weight = np.exp(-1.5 * broken) * np.prod([q_a[first + t, k] for t, k in enumerate(path)])
                for t, k in enumerate(path):
                    q_b[first + t, k] += weight
        q_b /= q_b.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(one.epoch.q_f, 0.5 * q_a + 0.5 * q_b, rtol=1e-9, atol=1e-12)


def test_a_fit_is_the_loop_over_its_parts() -> None:
    made = simulate_sentiment(1, items=60, annotators=12, labels_per_item=2)
    method = LogicLNCL(imitation=ConstantImitation(0.3), limits=limits(3))
    task = prepare_task(made.corpus, made.labels, limits=method.limits)
    parts = Parts(
        classifier=Linear(),
        annotators=ConfusionMatrices(),
        teacher=Teacher(task.labels.classes, Projector(rules=BUT)),
        imitation=lambda _: 0.3,
        weights=lambda task: task.unit_weights,
        targets=lambda task: first_targets(task.training_labels, MajorityVote(ties="soft"), doubt=None),
    )

    (training,) = passes(task, method.limits, checkpoint=None, callback=None)
    run_algorithm(training, parts)

    learned = method.fit(made.corpus, made.labels, rules=BUT)
    np.testing.assert_array_equal(training.outcome.q_f, learned.epoch.q_f)
    assert [row.objective for row in training.history] == [row.objective for row in learned.history]


@pytest.mark.parametrize("options", [{"imitation": ConstantImitation(0.0)}, {"projector": Projector(strength=0.0)}])
@pytest.mark.parametrize("kind", ["documents", "sequences"])
def test_without_imitation_or_strength_rules_change_nothing(options: dict[str, Any], kind: str) -> None:
    made = (
        simulate_sentiment(2, items=80, annotators=6)
        if kind == "documents"
        else simulate_ner(2, items=30, annotators=5)
    )
    rules = BUT if kind == "documents" else BIO

    with_rules = LogicLNCL(**options, limits=limits(3)).fit(made.corpus, made.labels, rules=rules)
    without = LogicLNCL(limits=limits(3)).fit(made.corpus, made.labels)

    if "imitation" in options:
        np.testing.assert_array_equal(with_rules.epoch.q_f, without.epoch.q_f)
    else:  # multiplying with exp(0) goes through logarithms and back
        np.testing.assert_allclose(with_rules.epoch.q_f, without.epoch.q_f, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_with_the_class_prior_for_a_classifier_it_is_dawid_skene(seed: int) -> None:
    made = simulate_sentiment(seed, items=100, annotators=8)
    method = LogicLNCL(ClassPrior(), annotators=ConfusionMatrices(smoothing=0.0, trust=0.0), limits=limits(20))

    learned = method.fit(made.corpus, made.labels)
    with pytest.warns(match="stopped after 20 iterations"):
        alone = DawidSkene(smoothing=0.0, trust=0.0, convergence=Convergence(max_iterations=20, tolerance=0.0)).infer(
            made.labels
        )

    np.testing.assert_allclose(learned.epoch.q_f, alone.beliefs, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(learned.estimate.confusion, alone.confusion, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("classifier", [ClassPrior(), Linear(ridge=0.0, steps=3)])
def test_the_objective_never_falls_when_the_classifier_does_its_part(classifier: Architecture) -> None:
    made = simulate_sentiment(3, items=120, annotators=8)

    learned = AggNet(classifier, annotators=ConfusionMatrices(smoothing=0.0, trust=0.0), limits=limits(25)).fit(
        made.corpus, made.labels
    )

    objective = np.array([row.objective for row in learned.history])
    assert (np.diff(objective) > -1e-9).all()
    assert objective[-1] > objective[0] + 0.01


def test_rules_help_where_the_planted_rule_decides() -> None:
    made = simulate_sentiment(0, items=600, test_items=400)
    plain = LogicLNCL(limits=limits(15))

    without = plain.fit(made.corpus, made.labels)
    with_rules = plain.fit(made.corpus, made.labels, rules=BUT)

    test = made.test.with_classes(made.labels.classes)
    assert score(test, with_rules.predict(test)) > score(test, without.predict(test))


def test_unlabelled_items_are_answered_but_not_learnt_from() -> None:
    made = simulate_sentiment(5, items=100, annotators=6)
    kept = made.labels.take(made.labels.unit >= 30)

    plain = Linear(idf_power=0.0)  # document frequencies are counted over all items
    learned = LogicLNCL(plain, limits=limits(3)).fit(made.corpus, kept)
    only = LogicLNCL(plain, limits=limits(3)).fit(
        made.corpus.take_items(np.arange(30, 100)), kept.take_items(np.arange(30, 100))
    )

    assert (learned.estimate.answer >= 0).all()
    np.testing.assert_allclose(learned.epoch.q_f[30:], only.epoch.q_f, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(learned.epoch.q_f[:30], learned.epoch.p[:30], rtol=1e-12)


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

    learned = LogicLNCL(Linear(ridge=1e-6, steps=20), annotators=ConfusionMatrices(trust=0.0), limits=limits(60)).fit(
        corpus, labels
    )

    assert np.abs(learned.estimate.confusion - planted).max() < 0.05
    assert (learned.estimate.answer == truth).mean() > (said == truth).mean() + 0.15


def test_a_rule_of_grammar_over_such_tags_is_obeyed() -> None:
    made = simulate_tags(np.random.default_rng(0), sentences=60, annotators=6)
    classes = [str(name) for name in made.crowd.labels.classes]
    first, second = classes[0], classes[1]
    rules = parse_rules(f"Label(T, '{second}') & Previous(T, P) -> !Label(P, '{first}') .")

    learned = LogicLNCL(limits=limits(3)).fit(made.corpus, made.crowd.labels, rules=rules)

    q_b = learned.epoch.q_b
    later = np.setdiff1d(np.arange(len(q_b)), np.asarray(made.corpus.offsets)[:-1])
    # the rule is hard: no sequence of certain tags can break it
    answer = q_b.argmax(axis=1)
    sure = (q_b[later].max(axis=1) > 0.99) & (q_b[later - 1].max(axis=1) > 0.99)
    broken = (answer[later] == 1) & (answer[later - 1] == 0) & sure
    assert not broken.any()


def test_annotators_who_abstain_are_read_by_how_often_they_speak(recorded: list[Recorded]) -> None:
    made = simulate_sentiment(3, items=120, annotators=8)
    model = Abstaining()

    learned = LogicLNCL(annotators=model, limits=limits(2)).fit(made.corpus, made.labels)

    expected = model.m_step(model.observe(made.labels), recorded[-1].before)
    np.testing.assert_array_equal(learned.estimate.confusion, expected.confusion)
    assert (learned.estimate.confusion.sum(axis=2) < 0.9).any()  # what is missing to one is abstention


def labelled_by_functions() -> tuple[Corpus, CrowdLabels]:
    """Return simulated reviews whose annotators each become two functions, one per class."""
    made = simulate_sentiment(3, items=120, annotators=8)
    frame = made.labels.to_frame()
    whose = [f"{who} {label}" for who, label in zip(frame["annotator"], frame["label"], strict=True)]
    names = made.labels.classes
    return made.corpus, from_arrays(frame["item"].to_list(), whose, frame["label"].to_list(), classes=names)


def test_labelling_functions_are_read_by_when_they_abstain() -> None:
    corpus, functions = labelled_by_functions()

    learned = LogicLNCL(limits=limits(2)).fit(corpus, functions)

    # The rates are those among the answers of the truth method for functions, whatever the classifier learned since
    answer = aggregate(functions).answer
    assert learned.estimate.confusion is not None
    expected = Abstaining().m_step(Abstaining().observe(functions), np.eye(2)[answer])
    np.testing.assert_allclose(learned.estimate.confusion, expected.confusion, atol=1e-12)
    assert (learned.estimate.confusion.sum(axis=2) < 0.9).any()  # what is missing to one is abstention


def test_a_model_or_a_start_that_is_chosen_is_estimated_in_every_epoch(recorded: list[Recorded]) -> None:
    corpus, functions = labelled_by_functions()
    model = Abstaining()

    for method in (LogicLNCL(annotators=model, limits=limits(2)), LogicLNCL(start="mace", limits=limits(2))):
        learned = method.fit(corpus, functions)

        expected = model.m_step(model.observe(functions), recorded[-1].before)
        np.testing.assert_array_equal(learned.estimate.confusion, expected.confusion)


def test_functions_that_share_a_topic_do_not_lead_the_answers_astray() -> None:
    """Three of nine functions look for words of a topic that says nothing about the class, and that a text shows."""
    rng = np.random.default_rng(0)
    n = 900
    truth, topic = rng.integers(2, size=n), rng.integers(2, size=n)
    words = [
        " ".join([*rng.choice([f"c{k}w{w}" for w in range(40)], 2), *rng.choice([f"t{m}w{w}" for w in range(6)], 6)])
        for k, m in zip(truth.tolist(), topic.tolist(), strict=True)
    ]
    fires = [rng.random(n) < np.where(truth == f % 2, 0.35, 0.12) for f in range(6)]
    fires += [(topic == f % 2) & (rng.random(n) < 0.45) for f in range(3)]
    unit, function = np.nonzero(np.stack(fires, axis=1))
    given = [str(f % 2) if f < 6 else str((f - 6) % 2) for f in function.tolist()]
    labels = from_arrays(unit.tolist(), [f"f{f}" for f in function.tolist()], given, classes=("0", "1"))
    corpus = documents(range(n), words)

    def accuracy(method: LogicLNCL) -> float:
        learned = method.fit(corpus, labels)
        answered = np.unique(learned.task.labels.unit)
        items = np.asarray(learned.task.labels.items)[answered]
        return float(np.mean(learned.estimate.answer[answered] == truth[items]))

    alone = aggregate(labels)
    expected = float(np.mean(alone.answer == truth[np.asarray(alone.items)]))
    assert accuracy(LogicLNCL(limits=limits(15))) > expected - 0.03
    assert accuracy(LogicLNCL(annotators=Abstaining(), limits=limits(15))) < expected - 0.09  # rates re-estimated


@pytest.mark.parametrize("name", ANNOTATOR_MODELS)
@pytest.mark.parametrize("kind", ["documents", "tags"])
def test_any_annotator_model_can_be_chosen(recorded: list[Recorded], name: str, kind: str) -> None:
    """Its M-step sees the targets; q_a is the classifier's view times what its terms add up to."""
    made = (
        simulate_sentiment(3, items=80, annotators=8)
        if kind == "documents"
        else simulate_ner(3, items=40, annotators=6, test_items=10)
    )
    model: AnnotatorModel = ANNOTATOR_MODELS.create(name)
    method = LogicLNCL(annotators=model, limits=TrainingLimits(epochs=2, held_out=HeldOut(0.2)))
    if kind == "documents" and isinstance(model, Sequential):
        with pytest.raises(OptionError) as refused:
            method.fit(made.corpus, made.labels)
        assert str(refused.value) == (
            "sequential annotators are for tags of the tokens of sentences. These labels are of single items; use "
            "confusion, variational or one-coin annotators for them."
        )
        return

    learned = method.fit(made.corpus, made.labels)

    assert learned.model is model
    for one in recorded:
        crowd = model.observe(one.task.training_labels)
        expected = model.m_step(crowd, one.before)
        np.testing.assert_array_equal(one.epoch.annotators.evidence(crowd), expected.evidence(crowd))
        with np.errstate(divide="ignore"):
            log_q = np.log(one.epoch.p)
        np.add.at(log_q, one.task.training_labels.unit, expected.terms(crowd))
        q_a = np.exp(log_q - log_q.max(axis=1, keepdims=True))
        q_a /= q_a.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(one.epoch.q_a, q_a, rtol=1e-9, atol=1e-12)
    assert score(learned.task.corpus, learned.epoch.q_f) > (0.5 if kind == "tags" else 0.6)


def test_sequential_annotators_learn_with_a_dev_set_and_without() -> None:
    made = simulate_ner(1, items=60, annotators=6, labels_per_item=3, test_items=30)
    method = LogicLNCL(annotators=Sequential(), limits=TrainingLimits(epochs=4))

    by_dev = method.fit(made.corpus, made.labels, dev=made.test)
    by_labels = method.fit(made.corpus, made.labels)

    assert by_dev.refit_history == ()
    assert by_labels.refit_history
    assert all(row.stopping < 0 for row in by_labels.history)  # a log-likelihood under the sequential model
    vote = score(by_dev.task.corpus, MajorityVote(ties="soft").infer(made.labels).beliefs)
    for learned in (by_dev, by_labels):
        table = learned.epoch.annotators.arrays()["table"]
        assert table.shape == (6 * learned.task.labels.n_classes, *[learned.task.labels.n_classes] * 2)
        assert score(learned.task.corpus, learned.epoch.q_f) > vote


@pytest.mark.parametrize("with_dev", [True, False])
def test_sequential_annotators_resume_where_they_were(with_dev: bool) -> None:
    made = simulate_ner(1, items=40, annotators=6, labels_per_item=3, test_items=10)
    method = LogicLNCL(annotators=Sequential(), limits=TrainingLimits(epochs=4))
    dev, checkpoint = made.test if with_dev else None, MemoryCheckpoint(stop_after=2)
    whole = method.fit(made.corpus, made.labels, dev=dev)

    with pytest.raises(KeyboardInterrupt):
        method.fit(made.corpus, made.labels, dev=dev, checkpoint=checkpoint)
    resumed = method.fit(made.corpus, made.labels, dev=dev, checkpoint=checkpoint)

    np.testing.assert_array_equal(resumed.epoch.q_f, whole.epoch.q_f)
    np.testing.assert_array_equal(resumed.epoch.annotators.arrays()["table"], whole.epoch.annotators.arrays()["table"])
    assert resumed.chosen == whole.chosen


@pytest.mark.parametrize("dev", [True, False])
def test_labels_are_arranged_once_for_every_table_of_a_pass(monkeypatch: pytest.MonkeyPatch, dev: bool) -> None:
    made = simulate_sentiment(3, items=80, annotators=8, test_items=20)
    observed: list[int] = []
    observe = ConfusionMatrices.observe

    def count(self: ConfusionMatrices, labels: CrowdLabels, **options: Any) -> Any:
        observed.append(labels.n_labels)
        return observe(self, labels, **options)

    monkeypatch.setattr(ConfusionMatrices, "observe", count)

    learned = LogicLNCL(limits=TrainingLimits(epochs=4, held_out=HeldOut(average=1))).fit(
        made.corpus, made.labels, dev=made.test if dev else None
    )

    everything = made.labels.n_labels
    if dev:
        assert observed == [everything]
    else:  # the labels to learn from and those held out in the first pass, all of them in the second
        assert len(learned.history) > 1
        assert sum(observed[:2]) == everything
        assert observed[2:] == [everything]


@pytest.mark.parametrize("loss", ["plain", "annotators"])
def test_a_label_of_weight_0_is_as_good_as_not_there(loss: str) -> None:
    made = simulate_sentiment(0, items=60, annotators=8)
    keep = np.random.default_rng(0).random(made.labels.n_labels) < 0.6
    method = LogicLNCL(loss=loss, limits=limits(2))

    weighed = method.fit(made.corpus, replace(made.labels, weight=keep.astype(float)))
    taken = method.fit(made.corpus, made.labels.take(keep))

    np.testing.assert_allclose(weighed.epoch.q_f, taken.epoch.q_f, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LogicLNCL(annotators=ConfusionMatrices(smoothing=-5.0)), "confusion: smoothing must be at least 0"),
        (lambda: LogicLNCL(annotators=ConfusionMatrices(trust=float("nan"))), "confusion: trust must be at least 0"),
        (lambda: LogicLNCL(doubt=-1.0), "logic-lncl: doubt must be at least 0"),
        (
            lambda: LogicLNCL(projector=Projector(strength=-1.0)),
            "strength must be a finite number of at least 0; got -1.0.",
        ),
        (lambda: LogicLNCL(limits=TrainingLimits(seed=-1)), "seed must be at least 0, got -1"),
        (lambda: LogicLNCL(loss="eq. 8"), "loss must be one of plain, annotators; got 'eq. 8'."),
    ],
)
def test_senseless_options_are_refused(make: Any, message: str) -> None:
    with pytest.raises(OptionError) as refused:
        make()

    assert str(refused.value).startswith(message)


def test_gold_with_another_class_widens_tie_order_and_transitions() -> None:
    made = simulate_ner(0, items=60, test_items=20)
    order = tuple(reversed(made.labels.classes))
    names = (*made.test.classes, "B-NEW")
    gold = np.array(made.test.gold)
    gold[0] = len(names) - 1
    dev = replace(made.test, classes=names, gold=gold)
    table = TransitionTable(made.labels.classes, np.full((9, 9), 0.5), np.full(9, 0.5))
    method = LogicLNCL(
        start=MajorityVote(ties="order", order=order),
        projector=Projector(transitions=table, preset="transitions"),
        limits=TrainingLimits(epochs=1),
    )

    learned = method.fit(made.corpus, made.labels, dev=dev)

    assert "B-NEW" in learned.task.labels.classes
    transitions = learned.teacher.projector.transitions
    assert isinstance(transitions, TransitionTable)
    assert transitions.probability[learned.task.labels.classes.index("B-NEW")].sum() == 0


@pytest.mark.parametrize("held_out", [None, HeldOut()])
def test_beliefs_settle_with_the_classifier_as_it_is(held_out: HeldOut | None) -> None:
    made = simulate_sentiment(0, items=200, annotators=8)
    limits = TrainingLimits(epochs=2, held_out=held_out)

    plain, settled = (LogicLNCL(settle=settle, limits=limits).fit(made.corpus, made.labels) for settle in (False, True))

    np.testing.assert_array_equal(settled.epoch.p, plain.epoch.p)
    np.testing.assert_array_equal(settled.predict(made.test), plain.predict(made.test))
    assert np.abs(settled.epoch.q_f - plain.epoch.q_f).max() > 0.01
    # a fixed point: the annotators of these answers give these answers
    crowd = settled.model.observe(settled.task.labels)
    annotators = settled.model.m_step(crowd, settled.epoch.q_f)
    again, _ = normalise(np.log(settled.epoch.p) + annotators.evidence(crowd))
    np.testing.assert_allclose(again, settled.epoch.q_f, rtol=0, atol=0.04)  # after at most 10 steps
    assert is_explicable(settled)
