"""Open members of zip files for reading in pieces, including members packed with Zstandard.

Inspect packs its logs with Zstandard (method 93 of the zip format). The standard library can unpack it from Python 3.14
on; earlier versions need the package zstandard.
"""

from __future__ import annotations

import io
import struct
import sys
import zipfile
import zlib
from typing import IO, Any, cast

from crowdlogic.errors import MissingExtraError

ZSTANDARD = 93
LOCAL_HEADER = struct.Struct("<4s5H3I2H")
"""What stands before each member: mark, versions and method, times, sizes, lengths of its name and extra field."""


def open_member(archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    """Open a member for reading. Raise KeyError if it does not exist, and zipfile's errors if it is damaged."""
    entry = archive.getinfo(name)
    if entry.compress_type != ZSTANDARD:
        return archive.open(entry)
    if entry.flag_bits & 1:
        raise RuntimeError("the member is encrypted")
    try:
        return cast("IO[bytes]", _ZstandardReader(_packed_bytes(archive, entry), entry.CRC))
    except ModuleNotFoundError as problem:
        raise MissingExtraError(
            f"{name} in the zip file is packed with Zstandard. Python before 3.14 needs a package for it: "
            "pip install crowdlogic[inspect]"
        ) from problem


def _packed_bytes(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """Return the packed bytes of a member."""
    file = cast("IO[bytes]", archive.fp)
    file.seek(entry.header_offset)
    head = file.read(LOCAL_HEADER.size)
    if len(head) < LOCAL_HEADER.size or head[:4] != b"PK\x03\x04":
        raise zipfile.BadZipFile("a member does not begin where the archive says")
    name_length, extra_length = LOCAL_HEADER.unpack(head)[-2:]
    file.seek(name_length + extra_length, io.SEEK_CUR)
    packed = file.read(entry.compress_size)
    if len(packed) < entry.compress_size:
        raise EOFError("a member is cut short")
    return packed


class _ZstandardReader(io.RawIOBase):
    """Unpack a stream, compare its checksum at the end, and raise zipfile's errors for damage."""

    def __init__(self, packed: bytes, checksum: int) -> None:
        self._reader: Any
        if sys.version_info >= (3, 14):
            from compression.zstd import ZstdError, ZstdFile

            self._reader, self._damage = ZstdFile(io.BytesIO(packed)), (ZstdError, EOFError)
        else:
            import zstandard

            self._reader = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(packed), read_across_frames=True)
            self._damage = (zstandard.ZstdError,)
        self._expected, self._checksum = checksum, 0

    def read(self, size: int = -1, /) -> bytes:
        """Return the next bytes."""
        try:
            found = cast("bytes", self._reader.read(size))
        except self._damage as problem:
            raise zipfile.BadZipFile(str(problem)) from problem
        self._checksum = zlib.crc32(found, self._checksum)
        if (size < 0 or len(found) < size) and self._checksum != self._expected:
            raise zipfile.BadZipFile("the checksum of a member is wrong")
        return found
