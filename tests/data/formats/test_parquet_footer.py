"""Footers that claim too much are refused before polars sees them, and sound files of any writer are not."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest

from crowdlogic.data.formats.parquet import Compact, DamagedError, check_footer, check_parquet, read_parquet
from crowdlogic.errors import CrowdLogicError, FormatError

TABLE = pl.DataFrame(
    {
        "item": [f"i{n}" for n in range(300)],
        "label": ["x", "y", None] * 100,
        "weight": np.linspace(0, 1, 300),
        "sure": [True, False] * 150,
        "tags": [["a", "b"], [], None] * 100,
        "seen": [{"x": 1, "y": "z"}] * 300,
        "when": pl.Series([0] * 300, dtype=pl.Datetime),
        "none": pl.Series([None] * 300, dtype=pl.Float32),
    }
)


def by_polars(table: pl.DataFrame, **options: Any) -> bytes:
    buffer = io.BytesIO()
    table.write_parquet(buffer, **options)
    return buffer.getvalue()


def by_arrow(table: pl.DataFrame, **options: Any) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(table.to_arrow(), buffer, **options)
    return buffer.getvalue()


WRITERS = [
    (by_polars, {}),
    (by_polars, {"compression": "uncompressed"}),
    (by_polars, {"compression": "gzip", "row_group_size": 50}),
    (by_polars, {"statistics": False}),
    (by_arrow, {}),
    (by_arrow, {"data_page_version": "2.0"}),
    (by_arrow, {"use_dictionary": False, "compression": "none"}),
    (by_arrow, {"compression": "brotli", "row_group_size": 40}),
    (by_arrow, {"write_page_index": True}),
    (by_arrow, {"version": "1.0", "data_page_size": 100}),
]


@pytest.mark.parametrize(("write", "options"), WRITERS)
@pytest.mark.parametrize("rows", [0, 1, 300])
def test_sound_files_of_any_writer_are_read(write: Any, options: dict[str, Any], rows: int) -> None:
    content = write(TABLE.head(rows), **options)

    check_parquet(io.BytesIO(content), "f")

    assert read_parquet(io.BytesIO(content), "f").height == rows


def bomb(rows: int) -> bytes:
    """A small file of many rows, all alike."""
    table = pl.select(pl.repeat("x", rows).alias("item"), pl.repeat(1, rows).alias("n"))
    return by_arrow(table, compression="zstd", row_group_size=rows)


def test_a_small_file_of_many_rows_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    content = bomb(3_000_000)
    monkeypatch.setenv("CROWDLOGIC_MAX_UNPACKED", "5M")

    with pytest.raises(FormatError, match=r"^f: decompresses to more than 20 MiB"):
        check_parquet(io.BytesIO(content), "f")

    assert len(content) < 20_000
    monkeypatch.setenv("CROWDLOGIC_MAX_UNPACKED", "100M")
    assert read_parquet(io.BytesIO(content), "f").height == 3_000_000


def varint(number: int) -> bytes:
    found = b""
    number = number * 2 if number >= 0 else -number * 2 - 1
    while number > 127:
        found += bytes([number & 127 | 128])
        number >>= 7
    return found + bytes([number])


def with_footer(content: bytes, old: bytes, new: bytes) -> bytes:
    """The file with some bytes of its footer replaced, and its length corrected."""
    length = int.from_bytes(content[-8:-4], "little")
    footer = content[-8 - length : -8]
    assert old in footer
    footer = footer.replace(old, new)
    return content[: -8 - length] + footer + len(footer).to_bytes(4, "little") + b"PAR1"


@pytest.mark.parametrize("rows", [10**9, 10**15, -1, 301])
def test_a_footer_that_claims_other_numbers_of_rows_is_refused(rows: int) -> None:
    content = by_arrow(TABLE.select("item"))
    claims = with_footer(content, b"\x16" + varint(300), b"\x16" + varint(rows))

    with pytest.raises(FormatError):
        check_parquet(io.BytesIO(claims), "f")


@pytest.mark.parametrize(
    "content",
    [b"", b"PAR1", b"PAR1" * 3, b"PAR1\0\0\0\0\xff\xff\xff\x7fPAR1", b"PAR1" + b"\x19" * 50 + b"\x32\0\0\0PAR1"],
)
def test_what_is_no_parquet_is_refused(content: bytes) -> None:
    with pytest.raises(FormatError, match=r"^f: cannot be read as a Parquet file \("):
        check_parquet(io.BytesIO(content), "f")


@pytest.mark.parametrize(
    "content",
    [b"\x19\xf9\xff\xff\xff\xff\x0f", b"\x1c" * 100, b"\x18\xff\xff\xff\x0f", b"\x16" + b"\xff" * 20, b"\x1f\0"],
)
def test_a_struct_that_claims_too_much_is_damaged(content: bytes) -> None:
    with pytest.raises(DamagedError):
        Compact(memoryview(content), 0, len(content)).struct()


def test_mutated_files_are_read_or_refused_and_polars_says_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(21)
    sound = [write(TABLE.head(20), **options) for write, options in WRITERS[:6]]

    for _ in range(300):
        content = bytearray(sound[rng.integers(len(sound))])
        for at in rng.integers(len(content), size=3):
            content[at] = rng.integers(256)
        try:
            read_parquet(io.BytesIO(bytes(content)), "f")
        except (CrowdLogicError, pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError):
            continue

    assert capfd.readouterr().err == ""


def test_an_aborting_file_ends_in_one_line(tmp_path: Any) -> None:
    content = by_arrow(TABLE.select("item"))
    claims = with_footer(content, b"\x16" + varint(300), b"\x16" + varint(10**12))
    (tmp_path / "l.parquet").write_bytes(claims)

    done = subprocess.run(
        [sys.executable, "-m", "crowdlogic", "aggregate", str(tmp_path / "l.parquet"), "-o", str(tmp_path / "t.csv")],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "cannot be read as a Parquet file" in done.stderr or "decompresses to more than" in done.stderr


@pytest.mark.parametrize(("write", "options"), WRITERS)
def test_the_footer_alone_is_checked_for_files_that_are_streamed(
    tmp_path: Path, write: Any, options: dict[str, Any]
) -> None:
    content, place = write(TABLE, **options), tmp_path / "table.parquet"
    place.write_bytes(content)
    check_footer(place)

    length = int.from_bytes(content[-8:-4], "little")
    place.write_bytes(content[:4] + content[-8 - length :])  # the columns are gone, the footer is sound
    with pytest.raises(FormatError, match=r"table\.parquet: .* \(a column is outside of the file\)\."):
        check_footer(place)

    place.write_bytes(content[:-20])
    with pytest.raises(FormatError, match=r"\(it does not begin and end with PAR1\)\."):
        check_footer(place)
