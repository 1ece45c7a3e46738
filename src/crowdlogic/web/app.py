"""The application: pages, endpoints, and how problems are answered, behind the guard."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from crowdlogic import __version__
from crowdlogic.errors import CrowdLogicError, ResourceError
from crowdlogic.report.plots.colours import DARK, LIGHT, css_variables
from crowdlogic.web.access import Access, Guard
from crowdlogic.web.endpoints import Endpoints
from crowdlogic.web.schemas import Problem
from crowdlogic.workflows.review.refitting import RefitRunner
from crowdlogic.workflows.review.requests import OutdatedError, UnknownItemError
from crowdlogic.workflows.review.session import ReviewSession

KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
"""The files of the page, by suffix, and what the browser is told of them."""

STATUS: dict[type[CrowdLogicError], int] = {UnknownItemError: 404, OutdatedError: 409, ResourceError: 507}
"""What an error of ours is answered with; all others with 422."""

REFUSALS: dict[int | str, dict[str, Any]] = {
    code: {"model": Problem, "description": why}
    for code, why in {
        400: "The request is no JSON.",
        401: "The token is missing or wrong.",
        403: "Another site's request, or another name for this server.",
        404: "There is no such thing.",
        409: "Somebody decided meanwhile.",
        413: "The request is too large.",
        422: "Something in the request makes no sense.",
        507: "The disk is full.",
    }.items()
}

ABOUT = """The review application of crowdlogic. Every request brings `Authorization: Bearer TOKEN`, where TOKEN is what
stands behind `#token=` in the address that `crowdlogic review` prints. Decisions are on the disk before they are
answered; a request that is sent twice under one name counts once."""


def make_app(session: ReviewSession, runner: RefitRunner, folder: Path, access: Access) -> Guard:
    """The application over one review."""
    app = FastAPI(
        title="crowdlogic review",
        version=__version__,
        description=ABOUT,
        openapi_url="/api/openapi.json",
        docs_url=None,  # its page would load scripts from elsewhere
        redoc_url=None,
        responses=REFUSALS,
    )
    app.include_router(Endpoints(session, runner, folder).router())
    app.add_api_route("/", lambda: _page_file("index.html"), include_in_schema=False)
    app.add_api_route("/static/{name}", _page_file, include_in_schema=False)
    app.add_exception_handler(CrowdLogicError, _answer_problem)
    app.add_exception_handler(RequestValidationError, _answer_invalid)
    app.add_exception_handler(HTTPException, _answer_http)
    app.add_exception_handler(OSError, _answer_disk)
    return Guard(app, access)


def _page_file(name: str) -> Response:
    """A file of the page, by its name alone."""
    content = read_static(name)
    if content is None:
        return JSONResponse({"detail": "There is no such file."}, 404)
    return Response(content, media_type=f"{KINDS[name.rpartition('.')[2]]}; charset=utf-8")


@cache
def read_static(name: str) -> str | None:
    """The text of a file of the page; None where there is none of that name."""
    known = {entry.name: entry for entry in (files("crowdlogic.web") / "static").iterdir()}
    if name not in known or name.rpartition(".")[2] not in KINDS:
        return None
    text = known[name].read_text(encoding="utf-8")
    return _colours() + text if name == "review.css" else text


def _colours() -> str:
    """Both colour schemes, those of the report."""
    return (
        f":root {{ color-scheme: light; {css_variables(LIGHT)} }}\n"
        "@media (prefers-color-scheme: dark) { "
        f":root:not([data-theme=light]) {{ color-scheme: dark; {css_variables(DARK)} }} }}\n"
        f":root[data-theme=dark] {{ color-scheme: dark; {css_variables(DARK)} }}\n"
    )


def _answer_problem(_: Request, problem: Exception) -> Response:
    """An error of ours, without the folders that its message may name."""
    status = next((code for kind, code in STATUS.items() if isinstance(problem, kind)), 422)
    return JSONResponse({"detail": hide_folders(str(problem))}, status)


def hide_folders(message: str) -> str:
    """A message with the last part alone of every path in it."""
    words = (word.rpartition("/")[2] or "/" if "/" in word else word for word in message.split(" "))
    return " ".join(words)


def _answer_invalid(_: Request, problem: Exception) -> Response:
    """Where a request makes no sense, and why; what was sent is not repeated."""
    errors = problem.errors() if isinstance(problem, RequestValidationError) else []
    places = [".".join(str(part) for part in error["loc"][1:]) or "the request" for error in errors]
    reasons = [f"{place}: {error['msg']}" for place, error in zip(places, errors, strict=True)]
    text = "; ".join(reasons)[:1000].encode("utf-8", "backslashreplace").decode("utf-8")
    return JSONResponse({"detail": text}, 422)


def _answer_http(_: Request, problem: Exception) -> Response:
    status = problem.status_code if isinstance(problem, HTTPException) else 500
    headers = problem.headers if isinstance(problem, HTTPException) else None
    detail = {
        400: "The request is no JSON.",
        404: "There is nothing at this address.",
        405: "This address does not take such requests.",
    }
    return JSONResponse({"detail": detail.get(status, "The request was refused.")}, status, headers)


def _answer_disk(_: Request, problem: Exception) -> Response:
    reason = problem.strerror if isinstance(problem, OSError) else None
    return JSONResponse({"detail": f"The disk refused: {reason or 'no reason given'}."}, 507)
