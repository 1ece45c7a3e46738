"""An Estimate on disk is the one that was saved, or it is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.truth.planted import planted

from crowdlogic.data.estimate import Estimate
from crowdlogic.data.frames import from_arrays, from_sequences
from crowdlogic.errors import FormatError, MissingDataError
from crowdlogic.store.estimates import load_estimate, save_estimate
from crowdlogic.store.files import get_arrays, put_arrays
from crowdlogic.truth.dawid_skene import DawidSkene
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


NAMES = {"version": 1, "method": "m", "classes": ["x"], "items": [], "annotators": [], "converged": True, "tied": 0}


def changed(**names: object) -> bytes:
    return json.dumps({**NAMES, **names}).encode()


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
        ("estimate.json", changed(method=3), "is no estimate of version 1"),
        ("estimate.json", changed(classes="xy"), "is no estimate of version 1"),
        ("estimate.json", changed(items=None), "is no estimate of version 1"),
        ("estimate.json", changed(converged=1), "is no estimate of version 1"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, file: str, content: bytes, message: str) -> None:
    save_estimate(tmp_path, DawidSkene().infer(planted(0).labels))
    (tmp_path / file).write_bytes(content)

    with pytest.raises(FormatError, match=message):
        load_estimate(tmp_path)


@pytest.mark.parametrize("missing", ["beliefs", "answer", "trace"])
def test_a_missing_array_is_named(tmp_path: Path, missing: str) -> None:
    save_estimate(tmp_path, DawidSkene().infer(planted(0).labels))
    path = tmp_path / "estimate.safetensors"
    put_arrays(path, {name: array for name, array in get_arrays(path).items() if name != missing})

    with pytest.raises(FormatError) as refused:
        load_estimate(tmp_path)

    assert str(refused.value) == f"{path}: holds no {missing}. Save the estimate again."
