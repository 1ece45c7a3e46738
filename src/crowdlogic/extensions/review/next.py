"""Labels, or a run, to a plan: which items to label next and by whom, what that should bring, and when to stop."""

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
    LOAD,
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

# The plan as tasks of annotation tools, in the order in which they should be labelled, without any answer.
#
# A pre-annotated task would lead its annotator, so tasks hold the text alone; what the label should gain and who
# should
# give it stand beside it, where the tool can sort and filter by it.

Row = tuple[Any, str, float, list[str]]
"""An item's name, its text, what its labels should gain together, and who should give them."""


def rows(plan: pl.DataFrame, labels: CrowdLabels, corpus: Corpus | None, target: str, *, tool: str) -> Iterator[Row]:
    """One row per item, in the order of the plan."""
    known = corpus is not None and (corpus.tokens if labels.is_sequential else corpus.texts) is not None
    if corpus is None or not known:
        raise OptionError(f"{target}: {tool} needs the texts, and they are not known. Write .csv or .jsonl instead.")
    texts = texts_and_bounds(corpus)[0] if labels.is_sequential else tuple(corpus.texts or ())
    named = plan.with_columns(as_text(plan["annotator"]).alias("annotator"))
    grouped = named.group_by("item", maintain_order=True).agg(pl.col("gain").sum(), "annotator")
    codes = find(grouped["item"], labels.items).tolist()
    for code, (name, gain, people) in zip(codes, grouped.iter_rows(), strict=True):
        yield name, texts[code], round(gain, 6), people


def label_studio_tasks(plan: pl.DataFrame, labels: CrowdLabels, corpus: Corpus | None, target: str) -> bytes:
    """Tasks that Label Studio imports; `gain` and `annotators` are fields of their data."""
    question = Question() if corpus is None else corpus.question
    tasks = [
        {"id": name, "data": {question.field or "text": text, "gain": gain, "annotators": people}}
        for name, text, gain, people in rows(plan, labels, corpus, target, tool="Label Studio")
    ]
    return (json.dumps(tasks, ensure_ascii=False, indent=1) + "\n").encode()


def prodigy_tasks(plan: pl.DataFrame, labels: CrowdLabels, corpus: Corpus | None, target: str) -> bytes:
    """A stream for Prodigy, a task a line; `gain` and `annotators` are in its meta."""
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
"""Formats whose tools take tasks to label, by name."""


FORECAST_AT = (100, 300, 1000, 3000, 10_000)
"""Numbers of labels of which the forecast is shown."""


@dataclass(frozen=True, kw_only=True)
class NextOptions:
    """The options of `plan_next`.

    Attributes:
        labels: A file of labels, or the folder of a run.
        out: The file for the plan: a table, or tasks for Label Studio or Prodigy in the order of the plan.
        count: How many labels to buy; None for all that are worth it, up to `MOST_PLANNED`.
        annotators: The names of those who are available; None for everybody.
        load: The largest share of the labels for one annotator, in terms of their share so far.
        items: For labels: a file of the items, whose texts go into the plan.
        method: For labels: the truth method; None for the one that suits them.
        dependence: For labels: a name in `truth_methods.DEPENDENCES`.
        seed: Random seed.
        format: The format of the plan; None to take it from the suffix.
        spreadsheet_safe: Whether csv and tsv cells that a spreadsheet would read as formulas get a leading quote.
        input: How the labels are read.
    """

    labels: str
    out: str
    count: int | None = None
    annotators: Sequence[str] | None = None
    load: float = LOAD
    items: str | None = None
    method: str | None = None
    dependence: str = "public"
    seed: int = 0
    format: str | None = None
    spreadsheet_safe: bool = False
    input: InputOptions = field(default_factory=InputOptions)


@dataclass(frozen=True, kw_only=True, eq=False)
class Planned:
    """What `plan_next` found.

    Attributes:
        method: The truth method, or that of the run.
        batch: The labels to buy.
        forecast: What they, and those after them, should bring.
        out: Where the plan is.
        wanted: How many labels were asked for; None for what is worth it.
        notices: What a person should know of the labels and the fit.
    """

    method: str
    batch: NextLabels
    forecast: Forecast
    out: str
    wanted: int | None
    notices: tuple[str, ...]

    @property
    def messages(self) -> tuple[str, ...]:
        """The outcome: where the plan is, what it brings, when to stop, whether votes or gold."""
        items, people = len(np.unique(self.batch.item)), len(np.unique(self.batch.annotator))
        labels = pluralise(len(self.batch.item), "label")
        said = f"{labels} of {pluralise(items, 'item')} by {pluralise(people, 'annotator')}"
        return (f"{self.method}: {said} -> {self.out}", *self._fewer(), *self.forecast.sentences())

    def _fewer(self) -> tuple[str, ...]:
        """Why there are fewer labels than were asked for."""
        missing = (self.wanted or 0) - len(self.batch.item)
        if missing <= 0:
            return ()
        return (
            f"{missing} of the {pluralise(self.wanted or 0, 'label')} asked for {'is' if missing == 1 else 'are'} "
            f"not in the plan: nobody is left who has not labelled "
            f"the item and is below their share of the work. A higher --load lets each give more.",
        )

    def table(self) -> ResultTable:
        """The expected accuracy after further labels."""
        rows = [(0, f"{100 * self.forecast.accuracy:.1f} %"), *self._rows()]
        return ResultTable(title="expected accuracy", columns=["further labels", "expected accuracy"], rows=rows)

    def _rows(self) -> list[tuple[int, str]]:
        least = len(self.forecast.votes)
        after = ((n, self.forecast.accuracy_after(n)) for n in FORECAST_AT if n <= least)
        return [(n, f"{100 * accuracy:.1f} %") for n, accuracy in after]

    def figures(self) -> dict[str, Any]:
        """The same as plain data."""
        return {
            "method": self.method,
            "labels": len(self.batch.item),
            "expected_accuracy": self.forecast.accuracy,
            "expected_accuracy_after": self.forecast.accuracy_after_batch,
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
    """The format of the plan, checked before the work."""
    if is_run(Path(options.labels)):
        written_as = options.format
    else:
        own = answer_format(options.labels, options.out, read_as=options.input.format, named=options.format)
        written_as = own if own in TASK_WRITERS else options.format
    check_writable(options.out, written_as)
    return written_as


def _read(options: NextOptions) -> tuple[CrowdLabels, Estimate, Corpus | None, tuple[str, ...]]:
    """The labels, what is believed of them, and the items where they are known."""
    if is_run(Path(options.labels)):
        if options.items is not None or options.method is not None:
            raise OptionError(f"{options.labels}: a run has its items and its method. Leave --items and -m out.")
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
    """available[j], whether annotator j can be asked, and who is left out in words.

    Those who are named, whatever is known of them; else all whose labels can be trusted, if there are any.
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
        f"{who} not asked: flagged as answering without looking, always the same, or worse than chance. To ask them "
        f"nevertheless, name all who are available: --annotators NAMES.",
    )


def plan_table(labels: CrowdLabels, estimate: Estimate, batch: NextLabels, corpus: Corpus | None) -> pl.DataFrame:
    """One row for each label to buy: item, annotator, gain; for documents also text, label, confidence and labels."""
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
