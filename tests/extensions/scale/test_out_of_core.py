"""`aggregate` beyond memory: the answers of memory, a choice that is said, and failures of one line each."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.truth.planted import planted

from crowdlogic.data.blocks import Shards
from crowdlogic.errors import FormatError, OptionError
from crowdlogic.extensions.scale import out_of_core
from crowdlogic.extensions.scale.coded_files import open_coded
from crowdlogic.extensions.scale.out_of_core import find_large_labels
from crowdlogic.truth.ties import Ties
from crowdlogic.workflows.aggregate import AggregateOptions, aggregate_files
from crowdlogic.workflows.inputs import InputOptions

TINY = 1000
"""Bytes of memory in which nothing fits, so that everything goes by the disk."""

METHODS = ["majority", "wawa", "dawid-skene", "one-coin", "ibcc", "glad", "mace", "pm", "catd", "ensemble", "pool"]


def table(items: int = 200, seed: int = 0) -> pl.DataFrame:
    """Labels of five annotators of different skill, in random order."""
    rng = np.random.default_rng(seed)
    truth, skill = rng.integers(3, size=items), np.array([0.9, 0.8, 0.7, 0.6, 0.5])
    unit, annotator = (codes.ravel() for codes in np.meshgrid(np.arange(items), np.arange(5), indexing="ij"))
    right = rng.random(len(unit)) < skill[annotator]
    label = np.where(right, truth[unit], rng.integers(3, size=len(unit)))
    order = rng.permutation(len(unit))[: int(0.7 * len(unit))]
    return pl.DataFrame(
        {
            "item": [f"item {n}" for n in unit[order]],
            "annotator": [f"w{n}" for n in annotator[order]],
            "label": [("low", "mid", "high")[n] for n in label[order]],
        }
    )


def options(tmp_path: Path, name: str = "out.parquet", **given: object) -> AggregateOptions:
    path = tmp_path / "labels.parquet"
    if not path.exists():
        table().write_parquet(path)
    return AggregateOptions(**{"labels": str(path), "out": str(tmp_path / name), **given})  # type: ignore[arg-type]


def answers(path: str) -> pl.DataFrame:
    return (pl.read_parquet(path) if path.endswith("parquet") else pl.read_csv(path)).sort("item")


@pytest.mark.parametrize("dependence", ["public", "none"])
@pytest.mark.parametrize("method", METHODS)
def test_answers_by_the_disk_are_those_of_memory(tmp_path: Path, method: str, dependence: str) -> None:
    chosen = options(tmp_path, method=method, dependence=dependence)
    aggregate_files(chosen)
    by_disk = replace(chosen, out=str(tmp_path / "disk.parquet"), memory=TINY)

    result = aggregate_files(by_disk)

    ours, theirs = answers(by_disk.out), answers(chosen.out)
    assert result.estimate is None
    assert ours.columns == theirs.columns
    assert ours["label"].to_list() == theirs["label"].to_list()
    for name in ours.columns[2:]:
        np.testing.assert_allclose(ours[name], theirs[name], rtol=0, atol=1e-8)


def test_the_choice_is_said_and_so_is_what_is_stated(tmp_path: Path) -> None:
    in_memory = aggregate_files(options(tmp_path))
    result = aggregate_files(options(tmp_path, memory=TINY))

    assert result.estimate is None
    assert result.notices[
        0
    ] == "700 labels would need about 137 KiB of memory, more than 1e+03 bytes: read in shards." or (
        result.notices[0].startswith("700 labels would need about 137 KiB of memory, more than ")
    )
    assert result.message.startswith(
        "pool (chosen because on average it was more accurate than counting votes on public crowds and panels): 200"
    )
    assert result.confidence_message == in_memory.confidence_message


def test_a_limit_that_suffices_changes_nothing(tmp_path: Path) -> None:
    assert find_large_labels(options(tmp_path, memory=1 << 30)) is None
    assert find_large_labels(options(tmp_path)) is None
    assert find_large_labels(replace(options(tmp_path), labels="-")) is None


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("pattern", ["", "*"])
def test_a_folder_or_a_pattern_of_files_is_one_table(tmp_path: Path, suffix: str, pattern: str) -> None:
    whole, folder = options(tmp_path, "whole.csv", method="dawid-skene"), tmp_path / "parts"
    aggregate_files(whole)
    folder.mkdir()
    for at, part in enumerate(table().iter_slices(100)):
        getattr(part, f"write_{suffix}")(folder / f"{at}.{suffix}")

    result = aggregate_files(replace(whole, labels=str(folder / pattern), out=str(tmp_path / "parts.csv")))

    assert result.notices[0] == "7 files are read in shards."
    ours, theirs = answers(str(tmp_path / "parts.csv")), answers(whole.out)
    assert ours["label"].to_list() == theirs["label"].to_list()
    np.testing.assert_allclose(ours["confidence"], theirs["confidence"], rtol=0, atol=1e-8)


@pytest.mark.parametrize("ties", [Ties.random, Ties.first, Ties.order])
def test_ties_are_decided_as_in_memory(tmp_path: Path, ties: Ties) -> None:
    order = ("mid", "low", "high") if ties is Ties.order else None
    chosen = options(tmp_path, ties=ties, order=order, seed=3)
    aggregate_files(chosen)
    by_disk = replace(chosen, out=str(tmp_path / "disk.parquet"), memory=TINY)

    aggregate_files(by_disk)

    assert answers(by_disk.out)["label"].to_list() == answers(chosen.out)["label"].to_list()


def test_the_table_of_annotators_is_written_beside(tmp_path: Path) -> None:
    place = tmp_path / "annotators.csv"

    aggregate_files(options(tmp_path, memory=TINY, method="dawid-skene", annotators=str(place)))

    found = pl.read_csv(place).sort("annotator")
    assert found["annotator"].to_list() == ["w0", "w1", "w2", "w3", "w4"]
    assert found["labels"].sum() == 700
    assert (found["expected_accuracy"].diff().drop_nulls() < 0.1).all()  # from the most to the least skilled


def test_what_needs_all_labels_in_memory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError) as refused:
        aggregate_files(options(tmp_path, memory=TINY, min_confidence=0.9))
    assert str(refused.value) == (
        "--min-confidence requires all labels in memory, but these are read in shards. Remove it."
    )
    with pytest.raises(OptionError, match=r"^kos requires all labels in memory\. Methods for labels in shards: "):
        aggregate_files(options(tmp_path, memory=TINY, method="kos"))
    assert not (tmp_path / "out.parquet").exists()


def run_command(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "crowdlogic", "aggregate", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_truncated_file_among_several_is_one_line_and_nothing_is_written(tmp_path: Path) -> None:
    folder = tmp_path / "parts"
    folder.mkdir()
    for at, part in enumerate(table().iter_slices(200)):
        part.write_parquet(folder / f"{at}.parquet")
    damaged = folder / "2.parquet"
    damaged.write_bytes(damaged.read_bytes()[:-30])

    done = run_command(str(folder), "-o", str(tmp_path / "out.csv"))

    assert done.returncode == 2
    assert done.stderr == (
        f"crowdlogic: {damaged}: cannot be read as a Parquet file (it does not begin and end with PAR1).\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["parts"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 64 KiB."""
    place = tmp_path / "disk"
    place.mkdir()
    mount, umount = shutil.which("mount"), shutil.which("umount")
    if sys.platform != "linux" or os.geteuid() != 0 or mount is None or umount is None:
        pytest.skip("a small disk cannot be mounted here: that takes root on Linux")
    words = [mount, "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(place)]
    if subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("a small disk cannot be mounted here, though this is root")
    yield place
    subprocess.run([umount, str(place)], check=True)


@pytest.mark.parametrize("out", ["out.parquet", "out.csv"])
@pytest.mark.parametrize("shards_elsewhere", [False, True], ids=["while spilling", "while writing answers"])
def test_a_full_disk_is_one_line_and_leaves_nothing(
    tmp_path: Path, small_disk: Path, shards_elsewhere: bool, out: str
) -> None:
    path = tmp_path / "labels.parquet"
    table(20_000).write_parquet(path)
    elsewhere = ["--checkpoint", str(tmp_path / "state")] if shards_elsewhere else []

    done = run_command(str(path), "-m", "majority", "-o", str(small_disk / out), "--memory", "1000", *elsewhere)

    assert done.returncode == 2
    lines = done.stderr.splitlines()
    assert len(lines) == 1
    assert "No space left on device" in lines[0]
    assert list(small_disk.iterdir()) == []


def test_a_killed_run_resumes_to_the_same_answers(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    table(3000).write_csv(path)
    whole, resumed, state = (str(tmp_path / name) for name in ("whole.csv", "resumed.csv", "state"))
    words = [str(path), "-m", "dawid-skene", "--memory", "1000", "--dependence", "none"]
    assert run_command(*words, "-o", whole).returncode == 0
    command = [sys.executable, "-m", "crowdlogic", "aggregate", *words, "-o", resumed, "--checkpoint", state]

    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not Path(state).exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    process.wait()
    left = Path(state).exists()
    done = run_command(*words, "-o", resumed, "--checkpoint", state)

    assert left
    assert done.returncode == 0, done.stderr
    assert Path(resumed).read_bytes() == Path(whole).read_bytes()
    # A process that is killed while it writes the next state leaves a temporary file.
    left_over = {one.name for one in tmp_path.iterdir() if not re.fullmatch(r"\.state\..*\.part", one.name)}
    assert left_over == {"labels.csv", "whole.csv", "resumed.csv"}


def test_shards_of_a_killed_run_are_used_again_only_for_the_same_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    coded: list[str] = []
    honest = out_of_core.code_files
    monkeypatch.setattr(out_of_core, "code_files", lambda *given: (coded.append("again"), honest(*given))[1])
    chosen = options(tmp_path, memory=TINY, checkpoint=str(tmp_path / "state"), method="majority")

    def fail(*_: object) -> None:
        raise FormatError("killed here")

    for change in (False, False, True):
        if change:
            table(seed=1).write_parquet(chosen.labels)
        with monkeypatch.context() as broken:
            broken.setattr(out_of_core, "_write_answers", fail)
            with pytest.raises(FormatError, match="killed here"):
                aggregate_files(chosen)

    assert coded == ["again", "again"]


def test_other_inputs_stay_in_memory(tmp_path: Path) -> None:
    place = tmp_path / "wide.csv"
    place.write_text("item,w0,w1\na,x,y\nb,y,y\n")

    wide = AggregateOptions(labels=str(place), out="-", memory=TINY, input=InputOptions(wide=True))
    assert find_large_labels(wide) is None


@pytest.mark.parametrize("labels", ["-", "labels.jsonl"])
def test_an_engine_takes_long_tables(tmp_path: Path, labels: str) -> None:
    place = labels if labels == "-" else str(tmp_path / labels)
    if place != "-":
        Path(place).write_text('{"item": 1, "annotator": "a", "label": "x"}\n')

    with pytest.raises(OptionError, match=r"--engine local supports long tables \(.*\) without --wide, and tags"):
        aggregate_files(AggregateOptions(labels=place, out=str(tmp_path / "o.csv"), engine="local"))


def test_an_engine_by_name_gives_the_answers_of_a_table_in_memory(tmp_path: Path) -> None:
    table = planted(3, units=80).labels.to_frame()
    table.write_csv(tmp_path / "labels.csv")
    kept = {"labels": str(tmp_path / "labels.csv"), "method": "dawid-skene"}

    aggregate_files(AggregateOptions(**kept, out=str(tmp_path / "whole.parquet")))
    done = aggregate_files(AggregateOptions(**kept, out=str(tmp_path / "shards.parquet"), engine="local"))

    assert done.notices[0] == "read in shards for the engine local."
    whole, found = (pl.read_parquet(tmp_path / f"{name}.parquet").sort("item") for name in ("whole", "shards"))
    assert found["label"].equals(whole["label"])
    np.testing.assert_allclose(found["confidence"], whole["confidence"], rtol=0, atol=1e-8)


def test_an_address_is_for_clusters(tmp_path: Path) -> None:
    planted(3, units=20).labels.to_frame().write_csv(tmp_path / "labels.csv")
    options = AggregateOptions(
        labels=str(tmp_path / "labels.csv"), out=str(tmp_path / "o.csv"), engine="local", address="auto"
    )

    with pytest.raises(OptionError, match=r"--address auto requires --engine ray or spark\. Remove it"):
        aggregate_files(options)

    assert sorted(one.name for one in tmp_path.iterdir()) == ["labels.csv"]


class Counted(Shards):
    """The local engine, which claims to have moved something, as those of other processes do."""

    traffic = "3 steps moved 2 kB"


def test_a_limit_of_memory_with_workers_says_what_it_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def open_counted(folder: Path, **_: Any) -> AbstractContextManager[Counted]:
        return nullcontext(Counted(**vars(open_coded(folder))))

    monkeypatch.setattr(out_of_core, "ENGINES", SimpleNamespace(load=lambda _: open_counted))

    limited = aggregate_files(options(tmp_path, engine="ray", memory=1 << 30, method="majority"))
    free = aggregate_files(options(tmp_path, engine="ray", method="majority"))

    said = "--memory limits the encoding of labels; the workers of ray use additional memory, 6 bytes per label."
    assert limited.notices[-2:] == ("ray: 3 steps moved 2 kB.", said)
    assert free.notices[-1] == "ray: 3 steps moved 2 kB."
