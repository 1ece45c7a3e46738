"""Labels that stay on disk: a fit over a folder of shards is the fit in memory."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.extensions.scale.test_over_engines import EVERY_METHOD, fixed_iterations
from tests.truth.planted import planted, tagged_sentences

from crowdlogic.data.blocks import make_shard
from crowdlogic.errors import FormatError
from crowdlogic.extensions.scale.coded_files import (
    SHARD_ROWS,
    open_coded,
    read_annotators,
    read_items,
    read_manifest,
    read_shard,
    write_coded,
    write_shard,
)
from crowdlogic.truth.dawid_skene import DawidSkene


@pytest.mark.parametrize(("rows", "threads"), [(20, 1), (20, 2), (10_000, 1)])
def test_a_fit_over_a_folder_is_the_fit_in_memory(tmp_path: Path, rows: int, threads: int) -> None:
    labels = planted(1, units=90, given=0.5).labels
    whole = DawidSkene().infer(labels)
    write_coded(tmp_path / "shards", labels, rows=rows)
    engine = open_coded(tmp_path / "shards", threads=threads)

    fit = DawidSkene().fit_over(engine)

    assert (len(engine.parts) > 1) == (rows < labels.n_labels)
    np.testing.assert_allclose(fit.confusion, whole.confusion, rtol=0, atol=1e-9)
    np.testing.assert_allclose(fit.prior, whole.prior, rtol=0, atol=1e-9)
    np.testing.assert_allclose(fit.trace, whole.trace, rtol=1e-10)


@pytest.mark.filterwarnings("ignore::crowdlogic.errors.ConvergenceWarning")
@EVERY_METHOD
@settings(max_examples=5, deadline=None)
@given(rows=st.integers(1, 150), seed=st.integers(0, 5), weighted=st.booleans(), threads=st.integers(1, 3))
def test_every_cut_of_the_files_gives_the_answers_of_memory(
    tmp_path_factory: pytest.TempPathFactory, name: str, rows: int, seed: int, weighted: bool, threads: int
) -> None:
    labels = planted(seed, units=50, given=0.5).labels
    if weighted:
        labels = replace(labels, weight=np.random.default_rng(seed).choice([0.5, 1.0, 2.0], size=labels.n_labels))
    folder, method = tmp_path_factory.mktemp("coded"), fixed_iterations(name)
    write_coded(folder, labels, rows=rows)

    fit = method.fit_over(open_coded(folder, threads=threads))

    streamed = np.concatenate([q for _, q in fit.stream()])
    np.testing.assert_allclose(streamed, method.infer(labels).beliefs, rtol=0, atol=1e-8)
    np.testing.assert_allclose(fit.gather(), streamed, rtol=0, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_shards_on_disk_hold_the_rows_of_the_table(tmp_path: Path, weighted: bool) -> None:
    labels = planted(2, units=40, given=0.5).labels
    if weighted:
        labels = replace(labels, weight=np.random.default_rng(0).random(labels.n_labels))
    write_coded(tmp_path, labels, rows=10)

    engine = open_coded(tmp_path)

    parts = engine.parts[:]
    units = [np.repeat(np.arange(labels.n_units)[part.units], np.diff(part.starts)) for part in parts]
    np.testing.assert_array_equal(np.concatenate(units), labels.unit)
    np.testing.assert_array_equal(np.concatenate([part.annotator for part in parts]), labels.annotator)
    np.testing.assert_array_equal(np.concatenate([part.label for part in parts]), labels.label)
    np.testing.assert_array_equal(np.concatenate([part.weight for part in parts]), labels.weights if weighted else [])
    assert (engine.n_labels, engine.n_classes, engine.n_units) == (labels.n_labels, 3, 40)
    assert pl.concat([read_items(tmp_path, at) for at in range(len(parts))]).to_list() == labels.items.to_list()
    assert read_annotators(tmp_path).to_list() == labels.annotators.to_list()


def test_codes_on_disk_take_16_bits_where_they_fit(tmp_path: Path) -> None:
    unit = np.array([0, 0])
    write_shard(tmp_path, 0, make_shard(unit, np.array([0, 65_535]), unit, n_units=1), pl.Series(["a"]))
    write_shard(tmp_path, 1, make_shard(unit, np.array([0, 65_536]), unit, n_units=1), pl.Series(["a"]))

    assert read_shard(tmp_path, 0).annotator.dtype == np.uint16
    assert read_shard(tmp_path, 1).annotator.dtype == np.int32
    assert read_shard(tmp_path, 1, first=7).units == slice(7, 8)


def test_an_unfinished_folder_is_refused(tmp_path: Path) -> None:
    write_coded(tmp_path, planted(1).labels)
    (tmp_path / "manifest.json").unlink()

    assert read_manifest(tmp_path) is None
    with pytest.raises(FormatError) as refused:
        open_coded(tmp_path)
    assert str(refused.value) == (
        f"{tmp_path}: contains no manifest.json, so it is not a folder of shards or is incomplete."
    )


@pytest.mark.parametrize("damage", ["truncated", "missing", "fewer"])
def test_a_damaged_shard_is_named(tmp_path: Path, damage: str) -> None:
    write_coded(tmp_path, planted(1).labels)
    place = tmp_path / "00000.labels.parquet"
    if damage == "truncated":
        place.write_bytes(place.read_bytes()[:-20])
    elif damage == "missing":
        place.unlink()
    else:
        pl.read_parquet(place).head(-1).write_parquet(place)

    with pytest.raises(FormatError, match=r"00000\.labels\.parquet: .* Remove the folder and start over\.$"):
        read_shard(tmp_path, 0)


@pytest.mark.parametrize("stored", [{}, {"n_annotators": "x"}, []], ids=str)
def test_a_damaged_manifest_is_named(tmp_path: Path, stored: object) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps(stored))

    with pytest.raises(
        FormatError, match=r"manifest\.json: not a valid manifest\. Remove the folder and start over\.$"
    ):
        open_coded(tmp_path)


def test_sentences_stay_whole_and_known_tags_go_with_them(tmp_path: Path) -> None:
    labels, _ = tagged_sentences()
    offsets = np.asarray(labels.offsets)
    known = {"s1": labels.classes[-1:] * int(np.diff(offsets)[1])}
    write_coded(tmp_path, labels, rows=1, anchors=known)

    parts = open_coded(tmp_path).parts[:]

    begins = [part.first + part.offsets[:-1] for part in parts]
    np.testing.assert_array_equal(np.concatenate(begins), offsets[:-1])
    fixed = np.concatenate([part.fixed for part in parts])
    np.testing.assert_array_equal(fixed >= 0, labels.item_of_unit == 1)
    assert read_items(tmp_path, 0)[0] == "s0"


def test_a_shard_has_a_million_labels() -> None:
    assert SHARD_ROWS == 1_000_000
