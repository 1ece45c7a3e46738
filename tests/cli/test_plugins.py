"""Things that another installed package adds through entry points: in help texts, in errors, and at work."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.toy_package import LABELS, install, run_crowdlogic


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(tmp_path_factory.mktemp("site"))


def unwrap(text: str) -> str:
    """A help text on one line; names are broken at their hyphens."""
    return re.sub(r"-\s+", "-", " ".join(text.split()))


@pytest.mark.extension("compat")
def test_a_truth_method_and_a_format_are_listed_and_work(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "labels.semi").write_text(LABELS)

    shown = run_crowdlogic(installed, tmp_path, "aggregate", "--help")
    done = run_crowdlogic(installed, tmp_path, "aggregate", "-m", "toy", "labels.semi", "-o", "o.csv")
    refused = run_crowdlogic(installed, tmp_path, "aggregate", "-m", "toi", "labels.semi", "-o", "p.csv")

    assert "m-msr, toy." in unwrap(shown.stdout)
    assert "semi" in run_crowdlogic(installed, tmp_path, "convert", "--formats").stdout.split()
    assert (done.returncode, done.stderr) == (0, "toy: 2 items, 2 annotators -> o.csv\n")
    assert (tmp_path / "o.csv").read_text().splitlines()[1:] == [
        "u,y,0.89,0.10999999999999999,0.89",
        "v,y,0.89,0.10999999999999999,0.89",
    ]
    assert refused.returncode == 2
    assert refused.stderr.startswith("crowdlogic: No truth method is called 'toi'. Did you mean 'toy'?")
    assert refused.stderr.endswith("m-msr, toy.\n")


@pytest.mark.extension("paper")
def test_a_learning_method_a_classifier_and_a_predicate_are_listed_and_work(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "labels.semi").write_text(LABELS)
    (tmp_path / "items.csv").write_text("item,text\nu,so good!\nv,so so\n")
    (tmp_path / "my.rules").write_text("1.0: Shouts(S) -> Label(S, 'x')\n")
    words = (
        "--labels",
        "labels.semi",
        "--items",
        "items.csv",
        "--rules",
        "my.rules",
        "--epochs",
        "1",
        "--set",
        "limits.held_out=none",
        "-o",
        "out",
    )

    shown = run_crowdlogic(installed, tmp_path, "train", "--help")
    done = run_crowdlogic(installed, tmp_path, "train", "-m", "toy-learner", "--model", "toy-model", *words)

    assert "crf-ma, toy-learner." in unwrap(shown.stdout)
    assert "transformer, toy-model." in unwrap(shown.stdout)
    assert done.returncode == 0, done.stderr
    assert "my.rules: 1 rule." in done.stderr
    method = json.loads((tmp_path / "out/config.json").read_text())["method"]
    assert (method["name"], method["classifier"]["name"]) == ("toy-learner", "toy-model")
