"""The text of a CoNLL file, parsed into columns and written from them: one token a line with its tags.

Blank lines separate sentences; spaces or tabs separate columns. `token tag` holds one reading (gold, or an answer);
`token tag_1 ... tag_J` holds one column per annotator, with `?` where an annotator did not see the token.

Two comments, at the head of a sentence, keep names: `# id = s12` names the sentence, `# annotators = ann bob` (once, at
the top) the columns. Without them sentences are numbered from 0 and annotators are called annotator_1, annotator_2...
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import polars as pl

from crowdlogic.data.names import Names
from crowdlogic.data.tagging import NOT_SEEN
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import FormatError
from crowdlogic.numerics.arrays import Bools, Ints

ID_MARK, ANNOTATORS_MARK = "# id = ", "# annotators = "


@dataclass(frozen=True, eq=False)
class ConllColumns:
    """A CoNLL file as read.

    Attributes:
        name: The file's name, for messages.
        items: The name of each sentence.
        annotators: The name of each column of tags.
        tokens: tokens[i].
        tags: tags[i * J + j], the tag in column j of unit i, NOT_SEEN where there is none.
        offsets: Where each sentence begins.
        lines: lines[i], the line of unit i in the file.
    """

    name: str
    items: Names
    annotators: Names
    tokens: Names
    tags: Names
    offsets: Ints
    lines: Ints


def parse_columns(content: bytes, name: str, *, untagged: bool = False) -> ConllColumns:
    """Parse a CoNLL file of any number of columns of tags.

    Args:
        content: What the file holds.
        name: What messages call it.
        untagged: Whether tokens may have no tags at all.
    """
    raw = content.removeprefix(b"\xef\xbb\xbf")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as wrong:
        line = raw[: wrong.start].count(b"\n") + 1
        raise FormatError(f"{name}, line {line}: not UTF-8 text. Save the file as UTF-8.") from None
    lines = pl.Series(text.replace("\r\n", "\n").split("\n"), dtype=pl.String)
    lines = lines.str.replace_all(r"[ \t]+", " ").str.strip_chars(" ")
    blank = (lines == "").to_numpy()
    comment = _comments(lines, blank)
    rows = np.flatnonzero(~blank & ~comment)
    if not len(rows):
        raise FormatError(f"{name}: the file is empty. CoNLL has a token and its tags on each line.")
    fields = lines.gather(rows).str.split(" ")
    width = _width(fields, rows, name, least=1 if untagged else 2)
    flat = fields.explode()
    is_tag = np.arange(len(flat)) % width != 0
    offsets = _offsets(blank, rows)
    return ConllColumns(
        name=name,
        items=_item_names(lines, comment, rows[offsets[:-1]], name),
        annotators=_annotator_names(lines, comment, width - 1, name),
        tokens=flat.filter(pl.Series(~is_tag)).alias("token"),
        tags=flat.filter(pl.Series(is_tag)).alias("tag"),
        offsets=offsets,
        lines=rows + 1,
    )


def _comments(lines: Names, blank: Bools) -> Bools:
    """comment[line]: an `# id = ` or `# annotators = ` line at the head of a sentence (or after another comment)."""
    marked = (lines.str.starts_with(ID_MARK) | lines.str.starts_with(ANNOTATORS_MARK)).to_numpy().copy()
    for line in np.flatnonzero(marked):
        marked[line] = line == 0 or blank[line - 1] or marked[line - 1]
    return marked


def _width(fields: pl.Series, content: Ints, name: str, *, least: int) -> int:
    widths = fields.list.len().to_numpy().astype(np.int64)
    if widths[0] < least:
        raise FormatError(f"{name}, line {content[0] + 1}: a token without a tag. Give each token at least one tag.")
    wrong = np.flatnonzero(widths != widths[0])
    if len(wrong):
        also = f" ({len(wrong) - 1:,} more such lines)" if len(wrong) > 1 else ""
        raise FormatError(
            f"{name}, line {content[wrong[0]] + 1}: {pluralise(int(widths[wrong[0]]), 'column')} where the first "
            f"line has {widths[0]}. "
            f"Give every token the same number of tags, {NOT_SEEN} for not seen.{also}"
        )
    return int(widths[0])


def _offsets(blank: Bools, content: Ints) -> Ints:
    """offsets[s]: a sentence begins at a token that is separated from the one before it by a blank line."""
    blanks_before = np.cumsum(blank)[content]
    starts = np.flatnonzero(np.diff(blanks_before, prepend=-1))
    return np.append(starts, len(content))


def _item_names(lines: Names, comment: Bools, first_lines: Ints, name: str) -> Names:
    """The sentences' names: numbers from 0, but for those that a comment names."""
    named: dict[int, str] = {}
    for line in np.flatnonzero(comment):
        text = lines[int(line)]
        if text.startswith(ID_MARK):
            named[int(np.searchsorted(first_lines, line))] = text.removeprefix(ID_MARK)
    if not named:
        return pl.Series("item", np.arange(len(first_lines)))
    names = pl.Series("item", [named.get(s, str(s)) for s in range(len(first_lines))])
    again = (~names.is_first_distinct()).arg_true()
    if len(again):
        at, called = int(first_lines[again[0]]) + 1, names[again[0]]
        raise FormatError(f"{name}, line {at}: a second sentence is called {called!r}. Give each sentence its own id.")
    return names


def _annotator_names(lines: Names, comment: Bools, count: int, name: str) -> Names:
    for line in np.flatnonzero(comment):
        text = lines[int(line)]
        if text.startswith(ANNOTATORS_MARK):
            given = text.removeprefix(ANNOTATORS_MARK).split(" ")
            if len(given) != count:
                raise FormatError(
                    f"{name}, line {line + 1}: {pluralise(len(given), 'annotator')} named for "
                    f"{pluralise(count, 'column')} of tags."
                )
            if len(set(given)) != count:
                raise FormatError(f"{name}, line {line + 1}: an annotator is named twice. Name each column once.")
            return pl.Series("annotator", given)
    return pl.Series("annotator", [f"annotator_{j + 1}" for j in range(count)])


def encode_columns(
    items: Names,
    tokens: Sequence[str],
    offsets: Ints,
    columns: Sequence[Sequence[str]],
    annotators: Sequence[str] | None = None,
) -> bytes:
    """The text of a CoNLL file. Sentences not just numbered, and annotators if given, are named in comments.

    What would not be read again as it was is refused: white space in a token, tag or name, and empty sentences.
    """
    numbered = items.dtype.is_integer() and bool((items.to_numpy() == np.arange(len(items))).all())
    names = [] if numbered else [str(name) for name in items]
    for what, values in (("token", tokens), ("annotator", annotators or ()), *(("tag", tags) for tags in columns)):
        _refuse_spaces(what, values)
    _refuse_breaks(names)
    if (np.diff(offsets) == 0).any():
        empty = items[int(np.flatnonzero(np.diff(offsets) == 0)[0])]
        raise FormatError(f"Sentence {empty!r} is empty, which CoNLL cannot say. Write .jsonl instead.")
    rows = [" ".join(row) for row in zip(tokens, *columns, strict=True)]
    head = [] if annotators is None else [ANNOTATORS_MARK + " ".join(annotators)]
    parts = []
    for s, (start, end) in enumerate(pairwise(offsets.tolist())):
        comment = [f"{ID_MARK}{names[s]}"] if names else []
        parts.append("\n".join([*head, *comment, *rows[start:end]]))
        head = []
    return ("\n\n".join(parts) + "\n").encode()


def _refuse_spaces(what: str, values: Iterable[str]) -> None:
    for value in dict.fromkeys(values):
        if not value or set(value) & set(" \t\n\r"):
            raise FormatError(f"The {what} {value!r} holds white space, which CoNLL cannot. Write .jsonl instead.")


def _refuse_breaks(names: Iterable[str]) -> None:
    for name in names:
        if not name or name.strip(" ") != name or "  " in name or set(name) & set("\t\n\r"):
            raise FormatError(f"The sentence name {name!r} would not survive in CoNLL. Write .jsonl instead.")
