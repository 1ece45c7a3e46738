"""Labels in shards, and anchors by name."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.annotators.sweeps import table_sweep
from tests.truth.planted import planted, tagged_sentences

from crowdlogic.data.blocks import UNKNOWN, anchor_classes, make_shards
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import CrowdLogicError, LabelError, OptionError
from crowdlogic.numerics.logspace import safe_log


def crowd(seed: int) -> CrowdLabels:
    return planted(seed, units=30, given=0.5).labels


def parameters(labels: CrowdLabels, states: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A random table[j, n, z] and prior[z]."""
    rng = np.random.default_rng(seed)
    table = rng.dirichlet(np.ones(labels.n_classes), size=(len(labels.annotators), states)).transpose(0, 2, 1)
    return table, rng.dirichlet(np.ones(states))


@pytest.mark.parametrize("threads", [1, 2, 5, 100])
def test_shards_part_the_units_and_keep_every_label(threads: int) -> None:
    labels = crowd(6)

    shards = make_shards(labels, threads=threads)

    rows = np.concatenate([part.label for part in shards.parts])
    units = np.concatenate([np.arange(labels.n_units)[part.units] for part in shards.parts])
    np.testing.assert_array_equal(rows, labels.label)
    np.testing.assert_array_equal(units, np.arange(labels.n_units))


def test_a_lazy_sequence_of_shards_is_read_one_at_a_time() -> None:
    labels = crowd(7)
    whole = make_shards(labels, threads=4)
    asked: list[int] = []

    class OnDemand(list):  # type: ignore[type-arg]
        def __getitem__(self, at):  # type: ignore[no-untyped-def, override]
            asked.append(at)
            return whole.parts[at]

    lazy = replace(whole, parts=OnDemand(whole.parts), threads=1)
    table, prior = parameters(labels, 3)

    found = table_sweep(lazy, safe_log(table), safe_log(prior))

    assert asked == [0, 1, 2, 3]
    one = table_sweep(make_shards(labels), safe_log(table), safe_log(prior))
    np.testing.assert_allclose(found.counts, one.counts, rtol=1e-12, atol=1e-12)


def test_no_unit_is_cut_and_rows_start_anew_in_each_shard() -> None:
    labels = crowd(8)

    for part in make_shards(labels, threads=3).parts:
        rows = np.repeat(np.arange(labels.n_units)[part.units], np.diff(part.starts))
        np.testing.assert_array_equal(part.label, labels.label[np.isin(labels.unit, rows)])
        assert part.starts[0] == 0
        assert part.starts[-1] == len(part.label)


@pytest.mark.parametrize("threads", [1, 3])
def test_work_comes_back_in_the_order_of_the_shards(threads: int) -> None:
    shards = make_shards(crowd(9), threads=threads)

    assert shards.map(lambda part: part.first) == [part.first for part in shards.parts]


def test_columns_are_not_copied() -> None:
    labels = crowd(10)

    assert np.shares_memory(make_shards(labels).parts[0].label, labels.label)


def test_no_threads_are_refused() -> None:
    with pytest.raises(OptionError, match=r"^threads must be at least 1, got 0\.$"):
        make_shards(crowd(1), threads=0)


def test_anchors_are_found_by_the_names_of_items_and_classes() -> None:
    labels = crowd(11)

    fixed = anchor_classes(labels, {3: "b", 0: "a"})

    assert fixed[[0, 3]].tolist() == [0, 1]
    assert (np.delete(fixed, [0, 3]) == UNKNOWN).all()
    assert anchor_classes(labels, None).shape == (0,)


def test_an_anchor_of_a_sentence_may_leave_tokens_open() -> None:
    labels, _ = tagged_sentences()

    fixed = anchor_classes(labels, {"s0": ["O", None, None, "B-X"]})

    assert fixed.tolist() == [2, UNKNOWN, UNKNOWN, 0] + [UNKNOWN] * 6


def test_an_anchor_needs_a_tag_per_token() -> None:
    labels, _ = tagged_sentences()

    with pytest.raises(LabelError) as refused:
        anchor_classes(labels, {"s0": ["O"]})

    assert str(refused.value) == "The anchor of 's0' has 1 tags for 4 tokens. Give one tag per token."


def test_an_anchor_of_an_unknown_class_or_item_is_refused() -> None:
    with pytest.raises(LabelError) as refused:
        anchor_classes(crowd(1), {0: "z"})

    assert str(refused.value) == (
        "The anchor of item 0 is 'z', which is not among the classes a, b, c. Correct the anchor, or add the class "
        "to the classes of the labels."
    )
    with pytest.raises(CrowdLogicError, match="999"):
        anchor_classes(crowd(1), {999: "a"})
