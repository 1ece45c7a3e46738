"""Names to codes in bounded memory: the shards hold the table, whatever the batches."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crowdlogic.data.intake.contract import Duplicates
from crowdlogic.errors import FormatError, LabelError
from crowdlogic.extensions.scale import coding
from crowdlogic.extensions.scale.coded_files import Manifest, open_coded, read_annotators, read_items, read_manifest
from crowdlogic.extensions.scale.coding import SPILLED, CodingOptions, code_files
from crowdlogic.extensions.scale.label_files import open_label_files


def table(rows: int = 300, seed: int = 0) -> pl.DataFrame:
    """Labels in random order, none twice."""
    rng = np.random.default_rng(seed)
    pair = rng.permutation(60 * 9)[:rows]
    label = [["yes", "no", "maybe"][code] for code in rng.integers(3, size=rows)]
    return pl.DataFrame(
        {"item": [f"i{n // 9}" for n in pair], "annotator": [f"w{n % 9}" for n in pair], "label": label}
    )


def code(folder: Path, content: pl.DataFrame, **options: object) -> Manifest:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "labels.parquet"
    content.write_parquet(path)
    chosen = CodingOptions(memory=1 << 30, **options)  # type: ignore[arg-type]
    return code_files(folder / "shards", open_label_files("labels", (path,)), chosen)


def decode(folder: Path) -> list[tuple[str, str, str]]:
    """All labels of a folder by name."""
    engine, people = open_coded(folder), read_annotators(folder)
    found = []
    for at, part in enumerate(engine.parts):
        items = read_items(folder, at)
        for unit, j, n in zip(part.unit, part.annotator, part.label, strict=True):
            found.append((items[int(unit)], people[int(j)], str(engine.classes[int(n)])))
    return sorted(found)


@settings(max_examples=15, deadline=None)
@given(rows=st.integers(1, 400), size=st.integers(1, 300), seed=st.integers(0, 3))
def test_shards_hold_the_rows_of_the_table_whatever_the_batches(
    tmp_path_factory: pytest.TempPathFactory, rows: int, size: int, seed: int
) -> None:
    folder = tmp_path_factory.mktemp("coding")

    manifest = code(folder, table(size, seed), rows=rows)

    content = table(size, seed)
    assert decode(folder / "shards") == sorted(content.rows())
    assert manifest.classes == tuple(sorted(content["label"].unique()))
    assert (manifest.n_units, manifest.n_labels) == (content["item"].n_unique(), size)
    names = pl.concat([read_items(folder / "shards", at) for at in range(len(manifest.shards))])
    assert names.n_unique() == len(names)
    assert not (folder / "shards" / SPILLED).exists()


def test_items_may_be_numbers_and_weights_stay_with_their_labels(tmp_path: Path) -> None:
    content = table(200).with_columns(pl.col("item").str.slice(1).cast(pl.Int64), pl.int_range(200).alias("weight"))

    code(tmp_path, content, rows=50)

    engine, found = open_coded(tmp_path / "shards"), 0.0
    for part in engine.parts:
        found += float(part.weight.sum())
    assert found == sum(range(200))
    assert read_items(tmp_path / "shards", 0).dtype == pl.Int64


def test_given_classes_set_the_order_and_refuse_others(tmp_path: Path) -> None:
    manifest = code(tmp_path / "a", table(), rows=40, classes=("yes", "no", "maybe", "never"))
    assert manifest.classes == ("yes", "no", "maybe", "never")

    with pytest.raises(LabelError, match="is not among the classes yes, no"):
        code(tmp_path / "b", table(), rows=40, classes=("yes", "no"))
    assert read_manifest(tmp_path / "b" / "shards") is None


def twice() -> pl.DataFrame:
    again = table(200).head(1).with_columns(pl.lit("other").alias("label"))
    return pl.concat([table(200), again])


def test_an_annotator_who_contradicts_themselves_is_named(tmp_path: Path) -> None:
    with pytest.raises(LabelError) as refused:
        code(tmp_path, twice(), rows=30)

    item, annotator, _ = table(200).row(0)
    assert str(refused.value) == (
        f"Annotator {annotator!r} labels item {item!r} again, with another label. "
        f"Choose which labels count: --duplicates first, last or keep."
    )


@pytest.mark.parametrize(("policy", "labels"), [("first", 200), ("last", 200), ("keep", 201)])
def test_the_policy_says_which_label_counts(tmp_path: Path, policy: str, labels: int) -> None:
    manifest = code(tmp_path, twice(), rows=30, duplicates=Duplicates(policy))

    decoded = decode(tmp_path / "shards")
    item, annotator, first = table(200).row(0)
    assert manifest.n_labels == labels
    assert ((item, annotator, first) in decoded) == (policy != "last")
    assert ((item, annotator, "other") in decoded) == (policy != "first")
    assert "1 row repeats an item and annotator" in manifest.notices[0]


def test_rows_without_a_label_are_left_out_and_counted(tmp_path: Path) -> None:
    content = table(100).with_columns(
        pl.when(pl.int_range(100) < 3).then(None).otherwise(pl.col("label")).alias("label")
    )

    manifest = code(tmp_path, content, rows=30)

    assert manifest.n_labels == 97
    assert manifest.n_units == table(100)["item"].n_unique()
    assert manifest.notices == ("3 of 100 rows have no label and were left out.",)


def test_items_that_share_a_hash_are_coded_again_with_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seeds: list[int] = []
    honest = coding._Spill.add

    def weak(self: coding._Spill, items: pl.Series, rows: np.ndarray, seed: int) -> None:
        seeds.append(seed)
        honest(self, items, rows, seed)
        if seed == 0:  # as if two items of the batch had one hash
            path = self.names[-1]
            names = pl.read_parquet(path)
            pl.concat([names, names.head(1).with_columns(pl.lit("impostor").alias("item"))]).write_parquet(path)

    monkeypatch.setattr(coding._Spill, "add", weak)

    code(tmp_path, table(100), rows=200)

    assert seeds == [0, 1]
    assert decode(tmp_path / "shards") == sorted(table(100).rows())


def test_a_table_without_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="labels: contains no rows"):
        code(tmp_path, table(100).head(0))
