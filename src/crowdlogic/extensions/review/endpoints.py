"""The endpoints: each takes a request, calls the session, and answers with plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Response
from fastapi.responses import FileResponse
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from crowdlogic.data.tagging import is_span_tag_set
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

# What the API takes and gives, beside what `workflows.review` gives itself. FastAPI documents it as OpenAPI.

MOST_TOKENS = 20_000
"""How many tags or spans an answer may have."""
LARGEST_NUMBER = 2**53
"""The largest number that JSON carries exactly everywhere."""


def whole_characters(text: str) -> str:
    """The text, if it is one: half a character can be written in JSON, and nowhere else."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("holds half a character") from None
    return text


Reviewer = Annotated[
    str, Field(min_length=1, max_length=100, description="Who decides."), AfterValidator(whole_characters)
]
RequestName = Annotated[
    str,
    Field(min_length=1, max_length=100, description="Your own name for this request: sent twice, it counts once."),
    AfterValidator(whole_characters),
]
ClassName = Annotated[str, Field(max_length=1000), AfterValidator(whole_characters)]
Number = Annotated[int, Field(strict=True, ge=0, le=LARGEST_NUMBER)]


class StrictModel(BaseModel):
    """What people send: a field that nobody knows is a mistake."""

    model_config = ConfigDict(extra="forbid")


class SpanRequest(StrictModel):
    """A span of a sentence: the tokens start to end (exclusive), and its type."""

    start: Number
    end: Number
    type: ClassName


class DecisionRequest(StrictModel):
    """What a reviewer does with an item. A sentence is answered by its spans, or by one tag for each token."""

    request: RequestName
    item: Number
    reviewer: Reviewer
    kind: Literal["decide", "cannot-say", "skip"] = "decide"
    answer: ClassName | Annotated[list[ClassName], Field(max_length=MOST_TOKENS)] | None = None
    spans: Annotated[list[SpanRequest], Field(max_length=MOST_TOKENS)] | None = None
    revision: Annotated[Number, Field(description="The item's revision that you saw.")] = 0
    chosen: Choice = Choice.filter
    settles: Annotated[bool, Field(strict=True, description="Ends a conflict: your answer counts alone.")] = False
    seconds: Annotated[float, Field(strict=True, ge=0, le=1e7, allow_inf_nan=False)] | None = None
    cause: Cause | None = None
    note: Annotated[str, Field(max_length=2000), AfterValidator(whole_characters)] = ""


class UndoRequest(StrictModel):
    """Takes back the last thing that a reviewer did."""

    request: RequestName
    reviewer: Reviewer


class RefitRequest(StrictModel):
    """Has everything fitted again now; a run's classifier learns for so many epochs."""

    epochs: Annotated[int, Field(strict=True, ge=0, le=50)] = 0


@dataclass(frozen=True, kw_only=True)
class SessionFacts:
    """What a review is about.

    Attributes:
        title: What is reviewed.
        method: The method that gave the first answers.
        task: documents, spans (of tagged sentences) or tags (of tokens).
        types: What an item, a span or a token can be.
        items: How many items there are.
        rules: The rules as text.
        causes: What a decision can name as its cause.
        has_classifier: Whether there is a classifier that can learn.
        names_hidden: Whether annotators are shown by number.
        refit_every: After how many decisions everything is fitted again; 0 for never by itself.
        notices: What a person should know.
    """

    title: str
    method: str
    task: str
    types: list[str]
    items: int
    rules: list[str]
    causes: list[str]
    has_classifier: bool
    names_hidden: bool
    refit_every: int
    notices: list[str]


@dataclass(frozen=True, kw_only=True)
class RefitAnswer:
    """What the last re-fit changed: in a sentence, and how long it took."""

    number: int
    sentence: str
    seconds: float


@dataclass(frozen=True, kw_only=True)
class ProgressAnswer:
    """How far the review is.

    Attributes:
        counts: In figures.
        is_fitting: Whether a re-fit is running or due.
        problem: What went wrong with the last re-fit; empty where nothing did.
        last: What the last re-fit changed; None before the first.
    """

    counts: ReviewCounts
    is_fitting: bool
    problem: str
    last: RefitAnswer | None


@dataclass(frozen=True, kw_only=True)
class QueueAnswer:
    """The next items, and how many fit the filter in all."""

    items: list[ItemView]
    fitting: int


@dataclass(frozen=True, kw_only=True)
class SavedAnswer:
    """What is on the disk now.

    Attributes:
        number: The number of the line in the log.
        item: The item as it is now.
        progress: How far the review is.
    """

    number: int
    item: ItemView
    progress: ProgressAnswer


@dataclass(frozen=True, kw_only=True)
class FoundItem:
    """The number of an item."""

    item: int


class Problem(BaseModel):
    """Why a request was refused."""

    detail: str


MOST_SERVED = 50
"""How many items one request may ask for."""
MOST_LINES = 1000
"""How many lines of the log one request may ask for."""

Item = Annotated[int, Query(ge=0, le=2**31)]
Words = Annotated[str | None, Query(max_length=200)]
Share = Annotated[float, Query(ge=0, le=1, allow_inf_nan=False)]


class Endpoints:
    """The endpoints of one review."""

    def __init__(self, session: ReviewSession, runner: RefitRunner, folder: Path) -> None:
        self.session, self.runner, self.folder = session, runner, folder

    def router(self) -> APIRouter:
        """All of them, under /api."""
        router = APIRouter(prefix="/api")
        for method, path, endpoint, options in self._routes():
            router.add_api_route(path, endpoint, methods=[method], **options)
        return router

    def _routes(self) -> Sequence[tuple[str, str, Any, dict[str, Any]]]:
        return (
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
            ("POST", "/refits", self.refit, {"status_code": 202}),
            ("POST", "/exports", self.export, {}),
            ("GET", "/exports/{name}", self.download, {"response_class": FileResponse}),
        )

    def describe(self) -> SessionFacts:
        """What the review is about."""
        material, form = self.session.material, self.session.form
        is_spans = form.labels.is_sequential and is_span_tag_set(form.labels.classes)
        return SessionFacts(
            title=material.title,
            method=material.fit.estimate.method,
            task="spans" if is_spans else "tags" if form.labels.is_sequential else "documents",
            types=list(form.types),
            items=len(form.labels.items),
            rules=[] if material.rules is None else list(material.rules.texts),
            causes=[str(cause) for cause in Cause],
            has_classifier=material.has_classifier,
            names_hidden=self.session.names_hidden,
            refit_every=self.runner.every,
            notices=[] if self.session.names_hidden else list(material.notices),
        )

    def measure(self) -> ProgressAnswer:
        """How far the review is, and what the last re-fit changed."""
        changes = self.session.changes
        last = None
        if changes:
            last = RefitAnswer(number=len(changes), sentence=changes[-1].sentence, seconds=changes[-1].seconds)
        return ProgressAnswer(
            counts=self.session.counts(), is_fitting=self.runner.is_busy, problem=self.runner.problem, last=last
        )

    def list_annotators(self) -> list[AnnotatorStanding]:
        """How every annotator stands."""
        return self.session.standings()

    def serve(
        self,
        reviewer: Annotated[Reviewer, Query()],
        most: Annotated[int, Query(ge=1, le=MOST_SERVED)] = 5,
        holding: Annotated[list[Item], Query(max_length=200, description="Items that you hold already.")] = [],  # noqa: B006
        answer: Annotated[Words, Query(description="Items with this answer.")] = None,
        annotator: Annotated[Words, Query(description="Items that this annotator labelled.")] = None,
        rule: Annotated[int | None, Query(ge=0, le=10**6, description="Items that this rule touches.")] = None,
        least_confidence: Share = 0.0,
        most_confidence: Share = 1.0,
        search: Annotated[str, Query(max_length=200, description="Words in text or name.")] = "",
        state: ItemState = ItemState.open,
    ) -> QueueAnswer:
        """The next items for a reviewer: of the queue, or those that fit a filter."""
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
        """The number of an item, by its name."""
        return FoundItem(item=self.session.find(name))

    def show(self, item: int) -> ItemView:
        """One item as it is now."""
        return self.session.view(item)

    def explain(self, item: int) -> ItemEvidence:
        """Why an item has its answer, in bits, and what the rules say of it."""
        return self.session.evidence(item)

    def decide(self, new: DecisionRequest) -> SavedAnswer:
        """Record a decision. When this answers, it is on the disk."""
        given = new.model_dump(exclude={"spans", "kind", "answer"})
        answer = new.answer
        if new.spans is not None and new.kind == "decide":
            self.session.view(new.item)  # an unknown item is refused before its spans are looked at
            answer = self.session.form.tags_of_spans(new.item, [span.model_dump() for span in new.spans])
        line = self.session.record(NewDecision(**given, kind=DecisionKind(new.kind), answer=answer))
        self.runner.notice()
        return self._saved(line)

    def undo(self, new: UndoRequest) -> SavedAnswer:
        """Take back the last thing that a reviewer did."""
        return self._saved(self.session.undo(new.reviewer, new.request))

    def _saved(self, line: Decision) -> SavedAnswer:
        item = self.session.view(self.session.find(line.item), line.chosen)
        return SavedAnswer(number=line.number, item=item, progress=self.measure())

    def list_decisions(
        self,
        after: Annotated[int, Query(ge=0, le=2**53)] = 0,
        most: Annotated[int, Query(ge=1, le=MOST_LINES)] = 100,
    ) -> list[dict[str, Any]]:
        """Lines of the log after a number, in their order."""
        return [asdict(line) for line in self.session.log.read(after=after, most=most)]

    def refit(self, new: RefitRequest) -> ProgressAnswer:
        """Have everything fitted again, in the background."""
        self.runner.ask(epochs=new.epochs)
        return self.measure()

    def export(self) -> list[ExportedFile]:
        """Write the corrected labels, the anchors, the log and a report into the folder of the review."""
        return write_exports(self.session, self.folder)

    def download(self, name: str) -> Response:
        """One of the files that were written."""
        path = export_path(self.folder, name)
        return FileResponse(path, filename=path.name, content_disposition_type="attachment")
