"""Every command and every Python block of the README runs, in order, on files that this test writes.

A command is a line of an indented or fenced block that begins with `crowdlogic`, `pip` or `make`, with or without `$`. Its
input files are in `write_inputs`; a README that names others fails here until they are added there.
"""

from __future__ import annotations

import re
import shlex
import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from tests.cli.conftest import Result, run  # noqa: F401 (a fixture)
from tests.extensions.tools.test_tool_guides import make_label_studio, make_promptfoo

from crowdlogic.data.reading import write_corpus, write_labels
from crowdlogic.data.simulate import Simulation, simulate_ner, simulate_sentiment

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
OUTPUTS = ("-o", "--out", "--annotators", "--save")
"""Options that name a file or folder which exists after the command."""
MAY_FIND = ("doctor", "rules")
"""Commands that exit with 1 if they find something."""


def python_blocks(text: str = README) -> list[str]:
    return re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)


def shell_lines(text: str = README) -> list[str]:
    """Return the lines of all blocks that are not Python, continued lines joined."""
    fences = re.compile(r"^```(\w*)\n(.*?)^```", flags=re.DOTALL | re.MULTILINE)
    fenced = fences.sub(lambda found: "" if found[1] == "python" else re.sub(r"(?m)^", "    ", found[2]), text)
    joined = fenced.replace("\\\n", " ")
    return [line.strip().removeprefix("$ ") for line in joined.splitlines() if line.startswith("    ")]


def commands(program: str, text: str = README) -> list[list[str]]:
    """Return the words after the program, for every command line of the README in order."""
    found = [line for line in shell_lines(text) if re.match(rf"{program} ", line)]
    return [shlex.split(line, comments=True)[1:] for line in found]


def rename_items(made: Simulation) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return labels (item, annotator, label) and items (item, text, label), with items named review_1, review_2, ..."""
    items = made.corpus.to_frame().with_row_index("n", offset=1)
    items = items.with_columns(name=pl.format("review_{}", "n"))
    labels = made.labels.to_frame().join(items.select("item", "name"), on="item", maintain_order="left")
    return (
        labels.select(item="name", annotator="annotator", label="label"),
        items.select(item="name", text="text", label="label"),
    )


def write_inputs(folder: Path) -> None:
    """Write every file that the README takes for granted."""
    labels, items = rename_items(simulate_sentiment(2, items=120, test_items=20, annotators=8, labels_per_item=4))
    labels.write_csv(folder / "labels.csv")
    items.drop("label").write_csv(folder / "items.csv")
    items.drop("text").write_csv(folder / "gold.csv")
    items.drop("text").sample(30, seed=0).write_csv(folder / "known.csv")
    items.drop("label").head(10).with_columns(item=pl.format("new_{}", "item")).write_csv(folder / "new.csv")
    tickets = labels.join(items.drop("label"), on="item").select(
        Nr="item", Who="annotator", Opinion="label", Wording="text"
    )
    tickets.to_pandas().to_excel(folder / "tickets.xlsx", index=False)
    (folder / "my.rules").write_text("1.0: Label(S, C) & After(S, 'but', B) -> Predicted(B, C)\n")
    tagged = simulate_ner(2, items=40, test_items=5, annotators=5, labels_per_item=3)
    write_labels(folder / "answers.conll", tagged.labels, corpus=tagged.corpus)
    write_corpus(folder / "gold.conll", tagged.corpus)
    make_label_studio()  # export.json, in the current folder
    make_promptfoo()  # results.json


@pytest.fixture
def inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with the input files, and no data sets."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CROWDLOGIC_DATA", raising=False)
    write_inputs(tmp_path)
    return tmp_path


def serve_and_decide(words: list[str]) -> None:
    """Start a review, decide some items and end it with Ctrl-C."""
    pytest.importorskip("fastapi")
    from tests.extensions.review.served import serving

    with serving(*words) as served:
        for item in served.ask("queue?reviewer=ann&most=3")["items"]:
            body = {"request": f"readme-{item['item']}", "item": item["item"], "reviewer": "ann", "answer": "positive"}
            served.ask("decisions", body)
    assert served.process.returncode in (0, 130, -signal.SIGINT)


def start_and_interrupt(words: list[str]) -> None:
    """Start a command that takes minutes, wait until it works, and end it with Ctrl-C."""
    command = [sys.executable, "-m", "crowdlogic", *words]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert any("to do" in line for line in process.stderr)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=120)
    assert process.returncode in (130, -signal.SIGINT)


def train_and_interrupt(words: list[str], run: Callable[..., Result]) -> None:  # noqa: F811
    """Start a training and press Ctrl-C when the first epoch is shown."""
    shown: list[str] = []

    def interrupt(*sentences: str) -> None:
        shown.extend(sentences)
        if any(sentence.startswith("epoch") for sentence in sentences):
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("crowdlogic.cli.train.say", interrupt)
        assert run(*words).code == 130, shown


def run_line(words: list[str], run: Callable[..., Result]) -> None:  # noqa: F811
    """Run one command of the README and check its exit code and that what it should write is there."""
    if words[0] == "review":
        serve_and_decide(words[1:])
        return
    if words[0] == "reproduce" and "--quick" in words:
        pytest.importorskip("torch")
        start_and_interrupt(words)
        return
    done = run(*words)
    line = shlex.join(["crowdlogic", *words])
    if words[0] == "reproduce":  # needs the paper's data
        assert (done.code, "CROWDLOGIC_DATA" in done.err or "torch" in done.err) == (2, True), (line, done.err)
        return
    assert done.code == 0 or (done.code == 1 and words[0] in MAY_FIND), (line, done.err)
    assert "Traceback" not in done.err, line
    for option, path in pairwise(words):
        assert option not in OUTPUTS or path == "-" or Path(path).exists(), line


def test_every_command_runs_in_the_order_of_the_readme(inputs: Path, run: Callable[..., Result]) -> None:  # noqa: F811
    lines = commands("crowdlogic")
    assert lines

    resumed = {words[words.index("-o") + 1] for words in lines if words[:2] == ["train", "--resume"]}
    for words in lines:
        if words[0] == "train" and "--resume" not in words and words[words.index("-o") + 1] in resumed:
            train_and_interrupt(words, run)
        else:
            run_line(words, run)


def test_the_first_steps_run_in_order(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    run: Callable[..., Result],  # noqa: F811
) -> None:
    monkeypatch.chdir(tmp_path)

    for words in commands("crowdlogic", (ROOT / "docs" / "tutorials" / "first-steps.md").read_text(encoding="utf-8")):
        run_line(words, run)


def test_the_commands_that_are_not_ours_name_targets_and_extras_that_exist() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    extras = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"])

    assert {word for words in commands("make") for word in words} <= targets
    assert set(re.findall(r"crowdlogic\[([\w,]+)\]", README)) <= extras


def test_columns_with_other_names_leave_a_report_and_a_list_to_check(inputs: Path, run: Callable[..., Result]) -> None:  # noqa: F811
    page = (ROOT / "docs" / "how-to" / "spreadsheets.md").read_text(encoding="utf-8")

    looked, *done = [run(*words) for words in commands("crowdlogic", page)]

    (guess,) = [line for line in looked.out.splitlines() if "this may work" in line]
    assert guess.endswith("--column item=Nr --column annotator=Who --column label=Opinion --column text=Wording")
    assert [one.code for one in done] == [0, 0]
    to_check = pd.read_excel(inputs / "truth.relabel.xlsx")
    assert list(to_check.columns[:5]) == ["item", "text", "label", "confidence", "votes"]
    assert to_check["confidence"].is_monotonic_increasing


def test_every_python_block_runs(inputs: Path) -> None:
    space: dict[str, Any] = {}

    for block in python_blocks():
        exec(compile(block, "README.md", "exec"), space)  # noqa: S102 (our own text)

    assert space["learned"].predict(["grand", "dull"]).shape == (2, 2)
    assert space["learned"].teacher.n_rules == 1
    assert (inputs / "report.html").is_file()


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 120
