"""What is planted in a simulated crowd can be counted back out of it."""

from __future__ import annotations

import numpy as np
import pytest

from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.simulate import SimulatedCrowd, draw_labels, label_truth, simulate_crowd, simulate_hard_crowd
from crowdlogic.errors import OptionError
from crowdlogic.numerics.arrays import Floats, Ints

CHARACTERS = ("expert", "ordinary", "spammer", "adversary", "biased", "lazy")


def counted(crowd: SimulatedCrowd) -> tuple[Floats, Floats]:
    """The confusion matrices counted label by label against the truth, and the number of labels in each row."""
    labels = crowd.labels
    counts = np.zeros(crowd.confusion.shape)
    for unit, annotator, label in zip(labels.unit, labels.annotator, labels.label, strict=True):
        counts[annotator, crowd.truth[unit], label] += 1
    rows = counts.sum(axis=2, keepdims=True)
    return counts / np.maximum(rows, 1), rows


def one_of(character: str, *, seed: int = 0, classes: int = 4, balance: list[float] | None = None) -> Floats:
    """The planted matrix of a single annotator of that character."""
    crowd = simulate_crowd(
        np.random.default_rng(seed), units=50, annotators=1, classes=classes, balance=balance, mix={character: 1}
    )
    return crowd.confusion[0]


def vote_accuracy(labels: CrowdLabels, truth: Ints) -> float:
    """Majority vote, where a tie among c classes is right one time in c."""
    votes = labels.votes()
    best = votes == votes.max(axis=1, keepdims=True)
    return float((best / best.sum(axis=1, keepdims=True))[np.arange(len(truth)), truth].mean())


def oracle_accuracy(crowd: SimulatedCrowd) -> float:
    """The best that anybody could do: the posterior with the planted matrices."""
    labels = crowd.labels
    log_q = np.zeros((labels.n_units, labels.n_classes))
    np.add.at(log_q, labels.unit, np.log(crowd.confusion[labels.annotator, :, labels.label] + 1e-12))
    return float((log_q.argmax(axis=1) == crowd.truth).mean())


def dawid_skene_accuracy(labels: CrowdLabels, truth: Ints, *, iterations: int = 40) -> float:
    """Plain expectation-maximisation from the vote shares, which knows nothing that was planted."""
    q = labels.votes() / labels.votes().sum(axis=1, keepdims=True)
    for _ in range(iterations):
        confusion = np.full((len(labels.annotators), labels.n_classes, labels.n_classes), 0.01)
        np.add.at(confusion, (labels.annotator, slice(None), labels.label), q[labels.unit])
        confusion /= confusion.sum(axis=2, keepdims=True)
        log_q = np.tile(np.log(q.mean(axis=0)), (len(q), 1))
        np.add.at(log_q, labels.unit, np.log(confusion[labels.annotator, :, labels.label]))
        q = np.exp(log_q - log_q.max(axis=1, keepdims=True))
        q /= q.sum(axis=1, keepdims=True)
    return float((q.argmax(axis=1) == truth).mean())


def test_planted_confusion_is_recovered_by_counting() -> None:
    crowd = simulate_crowd(
        np.random.default_rng(0),
        units=3000,
        annotators=6,
        classes=3,
        labels_per_unit=6,
        mix=dict.fromkeys(CHARACTERS, 1),
    )

    found, rows = counted(crowd)

    assert rows.min() > 600
    assert np.abs(found - crowd.confusion).mean() < 0.02
    spread = np.sqrt(crowd.confusion * (1 - crowd.confusion) / rows)
    assert (np.abs(found - crowd.confusion) <= 5 * spread + 1e-12).all()


def test_every_cell_is_recovered_with_more_labels() -> None:
    rng = np.random.default_rng(1)
    confusion = np.array([[[0.5, 0.3, 0.2], [0.0, 1.0, 0.0], [0.1, 0.0, 0.9]], [[1 / 3] * 3, [0, 0, 1], [0.7, 0.3, 0]]])
    truth = np.repeat([0, 1, 2], 20_000)
    unit, annotator = np.tile(np.arange(60_000), 2), np.repeat([0, 1], 60_000)

    given = draw_labels(rng, truth, confusion, unit=unit, annotator=annotator)

    found = np.zeros_like(confusion)
    np.add.at(found, (annotator, truth[unit], given), 1 / 20_000)
    np.testing.assert_allclose(found, confusion, rtol=0, atol=0.02)
    assert not found[confusion == 0].any()


def test_abstention_is_as_asked_and_the_lazy_abstain_more() -> None:
    crowd = simulate_crowd(
        np.random.default_rng(8),
        units=6000,
        annotators=4,
        labels_per_unit=4,
        abstention=0.2,
        mix={"ordinary": 2, "lazy": 2},
    )

    rate = 1 - crowd.labels.labels_per_annotator() / crowd.shown

    expected = [0.44 if character == "lazy" else 0.2 for character in crowd.characters]
    assert crowd.shown.tolist() == [6000] * 4
    np.testing.assert_allclose(rate, expected, rtol=0, atol=0.025)


def test_classes_are_as_common_as_asked() -> None:
    crowd = simulate_crowd(np.random.default_rng(9), units=20_000, classes=("no", "yes", "maybe"), balance=[6, 3, 1])

    share = np.bincount(crowd.truth) / 20_000

    np.testing.assert_allclose(share, [0.6, 0.3, 0.1], rtol=0, atol=0.015)
    assert crowd.labels.classes == ("no", "yes", "maybe")


def test_names_do_not_give_characters_away() -> None:
    crowds = [
        simulate_crowd(np.random.default_rng(seed), annotators=12, mix={"expert": 6, "spammer": 6})
        for seed in range(40)
    ]

    assert crowds[0].labels.annotators.to_list() == [f"w{n:02d}" for n in range(1, 13)]
    first = np.mean([crowd.characters[0] == "expert" for crowd in crowds])
    assert 0.2 < first < 0.8


def test_drift_turns_late_answers_into_guesses_and_leaves_early_ones() -> None:
    crowd = simulate_crowd(
        np.random.default_rng(12),
        units=20_000,
        annotators=2,
        labels_per_unit=2,
        classes=2,
        mix={"expert": 2},
        pace=5.0,
        drift=1.0,
    )
    labels = crowd.labels
    assert labels.time is not None
    right = labels.label == crowd.truth[labels.unit]

    for j in range(2):
        own = np.flatnonzero(labels.annotator == j)
        own = own[np.argsort(labels.time[own])]
        early, late = right[own[:2000]].mean(), right[own[-2000:]].mean()

        assert early > 0.85
        assert late == pytest.approx(0.5, abs=0.06)


def test_the_same_seed_gives_the_same_crowd_and_another_seed_another() -> None:
    first, again, other = (simulate_crowd(np.random.default_rng(seed), units=200, pace=3.0) for seed in (5, 5, 6))

    for name in ("unit", "annotator", "label", "time"):
        np.testing.assert_array_equal(getattr(first.labels, name), getattr(again.labels, name))
    np.testing.assert_array_equal(first.confusion, again.confusion)
    np.testing.assert_array_equal(first.truth, again.truth)
    assert first.characters == again.characters
    assert (first.truth != other.truth).any()


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_on_a_hard_crowd_voting_fails_and_models_of_the_annotators_do_not(seed: int, classes: int) -> None:
    rng = np.random.default_rng(seed)
    truth = rng.integers(classes, size=600).astype(np.int32)

    crowd = simulate_hard_crowd(rng, truth, classes)

    vote = vote_accuracy(crowd.labels, truth)
    assert vote < oracle_accuracy(crowd) - 0.12
    assert vote < dawid_skene_accuracy(crowd.labels, truth) - 0.12
    assert vote > 1.1 / classes


def test_sequences_are_labelled_whole_or_not_at_all() -> None:
    offsets = np.array([0, 3, 4, 9, 11])
    truth = np.arange(11) % 2

    labels = label_truth(
        np.random.default_rng(0), truth, 2, annotators=5, labels_per_unit=2, abstention=0.3, offsets=offsets
    ).labels

    item, _, pair = labels.annotations()
    np.testing.assert_array_equal(np.bincount(pair), np.diff(offsets)[item])
    assert labels.is_sequential
    assert len(set(zip(labels.unit.tolist(), labels.annotator.tolist(), strict=True))) == labels.n_labels


def test_a_thousand_classes_work() -> None:
    crowd = simulate_crowd(np.random.default_rng(0), units=3000, annotators=3, classes=1000, mix={"expert": 3})

    right = crowd.labels.label == crowd.truth[crowd.labels.unit]

    assert right.mean() == pytest.approx(0.945, abs=0.02)
    assert crowd.labels.classes[0] == "class_000"
    assert list(crowd.labels.classes) == sorted(crowd.labels.classes)


def test_a_crowd_that_always_abstains_gives_no_labels() -> None:
    crowd = simulate_crowd(np.random.default_rng(0), units=20, abstention=1.0, pace=5.0)

    assert crowd.labels.n_labels == 0
    assert crowd.shown.sum() > 20


def test_one_annotator_labels_everything_once() -> None:
    labels = simulate_crowd(np.random.default_rng(0), units=20, annotators=1).labels

    assert labels.unit.tolist() == list(range(20))
    assert labels.annotators.to_list() == ["w1"]


def test_truth_outside_the_classes_is_refused() -> None:
    with pytest.raises(OptionError, match=r"^truth: codes from 0 to 3; they must lie in 0 to 1\.$"):
        simulate_hard_crowd(np.random.default_rng(0), np.array([0, 3]), 2)
