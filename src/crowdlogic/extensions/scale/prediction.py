"""Prediction for items that do not fit into memory: `crowdlogic predict --engine`.

Parquet files are split into pieces of rows. A worker loads the run once. For each piece, it reads the rows, predicts
the answers as `predict` does, and writes them as a Parquet file to a folder next to the output. At the end, these files
are concatenated. A cluster therefore needs a file system that all machines see at the same paths.

Rules stay exact as long as no rule relates two items: a piece then contains everything that its answers depend on.
Other rules are rejected.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import polars as pl

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.features import featured_items_from_table, is_npz
from crowdlogic.data.files import atomic_write, require_file
from crowdlogic.data.formats.parquet import check_footer
from crowdlogic.data.formats.tables import UNREADABLE, hold_back_panics, sentence_answers_table
from crowdlogic.data.frames import corpus_from_table, number_items, to_corpus
from crowdlogic.data.intake.columns import find_roles
from crowdlogic.data.intake.contract import TableSource, is_plain
from crowdlogic.data.reading import find_label_paths
from crowdlogic.errors import CorpusError, CrowdLogicError, FormatError, OptionError, RuleError
from crowdlogic.extensions.scale.out_of_core import stream_format, write_parts
from crowdlogic.learning.saved_run import Run, load_run
from crowdlogic.rules.expansion import expand, find_predicate, variable_kinds
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.predicates.definition import Kind, Role
from crowdlogic.rules.syntax import Rule, Variable
from crowdlogic.workflows.inputs import read_vocabulary
from crowdlogic.workflows.predict import (
    Predicted,
    PredictOptions,
    answer_items,
    calibration_notices,
    find_predictor,
    open_run,
)

PIECE_ROWS = 50_000
"""Maximum number of rows of a piece."""

BATCH_ROWS = 10_000
"""Number of rows of a piece that are answered at a time; taggers need the most memory for it, about 0.2 GB."""


@dataclass(frozen=True, kw_only=True)
class Piece:
    """Consecutive rows of a Parquet file.

    Attributes:
        number: Position among all pieces.
        path: The file.
        first: Position of the first row in the file.
        rows: Number of rows.
        before: Number of rows of all files before the first row.
    """

    number: int
    path: str
    first: int
    rows: int
    before: int


@dataclass(frozen=True, kw_only=True)
class PieceAnswered:
    """Report of a worker about a piece.

    Attributes:
        units: Number of units: documents or tokens.
        problem: The message of an error in the data; empty if the piece was answered.
    """

    units: int = 0
    problem: str = ""


@dataclass(frozen=True, kw_only=True)
class PiecePredictor:
    """Predictor for pieces, which can be sent to other processes.

    Attributes:
        options: The options of `predict`, with absolute paths.
        folder: The folder for the answers to pieces.
    """

    options: PredictOptions
    folder: str

    def answer(self, piece: Piece) -> PieceAnswered:
        """Write the answers to a piece; an error in the data is returned, since not all engines transport errors."""
        try:
            options = self.options
            run = load_run_once(options.run, options.tables)
            table = read_rows(piece.path, piece.first, piece.rows)
            parts, units = [], 0
            for start in range(0, len(table), BATCH_ROWS):
                source = TableSource(piece.path, first_row=piece.first + start)
                rows = table.slice(start, BATCH_ROWS)
                corpus = corpus_of_rows(rows, source, options, before=piece.before + start)
                corpus = to_corpus(corpus, sequential=run.estimate.offsets is not None)
                parts.append(answers_table(answer_items(run, corpus, options), corpus))
                units += corpus.n_units
        except CrowdLogicError as problem:
            return PieceAnswered(problem=str(problem))
        with atomic_write(part_path(self.folder, piece.number)) as draft:  # a killed worker leaves no incomplete part
            pl.concat(parts).write_parquet(draft)
        return PieceAnswered(units=units)


Runner = Callable[[PiecePredictor, Sequence[Piece]], Iterator[PieceAnswered]]
"""Function of an engine that answers all pieces and yields the report about each, in any order."""


def predict_locally(options: PredictOptions) -> Predicted:
    """Predict piece by piece in this process."""
    if (options.workers or 1) > 1 or options.address is not None:
        raise OptionError("--engine local predicts in this process. For several workers, pass --engine ray or spark.")
    return predict_pieces(options, lambda predictor, pieces: (predictor.answer(piece) for piece in pieces))


def predict_pieces(options: PredictOptions, answer_all: Runner) -> Predicted:
    """Predict all pieces with an engine and concatenate the output, which only appears once it is complete.

    Args:
        options: The options of `predict`.
        answer_all: Runs the pieces.
    """
    # Reject unsupported inputs before any work starts
    written_as = stream_format(options.out, options.format)
    run, options = open_run(options)
    if not options.student:
        refuse_related_items(run, options.engine)
    if is_npz(options.input.features):
        raise OptionError("--engine reads features from columns of the Parquet files, not from an .npz file.")
    tags_tokens = run.estimate.offsets is not None
    if tags_tokens and written_as in ("csv", "tsv"):
        raise OptionError(f"-o {options.out}: tagged sentences are written as .jsonl or .parquet. Choose such a file.")
    pieces = cut_pieces(item_files(options))
    notices = check_items(pieces, options, sequential=tags_tokens)

    # Answer the pieces, in a folder next to the output, which is on a file system that all workers see
    folder = Path(tempfile.mkdtemp(prefix=".crowdlogic-pieces-", dir=Path(options.out).resolve().parent))
    try:
        pairs = (text.partition("=") for text in options.tables)
        tables = tuple(f"{name}={Path(path).resolve()}" for name, _, path in pairs)
        sent = replace(options, run=str(Path(options.run).resolve()), tables=tables)
        units = 0
        for answered in answer_all(PiecePredictor(options=sent, folder=str(folder)), pieces):
            if answered.problem:
                raise CorpusError(answered.problem)
            units += answered.units
        parts = (pl.read_parquet(part_path(folder, piece.number), glob=False) for piece in pieces)
        schema = pl.read_parquet_schema(part_path(folder, 0))
        write_parts(options.out, parts, written_as, schema, spreadsheet_safe=options.spreadsheet_safe)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return Predicted(
        estimate=None,
        method=run.estimate.method,
        counts={"items": sum(piece.rows for piece in pieces), "units": units},
        predictor=find_predictor(run, options),
        score=None,
        out=options.out,
        notices=(*notices, *calibration_notices(run, options)),
    )


def cut_pieces(paths: Sequence[Path]) -> list[Piece]:
    """Return pieces of at most PIECE_ROWS rows that cover all rows of Parquet files."""
    pieces: list[Piece] = []
    before = 0
    for path in paths:
        size = int(_read(str(path), lambda rows: rows.select(pl.len())).item())
        for first in range(0, size, PIECE_ROWS):
            rows = min(PIECE_ROWS, size - first)
            pieces.append(Piece(number=len(pieces), path=str(path), first=first, rows=rows, before=before + first))
        before += size
    if not pieces:
        raise FormatError(f"{paths[0]}: contains no rows. Give at least one row.")
    return pieces


def item_files(options: PredictOptions) -> list[Path]:
    """Return the Parquet files of items, which must have the same columns: a file, those in a folder or of a pattern.

    Their paths are absolute, because workers may run in another folder.
    """
    found = find_label_paths(options.items) or (require_file(options.items),)
    paths = [path.resolve() for path in found]
    for path in paths:
        if (options.input.format or path.suffix.lower().removeprefix(".")) not in ("parquet", "pq"):
            raise OptionError(f"{path}: --engine {options.engine} reads Parquet files. Convert it to Parquet first.")
        check_footer(path)
    schemas = [pl.read_parquet_schema(path) for path in paths]
    for path, schema in zip(paths, schemas, strict=True):
        if schema != schemas[0]:
            raise FormatError(
                f"{path}: columns or types differ from those of {paths[0]}. Write all files with the same columns."
            )
    return paths


def check_items(pieces: Sequence[Piece], options: PredictOptions, *, sequential: bool) -> list[str]:
    """Raise an error if two items have the same name, and return notices about the items.

    Names are compared by 64-bit hashes, so that this takes eight bytes per item.

    Args:
        pieces: All pieces.
        options: The options of `predict`.
        sequential: Whether the run tags tokens.
    """
    header = read_rows(pieces[0].path, 0, 0)
    is_numbered = options.input.features is None and number_items(header, options.input.columns) is not None
    roles = find_roles(header.columns, options.input.columns, where=pieces[0].path, gold=True)
    notices = []
    if is_numbered:
        notices.append(f"{options.items}: items have no names, so they are numbered from 0 in the order of the files.")
    if sequential and "tokens" not in roles:
        notices.append(
            f"{options.items}: {options.run} tags tokens, so the texts were split into words and punctuation marks."
        )
    if "label" in roles or "tags" in roles:
        notices.append(f"{options.items}: its gold is not scored with --engine. Score the output: crowdlogic evaluate.")
    if is_numbered or "item" not in roles or not is_plain(header[roles["item"]].dtype):
        return notices  # a missing or invalid column is reported by the first piece

    def names(piece: Piece) -> pl.Series:
        return read_rows(piece.path, piece.first, piece.rows, columns=[roles["item"]])[roles["item"]]

    hashes = np.concatenate([names(piece).hash(seed=0).to_numpy() for piece in pieces])
    order = np.argsort(hashes, kind="stable")
    for at in np.flatnonzero(hashes[order][1:] == hashes[order][:-1]):
        (first, name), (second, other) = (
            (f"{piece.path}, row {piece.first + row - piece.before}", names(piece)[row - piece.before])
            for row in order[at : at + 2].tolist()
            for piece in pieces
            if piece.before <= row < piece.before + piece.rows
        )
        if name is not None and name == other:  # otherwise different names share a hash
            raise CorpusError(f"{second}: item {name!r} appears again (first: {first}). Give each item once.")
    return notices


def refuse_related_items(run: Run, engine: str | None) -> None:
    """Raise an error if a rule relates items to each other, since they may be in different pieces."""
    projector = run.teacher.projector
    if projector.rules is None:
        return
    vocabulary = projector.vocabulary or Vocabulary()
    for rule in expand(projector.rules, run.estimate.classes).rules:
        if relates_items(rule, vocabulary):
            raise RuleError(
                f"--engine {engine}: the rule {rule} ({rule.place}) is about named items or relates items to each "
                f"other, and pieces are predicted independently. Predict without --engine, or pass --student."
            )


def relates_items(rule: Rule, vocabulary: Vocabulary) -> bool:
    """Return whether the answer for one item may depend on other items, or on facts about named items."""
    kinds = variable_kinds(rule, vocabulary)
    same_sentence = {name: name for name, kind in kinds.items() if kind is Kind.unit}  # representative of each variable
    for atom in rule.atoms:
        if atom.is_comparison:
            continue
        predicate = find_predicate(atom, vocabulary)
        units = [term for term in atom.variables() if term.name in same_sentence]
        named = [
            term
            for term, kind in zip(atom.terms, predicate.kinds, strict=True)
            if kind in (Kind.unit, Kind.readable) and not isinstance(term, Variable)
        ]
        if named or any(term.summed for term in units) or (units and predicate.role is Role.table):
            return True
        if predicate.role is Role.structure:  # Previous(T, P): both are tokens of the same sentence
            joined = {same_sentence[term.name] for term in units}
            for name, other in same_sentence.items():
                if other in joined:
                    same_sentence[name] = min(joined)
    return len(set(same_sentence.values())) > 1


def read_rows(path: str, first: int, rows: int, *, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Read consecutive rows of a Parquet file."""
    return _read(path, lambda found: (found if columns is None else found.select(columns)).slice(first, rows))


def _read(path: str, select: Callable[[pl.LazyFrame], pl.LazyFrame]) -> pl.DataFrame:
    try:
        with hold_back_panics():
            return select(pl.scan_parquet(path, glob=False)).collect()
    except UNREADABLE as problem:
        raise FormatError(f"{path}: cannot be read as a Parquet file ({str(problem)[:80]}).") from problem


def corpus_of_rows(table: pl.DataFrame, source: TableSource, options: PredictOptions, *, before: int) -> Corpus:
    """Return the items in some rows; those without names are numbered on from `before`."""
    columns = options.input.columns
    if options.input.features is not None:
        return featured_items_from_table(table, source, options.input.features, columns)
    numbered = number_items(table, columns)
    if numbered is not None:
        table = numbered.with_columns(pl.col("item") + before)
    return corpus_from_table(table, source, columns)


def answers_table(estimate: Estimate, corpus: Corpus) -> pl.DataFrame:
    """Return the answers as `predict` writes them to Parquet."""
    return estimate.to_frame() if estimate.offsets is None else sentence_answers_table(estimate, corpus)


def part_path(folder: str | Path, number: int) -> Path:
    """Return the file for the answers to a piece."""
    return Path(folder) / f"{number:06d}.parquet"


@lru_cache(maxsize=1)
def load_run_once(folder: str, tables: tuple[str, ...] = ()) -> Run:
    """Return a run; a worker answers many pieces with the same one."""
    return load_run(folder, vocabulary=read_vocabulary(tables))
