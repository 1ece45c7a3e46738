"""What is planted in a simulated crowd can be counted back out of it."""

from __future__ import annotations

from datetime import UTC, datetime

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


@pytest.mark.parametrize("seed", range(5))
def test_the_characters_are_what_their_names_say(seed: int) -> None:
    balance = [0.2, 0.5, 0.2, 0.1]
    expert, ordinary, spammer, adversary, lazy = (
        one_of(character, seed=seed, balance=balance)
        for character in ("expert", "ordinary", "spammer", "adversary", "lazy")
    )

    assert (np.diag(expert) >= 0.9).all()
    assert (np.diag(ordinary) >= 0.6).all()
    assert (np.diag(ordinary) <= 0.85).all()
    assert (spammer == spammer[0]).all()
    assert (np.diag(adversary) <= 0.15).all()
    assert (adversary.max(axis=1) > 0.7).all()
    assert (lazy[:, 1] >= 0.4).all()


def test_spammers_are_uniform_or_fixed_and_both_occur() -> None:
    peaks = [one_of("spammer", seed=seed)[0].max() for seed in range(30)]

    assert set(peaks) == {0.25, 1.0}


def test_the_biased_lean_to_one_class_or_confuse_one_pair_and_both_occur() -> None:
    found = set()
    for seed in range(30):
        matrix = one_of("biased", seed=seed)
        favourite = (matrix.min(axis=0) >= 0.4).sum()
        off = matrix - np.diag(np.diag(matrix))
        mutual = sum(off[a, b] > 0.35 and off[b, a] > 0.35 for a in range(4) for b in range(a))
        assert (favourite, mutual) in {(1, 0), (0, 1)}
        found.add((favourite, mutual))

    assert len(found) == 2


@pytest.mark.parametrize("classes", [2, 3, 17])
def test_rows_of_planted_matrices_are_distributions(classes: int) -> None:
    crowd = simulate_crowd(np.random.default_rng(2), annotators=12, classes=classes, mix=dict.fromkeys(CHARACTERS, 2))

    assert (crowd.confusion >= 0).all()
    np.testing.assert_allclose(crowd.confusion.sum(axis=2), 1.0, rtol=0, atol=1e-12)


def test_activity_is_long_tailed_and_an_exponent_of_zero_is_even() -> None:
    steep, even = (
        np.sort(
            simulate_crowd(np.random.default_rng(3), units=2000, annotators=50, tail=tail).labels.labels_per_annotator()
        )
        for tail in (1.0, 0.0)
    )

    assert steep[-10:].sum() > 0.5 * steep.sum()
    assert steep[:25].sum() < 0.3 * steep.sum()
    assert even[-10:].sum() < 0.25 * even.sum()
    assert even[0] > 0


def test_activity_is_followed_when_an_item_gets_one_label() -> None:
    crowd = simulate_crowd(np.random.default_rng(4), units=50_000, annotators=8, labels_per_unit=1)

    share = crowd.labels.labels_per_annotator() / crowd.labels.n_labels

    keep = 1 - crowd.abstention
    expected = crowd.activity * keep / (crowd.activity * keep).sum()
    np.testing.assert_allclose(share, expected, rtol=0, atol=0.01)


def test_drawing_in_rounds_matches_drawing_one_after_the_other() -> None:
    crowd = simulate_crowd(
        np.random.default_rng(5), units=30_000, annotators=4, labels_per_unit=3, tail=2.0, mix={"expert": 4}
    )
    labels, activity = crowd.labels, crowd.activity
    chosen = np.zeros((30_000, 4), dtype=bool)
    chosen[labels.unit, labels.annotator] = True
    pairs = chosen[chosen.sum(axis=1) == 2]

    found = [(pairs[:, a] & pairs[:, b]).mean() for a in range(4) for b in range(a)]

    expected = [
        activity[a] * activity[b] / (1 - activity[a]) + activity[b] * activity[a] / (1 - activity[b])
        for a in range(4)
        for b in range(a)
    ]
    np.testing.assert_allclose(found, expected, rtol=0, atol=0.02)


def test_nobody_labels_an_item_twice() -> None:
    labels = simulate_crowd(np.random.default_rng(6), units=500, annotators=9, labels_per_unit=6, tail=2.5).labels

    pairs = set(zip(labels.unit.tolist(), labels.annotator.tolist(), strict=True))

    assert len(pairs) == labels.n_labels


@pytest.mark.parametrize("mean", [1, 2.5, 7, 9])
def test_labels_per_unit_have_the_mean_asked_for(mean: float) -> None:
    labels = simulate_crowd(
        np.random.default_rng(7), units=4000, annotators=9, labels_per_unit=mean, mix={"ordinary": 9}
    ).labels

    assert labels.labels_per_unit().min() >= 1
    assert labels.labels_per_unit().mean() == pytest.approx(mean, abs=0.1)


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


def test_the_mix_is_met_exactly_by_counts_and_by_shares() -> None:
    counts = simulate_crowd(np.random.default_rng(10), annotators=5, mix={"expert": 2, "spammer": 3})
    shares = simulate_crowd(np.random.default_rng(10), annotators=10, mix={"expert": 0.25, "lazy": 0.35, "biased": 0.4})

    assert sorted(counts.characters) == ["expert"] * 2 + ["spammer"] * 3
    assert sorted(shares.characters) == ["biased"] * 4 + ["expert"] * 3 + ["lazy"] * 3


def test_names_do_not_give_characters_away() -> None:
    crowds = [
        simulate_crowd(np.random.default_rng(seed), annotators=12, mix={"expert": 6, "spammer": 6})
        for seed in range(40)
    ]

    assert crowds[0].labels.annotators.to_list() == [f"w{n:02d}" for n in range(1, 13)]
    first = np.mean([crowd.characters[0] == "expert" for crowd in crowds])
    assert 0.2 < first < 0.8


def test_times_run_forward_at_the_pace_asked_for() -> None:
    crowd = simulate_crowd(np.random.default_rng(11), units=3000, annotators=5, labels_per_unit=4, pace=12.0)
    labels = crowd.labels
    assert labels.time is not None

    gaps = [np.diff(np.sort(labels.time[labels.annotator == j])) for j in range(5)]

    assert np.concatenate(gaps).mean() == pytest.approx(12.0, rel=0.05)
    assert all((gap > 0).all() for gap in gaps)
    assert simulate_crowd(np.random.default_rng(11)).labels.time is None


def test_everybody_begins_within_two_weeks_of_the_new_year() -> None:
    crowd = simulate_crowd(np.random.default_rng(11), units=3000, annotators=8, labels_per_unit=4, pace=60.0)
    assert crowd.labels.time is not None

    begin = np.array([crowd.labels.time[crowd.labels.annotator == j].min() for j in range(8)])

    day = (begin - datetime(2024, 1, 1, tzinfo=UTC).timestamp()) / 86_400
    assert (day > 0).all()
    assert (day < 14.1).all()
    assert day.max() - day.min() > 3


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


@pytest.mark.parametrize("character", CHARACTERS)
def test_one_class_is_always_answered_right(character: str) -> None:
    crowd = simulate_crowd(np.random.default_rng(0), units=20, annotators=3, classes=1, mix={character: 3})

    assert crowd.labels.n_labels > 0
    assert not crowd.labels.label.any()
    assert crowd.labels.classes == ("class_0",)


def test_the_steepest_tail_still_gives_every_item_distinct_annotators() -> None:
    labels = simulate_crowd(
        np.random.default_rng(0), units=300, annotators=60, labels_per_unit=20, tail=10, mix={"expert": 60}
    ).labels

    assert len(set(zip(labels.unit.tolist(), labels.annotator.tolist(), strict=True))) == labels.n_labels
    assert labels.labels_per_unit().mean() == pytest.approx(20, abs=1)


def test_a_crowd_that_always_abstains_gives_no_labels() -> None:
    crowd = simulate_crowd(np.random.default_rng(0), units=20, abstention=1.0, pace=5.0)

    assert crowd.labels.n_labels == 0
    assert crowd.shown.sum() > 20


def test_one_annotator_labels_everything_once() -> None:
    labels = simulate_crowd(np.random.default_rng(0), units=20, annotators=1).labels

    assert labels.unit.tolist() == list(range(20))
    assert labels.annotators.to_list() == ["w1"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"annotators": 0}, "annotators: 0 asked for. Ask for a whole number of 1 or more."),
        ({"units": 0}, "units: 0 asked for. Ask for a whole number of 1 or more."),
        ({"classes": 0}, "classes: 0 asked for. Ask for a whole number of 1 or more."),
        ({"classes": -2}, "classes: -2 asked for. Ask for a whole number of 1 or more."),
        ({"classes": "spam"}, "classes: 'spam' is one text. Give a number of classes or a list of names."),
        ({"classes": ("a", "a")}, "classes: a class is named twice, or none at all. Give each class once."),
        ({"abstention": 1.5}, "abstention: 1.5 is no share. Give a number from 0 to 1."),
        ({"drift": -0.1}, "drift: -0.1 is no share. Give a number from 0 to 1."),
        ({"tail": -1.0}, "tail: -1.0 is no exponent. Give 0 (all alike) to 10 (one does it all)."),
        ({"tail": 11}, "tail: 11 is no exponent. Give 0 (all alike) to 10 (one does it all)."),
        ({"pace": 0.0}, "pace: 0.0 seconds per label. Give a number above 0, or None for no times."),
        (
            {"labels_per_unit": 5},
            "labels_per_unit: 5 annotators per item asked for, but there are 4. Give a mean from 1 to 4.",
        ),
        ({"balance": [1, 2]}, "balance: [1, 2] does not give each of the 3 classes a share of 0 or more."),
        (
            {"mix": {"experts": 1}},
            "mix: no character is called 'experts'. Did you mean 'expert'? "
            "Known: expert, ordinary, spammer, adversary, biased, lazy.",
        ),
        (
            {"mix": {"expert": 3}},
            "mix: the counts make 3 annotators, but 4 are asked for. Make them agree, or give shares.",
        ),
        ({"mix": {"expert": -0.5}}, "mix: -0.5 of 'expert' asked for. Give counts or shares of 0 or more."),
        ({"mix": {"expert": 0.0}}, "mix: nobody asked for. Give at least one character a count or a share."),
    ],
)
def test_a_senseless_option_is_refused_in_one_line(options: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError) as refused:
        simulate_crowd(np.random.default_rng(0), **options)  # type: ignore[arg-type]

    assert str(refused.value) == message


def test_truth_outside_the_classes_is_refused() -> None:
    with pytest.raises(OptionError, match=r"^truth: codes from 0 to 3; they must lie in 0 to 1\.$"):
        simulate_hard_crowd(np.random.default_rng(0), np.array([0, 3]), 2)
