"""Estimates and coded labels on disk."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.truth.planted import planted

from crowdlogic.data.estimate import Estimate
from crowdlogic.data.frames import from_arrays, from_sequences
from crowdlogic.engines.files import coded_shards, write_coded
from crowdlogic.errors import FormatError, MissingDataError
from crowdlogic.store.estimates import load_estimate, save_estimate
from crowdlogic.truth.dawid_skene import DawidSkene, fit_shards
from crowdlogic.truth.glad import GLAD

ARRAYS = ("beliefs", "answer", "offsets", "confusion", "reliability", "prior", "trace")


def same(one: Estimate, two: Estimate) -> None:
    for name in ARRAYS:
        first, second = getattr(one, name), getattr(two, name)
        assert (first is None) == (second is None), name
        if first is not None:
            np.testing.assert_array_equal(first, second)
            assert first.dtype == second.dtype
    for name in ("method", "classes", "converged", "tied"):
        assert getattr(one, name) == getattr(two, name)
    assert one.items.to_list() == two.items.to_list()
    assert one.annotators.to_list() == two.annotators.to_list()
    assert {k: v.tolist() for k, v in one.parameters.items()} == {k: v.tolist() for k, v in two.parameters.items()}


def test_a_saved_estimate_comes_back_whole(tmp_path: Path) -> None:
    labels = planted(0).labels

    for method in (DawidSkene(), GLAD()):
        estimate = method.infer(labels)
        save_estimate(tmp_path / "run", estimate)

        same(load_estimate(tmp_path / "run"), estimate)


@pytest.mark.parametrize("names", [[True, False], [3, 10], ["ä", "b c"]], ids=["bool", "int", "text"])
def test_names_keep_their_type_on_disk(tmp_path: Path, names: list[object]) -> None:
    estimate = DawidSkene().infer(from_arrays([1, 2], ["x", "y"], names))
    save_estimate(tmp_path, estimate)

    loaded = load_estimate(tmp_path)

    assert loaded.answer_names() == names
    assert loaded.items.dtype == estimate.items.dtype


def test_sequences_and_empty_tables_can_be_saved(tmp_path: Path) -> None:
    for at, labels in enumerate((from_sequences([("s", "w", ["O", "B-X"])]), from_arrays([], [], []))):
        estimate = DawidSkene().infer(labels)
        save_estimate(tmp_path / str(at), estimate)

        same(load_estimate(tmp_path / str(at)), estimate)


def test_a_folder_without_an_estimate_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingDataError, match=r"no estimate\.safetensors in it, so it holds no estimate"):
        load_estimate(tmp_path)


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("estimate.json", b"{", "is no JSON"),
        ("estimate.json", b"[1]", "is no estimate of version 1"),
        ("estimate.json", json.dumps({"version": 2}).encode(), "is no estimate of version 1"),
        ("estimate.safetensors", b"rubbish", "holds no arrays"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, file: str, content: bytes, message: str) -> None:
    save_estimate(tmp_path, DawidSkene().infer(planted(0).labels))
    (tmp_path / file).write_bytes(content)

    with pytest.raises(FormatError, match=message):
        load_estimate(tmp_path)


@pytest.mark.parametrize("rows", [7, 50, 10_000])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_fit_over_a_parquet_file_is_the_fit_in_memory(tmp_path: Path, rows: int, threads: int) -> None:
    labels = planted(1, units=90, given=0.5).labels
    path = tmp_path / "codes.parquet"
    write_coded(path, labels)
    whole = DawidSkene().infer(labels)
    shards = coded_shards(
        path,
        n_units=labels.n_units,
        n_annotators=len(labels.annotators),
        classes=labels.classes,
        rows=rows,
        threads=threads,
    )

    annotators, prior, trace = fit_shards(DawidSkene(), shards)

    assert len(shards.parts) >= labels.n_labels // (rows + 6)
    np.testing.assert_allclose(annotators.confusion, whole.confusion, rtol=0, atol=1e-9)
    np.testing.assert_allclose(prior, whole.prior, rtol=0, atol=1e-9)
    np.testing.assert_allclose(trace, whole.trace, rtol=1e-10)


def test_a_coded_file_that_is_not_sorted_is_refused(tmp_path: Path) -> None:
    labels = planted(1).labels
    path = tmp_path / "codes.parquet"
    write_coded(path, labels)

    with pytest.raises(FormatError, match="the units must rise from 0 to at most 2"):
        coded_shards(path, n_units=3, n_annotators=5, classes=labels.classes)
