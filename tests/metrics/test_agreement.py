"""Coefficients of agreement against statsmodels, published examples, brute force and simulation."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats import inter_rater

from crowdlogic.data.frames import from_arrays, from_frame, from_matrix, from_sequences
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import OptionError
from crowdlogic.metrics.agreement import Agreement, agreement, pairwise_agreement
from crowdlogic.numerics.arrays import Floats, Ints

KRIPPENDORFF = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, -1, -1, -1],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, -1, 3],
        [-1, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, -1],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, -1],
    ]
).T
"""The example of [KRIPP11] and of [GWET14]: 12 units, 4 coders, with holes."""


def coefficients(labels: CrowdLabels, **options: int) -> dict[str, Agreement]:
    return {one.name: one for one in agreement(labels, **{"replicates": 0, **options})}


def values(labels: CrowdLabels) -> dict[str, float]:
    return {name: one.value for name, one in coefficients(labels).items()}


def crowd(
    seed: int, *, units: int = 60, annotators: int = 6, classes: int = 3, right: float = 0.7, holes: float = 0.4
) -> CrowdLabels:
    rng = np.random.default_rng(seed)
    truth = rng.choice(classes, size=units, p=np.arange(1, classes + 1) / np.arange(1, classes + 1).sum())
    shape = (units, annotators)
    given = np.where(rng.random(shape) < right, truth[:, None], rng.integers(classes, size=shape))
    given[rng.random(shape) < holes] = -1
    return from_matrix(given, classes=tuple("abcdefgh"[:classes]))


def test_the_classic_example_has_its_published_coefficients() -> None:
    found = values(from_matrix(KRIPPENDORFF))

    assert found["alpha"] == pytest.approx(0.743, abs=5e-4)
    assert found["fleiss"] == pytest.approx(0.76117, abs=5e-6)
    assert found["ac1"] == pytest.approx(0.77544, abs=5e-6)
    assert found["observed"] == pytest.approx(0.81818, abs=5e-6)


@pytest.mark.parametrize("seed", range(5))
def test_fleiss_kappa_is_statsmodels_when_all_units_have_as_many_labels(seed: int) -> None:
    labels = crowd(seed, holes=0.0)

    expected = inter_rater.fleiss_kappa(labels.votes())

    assert values(labels)["fleiss"] == pytest.approx(expected, abs=1e-12)


def by_definition(counts: Ints) -> dict[str, float]:
    """Every coefficient, label by label and pair by pair."""
    units = [[k for k, n in enumerate(row) for _ in range(n)] for row in counts.tolist()]
    classes = range(counts.shape[1])
    pairable = [unit for unit in units if len(unit) > 1]
    shares = [np.mean([x == y for x, y in permutations(unit, 2)]) for unit in pairable]
    chance = np.array([np.mean([unit.count(k) / len(unit) for unit in units if unit]) for k in classes])
    coincidence = np.zeros((len(classes), len(classes)))
    for unit in pairable:
        for x, y in permutations(unit, 2):
            coincidence[x, y] += 1 / (len(unit) - 1)
    n, total = coincidence.sum(axis=1), coincidence.sum()
    expected = (np.outer(n, n) - np.diag(n**2)).sum() / (total - 1)
    by_luck = (chance**2).sum(), (chance * (1 - chance)).sum() / (len(classes) - 1)
    return {
        "observed": float(np.mean(shares)),
        "alpha": float(1 - (total - np.trace(coincidence)) / expected),
        "fleiss": float((np.mean(shares) - by_luck[0]) / (1 - by_luck[0])),
        "ac1": float((np.mean(shares) - by_luck[1]) / (1 - by_luck[1])),
    }


@settings(max_examples=60)
@given(st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=1, max_size=12))
def test_coefficients_follow_their_definitions(rows: list[list[int]]) -> None:
    counts = np.array([[2, 1, 0], [0, 2, 1], *rows])
    unit, label = (np.repeat(axis.ravel(), counts.ravel()) for axis in np.indices(counts.shape))
    labels = CrowdLabels(
        unit=unit,
        annotator=np.arange(len(unit)),
        label=label,
        items=pl.Series(np.arange(len(counts))),
        annotators=pl.Series(np.arange(len(unit))),
        classes=("a", "b", "c"),
    )

    found = values(labels)

    for name, expected in by_definition(counts).items():
        assert found[name] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("sequential", [False, True])
def test_units_may_be_documents_or_tokens(sequential: bool) -> None:
    labels = crowd(1)
    offsets = np.array([0, 0, 7, 8, 40, 60, 60]) if sequential else None
    items = pl.Series(np.arange(6)) if sequential else labels.items

    found = coefficients(replace(labels, items=items, offsets=offsets))

    for name, value in values(labels).items():
        assert found[name].value == pytest.approx(value, abs=1e-12)
    assert found["alpha"].n_items == (4 if sequential else found["alpha"].n_units)


def test_sizes_count_what_has_a_part_in_a_pair() -> None:
    labels = from_sequences([("s", "v", ["x", "y"]), ("s", "w", ["x", "x"]), ("t", "v", ["x", "x", "y"])])

    found = coefficients(labels)["alpha"]

    assert (found.n_items, found.n_units, found.n_labels) == (1, 2, 4)


def test_names_and_order_do_not_matter() -> None:
    labels = crowd(2)
    rng = np.random.default_rng(0)
    order = rng.permutation(6)

    for other in (
        replace(labels, annotator=order[labels.annotator]),
        labels.take_items(rng.permutation(60)),
        labels.with_classes(("c", "a", "b")),
    ):
        assert values(other) == pytest.approx(values(labels), abs=1e-12)


def test_a_repeated_label_counts_as_a_label() -> None:
    twice = from_arrays(["u", "u", "u", "v", "v"], list("aabab"), list("xxyxx"), duplicates="keep")
    thrice = from_arrays(["u", "u", "u", "v", "v"], list("acbab"), list("xxyxx"))

    found, expected = values(twice), values(thrice)

    assert {name: found[name] for name in ("observed", "alpha", "fleiss", "ac1")} == pytest.approx(
        {name: expected[name] for name in ("observed", "alpha", "fleiss", "ac1")}
    )
    assert pairwise_agreement(twice).shared.tolist() == [3]
    assert pairwise_agreement(twice).agreement.tolist() == pytest.approx([1 / 3])


def test_too_many_pairs_of_annotators_are_not_compared() -> None:
    n = np.arange(100_000)
    few = agreement(from_arrays(n % 10, n, n % 3), replicates=0)[-1]  # nobody shares 10 items with anybody
    many = agreement(from_arrays(n // 5_000, n % 5_000, n % 3), replicates=0)[-1]  # everybody shares 20 with everybody

    assert few.reason == "no two annotators share at least 10 answers with more than one class"
    assert str(many.reason).startswith("there are too many pairs of annotators to compare them all")


def test_weights_do_not_count() -> None:
    labels = crowd(3)

    assert values(replace(labels, weight=np.arange(labels.n_labels) / 7)) == values(labels)


def literal_bootstrap(labels: CrowdLabels, replicates: int, rng: np.random.Generator) -> dict[str, Floats]:
    """Draw the items one by one and compute everything anew; copies of an item become items of their own."""
    rows = {item: np.flatnonzero(labels.item_of_unit[labels.unit] == item) for item in range(len(labels.items))}
    offsets = np.arange(len(labels.items) + 1) if labels.offsets is None else labels.offsets
    drawn: dict[str, list[float]] = {}
    for _ in range(replicates):
        items = rng.integers(len(rows), size=len(rows))
        length = np.diff(offsets)[items]
        starts = np.concatenate([[0], np.cumsum(length)])
        unit = np.concatenate([labels.unit[rows[s]] - offsets[s] + starts[n] for n, s in enumerate(items)])
        chosen = np.concatenate([rows[s] for s in items])
        copy = CrowdLabels(
            unit=unit,
            annotator=labels.annotator[chosen],
            label=labels.label[chosen],
            items=pl.Series(np.arange(len(items))),
            annotators=labels.annotators,
            classes=labels.classes,
            offsets=starts,
        )
        for name, value in values(copy).items():
            drawn.setdefault(name, []).append(value)
    return {name: np.array(series) for name, series in drawn.items()}


@pytest.mark.parametrize("sequential", [False, True])
def test_intervals_are_those_of_drawing_items_one_by_one(sequential: bool) -> None:
    labels = crowd(4, units=160, right=0.8)
    if sequential:
        labels = replace(labels, items=pl.Series(np.arange(40)), offsets=np.arange(0, 161, 4))
    drawn = literal_bootstrap(labels, 500, np.random.default_rng(0))

    found = coefficients(labels, replicates=4000)

    for name in ("observed", "alpha", "fleiss", "ac1"):
        spread = drawn[name].std()
        low, high = np.quantile(drawn[name], [0.025, 0.975])
        assert found[name].low == pytest.approx(low, abs=0.35 * spread)
        assert found[name].high == pytest.approx(high, abs=0.35 * spread)
    margin = (found["cohen"].high - found["cohen"].low) / 2
    assert margin == pytest.approx(1.96 * drawn["cohen"].std(), rel=0.15)


def test_whole_sequences_are_resampled() -> None:
    documents = crowd(5, units=80)
    copies = 9
    unit = (documents.unit[:, None] * copies + np.arange(copies)).ravel()
    sequences = CrowdLabels(
        unit=unit,
        annotator=np.repeat(documents.annotator, copies),
        label=np.repeat(documents.label, copies),
        items=documents.items,
        annotators=documents.annotators,
        classes=documents.classes,
        offsets=np.arange(81) * copies,
    )

    one, nine = (coefficients(labels, replicates=4000) for labels in (documents, sequences))

    for name in ("observed", "fleiss", "ac1", "cohen"):
        assert nine[name].value == pytest.approx(one[name].value, abs=1e-9)
        assert nine[name].high - nine[name].low == pytest.approx(one[name].high - one[name].low, rel=0.08)


def test_intervals_cover_the_true_agreement_as_often_as_they_claim() -> None:
    def draw(seed: int, units: int) -> CrowdLabels:
        return crowd(seed, units=units, annotators=4, holes=0.2, right=0.8)

    truth = values(draw(0, 60_000))

    crowds = [coefficients(draw(seed, 150), replicates=300, seed=seed) for seed in range(1, 301)]

    for name, value in truth.items():
        covered = np.mean([found[name].low <= value <= found[name].high for found in crowds])
        assert 0.92 <= covered <= 0.98, name


def test_a_higher_level_has_a_wider_interval_and_the_seed_decides_it() -> None:
    labels = crowd(6)

    usual, narrow, again, other = (
        coefficients(labels, replicates=500, **options)["alpha"] for options in ({}, {"level": 0.5}, {}, {"seed": 1})
    )

    assert usual.low < narrow.low < usual.value < narrow.high < usual.high
    assert again == usual
    assert (other.low, other.high) != (usual.low, usual.high)


def test_without_replicates_there_is_no_interval_but_cohens() -> None:
    found = coefficients(crowd(7))

    assert np.isnan([found["alpha"].low, found["alpha"].high]).all()
    assert found["cohen"].low < found["cohen"].value < found["cohen"].high


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([], dict.fromkeys(("observed", "alpha", "fleiss", "ac1", "cohen"), "no item has two labels")),
        ([("u", "a", "x"), ("v", "b", "y")], dict.fromkeys(("observed", "alpha", "ac1"), "no item has two labels")),
        (
            [("u", "a", "x"), ("u", "b", "x"), ("v", "a", "x"), ("v", "b", "x")],
            {
                "observed": None,
                "alpha": "all labels are of one class, so chance alone would agree",
                "fleiss": "all labels are of one class, so chance alone would agree",
                "ac1": "there is only one class",
                "cohen": "no two annotators share at least 10 answers with more than one class",
            },
        ),
        (
            [("u", "a", "x"), ("u", "b", "x"), ("v", "a", "y")],
            {"observed": None, "fleiss": None, "alpha": "all labels are of one class, so chance alone would agree"},
        ),
    ],
    ids=["nothing", "no pairs", "one class", "one class in pairs"],
)
def test_what_is_undefined_says_why(rows: list[tuple[str, str, str]], expected: dict[str, str | None]) -> None:
    labels = from_arrays(*(zip(*rows, strict=True) if rows else ([], [], [])))

    found = coefficients(labels, replicates=50)

    for name, reason in expected.items():
        assert found[name].reason == reason
        assert np.isnan(found[name].value) == (reason is not None)
        assert np.isnan(found[name].low) or reason is None


def test_resamples_without_a_value_are_left_out() -> None:
    labels = from_matrix([[0, 0], [0, 0], [0, 1], [1, 1]])

    found = coefficients(labels, replicates=2000)

    assert np.isfinite([found["alpha"].low, found["alpha"].high]).all()


def test_one_item_has_a_value_and_no_interval() -> None:
    found = coefficients(from_arrays(list("uuu"), list("abc"), list("xxy")), replicates=100)

    for one in found.values():
        assert np.isnan([one.low, one.high]).all()
    assert found["observed"].value == pytest.approx(1 / 3)


def test_ac1_depends_on_the_classes_that_could_be_chosen() -> None:
    labels = from_matrix([[0, 0], [0, 0], [0, 1]], classes=("a", "b"))

    more = values(labels.with_classes(("a", "b", "c")))

    chance = 2 * (5 / 6) * (1 / 6)
    assert values(labels)["ac1"] == pytest.approx((2 / 3 - chance) / (1 - chance))
    assert more["ac1"] == pytest.approx((2 / 3 - chance / 2) / (1 - chance / 2))
    assert more["alpha"] == values(labels)["alpha"]


def test_options_that_make_no_sense_are_refused() -> None:
    with pytest.raises(OptionError, match=r"^replicates must be at least 0, got -1\.$"):
        agreement(crowd(0), replicates=-1)
    with pytest.raises(OptionError, match=r"^level must be between 0 and 1, such as 0.95; got 95"):
        agreement(crowd(0), level=95)


def test_a_frame_goes_straight_in() -> None:
    frame = pl.DataFrame({"item": ["u", "u", "v", "v"], "annotator": list("abab"), "label": list("xxyx")})

    found = agreement(frame, replicates=0)  # type: ignore[arg-type]

    assert [one.value for one in found][:1] == [one.value for one in agreement(from_frame(frame), replicates=0)][:1]
