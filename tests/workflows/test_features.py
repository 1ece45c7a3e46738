"""Numeric features from files: columns, lists and npz files give the same answers, from commands and from Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from crowdlogic.cli.app import app
from crowdlogic.data import Corpus, read_labels
from crowdlogic.data.features import read_featured_items
from crowdlogic.errors import CorpusError, CrowdLogicError, FormatError
from crowdlogic.learning import HeldOut, LogicLNCL, TrainingLimits
from crowdlogic.learning.saved_run import load_run
from crowdlogic.rules import Projector, parse_rules

SIZE, NEW = 120, 40


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two clouds of points with labels by three people, each file in three layouts."""
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=SIZE + NEW)
    x = rng.normal(size=(SIZE + NEW, 3)) + 1.5 * truth[:, None]
    names = [f"i{i}" for i in range(SIZE + NEW)]
    for file, rows in (("train", slice(0, SIZE)), ("new", slice(SIZE, None))):
        items, some, gold = names[rows], x[rows], [f"c{k}" for k in truth[rows]]
        known = {"item": items} | ({"label": gold} if file == "new" else {})
        pl.DataFrame(known | {f"f{d}": some[:, d] for d in range(3)}).write_csv(tmp_path / f"{file}.csv")
        pl.DataFrame(known | {"vector": some.tolist()}).write_parquet(tmp_path / f"{file}.parquet")
        np.savez(tmp_path / f"{file}.npz", items=np.array(items), features=some)
    wrong = rng.random((SIZE, 3)) < 0.2
    rows = [f"i{i},a{j},c{truth[i] ^ wrong[i, j]}" for i in range(SIZE) for j in range(3)]
    (tmp_path / "labels.csv").write_text("\n".join(["item,annotator,label", *rows, ""]))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words: str) -> str:
    result = CliRunner().invoke(app, words, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def load_arrays(path: str) -> dict[str, Any]:
    """Return the arrays of an npz file, and close it."""
    with np.load(path) as archive:
        return dict(archive)


@pytest.mark.parametrize(
    ("training", "new"),
    [
        (["--items", "train.csv", "--features", "f*"], ["new.csv"]),
        (["--items", "train.parquet", "--features", "vector"], ["new.parquet"]),
        (["--features", "train.npz"], ["new.npz"]),
        (["--items", "train.csv", "--features", "train.npz"], ["new.csv", "--features", "new.npz"]),
    ],
    ids=["columns", "lists", "npz", "npz beside a table"],
)
def test_commands_and_python_give_the_same_answers(folder: Path, training: list[str], new: list[str]) -> None:
    (folder / "near.rules").write_text("0.2: Nearest(A, B, '3') & Label(A, C) -> Label(B, C)\n")
    archive = load_arrays("train.npz")
    corpus = Corpus(pl.Series("item", archive["items"].tolist()), features=archive["features"])
    unseen = load_arrays("new.npz")
    rules = parse_rules((folder / "near.rules").read_text())
    limits = TrainingLimits(epochs=3, held_out=HeldOut())

    run("train", "--labels", "labels.csv", *training, "--rules", "near.rules", "--epochs", "3", "-o", "run")
    run("predict", "run", *new, "--raw", "-o", "answers.csv")
    learned = LogicLNCL(limits=limits).fit(corpus, read_labels("labels.csv"), rules=rules)

    beliefs = learned.predict(
        Corpus(pl.Series("item", unseen["items"].tolist()), features=unseen["features"]), calibrated=False
    )
    answers = pl.read_csv("answers.csv")
    np.testing.assert_allclose(answers.select("p_c0", "p_c1").to_numpy(), beliefs, atol=1e-9)
    assert load_run("run").audit[0].outcome == (learned.verdicts or ())[0].outcome


def test_audit_report_and_named_features(folder: Path) -> None:
    (folder / "my.rules").write_text(
        "1.0: Above(X, 'f0', '1.5') -> Label(X, 'c1')\n1.0: Below(X, 'f0', '0.0') -> Label(X, 'c0')\n"
    )

    audited = run("rules", "audit", "my.rules", "labels.csv", "--items", "train.csv", "--features", "f*")
    run("report", "labels.csv", "--items", "train.csv", "--features", "f*", "-o", "report.html")
    trained = ["--items", "train.csv", "--features", "f*", "--rules", "my.rules", "--epochs", "2"]
    run("train", "--labels", "labels.csv", *trained, "-o", "run")

    assert "Below(X, 'f0', '0.0') -> Label(X, 'c0'): Keep it" in audited
    assert (folder / "report.html").is_file()
    assert load_run("run").learned.task.corpus.feature_names == ("f0", "f1", "f2")
    run("predict", "run", "new.csv", "-o", "answers.csv")  # the run knows its columns, and the rules their names


def test_nearest_neighbours_are_those_of_a_plain_search(folder: Path) -> None:
    corpus = read_featured_items("train.csv", "f*")
    rules = parse_rules("1.0: Nearest(A, B, '4') & Label(A, C) -> Label(B, C)")

    ground = Projector(rules=rules).ground(corpus, ("c0", "c1"))

    x = np.asarray(corpus.features)
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    distance = ((x[:, None] - x[None]) ** 2).sum(axis=2) + np.diag(np.full(SIZE, np.inf))
    expected = {(i, int(j)) for i in range(SIZE) for j in np.argsort(distance[i])[:4]}
    found = {
        (int(a), int(b))
        for block in ground.rules[0].blocks
        for a, b in zip(block.first, np.asarray(block.second), strict=True)
    }
    assert {tuple(sorted(pair)) for pair in found} == {tuple(sorted(pair)) for pair in expected}


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("1: Above(X, 'f9', '1') -> Label(X, 'c1')", "there is no feature 'f9'. The features are f0, f1, f2."),
        ("1: Above(X, 'f0', 'much') -> Label(X, 'c1')", "'much' is not a number. Write for example '0.5'."),
        ("1: Nearest(X, Y, '0') & Label(X, C) -> Label(Y, C)", "'0' is not a number of neighbours."),
    ],
)
def test_a_mistake_in_a_rule_over_features_is_one_line(folder: Path, rule: str, message: str) -> None:
    corpus = read_featured_items("train.csv", "f*")

    with pytest.raises(CrowdLogicError) as raised:
        Projector(rules=parse_rules(rule)).ground(corpus, ("c0", "c1"))

    assert message in str(raised.value)
    assert "the rules:1:4" in str(raised.value)


def test_files_without_usable_features_are_refused(folder: Path) -> None:
    (folder / "holes.csv").write_text("item,f0\nu,1\nv,\n")
    np.savez(folder / "unnamed.npz", features=np.ones((3, 2)))
    np.savez(folder / "objects.npz", items=np.array(["a", 1], dtype=object), features=np.ones((2, 2)))

    with pytest.raises(CorpusError, match=r"holes.csv, row 3: no number in the column f0"):
        read_featured_items("holes.csv", "f*")
    with pytest.raises(CorpusError, match=r"item 'i120' has no features in train.npz"):
        read_featured_items("new.csv", "train.npz")
    with pytest.raises(FormatError, match=r"expected an array of ids"):
        read_featured_items("unnamed.npz", None)
    with pytest.raises(FormatError, match=r"is not an npz file of plain arrays"):
        read_featured_items("objects.npz", None)
    with pytest.raises(CrowdLogicError, match=r"no column matches --features 'g\*'"):
        read_featured_items("train.csv", "g*")
