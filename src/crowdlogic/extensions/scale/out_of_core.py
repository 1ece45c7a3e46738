"""Aggregation of labels larger than memory: encoded once as shards on disk, fitted and answered shard by shard.

Whether a table is read in memory or in shards depends on its size and the available memory, and is reported. The
answers and confidences equal those of a fit in memory to 1e-8, but the items are in the order of the shards.
"""

from __future__ import annotations

import errno
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.annotators.label_sums import Q, find_one_sided
from crowdlogic.confidence.expected_accuracy import ExpectedAccuracy, accuracy_range, describe_mistakes
from crowdlogic.data.blocks import Arrays, Engine
from crowdlogic.data.estimate import PROBABILITY_PREFIX
from crowdlogic.data.files import STANDARD_STREAM, atomic_write
from crowdlogic.data.folders import describe_size
from crowdlogic.data.formats.delimited import guard_cells, warn_of_formulas
from crowdlogic.data.intake.contract import Duplicates
from crowdlogic.data.names import Names, as_text, class_column
from crowdlogic.data.reading import TABLE_SUFFIXES, find_label_paths
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import OptionError, name_list, parse_choice
from crowdlogic.extensions.scale.coded_files import Manifest, read_annotators, read_items, read_manifest
from crowdlogic.extensions.scale.coding import CodingOptions, code_files, sources_digest
from crowdlogic.extensions.scale.label_files import LabelFiles, open_label_files
from crowdlogic.extensions.scale.sources import SMALL_FILE, available_memory
from crowdlogic.registry import ENGINES, TRUTH_METHODS
from crowdlogic.truth.dependence import state_fit, sum_votes, with_range_of_sums
from crowdlogic.truth.fitting import EngineFit, Fitting, fits_over_engines
from crowdlogic.truth.majority import MajorityVote
from crowdlogic.truth.methods import WHY_POOL
from crowdlogic.truth.ties import Ties, best_classes, winners
from crowdlogic.workflows.aggregate import AggregateOptions, Answered, parse_dependence
from crowdlogic.workflows.inputs import require_folder

STREAM_FORMATS = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".tsv": "tsv", ".jsonl": "jsonl"}
"""Suffixes of the formats that can be written incrementally."""


def stream_format(out: str, named: str | None) -> str:
    """Return the output format; raise an error unless it can be written incrementally."""
    found = named or STREAM_FORMATS.get(Path(out).suffix.lower(), "")
    if out == STANDARD_STREAM or found not in STREAM_FORMATS.values():
        raise OptionError(
            f"-o {out}: for labels in shards, answers must be written as one of {name_list(STREAM_FORMATS)}. "
            f"Choose such a file."
        )
    require_folder(out)
    return found


def write_parts(
    out: str, parts: Iterator[pl.DataFrame], format: str, schema: Mapping[str, Any], *, spreadsheet_safe: bool = False
) -> None:
    """Write a table incrementally; the file only appears once it is complete."""
    with atomic_write(out) as draft:
        if format == "parquet":
            _write_parquet(draft, parts, schema)
        else:
            _write_text(draft, parts, format, target=out, spreadsheet_safe=spreadsheet_safe)


def _write_parquet(draft: Path, parts: Iterator[pl.DataFrame], schema: Mapping[str, Any]) -> None:
    from polars.io.plugins import register_io_source

    problems: list[BaseException] = []

    def read(*_: object) -> Iterator[pl.DataFrame]:
        try:
            yield from parts
        except BaseException as problem:  # polars would wrap it in its own exception
            problems.append(problem)
            raise

    try:
        register_io_source(io_source=read, schema=dict(schema)).sink_parquet(draft, maintain_order=True)
    except (pl.exceptions.PolarsError, OSError) as problem:
        if problems:
            raise problems[0] from None
        if "No space left" in str(problem) or "os error 28" in str(problem):
            raise OSError(errno.ENOSPC, "No space left on device", str(draft)) from problem
        raise


def _write_text(
    draft: Path, parts: Iterator[pl.DataFrame], format: str, *, target: str, spreadsheet_safe: bool
) -> None:
    """Write csv, tsv or jsonl; the header precedes the first part of a csv file."""
    has_warned = False
    with draft.open("wb") as file:
        for at, part in enumerate(parts):
            if format == "jsonl":
                part.write_ndjson(file)
                continue
            table = part.with_columns(as_text(part["label"]).alias("label"))
            if spreadsheet_safe:
                table = guard_cells(table)
            elif not has_warned:
                has_warned = warn_of_formulas(table, target)
            table.write_csv(file, separator="\t" if format == "tsv" else ",", include_header=at == 0)


BYTES_IN_MEMORY = 200
"""Peak memory per label for reading, fitting and writing a table in memory, in bytes."""

MEMORY_NOTICE = "--memory limits the encoding of labels; the workers of {} use additional memory, 6 bytes per label."

IN_MEMORY_ONLY = ("anchors", "gold", "items", "save", "min_confidence")
"""Options that need all labels in memory."""


@dataclass(frozen=True, kw_only=True)
class LargeLabels:
    """Labels to be read in shards.

    Attributes:
        files: The files.
        memory: Memory limit in bytes.
        reason: Why the labels are read in shards, for a notice.
    """

    files: LabelFiles
    memory: int
    reason: str


def find_large_labels(options: AggregateOptions) -> LargeLabels | None:
    """Return the labels if they should be read in shards; None if they are read into memory."""
    if options.labels == STANDARD_STREAM and options.engine is None:
        return None
    memory, paths = options.memory or available_memory(), find_label_paths(options.labels)
    if paths is not None:
        files = open_label_files(options.labels, paths, columns=options.input.columns, format=options.input.format)
        return LargeLabels(
            files=files, memory=memory, reason=f"{pluralise(len(paths), 'file is', 'files are')} read in shards"
        )
    if options.engine is not None and (options.labels == STANDARD_STREAM or options.input.wide):
        raise no_shards(options.engine)
    if not _may_go_by_disk(options):
        return None  # tags of sentences are left to `extensions/scale/sequence_engines.py`
    path, kind = Path(options.labels), options.input.format
    files = open_label_files(options.labels, (path,), columns=options.input.columns, format=kind)
    if options.engine is not None:
        return LargeLabels(files=files, memory=memory, reason=f"read in shards for the engine {options.engine}")
    rows = files.count_rows()
    if rows * BYTES_IN_MEMORY <= memory:
        return None
    need = f"{rows:,} labels would need about {describe_size(rows * BYTES_IN_MEMORY)} of memory"
    return LargeLabels(files=files, memory=memory, reason=f"{need}, more than {describe_size(memory)}: read in shards")


def no_shards(engine: str) -> OptionError:
    """Return the error for labels that an engine does not support."""
    known = ", ".join(TABLE_SUFFIXES)
    return OptionError(f"--engine {engine} supports long tables ({known}) without --wide, and tags of sentences.")


def _may_go_by_disk(options: AggregateOptions) -> bool:
    """Return whether this is a long table that can be read in shards."""
    path = Path(options.labels)
    kind = options.input.format or TABLE_SUFFIXES.get(path.suffix.lower())
    if kind not in TABLE_SUFFIXES.values() or not path.is_file() or options.input.wide:
        return False
    in_memory = any(getattr(options, name) is not None for name in IN_MEMORY_ONLY)
    asked = options.memory is not None or options.engine is not None
    return asked or (path.stat().st_size >= SMALL_FILE and not in_memory)


@contextmanager
def open_shards(options: AggregateOptions, large: LargeLabels) -> Iterator[OpenedShards]:
    """Encode the labels as shards and open the engine over them."""
    for name in IN_MEMORY_ONLY:
        if getattr(options, name) is not None:
            flag = name.replace("_", "-")
            raise OptionError(f"--{flag} requires all labels in memory, but these are read in shards. Remove it.")
    written_as = stream_format(options.out, options.format)
    with _shard_folder(options) as folder:
        manifest = _code(folder, large, options)
        opened = ENGINES.load(options.engine or "local")
        with opened(folder, workers=options.threads or 2, address=options.address) as engine:
            notices = (f"{large.reason}.", *manifest.notices)
            yield OpenedShards(options=options, folder=folder, engine=engine, written_as=written_as, notices=notices)


@dataclass(frozen=True, kw_only=True, eq=False)
class OpenedShards:
    """Labels in shards ready to be fitted; see `workflows.aggregate.OpenedLabels`."""

    options: AggregateOptions
    folder: Path
    engine: Any
    written_as: str
    notices: tuple[str, ...]

    def suggest_method(self) -> tuple[str, str]:
        """Return the name of the recommended method, and the reason."""
        if find_one_sided(sum_votes(self.engine)["given"]).any():
            return "mace", "most labels are by annotators who always give the same class"
        return "pool", WHY_POOL

    def fit(self, method: Any) -> FittedShards:
        """Fit a method to the shards."""
        if not hasattr(method, "fit_over"):
            able = [one for one in TRUTH_METHODS.loadable() if fits_over_engines(one)]
            raise OptionError(
                f"{method.name} requires all labels in memory. Methods for labels in shards: {name_list(able)}."
            )
        options = self.options
        fitting = Fitting(checkpoint=options.checkpoint, every=1, threads=options.threads)
        fit: EngineFit = method.fit_over(self.engine, fitting=fitting)
        is_vote = isinstance(method, MajorityVote)
        fit = state_fit(fit, parse_dependence(options.dependence), keep_own=is_vote)
        return FittedShards(opened=self, method=method, fit=fit)


@dataclass(frozen=True, kw_only=True, eq=False)
class FittedShards:
    """Method fitted to shards; see `workflows.aggregate.FittedLabels`."""

    opened: OpenedShards
    method: Any
    fit: EngineFit

    def write_answers(self) -> Answered:
        """Write the answers shard by shard."""
        options, engine = self.opened.options, self.opened.engine
        expected = _write_answers(options, self.opened.folder, self.fit, self.method, self.opened.written_as)
        notices = [f"{options.engine}: {engine.traffic}."] if hasattr(engine, "traffic") else []
        notices += [MEMORY_NOTICE.format(options.engine)] if options.memory is not None and notices else []
        return Answered(
            estimate=None,
            size=f"{pluralise(engine.n_units, 'item')}, {pluralise(engine.n_annotators, 'annotator')}",
            counts={"items": engine.n_units, "annotators": engine.n_annotators},
            written=options.out,
            expected=expected,
            mistakes="" if expected is None else describe_mistakes(expected),
            notices=tuple(notices),
        )

    def annotator_table(self) -> pl.DataFrame:
        """Return one row per annotator."""
        return _annotator_table(self.opened.folder, self.fit)


@contextmanager
def _shard_folder(options: AggregateOptions) -> Iterator[Path]:
    """Yield the folder of the shards: next to the checkpoint, to resume a killed run, or a temporary folder."""
    if options.checkpoint is None:
        with tempfile.TemporaryDirectory(
            prefix=".crowdlogic-shards-", dir=Path(options.out).resolve().parent, ignore_cleanup_errors=True
        ) as temporary:
            yield Path(temporary)
        return
    folder = Path(f"{options.checkpoint}.shards")
    yield folder  # kept if the run fails
    shutil.rmtree(folder, ignore_errors=True)


def _code(folder: Path, large: LargeLabels, options: AggregateOptions) -> Manifest:
    """Encode the labels as shards, or reuse those of a killed run on the same files."""
    coding = CodingOptions(
        memory=large.memory,
        classes=options.input.classes,
        duplicates=parse_choice(Duplicates, options.input.duplicates, "duplicates"),
    )
    known = read_manifest(folder)
    if known is not None and known.sources == sources_digest(large.files, coding):
        return known
    shutil.rmtree(folder, ignore_errors=True)
    return code_files(folder, large.files, coding)


def _write_answers(
    options: AggregateOptions, folder: Path, fit: EngineFit, method: Any, written_as: str
) -> ExpectedAccuracy | None:
    """Write the answers shard by shard and return the expected number of correct answers."""
    own = fit.beliefs
    confidences = [0.0, 0.0]  # sum and number of the confidences below one
    ends = np.zeros((2, 2))  # number of wrong answers: [mean, variance] at either end of the range

    def tables() -> Iterator[pl.DataFrame]:
        for at, (_, state) in enumerate(fit.engine.stream(own.step, own.parameters, own.states)):
            items = read_items(folder, at)
            table = answer_table(fit.engine, items, state, method)
            confidence = table["confidence"].drop_nulls().to_numpy()
            confidences[0] += float(confidence[confidence < 1.0].sum())
            confidences[1] += float(np.count_nonzero(confidence < 1.0))
            wrong = state["wrong"][state["answered"]]
            ends[:] += np.stack([wrong.sum(axis=0), (wrong * (1.0 - wrong)).sum(axis=0)])
            yield table

    items = read_items(folder, 0).head(0)
    empty = {name: np.empty((0, fit.engine.n_classes)) for name in (Q, "own")} | {"answered": np.empty(0, dtype=bool)}
    schema = answer_table(fit.engine, items, empty, method).schema
    write_parts(options.out, tables(), written_as, schema, spreadsheet_safe=options.spreadsheet_safe)
    total, count = confidences
    if fit.calibration is None or not count:
        return None
    calibration = with_range_of_sums(fit.calibration, *ends, count=count)
    return accuracy_range(total / count, n=int(count), calibration=calibration)


def answer_table(engine: Engine, items: Names, state: Arrays, method: Any) -> pl.DataFrame:
    """Return the columns of `Estimate.to_frame` for the units of one shard."""
    q, answered = state[Q], pl.Series(state["answered"])
    if isinstance(method, MajorityVote):
        best, names = best_classes(state["own"]), items.cast(pl.String)
        ties = parse_choice(Ties, method.ties, "ties")
        chosen = winners(
            best, ties, classes=engine.classes, order=method.order, seed=method.seed, unit_names=names.gather
        )
    else:
        chosen = q.argmax(axis=1)
    code = pl.Series(chosen).cast(pl.Int64)
    confidence = pl.Series(np.take_along_axis(q, np.asarray(chosen)[:, None].astype(np.int64), axis=1)[:, 0])
    columns: dict[str, Any] = {
        "item": items,
        "label": class_column(engine.classes).gather(code.set(~answered, None)),
        "confidence": confidence.set(~answered, None),
    }
    columns |= {f"{PROBABILITY_PREFIX}{name}": q[:, k] for k, name in enumerate(engine.classes)}
    return pl.DataFrame(columns)


def _annotator_table(folder: Path, fit: EngineFit) -> pl.DataFrame:
    """Return one row per annotator: number of labels, expected accuracy and the method's weight."""
    given = sum_votes(fit.engine)["given"].sum(axis=1)
    columns: dict[str, Any] = {"annotator": read_annotators(folder), "labels": given.astype(np.int64)}
    if fit.confusion is not None:
        n_classes = fit.engine.n_classes
        prior = np.full(n_classes, 1.0 / n_classes) if fit.prior is None else fit.prior
        columns["expected_accuracy"] = np.einsum("jkk,k->j", fit.confusion, prior)
    if fit.reliability is not None:
        columns["weight"] = fit.reliability
    return pl.DataFrame(columns)
