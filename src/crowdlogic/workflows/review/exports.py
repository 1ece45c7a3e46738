"""What a review leaves behind: corrected labels, anchors for the next fit, the log, a report.

Axes: i unit, s item.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from crowdlogic.data.estimate import Estimate
from crowdlogic.data.files import written_together
from crowdlogic.data.formats.detection import find_format
from crowdlogic.data.wording import pluralise
from crowdlogic.data.writing import write_estimate, write_table
from crowdlogic.report.inputs import inputs_from_estimate
from crowdlogic.report.report import make_report
from crowdlogic.store.decisions import Choice
from crowdlogic.workflows.report import timestamp, write_page
from crowdlogic.workflows.review.answers import item_units
from crowdlogic.workflows.review.requests import UnknownItemError
from crowdlogic.workflows.review.session import ReviewSession

ANCHORS, DECISIONS, REPORT = "anchors.csv", "decisions.csv", "report.html"

OTHERS = {
    ANCHORS: "what was decided, for aggregate --anchors and train --anchors",
    DECISIONS: "who decided what, when, and why",
    REPORT: "a report on the corrected labels",
}
"""The files beside the labels, and what they hold."""

EXPORT_NAMES = (*OTHERS, "labels.csv", "labels.jsonl", "labels.conll", "labels.parquet")
"""File names that an export writes into the folder of the review."""


@dataclass(frozen=True, kw_only=True)
class ExportedFile:
    """A file that was written: its name in the folder of the review, and what it holds."""

    name: str
    holds: str


def corrected_estimate(session: ReviewSession) -> Estimate:
    """The answers with every decision in the place of what is believed; in a conflict the first one."""
    estimate, offsets = session.moment.fit.estimate, session.form.labels.offsets
    beliefs, answer = estimate.beliefs.copy(), estimate.answer.copy()
    for item in session.decided_items():
        units = item_units(offsets, np.array([item]))
        codes = session.form.encode(item, session.progress.of(session.item_name(item)).answer)
        answer[units], beliefs[units] = codes, np.eye(beliefs.shape[1])[codes]
    return replace(estimate, beliefs=beliefs, answer=answer)


def anchors_table(session: ReviewSession) -> pl.DataFrame:
    """What was decided and by nobody contradicted: item, label or tags, and whether the item was chosen at random."""
    decisions, labels = session.decisions(), session.form.labels
    texts = [str(one) if not isinstance(one, list) else " ".join(map(str, one)) for one in decisions.truth.values()]
    chosen = [str(Choice.random if item in decisions.at_random else Choice.queue) for item in decisions.truth]
    items = labels.items.gather(np.flatnonzero(decisions.items(labels)))
    return pl.DataFrame(
        {
            "item": items,
            "tags" if labels.is_sequential else "label": pl.Series(texts, dtype=pl.String),
            "chosen": pl.Series(chosen, dtype=pl.String),
        }
    )


def log_table(session: ReviewSession) -> pl.DataFrame:
    """The whole log, a row for each line; tags of sentences are JSON."""
    rows = [asdict(line) for line in session.log.read()]
    for row in rows:
        row |= {name: _cell(row[name]) for name in ("before", "after")}
        row |= {name: str(row[name]) for name in ("kind", "chosen")}
        row["cause"] = None if row["cause"] is None else str(row["cause"])
    schema = {"before": pl.String, "after": pl.String, "undoes": pl.Int64, "seconds": pl.Float64, "cause": pl.String}
    return pl.DataFrame(rows, schema_overrides=schema, infer_schema_length=None)


def _cell(answer: object) -> str | None:
    return answer if answer is None or isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)


def write_exports(session: ReviewSession, folder: Path) -> list[ExportedFile]:
    """Write all files of a review into its folder; all or none."""
    corpus, estimate = session.material.corpus, corrected_estimate(session)
    files = [ExportedFile(name=name, holds="the corrected labels") for name, _ in _label_files(session)]
    with written_together():
        for name, format_name in _label_files(session):
            write_estimate(folder / name, estimate, corpus=corpus, format=format_name)
        write_table(folder / ANCHORS, anchors_table(session))
        write_table(folder / DECISIONS, log_table(session))
        _write_report(folder / REPORT, session, estimate)
    return [*files, *(ExportedFile(name=name, holds=holds) for name, holds in OTHERS.items())]


def write_anchors(session: ReviewSession, folder: Path) -> None:
    """Write what was decided, for `--anchors`: when a review ends, however it ends."""
    write_table(folder / ANCHORS, anchors_table(session))


def _label_files(session: ReviewSession) -> Iterator[tuple[str, str | None]]:
    """The files of labels that can be written, with their format where the name does not say."""
    corpus, is_sentences = session.material.corpus, session.form.labels.is_sequential
    if is_sentences and corpus is not None and corpus.tokens is not None:
        yield "labels.conll", None
    yield ("labels.jsonl" if is_sentences else "labels.csv"), None
    yield "labels.parquet", None
    tool = session.material.tool
    if tool is not None and tool != "conll":
        yield f"labels.{tool}{find_format('-', tool).suffixes[0]}", tool


def _write_report(path: Path, session: ReviewSession, estimate: Estimate) -> None:
    inputs = inputs_from_estimate(estimate, session.form.labels, session.material.corpus)
    title = f"{session.material.title} after {pluralise(len(session.decided_items()), 'decision')}"
    write_page(path, make_report(inputs, title=title, made_at=timestamp()))


def export_path(folder: Path, name: str) -> Path:
    """The file of that name among those that a review writes; any other name is refused."""
    known = [path for path in folder.iterdir() if path.is_file() and path.name == name and _is_export(name)]
    if not known:
        raise UnknownItemError("There is no such file. Export first.")
    return known[0]


def _is_export(name: str) -> bool:
    return name in OTHERS or name.startswith("labels.")
