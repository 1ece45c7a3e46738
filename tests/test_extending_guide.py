"""docs/how-to/extending.md runs as it stands: its parts in Python, and in the commands once a package names them."""

from __future__ import annotations

import re
import shlex
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.toy_package import run_crowdlogic

import crowdlogic
from crowdlogic.data.reading import write_corpus, write_labels
from crowdlogic.data.simulate import simulate_sentiment
from crowdlogic.testing import check_classifier, check_predicate, check_truth_method
from crowdlogic.truth.majority import MajorityVote

GUIDE = (Path(__file__).parents[1] / "docs" / "how-to" / "extending.md").read_text(encoding="utf-8")
MODULE, USE = re.findall(r"```python\n(.*?)```", GUIDE, flags=re.DOTALL)
(PYPROJECT,) = re.findall(r"```toml\n(.*?)```", GUIDE, flags=re.DOTALL)
COMMANDS = re.findall(r"^    crowdlogic (.*)$", GUIDE, flags=re.MULTILINE)

MADE = simulate_sentiment(2, items=80, annotators=7, labels_per_item=4)
ALIKE = [str(MADE.corpus.items[i]) for i in np.flatnonzero(MADE.corpus.gold == 0).tolist()]
SIMILAR = {"a": ALIKE[:10], "b": ALIKE[10:20]}
"""Pairs of reviews that are of one class."""


def install(site: Path) -> Path:
    """Leave the package of the guide in a folder as pip would."""
    info = site / "my_parts-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "my_parts.py").write_text(MODULE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-parts\nVersion: 1.0\n")
    groups = tomllib.loads(PYPROJECT)["project"]["entry-points"]
    entries = {group: "".join(f"{name} = {what}\n" for name, what in made.items()) for group, made in groups.items()}
    (info / "entry_points.txt").write_text("\n".join(f"[{group}]\n{made}" for group, made in entries.items()))
    return site


@pytest.fixture
def my_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The file of the guide can be imported; no package is installed."""
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "my_parts.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path / "code")
    yield
    sys.modules.pop("my_parts", None)


@pytest.mark.usefixtures("my_parts")
def test_the_parts_conform() -> None:
    from my_parts import SHOUTING, HashedWords, Shares  # type: ignore[import-not-found]

    check_truth_method(Shares())
    check_classifier(HashedWords(), skip=["nothing_to_predict"])  # scikit-learn vectorises at least one text
    check_predicate(SHOUTING)


@pytest.mark.usefixtures("my_parts")
def test_the_parts_work_in_python_and_a_run_takes_them_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    space: dict[str, Any] = {
        "crowdlogic": crowdlogic,
        "labels": MADE.labels,
        "items": MADE.corpus,
        "similar": pl.DataFrame(SIMILAR),
    }

    with pytest.warns(crowdlogic.errors.CrowdLogicWarning, match="Python") as said:
        exec(compile(USE, "docs/how-to/extending.md", "exec"), space)  # noqa: S102 (our own text)

    assert len(said) == 2  # the predicate and the classifier are code
    assert space["learned"].teacher.n_rules == 3
    right = (space["learned"].estimate.answer == MADE.corpus.gold).mean()
    assert right > (MajorityVote().infer(MADE.labels).answer == MADE.corpus.gold).mean()
    assert space["staged"].estimate.method == "shares + linear"
    texts = ["DULL BUT GRAND", "grand"]
    np.testing.assert_allclose(space["again"].predict(texts), space["learned"].predict(texts), rtol=0, atol=1e-9)


def test_the_commands_of_the_guide_know_the_parts_of_the_package(tmp_path: Path) -> None:
    site = install(tmp_path / "site")
    write_labels(tmp_path / "labels.csv", MADE.labels)
    write_corpus(tmp_path / "items.csv", MADE.corpus)
    (tmp_path / "new.csv").write_text("text\na grand film\n")
    (tmp_path / "similar.csv").write_text(
        "".join(f"{a},{b}\n" for a, b in zip(["a", *SIMILAR["a"]], ["b", *SIMILAR["b"]], strict=True))
    )
    (rules,) = re.findall(r'rules = """\n(.*?)"""', USE, flags=re.DOTALL)
    (tmp_path / "my.rules").write_text(rules)

    for command in COMMANDS:
        words = shlex.split(command) + (["--epochs", "2"] if command.startswith("train") else [])
        done = run_crowdlogic(site, tmp_path, *words)
        assert (done.returncode, "Traceback" in done.stderr) in {(0, False), (1, False)}, done.stderr

    assert (tmp_path / "truth.csv").read_text().startswith("item,label,confidence")
    assert (tmp_path / "answers.csv").read_text().count("\n") == 2
    assert '"hashed-words"' in (tmp_path / "run" / "config.json").read_text()
    assert len(COMMANDS) == 5
