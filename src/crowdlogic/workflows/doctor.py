"""Describe a file: its contents, what was left out, possible uses, and what to do first."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial as bind
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from crowdlogic.annotators.label_sums import MOSTLY, find_labelling_functions, find_one_sided
from crowdlogic.data.corpus import UNKNOWN
from crowdlogic.data.files import STANDARD_STREAM, InputFile
from crowdlogic.data.formats.protocol import Crowd, FileFormat, detect_format
from crowdlogic.data.formats.tables import TableFormat
from crowdlogic.data.frames import LABEL_ROLES, TAG_ROLES
from crowdlogic.data.intake.columns import find_roles
from crowdlogic.data.intake.contract import Duplicates, LeftOut
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.reading import read_answers, read_corpus
from crowdlogic.data.tagging import is_span_tag_set, parse_tags, tags_to_spans
from crowdlogic.data.wording import list_names, pluralise
from crowdlogic.errors import DataError, OptionError, SizeLimitError
from crowdlogic.metrics.agreement import agreement
from crowdlogic.registry import TRUTH_METHODS
from crowdlogic.truth.methods import applicable_methods, needs_sequences
from crowdlogic.workflows.aggregate import suggest_method
from crowdlogic.workflows.inputs import InputOptions, ResultTable, guess_text_column, suggest_columns

# Contents of a table of labels as counts: items, annotators, labels, spans, gold.

SHOWN_CLASSES = 8
"""Maximum number of classes that are named; the others are counted."""


@dataclass(frozen=True, kw_only=True)
class LabelFacts:
    """Contents of a file of labels.

    Attributes:
        items: Number of items, labelled or not.
        unlabelled: Number of items without labels.
        single: Number of items with a single annotator.
        tokens: Number of tokens of the sentences; None for documents.
        annotators: Number of annotators.
        kinds: Number of annotators that are human, llm and code, if known.
        classes: The classes, as text.
        labels: Number of labels; for sentences, of tags.
        annotations: Number of (item, annotator) pairs.
        spans: Number of spans marked by all annotators; None if the classes are not span tags.
        fewest: Minimum number of labels of an annotator; for sentences, of tags.
        texts: Whether the file contains the texts or the tokens.
        gold: Number of units with a known truth.
        functions: Number of annotators who only ever give one class, if most labels are theirs (labelling functions);
            otherwise 0.
    """

    items: int
    unlabelled: int
    single: int
    tokens: int | None
    annotators: int
    kinds: dict[str, int]
    classes: tuple[str, ...]
    labels: int
    annotations: int
    spans: int | None
    fewest: int
    texts: bool
    gold: int
    functions: int

    def rows(self) -> list[tuple[str, str]]:
        """Return the contents as rows of a table."""
        seldom = [f"{self.single:,} with one annotator only"] if self.single else []
        seldom += [f"{self.unlabelled:,} without labels"] if self.unlabelled else []
        kinds = ", ".join(f"{count} {kind}" for kind, count in self.kinds.items())
        some = f" ({', '.join(seldom)})" if seldom else ""
        labelled, is_sequential = self.items - self.unlabelled, self.tokens is not None
        mean = f"{self.annotations / max(labelled, 1):.1f} annotators per labelled"
        average = f" ({mean} {'sentence' if is_sequential else 'item'})" if labelled else ""
        rows = [
            ("sentences" if is_sequential else "items", f"{self.items:,}{some}"),
            ("annotators", f"{self.annotators:,}{f' ({kinds})' if kinds else ''}"),
            ("classes", f"{len(self.classes):,} ({list_names(self.classes, SHOWN_CLASSES)})"),
            ("labels", f"{self.labels:,}{average}"),
        ]
        if self.tokens is not None:
            rows.insert(1, ("tokens", f"{self.tokens:,}"))
        if self.spans is not None:
            rows.append(("spans", f"{self.spans:,} by all annotators together"))
        if self.functions:
            rows.append(("labelling functions", f"{self.functions:,} annotators only ever give one class, or abstain"))
        rows.append(("texts", "in the file" if self.texts else "not in the file"))
        rows.append(("gold", f"for {pluralise(self.gold, 'unit')}" if self.gold else "none in the file"))
        return rows


def count_labels(crowd: Crowd) -> LabelFacts:
    """Count the contents of a file of labels."""
    labels, corpus = crowd.labels, crowd.corpus
    item, _, _ = labels.annotations()
    annotators_per_item = np.bincount(item, minlength=len(labels.items))
    kinds = Counter(kind for kind in labels.kind or () if kind)
    return LabelFacts(
        items=len(labels.items),
        unlabelled=int(np.count_nonzero(annotators_per_item == 0)),
        single=int(np.count_nonzero(annotators_per_item == 1)),
        tokens=labels.n_units if labels.is_sequential else None,
        annotators=len(labels.annotators),
        kinds=dict(sorted(kinds.items())),
        classes=tuple(str(name) for name in labels.classes),
        labels=labels.n_labels,
        annotations=len(item),
        spans=count_spans(labels),
        fewest=int(labels.labels_per_annotator().min(initial=labels.n_labels)),
        texts=corpus is not None and (corpus.texts is not None or corpus.tokens is not None),
        gold=0 if corpus is None or corpus.gold is None else int(np.count_nonzero(corpus.gold != UNKNOWN)),
        functions=int(np.count_nonzero(find_labelling_functions(labels))),
    )


ABSTENTIONS = ("-1", "abstain", "abstained", "abstention", "none", "null", "na", "n/a", "-", "?")
"""Usual names of "no label" in the output of labelling functions."""


def guess_abstention(labels: CrowdLabels) -> str | None:
    """Return the class that seems to mean "no label", which labelling functions often give; None if there is none.

    Such a class has a usual name, most annotators give it, and most other labels are by annotators who only ever give
    one class. If people chose among -1, 0 and 1, then -1 is an ordinary class.
    """
    given = np.zeros((len(labels.annotators), labels.n_classes))
    np.add.at(given, (labels.annotator, labels.label), 1.0)
    for k, name in enumerate(map(str, labels.classes)):
        others = np.delete(given, k, axis=1)
        is_usual = name.casefold() in ABSTENTIONS and (given[:, k] > 0).mean() > MOSTLY
        if is_usual and labels.n_classes > 2 and find_one_sided(others).any():
            return name
    return None


def count_spans(labels: CrowdLabels) -> int | None:
    """Return the number of spans marked by all annotators; None if the classes are not span tags."""
    if not labels.is_sequential or not is_span_tag_set(labels.classes):
        return None
    order = np.lexsort((labels.unit, labels.annotator))
    unit, annotator = labels.unit[order], labels.annotator[order]
    item = labels.item_of_unit[unit]
    # A run of tags ends where the annotator, the sentence or (a token not seen) the sequence of tokens breaks off.
    breaks = (np.diff(annotator) != 0) | (np.diff(item) != 0) | (np.diff(unit) != 1)
    offsets = np.concatenate([[0], np.flatnonzero(breaks) + 1, [len(unit)]])
    return len(tags_to_spans(labels.label[order], offsets, parse_tags(labels.classes)))


# Possible uses of labels: truth methods, coefficients of agreement, intervals, scores, training and the report.

FEW_LABELS = 20
"""Below this many labels, the 95 % credible interval of an annotator's reliability is wider than 0.3 or so."""

AGREEMENT, REPORT = "agreement with intervals", "report"
PARTIAL = "some labels say only which class it is not"


@dataclass(frozen=True, kw_only=True)
class Capability:
    """Possible use of labels.

    Attributes:
        name: Name of the use.
        possible: Whether it is possible.
        remark: Reason if it is not possible, or limitations.
    """

    name: str
    possible: bool
    remark: str = ""


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """Possible uses of labels.

    Attributes:
        methods: Truth methods that accept them.
        refused: Truth methods that do not, with the reason.
        suggested: Default truth method for them.
        reason: Reason for that method.
        others: Agreement, intervals, scores, training and report.
    """

    methods: tuple[str, ...]
    refused: dict[str, str]
    suggested: str
    reason: str
    others: tuple[Capability, ...]

    def figures(self) -> dict[str, Any]:
        """Return the possible uses as plain data."""
        return {
            "methods": list(self.methods),
            "refused_methods": self.refused,
            "suggested_method": self.suggested,
            "reason": self.reason,
            "allows": {one.name: {"possible": one.possible, "remark": one.remark} for one in self.others},
        }

    def rows(self) -> list[tuple[str, str]]:
        """Return the possible uses as rows of a table."""
        rows = [("truth methods", ", ".join(self.methods)), ("suggested", f"{self.suggested} ({self.reason})")]
        for why in dict.fromkeys(self.refused.values()):
            names = ", ".join(name for name, reason in self.refused.items() if reason == why)
            rows.append(("not for these labels", f"{names}: {why}"))
        for one in self.others:
            text = "yes" if one.possible else "no"
            rows.append((one.name, f"{text}: {one.remark}" if one.remark else text))
        return rows


def find_capabilities(labels: CrowdLabels, facts: LabelFacts) -> Capabilities:
    """Return the possible uses of labels, without fitting anything."""
    suitable, is_partial = applicable_methods(labels), labels.negated is not None
    refused = {
        name: "it models the tags of sentences" if needs_sequences(name) and not labels.is_sequential else PARTIAL
        for name in TRUTH_METHODS.loadable()
        if name not in suitable
    }
    suggested, reason = suggest_method(labels)
    others: list[tuple[str, bool, str]] = []

    # Coefficients of agreement with an interval, and those that are undefined
    if is_partial:
        others.append((AGREEMENT, False, PARTIAL))
    else:
        found = agreement(labels, replicates=0)
        defined = [one.title for one in found if one.reason is None]
        undefined = [(one.title, False, one.reason) for one in found if one.reason is not None]
        others += [(AGREEMENT, True, ", ".join(defined)), *undefined] if defined else [(AGREEMENT, *undefined[0][1:])]

    # Credible intervals of the annotators, and how many gave too few labels for a narrow one
    is_judged = bool((labels.labels_per_unit() > 1).any())
    few = np.flatnonzero(labels.labels_per_annotator() < FEW_LABELS)
    remark = "" if is_judged else "no two annotators labelled the same unit"
    if is_judged and len(few):
        who = list_names(labels.annotators.gather(few).to_list())
        remark = f"wide for {pluralise(len(few), 'annotator')} with fewer than {FEW_LABELS} labels ({who})"
    others.append(("reliability of annotators with intervals", is_judged, remark))

    gold = f"gold of {pluralise(facts.gold, 'unit')}" if facts.gold else "no gold in the file; give it with --gold"
    others.append(("scores by gold", facts.gold > 0, gold))
    texts = "" if facts.texts else "no texts in the file; give them with --items"
    others.append(("training a classifier", facts.texts, texts))
    shown = (
        f"whom to trust, which labels to check{'' if facts.texts else '; without texts, items are shown by name only'}"
    )
    others.append((REPORT, False, PARTIAL) if is_partial else (REPORT, facts.labels > 0, shown))
    return Capabilities(
        methods=tuple(suitable),
        refused=refused,
        suggested=suggested,
        reason=reason,
        others=tuple(Capability(name=name, possible=possible, remark=remark) for name, possible, remark in others),
    )


Contents = TypeVar("Contents")

WIDE_ROLES = {"item": "item", "text": "text", "label": "gold"}
"""Columns of a wide table that do not belong to annotators: role -> name in the output."""
MOST_WIDE_CLASSES = 50
"""Maximum number of distinct cells in a plausible wide table of labels."""


@dataclass(frozen=True, kw_only=True)
class DoctorOptions:
    """The options of `diagnose`.

    Attributes:
        file: The file to look at.
        input: Options for reading it.
    """

    file: str
    input: InputOptions = field(default_factory=InputOptions)


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """Diagnosis of a file.

    Attributes:
        file: The file.
        format: The name of its format.
        title: Title of the format.
        contents: Short description of its contents.
        columns: For tables: role -> column that is used for it.
        unused: For tables: all other columns.
        facts: Counts of its contents; None unless it contains labels of several annotators.
        capabilities: Possible uses; None unless it contains labels of several annotators.
        notices: Notices on data that were left out or changed, or that look like mistakes.
        left_out: Contents of an export that were left out or changed, counted.
        problem: Why the file cannot be read with these options; None if it can.
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
        """One-sentence description of the file."""
        return f"{self.file}: {self.title}, {self.contents}."

    def tables(self) -> list[ResultTable]:
        """Return tables on the contents of the file and their possible uses."""
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
        """Return the diagnosis as plain data."""
        return {
            "file": self.file,
            "format": self.format,
            "contents": self.contents,
            "columns": dict(self.columns),
            "unused_columns": list(self.unused),
            "holds": None if self.facts is None else asdict(self.facts),
            "allows": None if self.capabilities is None else self.capabilities.figures(),
            "notices": list(self.notices),
            "left_out": [asdict(one) for one in self.left_out],
            "problem": self.problem,
            "first": list(self.first),
        }


def diagnose(options: DoctorOptions) -> Diagnosis:
    """Describe a file: its contents, possible uses, and what to do first."""
    if options.file == STANDARD_STREAM:
        raise OptionError("doctor may read a file more than once, so it needs a file, not standard input.")
    found = detect_format(InputFile(options.file), options.input.format)
    try:
        crowd = options.input.read_crowd_plainly(options.file)
        if options.input.wide and options.input.abstain is None:
            words, better, crowd = _with_abstention(options.file, "", options.input, crowd)
            if words:
                problem = f"the cells {better.abstain!r} are read as a class. Give{words}."
                described = _describe_crowd(replace(options, input=better), found, crowd)
                return replace(described, contents=f"{described.contents}, if read with{words}", problem=problem)
        return _describe_crowd(options, found, crowd)
    except SizeLimitError as problem:  # any other way of reading the file would exceed the limit as well
        return Diagnosis(
            file=options.file,
            format=found.name,
            title=found.title,
            contents="cannot be read as it is",
            problem=str(problem),
            first=("Correct the problem above, then run crowdlogic doctor again.",),
        )
    except DataError as problem:
        return _describe_trouble(options, found, str(problem))


def _with_abstention(file: str, words: str, input: InputOptions, crowd: Crowd) -> tuple[str, InputOptions, Crowd]:
    """Return the options for reading a wide table, with --abstain where a class seems to mean "no label"."""
    value = guess_abstention(crowd.labels)
    if value is None:
        return words, input, crowd
    other = replace(input, abstain=value)
    return f"{words} --abstain {shlex.quote(value)}", other, other.read_crowd_plainly(file)


def _describe_crowd(options: DoctorOptions, format: FileFormat, crowd: Crowd) -> Diagnosis:
    """Return the diagnosis of a file of labels that was read with the given options."""
    facts = count_labels(crowd)
    columns, unused = _find_columns(options, format, crowd)
    contents = "tagged sentences" if crowd.labels.is_sequential else "labels of documents"
    who = "labelling function" if facts.functions * 2 > facts.annotators else "annotator"
    return Diagnosis(
        file=options.file,
        format=format.name,
        title=format.title,
        contents=f"{contents} by {pluralise(facts.annotators, who)}",
        columns=columns,
        unused=unused,
        facts=facts,
        capabilities=find_capabilities(crowd.labels, facts),
        notices=tuple(crowd.labels.intake.messages()),
        left_out=crowd.labels.intake.left_out,
        first=tuple(_first_steps(options, format, facts, crowd.labels)),
    )


def _find_columns(options: DoctorOptions, format: FileFormat, crowd: Crowd) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return role -> column of a table of labels, and the columns without a role; empty for other files."""
    if not isinstance(format, TableFormat):
        return {}, ()
    table = _attempt(lambda: format.read_table(InputFile(options.file))[0])
    if table is not None and options.input.wide:
        roles = find_roles(table.columns, options.input.columns, gold=True)
        named = {name: roles[role] for role, name in WIDE_ROLES.items() if role in roles}
        whose = [name for name in table.columns if name not in named.values()]
        return {**named, "annotators": list_names(whose, SHOWN_CLASSES)}, ()
    found = {} if table is None else find_roles(table.columns, options.input.columns)
    used = (*(TAG_ROLES if crowd.labels.is_sequential else LABEL_ROLES), *(("text", "tokens") if crowd.corpus else ()))
    roles = {role: found[role] for role in used if role in found}
    given = "tags" if crowd.labels.is_sequential else "label"
    if table is None or not {"item", "annotator", given} <= set(roles):  # a wide table, or records of another layout
        return {}, ()
    return roles, tuple(name for name in table.columns if name not in roles.values())


MODEL_NAMES = re.compile(
    r"gpt|claude|llama|gemini|gemma|mistral|mixtral|qwen|deepseek|judge|\bllm\b|\bphi-?\d", flags=re.IGNORECASE
)
"""Parts of the names of language models and judges."""


def looks_like_panel(labels: CrowdLabels) -> bool:
    """Return whether most annotators of single items seem to be language models, by their kind or their names."""
    kinds = labels.kind or ("",) * len(labels.annotators)
    models = sum(
        kind == "llm" or (kind != "human" and MODEL_NAMES.search(str(name)) is not None)
        for kind, name in zip(kinds, labels.annotators.to_list(), strict=True)
    )
    return not labels.is_sequential and models >= 2 and 2 * models > len(labels.annotators)


def _first_steps(options: DoctorOptions, format: FileFormat, facts: LabelFacts, labels: CrowdLabels) -> Iterator[str]:
    """Yield the commands to begin with, most useful first."""
    is_partial, source = labels.negated is not None, f"{shlex.quote(options.file)}{_given_words(options)}"
    if facts.annotations == facts.items - facts.unlabelled:
        yield "Every item has one label: only the texts can show which are wrong. Add labels by others to check people."
        if facts.texts:
            yield f"crowdlogic train --labels {source} -o run"
        else:
            yield f"crowdlogic train --labels {source} --items items.csv -o run"
        yield "In Python, crowdlogic.learning.find_label_issues(items, labels) ranks labels, most suspect first."
        return
    if facts.annotators < 2:
        yield "One annotator alone cannot be checked: add the labels of others."
        return
    if facts.functions:  # labelling functions mostly abstain, so their agreement says little, and texts are needed
        items = "" if facts.texts else " --items items.csv"
        yield f"crowdlogic train --labels {source}{items} -o run"
        yield f"crowdlogic rules suggest {source}{items} -o suggested.rules"
    elif not is_partial:
        yield f"crowdlogic agreement {source}"
        if looks_like_panel(labels):
            yield f"crowdlogic panel {source}"
    # If the labels are an export of a tool whose format can store answers, the consensus is written in that format
    answers = "truth.conll" if facts.tokens is not None else "truth.csv"
    if format.is_tool_export and format.overrides("encode_estimate") and not format.writes_folder:
        answers = f"consensus{format.suffixes[0]}"
    yield f"crowdlogic aggregate {source} -o {answers} --annotators annotators.csv"
    if not is_partial:
        yield f"crowdlogic report {source} -o report.html"
    if facts.texts and not facts.functions:
        yield f"crowdlogic train --labels {source} -o run"


def _given_words(options: DoctorOptions) -> str:
    """Return the options for reading that the user gave, to repeat them in suggested commands."""
    given = options.input
    words = [f" --column {shlex.quote(f'{role}={name}')}" for role, name in (given.columns or {}).items()]
    words += [f" --format {given.format}"] if given.format else []
    words += [f" --duplicates {given.duplicates}"] if given.duplicates != Duplicates.error else []
    words += [" --wide"] if given.wide else []
    words += [f" --abstain {shlex.quote(given.abstain)}"] if given.abstain is not None else []
    words += [f" --classes {shlex.quote(','.join(map(str, given.classes)))}"] if given.classes else []
    return "".join(words)


def _describe_trouble(options: DoctorOptions, format: FileFormat, problem: str) -> Diagnosis:
    """Return the diagnosis of a file that cannot be read as labels: options that would help, or other contents."""
    given = options.input
    guessed: tuple[str, ...] = ()
    # The command that names the columns of a table of labels, if their contents leave one choice
    columns = None if given.wide else _attempt(lambda: suggest_columns(options.file, given.format, given.columns))
    if columns:
        command = f"crowdlogic doctor {shlex.quote(options.file)} {columns}"
        guessed = (f"Judging by the contents of the columns, this may work: {command}",)
    # Other options with which the file can be read, or other contents
    found = None
    for given_words, tried in _other_options(options, format):
        crowd = _attempt(bind(tried.read_crowd_plainly, options.file))
        if crowd is not None and (not tried.wide or _is_plausible(crowd)):
            words, other = given_words, tried
            if tried.wide:
                words, other, crowd = _with_abstention(options.file, given_words, tried, crowd)
            found = _describe_crowd(replace(options, input=other), format, crowd)
            found = replace(found, contents=f"{found.contents}, if read with{words}")
            break
    found = found or _describe_other_contents(options, format)
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
        first=guessed or ("Correct the problem above, then run crowdlogic doctor again.",),
    )


def _other_options(options: DoctorOptions, format: FileFormat) -> Iterator[tuple[str, InputOptions]]:
    """Yield other options for reading the file, as command-line options and as an object, likely ones first."""
    given = options.input
    if given.duplicates == Duplicates.error:
        yield " --duplicates last", replace(given, duplicates=Duplicates.last)
    if not isinstance(format, TableFormat):
        return
    wide = replace(given, wide=True)
    if not given.wide:
        yield " --wide", wide
    table = _attempt(lambda: format.read_table(InputFile(options.file))[0])
    text = None if table is None else guess_text_column(table, given.columns or {})
    if text is not None:
        words = f" --column {shlex.quote(f'text={text}')}{'' if given.wide else ' --wide'}"
        yield words, replace(wide, columns={**(given.columns or {}), "text": text})


def _is_plausible(crowd: Crowd) -> bool:
    """Return whether a wide table is plausible: several items and few classes, most of which occur in two columns."""
    labels = crowd.labels
    used = np.unique(np.stack([labels.annotator, labels.label]), axis=1)[1]
    n_annotators = np.bincount(used, minlength=labels.n_classes)  # of each class
    is_shared = bool(np.count_nonzero(n_annotators > 1) * 2 >= labels.n_classes)
    return len(labels.items) > 1 and is_shared and labels.n_classes <= MOST_WIDE_CLASSES


def _describe_other_contents(options: DoctorOptions, format: FileFormat) -> Diagnosis | None:
    """Return the diagnosis of a file that holds answers or items instead of labels by annotators."""
    file, columns = options.file, options.input.columns
    known = Diagnosis(file=file, format=format.name, title=format.title, contents="")
    answers = _attempt(lambda: read_answers(file, format=options.input.format, columns=columns))
    if answers is not None:
        texts = _attempt(lambda: read_corpus(file, format=options.input.format, columns=columns))
        items = "" if texts is not None else " --items items.csv"
        return replace(
            known,
            contents=f"one answer for each of {pluralise(len(answers.items), 'item')}, without annotators",
            first=(
                f"As gold or answers: crowdlogic evaluate answers.csv {shlex.quote(file)}",
                f"As noisy labels, to train on and to find the wrong ones: crowdlogic train --labels "
                f"{shlex.quote(file)}{items} -o run, then crowdlogic report run -o report.html",
                "As labels of several annotators it needs a column that says who gave each label, such as annotator.",
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
    """Return the result of a reader; None if it raises an error."""
    try:
        return read()
    except (DataError, OptionError):
        return None
