"""`train`, as a user would call it, kill it and go on with it."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.cli.conftest import WORDS, Result, write_simulated

from crowdlogic.data.simulate import Simulation, simulate_ner, simulate_sentiment
from crowdlogic.learning.saved_run import load_run
from crowdlogic.registry import CLASSIFIERS

Run = Callable[..., Result]


@pytest.fixture
def reviews(run: Run) -> Simulation:
    made = simulate_sentiment(2, items=150, test_items=40, annotators=12, labels_per_item=3)
    write_simulated(made)
    return made


def test_the_mean_of_several_epochs_is_told_of(run: Run, reviews: Simulation) -> None:
    done = run(*WORDS, "--test", "test.csv", "-o", "out", "--epochs", 20, "--json")
    told = run(*WORDS, "--test", "test.csv", "-o", "again", "--epochs", 20)

    found = json.loads(done.out)
    outcome = json.loads(Path("out/config.json").read_text())["outcome"]
    chosen, since = outcome["chosen"], outcome["averaged_from"]
    assert (found["epoch"], found["averaged_from"], found["refit_epochs"]) == (
        chosen,
        since,
        min(max(chosen, since + 4), 20),
    )
    assert f"accuracy with weights averaged over epochs {since} to {found['refit_epochs']}" in told.out
    assert told.err.splitlines()[-1].endswith(
        f"epoch {chosen} of {found['epochs']} chosen, then {found['refit_epochs']} epochs with all labels, weights "
        f"averaged from epoch {since} -> again (clean labels: again/truth.csv)"
    )


def test_a_run_is_trained_and_told_of(run: Run, reviews: Simulation) -> None:
    done = run(*WORDS, "--rules", "but.rules", "--test", "test.csv", "-o", "out", "--epochs", 3)

    lines = done.err.splitlines()
    assert done.code == 0
    assert lines.pop(0) == "linear was chosen: no other installed classifier suits the size of the data and the time."
    assert lines[:3] == [
        f"labels.csv: {reviews.labels.n_labels} labels of 150 items by 12 annotators; classes negative, positive.",
        "No dev items: the labels of 10% of the items are held out for early stopping; the model is then refit with all labels.",
        "but.rules: 1 rule.",
    ]
    assert [line.split(":")[0] for line in lines[3:6]] == [f"epoch {t} of at most 3" for t in (1, 2, 3)]
    assert "held-out log likelihood -0." in lines[3]
    assert lines[-1].startswith("logic-lncl: 150 items, 12 annotators, epoch ")
    assert re.fullmatch(
        r"About \d+ of 150 labels are likely wrong: \d+ if annotators err independently, \d+ if they share their mistakes\. "
        r"Label 100 items at random and give them with --anchors to know it within 10 points\. On new items it is calibrated by the labels of 15 held-out ones\.",
        lines[-2],
    )
    again = [line for line in lines if line.startswith("refit with all labels, epoch ")]
    assert [line.split(":")[0].split("epoch ")[1] for line in again] == [
        f"{t} of {len(again)}" for t in range(1, len(again) + 1)
    ]
    assert not any("held-out" in line for line in again)
    assert f" of 3 chosen, then {len(again)} epoch{'s' * (len(again) != 1)} with all labels" in lines[-1]
    assert len(Path("out/refit.jsonl").read_text().splitlines()) == len(again)
    assert "test teacher" in done.out
    answers = pl.read_parquet("out/labels.parquet").join(pl.read_csv("gold.csv"), on="item")
    votes = (reviews.labels.votes().argmax(axis=1) == reviews.corpus.gold).mean()
    assert (answers["answer"] == answers["label"]).mean() > votes + 0.05
    assert json.loads(Path("out/config.json").read_text())["inputs"] == {
        "labels": "labels.csv",
        "items": "items.csv",
        "test": "test.csv",
        "rules": "but.rules",
        "epochs": 3,
        "chosen": {"model": "linear", "preset": None},
    }


def test_a_dev_set_stops_it_and_json_prints_the_figures(run: Run, reviews: Simulation) -> None:
    done = run(*WORDS, "--dev", "test.csv", "-o", "out", "--patience", 2, "--json")

    figures = json.loads(done.out)
    history = [json.loads(line) for line in Path("out/history.jsonl").read_text().splitlines()]
    assert "test.csv: 40 dev items for early stopping." in done.err.splitlines()
    assert "dev accuracy" in done.err
    assert figures["epochs"] == len(history) == figures["epoch"] + 2
    assert figures["stopping"] == max(row["stopping"] for row in history) == figures["scores"]["dev student"]


def test_training_items_among_the_dev_items_are_told_of(run: Run, reviews: Simulation) -> None:
    done = run(*WORDS, "--dev", "gold.csv", "-o", "out", "--epochs", 1)

    assert "150 of the dev items are training items, too: their score is too good." in done.err.splitlines()


def test_conll_labels_bring_their_own_tokens(run: Run) -> None:
    write_simulated(simulate_ner(2, items=40, test_items=10, annotators=8, labels_per_item=3))

    done = run("train", "--labels", "labels.conll", "--rules", "bio.rules", "-o", "out", "--epochs", 2)

    config = json.loads(Path("out/config.json").read_text())
    assert done.code == 0
    assert (config["sequential"], config["status"]) == (True, "done")
    assert "bio.rules: 8 rules." in done.err.splitlines()
    assert pl.read_parquet("out/labels.parquet").columns[:4] == ["item", "token", "answer", "confidence"]


def test_options_come_from_flags_over_a_file(run: Run, reviews: Simulation) -> None:
    Path("run.toml").write_text(
        'labels = "labels.csv"\nitems = "items.csv"\nseed = 5\nepochs = 9\n\n'
        '[set]\nprojector.strength = 2\nclassifier.ridge = 0.5\nimitation = {name = "constant", k = 0.25}\n'
    )

    done = run("train", "--config", "run.toml", "--epochs", 2, "--set", "classifier.ridge=0.01", "-o", "out")

    method = json.loads(Path("out/config.json").read_text())["method"]
    assert done.code == 0
    assert (method["limits"]["seed"], method["limits"]["epochs"], method["projector"]["strength"]) == (5, 2, 2.0)
    assert method["classifier"]["ridge"] == 0.01
    assert method["imitation"] == {"name": "constant", "k": 0.25}


@pytest.mark.parametrize("method", ["aggnet", "raykar", "two-stage", "gold"])
def test_every_method_makes_a_run(run: Run, reviews: Simulation, method: str) -> None:
    items = "gold.csv" if method == "gold" else "items.csv"

    done = run("train", "--labels", "labels.csv", "--items", items, "-m", method, "--epochs", 2, "-o", "out")
    predicted = run("predict", "out", "test.csv", "-o", "p.csv")

    assert (done.code, predicted.code) == (0, 0)
    assert len(pl.read_csv("p.csv")) == 40


def test_a_rule_that_contradicts_the_labels_is_named(run: Run, reviews: Simulation) -> None:
    Path("bad.rules").write_text(
        "0.2: Contains(S, 'the') -> Label(S, 'positive')\n0.1: Predicted(S, C) -> !Label(S, C)\n"
    )

    done = run(*WORDS, "--rules", "bad.rules", "--epochs", 3, "-o", "out")

    assert done.code == 0
    assert [
        line
        for line in done.err.splitlines()
        if line.startswith("bad.rules:2:1: ") and ": Drop it, or correct it: " in line
    ]


@pytest.mark.extension("networks")
@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            ["--labels", "labels.csv"],
            "labels.csv: this file contains labels but no texts. Pass the items: --items FILE.",
        ),
        (
            ["--items", "items.csv"],
            "There are no labels to learn from. Pass labels and items: --labels FILE --items FILE.",
        ),
        (
            ["--resume"],
            "out: there is no run to resume. Name the folder of an interrupted run with -o, or begin one: crowdlogic train --labels FILE --items FILE -o out",
        ),
        ([*WORDS[1:], "--rules", "no.rules"], "no.rules: there is no such rule file."),
        (
            [*WORDS[1:], "--model", "bert"],
            f"No classifier is called 'bert'. There are {', '.join(CLASSIFIERS)}.",
        ),
        ([*WORDS[1:], "--set", "epoch=3"], "epoch: unknown option. Did you mean 'limits.epochs'?"),
        (
            [*WORDS[1:], "--set", "strength"],
            "--set 'strength': write name=value, such as projector.strength=4 or classifier.filters=50.",
        ),
        (
            [*WORDS[1:], "-m", "aggnet", "--rules", "but.rules"],
            "aggnet does not support rules. Use logic-lncl, or leave the rules out.",
        ),
        ([*WORDS[1:], "-m", "gold"], "The items have no gold to train on. Add gold, or choose another method."),
        ([*WORDS[1:], "--dev", "items.csv"], "The dev items have no gold. Add gold, or leave them out."),
        ([*WORDS[1:], "--vectors", "no.txt"], "no.txt: no such file."),
        (
            [*WORDS[1:], "--model", "kim-cnn", "--set", "classifier.vectors.x=1"],
            "classifier.vectors: word vectors cannot be set as an option. Give their file: --vectors FILE.",
        ),
        (
            [*WORDS[1:], "--column", "label=my_tag"],
            "--column label=my_tag: no column 'my_tag' in items.csv, labels.csv.",
        ),
        (["--labels", "l\udcff.csv"], "l\\udcff.csv: the file's name is not UTF-8. Rename the file."),
        (["--config", "three.toml"], "three.toml: set: expected a table, got 3."),
        (["--config", "odd.toml"], "odd.toml: label: unknown option. Did you mean 'labels'?"),
        ([*WORDS[1:], "-o", "no/out"], "no/out: the folder no does not exist. Create it first."),
        ([*WORDS[1:], "-o", "other"], "other: contains other files but no run. Choose a new or an empty folder."),
        ([*WORDS[1:], "--table", "Near"], "--table 'Near': write Name=file, such as Similar=similar.csv."),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(
    run: Run, reviews: Simulation, words: list[str], line: str
) -> None:
    Path("other").mkdir()
    Path("other/mine.txt").write_text("mine")
    Path("odd.toml").write_text('label = "labels.csv"\n')
    Path("three.toml").write_text("set = 3\n")
    before = sorted(map(str, Path().rglob("*")))

    done = run("train", *words, *([] if "-o" in words else ["-o", "out"]))

    assert (done.code, done.out) == (2, "")
    (last,) = [said for said in done.err.splitlines() if said.startswith("crowdlogic: ")]
    assert last.startswith(f"crowdlogic: {line}")
    assert sorted(map(str, Path().rglob("*"))) == before


def test_a_broken_rule_points_with_a_caret(run: Run, reviews: Simulation) -> None:
    Path("bad.rules").write_text("1: Contains(S, 'x') -> Label(S, 'positve')\n")

    done = run(*WORDS, "--rules", "bad.rules", "-o", "out")

    assert done.code == 2
    assert done.err.splitlines()[-3:] == [
        "crowdlogic: bad.rules:1:33: 'positve' is not a class. Did you mean 'positive'? The classes are negative, positive.",
        "    1: Contains(S, 'x') -> Label(S, 'positve')",
        "                                    ^",
    ]
    assert not Path("out").exists()


def test_a_folder_that_holds_a_run_is_not_written_over(run: Run, reviews: Simulation) -> None:
    run(*WORDS, "-o", "out", "--epochs", 1)
    before = {file: file.read_bytes() for file in Path("out").iterdir()}

    again = run(*WORDS, "-o", "out")
    resumed = run("train", "--resume", "-o", "out")

    assert (again.code, resumed.code) == (2, 2)
    assert again.err == "crowdlogic: out: contains a completed run. Choose another folder, or remove this one first.\n"
    assert resumed.err == (
        "crowdlogic: out: this run is already done. Use it with predict, explain or report, or "
        "train into another folder.\n"
    )
    assert {file: file.read_bytes() for file in Path("out").iterdir()} == before


SLOW = ("--rules", "but.rules", "--epochs", "4", "--seed", "3", "--set", "classifier.steps=150", "--set", "classifier.ridge=1e-9")  # fmt: skip
"""Epochs of a good part of a second, so that there is time to kill one."""


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with many reviews and, in whole, the run that SLOW ends in when nothing interrupts it."""
    folder = tmp_path_factory.mktemp("many")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        write_simulated(simulate_sentiment(4, items=800, test_items=5, annotators=20, labels_per_item=4))
        words = [sys.executable, "-m", "crowdlogic", *WORDS, *SLOW, "-o", "whole"]
        subprocess.run(words, capture_output=True, check=True)
    return folder


@pytest.fixture
def many(run: Run, uninterrupted: Path) -> None:
    """The same files and the same run in the folder of the test."""
    shutil.copytree(uninterrupted, ".", dirs_exist_ok=True)


def begun(folder: str) -> subprocess.Popen[str]:
    """A training in a process of its own, with an epoch or two behind it."""
    words = [sys.executable, "-m", "crowdlogic", *WORDS, *SLOW, "-o", folder]
    return subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ})


def wait_for(epochs: int, folder: str, process: subprocess.Popen[str], file: str = "history.jsonl") -> None:
    """Until that many epochs are done."""
    history, deadline = Path(folder) / file, time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        if history.exists() and len(history.read_text().splitlines()) >= epochs:
            return
        time.sleep(0.005)
    raise AssertionError(f"no {epochs} epochs were seen: {process.communicate()}")


def answers(folder: str) -> pl.DataFrame:
    return pl.read_parquet(f"{folder}/labels.parquet")


def test_a_run_killed_in_an_epoch_goes_on_and_ends_the_same(run: Run, many: None) -> None:
    process = begun("killed")
    wait_for(2, "killed", process)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    config = json.loads(Path("killed/config.json").read_text())
    refused = run(*WORDS, *SLOW, "-o", "killed")
    unfinished = run("predict", "killed", "test.csv", "-o", "p.csv")
    other = run("train", "--resume", "-o", "killed", "--set", "projector.strength=1", "--items", "gold.csv")

    resumed = run("train", "--resume", "-o", "killed")

    assert (process.returncode, config["status"]) == (-signal.SIGKILL, "running")
    assert refused.code == 2
    assert refused.err == (
        "crowdlogic: killed: contains a run that stopped after epoch 2. Resume it with crowdlogic train --resume -o killed; "
        "or name another folder.\n"
    )
    assert unfinished.err == (
        "crowdlogic: killed: the run is not done (running). Finish it: crowdlogic train --resume -o killed\n"
    )
    assert other.code == 2
    assert other.err.splitlines()[-1] == (
        "crowdlogic: killed: the checkpoint belongs to a fit with other items, options. Use those of the interrupted "
        "run, or name another folder."
    )
    assert resumed.code == 0
    assert [line.split(" of")[0] for line in resumed.err.splitlines() if line.startswith("epoch")] == [
        "epoch 3",
        "epoch 4",
    ]
    assert answers("killed").equals(answers("whole"))  # answers and beliefs, to the last bit
    for part in ("annotators.safetensors", "model.safetensors", "rules.json"):
        assert Path("killed", part).read_bytes() == Path("whole", part).read_bytes()
    assert not Path("killed/checkpoint").exists()


def test_a_run_killed_in_its_second_pass_goes_on_and_ends_the_same(run: Run, many: None) -> None:
    process = begun("killed")
    wait_for(1, "killed", process, file="refit.jsonl")
    process.send_signal(signal.SIGKILL)
    process.communicate()
    done = len(Path("killed/refit.jsonl").read_text().splitlines())
    refused = run(*WORDS, *SLOW, "-o", "killed")

    resumed = run("train", "--resume", "-o", "killed")

    chosen = len(Path("whole/refit.jsonl").read_text().splitlines())
    assert process.returncode == -signal.SIGKILL
    assert refused.err.startswith(
        f"crowdlogic: killed: contains a run that stopped after epoch {done} of the second pass."
    )
    assert resumed.code == 0
    assert [line.split(":")[0] for line in resumed.err.splitlines() if "epoch " in line.split(":")[0]] == [
        f"refit with all labels, epoch {t} of {chosen}" for t in range(done + 1, chosen + 1)
    ]
    assert answers("killed").equals(answers("whole"))
    for part in ("annotators.safetensors", "model.safetensors", "rules.json"):
        assert Path("killed", part).read_bytes() == Path("whole", part).read_bytes()
    assert not list(Path("killed").glob("checkpoint*"))


def test_ctrl_c_leaves_a_run_that_can_be_gone_on_with(run: Run, many: None) -> None:
    process = begun("out")
    wait_for(1, "out", process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    config = json.loads(Path("out/config.json").read_text())
    done = len(Path("out/history.jsonl").read_text().splitlines())

    resumed = run("train", "--resume", "-o", "out", "--epochs", 4)

    assert process.returncode == 130
    assert err.splitlines()[-1] == (
        f"crowdlogic: interrupted after epoch {done}. Resume it with crowdlogic train --resume -o out"
    )
    assert "Traceback" not in err
    assert config["status"] == "interrupted"
    assert resumed.code == 0
    assert answers("out").equals(answers("whole"))


def test_resuming_where_there_is_nothing_begins(run: Run, reviews: Simulation) -> None:
    done = run(*WORDS, "--resume", "-o", "out", "--epochs", 1)

    assert done.code == 0
    assert Path("out/labels.parquet").exists()


@pytest.mark.extension("networks")
def test_nothing_needs_torch_for_the_linear_model(run: Run, reviews: Simulation) -> None:
    code = "import sys; sys.modules['torch'] = None; from crowdlogic.cli.app import main; main()"
    words = [sys.executable, "-c", code, *WORDS, "--rules", "but.rules", "--epochs", "1", "-o", "out"]

    done = subprocess.run(words, capture_output=True, text=True, check=False, env={**os.environ})
    asked = subprocess.run(
        [*words[:-1], "cnn", "--model", "kim-cnn"], capture_output=True, text=True, check=False, env={**os.environ}
    )

    assert (done.returncode, Path("out/labels.parquet").exists()) == (0, True)
    assert (asked.returncode, asked.stderr) == (
        2,
        "crowdlogic: kim-cnn needs the package torch, which is not installed: pip install crowdlogic[torch]\n",
    )


def test_weak_labels_of_unlabelled_items_are_told_of(run: Run, reviews: Simulation) -> None:
    kept = pl.read_csv("labels.csv")
    kept.filter(pl.col("item") != kept["item"][0]).write_csv("labels.csv")

    done = run(*WORDS, "-o", "out", "--epochs", 1)

    assert "1 item has no labels: answered, but not learnt from." in done.err.splitlines()
    assert len(answers("out")) == 150
    assert np.isfinite(answers("out")["p_positive"].to_numpy()).all()


def test_a_column_is_looked_for_in_the_files_that_have_it(run: Run, reviews: Simulation) -> None:
    run(*WORDS, "--dev", "test.csv", "-o", "plain", "--epochs", 2)
    pl.read_csv("labels.csv").rename({"label": "my_tag", "item": "what"}).write_csv("labels.csv")
    pl.read_csv("items.csv").rename({"item": "what"}).write_csv("items.csv")
    pl.read_csv("test.csv").rename({"label": "my_tag"}).write_csv("test.csv")

    done = run(
        *WORDS, "--dev", "test.csv", "--column", "label=my_tag", "--column", "item=what", "-o", "out", "--epochs", 2
    )
    audited = run(
        "rules",
        "audit",
        "but.rules",
        "labels.csv",
        "--items",
        "items.csv",
        "--column",
        "label=my_tag",
        "--column",
        "item=what",
        "--run",
        "out",
    )

    assert (done.code, audited.code) == (0, 0)
    assert answers("out").equals(answers("plain"))


def test_the_layout_is_that_of_every_file_whose_suffix_does_not_say(run: Run) -> None:
    write_simulated(simulate_ner(2, items=40, test_items=10, annotators=8, labels_per_item=3))
    Path("labels.conll").rename("labels.txt")
    Path("test.conll").rename("dev.txt")

    done = run("train", "--labels", "labels.txt", "--dev", "dev.txt", "--format", "conll", "-o", "out", "--epochs", 1)

    assert done.code == 0
    assert "dev.txt: 10 dev items for early stopping." in done.err.splitlines()


def test_the_grammar_of_bio_tags_is_on_by_default_and_said(run: Run) -> None:
    write_simulated(simulate_ner(2, items=40, test_items=10, annotators=8, labels_per_item=3))
    words = ("train", "--labels", "labels.conll", "--epochs", 2)

    by_default = run(*words, "-o", "with")
    without = run(*words, "--no-grammar", "-o", "without")
    preset = run(*words, "--preset", "ner", "--model", "linear", "-o", "preset")

    said = "The tags are BIO: rules keep to their grammar (include bio). Leave it out: --no-grammar."
    assert said in by_default.err.splitlines()
    assert len(load_run("with").audit) == 8
    assert "grammar" not in without.err + preset.err
    assert len(load_run("without").audit) == 0


def test_rules_of_the_users_own_keep_the_grammar_beside_them_unless_they_include_it(run: Run) -> None:
    write_simulated(simulate_ner(2, items=40, test_items=10, annotators=8, labels_per_item=3))
    Path("own.rules").write_text("1.0: Token(T, 'of') -> Label(T, 'O')\n")
    words = ("train", "--labels", "labels.conll", "--epochs", 1)

    run(*words, "--rules", "own.rules", "-o", "own")
    included = run(*words, "--rules", "bio.rules", "-o", "included")

    assert len(load_run("own").audit) == 9
    assert "grammar" not in included.err
    assert len(load_run("included").audit) == 8


def test_items_whose_truth_is_known_are_learnt_from(run: Run) -> None:
    made = simulate_sentiment(2, items=150, test_items=40, annotators=12, labels_per_item=3)
    write_simulated(made)
    names = ["negative", "positive"]
    gold = dict(zip(made.corpus.items.to_list(), (names[k] for k in made.corpus.gold), strict=True))
    some = {item: gold[item] for item in list(gold)[:60]}
    Path("known.csv").write_text("ticket,label\n" + "".join(f"{item},{label}\n" for item, label in some.items()))
    words = (*WORDS, "--rules", "but.rules", "--epochs", 3)

    done = run(*words, "--anchors", "known.csv", "--column", "item=ticket", "-o", "anchored")
    run(*words, "-o", "plain")
    shown = run("explain", "anchored", next(iter(some)))
    reported = run("report", "anchored", "-o", "r.html")

    assert done.code == 0
    assert "known.csv: the truth of 60 items is known, and learnt from." in done.err
    anchored, plain = (load_run(folder).estimate for folder in ("anchored", "plain"))
    right = {item: label == gold[item] for item, label in zip(anchored.items, anchored.answer_names(), strict=True)}
    assert all(right[item] for item in some)
    assert (anchored.confidence[:60] == 1.0).all()
    assert not (plain.confidence[:60] == 1.0).all()
    assert "the given truth (anchor)" in shown.out
    assert reported.code == 0


@pytest.mark.extension("paper")
def test_a_method_that_cannot_use_known_truth_says_so(run: Run) -> None:
    write_simulated(simulate_ner(2, items=40, test_items=10, annotators=8, labels_per_item=3))

    done = run("train", "--labels", "labels.conll", "--anchors", "gold.conll", "-m", "crf-ma", "-o", "out")

    assert done.code == 2
    assert done.err.splitlines()[-1] == (
        "crowdlogic: crf-ma does not support anchors. Use logic-lncl, aggnet, raykar or two-stage, or leave the anchors out."
    )
    assert not Path("out").exists()
