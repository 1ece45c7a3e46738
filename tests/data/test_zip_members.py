"""Members of zip files, also those packed with Zstandard."""

from __future__ import annotations

import io
import struct
import sys
import zipfile
import zlib
from pathlib import Path

import pytest

from crowdlogic.data.folders import ZSTANDARD, open_folder, open_member
from crowdlogic.errors import FormatError, MissingExtraError

zstandard = pytest.importorskip("zstandard")

CONTENT = ("some text 😀\n" * 1000).encode()


def pack_with_zstandard(name: str, content: bytes, *, said_size: int | None = None) -> bytes:
    """A zip file with one member packed by method 93, as Inspect writes its logs; it may lie about the size."""
    packed, named = zstandard.ZstdCompressor().compress(content), name.encode()
    sizes = (zlib.crc32(content), len(packed), len(content) if said_size is None else said_size, len(named), 0)
    local = struct.pack("<4s5H3I2H", b"PK\x03\x04", 63, 0, ZSTANDARD, 0, 0, *sizes) + named + packed
    entry = struct.pack("<4s6H3I5H2I", b"PK\x01\x02", 63, 63, 0, ZSTANDARD, 0, 0, *sizes, 0, 0, 0, 0, 0) + named
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 1, 1, len(entry), len(local), 0)
    return local + entry + end


def test_a_member_packed_with_zstandard_is_read() -> None:
    with zipfile.ZipFile(io.BytesIO(pack_with_zstandard("a.json", CONTENT))) as archive:
        member = open_member(archive, "a.json")

        assert member.read(9) == b"some text"
        assert member.read() == CONTENT[9:]


def test_other_members_are_read_by_zipfile(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "z.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.json", CONTENT)

    with zipfile.ZipFile(tmp_path / "z.zip") as archive:
        assert open_member(archive, "a.json").read() == CONTENT


@pytest.mark.parametrize("place", [60, 45], ids=["damaged", "no frame"])
def test_damage_is_one_line(tmp_path: Path, place: int) -> None:
    raw = bytearray(pack_with_zstandard("a.json", CONTENT))
    raw[place - 9 : place] = b"\xff" * 9
    (tmp_path / "z.zip").write_bytes(raw)

    with pytest.raises(
        FormatError, match=r"z\.zip: a\.json: the zip file cannot be read \(.*\)\. Compress or fetch it again\."
    ):
        open_folder(tmp_path / "z.zip").read("a.json")


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="the standard library unpacks Zstandard")
def test_a_missing_package_is_named_with_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "z.zip").write_bytes(pack_with_zstandard("a.json", CONTENT))
    monkeypatch.setitem(sys.modules, "zstandard", None)

    with pytest.raises(MissingExtraError, match=r"pip install crowdlogic\[inspect\]"):
        open_folder(tmp_path / "z.zip").read("a.json")


def test_what_a_member_unpacks_to_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "z.zip").write_bytes(pack_with_zstandard("a.json", bytes(10_000_000), said_size=10))
    monkeypatch.setenv("CROWDLOGIC_MAX_UNPACKED", "1M")

    with pytest.raises(FormatError, match="decompresses to more than"):
        open_folder(tmp_path / "z.zip").read("a.json")
