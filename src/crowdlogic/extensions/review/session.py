"""Session of a review: its queue, decisions, refits and exports. Several reviewers (threads) may share one.

A decision is in the log, on disk, before `record` returns. Decisions override the beliefs, and refits never reopen
them. A decision states the revision of the item that the reviewer saw; if somebody else has decided differently in the
meantime, both decisions are kept and the item is in conflict until it is settled.

Axes: i unit, s item.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from threading import Condition, RLock, Thread
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.data.estimate import Estimate
from crowdlogic.data.files import STANDARD_STREAM, written_together
from crowdlogic.data.formats.protocol import find_format
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.reading import write_estimate, write_table
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import DataError, OptionError
from crowdlogic.extensions.review.decision_log import Cause, Choice, Decision, DecisionKind, DecisionLog
from crowdlogic.extensions.review.evidence import AnswerForm, ItemEvidence, RuleWord, hide_names, item_units, rule_words
from crowdlogic.extensions.review.material import ReviewMaterial
from crowdlogic.extensions.review.review_queue import NO_DECISIONS, Decisions, random_sample, sample_order
from crowdlogic.extensions.review.snapshot import (
    AnnotatorStanding,
    CheckedAccuracy,
    CheckedItem,
    ItemProgress,
    ItemSearch,
    ItemState,
    ItemView,
    QueueFilter,
    RefitChanges,
    ReviewProgress,
    ServingOptions,
    checked_accuracy,
    compare_moments,
    make_moment,
)
from crowdlogic.extensions.review.suggestions import ACCEPTED, Suggestions
from crowdlogic.numerics.arrays import Bools, Ints
from crowdlogic.reporting.inputs import inputs_from_estimate
from crowdlogic.reporting.report import make_report
from crowdlogic.store.checkpoints import lock
from crowdlogic.workflows.report import timestamp, write_page


class UnknownItemError(DataError):
    """The item or file does not exist, or there is nothing to undo."""


class OutdatedError(DataError):
    """Somebody decided in the meantime, so the reviewer saw an outdated item."""


class ReusedRequestError(DataError):
    """Two different requests have the same name."""


@dataclass(frozen=True, kw_only=True)
class NewDecision:
    """Request of a reviewer to record a decision.

    Attributes:
        request: Identifier chosen by the client; repeated requests are recorded once.
        item: Number of the item.
        reviewer: Name of the reviewer.
        kind: decide, cannot-say or skip.
        answer: The answer: a class, or one tag per token; None unless something is decided.
        revision: The revision of the item that the reviewer saw.
        chosen: How the item was chosen.
        settles: Whether it settles a conflict.
        seconds: Duration of the decision.
        cause: Why the answer was wrong or difficult.
        note: Comment of the reviewer.
    """

    request: str
    item: int
    reviewer: str
    kind: DecisionKind = DecisionKind.decide
    answer: str | list[str] | None = None
    revision: int = 0
    chosen: Choice = Choice.queue
    settles: bool = False
    seconds: float | None = None
    cause: Cause | None = None
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class ReviewCounts:
    """Progress of a review in numbers.

    Attributes:
        items: Number of items.
        decided: Number of items with a decided answer.
        cannot_say: Number of items that nobody can answer, according to a reviewer.
        conflicts: Number of items on which reviewers differ.
        expected_mistakes: Expected number of mistakes among the undecided answers.
        waiting: Number of decisions since the last refit.
        fits: Number of refits.
        accuracy: Accuracy estimated from randomly checked items.
    """

    items: int
    decided: int
    cannot_say: int
    conflicts: int
    expected_mistakes: float
    waiting: int
    fits: int
    accuracy: CheckedAccuracy


MAX_SKIPPED_SAMPLE = 256
"""Maximum number of open items of the random sample before an item that a client claims was drawn at random: reviewers
hold some items and skip others."""
RECALIBRATE_AFTER = 10
"""Number of further random items after which the confidence scale is refitted."""
DEFAULT_SERVING = ServingOptions()
"""Default options: every tenth item is drawn at random."""
HELD_SECONDS = 300.0
"""Time for which an item served to one reviewer is not served to others, in seconds."""


@dataclass(frozen=True, eq=False)
class _Held:
    """Item held by a reviewer: since when, and the answer that was shown."""

    reviewer: str
    since: float
    shown: str | list[str] | None


def _require_same(known: Decision, item: str, reviewer: str, kind: DecisionKind, after: Any) -> Decision:
    """Return the entry of a repeated request; raise an error if the requests differ."""
    if (known.item, known.reviewer, known.kind, known.after) != (item, reviewer, kind, after):
        raise ReusedRequestError(
            f"request: {known.request!r:.60} was already used by an earlier request with other content (decision "
            f"{known.number}). Use a unique name for every request; this one was not recorded."
        )
    return known


class ReviewSession:
    """Session of one review."""

    def __init__(
        self,
        material: ReviewMaterial,
        log: DecisionLog,
        *,
        serving: ServingOptions = DEFAULT_SERVING,
        suggestions: Suggestions | None = None,
    ) -> None:
        self.material, self.log, self.form = material, log, AnswerForm(material.labels)
        self.suggestions = suggestions
        self.progress, self.changes = ReviewProgress(), tuple[RefitChanges, ...]()
        self._lock, self._held = RLock(), dict[int, _Held]()
        self._serving = serving
        self._handled: Bools = np.zeros(len(material.labels.items), dtype=bool)
        self._item_names = [str(name) for name in material.labels.items.to_list()]
        self._names = {name: s for s, name in enumerate(self._item_names)}
        self._states: dict[ItemState, set[int]] = {state: set() for state in ItemState}
        self._skipped: dict[str, set[int]] = defaultdict(set)
        self._sample = sample_order(len(self._handled), serving.seed)
        self._sample_place = np.argsort(self._sample)
        self._calibrated_with = 0
        self._search = ItemSearch(material, self.form)
        self._first: Ints = material.fit.estimate.answer
        self._waiting = 0
        self.moment = make_moment(material, material.fit, NO_DECISIONS, number=0, options=serving)
        for line in log.read():
            self._take_in(line)

    def serve(
        self, reviewer: str, *, most: int, wanted: QueueFilter | None = None, holding: Collection[int] = ()
    ) -> list[ItemView]:
        """Serve the next items to a reviewer.

        Args:
            reviewer: Name of the reviewer.
            most: Maximum number of items.
            wanted: Filter of the items; None for the queue.
            holding: Items that the reviewer already holds.
        """
        moment, asked = self.moment, set(holding)
        with self._lock:
            held = [item for item in asked if 0 <= item < len(self._handled)]
            if wanted is None or wanted.is_empty:
                answered = int(self._handled.sum()) + len(held)
                served = moment.order.serve(most, self._free_for(reviewer, held), answered=answered)
            else:
                fits = self._search.find(wanted, moment)
                if wanted.state is ItemState.open:
                    fits &= self._free_for(reviewer, held)
                else:
                    fits[held] = False
                    fits &= self._in_state(wanted.state)
                served = moment.order.serve_filtered(most, fits)
            views = [moment.viewer.view(one.item, self._of(one.item), one.chosen) for one in served]
            for view in views:
                self._held[view.item] = _Held(reviewer, time.monotonic(), view.answer)
        return views

    def _free_for(self, reviewer: str, holding: Collection[int]) -> Bools:
        """Return free[s], whether an item is open, not skipped by this reviewer and not held by another."""
        free, now = ~self._handled, time.monotonic()
        free[list(holding)] = False
        free[list(self._skipped[reviewer])] = False
        others = [s for s, one in self._held.items() if one.reviewer != reviewer and now - one.since < HELD_SECONDS]
        free[others] = False
        return free

    def _in_state(self, state: ItemState) -> Bools:
        if state is ItemState.open:
            return ~self._handled
        found = np.full(len(self._handled), state is ItemState.all)
        found[list(self._states[state])] = True
        return found

    def count_fitting(self, wanted: QueueFilter) -> int:
        """Return the number of items that match a filter."""
        fits = self._search.find(wanted, self.moment)
        with self._lock:
            return int((fits & self._in_state(wanted.state)).sum())

    def view(self, item: int, chosen: Choice = Choice.filter) -> ItemView:
        """Return the current view of an item."""
        self._require(item)
        with self._lock:
            return self.moment.viewer.view(item, self._of(item), chosen)

    def find(self, name: str) -> int:
        """Return the number of the item with this name."""
        if name not in self._names:
            raise UnknownItemError("There is no item with this name.")
        return self._names[name]

    def evidence(self, item: int) -> ItemEvidence:
        """Return the evidence for the answer of an item, with the contributions of the rules."""
        self._require(item)
        moment = self.moment
        units = moment.evidence(self.material.labels, item)
        if self.names_hidden:
            numbers = {one.name: moment.viewer.annotator_name(j) for j, one in enumerate(moment.standings)}
            units = [hide_names(unit, numbers) for unit in units]
        rules, found = self.material.rules, list[RuleWord]()
        if rules is not None and rules.are_local:
            bits = rules.say(np.array([item]), moment.fit.estimate.beliefs, moment.fit.learned)
            is_sentence = self.form.labels.is_sequential
            found = rule_words(bits, rules.texts, self.form.class_names, is_sentence=is_sentence)
        return ItemEvidence(units=units, rules=found)

    @property
    def names_hidden(self) -> bool:
        """Whether annotators are shown by number."""
        return self._serving.hide_names

    def standings(self) -> list[AnnotatorStanding]:
        """Return the reliability and flags of all annotators."""
        moment = self.moment
        if not self.names_hidden:
            return list(moment.standings)
        return [replace(one, name=moment.viewer.annotator_name(j), reason="") for j, one in enumerate(moment.standings)]

    def record(self, new: NewDecision) -> Decision:
        """Record a decision in the log; when this returns, it is on disk."""
        self._require(new.item)
        if new.kind is DecisionKind.undo:
            raise DataError("Use the request for undoing (/undo) instead of a decision.")
        after = new.answer if new.kind is DecisionKind.decide else None
        if new.kind is DecisionKind.decide:
            self.form.encode(new.item, after)
        with self._lock:
            known = self.log.find(new.request)
            if known is not None:
                return _require_same(known, self._item_names[new.item], new.reviewer, new.kind, after)
            current = self._of(new.item).revision
            if new.revision > current:
                raise OutdatedError(
                    f"revision: got {new.revision}, but this item is at revision {current}. Look at it again."
                )
            if new.settles and new.revision != current:
                raise OutdatedError(
                    "Somebody decided on this item in the meantime. Look at it again before you settle it."
                )
            # The answer that the reviewer saw, and whether the item can have been drawn at random as the client says
            held = self._held.get(new.item)
            if held is not None and held.reviewer == new.reviewer:
                shown = held.shown
            else:
                answer = self.moment.fit.estimate.answer[item_units(self.form.labels.offsets, np.array([new.item]))]
                shown = None if (answer < 0).all() else self.form.decode(answer)
            earlier = self._sample[: self._sample_place[new.item]]
            is_false = new.chosen is Choice.random and (~self._handled[earlier]).sum() > MAX_SKIPPED_SAMPLE
            line = Decision(
                request=new.request,
                kind=new.kind,
                item=self._item_names[new.item],
                reviewer=new.reviewer,
                revision=new.revision,
                before=shown,
                after=after,
                chosen=Choice.filter if is_false else new.chosen,
                settles=new.settles,
                seconds=new.seconds,
                cause=new.cause,
                note=new.note,
            )
            return self._append(line)

    def undo(self, reviewer: str, request: str) -> Decision:
        """Undo a reviewer's last action and return the new log entry."""
        with self._lock:
            known = self.log.find(request)
            if known is not None:
                return _require_same(known, known.item, reviewer, DecisionKind.undo, known.after)
            last = self.progress.last_of(reviewer)
            if last is None:
                raise UnknownItemError("There is nothing to undo.")
            line = Decision(
                request=request,
                kind=DecisionKind.undo,
                item=last.item,
                reviewer=reviewer,
                revision=self.progress.of(last.item).revision,
                before=last.after,
                after=self.progress.of(last.item).answer,
                chosen=last.chosen,
                undoes=last.number,
            )
            return self._append(line)

    def item_name(self, item: int) -> str:
        """Return the name of an item in the log."""
        return self._item_names[item]

    def decided_items(self) -> list[int]:
        """Return the decided items."""
        with self._lock:
            return sorted(self._states[ItemState.decided])

    @property
    def waiting(self) -> int:
        """Number of decisions since the last refit."""
        return self._waiting

    def counts(self) -> ReviewCounts:
        """Return the progress of the review."""
        with self._lock:
            decided, mistakes = self._states[ItemState.decided], self.moment.mistakes
            left = float(mistakes.sum() - mistakes[list(decided)].sum())
            return ReviewCounts(
                items=len(self.material.labels.items),
                decided=len(decided),
                cannot_say=len(self._states[ItemState.cannot_say]),
                conflicts=len(self._states[ItemState.conflict]),
                expected_mistakes=round(max(left, 0.0), 2),
                waiting=self._waiting,
                fits=self.moment.number,
                accuracy=self.accuracy(),
            )

    def accuracy(self) -> CheckedAccuracy:
        """Estimate the accuracy from the randomly checked items."""
        with self._lock:
            checked = []
            for s in self.random_items().tolist():
                found, units = self._of(s), item_units(self.form.labels.offsets, np.array([s]))
                if found.is_certain:
                    checked.append(
                        CheckedItem(
                            first_is_right=found.answer == self.form.decode(self._first[units]),
                            shown_is_right=found.decisions[0].before == found.answer,
                            drawn=any(_is_drawn(one) for one in found.lines),
                        )
                    )
            decided = len(self._states[ItemState.decided])
            return checked_accuracy(checked, decided=decided, items=len(self._handled))

    def random_items(self) -> Ints:
        """Return the items of the random sample so far."""
        with self._lock:
            drawn = np.zeros(len(self._handled), dtype=bool)
            drawn[[s for s in self._states[ItemState.all] if any(map(_is_drawn, self._of(s).lines))]] = True
            return random_sample(drawn, self._serving.seed)

    def decisions(self) -> Decisions:
        """Return the uncontradicted decisions, and which of them are in the random sample."""
        with self._lock:
            items, labels = self.material.labels.items, self.form.labels
            certain = [s for s in self.decided_items() if self._of(s).is_certain]
            codes = {s: self.form.encode(s, self._of(s).answer) for s in certain}
            names = {s: [labels.classes[k] for k in codes[s]] for s in certain}
            drawn = set(self.random_items().tolist())
            return Decisions(
                truth={items[s]: names[s] if labels.is_sequential else names[s][0] for s in certain},
                at_random=frozenset(items[s] for s in certain if s in drawn),
            )

    def refit(self, *, epochs: int = 0) -> RefitChanges:
        """Refit with all decisions as known truths; reviewers can continue in the meantime."""
        began, last = time.monotonic(), self.moment
        with self._lock:
            decisions, waiting = self.decisions(), self._waiting
        # Recalibrate if the random sample has grown enough since the last calibration
        recalibrate = len(decisions.at_random) >= self._calibrated_with + RECALIBRATE_AFTER
        if recalibrate:
            self._calibrated_with = len(decisions.at_random)
        fit = self.material.fitter.refit(last.fit, decisions, recalibrate=recalibrate, epochs=epochs)
        following = make_moment(self.material, fit, decisions, number=last.number + 1, options=self._serving)
        changes = replace(
            compare_moments(self.material, last, following, decisions),
            decisions=waiting,
            seconds=round(time.monotonic() - began, 3),
            with_classifier=epochs > 0 and self.material.has_classifier,
        )
        with self._lock:
            self.moment, self.changes = following, (*self.changes, changes)
            self._waiting -= waiting
        return changes

    def _append(self, line: Decision) -> Decision:
        """Record an entry and update the state."""
        recorded = self.log.append(line)
        self._take_in(recorded)
        self._held.pop(self._names[recorded.item], None)
        return recorded

    def _take_in(self, line: Decision) -> None:
        item = self._names.get(line.item)
        if item is None:
            raise DataError(f"The log contains the unknown item {line.item!r}. Choose another folder.")
        before = self._of(item).answer
        found = self.progress.add(line)
        member = {
            ItemState.decided: found.is_decided,
            ItemState.conflict: found.in_conflict,
            ItemState.cannot_say: found.is_handled and not found.is_decided,
            ItemState.all: found.is_handled,
        }
        self._handled[item] = found.is_handled
        mine = found.by(line.reviewer)
        skips = mine is not None and mine.kind is DecisionKind.skip
        (self._skipped[line.reviewer].add if skips else self._skipped[line.reviewer].discard)(item)
        for state, belongs in member.items():
            (self._states[state].add if belongs else self._states[state].discard)(item)
        self._waiting += found.answer != before or line.kind is DecisionKind.decide

    def _of(self, item: int) -> ItemProgress:
        return self.progress.of(self._item_names[item])

    def _require(self, item: int) -> None:
        if not 0 <= item < len(self._handled):
            raise UnknownItemError(f"There is no item {item}; items are numbered from 0 to {len(self._handled) - 1:,}.")


def _is_drawn(line: Decision) -> bool:
    return line.chosen is Choice.random and line.kind is not DecisionKind.skip


FAILED = "The last refit failed; all decisions are saved."
"""Message to reviewers; the reason is passed to `report`."""


class RefitRunner:
    """Background thread for the refits of a session. Requests during a refit result in one more refit."""

    def __init__(self, session: ReviewSession, *, every: int = 10, report: Callable[[str], None] | None = None) -> None:
        self.session, self.every, self.problem = session, every, ""
        self._report, self._changed = report or (lambda _: None), Condition()
        self._asked: int | None = None
        self._is_running = self._is_closed = False
        self._thread = Thread(target=self._work, name="refit", daemon=True)
        self._thread.start()

    @property
    def is_busy(self) -> bool:
        """Whether a refit is running or requested."""
        with self._changed:
            return self._is_running or self._asked is not None

    def ask(self, *, epochs: int = 0) -> None:
        """Request a refit. `epochs` is the number of extra training epochs for the classifier of a run."""
        with self._changed:
            self._asked = max(epochs, self._asked or 0)
            self._changed.notify_all()

    def notice(self) -> None:
        """Request a refit if there are enough new decisions; a running refit checks again when it ends."""
        if self._is_due and not self.is_busy:
            self.ask()

    @property
    def _is_due(self) -> bool:
        return bool(self.every) and self.session.waiting >= self.every

    def wait(self, seconds: float = 60.0) -> bool:
        """Wait until no refit is running or requested; return False on a timeout."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._is_running and self._asked is None, seconds)

    def close(self) -> None:
        """Wait for a running refit to end, and do not start another."""
        with self._changed:
            self._is_closed, self._asked = True, None
            self._changed.notify_all()
        self._thread.join()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._is_closed or self._asked is not None)
                epochs = None if self._is_closed else self._asked
                self._asked, self._is_running = None, epochs is not None
            if epochs is None:
                return
            try:
                self._report(self.session.refit(epochs=epochs).sentence)
                self.problem = ""
            except Exception as problem:  # reviewers continue, and the next refit is tried in any case
                self.problem = FAILED
                self._report(f"The refit failed: {problem}")
            with self._changed:
                self._is_running = False
                if self._asked is None and self._is_due and not self.problem:
                    self._asked = 0
                self._changed.notify_all()


ANCHORS, DECISIONS, REPORT = "anchors.csv", "decisions.csv", "report.html"

OTHERS = {
    ANCHORS: "decisions for aggregate --anchors and train --anchors",
    DECISIONS: "log of all decisions",
    REPORT: "report on the corrected labels",
}
"""Exported files apart from the labels, with their contents."""

EXPORT_NAMES = (*OTHERS, ACCEPTED, "labels.csv", "labels.jsonl", "labels.conll", "labels.parquet")
"""Names of exported files in the folder of the review."""


@dataclass(frozen=True, kw_only=True)
class ExportedFile:
    """Exported file: its name in the folder of the review, and its contents."""

    name: str
    holds: str


def corrected_estimate(session: ReviewSession) -> Estimate:
    """Return the estimate with all decisions applied; in a conflict, the first decision counts."""
    estimate, offsets = session.moment.fit.estimate, session.form.labels.offsets
    beliefs, answer = estimate.beliefs.copy(), estimate.answer.copy()
    for item in session.decided_items():
        units = item_units(offsets, np.array([item]))
        codes = session.form.encode(item, session.progress.of(session.item_name(item)).answer)
        answer[units], beliefs[units] = codes, np.eye(beliefs.shape[1])[codes]
    return replace(estimate, beliefs=beliefs, answer=answer)


def anchors_table(session: ReviewSession) -> pl.DataFrame:
    """Return the uncontradicted decisions: item, label or tags, and whether the item was drawn at random."""
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
    """Return the whole log, one row per entry; tags of sentences are JSON."""
    rows = [asdict(line) for line in session.log.read()]
    for row in rows:
        tags = {name: row[name] for name in ("before", "after") if not isinstance(row[name], str | None)}
        row |= {name: json.dumps(answer, ensure_ascii=False) for name, answer in tags.items()}
        row |= {name: str(row[name]) for name in ("kind", "chosen")}
        row["cause"] = None if row["cause"] is None else str(row["cause"])
    schema = {"before": pl.String, "after": pl.String, "undoes": pl.Int64, "seconds": pl.Float64, "cause": pl.String}
    return pl.DataFrame(rows, schema_overrides=schema, infer_schema_length=None)


def write_exports(session: ReviewSession, folder: Path) -> list[ExportedFile]:
    """Write all files of a review into its folder, atomically."""
    corpus, estimate = session.material.corpus, corrected_estimate(session)
    files = [ExportedFile(name=name, holds="corrected labels") for name, _ in _label_files(session)]
    with written_together():
        for name, format_name in _label_files(session):
            write_estimate(folder / name, estimate, corpus=corpus, format=format_name)
        write_table(folder / ANCHORS, anchors_table(session))
        write_table(folder / DECISIONS, log_table(session))
        inputs = inputs_from_estimate(estimate, session.form.labels, corpus)
        title = f"{session.material.title} after {pluralise(len(session.decided_items()), 'decision')}"
        write_page(folder / REPORT, make_report(inputs, title=title, made_at=timestamp()))
    files += [ExportedFile(name=name, holds=holds) for name, holds in OTHERS.items()]
    if (folder / ACCEPTED).is_file():
        files.append(ExportedFile(name=ACCEPTED, holds="accepted rules for train --rules"))
    return files


def write_anchors(session: ReviewSession, folder: Path) -> None:
    """Write the decisions for `--anchors`, whenever a review ends."""
    write_table(folder / ANCHORS, anchors_table(session))


def _label_files(session: ReviewSession) -> Iterator[tuple[str, str | None]]:
    """Yield the label files to write, with their format if the name does not imply it."""
    corpus, is_sentences = session.material.corpus, session.form.labels.is_sequential
    if is_sentences and corpus is not None and corpus.tokens is not None:
        yield "labels.conll", None
    yield ("labels.jsonl" if is_sentences else "labels.csv"), None
    yield "labels.parquet", None
    tool = session.material.tool
    if tool is not None and tool != "conll":
        yield f"labels.{tool}{find_format('-', tool).suffixes[0]}", tool


def export_path(folder: Path, name: str) -> Path:
    """Return the path of an exported file; raise an error for any other name."""
    is_export = name in OTHERS or name == ACCEPTED or name.startswith("labels.")
    known = [path for path in folder.iterdir() if is_export and path.is_file() and path.name == name]
    if not known:
        raise UnknownItemError("This file does not exist. Export first.")
    return known[0]


LOG = "decisions.sqlite"
"""File of the decision log in the folder of a review."""


def default_folder(source: str) -> Path:
    """Return the default folder of a review, in the working directory, named after the source."""
    if source == STANDARD_STREAM:
        raise OptionError("A review of standard input needs a folder: -o DIR.")
    return Path(f"{Path(source).resolve().name.split('.')[0] or 'labels'}-review")


@contextmanager
def open_review(
    material: ReviewMaterial,
    folder: Path,
    serving: ServingOptions = DEFAULT_SERVING,
    *,
    suggestions: str | None = None,
) -> Iterator[ReviewSession]:
    """Open the review in a folder, with the decisions in it; the folder is created if needed.

    However the review ends, `anchors.csv` in the folder then contains the decisions.

    Args:
        material: The material to review.
        folder: Folder of the review.
        serving: Options for serving items; a resumed review keeps its seed.
        suggestions: File of suggested rules to decide on.
    """
    if not 0 <= serving.share <= 1:
        raise OptionError(f"--random must be between 0 and 1, got {serving.share:g}.")
    # Create the folder, or check that it belongs to a review
    if folder.exists() and not folder.is_dir():
        raise OptionError(f"{folder}: expected a folder for the review, found a file. Choose another folder.")
    if not folder.parent.is_dir():
        raise OptionError(f"{folder}: the folder {folder.parent} does not exist. Create it first.")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / LOG).is_file():
        raise OptionError(f"{folder}: this folder contains other files, but no review. Choose a new or empty folder.")
    folder.mkdir(exist_ok=True)
    with lock(folder, "serving this review"):
        log = DecisionLog(folder / LOG)
        try:
            _check_items(log, material.labels, folder)
            seed = log.fact("seed")  # of the random sample with which the review was started
            if seed is None:
                log.set_fact("seed", str(serving.seed))
            kept = replace(serving, seed=int(seed) if seed is not None and seed.isdigit() else serving.seed)
            rules = None
            if suggestions is not None:
                classes, corpus = material.labels.classes, material.corpus
                rules = Suggestions(suggestions, folder, classes=classes, corpus=corpus)
            session = ReviewSession(material, log, serving=kept, suggestions=rules)
            if session.waiting:
                session.refit()
            try:
                yield session
            finally:
                write_anchors(session, folder)
        finally:
            log.close()


def _check_items(log: DecisionLog, labels: CrowdLabels, folder: Path) -> None:
    """Raise an error for other items or classes; additional labels of the same items are allowed."""
    found = hashlib.sha256()
    for name in (*labels.items.to_list(), "", *labels.classes):
        found.update(f"{name}\0".encode("utf-8", "backslashreplace"))
    known = log.fact("items")
    if known is None:
        log.set_fact("items", found.hexdigest())
    elif known != found.hexdigest():
        raise OptionError(f"{folder}: this folder contains a review of other items or classes. Choose another folder.")
