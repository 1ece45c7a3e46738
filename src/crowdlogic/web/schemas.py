"""What the API takes and gives, beside what `workflows.review` gives itself. FastAPI documents it as OpenAPI."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from crowdlogic.store.decisions import Cause, Choice
from crowdlogic.workflows.review.requests import ReviewCounts
from crowdlogic.workflows.review.views import ItemView

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
