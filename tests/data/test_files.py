from __future__ import annotations

import errno
import gzip
import io
import os
import signal
import stat
import subprocess
import sys
import tracemalloc
import zipfile
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pytest

from crowdlogic.data import files
from crowdlogic.data.files import (
    atomic_write,
    draft_target,
    gunzip,
    make_folder,
    new_folder,
    open_regular,
    require_file,
    write_bytes,
    write_folder,
    write_stream,
    written_together,
)
from crowdlogic.data.folders import LIMIT_VARIABLE, read_member
from crowdlogic.data.frames import from_arrays
from crowdlogic.data.reading import read_labels, write_labels
from crowdlogic.errors import FormatError, MissingDataError, OptionError

CSV = "item,annotator,label\nu,a,x\nu,b,y\nv,a,x\n"


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_an_old_file_stays_whole_when_writing_fails_midway(tmp_path: Path) -> None:
    path = tmp_path / "o.csv"
    path.write_text("old")

    def write_half() -> None:
        with atomic_write(path) as draft:
            draft.write_text("half")
            raise RuntimeError("midway")

    with pytest.raises(RuntimeError, match="midway"):
        write_half()

    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["o.csv"]


def test_a_written_file_has_the_usual_permissions(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    write_labels(tmp_path / "l.csv", from_arrays(["u"], ["a"], ["x"]))

    assert (tmp_path / "l.csv").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_name_that_ends_in_gz_is_gzipped(tmp_path: Path) -> None:
    write_labels(tmp_path / "l.csv.gz", from_arrays(["u"], ["a"], ["x"]))

    assert (tmp_path / "l.csv.gz").read_bytes()[:2] == b"\x1f\x8b"


def test_an_absent_file_names_its_neighbours(tmp_path: Path) -> None:
    write(tmp_path, "labels.csv", CSV)

    with pytest.raises(MissingDataError) as caught:
        read_labels(tmp_path / "lables.csv")

    assert str(caught.value) == f"{tmp_path / 'lables.csv'}: no such file. Did you mean 'labels.csv'?"


def test_a_folder_is_not_a_file(tmp_path: Path) -> None:
    with pytest.raises(MissingDataError, match=r"is a folder\. Name a file in it\."):
        read_labels(tmp_path, format="csv")


def test_a_name_that_looks_like_a_pattern_names_one_file(tmp_path: Path) -> None:
    for suffix in ("csv", "tsv", "parquet", "jsonl"):
        write_labels(tmp_path / f"labels[1].{suffix}", from_arrays(["u"], ["a"], ["right"]))
        write_labels(tmp_path / f"labels1.{suffix}", from_arrays(["u"], ["a"], ["wrong"]))
        write_labels(tmp_path / f"a?b.{suffix}", from_arrays(["u"], ["a"], ["right"]))
        write_labels(tmp_path / f"axb.{suffix}", from_arrays(["v"], ["a"], ["wrong"]))

        assert read_labels(tmp_path / f"labels[1].{suffix}").classes == ("right",)
        assert read_labels(tmp_path / f"a?b.{suffix}").classes == ("right",)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl", "conll"])
def test_an_address_names_no_file(suffix: str) -> None:
    with pytest.raises(MissingDataError, match=r"^http://localhost:9/labels\.\w+: no such file\."):
        read_labels(f"http://localhost:9/labels.{suffix}")


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl", "conll"])
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"l.{suffix}"
    os.mkfifo(path)

    with pytest.raises(FormatError) as caught:
        read_labels(path)

    assert str(caught.value) == (
        f"{path}: is a pipe or a device, not a regular file. Write its content to a file first, or use - for "
        f"standard input."
    )


def test_a_file_that_becomes_a_pipe_while_it_is_opened_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setattr("crowdlogic.data.files.require_file", Path)

    with pytest.raises(FormatError, match="is a pipe or a device"):
        open_regular(tmp_path / "pipe")


@pytest.mark.parametrize("name", ["a\0b.csv", "x" * 300 + ".csv"])
def test_a_name_that_no_file_can_have_is_an_error_of_ours(name: str) -> None:
    with pytest.raises(MissingDataError):
        read_labels(name)


def test_a_gzip_file_of_several_members_is_read_whole() -> None:
    members = [b"item,annotator\n", b"", bytes(range(256)) * 100_000]
    raw = b"".join(map(gzip.compress, members))

    assert gunzip(raw, "f") == b"".join(members)
    assert gunzip(raw + b"\0" * 512, "f") == b"".join(members)


@pytest.mark.parametrize("cut", [1, 9, 500])
def test_a_gzip_file_cut_short_is_damaged(cut: int) -> None:
    raw = gzip.compress(np.random.default_rng(0).bytes(3_000_000))

    with pytest.raises(FormatError, match=r"^f: the gzip file is damaged \(.+\)\. Fetch or compress it again\.$"):
        gunzip(raw[:-cut], "f")
    with pytest.raises(FormatError, match="damaged"):
        gunzip(raw + b"x" * cut, "f")


def test_a_gzip_bomb_is_refused_before_it_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, "l.csv.gz", gzip.compress(CSV.encode() + b"u,c,x\n" * 10_000_000))
    monkeypatch.setenv(LIMIT_VARIABLE, "20M")
    tracemalloc.start()

    with pytest.raises(FormatError) as caught:
        read_labels(path)

    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60_000_000
    assert str(caught.value) == (
        f"{path}: decompresses to more than 20 MiB, the limit for a file of its size. If you trust it, raise the "
        f"limit: crowdlogic --max-unpacked 8G, or CROWDLOGIC_MAX_UNPACKED=8G."
    )


def test_a_bomb_in_a_zip_archive_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("small", b"content")
        archive.writestr("bomb", bytes(30_000_000))
    size = len(packed.getvalue())
    monkeypatch.setenv(LIMIT_VARIABLE, "20M")

    with zipfile.ZipFile(packed) as archive:
        assert read_member(archive, "small", packed_size=size, name="z") == b"content"
        with pytest.raises(FormatError, match=r"^z: decompresses to more than 20 MiB"):
            read_member(archive, "bomb", packed_size=size, name="z")


def test_a_damaged_member_of_a_zip_archive_is_refused() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("member", b"content")
    damaged = packed.getvalue().replace(b"content", b"cantent", 1)

    with zipfile.ZipFile(io.BytesIO(damaged)) as archive, pytest.raises(FormatError, match="archive is damaged"):
        read_member(archive, "member", packed_size=100, name="z")


def test_a_folder_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    write_folder(tmp_path / "new", {"a.json": b"1", "sub/b.json": b"2"})

    assert (tmp_path / "new" / "sub" / "b.json").read_bytes() == b"2"
    with pytest.raises(OptionError, match="already exists"):
        write_folder(tmp_path / "new", {"a.json": b"3"})
    with pytest.raises(TypeError):
        write_folder(tmp_path / "broken", {"a.json": b"1", "b.json": None})  # type: ignore[dict-item]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new"]


def test_files_written_together_appear_together_or_not_at_all(tmp_path: Path) -> None:
    def write_two(*, fail: bool) -> None:
        with written_together():
            write_bytes(tmp_path / "a", b"1")
            make_folder(tmp_path / "new" / "folder")
            write_bytes(tmp_path / "new" / "folder" / "b", b"2")
            assert not (tmp_path / "a").exists()
            if fail:
                raise RuntimeError("midway")

    with pytest.raises(RuntimeError, match="midway"):
        write_two(fail=True)
    assert list(tmp_path.iterdir()) == []

    write_two(fail=False)
    assert (tmp_path / "a").read_bytes() + (tmp_path / "new" / "folder" / "b").read_bytes() == b"12"
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a", "b", "folder", "new"]


def test_a_new_folder_appears_with_the_other_outputs_or_not_at_all(tmp_path: Path) -> None:
    def write_both(*, fail: bool) -> None:
        with written_together():
            with new_folder(tmp_path / "saved") as draft:
                write_bytes(draft / "a", b"1")
            write_bytes(tmp_path / "b", b"2")
            assert not (tmp_path / "saved").exists()
            if fail:
                raise RuntimeError("midway")

    with pytest.raises(RuntimeError, match="midway"):
        write_both(fail=True)
    assert list(tmp_path.iterdir()) == []

    write_both(fail=False)
    assert (tmp_path / "saved" / "a").read_bytes() + (tmp_path / "b").read_bytes() == b"12"
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a", "b", "saved"]


def test_a_signal_waits_until_all_outputs_are_renamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replace = Path.replace

    def interrupted(path: Path, target: Path) -> Path:
        signal.raise_signal(signal.SIGINT)
        return replace(path, target)

    def write_two() -> None:
        with written_together():
            write_bytes(tmp_path / "a", b"1")
            write_bytes(tmp_path / "b", b"2")
            monkeypatch.setattr(Path, "replace", interrupted)

    with pytest.raises(KeyboardInterrupt):
        write_two()

    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_a_folder_that_was_there_stays_when_writing_fails(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()

    def fail() -> None:
        with written_together():
            make_folder(tmp_path / "old")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()

    assert (tmp_path / "old").is_dir()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_device_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    write_bytes("/dev/null", b"content")
    with pytest.raises(OSError, match="No space left on device") as full:
        write_bytes("/dev/full", b"content")

    assert full.value.filename == "/dev/full"
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    assert stat.S_ISCHR(Path("/dev/full").stat().st_mode)


def test_a_disk_that_is_full_is_named_by_the_file_that_was_wanted(tmp_path: Path) -> None:
    def fill() -> None:
        with atomic_write(tmp_path / "out.csv") as draft:
            raise OSError(errno.ENOSPC, "No space left on device", str(draft))

    with pytest.raises(OSError, match="No space left on device") as full:
        fill()

    assert full.value.filename == str(tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []


def test_drafts_are_known_by_their_names() -> None:
    assert draft_target(".config.json.ab_d1234.part") == "config.json"
    assert draft_target(".x.part") is None
    assert draft_target("config.json.abcd1234.part") is None


def test_a_missing_file_is_told_with_those_of_its_kind(tmp_path: Path) -> None:
    for name in ("a.rules", "labels.csv", "z.jsonl"):
        (tmp_path / name).touch()

    with pytest.raises(MissingDataError, match=r"no such file\. The folder contains: labels\.csv\.$"):
        require_file(tmp_path / "q.csv")
    with pytest.raises(
        MissingDataError, match=r"no such file\. The folder contains: a\.rules, labels\.csv, z\.jsonl\.$"
    ):
        require_file(tmp_path / "q.parquet")


@pytest.mark.parametrize("name", ["plain.csv", "packed.csv.gz"])
def test_a_file_is_written_by_a_function_that_gets_it_opened(tmp_path: Path, name: str) -> None:
    write_stream(tmp_path / name, lambda file: file.write(b"a,b\n1,2\n") and None)

    content = (tmp_path / name).read_bytes()
    assert (gzip.decompress(content) if name.endswith(".gz") else content) == b"a,b\n1,2\n"
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_system_error_that_is_only_in_words_gets_its_number_and_the_users_file(tmp_path: Path) -> None:
    def fail(file: BinaryIO) -> None:
        file.write(b"half")
        raise OSError("No space left on device (os error 28)")

    with pytest.raises(OSError, match=r"No space left on device: '.*whole\.csv'") as raised:
        write_stream(tmp_path / "whole.csv", fail)

    assert raised.value.errno == errno.ENOSPC
    assert list(tmp_path.iterdir()) == []


def write_pair(folder: Path, text: str) -> None:
    with written_together():
        write_bytes(folder / "a.csv", text.encode())
        write_bytes(folder / "b.csv", text.encode())


@pytest.mark.parametrize("old", [True, False])
@pytest.mark.parametrize("stop", range(1, 5))
def test_a_rename_that_fails_brings_both_files_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop: int, old: bool
) -> None:
    if old:
        write_pair(tmp_path, "old")
    before = {path.name: path.read_text() for path in tmp_path.iterdir()}
    replace, calls = Path.replace, []

    def fail(self: Path, target: Path) -> Path:
        calls.append(target)
        if len(calls) == stop:
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(self))
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", fail)
    if not old and stop > 2:
        write_pair(tmp_path, "new")  # two renames, none of which fails
        return
    with pytest.raises(OSError, match="Input/output error") as caught:
        write_pair(tmp_path, "new")

    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == before
    assert caught.value.filename in (str(tmp_path / "a.csv"), str(tmp_path / "b.csv"))


KILLED = """
import os, signal, sys
from pathlib import Path
from tests.data.test_files import write_pair
replace, calls = Path.replace, []
def kill(self, target):
    calls.append(target)
    if len(calls) == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
    return replace(self, target)
Path.replace = kill
write_pair(Path(sys.argv[1]), "new")
"""


@pytest.mark.parametrize("stop", range(1, 5))
def test_a_kill_between_renames_never_leaves_a_new_file_beside_an_old_one(tmp_path: Path, stop: int) -> None:
    write_pair(tmp_path, "old")
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{root / 'src'}"}

    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), str(stop)], check=False, env=environment)
    texts = {path.read_text() for path in tmp_path.glob("*.csv")}
    write_pair(tmp_path, "newer")

    assert done.returncode == -signal.SIGKILL
    assert texts in ({"old"}, {"new"}, set())
    assert {path.read_text() for path in tmp_path.glob("*.csv")} == {"newer"}


def test_a_signal_while_a_temporary_file_is_made_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = files._make_draft

    def interrupted(target: Path) -> Path:
        draft = make(target)
        signal.raise_signal(signal.SIGINT)
        return draft

    monkeypatch.setattr(files, "_make_draft", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_bytes(tmp_path / "a.txt", b"x")

    assert not list(tmp_path.iterdir())
