"""Bombs: files of at most 20 MB that unpack or parse to far more than they seem to hold."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.data.formats.exports import annotation, span, task

LIMIT = "--max-unpacked"
"""What a refusal names."""


@dataclass(frozen=True, kw_only=True)
class Bomb:
    """A hostile file.

    Attributes:
        file: Its name.
        make: Gives its content.
        refused: What the one line must hold; empty where the file may be read.
        options: Options of the command.
        seconds: Processor time that a command may take.
        memory: MiB that it may take.
    """

    file: str
    make: Callable[[], bytes]
    refused: str = ""
    options: tuple[str, ...] = ()
    seconds: float = 30
    memory: float = 2048

    def write(self, folder: Path) -> Path:
        """Write it into a folder."""
        path = folder / self.file
        path.write_bytes(self.make())
        return path


def gzipped(pieces: Iterator[bytes]) -> bytes:
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", compresslevel=9, mtime=0) as file:
        for piece in pieces:
            file.write(piece)
    return buffer.getvalue()


def zipped(members: dict[str, bytes] | Iterator[tuple[str, Iterator[bytes]]]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        if isinstance(members, dict):
            for name, content in members.items():
                packed.writestr(name, content)
        else:
            for name, pieces in members:
                with packed.open(name, "w", force_zip64=True) as member:
                    for piece in pieces:
                        member.write(piece)
    return buffer.getvalue()


HEADER = b"item,annotator,label\n"
MEBIBYTE = 1 << 20


def repeat(piece: bytes, size: int, before: bytes = b"", after: bytes = b"") -> Iterator[bytes]:
    """Pieces of `size` bytes in all."""
    yield before
    many = piece * max(1, MEBIBYTE // len(piece))
    for _ in range(size // len(many) + 1):
        yield many
    yield after


WORKBOOK = {
    "[Content_Types].xml": '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
    '<Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>',
    "_rels/.rels": '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": '<?xml version="1.0"?><workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="s" sheetId="1" r:id="r1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
}  # fmt: skip
SHEET = b'<?xml version="1.0"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'


def workbook(cell_size: int) -> bytes:
    """A workbook with one cell of so many bytes."""
    names = ("item", "annotator", "label")
    header = "".join(f'<c t="inlineStr"><is><t>{name}</t></is></c>' for name in names)
    before = SHEET + f'<row>{header}</row><row><c t="inlineStr"><is><t>'.encode()
    cell = repeat(b"x", cell_size, before, b"</t></is></c></row></sheetData></worksheet>")
    members = [(name, iter([content.encode()])) for name, content in WORKBOOK.items()]
    return zipped(iter([*members, ("xl/worksheets/sheet1.xml", cell)]))


def jsonl(rows: int, row: Callable[[int], dict[str, Any]]) -> bytes:
    return "\n".join(json.dumps(row(n)) for n in range(rows)).encode()


def label(n: int) -> dict[str, Any]:
    return {"item": f"u{n // 2}", "annotator": f"a{n % 2}", "label": "x"}


def wrench(items: int, functions: int) -> bytes:
    return json.dumps(
        {str(i): {"label": 0, "weak_labels": [i % 2] * functions, "data": {"text": "t"}} for i in range(items)}
    ).encode()


ENTITIES = (
    '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a0 "aaaaaaaaaa">'
    + "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
    + "]><worksheet><sheetData><row><c><v>&a9;</v></c></row></sheetData></worksheet>"
)
"""A billion letters, once the entities are replaced."""


def workbook_of(row: bytes, rows: int) -> bytes:
    """A workbook with the same row again and again."""
    sheet = repeat(row, len(row) * rows, SHEET, b"</sheetData></worksheet>")
    members = [(name, iter([content.encode()])) for name, content in WORKBOOK.items()]
    return zipped(iter([*members, ("xl/worksheets/sheet1.xml", sheet)]))


def parquet(rows: int) -> bytes:
    """A table of labels that are all alike, which Parquet packs to a few bytes a million."""
    buffer = io.BytesIO()
    table = pl.select(**{name: pl.repeat(1, rows, dtype=pl.Int8) for name in ("item", "annotator", "label")})
    table.write_parquet(buffer, compression="zstd", compression_level=19)
    return buffer.getvalue()


def npy_header(shape: tuple[int, ...]) -> bytes:
    """The beginning of an array that claims a shape."""
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, {"descr": "|i1", "fortran_order": False, "shape": shape})
    return buffer.getvalue()


def npz(shape: tuple[int, int]) -> bytes:
    """An array of zeros."""
    return zipped(iter([("labels.npy", repeat(b"\0", shape[0] * shape[1], npy_header(shape)))]))


def inspect_log(samples: int) -> bytes:
    """A log of Inspect, which has a small member for each sample."""
    members = {"header.json": b"{}"}
    for n in range(samples):
        members[f"samples/{n}.json"] = json.dumps({"id": n, "scores": {"s": {"value": "CI"[n % 2]}}}).encode()
    return zipped(members)


def doccano(members: int) -> bytes:
    """An export of doccano with a file for each of many members."""
    record = {"id": 1, "text": "t", "label": ["A"], "Comments": []}
    return zipped({f"m{n}.jsonl": json.dumps(record).encode() for n in range(members)})


def zstandard(pieces: Iterator[bytes]) -> bytes:
    """A file compressed with Zstandard, which polars would decompress."""
    packer = pytest.importorskip("zstandard").ZstdCompressor().compressobj()
    return b"".join([*(packer.compress(piece) for piece in pieces), packer.flush()])


def spans(count: int, end: int) -> bytes:
    """An export with spans far beyond the end of the text."""
    given = [span(n, end + n, "PER") for n in range(count)]
    return json.dumps([task(1, "a text", annotation(1, *given))]).encode()


BOMBS = {
    "nested-json": Bomb(file="x.json", make=lambda: b"[" * 3_000_000, refused="not JSON"),
    "nested-objects": Bomb(file="x.json", make=lambda: b'{"a":' * 3_000_000, refused="x.json"),
    "nested-jsonl": Bomb(file="x.jsonl", make=lambda: b'{"item": ' + b"[" * 3_000_000, refused="x.jsonl"),
    "own-keys": Bomb(file="x.jsonl", make=lambda: jsonl(20_000, lambda n: {f"k{n}": 1}), refused=LIMIT),
    "own-keys-beside-labels": Bomb(file="x.jsonl", make=lambda: jsonl(20_000, lambda n: {**label(n), f"k{n}": 1}), refused=LIMIT),
    "own-keys-json": Bomb(file="x.json", make=lambda: json.dumps([{f"k{n}": 1} for n in range(20_000)]).encode(), refused=LIMIT),
    "own-keys-inside": Bomb(file="x.jsonl", make=lambda: jsonl(5_000, lambda n: {**label(n), "meta": {f"k{n}": 1}}), refused=LIMIT),
    "sparse-keys": Bomb(
        file="x.jsonl", make=lambda: jsonl(16_000, lambda n: {**label(n), **({f"k{n}": "x"} if n < 8_000 else {})}), refused=LIMIT,
    ),
    "xlsx-cell": Bomb(file="x.xlsx", make=lambda: workbook(1_500 * MEBIBYTE), refused=LIMIT),
    "xlsx-small-cell": Bomb(file="x.xlsx", make=lambda: workbook(300 * MEBIBYTE), refused="x.xlsx"),
    "csv-gz": Bomb(file="x.csv.gz", make=lambda: gzipped(repeat(b"u,a,x\n", 3600 * MEBIBYTE, HEADER)), refused=LIMIT),
    "csv-gz-one-cell": Bomb(file="x.csv.gz", make=lambda: gzipped(repeat(b"u", 1200 * MEBIBYTE, HEADER)), refused=LIMIT),
    "json-gz": Bomb(file="x.json.gz", make=lambda: gzipped(repeat(b"[],", 1200 * MEBIBYTE, b"[")), refused="x.json.gz"),
    "zip-members": Bomb(file="x.zip", make=lambda: zipped({f"m{n}.jsonl": b'{"item": 1}\n' for n in range(100_000)}), refused="x.zip"),
    "zip-members-read": Bomb(file="x.eval", make=lambda: inspect_log(99_999)),
    "zip-too-many": Bomb(file="x.zip", make=lambda: zipped({f"m{n}": b"" for n in range(100_001)}), refused="100,000"),
    "zip-large-member": Bomb(file="x.zip", make=lambda: zipped(iter([("m.json", repeat(b"[", 3000 * MEBIBYTE))])), refused="x.zip"),
    "wrench": Bomb(file="train.json", make=lambda: wrench(200, 20_000), refused=LIMIT, options=("--format", "wrench")),
    "classes": Bomb(
        file="x.csv", make=lambda: HEADER + b"".join(b"u%d,a%d,c%d\n" % (n, n % 9, n) for n in range(100_000)),
        refused="100,000 different labels for 100,000 items",
    ),
    "annotators": Bomb(file="x.csv", make=lambda: HEADER + b"".join(b"u%d,a%d,x\n" % (n % 10, n) for n in range(100_000))),
    "csv-columns": Bomb(file="x.csv", make=lambda: b",".join(b"c%d" % n for n in range(200_000)) + b"\n" + b"," * 199_999, refused=LIMIT),
    "csv-empty-fields": Bomb(file="x.csv", make=lambda: HEADER + b"," * 10_000_000, refused="x.csv"),
    "csv-quotes": Bomb(file="x.csv", make=lambda: HEADER + b'"' * 10_000_000, refused="x.csv"),
    "csv-lines": Bomb(file="x.csv", make=lambda: HEADER + b"\n" * 15_000_000, refused="x.csv"),
    "conll-columns": Bomb(file="x.conll", make=lambda: b"t" + b" O" * 3_000_000 + b"\n", refused="x.conll"),
    "json-empty-lists": Bomb(file="x.json", make=lambda: b"[" + b"[]," * 3_000_000 + b"[]]", refused="x.json"),
    "json-strings": Bomb(file="x.json", make=lambda: b'[{"item":"u","annotator":"a","label":["' + b'","' * 3_000_000 + b'"]}]'),
    "xlsx-rows": Bomb(file="x.xlsx", make=lambda: workbook_of(b"<row>" + b"<c><v>1</v></c>" * 3 + b"</row>", 4_000_000), refused=LIMIT),
    "xlsx-far-cells": Bomb(file="x.xlsx", make=lambda: workbook_of(b'<row><c r="XFD1"><v>1</v></c></row>', 400_000), refused=LIMIT),
    "xlsx-far-row": Bomb(file="x.xlsx", make=lambda: workbook_of(b'<row r="900000000"><c><v>1</v></c></row>', 1), refused="x.xlsx"),
    "xlsx-columns": Bomb(file="x.xlsx", make=lambda: workbook_of(b"<row>" + b"<c><v>1</v></c>" * 16_384 + b"</row>", 500), refused=LIMIT),
    "xlsx-entities": Bomb(file="x.xlsx", make=lambda: zipped({**WORKBOOK, "xl/worksheets/sheet1.xml": ENTITIES}), refused="x.xlsx"),
    "parquet-rows": Bomb(file="x.parquet", make=lambda: parquet(100_000_000), refused=LIMIT),
    "npz-zeros": Bomb(file="x.npz", make=lambda: npz((40_000, 50_000)), refused=LIMIT, options=("--format", "label-matrix")),
    "npy-shape": Bomb(file="x.npy", make=lambda: npy_header((1 << 40, 1 << 20)), refused="x.npy", options=("--format", "label-matrix")),
    "zip-in-zip": Bomb(file="x.zip", make=lambda: zipped({"m.zip": zipped(iter([("m.json", repeat(b"[", 2000 * MEBIBYTE))]))}), refused="x.zip"),
    "gz-members": Bomb(file="x.csv.gz", make=lambda: gzipped(iter([HEADER])) + gzipped(iter([b""])) * 900_000, refused="x.csv.gz"),
    "gz-in-gz": Bomb(file="x.csv.gz", make=lambda: gzipped(iter([gzipped(repeat(b"\0", 2000 * MEBIBYTE))])), refused="x.csv.gz"),
    "csv-zstandard": Bomb(file="x.csv", make=lambda: zstandard(repeat(b"u,a,x\n", 3600 * MEBIBYTE, HEADER)), refused="x.csv"),
    "doccano-members": Bomb(file="x.zip", make=lambda: doccano(99_999)),
    "annotators-with-pairs": Bomb(file="x.csv", make=lambda: HEADER + b"".join(b"u%d,a%d,%d\n" % (n // 20_000, n % 20_000, n * n % 7 % 3) for n in range(1_200_000))),
    "xlsx-most-cells": Bomb(file="x.xlsx", make=lambda: workbook_of(b"<row>" + b"<c><v>1</v></c>" * 3 + b"</row>", 1_190_000), refused=LIMIT),
    "classes-and-annotators": Bomb(file="x.csv", make=lambda: HEADER + b"".join(b"u%d,a%d,c%d\n" % (n // 3, n * 7 % 5_000, n * n % 4_999) for n in range(500_000)), refused="The probabilities of all classes need"),
    "csv-wide": Bomb(file="x.csv", make=lambda: b"item," + b",".join(b"a%d" % n for n in range(8_000)) + (b"\nu" + b",x" * 8_000) * 1_000, options=("--wide",)),
    "jsonl-tags": Bomb(file="x.jsonl", make=lambda: json.dumps({"item": "u", "tokens": ["t"] * 1_000_000, "crowd": {"a": ["O"] * 1_000_000}}).encode()),
    "jsonl-long-key": Bomb(file="x.jsonl", make=lambda: json.dumps({**label(0), "k" * 15_000_000: 1}).encode()),
    "label-studio-spans": Bomb(file="x.json", make=lambda: spans(30_000, 10**12), options=("--format", "label-studio"), refused="x.json"),
    "json-number": Bomb(file="x.json", make=lambda: b'[{"item":' + b"9" * 3_000_000 + b"}]", refused="x.json"),
}  # fmt: skip
"""The table. Every file has at most 20 MB."""
