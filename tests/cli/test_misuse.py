"""Sixty wrong turns on the command line: each ends with one whole sentence that says where, what, and what to do."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import pytest
from tests.cli.conftest import BUT, Result

from crowdlogic.data.formats.protocol import all_suffixes, usual_suffixes
from crowdlogic.data.simulate import simulate_sentiment
from crowdlogic.errors import name_list
from crowdlogic.registry import CLASSIFIERS, FORMATS, TRUTH_METHODS
from crowdlogic.workflows.simulate import write_simulation
from crowdlogic.workflows.train import TrainOptions, prepare_training

Run = Callable[..., Result]

LISTS = {
    "{methods}": TRUTH_METHODS,
    "{classifiers}": CLASSIFIERS,
    "{formats}": FORMATS,
    "{suffixes}": all_suffixes(),
    "{written}": usual_suffixes("encode_estimate"),
    "{options}": [name_list([one.name for one in fields(TrainOptions)], most=20)],
}
"""Lists that messages quote, which grow with the registries."""

MESSAGES = json.loads((Path(__file__).parent / "misuse.json").read_text(encoding="utf-8"))
"""What a user typed, and the whole message that came back."""


def whole_message(typed: str) -> str:
    message: str = MESSAGES[typed]
    for mark, names in LISTS.items():
        message = message.replace(mark, ", ".join(names))
    return message


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files that a newcomer may have at hand, and a run; nothing in it is changed by a wrong turn."""
    folder = tmp_path_factory.mktemp("newcomer")
    write_simulation(simulate_sentiment(2, items=40, test_items=10, annotators=6, labels_per_item=3), folder)
    (folder / "README.txt").unlink()
    for name, text in TEXTS.items():
        (folder / name).write_text(text)
    (folder / "empty").mkdir()
    options = TrainOptions(labels=f"{folder}/labels.csv", items=f"{folder}/gold.csv", epochs=1)
    prepare_training(options, folder / "run").train()
    return folder


TEXTS = {
    "l.csv": "item,annotator,label\nu,a,x\nu,b,y\nv,a,y\nv,b,y\n",
    "own.csv": "nr,wer,was\n1,ann,spam\n1,bob,ham\n",
    "twice.csv": "item,annotator,label\nu,a,x\nu,a,y\nu,a,x\n",
    "scores.csv": "item,annotator,label\nu,a,0.5\nv,a,1.5\n",
    "lists.csv": 'item,annotator,label\nu,a,"[""x"", ""y""]"\n',
    "header.csv": "item,annotator,label\n",
    "nothing.csv": "",
    "ragged.csv": "item,annotator,label\nu,a\n",
    "items.csv": "item,text\nu,one\nv,two\n",
    "bare.csv": "item,label\nu,x\n",
    "tags.conll": "EU B-ORG O\nrejects O O\n",
    "but.rules": BUT,
    "bad.rules": "1.0: Lable(S, 'x') -> Label(S, 'y')\n",
    "own.rules": "1.0: Near(A, B) & Label(A, C) -> Label(B, C)\n",
    "broken.rules": "1.0: Label(S, 'x' -> Label(S, 'y')\n",
    "notes.txt": "dear diary\n",
    "wrong.toml": "epoch = 3\n",
}


@pytest.mark.extension("networks", "paper")
@pytest.mark.parametrize("typed", MESSAGES)
def test_a_wrong_turn_is_one_whole_sentence(
    files: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], typed: str
) -> None:
    from crowdlogic.cli.app import main

    before = {path: path.stat().st_mtime_ns for path in files.rglob("*")}
    monkeypatch.chdir(files)
    monkeypatch.setattr("sys.argv", ["crowdlogic", *shlex.split(typed)])

    with pytest.raises(SystemExit) as stopped:
        main()

    out, err = capfd.readouterr()
    assert (stopped.value.code, out) == (2, "")
    assert err.removeprefix("crowdlogic: ").rstrip("\n") == whole_message(typed)
    assert {path: path.stat().st_mtime_ns for path in files.rglob("*")} == before


def test_there_are_sixty_of_them() -> None:
    assert len(MESSAGES) >= 60
