"""What a file is, what it holds, what was left out, what it allows, and what to do first."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial as bind
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from crowdlogic.data.files import STANDARD_STREAM, InputFile
from crowdlogic.data.formats.detection import detect_format
from crowdlogic.data.formats.protocol import Crowd, FileFormat
from crowdlogic.data.formats.tables import TableFormat
from crowdlogic.data.formats.tool_export import ToolExport
from crowdlogic.data.frames import LABEL_ROLES, TAG_ROLES
from crowdlogic.data.intake.columns import find_roles
from crowdlogic.data.intake.contract import Duplicates, LeftOut
from crowdlogic.data.reading import read_answers, read_corpus
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import DataError, OptionError
from crowdlogic.workflows.capabilities import Capabilities, find_capabilities
from crowdlogic.workflows.column_guess import suggest_columns
from crowdlogic.workflows.inputs import InputOptions
from crowdlogic.workflows.label_facts import LabelFacts, count_labels
from crowdlogic.workflows.tables import ResultTable

Contents = TypeVar("Contents")

MOST_WIDE_CLASSES = 50
"""A table with more different cells than this is hardly one of a label per annotator and item."""


@dataclass(frozen=True, kw_only=True)
class DoctorOptions:
    """The options of `diagnose`.

    Attributes:
        file: The file to look at.
        input: How it is read.
    """

    file: str
    input: InputOptions = field(default_factory=InputOptions)


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """What is known of a file.

    Attributes:
        file: The file.
        format: The name of its format.
        title: What the format is called.
        contents: What the file holds, in a few words.
        columns: Of a table: role -> the column that was taken for it.
        unused: Of a table: the columns that were taken for nothing.
        facts: How much it holds; None where it holds no labels of several annotators.
        capabilities: What it allows; None likewise.
        notices: What was left out or changed, and what looks like a mistake.
        left_out: What an export holds that was left out or changed, counted.
        problem: Why the file cannot be read as it is; None where it can.
        first: What to do first: sentences, or commands to copy.
    """

    file: str
    format: str
    title: str
    contents: str
    columns: Mapping[str, str] = field(default_factory=dict)
    unused: tuple[str, ...] = ()
    facts: LabelFacts | None = None
    capabilities: Capabilities | None = None
    notices: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    problem: str | None = None
    first: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """What the file is, in one sentence."""
        return f"{self.file}: {self.title}, {self.contents}."

    def tables(self) -> list[ResultTable]:
        """What the file holds, and what it allows."""
        columns, found = ["what", "found"], []
        if self.columns:
            rows = [*self.columns.items(), *([("not used", ", ".join(self.unused))] if self.unused else [])]
            found.append(ResultTable(title="Which column is what", columns=columns, rows=rows))
        if self.facts is not None:
            found.append(ResultTable(title="What it holds", columns=columns, rows=self.facts.rows()))
        if self.capabilities is not None:
            found.append(ResultTable(title="What it allows", columns=columns, rows=self.capabilities.rows()))
        return found

    def figures(self) -> dict[str, Any]:
        """The same as plain data."""
        return {
            "file": self.file,
            "format": self.format,
            "contents": self.contents,
            "columns": dict(self.columns),
            "unused_columns": list(self.unused),
            "holds": None if self.facts is None else self.facts.figures(),
            "allows": None if self.capabilities is None else self.capabilities.figures(),
            "notices": list(self.notices),
            "left_out": [asdict(one) for one in self.left_out],
            "problem": self.problem,
            "first": list(self.first),
        }


def diagnose(options: DoctorOptions) -> Diagnosis:
    """Look at a file: what it is, what it holds, what it allows, and what to do first."""
    if options.file == STANDARD_STREAM:
        raise OptionError("doctor may read a file more than once, so it needs a file, not standard input.")
    found = detect_format(InputFile(options.file), options.input.format)
    try:
        return _describe_crowd(options, found, options.input.read_crowd_plainly(options.file))
    except DataError as problem:
        return _describe_trouble(options, found, str(problem))


def _describe_crowd(options: DoctorOptions, format: FileFormat, crowd: Crowd, *, words: str = "") -> Diagnosis:
    """The diagnosis of a file of labels; `words` are the options that reading it took."""
    facts = count_labels(crowd)
    columns, unused = _find_columns(options, format, crowd)
    contents = "tagged sentences" if crowd.labels.is_sequential else "labels of documents"
    return Diagnosis(
        file=options.file,
        format=format.name,
        title=format.title,
        contents=f"{contents} by {pluralise(facts.annotators, 'annotator')}",
        columns=columns,
        unused=unused,
        facts=facts,
        capabilities=find_capabilities(crowd.labels, facts),
        notices=tuple(crowd.labels.intake.messages()),
        left_out=crowd.labels.intake.left_out,
        first=tuple(_first_steps(options, format, facts, words=words, partial=crowd.labels.negated is not None)),
    )


def _find_columns(options: DoctorOptions, format: FileFormat, crowd: Crowd) -> tuple[dict[str, str], tuple[str, ...]]:
    """Role -> column of a table of labels, and its other columns; none of a file that is no long table."""
    if not isinstance(format, TableFormat) or options.input.wide:
        return {}, ()
    table = _attempt(lambda: format.read_table(InputFile(options.file))[0])
    found = {} if table is None else find_roles(table.columns, options.input.columns)
    used = (*(TAG_ROLES if crowd.labels.is_sequential else LABEL_ROLES), *(("text", "tokens") if crowd.corpus else ()))
    roles = {role: found[role] for role in used if role in found}
    given = "tags" if crowd.labels.is_sequential else "label"
    if table is None or not {"item", "annotator", given} <= set(roles):  # a wide table, or records of another layout
        return {}, ()
    return roles, tuple(name for name in table.columns if name not in roles.values())


def _answers_file(format: FileFormat, facts: LabelFacts) -> str:
    """A name for the consensus: in the tool's own shape where the tool's format can hold it."""
    if isinstance(format, ToolExport) and format.overrides("encode_estimate") and not format.writes_folder:
        return f"consensus{format.suffixes[0]}"
    return "truth.conll" if facts.tokens is not None else "truth.csv"


def _first_steps(
    options: DoctorOptions, format: FileFormat, facts: LabelFacts, *, words: str, partial: bool
) -> Iterator[str]:
    """The commands to begin with, most useful first."""
    source = f"{shlex.quote(options.file)}{_given_words(options)}{words}"
    answers = _answers_file(format, facts)
    if facts.annotators < 2:
        yield "One annotator alone cannot be checked: add the labels of others."
        return
    if facts.annotations == facts.items - facts.unlabelled:
        yield "No item has two annotators, so nothing says who is right: have some items labelled by several."
        return
    if not partial:
        yield f"crowdlogic agreement {source}"
    yield f"crowdlogic aggregate {source} -o {answers} --annotators annotators.csv"
    if not partial:
        yield f"crowdlogic report {source} -o report.html"
    if facts.texts:
        yield f"crowdlogic train --labels {source} -o run"


def _given_words(options: DoctorOptions) -> str:
    """The options for reading that the user gave, as they are to be given again."""
    given = options.input
    words = [f" --column {shlex.quote(f'{role}={name}')}" for role, name in (given.columns or {}).items()]
    words += [f" --format {given.format}"] if given.format else []
    words += [f" --duplicates {given.duplicates}"] if given.duplicates != Duplicates.error else []
    words += [" --wide"] if given.wide else []
    words += [f" --abstain {shlex.quote(given.abstain)}"] if given.abstain is not None else []
    words += [f" --classes {shlex.quote(','.join(map(str, given.classes)))}"] if given.classes else []
    return "".join(words)


def _describe_trouble(options: DoctorOptions, format: FileFormat, problem: str) -> Diagnosis:
    """The diagnosis of a file that cannot be read as labels: what would help, or what else it is."""
    guessed = tuple(_guessed_columns(options))
    found = _describe_with_other_options(options, format) or _describe_other_contents(options, format)
    if found is not None and not guessed:
        return replace(found, problem=problem)
    is_empty = not Path(options.file).is_dir() and not InputFile(options.file).head().strip()
    contents = "empty" if is_empty else "cannot be read as it is"
    return Diagnosis(
        file=options.file,
        format=format.name,
        title=format.title,
        contents=contents,
        problem=problem,
        first=guessed or ("Correct what is named above, then run crowdlogic doctor again.",),
    )


def _guessed_columns(options: DoctorOptions) -> Iterator[str]:
    """The command that names the columns of a table of labels, where their contents leave one choice."""
    given = options.input
    words = None if given.wide else _attempt(lambda: suggest_columns(options.file, given.format, given.columns))
    if words:
        yield f"By what the columns hold, this may be it: crowdlogic doctor {shlex.quote(options.file)} {words}"


def _describe_with_other_options(options: DoctorOptions, format: FileFormat) -> Diagnosis | None:
    """The diagnosis with the first options that make the file readable."""
    for words, other in _other_options(options.input, format):
        crowd = _attempt(bind(other.read_crowd_plainly, options.file))
        if crowd is not None and (not other.wide or _is_plausible(crowd)):
            found = _describe_crowd(options, format, crowd, words=words)
            return replace(found, contents=f"{found.contents}, if read with{words}")
    return None


def _other_options(given: InputOptions, format: FileFormat) -> Iterator[tuple[str, InputOptions]]:
    if given.duplicates == Duplicates.error:
        yield " --duplicates last", replace(given, duplicates=Duplicates.last)
    if not given.wide and isinstance(format, TableFormat):
        yield " --wide", replace(given, wide=True)


def _is_plausible(crowd: Crowd) -> bool:
    """Whether a table that was read as wide looks like one: several items, few classes, most of them in two columns."""
    labels = crowd.labels
    used = np.unique(np.stack([labels.annotator, labels.label]), axis=1)[1]
    n_annotators = np.bincount(used, minlength=labels.n_classes)  # of each class
    is_shared = bool(np.count_nonzero(n_annotators > 1) * 2 >= labels.n_classes)
    return len(labels.items) > 1 and is_shared and labels.n_classes <= MOST_WIDE_CLASSES


def _describe_other_contents(options: DoctorOptions, format: FileFormat) -> Diagnosis | None:
    """The diagnosis of a file that holds answers or items instead of labels by annotators."""
    file, columns = options.file, options.input.columns
    known = Diagnosis(file=file, format=format.name, title=format.title, contents="")
    answers = _attempt(lambda: read_answers(file, format=options.input.format, columns=columns))
    if answers is not None:
        return replace(
            known,
            contents=f"one answer for each of {pluralise(len(answers.items), 'item')}, without annotators",
            first=(
                f"As gold or answers: crowdlogic evaluate answers.csv {shlex.quote(file)}",
                "As labels it needs a column that says who gave each label, such as annotator.",
            ),
        )
    corpus = _attempt(lambda: read_corpus(file, format=options.input.format, columns=columns))
    if corpus is not None:
        return replace(
            known,
            contents=f"{pluralise(len(corpus.items), 'item')} without labels by annotators",
            first=(
                f"Beside a file of labels: crowdlogic train --labels labels.csv --items {shlex.quote(file)} -o run",
            ),
        )
    return None


def _attempt(read: Callable[[], Contents]) -> Contents | None:
    """What a reader gives; None where it refuses."""
    try:
        return read()
    except (DataError, OptionError):
        return None
