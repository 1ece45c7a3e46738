"""Members of a zip file, opened to be read in pieces; those that Python's zipfile cannot unpack, too.

Inspect packs its logs with Zstandard (method 93 of the zip format), which Python's zipfile knows from version 3.14 on.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from typing import IO, cast

ZSTANDARD = 93
LOCAL_HEADER = struct.Struct("<4s5H3I2H")
"""What stands before each member: mark, versions and method, times, sizes, lengths of its name and extra field."""


def open_member(archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    """A member opened for reading; a KeyError if it is not there, one of zipfile's errors if it is damaged."""
    entry = archive.getinfo(name)
    if entry.compress_type != ZSTANDARD:
        return archive.open(entry)
    if entry.flag_bits & 1:
        raise RuntimeError("the member is encrypted")
    return _unpack_zstandard(_packed_bytes(archive, entry), entry.CRC)


def _packed_bytes(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """The member as it stands in the archive."""
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


def _unpack_zstandard(packed: bytes, checksum: int) -> IO[bytes]:
    import zstandard

    reader = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(packed), read_across_frames=True)
    return cast("IO[bytes]", _Checked(cast("IO[bytes]", reader), checksum))


class _Checked(io.RawIOBase):
    """A stream whose damage is an error of zipfile's; at its end it must have the checksum of the archive."""

    def __init__(self, reader: IO[bytes], checksum: int) -> None:
        self._reader, self._expected, self._checksum = reader, checksum, 0

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes."""
        import zstandard

        try:
            found = self._reader.read(size)
        except zstandard.ZstdError as problem:
            raise zipfile.BadZipFile(str(problem)) from problem
        self._checksum = zlib.crc32(found, self._checksum)
        if (size < 0 or len(found) < size) and self._checksum != self._expected:
            raise zipfile.BadZipFile("the checksum of a member is wrong")
        return found
