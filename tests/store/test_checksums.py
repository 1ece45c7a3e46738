"""Checksums notice what was changed, are what sha256sum reads, and lead nowhere else."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from crowdlogic.errors import FormatError, MissingDataError
from crowdlogic.store.checksums import CHECKSUMS, arrays_sha256, check_checksums, file_sha256, write_checksums


def sealed(folder: Path) -> Path:
    (folder / "tables").mkdir()
    for name in ("a.txt", "tables/b c.txt"):
        (folder / name).write_text(name)
    write_checksums(folder, {name: file_sha256(folder / name) for name in ("a.txt", "tables/b c.txt")})
    return folder


def test_files_that_were_not_changed_are_listed(tmp_path: Path) -> None:
    assert check_checksums(sealed(tmp_path)) == {"a.txt", "tables/b c.txt"}
    assert file_sha256(tmp_path / "a.txt") == hashlib.sha256(b"a.txt").hexdigest()


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="there is no sha256sum")
def test_sha256sum_reads_the_list(tmp_path: Path) -> None:
    sealed(tmp_path)

    checked = subprocess.run(
        [str(shutil.which("sha256sum")), "--check", "--strict", CHECKSUMS],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )

    assert checked.stdout == "a.txt: OK\ntables/b c.txt: OK\n"


def test_a_changed_file_and_a_missing_one_are_named(tmp_path: Path) -> None:
    sealed(tmp_path)
    (tmp_path / "tables" / "b c.txt").write_text("other")
    with pytest.raises(FormatError) as changed:
        check_checksums(tmp_path)
    (tmp_path / "tables" / "b c.txt").unlink()
    with pytest.raises(MissingDataError) as missing:
        check_checksums(tmp_path)

    path = tmp_path / "tables" / "b c.txt"
    assert (
        str(changed.value)
        == f"{path}: the file has changed since it was written (its SHA-256 differs). The run is damaged."
    )
    assert str(missing.value) == f"{path.parent}: b c.txt is missing. The run is damaged, or it is not a run."


@pytest.mark.parametrize(
    "content",
    [
        "",
        "nonsense\n",
        f"{'0' * 64} a.txt\n",
        f"{'0' * 63}  a.txt\n",
        f"{'0' * 64}  ../secret\n",
        f"{'0' * 64}  /etc/hostname\n",
        f"{'0' * 64}  tables/../../secret\n",
        f"{'0' * 64}  a.txt\n{'1' * 64}  a.txt\n",
        "\x00\xff",
    ],
)
def test_a_list_that_is_none_or_leads_out_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / CHECKSUMS).write_text(content)

    with pytest.raises(FormatError, match=r"SHA256SUMS: is not a list of checksums\. The run is damaged\.$"):
        check_checksums(tmp_path)


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    sealed(tmp_path)
    (tmp_path / "same").write_text("a.txt")
    (tmp_path / "a.txt").unlink()
    (tmp_path / "a.txt").symlink_to(tmp_path / "same")

    with pytest.raises(MissingDataError, match=r"a\.txt: cannot be read"):
        check_checksums(tmp_path)


def test_the_checksum_of_arrays_tells_names_types_shapes_and_numbers() -> None:
    arrays = {"a": np.arange(4.0), "b": np.array(1)}
    others = [
        {"a": np.arange(4.0), "c": np.array(1)},
        {"a": np.arange(4.0).astype(np.float32), "b": np.array(1)},
        {"a": np.arange(4.0).reshape(2, 2), "b": np.array(1)},
        {"a": np.arange(4.0) + 1e-12, "b": np.array(1)},
    ]

    assert arrays_sha256(dict(reversed(arrays.items()))) == arrays_sha256(arrays)
    assert len({arrays_sha256(one) for one in (arrays, *others)}) == 5
