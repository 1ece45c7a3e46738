from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from crowdlogic.errors import DataError, MissingDataError, OptionError
from crowdlogic.extensions.paper.benchmarks import CATALOGUE, load_benchmark, measure_benchmark


@pytest.mark.data
@pytest.mark.parametrize("name", CATALOGUE)
def test_each_set_has_its_stated_size(data_root: Path, name: str) -> None:
    loaded = load_benchmark(name, root=data_root)

    assert measure_benchmark(loaded) == CATALOGUE[name].size
    assert loaded.labels.classes == loaded.corpus.classes or name == "pico"
    assert loaded.labels.items.to_list() == loaded.corpus.items.to_list()


@pytest.mark.data
def test_the_sentiment_splits_are_the_stated_ones(data_root: Path) -> None:
    clean = load_benchmark("sentiment_mturk", root=data_root)
    published = load_benchmark("sentiment_mturk", root=data_root, split="published")

    sizes = [len(part.items) for split in (clean, published) for part in (split.dev, split.test) if part is not None]
    assert sizes == [3000, 2663, 3000, 2789]
    assert clean.dev is not None
    assert clean.test is not None
    train = set(clean.corpus.texts or ())
    assert not train & {*(clean.dev.texts or ()), *(clean.test.texts or ())}


@pytest.mark.data
def test_the_ner_split_and_sizes_are_the_stated_ones(data_root: Path) -> None:
    ner = load_benchmark("ner_conll_mturk", root=data_root)

    assert ner.dev is not None
    assert ner.test is not None
    assert (len(ner.dev.items), len(ner.test.items)) == (2000, 1250)
    assert (len(ner.corpus.items), ner.corpus.n_units, len(ner.labels.annotators)) == (5985, 79_901, 47)


@pytest.mark.data
@pytest.mark.parametrize(("name", "count"), [("truth/adult2", 2922), ("truth/weather_amt", 5)])
def test_duplicates_are_kept_and_counted(data_root: Path, name: str, count: int) -> None:
    assert load_benchmark(name, root=data_root).labels.intake.duplicates == count


@pytest.mark.data
def test_features_stand_beside_their_items(data_root: Path) -> None:
    loaded = load_benchmark("truth/labelme", root=data_root)

    with np.load(data_root / "truth/labelme/vgg_train.npz") as arrays:
        assert loaded.corpus.gold is not None
        assert [int(loaded.corpus.classes[k]) for k in loaded.corpus.gold] == arrays["y"].tolist()
        np.testing.assert_array_equal(loaded.corpus.features, arrays["X"].astype(np.float64))


def test_an_absent_set_says_where_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(MissingDataError) as caught:
        load_benchmark("truth/temp", root=tmp_path)

    assert (
        str(caught.value)
        == f"truth/temp: truth/temp/labels.csv is not in {tmp_path}. Get it from dirkhovy/MACE on GitHub."
    )


def test_a_set_of_the_wrong_size_is_refused(tmp_path: Path) -> None:
    (tmp_path / "truth/temp").mkdir(parents=True)
    (tmp_path / "truth/temp/labels.csv").write_text("item,annotator,label\n0,a,1\n")
    (tmp_path / "truth/temp/gold.csv").write_text("item,label\n0,1\n")

    with pytest.raises(DataError) as caught:
        load_benchmark("truth/temp", root=tmp_path)

    assert str(caught.value) == (
        "truth/temp: found 1 items, 1 labels, 1 annotators, 1 classes and gold for 1; expected "
        "462 items, 4,620 labels, 76 annotators, 2 classes and gold for 462. Fetch the data set again."
    )


def test_an_unknown_set_gets_the_nearest_name(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"There is no data set 'truth/tmp'\. Did you mean 'truth/temp'\?"):
        load_benchmark("truth/tmp", root=tmp_path)


def test_without_a_folder_the_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CROWDLOGIC_DATA", raising=False)

    with pytest.raises(MissingDataError) as caught:
        load_benchmark("truth/temp")

    assert str(caught.value) == "The data folder is unknown. Set the environment variable CROWDLOGIC_DATA."


@pytest.mark.data
def test_splits_are_cut_from_numpys_permutation_of_seed_zero(data_root: Path) -> None:
    rows = "test-" + pl.read_csv(data_root / "sentiment_mturk/test.csv", infer_schema=False)["row"]
    order = np.random.default_rng(0).permutation(len(rows))

    benchmark = load_benchmark("sentiment_mturk", root=data_root, split="published")

    assert benchmark.dev is not None
    assert benchmark.test is not None
    assert benchmark.dev.items.to_list() == rows.gather(order[:3000]).to_list()
    assert benchmark.test.items.to_list() == rows.gather(order[3000:]).to_list()


@pytest.mark.data
@pytest.mark.parametrize("name", ["truth/labelme", "weak/youtube", "sentiment_mturk", "ner_conll_mturk"])
def test_no_item_has_the_name_of_another_item(data_root: Path, name: str) -> None:
    loaded = load_benchmark(name, root=data_root)

    names = [str(item) for part in (loaded.corpus, loaded.dev, loaded.test) if part is not None for item in part.items]
    assert len(set(names)) == len(names)
