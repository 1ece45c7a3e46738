"""A review that goes on: its queue, its decisions, its re-fits. Several reviewers, hence threads, may share one.

What is decided is in the log, on the disk, before `record` returns. Decisions override what is believed, and no re-fit
opens them again. A decision says which revision of the item it was made against; where somebody else has decided
otherwise meanwhile, both are kept, and the item is in conflict until that is settled.

Axes: i unit, s item.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, replace
from threading import RLock

import numpy as np

from crowdlogic.errors import DataError
from crowdlogic.numerics.arrays import Bools, Ints
from crowdlogic.planning.decisions import NO_DECISIONS, Decisions
from crowdlogic.planning.review_queue import random_sample, sample_order
from crowdlogic.store.decisions import Choice, Decision, DecisionKind, DecisionLog
from crowdlogic.workflows.review.accuracy import CheckedAccuracy, CheckedItem, checked_accuracy
from crowdlogic.workflows.review.answers import AnswerForm, item_units
from crowdlogic.workflows.review.changes import RefitChanges
from crowdlogic.workflows.review.comparison import compare_moments
from crowdlogic.workflows.review.evidence import ItemEvidence, hide_names
from crowdlogic.workflows.review.material import ReviewMaterial
from crowdlogic.workflows.review.moment import ItemSearch, ReviewMoment, ServingOptions, make_moment
from crowdlogic.workflows.review.progress import ItemProgress, ReviewProgress
from crowdlogic.workflows.review.queue import ItemState, QueueFilter, ServedItem
from crowdlogic.workflows.review.requests import NewDecision, OutdatedError, ReviewCounts, UnknownItemError
from crowdlogic.workflows.review.rule_views import RuleWord, rule_words
from crowdlogic.workflows.review.standing import AnnotatorStanding
from crowdlogic.workflows.review.views import ItemView

AHEAD = 256
"""How many open items of the random sample may lie before one that was served as a random one: reviewers hold items,
and skip some."""
RECALIBRATE_AFTER = 10
"""So many more random items have the scale of the confidence fitted anew."""
DEFAULT_SERVING = ServingOptions()
"""Every tenth item is a random one."""
HELD_SECONDS = 300.0
"""How long an item that one reviewer was given is kept from the others' queues."""


@dataclass(frozen=True, eq=False)
class _Held:
    """Who was given an item, when, and which answer they were shown."""

    reviewer: str
    since: float
    shown: str | list[str] | None


class ReviewSession:
    """One review."""

    def __init__(
        self,
        material: ReviewMaterial,
        log: DecisionLog,
        *,
        serving: ServingOptions = DEFAULT_SERVING,
    ) -> None:
        self.material, self.log, self.form = material, log, AnswerForm(material.labels)
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
        """The next items for a reviewer.

        Args:
            reviewer: Who.
            most: At most so many.
            wanted: Which items; None for the queue.
            holding: The items that the reviewer holds already.
        """
        moment, asked = self.moment, set(holding)
        with self._lock:
            served = self._choose(reviewer, most, moment, wanted=wanted or QueueFilter(), holding=self._valid(asked))
            views = [moment.viewer.view(one.item, self._of(one.item), one.chosen) for one in served]
            for view in views:
                self._held[view.item] = _Held(reviewer, time.monotonic(), view.answer)
        return views

    def _choose(
        self, reviewer: str, most: int, moment: ReviewMoment, *, wanted: QueueFilter, holding: Collection[int]
    ) -> list[ServedItem]:
        if wanted.is_empty:
            free = self._free_for(reviewer, holding)
            return moment.order.serve(most, free, answered=int(self._handled.sum()) + len(holding))
        fits = self._search.find(wanted, moment)
        if wanted.state is ItemState.open:
            return moment.order.serve_filtered(most, fits & self._free_for(reviewer, holding))
        fits[list(holding)] = False
        return moment.order.serve_filtered(most, fits & self._in_state(wanted.state))

    def _free_for(self, reviewer: str, holding: Collection[int]) -> Bools:
        """free[s], whether an item may be served: open, not skipped by this reviewer, and not in another's hands."""
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
        """How many items fit a filter."""
        fits = self._search.find(wanted, self.moment)
        with self._lock:
            return int((fits & self._in_state(wanted.state)).sum())

    def view(self, item: int, chosen: Choice = Choice.filter) -> ItemView:
        """One item as it is now."""
        self._require(item)
        with self._lock:
            return self.moment.viewer.view(item, self._of(item), chosen)

    def find(self, name: str) -> int:
        """The number of an item."""
        if name not in self._names:
            raise UnknownItemError("There is no item of that name.")
        return self._names[name]

    def evidence(self, item: int) -> ItemEvidence:
        """Why an item has its answer, and what the rules say of it."""
        self._require(item)
        moment = self.moment
        units = moment.evidence(self.material.labels, item)
        if self.names_hidden:
            numbers = {one.name: moment.viewer.annotator_name(j) for j, one in enumerate(moment.standings)}
            units = [hide_names(unit, numbers) for unit in units]
        return ItemEvidence(units=units, rules=self._rule_words(item, moment))

    def _rule_words(self, item: int, moment: ReviewMoment) -> list[RuleWord]:
        rules = self.material.rules
        if rules is None or not rules.are_local:
            return []
        bits = rules.say(np.array([item]), moment.fit.estimate.beliefs, moment.fit.learned)
        return rule_words(bits, rules.texts, self.form.class_names, is_sentence=self.form.labels.is_sequential)

    @property
    def names_hidden(self) -> bool:
        """Whether annotators are shown by number."""
        return self._serving.hide_names

    def standings(self) -> list[AnnotatorStanding]:
        """How every annotator stands."""
        moment = self.moment
        if not self.names_hidden:
            return list(moment.standings)
        return [replace(one, name=moment.viewer.annotator_name(j), reason="") for j, one in enumerate(moment.standings)]

    def record(self, new: NewDecision) -> Decision:
        """Write a decision into the log; when this returns, it is on the disk."""
        self._require(new.item)
        if new.kind is DecisionKind.undo:
            raise DataError("What is undone is the last decision: there is a request of its own for that.")
        after = new.answer if new.kind is DecisionKind.decide else None
        if new.kind is DecisionKind.decide:
            self.form.encode(new.item, after)
        with self._lock:
            if new.settles and new.revision != self._of(new.item).revision:
                raise OutdatedError(
                    "Somebody decided about this item meanwhile. Look at it again before you settle it."
                )
            held = self._held.get(new.item)
            shown = held.shown if held is not None and held.reviewer == new.reviewer else self._shown(new.item)
            line = Decision(
                request=new.request,
                kind=new.kind,
                item=self._item_names[new.item],
                reviewer=new.reviewer,
                revision=new.revision,
                before=shown,
                after=after,
                chosen=self._check_choice(new),
                settles=new.settles,
                seconds=new.seconds,
                cause=new.cause,
                note=new.note,
            )
            return self._append(line)

    def undo(self, reviewer: str, request: str) -> Decision:
        """Undo a reviewer's last decision, whatever it was; the line that says so."""
        with self._lock:
            known = self.log.find(request)
            if known is not None:
                return known
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
        """The name of an item, as the log has it."""
        return self._item_names[item]

    def decided_items(self) -> list[int]:
        """The items of which an answer stands."""
        with self._lock:
            return sorted(self._states[ItemState.decided])

    @property
    def waiting(self) -> int:
        """How many decisions came in since the last re-fit."""
        return self._waiting

    def counts(self) -> ReviewCounts:
        """How far the review is."""
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
        """How many answers are right, by those that were checked at random."""
        with self._lock:
            checked = [self._checked(int(s)) for s in self.random_items() if self._of(int(s)).is_certain]
            decided = len(self._states[ItemState.decided])
            return checked_accuracy(checked, decided=decided, items=len(self._handled))

    def random_items(self) -> Ints:
        """The items that are a random sample: the beginning of a permutation, as far as it was drawn."""
        with self._lock:
            drawn = np.zeros(len(self._handled), dtype=bool)
            drawn[[s for s in self._states[ItemState.all] if any(map(_is_drawn, self._of(s).lines))]] = True
            return random_sample(drawn, self._serving.seed)

    def _checked(self, item: int) -> CheckedItem:
        found, units = self._of(item), item_units(self.form.labels.offsets, np.array([item]))
        line = found.decisions[0]
        return CheckedItem(
            first_is_right=found.answer == self.form.decode(self._first[units]),
            shown_is_right=line.before == found.answer,
            drawn=any(_is_drawn(one) for one in found.lines),
        )

    def decisions(self) -> Decisions:
        """What was decided and by nobody contradicted, and which of it is a random sample."""
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
        """Fit again with all decisions as known truths; reviewers may go on meanwhile."""
        began, last = time.monotonic(), self.moment
        with self._lock:
            decisions, waiting = self.decisions(), self._waiting
        fit = self.material.fitter.refit(
            last.fit, decisions, recalibrate=self._is_sample_grown(decisions), epochs=epochs
        )
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

    def _is_sample_grown(self, decisions: Decisions) -> bool:
        """Whether there are enough more random items than at the last time that the scale was fitted."""
        if len(decisions.at_random) < self._calibrated_with + RECALIBRATE_AFTER:
            return False
        self._calibrated_with = len(decisions.at_random)
        return True

    def _append(self, line: Decision) -> Decision:
        """Record a line, and take it in; what was recorded before is not taken in again."""
        known = self.log.find(line.request)
        if known is not None:
            return known
        recorded = self.log.append(line)
        self._take_in(recorded)
        self._held.pop(self._names[recorded.item], None)
        return recorded

    def _take_in(self, line: Decision) -> None:
        item = self._names.get(line.item)
        if item is None:
            raise DataError(f"The log speaks of an item {line.item!r}, which is not among these. Name another folder.")
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

    def _check_choice(self, new: NewDecision) -> Choice:
        """How the item came up: as the client says, unless it cannot have been a random one."""
        if new.chosen is not Choice.random:
            return new.chosen
        place = self._sample_place[new.item]
        earlier = int((~self._handled[self._sample[:place]]).sum())
        return Choice.random if earlier <= AHEAD else Choice.filter

    def _shown(self, item: int) -> str | list[str] | None:
        answer = self.moment.fit.estimate.answer[item_units(self.form.labels.offsets, np.array([item]))]
        return None if (answer < 0).all() else self.form.decode(answer)

    def _of(self, item: int) -> ItemProgress:
        return self.progress.of(self._item_names[item])

    def _valid(self, items: Collection[int]) -> list[int]:
        return [item for item in items if 0 <= item < len(self._handled)]

    def _require(self, item: int) -> None:
        if not 0 <= item < len(self._handled):
            raise UnknownItemError(f"There is no item {item}: they are numbered from 0 to {len(self._handled) - 1:,}.")


def _is_drawn(line: Decision) -> bool:
    return line.chosen is Choice.random and line.kind is not DecisionKind.skip
