from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import polars as pl
import pytest
from scipy import optimize
from tests.learning.memory_checkpoint import MemoryCheckpoint

from crowdlogic.classifiers.crf import CRF, CRFPotentials, sequence_offsets
from crowdlogic.classifiers.linear import Linear
from crowdlogic.data.corpus import Corpus, sentences
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.simulate import simulate_ner, simulate_sentiment
from crowdlogic.errors import LabelError, OptionError
from crowdlogic.extensions.paper.crf_ma import (
    CRFMA,
    Copies,
    CRFWithChoice,
    TagPaths,
    collect_copies,
    counts_from_paths,
    update_choice,
)
from crowdlogic.learning.stopping import HeldOut, TrainingLimits
from crowdlogic.learning.task import score
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.rules.parser import parse_rules

WORDS = (("Ann", "sleeps"), ("so", "does", "Bob"), ("yes",))
TAGGED = {  # (sentence, annotator): tags
    (0, 0): (1, 0), (0, 1): (0, 0), (0, 2): (1, 1), (1, 0): (0, 0, 1), (1, 2): (0, 2, 1), (2, 1): (0,),
}  # fmt: skip


def tiny() -> tuple[Corpus, CrowdLabels]:
    corpus = sentences(range(3), WORDS)
    rows = [(int(corpus.offsets[s]) + t, j, tag) for (s, j), tags in TAGGED.items() for t, tag in enumerate(tags)]
    unit, annotator, label = (np.array(column) for column in zip(*rows, strict=True))
    names = {"items": corpus.items, "annotators": pl.Series(["a", "b", "c"]), "classes": ("O", "B", "I")}
    return corpus, CrowdLabels(unit=unit, annotator=annotator, label=label, offsets=corpus.offsets, **names)


def crf_of(corpus: Corpus, labels: CrowdLabels, seed: int = 0) -> tuple[CRFWithChoice, Copies]:
    rng = np.random.default_rng(seed)
    copies = collect_copies(labels)
    made = CRFWithChoice(CRF().build(corpus, labels.classes, seed=0), copies)
    made.crf.potentials = CRFPotentials(*(rng.normal(size=part.shape) for part in made.crf.potentials))
    made.choice = rng.random(copies.n_annotators) + 0.2
    return made, copies


def probability(made: CRFWithChoice, corpus: Corpus, s: int, tags: tuple[int, ...]) -> float:
    """p(tags | words), over all taggings of the sentence."""
    _, start, transitions = made.crf.potentials
    unary = made.crf.unary(corpus)[corpus.offsets[s] : corpus.offsets[s + 1]]

    def weight(some: tuple[int, ...]) -> float:
        steps = sum(unary[t, tag] for t, tag in enumerate(some))
        return float(np.exp(start[some[0]] + steps + sum(transitions[a, b] for a, b in pairwise(some))))

    return weight(tags) / sum(weight(some) for some in product(range(3), repeat=len(tags)))


def test_the_evidence_is_summed_over_who_may_be_right() -> None:
    corpus, labels = tiny()
    made, copies = crf_of(corpus, labels)

    seen = made.e_step(corpus, copies)

    total = 0.0
    right = {}
    for s in range(3):
        people = [j for sentence, j in TAGGED if sentence == s]
        size = len(WORDS[s])
        joint = {
            j: made.choice[j]
            / made.choice[people].sum()
            * probability(made, corpus, s, TAGGED[s, j])
            * 3.0 ** (-size * (len(people) - 1))
            for j in people
        }
        total += np.log(sum(joint.values()))
        right |= {(s, j): one / sum(joint.values()) for j, one in joint.items()}
    np.testing.assert_allclose(seen.log_evidence, total, rtol=1e-10)
    expected = [right[int(s), int(j)] for s, j in zip(copies.sequence, copies.annotator, strict=True)]
    np.testing.assert_allclose(seen.right, expected, rtol=1e-10)


def test_beliefs_are_everybody_s_tags_by_how_probably_they_are_right() -> None:
    corpus, labels = tiny()
    made, copies = crf_of(corpus, labels)

    right = made.e_step(corpus, copies).right
    q = copies.mix(right)

    by_pair = {(int(s), int(j)): r for s, j, r in zip(copies.sequence, copies.annotator, right, strict=True)}
    np.testing.assert_allclose(q[0], [by_pair[0, 1], by_pair[0, 0] + by_pair[0, 2], 0.0], rtol=1e-12)
    np.testing.assert_allclose(q[3], [by_pair[1, 0], 0.0, by_pair[1, 2]], rtol=1e-12)


def test_the_choice_is_what_an_optimiser_finds() -> None:
    rng = np.random.default_rng(0)
    made = planted_crowd(rng, np.array([3.0, 1.0, 0.3, 1.0]), sentences=40)
    copies = collect_copies(made.labels)
    right = rng.random(len(copies.sequence))
    right /= copies.total(right)

    found = update_choice(copies, right, np.ones(4), prior=2.0, rounds=500)

    def lost(logs: Floats) -> float:
        choice = np.exp(logs)
        weight = choice[copies.annotator]
        return -float(right @ np.log(weight / copies.total(weight)) + 2.0 * (np.log(choice) - choice).sum())

    best = optimize.minimize(lost, np.zeros(4), method="BFGS", options={"gtol": 1e-8})
    np.testing.assert_allclose(found, np.exp(best.x), rtol=1e-4)


class Planted:
    """Sentences of a Markov chain whose words tell the tags, and copies by people who are right or answer anything."""

    def __init__(self, corpus: Corpus, labels: CrowdLabels, truth: Ints) -> None:
        self.corpus, self.labels, self.truth = corpus, labels, truth


def planted_crowd(
    rng: np.random.Generator, choice: Floats, *, sentences: int, adversary: int | None = None, each: int = 3
) -> Planted:
    """Of the people who tag a sentence one, drawn by `choice`, is right; an adversary always turns the tags round."""
    length, tags = 6, 3
    truth = np.zeros((sentences, length), dtype=np.int64)
    for s, t in product(range(sentences), range(length)):
        stays = t and rng.random() < 0.5
        truth[s, t] = truth[s, t - 1] if stays else rng.integers(tags)
    told = np.where(rng.random(truth.shape) < 0.85, truth, rng.integers(tags, size=truth.shape))
    words = [[f"w{tag}{rng.integers(5)}" for tag in row] for row in told]
    rows = []
    for s in range(sentences):
        people = rng.permutation(len(choice))[:each]
        chosen_one = rng.choice(people, p=choice[people] / choice[people].sum())
        for j in people:
            given = truth[s] if j == chosen_one else rng.integers(tags, size=length)
            given = (truth[s] + 1) % tags if j == adversary else given
            rows += [(s * length + t, j, tag) for t, tag in enumerate(given)]
    unit, annotator, label = (np.array(column) for column in zip(*rows, strict=True))
    names = pl.Series([f"s{s}" for s in range(sentences)])
    offsets = length * np.arange(sentences + 1)
    corpus = Corpus(names, tokens=tuple(word for row in words for word in row), offsets=offsets)
    people = pl.Series([f"p{j}" for j in range(len(choice))])
    return Planted(
        corpus,
        CrowdLabels(
            unit=unit,
            annotator=annotator,
            label=label,
            items=names,
            annotators=people,
            classes=("x", "y", "z"),
            offsets=offsets,
        ),
        truth.ravel(),
    )


def test_planted_choices_are_recovered() -> None:
    choice = np.array([4.0, 2.0, 1.0, 0.5, 0.1])
    made = planted_crowd(np.random.default_rng(0), choice, sentences=500)
    copies = collect_copies(made.labels)
    method = CRFMA(
        classifier=CRF(ridge=1e-3, steps=20), first_steps=40, prior=0.1, limits=TrainingLimits(epochs=10, held_out=None)
    )

    learned = method.fit(made.corpus, made.labels)

    found = np.asarray(learned.estimate.parameters["choice"])
    np.testing.assert_allclose(found, choice / choice.sum(), rtol=0.0, atol=0.04)
    assert (learned.estimate.answer == made.truth).mean() > 0.97
    assert len(copies.sequence) == 1500


def test_good_people_are_told_from_bad_and_from_adversaries() -> None:
    choice = np.array([5.0, 5.0, 5.0, 0.5, 1e-9])
    made = planted_crowd(np.random.default_rng(1), choice, sentences=400, adversary=4)

    learned = CRFMA(classifier=CRF(ridge=1e-3), first_steps=40, limits=TrainingLimits(epochs=8, held_out=None)).fit(
        made.corpus, made.labels
    )

    found = np.asarray(learned.estimate.parameters["choice"])
    right = np.asarray(learned.estimate.confusion)[:, np.arange(3), np.arange(3)].mean(axis=1)
    assert found[:3].min() > 3 * found[3] > 3 * found[4]
    assert right[4] < 0.1 < right[3] < right[:3].min()


def penalised(made: CRFWithChoice, corpus: Corpus, copies: Copies, prior: float) -> float:
    """The log posterior that EM climbs, up to a constant."""
    units = float(np.diff(corpus.offsets)[np.unique(copies.sequence)].sum())
    ridge = 0.5 * made.crf.options.ridge * units * sum((part**2).sum() for part in made.crf.potentials)
    return float(made.e_step(corpus, copies).log_evidence - ridge + prior * (np.log(made.choice) - made.choice).sum())


@pytest.mark.parametrize("seed", range(3))
def test_the_objective_never_falls(seed: int) -> None:
    made = simulate_ner(seed, items=20, annotators=6)
    copies = collect_copies(made.labels)
    learner = CRFWithChoice(CRF(ridge=1e-3, steps=3).build(made.corpus, made.labels.classes, seed=0), copies)

    trace = []
    for _ in range(12):
        trace.append(penalised(learner, made.corpus, copies, 1.0))
        learner.m_step(made.corpus, copies, learner.e_step(made.corpus, copies).right, 1.0)

    assert (np.diff(trace) > -1e-8).all()
    assert trace[-1] - trace[0] > 1.0


def test_one_annotator_makes_it_a_plain_crf() -> None:
    made = simulate_ner(0, items=60, annotators=5)
    labels = made.labels
    alone = labels.take(labels.annotator == np.bincount(labels.annotator).argmax())

    learned = CRFMA(classifier=CRF(steps=8), first_steps=8, limits=TrainingLimits(epochs=2, held_out=None)).fit(
        made.corpus, alone
    )

    _, _, copy = alone.annotations()
    order = np.argsort(copy, kind="stable")
    begins = np.append(0, np.cumsum(np.bincount(copy)))
    paths = TagPaths(alone.unit[order].astype(np.int64), alone.label[order].astype(np.int64), begins)
    plain = CRF(steps=8).build(made.corpus, alone.classes, seed=0)
    wanted = counts_from_paths(paths, np.ones(len(begins) - 1), sequence_offsets(made.corpus), alone.n_classes)
    for _ in range(2):
        plain.fit_counts(made.corpus, wanted)
    np.testing.assert_allclose(learned.epoch.p, plain.predict_proba(made.corpus), rtol=1e-8)
    np.testing.assert_array_equal(learned.epoch.q_f[alone.unit, alone.label], 1.0)


def test_the_order_of_labels_and_people_does_not_matter() -> None:
    made = simulate_ner(0, items=20, annotators=6)
    labels = made.labels
    rng = np.random.default_rng(0)
    rows, people = rng.permutation(labels.n_labels), rng.permutation(len(labels.annotators))
    mixed = replace(
        labels,
        unit=labels.unit[rows],
        annotator=np.argsort(people)[labels.annotator[rows]],
        label=labels.label[rows],
        annotators=labels.annotators.gather(people),
    )

    one, two = (
        CRFMA(first_steps=10, limits=TrainingLimits(epochs=3, held_out=None)).fit(made.corpus, some)
        for some in (labels, mixed)
    )

    np.testing.assert_allclose(two.epoch.q_f, one.epoch.q_f, rtol=0, atol=1e-6)
    choice = [np.asarray(some.estimate.parameters["choice"]) for some in (one, two)]
    np.testing.assert_allclose(choice[1], choice[0][people], rtol=1e-5)


def test_names_are_learnt() -> None:
    made = simulate_ner(0, items=300, test_items=80, annotators=12)

    learned = CRFMA(first_steps=40, limits=TrainingLimits(epochs=3)).fit(made.corpus, made.labels, dev=made.test)

    assert score(learned.task.dev, learned.predict(made.test)) > 0.8
    assert score(learned.task.corpus, learned.epoch.q_f) > 0.8


def test_seeds_have_no_part_in_it() -> None:
    corpus, labels = tiny()

    one, two = (
        CRFMA(first_steps=10, limits=TrainingLimits(epochs=2, held_out=None, seed=seed)).fit(corpus, labels)
        for seed in (0, 7)
    )

    np.testing.assert_array_equal(one.epoch.q_f, two.epoch.q_f)
    np.testing.assert_array_equal(one.epoch.p, two.epoch.p)


@pytest.mark.parametrize("refit", [True, False])
def test_held_out_labels_are_in_the_answers(refit: bool) -> None:
    made = simulate_ner(0, items=30, annotators=6)

    learned = CRFMA(first_steps=10, limits=TrainingLimits(epochs=2, held_out=HeldOut(refit=refit))).fit(
        made.corpus, made.labels
    )

    assert (learned.task.held_labels is None) == refit
    assert (learned.epoch.q_f[made.labels.unit, made.labels.label] > 0).all()


def test_a_fit_that_was_stopped_goes_on_as_if_it_had_not_been() -> None:
    made = simulate_ner(0, items=20, annotators=6)
    method, memory = CRFMA(first_steps=10, limits=TrainingLimits(epochs=4, held_out=None)), MemoryCheckpoint()

    replace(method, limits=replace(method.limits, epochs=2)).fit(made.corpus, made.labels, checkpoint=memory)
    resumed = method.fit(made.corpus, made.labels, checkpoint=memory)

    whole = method.fit(made.corpus, made.labels)
    np.testing.assert_array_equal(resumed.epoch.q_f, whole.epoch.q_f)
    np.testing.assert_array_equal(resumed.estimate.parameters["choice"], whole.estimate.parameters["choice"])


def test_tags_of_half_a_sentence_are_refused() -> None:
    corpus, labels = tiny()

    with pytest.raises(LabelError) as caught:
        CRFMA(limits=TrainingLimits(held_out=None)).fit(corpus, labels.take(np.arange(labels.n_labels) != 0))

    assert str(caught.value) == (
        "'a' gave 1 tag for the 2 tokens of 0. crf-ma needs one for each: complete them, or remove them."
    )


def test_a_token_tagged_twice_and_another_not_at_all_is_refused() -> None:
    _, labels = tiny()
    unit = np.where((labels.annotator == 0) & (labels.unit == 1), 0, labels.unit)

    with pytest.raises(LabelError, match=r"^'a' gave 2 tags for the 2 tokens of 0\. crf-ma needs one for each"):
        collect_copies(replace(labels, unit=unit))


def test_what_has_no_place_in_it_is_refused() -> None:
    made = simulate_sentiment(0, items=30, annotators=6)
    corpus, labels = tiny()

    with pytest.raises(LabelError, match=r"^crf-ma requires tagged sequences, but these are labels of documents\."):
        CRFMA().fit(made.corpus, made.labels)
    with pytest.raises(LabelError, match=r"^crf-ma does not support weights of labels\."):
        CRFMA(limits=TrainingLimits(held_out=None)).fit(corpus, replace(labels, weight=np.full(labels.n_labels, 0.5)))
    with pytest.raises(OptionError, match=r"^crf-ma does not support rules\."):
        CRFMA().fit(corpus, labels, rules=parse_rules("1.0: Label(T, 'I') -> Label(T, 'O')"))
    with pytest.raises(OptionError, match=r"^crf-ma requires a crf, not linear\."):
        CRFMA(Linear())
