"""Reader for WebAnno TSV 3, exported by INCEpTION and WebAnno: a folder or zip file with <document>/<user>.tsv.

A feature of a span layer is a question named layer.feature (`NamedEntity.value`), with only the last part of the
layer's name. The items are sentences. Annotations by `CURATION_USER` are gold; `INITIAL_CAS`, the initial document
without annotations, is skipped. Positions are UTF-16 offsets into the document. Annotations of a part of a token are
widened to the whole token.

Layout as in the user guide of INCEpTION (WebAnno TSV 3.3).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from crowdlogic.data.files import InputFile, member_file
from crowdlogic.data.folders import Folder
from crowdlogic.data.formats.protocol import Crowd, ReadOptions
from crowdlogic.errors import FormatError
from crowdlogic.extensions.tools.collector import Collector, ToolExport, require_question
from crowdlogic.extensions.tools.marked_spans import MarkedSpan

CHUNK_BYTES = 1 << 20
"""Number of bytes read at a time."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
HEADER = b"#FORMAT=WebAnno TSV 3"
CURATOR, NOBODY = "CURATION_USER", "INITIAL_CAS"
TOKEN = re.compile(r"(\d+)-(\d+)(\.\d+)?$")
PLACE = re.compile(r"(\d+)-(\d+)$")
VALUE = re.compile(r"(.*?)(?:\[(\d+)\])?$", re.DOTALL)
STACKED = re.compile(r"(?<!\\)\|")
ESCAPED = re.compile(r"\\(->|.)", re.DOTALL)
NOTHING, NO_VALUE = "_", "*"
REMEDY = "Export the documents again as WebAnno TSV v3.3."


class WebannoTsv(ToolExport):
    """WebAnno TSV with one file per document and annotator."""

    name, title, suffixes = "webanno-tsv", "WebAnno TSV", (".tsv", ".zip")

    def recognises(self, head: bytes) -> bool:
        """Return whether the first line is the header of WebAnno TSV 3."""
        return head.removeprefix(BYTE_ORDER_MARK).startswith(HEADER)

    def recognises_folder(self, folder: Folder) -> bool:
        """Return whether any of the first 20 TSV files is WebAnno TSV."""
        names = [name for name in folder.names if name.endswith(".tsv")]
        return any(self.recognises(member_file(folder, name).head(64)) for name in names[:20])

    def read_crowd(self, file: InputFile, options: ReadOptions) -> Crowd:
        """Read the tags of all annotators on all sentences, and the curator's tags as gold."""
        collector = Collector(file.name, options)
        files = [one for one in file.members(".tsv") if one is file or PurePosixPath(str(one.path)).stem != NOBODY]
        documents = [_read_header(one, collector) for one in files]
        kinds = {question: "spans" for document in documents for question in document.columns}
        try:
            question = require_question(kinds, _full_name(collector.question, kinds), file.name)
        except FormatError:
            for document in documents:  # report damaged files first, since choosing a question would not help
                collector.member = document.member
                for _ in _sentences(_lines(document.file, collector), collector):
                    pass
            raise
        collector.question = question
        for document in documents:
            collector.member = document.member
            _read_document(document, question, collector)
        return collector.crowd()


WEBANNO_TSV = WebannoTsv()


@dataclass
class _Sentence:
    """Sentence: its number, text and line, the positions of its tokens, and the cells of every token."""

    number: int
    text: str
    line: int
    tokens: list[tuple[int, int]] = field(default_factory=list)
    cells: list[list[str]] = field(default_factory=list)


@dataclass(frozen=True)
class _Document:
    """File with its document, its annotator, and its columns by question."""

    file: InputFile
    member: str
    document: str
    annotator: str
    columns: dict[str, int]


def _full_name(chosen: str | None, kinds: dict[str, Any]) -> str | None:
    """Return the full name of the chosen question; a layer's name is enough if it has one feature."""
    if chosen is None or chosen in kinds:
        return chosen
    found = [name for name in kinds if name.rpartition(".")[0] == chosen]
    return found[0] if len(found) == 1 else chosen


def _read_header(file: InputFile, collector: Collector) -> _Document:
    collector.enter(file)
    path = PurePosixPath(collector.member or str(file.path).replace("\\", "/"))
    first = next(_lines(file, collector), "")
    if not first.startswith(HEADER.decode()):
        raise collector.error("line 1", f"expected {HEADER.decode()!r}, got {first[:40]!r}", REMEDY)
    return _Document(
        file=file,
        member=collector.member,
        document=path.parent.name or path.stem,
        annotator=path.stem,
        columns=_columns(_lines(file, collector)),
    )


def _lines(file: InputFile, collector: Collector) -> Iterator[str]:
    """Yield the lines of a file, reading one chunk at a time."""
    try:
        for at, line in enumerate(_byte_lines(file)):
            found = line.removeprefix(BYTE_ORDER_MARK) if at == 0 else line
            yield found.removesuffix(b"\r").decode("utf-8")
    except UnicodeDecodeError:
        raise collector.error("", "not UTF-8 text", "Save the file as UTF-8.") from None


def _byte_lines(file: InputFile) -> Iterator[bytes]:
    rest = b""
    with file.open_unpacked() as opened:
        while piece := opened.read(CHUNK_BYTES):
            *lines, rest = (rest + piece).split(b"\n")
            yield from lines
    yield rest


def _columns(lines: Iterable[str]) -> dict[str, int]:
    """Map layer.feature to its column among the cells of a token, for the span layers of the header."""
    found: dict[str, int] = {}
    at = 0
    for line in lines:
        kind, _, declared = line.partition("=")
        if kind not in ("#T_SP", "#T_CH", "#T_RL"):
            continue
        layer, *features = declared.split("|")
        for feature in features or ["value"]:
            if kind == "#T_SP" and not feature.startswith("ROLE_"):
                found[f"{layer.rpartition('.')[2]}.{feature}"] = at
            at += 1
    return found


def _sentences(lines: Iterable[str], collector: Collector) -> Iterator[_Sentence]:
    """Yield the sentences of a file, in order."""
    sentence: _Sentence | None = None
    start = 0
    for at, line in enumerate(lines, start=1):
        if line.startswith("#Text="):
            text = _unescape(line.removeprefix("#Text="))
            if sentence is not None and not sentence.cells:
                sentence.text += f"\n{text}"
                continue
            if sentence is not None:
                yield sentence
            sentence = _Sentence(0, text, at)
        elif line and not line.startswith("#"):
            if sentence is None:
                raise collector.error(f"line {at}", "a token before the text of its sentence", REMEDY)
            start = _add_token(sentence, line, at, start, collector)
    if sentence is not None and sentence.cells:
        yield sentence


def _add_token(sentence: _Sentence, line: str, at: int, start: int, collector: Collector) -> int:
    """Add the token of a line; return the sentence's start in the document, in UTF-16 units."""
    cells = line.split("\t")
    name = TOKEN.match(cells[0])
    place = PLACE.match(cells[1]) if len(cells) > 2 else None
    if name is None or place is None:
        raise collector.error(f"line {at}", f"expected a token with its position, found {line[:40]!r}", REMEDY)
    if name[3]:  # a part of a token: its annotations count for the whole token
        pairs = zip(sentence.cells[-1], cells[3:], strict=False)
        sentence.cells[-1] = [part if cell == NOTHING else cell for cell, part in pairs]
        return start
    if not sentence.tokens:
        start, sentence.number = int(place[1]), int(name[1])
    bounds = tuple(_characters(sentence.text, int(edge) - start) for edge in place.groups())
    if not bounds[0] < bounds[1] <= len(sentence.text):
        raise collector.error(f"line {at}", f"the token {cells[2]!r} lies outside its sentence", REMEDY)
    sentence.tokens.append((bounds[0], bounds[1]))
    sentence.cells.append(cells[3:])
    return start


def _characters(text: str, units: int) -> int:
    """Convert an offset in UTF-16 units to characters; an invalid one becomes len(text) + 1."""
    if units < 0:
        return len(text) + 1
    whole = text.encode("utf-16-le", errors="surrogatepass")
    found = len(whole[: 2 * units].decode("utf-16-le", errors="replace"))
    return found if 2 * units <= len(whole) else len(text) + 1


def _unescape(text: str) -> str:
    return ESCAPED.sub(lambda found: {"t": "\t", "n": "\n", "r": "\r"}.get(found[1], found[1]), text)


def _read_document(document: _Document, question: str, collector: Collector) -> None:
    """Collect the spans of one annotator in one document."""
    column = document.columns.get(question)
    for sentence in _sentences(_lines(document.file, collector), collector):
        name = f"{document.document}#{sentence.number}"
        item = collector.item(name, text=sentence.text, tokens=sentence.tokens)
        if len(collector.text(item) or "") != len(sentence.text):
            raise collector.error(f"line {sentence.line}", "the text differs between annotators' files", REMEDY)
        spans = [] if column is None else _spans(sentence, column)
        if document.annotator == CURATOR:
            collector.gold_spans(item, spans, record=sentence.line)
        else:
            collector.spans(item, document.annotator, spans, record=sentence.line, kind="human")


def _spans(sentence: _Sentence, column: int) -> list[MarkedSpan]:
    """Return the spans of a column; values with the same number in brackets form one span."""
    found: dict[tuple[str, str], MarkedSpan] = {}
    for at, ((start, end), cells) in enumerate(zip(sentence.tokens, sentence.cells, strict=True)):
        cell = cells[column] if column < len(cells) else NOTHING
        for stacked, value in enumerate(STACKED.split(cell)):
            name, number = VALUE.match(value).groups()  # type: ignore[union-attr]  # the pattern matches any text
            if name in ("", NOTHING):
                continue
            label = "span" if name == NO_VALUE else _unescape(name)
            key = (label, number) if number else (label, f"{at}.{stacked}")
            first = found.get(key, (start, end, label))
            found[key] = (first[0], end, label)
    return list(found.values())
