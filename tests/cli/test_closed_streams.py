"""Standard output or standard error that is closed or on a full disk: no traceback, and files are written as usual."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from tests.cli.conftest import CSV

pytestmark = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")

PRINTING = ["agreement l.csv", "doctor l.csv", "evaluate g.csv g.csv", "aggregate l.csv -o -", "--help", "datasets"]
WRITING = [
    "aggregate l.csv -o t.csv --gold g.csv",
    "aggregate l.csv -o t.csv --gold g.csv --json",
    "next l.csv -o t.csv --json",
    "convert l.csv out.csv",
    "train --labels l.csv --items items.csv --dev new.csv --epochs 1 -o out.csv",
]


def crowdlogic(words: str, redirected: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command with redirections of a shell."""
    command = f"exec {sys.executable} -m crowdlogic {words} {redirected}"
    return subprocess.run(
        ["/bin/sh", "-c", command], capture_output=True, text=True, check=False, cwd=folder, timeout=120
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "l.csv").write_text(CSV)
    (tmp_path / "g.csv").write_text("item,label\nu,x\nv,y\n")
    (tmp_path / "items.csv").write_text("item,text\nu,good film\nv,bad film\n")
    (tmp_path / "new.csv").write_text("item,text,label\nw,good film,x\n")
    return tmp_path


@pytest.mark.extension("paper")
@pytest.mark.parametrize("words", PRINTING)
def test_a_result_that_cannot_be_printed_is_one_line(folder: Path, words: str) -> None:
    for redirected, said in ((">&-", "standard output is closed"), (">/dev/full", "No space left on device")):
        done = crowdlogic(words, redirected, folder)

        assert done.returncode == 2, (redirected, done.stderr)
        assert said in done.stderr.splitlines()[-1]
        assert "Traceback" not in done.stderr
        assert "Exception ignored" not in done.stderr


@pytest.mark.extension("review")
@pytest.mark.parametrize("words", WRITING)
def test_files_are_written_when_their_summary_cannot_be_printed(folder: Path, words: str) -> None:
    for redirected in (">&-", ">/dev/full", "2>&-", "2>/dev/full", ">&- 2>&-", "<&- >&- 2>&-"):
        done = crowdlogic(words.replace("out.csv", f"out{len(list(folder.iterdir()))}.csv"), redirected, folder)
        newest = max(folder.iterdir(), key=lambda path: path.stat().st_mtime_ns)

        assert done.returncode == 0, (redirected, done.stderr)
        assert "Traceback" not in done.stderr
        assert newest.is_dir() or pl.read_csv(newest)["item"].is_in(["u", "v"]).all()


def test_a_table_that_nobody_reads_is_no_error() -> None:
    code = (
        "import os, sys; from crowdlogic.cli.console import show_tables, summary; "
        "from crowdlogic.workflows.inputs import ResultTable; read, write = os.pipe(); os.close(read); os.dup2(write, 1)\n"
        "with summary():\n    show_tables(ResultTable(title='t', columns=('a',), rows=(('x',),)))\n    sys.stdout.flush()"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("redirected", ["2>&-", "2>/dev/full", ">&- 2>&-"])
def test_exit_codes_stay_when_nothing_can_be_said(folder: Path, redirected: str) -> None:
    assert crowdlogic("aggregate none.csv -o out.csv", redirected, folder).returncode == 2
    assert crowdlogic("doctor none.csv", redirected, folder).returncode == 2
    assert not (folder / "t.csv").exists()
