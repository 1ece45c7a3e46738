"""A damaged run is refused in one line that names it, whatever is wrong with its files."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from safetensors.numpy import load_file, save_file
from tests.store.sealing import reseal, unsealed

from crowdlogic.classifiers.linear import LinearClassifier
from crowdlogic.data.simulate import simulate_ner, simulate_sentiment
from crowdlogic.errors import CrowdLogicError, FormatError, MissingDataError, OptionError
from crowdlogic.learning.algorithm import LogicLNCL
from crowdlogic.learning.explain import explain
from crowdlogic.learning.method import TrainingData
from crowdlogic.learning.saved_run import load_run, train_run
from crowdlogic.learning.stopping import TrainingLimits
from crowdlogic.learning.training import HistoryRow
from crowdlogic.registry import ANNOTATOR_MODELS
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.store.checkpoints import _seal

MADE = simulate_sentiment(5, items=40, test_items=5, annotators=5, labels_per_item=3)
RULES = parse_rules("1.0: include contrast('but')\n1: Near(A, B) & Label(A, C) -> Label(B, C)")
NEAR = pl.DataFrame({"a": [MADE.corpus.items[0]], "b": [MADE.corpus.items[1]]})
GIVEN = TrainingData(corpus=MADE.corpus, labels=MADE.labels, rules=RULES, vocabulary=Vocabulary().table("Near", NEAR))
METHOD = LogicLNCL(limits=TrainingLimits(epochs=2))


class StopError(Exception):
    """Something went wrong in the middle."""


def stop(row: HistoryRow, most: int) -> None:
    if row.epoch == 2:
        raise StopError


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    train_run(folder / "done", METHOD, GIVEN)
    with pytest.raises(StopError):
        train_run(folder / "stopped", METHOD, GIVEN, callback=stop)
    return folder


Change = Callable[[Any], Any]


def edit(run: Path, file: str, change: Change) -> None:
    """Read a file of a run, change what it holds, and write it back."""
    path = run / file
    if path.name == "state.json":
        path.write_bytes(_seal(change(unsealed(path))))
    elif path.suffix == ".json":
        path.write_text(json.dumps(change(json.loads(path.read_text()))))
    elif path.suffix == ".jsonl":
        path.write_text(change(path.read_text()))
    elif path.suffix == ".parquet":
        change(pl.read_parquet(path)).write_parquet(path)
    else:
        save_file({name: np.ascontiguousarray(array) for name, array in change(load_file(path)).items()}, path)
    reseal(run)


def without(*path: str) -> Change:
    """Whatever stands at the end of the path is taken away."""

    def change(noted: Any) -> Any:
        inner = noted
        for name in path[:-1]:
            inner = inner[name]
        del inner[path[-1]]
        return noted

    return change


def put(value: Any, *path: str) -> Change:
    """Something else at the end of the path."""

    def change(noted: Any) -> Any:
        inner = noted
        for name in path[:-1]:
            inner = inner[name]
        inner[path[-1]] = value
        return noted

    return change


CONFIG = "config.json"
TOP = ("classes", "rules", "projector", "outcome", "method", "annotators")
PLACES = [
    *((name,) for name in TOP),
    ("method", "classifier"),
    ("method", "name"),
    ("annotators", "name"),
    ("rules", "tables"),
    ("rules", "text"),
    ("rules", "functions"),
    ("outcome", "epoch"),
    ("outcome", "chosen"),
    ("outcome", "epoch", "loss"),
]
DAMAGES = [
    ("config.json", put(True, "method", "limits")),
    ("config.json", put("x", "method", "limits", "epochs")),
    *((CONFIG, without(*path)) for path in PLACES),
    *((CONFIG, put(3.5, *path)) for path in PLACES if path[-1] != "loss"),
    *((CONFIG, put("x", *path)) for path in PLACES if path not in [("method", "name"), ("rules", "text")]),
    (CONFIG, put(3, "classes")),
    (CONFIG, put(["positive", "negative"], "classes")),
    (CONFIG, put(["negative", "positive", "odd"], "classes")),
    (CONFIG, put(7, "outcome", "chosen")),
    (CONFIG, put(70, "outcome", "averaged_from")),
    (CONFIG, put("x", "outcome", "averaged_from")),
    (CONFIG, put("much", "projector", "strength")),
    (CONFIG, put({"name": "no such"}, "annotators")),
    (CONFIG, put("much", "annotators", "trust")),
    (CONFIG, put("1: Label(S", "rules", "text")),
    (CONFIG, put(10**12, "method", "classifier", "max_ngram")),
    (CONFIG, put(10**9, "method", "classifier", "steps")),
    (CONFIG, put({"convergence": {"max_iterations": 10**9}}, "projector", "propagation")),
    *((CONFIG, put(sign * 10**400, *path)) for sign in (1, -1) for path in [
        ("outcome", "epoch", "k"), ("outcome", "epoch", "loss"), ("outcome", "chosen"), ("projector", "strength"),
        ("confidence", "student", "sharpness"), ("confidence", "answers", "sharpness"), ("annotators", "trust"),
        ("seed",)]),
    *((CONFIG, put(value, "outcome", "epoch", "k")) for value in (-5, 1.5, float("inf"), None)),
    (CONFIG, put(3, "confidence")),
    *((CONFIG, put(value, "confidence", "student", "sharpness")) for value in (0, -1.0, None, "x", 1e9, float("inf"))),
    (CONFIG, put("x", "confidence", "teacher", "source")),
    (CONFIG, put(-1, "confidence", "teacher", "n")),
    (CONFIG, put(2.0, "confidence", "teacher", "error_after")),
    *((CONFIG, put(value, "confidence", "answers", "sharpness")) for value in (0, None, 1e9, float("inf"))),
    (CONFIG, put(1.5, "confidence", "answers", "correlation")),
    (CONFIG, put({}, "confidence", "answers")),
    *((file, lambda table, n=name: table.drop(n)) for file, name in [
        ("labels.parquet", "answer"), ("labels.parquet", "item"), ("labels.parquet", "crowd_negative"),
        ("labels.parquet", "mixed_negative"),
        ("crowd.parquet", "unit"), ("annotators.parquet", "annotator"), ("items.parquet", "item")]),
    *((file, lambda table, n=name: table.with_columns(pl.lit("x").alias(n))) for file, name in [
        ("labels.parquet", "answer"), ("labels.parquet", "p_negative"), ("crowd.parquet", "label"),
        ("items.parquet", "gold"), ("items.parquet", "item")]),
    *((file, lambda table, n=name: table.with_columns(pl.lit(None).cast(table[n].dtype).alias(n))) for file, name in [
        ("labels.parquet", "p_negative"), ("crowd.parquet", "unit"), ("items.parquet", "text")]),
    *((f"{file}.parquet", lambda table: table.head(3)) for file in ("labels", "items", "annotators")),
    ("labels.parquet", lambda table: table.reverse()),
    ("crowd.parquet", lambda table: table.with_columns(unit=pl.col("unit") + 1000)),
    ("history.jsonl", lambda text: "3\n" + text),
    ("history.jsonl", lambda text: '{"epoch": 1}\n'),
    ("history.jsonl", lambda text: text.replace('"epoch": 1', '"epoch": "one"')),
    ("history.jsonl", lambda text: text.replace('"scores": {', '"scores": [], "x": {')),
    ("rules.json", lambda noted: {"a": noted}),
    ("rules.json", lambda noted: [3]),
    ("rules.json", lambda noted: [{**noted[0], "holds": "x"}]),
    ("rules.json", lambda noted: [{**noted[0], "outcome": "x"}]),
    ("annotators.safetensors", lambda arrays: {"other": arrays["confusion"]}),
    ("annotators.safetensors", lambda arrays: {"confusion": arrays["confusion"][:2]}),
    ("annotators.safetensors", lambda arrays: {"confusion": arrays["confusion"]}),
    ("annotators.safetensors", lambda arrays: arrays | {"model.table": arrays["model.table"][:2]}),
    ("model.safetensors", lambda arrays: {name: array[:1] if array.ndim else array for name, array in arrays.items()}),
    ("model.safetensors", lambda arrays: arrays | {"fixed.width": np.ones(3)}),
    ("model.safetensors", lambda arrays: arrays | {"fixed.columns": arrays["fixed.columns"].astype(np.float64) * 1e9}),
    ("model.safetensors", lambda arrays: {"x": np.ones(1)}),
    ("tables/Near.parquet", lambda table: table.select(pl.lit(None).alias("1"))),
]  # fmt: skip


@pytest.mark.parametrize(("file", "change"), DAMAGES)
def test_a_damaged_run_is_one_line(whole: Path, tmp_path: Path, file: str, change: Change) -> None:
    run = Path(shutil.copytree(whole / "done", tmp_path / "run"))
    edit(run, file, change)

    with pytest.raises(CrowdLogicError) as refused:
        load_run(run)

    assert len(str(refused.value).splitlines()) == 1
    if "These" not in str(refused.value):  # a classifier that is told apart says so itself
        assert str(refused.value).startswith(str(run))
        assert "damaged" in str(refused.value)


def test_a_loaded_run_states_what_the_fit_stated(tmp_path: Path) -> None:
    run = train_run(tmp_path / "run", METHOD, replace(GIVEN, dev=MADE.test))

    again = load_run(tmp_path / "run")

    assert again.learned.scales == run.learned.scales
    assert again.learned.scales.student.error_before is not None
    assert again.estimate.calibration == run.estimate.calibration
    np.testing.assert_array_equal(again.estimate.beliefs, run.estimate.beliefs)
    for student in (True, False):
        stated, raw = (again.predict(MADE.test, student=student, calibrated=how) for how in (True, False))
        np.testing.assert_array_equal(stated, run.predict(MADE.test, student=student))
        np.testing.assert_array_equal(raw, run.predict(MADE.test, student=student, calibrated=False))
        assert not np.array_equal(stated, raw)
    item = MADE.corpus.items[0]
    np.testing.assert_array_equal(again.explain(item).added_up(), run.explain(item).added_up())


def test_the_damage_is_named(whole: Path, tmp_path: Path) -> None:
    said = {}
    for name, (file, change) in {
        "annotators": (CONFIG, put({"name": "one-coin"}, "annotators")),
        "missing": (CONFIG, without("rules")),
        "order": (CONFIG, put(["positive", "negative"], "classes")),
        "shape": ("annotators.safetensors", lambda arrays: {"confusion": arrays["confusion"][:2]}),
        "type": ("crowd.parquet", lambda table: table.with_columns(label=pl.lit("x"))),
    }.items():
        run = Path(shutil.copytree(whole / "done", tmp_path / name))
        edit(run, file, change)
        with pytest.raises(FormatError) as refused:
            load_run(run)
        said[name] = str(refused.value).removeprefix(f"{run}: the run is damaged ")

    end = " Train it again, or restore the file."
    assert said == {
        "annotators": f"(annotators.safetensors: no 'accuracy' for one-coin annotators).{end}",
        "missing": f"(no 'rules').{end}",
        "order": f"(config.json and labels.parquet have the classes in different orders).{end}",
        "shape": f"(annotators.safetensors: confusion has shape (2, 2, 2), expected (5, 2, 2)).{end}",
        "type": f"(crowd.parquet: label contains values that are not integers).{end}",
    }


@pytest.mark.parametrize(
    "file",
    [
        "annotators.safetensors",
        "annotators.parquet",
        "model.safetensors",
        "rules.json",
        "history.jsonl",
        "tables/Near.parquet",
    ],
)
def test_a_missing_file_is_named_once(whole: Path, tmp_path: Path, file: str) -> None:
    run = Path(shutil.copytree(whole / "done", tmp_path / "run"))
    (run / file).unlink()

    with pytest.raises(MissingDataError) as refused:
        load_run(run)

    path = run / file
    assert str(refused.value) == f"{path.parent}: {path.name} is missing. The run is damaged, or it is not a run."


@pytest.mark.parametrize("bug", [AttributeError, RuntimeError, TypeError, ValueError, KeyError, ZeroDivisionError])
@pytest.mark.parametrize("place", ["predict_proba", "restore"])
def test_a_bug_in_a_classifier_is_not_called_damage(
    whole: Path, monkeypatch: pytest.MonkeyPatch, bug: type[Exception], place: str
) -> None:
    def fail(self: LinearClassifier, *given: Any) -> Any:
        raise bug("a bug")

    monkeypatch.setattr(LinearClassifier, place, fail)

    with pytest.raises(bug) as raised:
        load_run(whole / "done").predict(MADE.test)

    assert type(raised.value) is bug
    assert "damaged" not in str(raised.value)


@pytest.mark.parametrize("name", ANNOTATOR_MODELS)
def test_annotators_of_every_model_are_restored(tmp_path: Path, name: str) -> None:
    made = simulate_ner(5, items=12, test_items=5, annotators=4, labels_per_item=3)
    method = LogicLNCL(annotators=ANNOTATOR_MODELS.create(name), limits=TrainingLimits(epochs=1, held_out=None))
    run = train_run(tmp_path / "run", method, TrainingData(corpus=made.corpus, labels=made.labels))

    loaded = load_run(tmp_path / "run")

    assert loaded.learned.model == method.annotators
    before, after = run.learned.epoch.annotators, loaded.learned.epoch.annotators
    assert before.arrays().keys() == after.arrays().keys()
    for array in before.arrays():
        np.testing.assert_array_equal(after.arrays()[array], before.arrays()[array])
    np.testing.assert_array_equal(loaded.predict(made.test), run.predict(made.test))
    for item in made.corpus.items:
        np.testing.assert_array_equal(loaded.explain(item).crowd.term, run.explain(item).crowd.term)


STATE = "checkpoint/state.json"
BEST = "the best epoch"


@pytest.mark.parametrize(
    ("file", "change"),
    [
        *((STATE, without(*path)) for path in [("owner",), ("files",), ("note",), ("files", "last"), ("note", "history"), ("note", "best"), ("note", "best_epoch"), ("note", "best", "loss")]),
        *((STATE, put(value, *path)) for value in (3, "x", None) for path in [("owner",), ("files",), ("note",), ("files", "best"), ("note", "history"), ("note", "best")]),
        (STATE, put("x", "note", "best_epoch")),
        (STATE, put(9, "note", "best_epoch")),
        (STATE, put([3, 4], "note", "history")),
        (STATE, put([{"epoch": 1}], "note", "history")),
        (STATE, put("../../done/model.safetensors", "files", "best")),
        ("checkpoint/last-0002.safetensors", lambda arrays: {name: array for name, array in arrays.items() if name != "q_f"}),
        ("checkpoint/last-0002.safetensors", lambda arrays: arrays | {"q_f": arrays["q_f"][:3]}),
        (BEST, lambda arrays: {name: array for name, array in arrays.items() if not name.startswith("annotators.")}),
        (BEST, lambda arrays: arrays | {"annotators.table": arrays["annotators.table"][:2]}),
    ],
)  # fmt: skip
def test_a_damaged_checkpoint_is_one_line(whole: Path, tmp_path: Path, file: str, change: Change) -> None:
    run = Path(shutil.copytree(whole / "stopped", tmp_path / "run"))
    if file == BEST:
        file = f"checkpoint/{next((run / 'checkpoint').glob('best-*')).name}"
    elif not (run / file).is_file():
        file = file.replace("last", "best")
    edit(run, file, change)

    with pytest.raises(CrowdLogicError) as refused:
        train_run(run, METHOD, GIVEN, resume=True)

    assert len(str(refused.value).splitlines()) == 1
    assert str(refused.value).startswith(str(run))


def test_what_is_no_number_is_not_explained(whole: Path) -> None:
    learned = load_run(whole / "done").learned
    epoch = replace(learned.epoch, p=np.full_like(learned.epoch.p, np.nan))

    with pytest.raises(OptionError, match="so they cannot be explained this way"):
        explain(replace(learned, epoch=epoch), MADE.corpus.items[0])
