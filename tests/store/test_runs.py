"""What a run keeps is what it was given, for documents, sentences and rows of features."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.store.sealing import reseal

from crowdlogic.data.corpus import Corpus, documents, sentences
from crowdlogic.data.estimate import Estimate, make_estimate
from crowdlogic.data.frames import from_arrays
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import CrowdLogicError, FormatError, MissingDataError, OptionError
from crowdlogic.store.files import VERSION, get_arrays, put_arrays, put_json
from crowdlogic.store.runs import PackedRules, RunRecord, read_run, write_run

AUDIT = {"rule": "1.0: r", "place": "f:1:1", "groundings": 3, "satisfaction": None, "flipped_right": None, "moved": 0.5}


def record_of(labels: CrowdLabels, corpus: Corpus) -> RunRecord:
    rng = np.random.default_rng(0)
    views = {name: rng.dirichlet(np.ones(labels.n_classes), size=labels.n_units) for name in ("p", "q_a", "q_b", "q_f")}
    confusion = rng.dirichlet(np.ones(labels.n_classes), size=(len(labels.annotators), labels.n_classes))
    annotators = pl.DataFrame({"annotator": labels.annotators, "labels": labels.labels_per_annotator()})
    return RunRecord(
        config={
            "version": VERSION,
            "status": "running",
            "method": {"name": "logic-lncl"},
            "classes": list(labels.classes),
        },
        labels=labels,
        corpus=corpus,
        estimate=make_estimate(
            labels, "logic-lncl", views["q_f"], confusion=confusion, answer_all=True, trace=np.array([-0.5, -0.25])
        ),
        views=views,
        model={"model.w": rng.normal(size=(3, 2)).astype(np.float32), "fixed.c": np.arange(3)},
        annotator_arrays={"confusion": confusion, "prior": np.array([0.5, 0.25])},
        annotators=annotators if labels.kind is None else annotators.with_columns(kind=pl.Series(labels.kind)),
        history=(
            {"epoch": 1, "stopping": -0.5, "scores": {}},
            {"epoch": 2, "stopping": -0.25, "scores": {"dev": 0.75}},
        ),
        audit=(AUDIT,),
        refit_history=({"epoch": 1, "stopping": 0.0, "scores": {}},),
        rules=PackedRules(text="1: r\n", tables={"Near": pl.DataFrame({"1": ["a"]})}, table_sources={"Near": "n.csv"}),
    )


def texts() -> RunRecord:
    labels = from_arrays(["a", "a", "b", "b"], [7, 9, 7, 9], [True, False, True, True])
    labels = replace(
        labels, weight=np.array([0.5, 1.0, 2.0, 0.0]), time=np.array([1.0, np.nan, 3.0, 4.0]), kind=("llm", "human")
    )
    corpus = documents(["a", "b", "c"], ["née, 'x'\n", "", "y"], gold=[True, None, False])
    return record_of(replace(labels, items=corpus.items), corpus)


def tags() -> RunRecord:
    corpus = sentences([3, 4, 5], [["EU", "left"], [], ["Ann"]], gold=[["B", "O"], [], ["B"]])
    labels = CrowdLabels(
        unit=np.array([0, 1, 2]),
        annotator=np.array([0, 0, 1]),
        label=np.array([0, 1, 1]),
        items=corpus.items,
        annotators=pl.Series(["u", "v"]),
        classes=("B", "O"),
        offsets=corpus.offsets,
    )
    return record_of(labels, corpus)


def features() -> RunRecord:
    corpus = documents(["a", "b"], features=np.array([[0.5, 1.5], [2.0, -1.0]]))
    return record_of(from_arrays(["a", "b"], ["u", "u"], ["x", "y"]), corpus.with_classes(("x", "y")))


@pytest.mark.parametrize("make", [texts, tags, features])
def test_a_run_read_is_the_run_written(tmp_path: Path, make: Any) -> None:
    given = make()
    write_run(tmp_path, given)

    found = read_run(tmp_path)

    for name in ("unit", "annotator", "label", "weight", "time", "offsets"):
        np.testing.assert_array_equal(getattr(found.labels, name), getattr(given.labels, name))
    for name in ("items", "annotators"):
        assert getattr(found.labels, name).to_list() == getattr(given.labels, name).to_list()
    assert (found.labels.classes, found.labels.kind) == (given.labels.classes, given.labels.kind)
    for name in ("texts", "tokens"):
        assert getattr(found.corpus, name) == getattr(given.corpus, name)
    for name in ("offsets", "features", "gold"):
        np.testing.assert_array_equal(getattr(found.corpus, name), getattr(given.corpus, name))
    for name in ("beliefs", "answer", "confusion", "trace"):
        np.testing.assert_array_equal(getattr(found.estimate, name), getattr(given.estimate, name))
    for name, beliefs in given.views.items():
        np.testing.assert_array_equal(found.views[name], beliefs)
    for name in ("model", "annotator_arrays"):
        arrays = getattr(found, name)
        assert arrays.keys() == getattr(given, name).keys()
        for key, array in getattr(given, name).items():
            np.testing.assert_array_equal(arrays[key], array)
            assert arrays[key].dtype == array.dtype
    assert found.annotators.equals(given.annotators)
    assert found.rules.text == given.rules.text
    assert found.rules.tables["Near"].equals(given.rules.tables["Near"])
    assert (found.history, found.refit_history, found.audit) == (given.history, given.refit_history, given.audit)
    added = {name: found.config[name] for name in ("status", "rules")}
    assert found.config | added == given.config | added


def test_the_tables_of_a_run_can_be_read_by_anyone(tmp_path: Path) -> None:
    given = tags()
    write_run(tmp_path, given)

    answers = pl.read_parquet(tmp_path / "labels.parquet")
    people = pl.read_parquet(tmp_path / "annotators.parquet")

    assert answers.columns[:6] == ["item", "token", "answer", "confidence", "p_B", "p_O"]
    assert answers["item"].to_list() == [3, 3, 5]
    assert answers["token"].to_list() == [1, 2, 1]
    assert answers["answer"].to_list() == ["BO"[k] for k in given.views["q_f"].argmax(axis=1)]
    np.testing.assert_array_equal(answers["classifier_O"].to_numpy(), given.views["p"][:, 1])
    np.testing.assert_array_equal(answers["crowd_O"].to_numpy(), given.views["q_a"][:, 1])
    np.testing.assert_array_equal(answers["rules_O"].to_numpy(), given.views["q_b"][:, 1])
    assert people.equals(given.annotators)
    assert json.loads((tmp_path / "rules.json").read_text()) == [AUDIT]


def test_config_says_done_only_when_all_else_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    order = []
    rename = Path.replace

    def replace_noted(self: Path, target: Path) -> Path:
        order.append(Path(target).name)
        return rename(self, target)

    monkeypatch.setattr(Path, "replace", replace_noted)
    write_run(tmp_path, tags())

    assert order[-1] == "config.json"
    assert sorted(order) == sorted(file.name for file in tmp_path.rglob("*") if file.is_file())


def test_a_run_that_is_not_done_or_none_at_all_is_one_line(tmp_path: Path) -> None:
    write_run(tmp_path, texts())
    config = json.loads((tmp_path / "config.json").read_text())

    put_json(tmp_path / "config.json", {**config, "status": "interrupted"})
    with pytest.raises(OptionError) as running:
        read_run(tmp_path)
    put_json(tmp_path / "config.json", {**config, "version": 99})
    with pytest.raises(FormatError) as other:
        read_run(tmp_path)
    (tmp_path / "config.json").unlink()
    with pytest.raises(MissingDataError) as nothing:
        read_run(tmp_path)

    assert str(running.value) == (
        f"{tmp_path}: the run is not done (interrupted). Finish it: crowdlogic train --resume -o {tmp_path}"
    )
    assert str(other.value) == f"{tmp_path}/config.json: is not a run of version 3. Train it again with this version."
    assert (
        str(nothing.value)
        == f"{tmp_path}: contains no config.json, so it is not a run. Name a folder written by `train`."
    )


@pytest.mark.parametrize(
    "file", ["model.safetensors", "labels.parquet", "crowd.parquet", "rules.json", "history.jsonl"]
)
def test_a_damaged_file_is_named(tmp_path: Path, file: str) -> None:
    write_run(tmp_path, texts())
    (tmp_path / file).write_bytes(b"{nonsense")

    with pytest.raises(FormatError, match=rf"{file}: .* The run is damaged\."):
        read_run(tmp_path)


def test_an_estimate_has_the_name_of_its_method(tmp_path: Path) -> None:
    write_run(tmp_path, texts())

    found = read_run(tmp_path).estimate

    assert isinstance(found, Estimate)
    assert found.method == "logic-lncl"


def test_a_run_without_rules_has_none(tmp_path: Path) -> None:
    write_run(tmp_path, replace(texts(), rules=None))

    assert read_run(tmp_path).rules is None
    assert not (tmp_path / "tables").exists()


@pytest.mark.parametrize("file", ["model.safetensors", "annotators.safetensors", "items.safetensors"])
def test_a_changed_number_in_a_file_of_arrays_is_damage(tmp_path: Path, file: str) -> None:
    """Only those who wrote them know what arrays mean, so not a byte of them may differ."""
    write_run(tmp_path, features())
    arrays = {name: array.copy() for name, array in get_arrays(tmp_path / file).items()}
    next(iter(arrays.values())).flat[0] += 1
    put_arrays(tmp_path / file, arrays)

    with pytest.raises(FormatError) as refused:
        read_run(tmp_path)

    assert str(refused.value) == (
        f"{tmp_path / file}: the file has changed since it was written (its SHA-256 differs). The run is damaged."
    )


def test_a_run_of_the_layout_before_this_one_is_refused(tmp_path: Path) -> None:
    write_run(tmp_path, texts())
    config = json.loads((tmp_path / "config.json").read_text())
    put_json(tmp_path / "config.json", {**config, "version": 2})

    with pytest.raises(FormatError) as refused:
        read_run(tmp_path)

    assert str(refused.value) == f"{tmp_path}/config.json: is not a run of version 3. Train it again with this version."


@pytest.mark.parametrize("file", ["model.safetensors", "annotators.safetensors", "items.safetensors"])
def test_a_missing_file_of_arrays_is_named(tmp_path: Path, file: str) -> None:
    write_run(tmp_path, features())
    (tmp_path / file).unlink()

    with pytest.raises(MissingDataError) as refused:
        read_run(tmp_path)

    assert str(refused.value) == f"{tmp_path}: {file} is missing. The run is damaged, or it is not a run."


@pytest.mark.parametrize(
    "classes", [["x", "x"], ["x", 1.5], ["x", ["y"]], ["x", None], [], "xy", ["x", 1], [True, 2], [10**30, 1]]
)
def test_classes_that_are_no_names_are_damage(tmp_path: Path, classes: Any) -> None:
    write_run(tmp_path, features())
    config = json.loads((tmp_path / "config.json").read_text())
    put_json(tmp_path / "config.json", {**config, "classes": classes})
    reseal(tmp_path)

    with pytest.raises(FormatError, match="the run is damaged"):
        read_run(tmp_path)


@pytest.mark.parametrize("file", ["config.json", "model.safetensors", "crowd.parquet", "history.jsonl"])
def test_a_run_without_the_checksum_of_a_file_is_damaged(tmp_path: Path, file: str) -> None:
    write_run(tmp_path, features())
    sums = (tmp_path / "SHA256SUMS").read_text().splitlines(keepends=True)
    (tmp_path / "SHA256SUMS").write_text("".join(line for line in sums if not line.endswith(f" {file}\n")))

    with pytest.raises(FormatError, match=rf"the run is damaged \(SHA256SUMS has no checksum for {file}\)"):
        read_run(tmp_path)


@pytest.mark.parametrize("kind", ["texts", "tags", "features"])
def test_a_flipped_bit_anywhere_in_a_run_is_noticed(tmp_path: Path, kind: str) -> None:
    write_run(tmp_path, {"texts": texts, "tags": tags, "features": features}[kind]())
    rng = np.random.default_rng(0)

    for path in sorted(path for path in tmp_path.rglob("*") if path.is_file()):
        whole = path.read_bytes()
        for at in rng.integers(len(whole), size=5):
            changed = bytearray(whole)
            changed[at] ^= 1 << int(rng.integers(8))
            path.write_bytes(changed)
            with pytest.raises(CrowdLogicError):
                read_run(tmp_path)
        path.write_bytes(whole)
    read_run(tmp_path)


def test_the_crowd_of_another_run_is_noticed(tmp_path: Path) -> None:
    for name, record in (("one", texts()), ("two", replace(texts(), annotators=texts().annotators.reverse()))):
        (tmp_path / name).mkdir()
        write_run(tmp_path / name, record)
    (tmp_path / "two" / "annotators.parquet").replace(tmp_path / "one" / "annotators.parquet")

    with pytest.raises(FormatError, match=r"annotators.parquet: the file has changed since it was written"):
        read_run(tmp_path / "one")


def test_a_run_whose_name_looks_like_a_pattern_is_read_from_its_own_folder(tmp_path: Path) -> None:
    mine, other = texts(), texts()
    other = replace(other, annotators=other.annotators.with_columns(pl.col("labels") + 100))
    for name, record in (("run[1]", mine), ("run1", other)):
        (tmp_path / name).mkdir()
        write_run(tmp_path / name, record)

    assert read_run(tmp_path / "run[1]").annotators.equals(mine.annotators)


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("history.jsonl", '{"epoch": 1, "stopping": 1e999}\n'),
        ("rules.json", '[{"moved": -1e999}]'),
        ("rules.json", '[{"moved": 1e308}]'),
    ],
)
def test_an_infinite_number_in_a_run_is_damage(tmp_path: Path, file: str, content: str) -> None:
    write_run(tmp_path, features())
    (tmp_path / file).write_text(content)
    reseal(tmp_path)

    with pytest.raises(FormatError, match=f"{file} contains an infinite number"):
        read_run(tmp_path)


def test_an_infinite_confusion_is_damage(tmp_path: Path) -> None:
    write_run(tmp_path, features())
    arrays = get_arrays(tmp_path / "annotators.safetensors")
    put_arrays(tmp_path / "annotators.safetensors", arrays | {"confusion": np.full_like(arrays["confusion"], np.inf)})
    reseal(tmp_path)

    with pytest.raises(FormatError, match="confusion contains infinities"):
        read_run(tmp_path)
