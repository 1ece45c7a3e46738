"""The statistical methods: objectives that never fall, exact posteriors, planted parameters found again."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.special import digamma
from tests.truth.planted import planted

from crowdlogic.annotators.confusion import ConfusionMatrices
from crowdlogic.annotators.proportions import ClassProportions
from crowdlogic.data.frames import from_arrays, from_matrix
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.engines.shards import make_shards
from crowdlogic.engines.sweeps import table_sweep
from crowdlogic.errors import OptionError
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.numerics.dirichlet import divergence, expected_log
from crowdlogic.numerics.logspace import safe_log
from crowdlogic.registry import TRUTH_METHODS
from crowdlogic.truth.dawid_skene import DawidSkene
from crowdlogic.truth.ebcc import EBCC
from crowdlogic.truth.em import TableEM
from crowdlogic.truth.fitting import Fitting
from crowdlogic.truth.glad import GLAD
from crowdlogic.truth.ibcc import IBCC
from crowdlogic.truth.mace import MACE
from crowdlogic.truth.methods import TruthMethod, needs_sequences, truth_method
from crowdlogic.truth.one_coin import OneCoin
from crowdlogic.truth.weighting import CATD, PM, Wawa

MODELS = [
    DawidSkene(),
    DawidSkene(smoothing=0, trust=0, convergence=Convergence(max_iterations=300)),
    OneCoin(),
    IBCC(),
    EBCC(),
    GLAD(),
    MACE(),
]


@pytest.fixture(params=MODELS, ids=lambda m: f"{m.name}{'' if m != MODELS[1] else '-unsmoothed'}")
def model(request: pytest.FixtureRequest) -> TruthMethod:
    return request.param


@pytest.mark.parametrize("seed", range(5))
def test_the_objective_never_falls(model: TruthMethod, seed: int) -> None:
    labels = planted(seed, units=80, annotators=6, classes=3, right=0.5, given=0.6).labels

    trace = model.infer(labels).trace

    assert len(trace) > 2
    assert (np.diff(trace) > -1e-7).all()


def test_the_objective_is_the_posterior_of_the_parameters_by_enumeration() -> None:
    """Summing p(truth, labels) over all truths of a tiny table gives the trace's last value."""
    labels = from_matrix(np.array([[0, 1, 0], [1, 1, -1], [0, 0, 1]]))
    method = DawidSkene(smoothing=0.3, trust=0.7)
    estimate = method.infer(labels)
    confusion, prior = estimate.confusion, estimate.prior

    total = 0.0
    for truth in itertools.product(range(2), repeat=3):
        p = np.prod([prior[m] for m in truth])
        for unit, j, n in zip(labels.unit, labels.annotator, labels.label, strict=True):
            p *= confusion[j, truth[unit], n]
        total += p
    density = 0.3 * (np.log(confusion).sum() + np.log(prior).sum())
    density += 0.7 * np.log(np.diagonal(confusion, axis1=1, axis2=2)).sum()

    np.testing.assert_allclose(estimate.trace[-1], np.log(total) + density, rtol=1e-12)


def test_beliefs_are_the_exact_posterior_on_a_tiny_table() -> None:
    labels = from_matrix(np.array([[0, 1, 2], [2, -1, 2], [1, 1, 0], [-1, -1, 1]]))
    rng = np.random.default_rng(0)
    confusion, prior = rng.dirichlet(np.ones(3), size=(3, 3)), rng.dirichlet(np.ones(3))
    exact = np.zeros((4, 3))
    for truth in itertools.product(range(3), repeat=4):
        p = np.prod([prior[m] for m in truth])
        for unit, j, n in zip(labels.unit, labels.annotator, labels.label, strict=True):
            p *= confusion[j, truth[unit], n]
        for i, m in enumerate(truth):
            exact[i, m] += p

    found = table_sweep(make_shards(labels), safe_log(confusion.transpose(0, 2, 1)), safe_log(prior), keep=True)
    q, log_evidence = found.q, found.log_evidence

    np.testing.assert_allclose(q, exact / exact.sum(axis=1, keepdims=True), rtol=1e-12)
    np.testing.assert_allclose(log_evidence, np.log(exact[0].sum()), rtol=1e-12)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("method", [DawidSkene(), IBCC()], ids=lambda m: m.name)
def test_planted_confusion_is_recovered_with_a_thousand_labels_per_annotator_and_class(
    method: TruthMethod, seed: int
) -> None:
    """20 annotators, so that the truth is nearly certain; every one labels about 1,000 units of each class."""
    crowd = planted(seed, units=3000, annotators=20, classes=3, right=0.7, given=1.0)
    confusion = method.infer(crowd.labels).confusion
    cells = np.zeros((20, 3, 3))
    np.add.at(cells, (crowd.labels.annotator, crowd.truth[crowd.labels.unit], crowd.labels.label), 1)
    sample = cells / cells.sum(axis=2, keepdims=True)

    np.testing.assert_allclose(confusion, sample, rtol=0, atol=0.005)
    assert np.abs(confusion - crowd.confusion).mean() < 0.02
    assert np.abs(confusion - crowd.confusion).max() < 0.05


def test_one_coin_recovers_planted_accuracies() -> None:
    rng = np.random.default_rng(0)
    accuracy, truth = rng.uniform(0.4, 0.95, size=12), rng.integers(4, size=3000)
    wrong = (truth[:, None] + rng.integers(1, 4, size=(3000, 12))) % 4
    labels = from_matrix(np.where(rng.random((3000, 12)) < accuracy, truth[:, None], wrong))

    np.testing.assert_allclose(OneCoin().infer(labels).reliability, accuracy, rtol=0, atol=0.03)


def test_mace_tells_those_who_know_from_those_who_spam() -> None:
    rng = np.random.default_rng(1)
    knows, truth = np.array([0.9, 0.8, 0.7, 0.6, 0.0, 0.0]), rng.integers(3, size=2000)
    spam = np.stack([rng.integers(3, size=2000)] * 4 + [np.zeros(2000, int), np.full(2000, 2)], axis=1)
    labels = from_matrix(np.where(rng.random((2000, 6)) < knows, truth[:, None], spam))

    estimate = MACE().infer(labels)

    np.testing.assert_allclose(estimate.reliability[:4], knows[:4], rtol=0, atol=0.05)
    assert (estimate.reliability[4:] < 0.05).all()
    np.testing.assert_allclose(estimate.parameters["strategy"][4:], [[1, 0, 0], [0, 0, 1]], rtol=0, atol=0.05)


def test_glad_ranks_abilities_and_difficulties() -> None:
    rng = np.random.default_rng(2)
    ability, ease = np.array([3.0, 1.5, 1.0, 0.6, 0.3, 2.0, 0.1, 1.2]), rng.choice([0.3, 3.0], size=1500)
    truth = rng.integers(2, size=1500)
    right = rng.random((1500, 8)) < 1 / (1 + np.exp(-ability * ease[:, None]))
    labels = from_matrix(np.where(right, truth[:, None], 1 - truth[:, None]))

    estimate = GLAD().infer(labels)

    assert np.corrcoef(estimate.reliability, ability)[0, 1] > 0.9
    difficulty = estimate.parameters["difficulty"]
    assert difficulty[ease < 1].mean() > 1.5 * difficulty[ease > 1].mean()
    assert (estimate.answer == truth).mean() >= (right.mean(axis=1) > 0.5).mean()


def test_ebcc_without_subtypes_is_variational_bayes_written_out() -> None:
    labels = planted(3, units=50, annotators=4, classes=3, given=0.7).labels
    votes = labels.votes()
    q = votes / votes.sum(axis=1, keepdims=True)
    class_prior = q.sum(axis=0)
    for _ in range(3000):
        counts = np.full((4, 3, 3), 1.0) + 3.0 * np.eye(3)
        np.add.at(counts.transpose(0, 2, 1), (labels.annotator, labels.label), q[labels.unit])
        log_confusion = digamma(counts) - digamma(counts.sum(axis=2, keepdims=True))
        log_q = np.tile(digamma(q.sum(axis=0) + class_prior), (50, 1))
        np.add.at(log_q, labels.unit, log_confusion[labels.annotator, :, labels.label])
        q = np.exp(log_q - log_q.max(axis=1, keepdims=True))
        q /= q.sum(axis=1, keepdims=True)

    estimate = EBCC(subtypes=1, restarts=1, convergence=Convergence(tolerance=1e-12, max_iterations=5000)).infer(labels)

    np.testing.assert_allclose(estimate.beliefs, q, rtol=0, atol=1e-4)
    np.testing.assert_allclose(estimate.confusion, counts / counts.sum(axis=2, keepdims=True), rtol=0, atol=1e-4)


@pytest.mark.parametrize("seed", range(10))
def test_ebcc_keeps_a_rare_class_on_a_handful_of_labels(seed: int) -> None:
    labels = from_arrays(["u", "v", "w"], ["a", "a", "a"], ["y", "x", "y"])

    assert EBCC(seed=seed).infer(labels).answer_names() == ["y", "x", "y"]


def test_ebcc_uses_subtypes_where_annotators_are_wrong_together() -> None:
    """Three annotators copy one source that is wrong on three items in ten; five work alone."""
    rng = np.random.default_rng(3)
    truth = rng.integers(2, size=400)
    copied = np.where(rng.random(400) < 0.3, 1 - truth, truth)
    group = np.where(rng.random((400, 3)) < 0.98, copied[:, None], 1 - copied[:, None])
    alone = np.where(rng.random((400, 5)) < 0.75, truth[:, None], 1 - truth[:, None])
    together = from_matrix(np.concatenate([group, alone], axis=1))
    independent = planted(3, units=400, annotators=8, classes=2, right=0.7, given=1.0).labels

    def gain(labels: CrowdLabels) -> float:
        one, four = (EBCC(subtypes=size, restarts=3).infer(labels).trace[-1] for size in (1, 4))
        return float(four - one)

    assert gain(together) > 20
    assert gain(independent) < 5


def test_anchors_are_believed_and_teach_the_confusions() -> None:
    crowd = planted(0, units=200, annotators=3, classes=2, right=0.55, given=1.0)
    names = ["ab"[k] for k in crowd.truth]
    anchors = {item: names[item] for item in range(150)}

    for name in ("dawid-skene", "one-coin", "ibcc", "ebcc", "glad", "mace"):
        estimate = truth_method(name).infer(crowd.labels, fitting=Fitting(anchors=anchors))

        np.testing.assert_array_equal(estimate.answer[:150], crowd.truth[:150])
    taught = DawidSkene().infer(crowd.labels, fitting=Fitting(anchors=anchors))
    assert np.abs(taught.confusion - crowd.confusion).max() < 0.15


@pytest.mark.parametrize("name", ["majority", "wawa", "pm", "catd"])
def test_methods_without_a_place_for_anchors_say_so(name: str) -> None:
    labels = planted(0).labels

    with pytest.raises(OptionError, match=f"{name} cannot use anchors. These can: dawid-skene"):
        truth_method(name).infer(labels, fitting=Fitting(anchors={0: "a"}))


def test_expected_log_is_that_of_samples() -> None:
    concentration = np.array([0.7, 2.0, 5.0])
    samples = np.random.default_rng(0).dirichlet(concentration, size=200_000)

    np.testing.assert_allclose(expected_log(concentration, axis=0), np.log(samples).mean(axis=0), rtol=0, atol=0.02)
    np.testing.assert_allclose(expected_log(concentration, axis=0)[0], digamma(0.7) - digamma(7.7), rtol=1e-12)


def test_divergence_is_zero_at_home_and_positive_elsewhere() -> None:
    rng = np.random.default_rng(0)
    one, two = rng.uniform(0.2, 5, size=(2, 4, 3))

    np.testing.assert_allclose(divergence(one, one, axis=1), 0.0, rtol=0, atol=1e-12)
    assert divergence(one, two, axis=1) > 0.1


def test_wawa_is_two_rounds_of_voting() -> None:
    labels = from_matrix(np.array([[0, 0, 1, -1], [1, 1, 0, -1], [0, 0, 0, -1], [-1, -1, 1, 0]]))

    estimate = Wawa().infer(labels)

    np.testing.assert_allclose(estimate.reliability, [1.0, 1.0, (0 + 0 + 1 + 0.5) / 4, 0.5], rtol=1e-12)
    np.testing.assert_allclose(estimate.beliefs[3], [0.5 / 0.875, 0.375 / 0.875], rtol=1e-12)


@pytest.mark.parametrize("method", [PM(), CATD()], ids=lambda m: m.name)
def test_weights_follow_agreement(method: TruthMethod) -> None:
    rng = np.random.default_rng(0)
    accuracy, truth = np.array([0.95, 0.8, 0.65, 0.5, 0.35]), rng.integers(3, size=2000)
    given = np.where(rng.random((2000, 5)) < accuracy, truth[:, None], rng.integers(3, size=(2000, 5)))

    weight = method.infer(from_matrix(given)).reliability

    assert (np.diff(weight) < 0).all()


def test_catd_trusts_many_labels_more_than_few_at_the_same_rate() -> None:
    weight = CATD()._weigh(np.array([1.0, 10.0]), np.array([10.0, 100.0]))

    np.testing.assert_allclose(weight, [20.483 / 1.5, 129.561 / 10.5], rtol=1e-4)


def test_an_unknown_method_is_named_with_its_neighbour() -> None:
    with pytest.raises(OptionError, match="No truth method is called 'dawidskene'"):
        truth_method("dawidskene")


def test_compiled_and_uncompiled_fits_agree() -> None:
    labels = planted(4, units=300).labels
    states = []
    for compiled in (False, True):
        em = TableEM(ConfusionMatrices(), ClassProportions(), make_shards(labels, compiled=compiled))
        state = em.first_state()
        for _ in range(30):
            state, _ = em.step(state)
        states.append(em.e_step(state, keep=True).q)

    np.testing.assert_allclose(states[1], states[0], rtol=0, atol=1e-9)


def test_one_vote_by_a_newcomer_stands_against_a_class_twice_as_frequent() -> None:
    rows = [(f"i{i}", f"w{j}", "a" if i % 3 else "b") for i in range(120) for j in range(3)]
    items, annotators, labels = zip(*rows, strict=True)
    table = from_arrays([*items, "new"], [*annotators, "stranger"], [*labels, "b"])

    for name in TRUTH_METHODS:
        method = truth_method(name)
        if not needs_sequences(name):
            assert method.infer(table).answer_names()[-1] == "b", name


def test_a_newcomer_is_never_read_backwards() -> None:
    """Against a class nineteen times as frequent one vote loses, but nobody is taken to say the opposite."""
    rows = [(f"i{i}", f"w{j}", "a" if i % 20 else "b") for i in range(120) for j in range(3)]
    items, annotators, labels = zip(*rows, strict=True)
    table = from_arrays([*items, "new"], [*annotators, "stranger"], [*labels, "b"])

    for name in ("dawid-skene", "ibcc", "ebcc"):
        confusion = truth_method(name).infer(table).confusion[-1]
        assert (np.diagonal(confusion) > 0.5).all(), name
