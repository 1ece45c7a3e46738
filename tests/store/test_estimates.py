"""An Estimate on disk is the one that was saved, or it is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.store.sealing import reseal
from tests.truth.planted import planted

from crowdlogic.data.estimate import Estimate
from crowdlogic.data.frames import from_arrays, from_sequences
from crowdlogic.errors import CrowdLogicError, FormatError, MissingDataError
from crowdlogic.store.estimates import load_estimate, save_estimate
from crowdlogic.store.files import get_arrays, put_arrays
from crowdlogic.truth.dawid_skene import DawidSkene
from crowdlogic.truth.glad import GLAD
from crowdlogic.truth.pool import Ensemble

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
    with pytest.raises(MissingDataError, match=r"contains no estimate\.safetensors, so it is not an estimate"):
        load_estimate(tmp_path)


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("estimate.json", b"{", "is not valid JSON"),
        ("estimate.json", b"[1]", "is not an estimate of version 1"),
        ("estimate.json", json.dumps({"version": 2}).encode(), "is not an estimate of version 1"),
        ("estimate.safetensors", b"rubbish", "cannot be read as safetensors"),
        ("estimate.json", changed(method=3), "is not an estimate of version 1"),
        ("estimate.json", changed(classes="xy"), "is not an estimate of version 1"),
        ("estimate.json", changed(items=None), "is not an estimate of version 1"),
        ("estimate.json", changed(converged=1), "is not an estimate of version 1"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, file: str, content: bytes, message: str) -> None:
    save_estimate(tmp_path, DawidSkene().infer(planted(0).labels))
    (tmp_path / file).write_bytes(content)
    reseal(tmp_path)

    with pytest.raises(FormatError, match=message):
        load_estimate(tmp_path)


@pytest.mark.parametrize("missing", ["beliefs", "answer", "trace"])
def test_a_missing_array_is_named(tmp_path: Path, missing: str) -> None:
    save_estimate(tmp_path, DawidSkene().infer(planted(0).labels))
    path = tmp_path / "estimate.safetensors"
    put_arrays(path, {name: array for name, array in get_arrays(path).items() if name != missing})
    reseal(tmp_path)

    with pytest.raises(FormatError) as refused:
        load_estimate(tmp_path)

    assert str(refused.value) == f"{path}: {missing} is missing. Save the estimate again."


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("beliefs", lambda a: a[:1], r"beliefs has shape \(1, 3\), expected"),
        ("beliefs", lambda a: np.full_like(a, np.nan), "beliefs contains NaN or infinities"),
        ("beliefs", lambda a: -a, "beliefs contains values that are not probabilities"),
        ("beliefs", lambda a: a * 0.5, "beliefs contains probabilities that do not sum to one"),
        ("beliefs", lambda a: a.astype(np.int64), "beliefs has type int64, expected floating-point numbers"),
        ("answer", lambda a: a + 100, "answer contains values that are not from -1 to 2"),
        ("answer", lambda a: a.astype(np.float64), "answer has type float64, expected integers"),
        ("answer", lambda a: a[:, None], "answer has shape"),
        ("confusion", lambda a: a[:, :1], "confusion has shape"),
        ("confusion", lambda a: a + 1e9, "confusion contains values that are not probabilities"),
        ("prior", lambda a: a[:1], "prior has shape"),
        ("trace", lambda a: a[:, None], "trace has shape"),
        ("trace", lambda a: np.full_like(a, np.inf), "trace contains infinities"),
        ("parameters.x", lambda a: np.zeros(3, dtype=np.uint8), "parameters.x has type uint8"),
    ],
)
def test_an_array_that_holds_what_it_may_not_is_refused(
    tmp_path: Path, name: str, change: Callable[[Any], Any], message: str
) -> None:
    save_estimate(tmp_path, DawidSkene().infer(planted(0).labels))
    arrays = get_arrays(tmp_path / "estimate.safetensors")
    put_arrays(tmp_path / "estimate.safetensors", arrays | {name: change(arrays.get(name))})
    reseal(tmp_path)

    with pytest.raises(FormatError, match=rf"the estimate is damaged \({message}.*\)\. Save the estimate again\."):
        load_estimate(tmp_path)


@pytest.mark.parametrize("offsets", [[0, 1], [1, 2, 3], [0, 3, 2], [0, 2, 9], [0, -1, 3]])
def test_offsets_rise_from_the_first_to_the_last_unit(tmp_path: Path, offsets: list[int]) -> None:
    labels = from_sequences([("s", "w", ["O", "B-X"]), ("t", "w", ["O"])])
    save_estimate(tmp_path, DawidSkene().infer(labels))
    arrays = get_arrays(tmp_path / "estimate.safetensors")
    put_arrays(tmp_path / "estimate.safetensors", arrays | {"offsets": np.array(offsets)})
    reseal(tmp_path)

    with pytest.raises(FormatError, match=r"the estimate is damaged \(offsets "):
        load_estimate(tmp_path)


@pytest.mark.parametrize("items", [["a", 1], ["a", "a"], [["a"], ["b"]], [None, "a"], [1.5, "a"], [{}, {}]])
def test_names_of_items_are_of_one_type_each_once(tmp_path: Path, items: list[Any]) -> None:
    save_estimate(tmp_path, DawidSkene().infer(from_arrays(["u", "v"], ["x", "y"], ["a", "b"])))
    names = json.loads((tmp_path / "estimate.json").read_text())
    (tmp_path / "estimate.json").write_text(json.dumps(names | {"items": items}))
    reseal(tmp_path)

    with pytest.raises(FormatError, match="the estimate is damaged"):
        load_estimate(tmp_path)


@pytest.mark.parametrize("file", ["estimate.json", "estimate.safetensors", "SHA256SUMS"])
def test_a_flipped_bit_in_an_estimate_is_noticed(tmp_path: Path, file: str) -> None:
    save_estimate(tmp_path, DawidSkene().infer(planted(0).labels))
    whole = (tmp_path / file).read_bytes()
    for at in np.random.default_rng(0).integers(len(whole), size=10):
        changed = bytearray(whole)
        changed[at] ^= 4
        (tmp_path / file).write_bytes(changed)

        with pytest.raises(CrowdLogicError):
            load_estimate(tmp_path)


def test_what_the_confidence_rests_on_comes_back(tmp_path: Path) -> None:
    estimate = Ensemble().infer(planted(0).labels)

    save_estimate(tmp_path, estimate)

    assert load_estimate(tmp_path).calibration == estimate.calibration is not None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("correlation", 1.5),
        ("correlation", "high"),
        ("doubt", -0.1),
        ("spread", None),
        ("sharpness", 0),
        ("anchors", -1),
        ("sets", 0),
        ("span_slope", -1.0),
        ("counted", 2.0),
        ("surprise", 1),
    ],
)
def test_a_calibration_that_cannot_be_is_refused(tmp_path: Path, name: str, value: object) -> None:
    save_estimate(tmp_path, Ensemble().infer(planted(0).labels))
    names = json.loads((tmp_path / "estimate.json").read_text())
    names["calibration"][name] = value
    (tmp_path / "estimate.json").write_text(json.dumps(names))
    reseal(tmp_path)

    with pytest.raises(FormatError, match=r"the estimate is damaged \(calibration"):
        load_estimate(tmp_path)
