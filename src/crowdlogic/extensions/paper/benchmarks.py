"""Public benchmark data sets, read from the folder in CROWDLOGIC_DATA.

The data sets are not part of the package. Their sizes are checked after reading. The policy for duplicate labels is
`keep`, for comparison with published results; their number is in `labels.intake`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from crowdlogic.data.corpus import Corpus, align
from crowdlogic.data.frames import from_wide
from crowdlogic.data.intake.building import code_labels
from crowdlogic.data.intake.contract import Duplicates
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import find
from crowdlogic.data.reading import read_corpus, read_crowd, read_labels, read_table
from crowdlogic.errors import DataError, MissingDataError, OptionError, did_you_mean, name_list
from crowdlogic.numerics.arrays import Floats

FOLDER_VARIABLE = "CROWDLOGIC_DATA"
SPLIT_SEED = 0
"""Splits are based on `default_rng(0).permutation` of the rows in file order, so that results are comparable."""


@dataclass(frozen=True)
class BenchmarkSize:
    """Expected size of a data set."""

    items: int
    labels: int
    annotators: int
    classes: int
    gold: int

    def __str__(self) -> str:
        return (
            f"{self.items:,} items, {self.labels:,} labels, {self.annotators:,} annotators, {self.classes:,} classes "
            f"and gold for {self.gold:,}"
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Benchmark:
    """Data set: crowd labels over a corpus, and held-out items with gold if available."""

    name: str
    labels: CrowdLabels
    corpus: Corpus
    dev: Corpus | None = None
    test: Corpus | None = None


@dataclass(frozen=True, kw_only=True)
class BenchmarkEntry:
    """Entry of the catalogue of data sets."""

    name: str
    description: str
    size: BenchmarkSize
    files: tuple[str, ...]
    load: Callable[[Path, str], Benchmark]
    origin: str
    splits: tuple[str, ...] = ()


def data_folder(root: str | Path | None = None) -> Path:
    """Return the folder of the data sets: the given one, or that in CROWDLOGIC_DATA."""
    chosen = root or os.environ.get(FOLDER_VARIABLE)
    if not chosen:
        raise MissingDataError(f"The data folder is unknown. Set the environment variable {FOLDER_VARIABLE}.")
    if not Path(chosen).is_dir():
        raise MissingDataError(f"{chosen}: folder not found. Set {FOLDER_VARIABLE} to the folder of the data sets.")
    return Path(chosen)


def load_benchmark(name: str, *, root: str | Path | None = None, split: str | None = None) -> Benchmark:
    """Load a data set by name and check its size.

    Args:
        name: Name in `crowdlogic datasets`.
        root: Folder of the data sets; by default CROWDLOGIC_DATA.
        split: For sentiment_mturk: `clean` (default) or `published`, in which 126 training sentences are also in the
            dev and test sets.
    """
    if name not in CATALOGUE:
        raise OptionError(
            f"There is no data set {name!r}.{did_you_mean(name, list(CATALOGUE))} Choose one of "
            f"{name_list(CATALOGUE, most=30)}."
        )
    entry = CATALOGUE[name]
    if split is not None and split not in entry.splits:
        remedy = f"Choose one of {name_list(entry.splits)}." if entry.splits else "Leave the split out."
        raise OptionError(f"{name} has no split {split!r}. {remedy}")
    folder = data_folder(root)
    absent = [file for file in entry.files if not (folder / file).is_file()]
    if absent:
        raise MissingDataError(f"{name}: {absent[0]} is not in {folder}. {entry.origin}")
    loaded = entry.load(folder, split or (entry.splits[0] if entry.splits else ""))
    if measure_benchmark(loaded) != entry.size:
        raise DataError(f"{name}: found {measure_benchmark(loaded)}; expected {entry.size}. Fetch the data set again.")
    return loaded


def is_present(name: str, root: str | Path | None = None) -> bool:
    """Return whether all files of a data set exist."""
    return all((data_folder(root) / file).is_file() for file in CATALOGUE[name].files)


def measure_benchmark(benchmark: Benchmark) -> BenchmarkSize:
    """Return the size of a data set. Gold counts units (documents or tokens)."""
    gold = 0 if benchmark.corpus.gold is None else int((benchmark.corpus.gold >= 0).sum())
    labels = benchmark.labels
    return BenchmarkSize(len(labels.items), labels.n_labels, len(labels.annotators), labels.n_classes, gold)


def _add_gold(
    labels: CrowdLabels, gold_file: Path, texts: Corpus | None = None, features: Floats | None = None
) -> tuple[CrowdLabels, Corpus]:
    """Return labels and a corpus of the labelled items with gold from a table of item and label."""
    table, source = read_table(gold_file)
    codes, names = code_labels(table["label"], source)
    where = find(table["item"], labels.items)
    gold = np.full(len(labels.items), -1, dtype=np.int32)
    gold[where[where >= 0]] = codes[where >= 0]
    texts_in_order = None if texts is None else texts.select(labels.items.to_list()).texts
    corpus = Corpus(labels.items, texts=texts_in_order, classes=names, gold=gold, features=features)
    return align(labels, corpus)


def _load_sentiment(folder: Path, split: str) -> Benchmark:
    home = folder / "sentiment_mturk"
    labels = read_labels(home / "labels.csv", duplicates=Duplicates.keep)
    labels, corpus = _add_gold(labels, home / "gold.csv", read_corpus(home / "items.csv"))
    rows, source = read_table(home / "test.csv")
    rows = rows if split == "published" else rows.filter(pl.col("in_train") == "0")
    gold, names = code_labels(rows["label"], source)
    held_out = Corpus("test-" + rows["row"], texts=tuple(rows["text"].to_list()), classes=names, gold=gold)
    dev, test = held_out.split(3000, seed=SPLIT_SEED)
    return Benchmark(name="sentiment_mturk", labels=labels, corpus=corpus, dev=dev, test=test)


def _load_ner(folder: Path, _: str) -> Benchmark:
    home = folder / "ner_conll_mturk"
    crowd = read_crowd(home / "train.answers.conll.gz")
    labels, corpus = align(crowd.labels, read_corpus(home / "train.gold.conll"))
    held_out = _rename(read_corpus(home / "test.gold.conll"), "test").with_classes(corpus.classes)
    dev, test = held_out.split(2000, seed=SPLIT_SEED)
    return Benchmark(name="ner_conll_mturk", labels=labels, corpus=corpus, dev=dev, test=test)


def _load_truth(folder: Path, name: str) -> Benchmark:
    home = folder / name
    labels = read_labels(home / "labels.csv", duplicates=Duplicates.keep)
    texts = read_corpus(home / "items.csv") if (home / "items.csv").is_file() else None
    if name != "truth/labelme":
        labels, corpus = _add_gold(labels, home / "gold.csv", texts)
        return Benchmark(name=name, labels=labels, corpus=corpus)
    labels = labels.select(items=sorted(labels.items.to_list(), key=int))
    labels, corpus = _add_gold(labels, home / "gold.csv", features=_load_vgg(home, "train")[0])
    dev, test = (_feature_corpus(home, part, corpus.classes) for part in ("valid", "test"))
    return Benchmark(name=name, labels=labels, corpus=corpus, dev=dev, test=test)


def _load_vgg(home: Path, part: str) -> tuple[Floats, list[str]]:
    """Return the VGG16 features of the images of a part, and their classes."""
    with np.load(home / f"vgg_{part}.npz", allow_pickle=False) as arrays:
        return arrays["X"].astype(np.float64), [str(label) for label in arrays["y"]]


def _feature_corpus(home: Path, part: str, classes: tuple[object, ...]) -> Corpus:
    features, gold = _load_vgg(home, part)
    position = {str(name): k for k, name in enumerate(classes)}
    codes = np.array([position[label] for label in gold], dtype=np.int32)
    items = pl.Series([f"{part}-{i}" for i in range(len(codes))])
    return Corpus(items, features=features, classes=tuple(map(str, classes)), gold=codes)


def _load_weak(folder: Path, name: str) -> Benchmark:
    home = folder / name
    table, source = read_table(home / "train.csv")
    functions = [column for column in table.columns if column.startswith("lf")]
    labels = from_wide(table, item="item", annotators=functions, classes=("0", "1"), abstain="-1", source=source)
    corpus, dev, test = (_load_documents(home / f"{part}.csv") for part in ("train", "valid", "test"))
    labels, corpus = align(labels, corpus)
    dev, test = _rename(dev, "valid"), _rename(test, "test")
    return Benchmark(name=name, labels=labels, corpus=corpus, dev=dev, test=test)


def _rename(corpus: Corpus, part: str) -> Corpus:
    """Rename the items of a held-out part, to differ from all training items."""
    return replace(corpus, items=f"{part}-" + corpus.items.cast(pl.String))


def _load_documents(path: Path) -> Corpus:
    table, source = read_table(path)
    gold, classes = code_labels(table["label"], source, ("0", "1"))
    return Corpus(table["item"], texts=tuple(table["text"].fill_null("").to_list()), classes=classes, gold=gold)


def _load_pico(folder: Path, _: str) -> Benchmark:
    crowd = read_crowd(folder / "pico" / "train.jsonl.gz")
    dev = read_corpus(folder / "pico" / "dev.jsonl.gz")
    if crowd.corpus is None:
        raise DataError("pico: the file contains no tokens. Fetch the data set again.")
    return Benchmark(name="pico", labels=crowd.labels, corpus=crowd.corpus, dev=dev)


def _truth_entry(name: str, description: str, size: BenchmarkSize, origin: str) -> BenchmarkEntry:
    path = f"truth/{name}"
    extra = tuple(f"{path}/vgg_{part}.npz" for part in ("train", "valid", "test")) if name == "labelme" else ()
    return BenchmarkEntry(
        name=path,
        description=description,
        size=size,
        files=(f"{path}/labels.csv", f"{path}/gold.csv", *extra),
        load=lambda folder, _: _load_truth(folder, path),
        origin=origin,
    )


def _weak_entry(name: str, description: str, size: BenchmarkSize) -> BenchmarkEntry:
    path = f"weak/{name}"
    return BenchmarkEntry(
        name=path,
        description=description,
        size=size,
        files=tuple(f"{path}/{part}.csv" for part in ("train", "valid", "test")),
        load=lambda folder, _: _load_weak(folder, path),
        origin=(
            "It is part of the WRENCH benchmark of weak supervision; "
            "write each part as item, text, label, lf0, lf1, ..."
        ),
    )


SCALE = "Get it from yuan-li/truth-inference-at-scale on GitHub, and write it as labels.csv and gold.csv."
LABELME = "Get it from fmenat/PyLearningCrowds on GitHub."
TOOLKIT = "Get it from orchidproject/active-crowd-toolkit on GitHub."
ENSEMBLES = "Get it from UKPLab/arxiv2018-bayesian-ensembles on GitHub."
MACE = "Get it from dirkhovy/MACE on GitHub."

SENTIMENT = BenchmarkEntry(
    name="sentiment_mturk",
    description="film reviews, positive or negative; the paper's sentiment set",
    size=BenchmarkSize(items=4999, labels=27746, annotators=203, classes=2, gold=4999),
    files=tuple(f"sentiment_mturk/{part}.csv" for part in ("labels", "gold", "items", "test")),
    load=_load_sentiment,
    origin="The labels are in orchidproject/active-crowd-toolkit, the texts in junchenzhi/Logic-LNCL, both on GitHub.",
    splits=("clean", "published"),
)
NER = BenchmarkEntry(
    name="ner_conll_mturk",
    description="named entities in news; the paper's NER set",
    size=BenchmarkSize(items=5985, labels=366370, annotators=47, classes=9, gold=79901),
    files=tuple(
        f"ner_conll_mturk/{part}" for part in ("train.answers.conll.gz", "train.gold.conll", "test.gold.conll")
    ),
    load=_load_ner,
    origin="The annotations are in thanhan/seqcrowd-acl17, the gold in junchenzhi/Logic-LNCL, both on GitHub.",
)
PICO = BenchmarkEntry(
    name="pico",
    description="participants of medical trials, spans in abstracts; crowd labels only",
    size=BenchmarkSize(items=3549, labels=6761814, annotators=309, classes=3, gold=0),
    files=("pico/train.jsonl.gz", "pico/dev.jsonl.gz"),
    load=_load_pico,
    origin="Get it from yinfeiy/PICO-data on GitHub, and write one abstract a line: doc, tokens, crowd.",
)

# Sizes are: items, labels, annotators, classes, gold.
ENTRIES = (
    SENTIMENT,
    NER,
    _truth_entry("adult2", "websites by how adult they are", BenchmarkSize(11040, 92721, 825, 4, 333), SCALE),
    _truth_entry("bluebird", "which of two birds", BenchmarkSize(108, 4212, 39, 2, 108), SCALE),
    _truth_entry("dog", "dog breeds", BenchmarkSize(807, 8070, 109, 4, 807), SCALE),
    _truth_entry("labelme", "images of places, with VGG16 features", BenchmarkSize(1000, 2547, 59, 8, 1000), LABELME),
    _truth_entry("music_genre", "genres of songs", BenchmarkSize(700, 2945, 44, 10, 700), TOOLKIT),
    _truth_entry("rte", "does one sentence follow from another", BenchmarkSize(800, 8000, 164, 2, 800), ENSEMBLES),
    _truth_entry("sp_amt", "sentiment of films", BenchmarkSize(500, 10000, 143, 2, 500), SCALE),
    _truth_entry("temp", "which event came first", BenchmarkSize(462, 4620, 76, 2, 462), MACE),
    _truth_entry("trec", "relevance of web pages", BenchmarkSize(19033, 88385, 762, 2, 2275), SCALE),
    _truth_entry("weather_amt", "sentiment of tweets about the weather", BenchmarkSize(300, 6030, 110, 5, 300), SCALE),
    _weak_entry("youtube", "spam comments, 10 labelling functions", BenchmarkSize(1586, 2592, 10, 2, 1586)),
    _weak_entry("sms", "spam messages, 73 labelling functions", BenchmarkSize(4571, 2390, 73, 2, 4571)),
    PICO,
)
CATALOGUE = {entry.name: entry for entry in ENTRIES}
"""Data sets by name."""
