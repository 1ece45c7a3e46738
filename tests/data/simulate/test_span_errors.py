"""The three errors of entity annotators, classified one by one and counted against the planted rates."""

from __future__ import annotations

from collections import Counter
from dataclasses import fields

import numpy as np
import pytest

from crowdlogic.data.corpus import Corpus, documents, sentences
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.simulate import (
    ErrorRates,
    SimulatedEntities,
    annotate_entities,
    simulate_entities,
    simulate_sentences,
)
from crowdlogic.errors import CorpusError, OptionError

Span = tuple[int, int, str]
XY = ("B-X", "B-Y", "I-X", "I-Y", "O")


def equal_rates(rate: float, *, annotators: int) -> ErrorRates:
    """The same rate of every error for every annotator."""
    rates = np.full(annotators, rate)
    return ErrorRates(ignore=rates, boundary=rates, type=rates, spurious=rates)


def spans(tags: list[str]) -> list[Span]:
    """The entities of one sentence, strictly: each begins with B-."""
    found: list[Span] = []
    for at, tag in enumerate([*tags, "O"]):
        if found and found[-1][1] < 0 and not (tag.startswith("I-") and tag[2:] == found[-1][2]):
            found[-1] = (found[-1][0], at, found[-1][2])
        if tag.startswith("B-"):
            found.append((at, -1, tag[2:]))
    return found


def error_of(entity: Span, given: list[Span]) -> str:
    """What an annotator did to an entity."""
    start, end, kind = entity
    met = [span for span in given if span[0] < end and start < span[1]]
    if not met:
        return "ignore"
    assert len(met) == 1
    if met[0] == entity:
        return "right"
    if met[0][2] == kind:
        assert abs(met[0][0] - start) + abs(met[0][1] - end) == 1
        return "boundary"
    assert met[0][:2] == (start, end)
    return "type"


def annotations(corpus: Corpus, labels: CrowdLabels) -> list[tuple[int, list[str], list[str]]]:
    """annotator, true tags, given tags of every annotated sentence."""
    assert corpus.gold is not None
    assert labels.offsets is not None
    gold = [str(corpus.classes[k]) for k in corpus.gold]
    item, annotator, pair = labels.annotations()
    order = np.argsort(pair, kind="stable")
    given = [str(labels.classes[k]) for k in labels.label[order]]
    units, ends, found = labels.unit[order].tolist(), np.cumsum(np.bincount(pair)), []
    for p, (s, j) in enumerate(zip(item, annotator, strict=True)):
        rows = slice(int(ends[p - 1]) if p else 0, int(ends[p]))
        a, b = int(labels.offsets[s]), int(labels.offsets[s + 1])
        assert units[rows] == list(range(a, b))
        found.append((int(j), gold[a:b], given[rows]))
    return found


def counted(corpus: Corpus, labels: CrowdLabels) -> list[Counter[str]]:
    """For each annotator how often each error happened, how many entities they saw, and how many plain tokens."""
    counts: list[Counter[str]] = [Counter() for _ in labels.annotators]
    for j, gold, given in annotations(corpus, labels):
        true, said = spans(gold), spans(given)
        counts[j].update(error_of(entity, said) for entity in true)
        counts[j]["entities"] += len(true)
        covered = {at for a, b, _ in true for at in range(a - 1, b + 1)}
        counts[j]["plain"] += sum(at not in covered for at in range(len(gold)))
        counts[j]["spurious"] += sum(all(b <= c or d <= a for c, d, _ in true) for a, b, _ in said)
    return counts


@pytest.fixture(scope="module")
def simulated() -> SimulatedEntities:
    return simulate_entities(np.random.default_rng(0), sentences=1000, annotators=6, labels_per_sentence=5, tail=0.3)


def test_the_rates_of_the_three_errors_are_recovered(simulated: SimulatedEntities) -> None:
    counts = counted(simulated.corpus, simulated.labels)

    for error in ("ignore", "boundary", "type"):
        found = [count[error] / count["entities"] for count in counts]
        np.testing.assert_allclose(found, getattr(simulated.rates, error), rtol=0, atol=0.035)
    assert min(count["entities"] for count in counts) > 1000


def test_the_rate_of_spurious_entities_is_recovered() -> None:
    rng = np.random.default_rng(1)
    corpus = simulate_sentences(rng, sentences=1000)
    zero = np.zeros(2)

    counts = counted(
        corpus,
        annotate_entities(
            rng, corpus, ErrorRates(ignore=zero, boundary=zero, type=zero, spurious=np.array([0.05, 0.2]))
        ),
    )

    assert [count["right"] for count in counts] == [count["entities"] for count in counts]
    found = [count["spurious"] / count["plain"] for count in counts]
    np.testing.assert_allclose(found, [0.05, 0.2], rtol=0.12)


def test_all_kinds_of_missed_boundaries_occur_alike() -> None:
    rng = np.random.default_rng(2)
    corpus = sentences(["s"], [list("abcdef")], gold=[["O", "O", "B-X", "I-X", "O", "O"]])
    one, zero = np.ones(2000), np.zeros(2000)

    labels = annotate_entities(
        rng, corpus, ErrorRates(ignore=zero, boundary=one, type=zero, spurious=zero), labels_per_sentence=2000
    )

    moves = Counter(spans(given)[0][:2] for _, _, given in annotations(corpus, labels))
    assert set(moves) == {(3, 4), (2, 3), (2, 5), (1, 4)}
    assert min(moves.values()) > 400


def test_neighbouring_entities_never_run_into_each_other() -> None:
    rng = np.random.default_rng(3)
    gold = ["B-X", "O", "B-Y", "B-X", "O", "O", "B-Y"]
    corpus = sentences(["s", "t"], [list("abcdefg"), list("abcdefg")], gold=[gold, gold]).with_classes(XY)
    one, zero = np.ones(500), np.zeros(500)

    labels = annotate_entities(
        rng, corpus, ErrorRates(ignore=zero, boundary=one, type=zero, spurious=zero), labels_per_sentence=500
    )

    seen = [
        Counter(span[:2] for span in column)
        for column in zip(*(spans(g) for _, _, g in annotations(corpus, labels)), strict=True)
    ]
    assert [set(counter) for counter in seen] == [{(0, 2)}, {(2, 3)}, {(3, 5)}, {(5, 7)}]


def test_an_entity_hemmed_in_by_the_ends_of_its_sentence_stays_right() -> None:
    rng = np.random.default_rng(8)
    tokens, gold = [["o", "o"], ["a"], ["o", "o"]], [["O", "O"], ["B-X"], ["O", "O"]]
    corpus = sentences(["r", "s", "t"], tokens, gold=gold).with_classes(XY)
    one, zero = np.ones(50), np.zeros(50)

    labels = annotate_entities(
        rng, corpus, ErrorRates(ignore=zero, boundary=one, type=zero, spurious=zero), labels_per_sentence=50
    )

    assert all(given == true for _, true, given in annotations(corpus, labels))


def test_every_simulated_entity_can_have_its_boundary_missed() -> None:
    rng = np.random.default_rng(7)
    corpus = simulate_sentences(rng, sentences=400)
    one, zero = np.ones(3), np.zeros(3)

    counts = counted(
        corpus, annotate_entities(rng, corpus, ErrorRates(ignore=zero, boundary=one, type=zero, spurious=zero))
    )

    assert [count["boundary"] for count in counts] == [count["entities"] for count in counts]


def test_a_type_error_names_every_other_type() -> None:
    rng = np.random.default_rng(4)
    corpus = simulate_sentences(rng, sentences=200)
    one, zero = np.ones(3), np.zeros(3)

    found = annotations(
        corpus, annotate_entities(rng, corpus, ErrorRates(ignore=zero, boundary=zero, type=one, spurious=zero))
    )

    pairs = {(a[2], b[2]) for _, gold, given in found for a, b in zip(spans(gold), spans(given), strict=True)}
    types = ("LOC", "MISC", "ORG", "PER")
    assert pairs == {(a, b) for a in types for b in types if a != b}


def test_a_sentence_seen_and_left_empty_differs_from_one_not_seen() -> None:
    rng = np.random.default_rng(5)
    corpus = simulate_sentences(rng, sentences=100)
    one, zero = np.ones(4), np.zeros(4)

    labels = annotate_entities(
        rng, corpus, ErrorRates(ignore=one, boundary=zero, type=zero, spurious=zero), labels_per_sentence=2
    )

    assert labels.offsets is not None
    assert {labels.classes[k] for k in labels.label} == {"O"}
    item, _, pair = labels.annotations()
    np.testing.assert_array_equal(np.bincount(pair), np.diff(labels.offsets)[item])
    assert 150 < len(item) < 250


def test_annotated_tags_are_valid_and_of_the_sentence_length(simulated: SimulatedEntities) -> None:
    for _, gold, given in annotations(simulated.corpus, simulated.labels):
        assert len(given) == len(gold)
        assert sum(b - a for a, b, _ in spans(given)) == sum(tag != "O" for tag in given)


def test_nobody_annotates_a_sentence_twice(simulated: SimulatedEntities) -> None:
    labels = simulated.labels

    pairs = set(zip(labels.unit.tolist(), labels.annotator.tolist(), strict=True))

    assert len(pairs) == labels.n_labels


def test_activity_is_long_tailed_and_abstention_as_asked() -> None:
    full, skipping = (
        simulate_entities(
            np.random.default_rng(6), sentences=800, annotators=20, labels_per_sentence=4, abstention=a
        ).labels
        for a in (0.0, 0.25)
    )

    done = np.sort(full.labels_per_annotator())
    assert done[-4:].sum() > 0.4 * done.sum()
    assert len(skipping.annotations()[0]) / len(full.annotations()[0]) == pytest.approx(0.75, abs=0.03)


def test_the_same_seed_gives_the_same_annotations_and_another_seed_others() -> None:
    first, again, other = (simulate_entities(np.random.default_rng(seed), sentences=30) for seed in (1, 1, 2))

    np.testing.assert_array_equal(first.labels.label, again.labels.label)
    np.testing.assert_array_equal(first.labels.annotator, again.labels.annotator)
    assert first.characters == again.characters
    for field in fields(ErrorRates):
        np.testing.assert_array_equal(getattr(first.rates, field.name), getattr(again.rates, field.name))
    assert first.corpus.tokens != other.corpus.tokens


def test_one_annotator_and_one_sentence_work() -> None:
    labels = simulate_entities(np.random.default_rng(0), sentences=1, annotators=1).labels

    assert labels.n_labels == labels.n_units


def test_sentences_without_any_entity_can_be_annotated() -> None:
    corpus = sentences(["s"], [["a", "b"]], gold=[["O", "O"]]).with_classes(XY)
    rates = equal_rates(0.3, annotators=3)

    labels = annotate_entities(np.random.default_rng(0), corpus, rates)

    assert labels.n_labels == 6


def test_a_rate_above_one_is_refused() -> None:
    corpus = simulate_sentences(np.random.default_rng(0), sentences=2)

    with pytest.raises(OptionError) as refused:
        annotate_entities(np.random.default_rng(0), corpus, equal_rates(0.4, annotators=2))

    assert str(refused.value) == "rates: every rate must lie in 0 to 1, and ignore + boundary + type must not exceed 1."


def test_type_errors_with_a_single_type_are_refused() -> None:
    corpus = sentences(["s"], [["a", "b"]], gold=[["B-X", "O"]]).with_classes(("B-X", "I-X", "O"))

    with pytest.raises(OptionError) as refused:
        annotate_entities(np.random.default_rng(0), corpus, equal_rates(0.1, annotators=2))

    assert str(refused.value) == "rates: type errors need at least two entity types. Set the type rates to 0."


def test_a_tag_set_that_cannot_hold_a_longer_entity_is_refused() -> None:
    corpus = sentences(["s"], [["a", "b"]], gold=[["B-X", "O"]])

    with pytest.raises(CorpusError) as refused:
        annotate_entities(np.random.default_rng(0), corpus, equal_rates(0.0, annotators=2))

    assert str(refused.value) == "The tag 'I-X' is not among the classes. Add it with corpus.with_classes(...)."


def test_documents_are_refused() -> None:
    with pytest.raises(CorpusError, match=r"^Only sentences with gold tags can be annotated\. Give a corpus"):
        annotate_entities(np.random.default_rng(0), documents(["a"], ["text"]), equal_rates(0.0, annotators=2))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"annotators": 0}, "annotators: expected an integer of 1 or more, got 0."),
        ({"sentences": 0}, "sentences: expected an integer of 1 or more, got 0."),
        ({"abstention": 2.0}, "abstention: expected a number from 0 to 1, got 2.0."),
        (
            {"annotators": 3, "labels_per_sentence": 4},
            "labels_per_sentence: 4 annotators per item requested, but there are 3. Give a mean from 1 to 3.",
        ),
        (
            {"mix": {"expert": 1.0}},
            "mix: unknown kind of annotator 'expert'. Choose from careful, ordinary, hasty, sloppy, muddled.",
        ),
    ],
)
def test_a_senseless_option_is_refused_in_one_line(options: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError) as refused:
        simulate_entities(np.random.default_rng(0), **options)  # type: ignore[arg-type]

    assert str(refused.value) == message
