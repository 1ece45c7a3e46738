"""A report from Python, of whatever one has at hand."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from tests.workflows.conftest import Trained

from crowdlogic.data.reading import read_labels
from crowdlogic.errors import OptionError
from crowdlogic.workflows.report import report


def test_a_run_its_folder_and_what_fit_gave_make_the_same_page(trained: Trained, tmp_path: Path) -> None:
    run = trained.outcome.run

    pages = [report(one, tmp_path / "r.html") for one in (run, trained.folder / "run", run.learned)]

    assert pages[0].report.pages["labels"] == pages[1].report.pages["labels"] == pages[2].report.pages["labels"]
    assert pages[0].report.pages["labels"].doubts[0].evidence is not None
    assert (tmp_path / "r.html").is_file()


def test_labels_a_frame_of_them_and_their_file_make_the_same_page(trained: Trained, tmp_path: Path) -> None:
    file = trained.file("labels.csv")
    sources = (file, read_labels(file), pd.read_csv(file))

    pages = [report(one, tmp_path / "l.html").report.pages for one in sources]

    assert pages[0]["annotators"] == pages[1]["annotators"] == pages[2]["annotators"]
    assert pages[0]["labels"] == pages[1]["labels"] == pages[2]["labels"]


def test_texts_beside_the_labels_of_a_frame_are_shown(trained: Trained, tmp_path: Path) -> None:
    frame = pd.read_csv(trained.file("labels.csv")).merge(pd.read_csv(trained.file("items.csv")), on="item")

    written = report(frame, tmp_path / "t.html")

    assert written.report.pages["labels"].doubts[0].text in set(frame["text"])


def test_what_is_none_of_these_is_refused_in_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(OptionError) as refused:
        report(7, tmp_path / "x.html")

    assert str(refused.value) == (
        "report: int cannot be reported on. Pass the result of fit or load_run, labels or a frame of labels, or the "
        "path of a run or of a file of labels."
    )
    assert not (tmp_path / "x.html").exists()


def test_what_is_returned_fits_a_screen(trained: Trained, tmp_path: Path) -> None:
    written = report(trained.outcome.run, tmp_path / "r.html")

    assert repr(written).startswith(f"WrittenReport('{tmp_path / 'r.html'}': Report(logic-lncl on ")
    assert len(repr(written)) < 1000
