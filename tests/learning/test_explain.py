"""The terms of an answer add up to it, and each is what a slow loop over its definition gives."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise, product
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

from crowdlogic.annotators.abstaining import Abstaining
from crowdlogic.annotators.sequential import Sequential, previous_tags
from crowdlogic.classifiers.protocol import predict_texts
from crowdlogic.data.corpus import sentences
from crowdlogic.data.frames import from_sequences
from crowdlogic.data.simulate import simulate_ner, simulate_sentiment
from crowdlogic.errors import LabelError, OptionError
from crowdlogic.learning.algorithm import ConstantImitation, LogicLNCL
from crowdlogic.learning.baselines import TwoStage
from crowdlogic.learning.explain import Evidence, explain, explain_all, is_explicable
from crowdlogic.learning.learned import Learned
from crowdlogic.learning.stopping import TrainingLimits
from crowdlogic.numerics.logspace import expected_log
from crowdlogic.registry import ANNOTATOR_MODELS
from crowdlogic.rules.grounding import ground_rules
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.projection.projector import Projector

REVIEWS = simulate_sentiment(3, items=80, annotators=10, labels_per_item=3)
SENTENCES = simulate_ner(3, items=40, annotators=6, labels_per_item=3, test_items=5)
BUT = "1: include contrast('but')\n0.3: Contains(S, 'good') -> Label(S, 'positive')"


def opening(length: int) -> SimpleNamespace:
    """The first few tokens of each sentence with what was said of them: short enough to enumerate all labellings."""
    corpus, labels = SENTENCES.corpus, SENTENCES.labels
    item, annotator, pair = labels.annotations()
    tags = [[str(labels.classes[k]) for k in labels.label[pair == n]] for n in range(len(item))]
    rows = [
        (corpus.items[int(s)], labels.annotators[int(j)], t[:length])
        for s, j, t in zip(item, annotator, tags, strict=True)
    ]
    cut = sentences(corpus.items.to_list(), [corpus.sentence(s)[:length] for s in range(len(corpus.items))])
    return SimpleNamespace(corpus=cut, labels=from_sequences(rows))


def fitted(made: Any, rules: str | None, *, vocabulary: Vocabulary | None = None, **options: Any) -> Learned:
    method = LogicLNCL(imitation=ConstantImitation(0.4), **options, limits=TrainingLimits(epochs=2))
    return method.fit(
        made.corpus, made.labels, rules=None if rules is None else parse_rules(rules), vocabulary=vocabulary
    )


def added_up(found: Evidence) -> tuple[np.ndarray, np.ndarray]:
    """q_a and q_b from their terms, by plain addition."""
    log_a = found.classifier - found.normaliser[:, None]
    log_a = log_a if found.neighbours is None else log_a + found.neighbours
    for unit, term in zip(found.crowd.unit, found.crowd.term, strict=True):
        log_a[unit] = log_a[unit] + term
    if found.rules is None:
        return np.exp2(log_a), np.exp2(log_a)
    rules = found.rules
    log_b = rules.base + rules.residual - rules.normaliser[:, None]
    for share in rules.share:
        log_b = log_b + share
    return np.exp2(log_a), np.exp2(log_b if rules.transitions is None else log_b + rules.transitions)


def check_all(learned: Learned) -> list[Evidence]:
    """Every item's terms add up to its beliefs, in logs."""
    everything = explain_all(learned, learned.task.corpus.items.to_list(), calibrated=False)
    check_stated(learned)
    offsets = learned.task.corpus.offsets
    for s, found in enumerate(everything):
        units = slice(s, s + 1) if offsets is None else slice(*offsets[s : s + 2])
        q_a, q_b = added_up(found)
        with np.errstate(divide="ignore"):
            np.testing.assert_allclose(np.log2(q_a), np.log2(learned.epoch.q_a[units]), rtol=0, atol=1e-9)
            np.testing.assert_allclose(np.log2(q_b), np.log2(learned.epoch.q_b[units]), rtol=0, atol=1e-9)
        np.testing.assert_allclose(0.6 * q_a + 0.4 * q_b, learned.epoch.q_f[units], rtol=0, atol=1e-9)
        np.testing.assert_array_equal(found.answer, learned.estimate.answer[units])
    return everything


def check_stated(learned: Learned) -> None:
    """Every item's bits, all of them times the sharpness of their unit, add up to what is stated."""
    raw = explain_all(learned, learned.task.corpus.items.to_list(), calibrated=False)
    stated = explain_all(learned, learned.task.corpus.items.to_list())
    offsets = learned.task.corpus.offsets
    for s, (one, before) in enumerate(zip(stated, raw, strict=True)):
        units = slice(s, s + 1) if offsets is None else slice(*offsets[s : s + 2])
        total = one.added_up()
        possible = np.isfinite(total)  # what the rules exclude has beliefs from doubt alone
        expected = np.log2(learned.estimate.beliefs[units])
        np.testing.assert_allclose(total[possible], expected[possible], rtol=0, atol=1e-9)
        assert possible[np.arange(len(one.answer)), one.answer].all()
        np.testing.assert_array_equal(one.answer, before.answer)
        scaled = before.crowd.term * one.sharpness[one.crowd.unit, None]
        np.testing.assert_allclose(one.crowd.term, scaled, rtol=1e-12)
        assert (one.sharpness[one.crowd.unit] <= 1).all()
        assert (one.doubt[np.arange(len(one.answer)), one.answer] < 0).all()


def test_terms_add_up_and_rules_of_single_units_leave_nothing_over() -> None:
    learned = fitted(REVIEWS, BUT)

    everything = check_all(learned)

    spoken = [found for found in everything if found.rules is not None and found.rules.rules]
    assert 20 < len(spoken) < 80
    for found in spoken:
        assert found.rules is not None
        assert found.rules.is_exact
        np.testing.assert_allclose(found.rules.residual, 0.0, rtol=0, atol=1e-9)


def test_the_annotators_terms_are_their_confusion_matrices() -> None:
    learned = fitted(REVIEWS, None)
    labels, confusion = learned.task.labels, learned.epoch.annotators.confusion

    for s, item in enumerate(labels.items):
        found = explain(learned, item, calibrated=False)
        rows = np.flatnonzero(labels.unit == s)
        assert [labels.annotators[int(labels.annotator[row])] for row in rows] == list(found.crowd.annotator)
        for row, term in zip(rows, found.crowd.term, strict=True):
            for k in range(2):
                pi = confusion[labels.annotator[row], k, labels.label[row]]
                assert term[k] == pytest.approx(np.log2(pi), abs=1e-12)
        assert found.rules is None


def test_a_rules_bits_are_its_weight_times_its_distance() -> None:
    learned = fitted(REVIEWS, BUT, projector=Projector(strength=2.0), learn_weights=False)
    corpus = learned.task.corpus

    for s, text in enumerate(corpus.texts or ()):
        rules = explain(learned, corpus.items[s], calibrated=False).rules
        assert rules is not None
        _, is_contrast, clause = text.partition(" but ")
        expected = []
        if is_contrast:
            sigma = predict_texts(learned.classifier, [clause])[0]
            expected.append(2.0 * (sigma[1] - sigma[0]) / np.log(2))
        if "good" in re.findall(r"\w+", text):
            expected.append(2.0 * 0.3 / np.log(2))
        difference = rules.share[:, 0, 1] - rules.share[:, 0, 0]
        np.testing.assert_allclose(difference, expected, rtol=0, atol=1e-9)


def enumerated(learned: Learned, s: int, kinds: tuple[str, ...]) -> np.ndarray:
    """q_b of a short sentence over all its labellings: I- follows B- or I- of its kind, for some kinds of entities."""
    begin, end = learned.task.corpus.offsets[s : s + 2]
    names = [str(name) for name in learned.task.labels.classes]
    q = learned.epoch.q_a[begin:end]
    total = np.zeros_like(q)
    for path in product(range(len(names)), repeat=end - begin):
        tags = [names[k] for k in path]
        wrong = sum(
            tag == f"I-{kind}" and before not in (f"B-{kind}", f"I-{kind}")
            for kind in kinds
            for before, tag in pairwise(tags)
        )
        weight = np.prod([q[i, k] for i, k in enumerate(path)]) * np.exp(-learned.teacher.projector.strength * wrong)
        for i, k in enumerate(path):
            total[i, k] += weight
    return total / total.sum(axis=1, keepdims=True)


def test_in_a_chain_a_rules_bits_are_what_is_lost_without_it() -> None:
    rule = "1: Label(T, 'I-{0}') & Previous(T, P) -> Label(P, 'B-{0}') | Label(P, 'I-{0}')\n"
    learned = fitted(opening(3), rule.format("PER") + rule.format("LOC"))
    everything = check_all(learned)
    offsets = learned.task.corpus.offsets

    for s in range(0, 40, 8):
        q_b = learned.epoch.q_b[offsets[s] : offsets[s + 1]]
        np.testing.assert_allclose(enumerated(learned, s, ("PER", "LOC")), q_b, rtol=0, atol=1e-9)
        rules = everything[s].rules
        assert rules is not None
        assert not rules.is_exact
        assert len(rules.rules) == 2
        for text, share in zip(rules.rules, rules.share, strict=True):
            lost = np.log2(q_b) - np.log2(enumerated(learned, s, ("LOC",) if "PER" in text else ("PER",)))
            np.testing.assert_allclose(share, lost - lost.mean(axis=1, keepdims=True), rtol=0, atol=1e-8)


@pytest.mark.parametrize("preset", ["paper", "released", "transitions"])
@pytest.mark.parametrize("rules", [None, "1: include bio"])
def test_terms_add_up_under_every_preset_with_transitions(preset: str, rules: str | None) -> None:
    learned = fitted(SENTENCES, rules, projector=Projector(preset=preset, transitions="estimated"))

    everything = check_all(learned)

    for found in everything[:5]:
        assert found.rules is not None
        assert found.rules.from_classifier is (preset != "paper")
        assert found.rules.transitions is not None
        if preset != "paper":
            np.testing.assert_allclose(found.rules.base, found.classifier, rtol=0, atol=1e-12)


def near() -> Vocabulary:
    names = REVIEWS.corpus.items.to_list()
    return Vocabulary().table("Near", pl.DataFrame({"a": names[:-1:2], "b": names[1::2]}))


def test_rules_that_join_items_are_explained_with_all_items_at_hand() -> None:
    learned = fitted(REVIEWS, "0.5: Near(A, B) & Label(A, C) -> Label(B, C)", vocabulary=near(), learn_weights=False)

    everything = check_all(learned)

    for i in range(0, 80, 2):
        a, b = learned.epoch.q_a[i], learned.epoch.q_a[i + 1]
        joint = np.outer(a, b) * np.where(np.eye(2) > 0, 1.0, np.exp(-5.0 * 0.5))  # one of the two directions is broken
        expected = joint.sum(axis=1) / joint.sum()
        np.testing.assert_allclose(learned.epoch.q_b[i], expected, rtol=0, atol=1e-9)
        rules = everything[i].rules
        assert rules is not None
        # There is one rule, so without it q_a is left: its share is the whole change, and nothing is left over.
        np.testing.assert_allclose(rules.residual, 0.0, rtol=0, atol=1e-9)
        change = np.log2(learned.epoch.q_b[i]) - np.log2(a)
        np.testing.assert_allclose(rules.share[0, 0], change - change.mean(), rtol=0, atol=1e-9)


def test_one_item_is_projected_alone_where_rules_stay_within_items(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def noted(rules: Any, corpus: Any, classes: Any, **options: Any) -> Any:
        seen.append(corpus.n_units)
        return ground_rules(rules, corpus, classes, **options)

    within, joining = (
        fitted(REVIEWS, BUT),
        fitted(REVIEWS, BUT + "\n1: Near(A, B) & Label(A, C) -> Label(B, C)", vocabulary=near()),
    )
    monkeypatch.setattr("crowdlogic.rules.grounding.ground_rules", noted)
    explain(within, "r01")
    explain(joining, "r01")

    assert seen == [1]  # the joining rules were grounded over all items in the fit


def test_weights_of_labels_scale_what_they_say() -> None:
    weights = np.where(np.arange(REVIEWS.labels.n_labels) % 3, 0.5, 0.0)
    learned = LogicLNCL(imitation=ConstantImitation(0.4), limits=TrainingLimits(epochs=2)).fit(
        REVIEWS.corpus, replace(REVIEWS.labels, weight=weights)
    )

    everything = check_all(learned)

    assert all(
        (found.crowd.term[learned.task.labels.weight[learned.task.labels.unit == s] == 0] == 0).all()
        for s, found in enumerate(everything)
    )


def test_annotators_who_mostly_abstain_are_explained_by_how_often_they_speak() -> None:
    learned = fitted(REVIEWS, BUT, annotators=Abstaining())

    check_all(learned)

    assert (learned.epoch.annotators.confusion.sum(axis=2) < 0.9).any()  # what is missing to one is abstention


@pytest.mark.parametrize("name", ANNOTATOR_MODELS)
def test_terms_add_up_with_every_annotator_model(name: str) -> None:
    learned = fitted(SENTENCES, "1: include bio", annotators=ANNOTATOR_MODELS.create(name))

    check_all(learned)

    assert is_explicable(learned)


@pytest.mark.parametrize("name", ["confusion", "variational", "sequential"])
def test_terms_of_labels_that_count_for_less_add_up(name: str) -> None:
    learned = fitted(SENTENCES, "1: include bio", annotators=ANNOTATOR_MODELS.load(name)(correlation=0.7))

    check_all(learned)
    check_stated(learned)

    assert is_explicable(learned)


@pytest.mark.parametrize("epochs", [1, 12])
def test_a_truth_that_was_given_stays_as_it_is(epochs: int) -> None:
    names = [str(REVIEWS.corpus.classes[k]) for k in np.asarray(REVIEWS.corpus.gold)]
    anchors = dict(zip(REVIEWS.corpus.items.to_list()[:40], names, strict=False))
    learned = LogicLNCL(limits=TrainingLimits(epochs=epochs)).fit(REVIEWS.corpus, REVIEWS.labels, anchors=anchors)

    for s, found in enumerate(explain_all(learned, REVIEWS.corpus.items.to_list())):
        assert found.known.all() == (s < 40)
        np.testing.assert_allclose(found.q_f[0], learned.estimate.beliefs[s], rtol=0, atol=1e-12)
        if s >= 40:
            np.testing.assert_allclose(found.added_up()[0], np.log2(learned.estimate.beliefs[s]), rtol=0, atol=1e-9)


def test_sequential_annotators_are_explained_by_what_they_said_before() -> None:
    learned = fitted(SENTENCES, None, annotators=Sequential())
    labels, size = learned.task.labels, learned.task.labels.n_classes
    table = expected_log(learned.epoch.annotators.arrays()["table"], axis=1)
    before = previous_tags(labels)

    for s, found in enumerate(explain_all(learned, learned.task.corpus.items.to_list(), calibrated=False)):
        rows = np.flatnonzero(labels.item_of_unit[labels.unit] == s)
        said = table[labels.annotator[rows] * size + before[rows], labels.label[rows]]
        np.testing.assert_allclose(found.crowd.term, said / np.log(2), rtol=0, atol=1e-12)
        bits = found.classifier + found.crowd.total(len(found.words)) - found.normaliser[:, None]
        np.testing.assert_allclose(bits, np.log2(found.q_a), rtol=0, atol=1e-6)


def test_learnt_weights_of_rules_are_the_ones_explained() -> None:
    wrong = "1.0: Label(S, C) & After(S, 'but', B) -> Predicted(B, C)\n1.0: Matches(S, '.') -> Label(S, 'negative')"
    learned = fitted(REVIEWS, wrong)

    check_all(learned)

    assert learned.teacher.factors is not None


def test_an_answer_that_is_no_such_sum_is_not_explained_as_one() -> None:
    learned = TwoStage(limits=TrainingLimits(epochs=2)).fit(REVIEWS.corpus, REVIEWS.labels)

    with pytest.raises(OptionError) as refused:
        explain(learned, "r01")

    assert str(refused.value) == (
        "majority + linear: its answers are not the sum of the classifier's and the annotators' terms, so they cannot be explained this way. Explain a run of logic-lncl, aggnet or raykar."
    )


def test_an_unknown_item_is_named_with_the_nearest() -> None:
    with pytest.raises(LabelError, match=r"No item is called 'r013'. Did you mean 'r13'\?"):
        explain(fitted(REVIEWS, None), "r013")


@pytest.mark.parametrize("kind", ["documents", "documents that are joined", "sentences"])
def test_several_items_at_once_are_explained_as_each_alone(kind: str) -> None:
    if kind == "sentences":
        learned = fitted(SENTENCES, "1: include bio")
    else:
        joining = kind == "documents that are joined"
        rules = BUT + ("\n1: Near(A, B) & Label(A, C) -> Label(B, C)" if joining else "")
        learned = fitted(REVIEWS, rules, vocabulary=near() if joining else None)
    names = learned.task.corpus.items.to_list()[30:0:-7]

    together = explain_all(learned, names)

    assert [found.item for found in together] == names
    for one, alone in zip(together, (explain(learned, name) for name in names), strict=True):
        assert one.rules is not None
        assert alone.rules is not None
        assert one.rules.rules == alone.rules.rules
        np.testing.assert_allclose(one.rules.share, alone.rules.share, rtol=0, atol=1e-12)
        np.testing.assert_array_equal(one.crowd.term, alone.crowd.term)
        np.testing.assert_array_equal(one.q_b, alone.q_b)
    assert explain_all(learned, []) == []


def test_what_can_be_explained_is_known_beforehand() -> None:
    assert is_explicable(fitted(REVIEWS, BUT))
    assert is_explicable(fitted(SENTENCES, None))
    assert not is_explicable(TwoStage(limits=TrainingLimits(epochs=2)).fit(REVIEWS.corpus, REVIEWS.labels))
