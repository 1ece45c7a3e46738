"""Reports, called from Python."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.workflows.conftest import Trained

from crowdlogic.errors import OptionError
from crowdlogic.workflows.report import ReportOptions, write_report


def test_a_run_is_compared_with_other_methods_and_explained(trained: Trained, tmp_path: Path) -> None:
    out = tmp_path / "r.html"

    written = write_report(
        ReportOptions(folder=trained.file("run"), out=str(out), methods=["majority"], gold=trained.file("gold.csv"), max_items=2)
    )  # fmt: skip

    figures = json.loads(out.with_suffix(".json").read_text())
    methods = {row["name"]: row for row in figures["comparison"]["methods"]}
    assert written.page == out
    assert written.message.endswith(f" -> {out} (r.json beside it)")
    assert set(methods) == {"majority", "logic-lncl"}
    assert len(figures["labels"]["doubts"]) == 2
    assert figures["labels"]["doubts"][0]["evidence"] is not None
    assert written.plots == ()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"out": "r.pdf"}, r"r\.pdf: a report is a page with its figures beside it\. Name an \.html file\."),
        ({"out": "no/r.html"}, r"the folder no does not exist\. Create it first\."),
        ({"items": "x.csv"}, r"a run contains its labels and items\. Leave --labels and --items out\."),
        ({"methods": ()}, r"--compare: no method is named\."),
    ],
)
def test_what_makes_no_report_is_refused(
    trained: Trained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)

    with pytest.raises(OptionError, match=message):
        write_report(ReportOptions(folder=trained.file("run"), **options))  # type: ignore[arg-type]

    assert not list(tmp_path.iterdir())


def test_the_message_names_careless_and_biased_annotators_alike(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(3, size=150)
    lines = ["item,annotator,label"]
    for who, right in {**{f"good{n}": 0.85 for n in range(6)}, "carla": 0.5, "bert": 0.9}.items():
        given = np.where(rng.random(150) < right, truth, (truth + rng.integers(1, 3, size=150)) % 3)
        given = np.where((truth == 0) & (rng.random(150) < 0.75), 1, given) if who == "bert" else given
        lines += [f"i{i},{who},{'abc'[k]}" for i, k in enumerate(given.tolist())]
    (tmp_path / "labels.csv").write_text("\n".join(lines))

    written = write_report(ReportOptions(folder=str(tmp_path / "labels.csv"), out=str(tmp_path / "r.html")))

    assert " Flagged: carla (careless), bert (biased). -> " in written.message
