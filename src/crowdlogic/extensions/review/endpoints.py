"""HTTP endpoints of the review: requests, responses and their schemas (documented by FastAPI as OpenAPI)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response
from fastapi.responses import FileResponse
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from crowdlogic.data.tagging import is_span_tag_set
from crowdlogic.errors import OptionError
from crowdlogic.extensions.review.decision_log import Cause, Choice, Decision, DecisionKind
from crowdlogic.extensions.review.evidence import ItemEvidence
from crowdlogic.extensions.review.session import (
    ExportedFile,
    NewDecision,
    RefitRunner,
    ReviewCounts,
    ReviewSession,
    export_path,
    write_exports,
)
from crowdlogic.extensions.review.snapshot import AnnotatorStanding, ItemState, ItemView, QueueFilter
from crowdlogic.extensions.review.suggestions import MAX_LENGTH, RuleState, SuggestedRule

MAX_TOKENS = 20_000
"""Maximum number of tags or spans in an answer."""
MAX_NUMBER = 2**53
"""Largest integer that all JSON implementations represent exactly."""


def whole_characters(text: str) -> str:
    """Return the text after checking for lone surrogates, which JSON allows but UTF-8 does not."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("contains an incomplete character (a lone surrogate)") from None
    return text


Reviewer = Annotated[
    str, Field(min_length=1, max_length=100, description="Name of the reviewer."), AfterValidator(whole_characters)
]
RequestName = Annotated[
    str,
    Field(min_length=1, max_length=100, description="Unique name of this request; a repeated request counts once."),
    AfterValidator(whole_characters),
]
ClassName = Annotated[str, Field(max_length=1000), AfterValidator(whole_characters)]
Number = Annotated[int, Field(strict=True, ge=0, le=MAX_NUMBER)]


class StrictModel(BaseModel):
    """Base class of request bodies, which rejects unknown fields."""

    model_config = ConfigDict(extra="forbid")


class SpanRequest(StrictModel):
    """Span of a sentence: the tokens start to end (exclusive), and its type."""

    start: Number
    end: Number
    type: ClassName


class DecisionRequest(StrictModel):
    """Action of a reviewer on an item. A sentence is answered by spans, or by one tag per token."""

    request: RequestName
    item: Number
    reviewer: Reviewer
    kind: Literal["decide", "cannot-say", "skip"] = "decide"
    answer: ClassName | Annotated[list[ClassName], Field(max_length=MAX_TOKENS)] | None = None
    spans: Annotated[list[SpanRequest], Field(max_length=MAX_TOKENS)] | None = None
    revision: Annotated[Number, Field(description="Revision of the item that you saw.")] = 0
    chosen: Choice = Choice.filter
    settles: Annotated[bool, Field(strict=True, description="Settles a conflict: only your answer counts.")] = False
    seconds: Annotated[float, Field(strict=True, ge=0, le=1e7, allow_inf_nan=False)] | None = None
    cause: Cause | None = None
    note: Annotated[str, Field(max_length=2000), AfterValidator(whole_characters)] = ""


class UndoRequest(StrictModel):
    """Request to undo the last action of a reviewer."""

    request: RequestName
    reviewer: Reviewer


class RefitRequest(StrictModel):
    """Request for a refit now; `epochs` is the number of extra training epochs of a run's classifier."""

    epochs: Annotated[int, Field(strict=True, ge=0, le=50)] = 0


class RuleRequest(StrictModel):
    """Decision on a suggested rule; `rule` is its edited text."""

    number: Number
    state: RuleState
    rule: Annotated[str, Field(max_length=MAX_LENGTH), AfterValidator(whole_characters)] | None = None


@dataclass(frozen=True, kw_only=True)
class SessionFacts:
    """Description of a review.

    Attributes:
        title: Title of the review.
        method: Method of the first answers.
        task: documents, spans (of tagged sentences) or tags (of tokens).
        types: Possible types of an item, a span or a token.
        items: Number of items.
        rules: The rules as text.
        suggestions: Number of suggested rules.
        causes: Possible causes in a decision.
        has_classifier: Whether there is a classifier that can be trained.
        names_hidden: Whether annotators are shown by number.
        refit_every: Number of decisions between automatic refits; 0 for none.
        notices: Messages to the reviewers.
    """

    title: str
    method: str
    task: str
    types: list[str]
    items: int
    rules: list[str]
    suggestions: int
    causes: list[str]
    has_classifier: bool
    names_hidden: bool
    refit_every: int
    notices: list[str]


@dataclass(frozen=True, kw_only=True)
class RefitAnswer:
    """Changes by the last refit as a sentence, and its duration."""

    number: int
    sentence: str
    seconds: float


@dataclass(frozen=True, kw_only=True)
class ProgressAnswer:
    """Progress of the review.

    Attributes:
        counts: Progress in numbers.
        is_fitting: Whether a refit is running or requested.
        problem: Error of the last refit; empty if there was none.
        last: Changes by the last refit; None before the first.
    """

    counts: ReviewCounts
    is_fitting: bool
    problem: str
    last: RefitAnswer | None


@dataclass(frozen=True, kw_only=True)
class QueueAnswer:
    """The next items, and the total number that match the filter."""

    items: list[ItemView]
    fitting: int


@dataclass(frozen=True, kw_only=True)
class SavedAnswer:
    """Response to a recorded decision.

    Attributes:
        number: Number of the entry in the log.
        item: The item as it is now.
        progress: Progress of the review.
    """

    number: int
    item: ItemView
    progress: ProgressAnswer


@dataclass(frozen=True, kw_only=True)
class FoundItem:
    """Number of an item."""

    item: int


class Problem(BaseModel):
    """Reason why a request was rejected."""

    detail: str


MAX_SERVED = 50
"""Maximum number of items per request."""
MAX_LINES = 1000
"""Maximum number of log entries per request."""

Item = Annotated[int, Query(ge=0, le=2**31)]
Words = Annotated[str | None, Query(max_length=200)]
Share = Annotated[float, Query(ge=0, le=1, allow_inf_nan=False)]


class Endpoints:
    """Endpoints of one review."""

    def __init__(self, session: ReviewSession, runner: RefitRunner, folder: Path) -> None:
        self.session, self.runner, self.folder = session, runner, folder

    def router(self) -> APIRouter:
        """Return a router with all endpoints under /api."""
        router = APIRouter(prefix="/api")
        routes: Sequence[tuple[str, str, Any, dict[str, Any]]] = (
            ("GET", "/session", self.describe, {}),
            ("GET", "/progress", self.measure, {}),
            ("GET", "/annotators", self.list_annotators, {}),
            ("GET", "/queue", self.serve, {}),
            ("GET", "/find", self.find, {}),
            ("GET", "/items/{item}", self.show, {}),
            ("GET", "/items/{item}/evidence", self.explain, {}),
            ("POST", "/decisions", self.decide, {"status_code": 201}),
            ("GET", "/decisions", self.list_decisions, {}),
            ("POST", "/undo", self.undo, {}),
            ("GET", "/suggestions", self.list_suggestions, {}),
            ("POST", "/suggestions", self.decide_rule, {}),
            ("POST", "/refits", self.refit, {"status_code": 202}),
            ("POST", "/exports", self.export, {}),
            ("GET", "/exports/{name}", self.download, {"response_class": FileResponse}),
        )
        for method, path, endpoint, options in routes:
            router.add_api_route(path, endpoint, methods=[method], **options)
        return router

    def describe(self) -> SessionFacts:
        """Return a description of the review."""
        material, form = self.session.material, self.session.form
        is_spans = form.labels.is_sequential and is_span_tag_set(form.labels.classes)
        return SessionFacts(
            title=material.title,
            method=material.fit.estimate.method,
            task="spans" if is_spans else "tags" if form.labels.is_sequential else "documents",
            types=list(form.types),
            items=len(form.labels.items),
            rules=[] if material.rules is None else list(material.rules.texts),
            suggestions=len(self._suggestions()),
            causes=[str(cause) for cause in Cause],
            has_classifier=material.has_classifier,
            names_hidden=self.session.names_hidden,
            refit_every=self.runner.every,
            notices=[] if self.session.names_hidden else list(material.notices),
        )

    def measure(self) -> ProgressAnswer:
        """Return the progress of the review, and the changes by the last refit."""
        changes = self.session.changes
        last = None
        if changes:
            last = RefitAnswer(number=len(changes), sentence=changes[-1].sentence, seconds=changes[-1].seconds)
        return ProgressAnswer(
            counts=self.session.counts(), is_fitting=self.runner.is_busy, problem=self.runner.problem, last=last
        )

    def list_annotators(self) -> list[AnnotatorStanding]:
        """Return the reliability and flags of all annotators."""
        return self.session.standings()

    def serve(
        self,
        reviewer: Annotated[Reviewer, Query()],
        most: Annotated[int, Query(ge=1, le=MAX_SERVED)] = 5,
        holding: Annotated[list[Item], Query(max_length=200, description="Items that you already hold.")] = [],  # noqa: B006
        answer: Annotated[Words, Query(description="Items with this answer.")] = None,
        annotator: Annotated[Words, Query(description="Items that this annotator labelled.")] = None,
        rule: Annotated[int | None, Query(ge=0, le=10**6, description="Items that this rule touches.")] = None,
        least_confidence: Share = 0.0,
        most_confidence: Share = 1.0,
        search: Annotated[str, Query(max_length=200, description="Words in text or name.")] = "",
        state: ItemState = ItemState.open,
    ) -> QueueAnswer:
        """Return the next items for a reviewer, from the queue or matching a filter."""
        wanted = QueueFilter(
            answer=answer,
            annotator=annotator,
            rule=rule,
            least_confidence=least_confidence,
            most_confidence=most_confidence,
            search=search,
            state=state,
        )
        items = self.session.serve(reviewer, most=most, wanted=wanted, holding=holding)
        return QueueAnswer(items=items, fitting=self.session.count_fitting(wanted))

    def find(self, name: Annotated[str, Query(max_length=1000)]) -> FoundItem:
        """Return the number of an item with a given name."""
        return FoundItem(item=self.session.find(name))

    def show(self, item: int) -> ItemView:
        """Return the current view of an item."""
        return self.session.view(item)

    def explain(self, item: int) -> ItemEvidence:
        """Return the evidence for the answer of an item in bits, with the contributions of the rules."""
        return self.session.evidence(item)

    def decide(self, new: DecisionRequest) -> SavedAnswer:
        """Record a decision. It is on disk before the response is sent."""
        given = new.model_dump(exclude={"spans", "kind", "answer"})
        answer = new.answer
        if new.spans is not None and new.kind == "decide":
            self.session.view(new.item)  # raises an error for an unknown item before checking its spans
            answer = self.session.form.tags_of_spans(new.item, [span.model_dump() for span in new.spans])
        line = self.session.record(NewDecision(**given, kind=DecisionKind(new.kind), answer=answer))
        self.runner.notice()
        return self._saved(line)

    def undo(self, new: UndoRequest) -> SavedAnswer:
        """Undo the last action of a reviewer."""
        return self._saved(self.session.undo(new.reviewer, new.request))

    def _saved(self, line: Decision) -> SavedAnswer:
        item = self.session.view(self.session.find(line.item), line.chosen)
        return SavedAnswer(number=line.number, item=item, progress=self.measure())

    def list_decisions(
        self,
        after: Annotated[int, Query(ge=0, le=2**53)] = 0,
        most: Annotated[int, Query(ge=1, le=MAX_LINES)] = 100,
    ) -> list[dict[str, Any]]:
        """Return entries of the log after a number, in order."""
        return [asdict(line) for line in self.session.log.read(after=after, most=most)]

    def list_suggestions(self) -> list[SuggestedRule]:
        """Return the suggested rules, with the decisions on them."""
        return self._suggestions()

    def decide_rule(self, new: RuleRequest) -> SuggestedRule:
        """Accept, edit or reject a suggested rule. Accepted rules are written to `accepted.rules`."""
        if self.session.suggestions is None:
            raise OptionError("There are no suggested rules. Start the review with --suggestions FILE.")
        return self.session.suggestions.decide(new.number, new.state, new.rule)

    def _suggestions(self) -> list[SuggestedRule]:
        return [] if self.session.suggestions is None else self.session.suggestions.rules

    def refit(self, new: RefitRequest) -> ProgressAnswer:
        """Request a refit in the background."""
        self.runner.ask(epochs=new.epochs)
        return self.measure()

    def export(self) -> list[ExportedFile]:
        """Write the corrected labels, the anchors, the log and a report into the folder of the review."""
        return write_exports(self.session, self.folder)

    def download(self, name: str) -> Response:
        """Return an exported file."""
        path = export_path(self.folder, name)
        return FileResponse(path, filename=path.name, content_disposition_type="attachment")
