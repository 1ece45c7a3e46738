"""Plan of the next labels: which items, by whom, the expected gain, and when to stop."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.confidence.annotator_verdicts import askable, judge_annotators
from crowdlogic.confidence.calibration import infer_calibrated
from crowdlogic.data.character_spans import texts_and_bounds
from crowdlogic.data.corpus import Corpus, Question, align
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.files import STANDARD_STREAM, write_bytes
from crowdlogic.data.labels import CrowdLabels, find_codes
from crowdlogic.data.names import as_text, find
from crowdlogic.data.reading import write_table
from crowdlogic.data.wording import list_names, pluralise
from crowdlogic.errors import OptionError
from crowdlogic.extensions.review.next_labels import (
    DEFAULT_LOAD,
    Forecast,
    NextLabels,
    annotator_skills,
    choose_next,
    make_forecast,
)
from crowdlogic.numerics.arrays import Bools
from crowdlogic.store.files import is_run
from crowdlogic.store.runs import read_run
from crowdlogic.workflows.aggregate import (
    collect_convergence_warnings,
    configured_method,
    parse_dependence,
    suggest_method,
)
from crowdlogic.workflows.inputs import InputOptions, ResultTable, answer_format, check_outputs, check_writable

# A pre-annotated task would bias its annotator, so tasks for annotation tools contain only the text. The expected gain
# and the suggested annotators are stored as metadata, by which the tool can sort and filter.
Row = tuple[Any, str, float, list[str]]
"""Item name, text, joint expected gain of its labels, and suggested annotators."""


def rows(plan: pl.DataFrame, labels: CrowdLabels, corpus: Corpus | None, target: str, *, tool: str) -> Iterator[Row]:
    """Yield one row per item, in the order of the plan."""
    known = corpus is not None and (corpus.tokens if labels.is_sequential else corpus.texts) is not None
    if corpus is None or not known:
        raise OptionError(f"{target}: {tool} needs the texts, which are unknown. Write .csv or .jsonl instead.")
    texts = texts_and_bounds(corpus)[0] if labels.is_sequential else tuple(corpus.texts or ())
    named = plan.with_columns(as_text(plan["annotator"]).alias("annotator"))
    grouped = named.group_by("item", maintain_order=True).agg(pl.col("gain").sum(), "annotator")
    codes = find(grouped["item"], labels.items).tolist()
    for code, (name, gain, people) in zip(codes, grouped.iter_rows(), strict=True):
        yield name, texts[code], round(gain, 6), people


def label_studio_tasks(plan: pl.DataFrame, labels: CrowdLabels, corpus: Corpus | None, target: str) -> bytes:
    """Encode tasks for Label Studio; `gain` and `annotators` are fields of their data."""
    question = Question() if corpus is None else corpus.question
    tasks = [
        {"id": name, "data": {question.field or "text": text, "gain": gain, "annotators": people}}
        for name, text, gain, people in rows(plan, labels, corpus, target, tool="Label Studio")
    ]
    return (json.dumps(tasks, ensure_ascii=False, indent=1) + "\n").encode()


def prodigy_tasks(plan: pl.DataFrame, labels: CrowdLabels, corpus: Corpus | None, target: str) -> bytes:
    """Encode a stream for Prodigy, one task per line; `gain` and `annotators` are in its meta."""
    options = {} if labels.is_sequential else {"options": [{"id": str(c), "text": str(c)} for c in labels.classes]}
    lines = [
        json.dumps(
            {"text": text, "meta": {"item": name, "gain": gain, "annotators": people}, **options}, ensure_ascii=False
        )
        for name, text, gain, people in rows(plan, labels, corpus, target, tool="Prodigy")
    ]
    return "".join(f"{line}\n" for line in lines).encode()


TASK_WRITERS: dict[str | None, Callable[[pl.DataFrame, CrowdLabels, Corpus | None, str], bytes]] = {
    "label-studio": label_studio_tasks,
    "prodigy": prodigy_tasks,
}
"""Formats of tools that import tasks, by name."""


FORECAST_AT = (100, 300, 1000, 3000, 10_000)
"""Numbers of further labels for which the forecast is shown."""


@dataclass(frozen=True, kw_only=True)
class NextOptions:
    """Options of `plan_next`.

    Attributes:
        labels: File of labels, or the folder of a run.
        out: Output file: a table, or tasks for Label Studio or Prodigy in the order of the plan.
        count: Number of labels to buy; None for all that are worthwhile, up to `MAX_PLANNED`.
        annotators: Names of the available annotators; None for all who can be trusted.
        load: Maximum share of the labels per annotator, as a multiple of their share so far.
        items: For labels: file of the items, whose texts are included in the plan.
        method: For labels: the truth method; None to choose one automatically.
        dependence: For labels: a name in `truth_methods.DEPENDENCES`.
        seed: Random seed.
        format: Format of the plan; None to infer it from the suffix.
        spreadsheet_safe: Whether csv and tsv cells that a spreadsheet would read as formulas get a leading quote.
        input: Options for reading the labels.
    """

    labels: str
    out: str
    count: int | None = None
    annotators: Sequence[str] | None = None
    load: float = DEFAULT_LOAD
    items: str | None = None
    method: str | None = None
    dependence: str = "public"
    seed: int = 0
    format: str | None = None
    spreadsheet_safe: bool = False
    input: InputOptions = field(default_factory=InputOptions)


@dataclass(frozen=True, kw_only=True, eq=False)
class Planned:
    """Result of `plan_next`.

    Attributes:
        method: The truth method, or the method of the run.
        batch: The labels to buy.
        forecast: Expected gain of the batch and of further labels.
        out: File of the plan.
        wanted: Number of labels requested; None for all that are worthwhile.
        notices: Messages about the labels and the fit.
    """

    method: str
    batch: NextLabels
    forecast: Forecast
    out: str
    wanted: int | None
    notices: tuple[str, ...]

    @property
    def messages(self) -> tuple[str, ...]:
        """Summary: the file of the plan, the expected gain, when to stop, and labels compared with gold."""
        items, people = len(np.unique(self.batch.item)), len(np.unique(self.batch.annotator))
        labels = pluralise(len(self.batch.item), "label")
        said = f"{labels} of {pluralise(items, 'item')} by {pluralise(people, 'annotator')}"
        return (f"{self.method}: {said} -> {self.out}", *self._fewer(), *self.forecast.sentences())

    def _fewer(self) -> tuple[str, ...]:
        """Explain why there are fewer labels than requested."""
        missing = (self.wanted or 0) - len(self.batch.item)
        if missing <= 0:
            return ()
        return (
            f"{missing} of the {pluralise(self.wanted or 0, 'label')} requested {'is' if missing == 1 else 'are'} "
            f"not in the plan, because every annotator has labelled the item or reached their share of the work. "
            f"Increase --load to allow more labels per annotator.",
        )

    def table(self) -> ResultTable:
        """Return a table of the expected accuracy after further labels."""
        rows = [(0, f"{100 * self.forecast.accuracy:.1f} %"), *self._rows()]
        return ResultTable(title="expected accuracy", columns=["further labels", "expected accuracy"], rows=rows)

    def _rows(self) -> list[tuple[int, str]]:
        least = len(self.forecast.votes)
        after = ((n, self.forecast.accuracy_after(n)) for n in FORECAST_AT if n <= least)
        return [(n, f"{100 * accuracy:.1f} %") for n, accuracy in after]

    def figures(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        return {
            "method": self.method,
            "labels": len(self.batch.item),
            "expected_accuracy": self.forecast.accuracy,
            "expected_accuracy_after": self.forecast.accuracy_after_batch,
            "mistakes_removed": None
            if self.forecast.ends is None
            else dict(zip(("independent", "shared"), self.forecast.ends, strict=True)),
            "worth_buying": self.forecast.worth_buying,
            "votes_per_decision": self.forecast.votes_per_decision,
            "out": self.out,
        }


def plan_next(options: NextOptions) -> Planned:
    """Plan the next labels and write the plan."""
    written_as = _output_format(options)
    check_outputs((options.out,), read=(options.labels, options.items))
    labels, estimate, corpus, notices = _read(options)
    available, left_out = whom_to_ask(labels, estimate, options.annotators)
    skills = annotator_skills(labels, estimate, available=available, load=options.load)
    batch = choose_next(labels, estimate, skills, count=options.count)
    forecast = make_forecast(labels, estimate, skills, batch)
    plan = plan_table(labels, estimate, batch, corpus)
    if written_as in TASK_WRITERS and options.out != STANDARD_STREAM:
        write_bytes(options.out, TASK_WRITERS[written_as](plan, labels, corpus, options.out))
    else:
        write_table(options.out, plan, format=written_as, spreadsheet_safe=options.spreadsheet_safe)
    return Planned(
        method=estimate.method,
        batch=batch,
        forecast=forecast,
        out=options.out,
        wanted=options.count,
        notices=(*notices, *left_out),
    )


def _output_format(options: NextOptions) -> str | None:
    """Return the format of the plan after checking that it can be written."""
    if is_run(Path(options.labels)):
        written_as = options.format
    else:
        own = answer_format(options.labels, options.out, read_as=options.input.format, named=options.format)
        written_as = own if own in TASK_WRITERS else options.format
    check_writable(options.out, written_as)
    return written_as


def _read(options: NextOptions) -> tuple[CrowdLabels, Estimate, Corpus | None, tuple[str, ...]]:
    """Read the labels, compute the estimate, and read the items if known."""
    if is_run(Path(options.labels)):
        if options.items is not None or options.method is not None:
            raise OptionError(f"{options.labels}: a run already contains its items and method. Remove --items and -m.")
        record = read_run(options.labels)
        return record.labels, record.estimate, record.corpus, ()
    by_file = options.input.by_file(options.labels, options.items)
    crowd = by_file[options.labels].read_crowd(options.labels)
    corpus = crowd.corpus
    if options.items is not None:
        labels, corpus = align(crowd.labels, by_file[options.items].read_corpus(options.items))
    else:
        labels = crowd.labels
    dependence = parse_dependence(options.dependence)
    name = options.method or suggest_method(labels)[0]
    method = configured_method(name, seed=options.seed, dependence=dependence)
    with collect_convergence_warnings() as warned:
        estimate = infer_calibrated(method, labels, corpus, dependence=dependence)
    return labels, estimate, corpus, (*labels.intake.messages(), *warned)


def whom_to_ask(
    labels: CrowdLabels, estimate: Estimate, names: Sequence[str] | None
) -> tuple[Bools | None, tuple[str, ...]]:
    """Return available[j], whether annotator j can be asked, and a notice about excluded annotators.

    These are the named annotators, otherwise all who are not flagged as unreliable, if there are any.
    """
    if names is not None:
        able = np.zeros(len(labels.annotators), dtype=bool)
        able[find_codes(names, as_text(labels.annotators), "annotator")] = True
        return able, ()
    asked, flagged = askable(labels, judge_annotators(labels, estimate))
    if not flagged:
        return asked, ()
    who = f"{list_names(flagged)} {'is' if len(flagged) == 1 else 'are'}"
    return asked, (
        f"{who} not asked: flagged as random, constant or worse than chance. To ask them "
        f"nevertheless, list all available annotators: --annotators NAMES.",
    )


def plan_table(labels: CrowdLabels, estimate: Estimate, batch: NextLabels, corpus: Corpus | None) -> pl.DataFrame:
    """Return one row per label to buy: item, annotator, gain; for documents also current answers and texts."""
    columns: dict[str, Any] = {
        "item": labels.items.gather(batch.item),
        "annotator": labels.annotators.gather(batch.annotator),
        "gain": np.round(batch.gain, 6),
    }
    if labels.offsets is None:
        names = [None if name is None else str(name) for name in estimate.answer_names()]
        columns["label"] = pl.Series([names[item] for item in batch.item.tolist()], dtype=pl.String)
        columns["confidence"] = np.round(estimate.confidence[batch.item], 6)
        columns["labels"] = labels.labels_per_unit()[batch.item]
        if corpus is not None and corpus.texts is not None:
            columns["text"] = pl.Series([corpus.texts[item] for item in batch.item.tolist()], dtype=pl.String)
    return pl.DataFrame(columns)
