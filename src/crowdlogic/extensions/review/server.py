"""The server: one review on one port, until it is interrupted."""

from __future__ import annotations

import ipaddress
import secrets
import socket
import webbrowser
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from threading import Timer
from typing import Any

import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from crowdlogic import __version__
from crowdlogic.errors import CrowdLogicError, OptionError, ResourceError
from crowdlogic.extensions.review.access import Access, Guard
from crowdlogic.extensions.review.endpoints import Endpoints, Problem
from crowdlogic.extensions.review.session import (
    OutdatedError,
    RefitRunner,
    ReusedRequestError,
    ReviewSession,
    UnknownItemError,
)
from crowdlogic.reporting.charts import DARK, LIGHT, css_variables

# The application: pages, endpoints, and how problems are answered, behind the guard.

KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
"""The files of the page, by suffix, and what the browser is told of them."""

STATUS: dict[type[CrowdLogicError], int] = {
    UnknownItemError: 404,
    OutdatedError: 409,
    ReusedRequestError: 409,
    ResourceError: 507,
}
"""What an error of ours is answered with; all others with 422."""

REFUSALS: dict[int | str, dict[str, Any]] = {
    code: {"model": Problem, "description": why}
    for code, why in {
        400: "The request is not valid JSON.",
        401: "The token is missing or wrong.",
        403: "Another site's request, or another name for this server.",
        404: "There is no such thing.",
        408: "The request did not arrive in time.",
        409: "Somebody decided meanwhile, or another request has this name.",
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
    """Return the text of a file of the page, or None if there is no such file."""
    known = {entry.name: entry for entry in (files("crowdlogic.extensions.review") / "static").iterdir()}
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
        400: "The request is not valid JSON.",
        404: "There is nothing at this address.",
        405: "This address does not take such requests.",
    }
    return JSONResponse({"detail": detail.get(status, "The request was refused.")}, status, headers)


def _answer_disk(_: Request, problem: Exception) -> Response:
    reason = problem.strerror if isinstance(problem, OSError) else None
    return JSONResponse({"detail": f"The disk refused: {reason or 'no reason given'}."}, 507)


DEFAULT_PORT = 8642
ANY_ADDRESS = ("0.0.0.0", "::", "")  # noqa: S104 (recognised, not bound to by default)
SHORTEST_PASSWORD = 8


@dataclass(frozen=True, kw_only=True)
class ServerOptions:
    """How a review is served.

    Attributes:
        host: The address to listen at.
        port: The port; None for the first free one from the usual one on.
        password: The password for reviewers; None for a random token, on this machine alone.
        no_password: Whether everybody who reaches the server may decide: it must be said.
        allowed_hosts: Further names that the server goes by, such as that of a proxy.
        opens_browser: Whether to open the browser.
    """

    host: str = "127.0.0.1"
    port: int | None = None
    password: str | None = None
    no_password: bool = False
    allowed_hosts: tuple[str, ...] = ()
    opens_browser: bool = True


def check_server(options: ServerOptions) -> None:
    """Refuse to be reached by strangers without a password, or without saying that there is none."""
    if options.password is not None and options.no_password:
        raise OptionError("--password-file and --no-password: give one of them.")
    if options.password is not None and len(options.password) < SHORTEST_PASSWORD:
        raise OptionError(f"--password-file: a password has {SHORTEST_PASSWORD} characters or more.")
    if not is_loopback(options.host) and options.password is None and not options.no_password:
        raise OptionError(
            f"--host {options.host}: others can reach this server. Give a password (--password-file FILE), or say that "
            f"there is none (--no-password)."
        )


def is_loopback(host: str) -> bool:
    """Whether an address is of this machine alone."""
    if host == "localhost":
        return True
    with suppress(ValueError):
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    return False


def bind(host: str, port: int | None) -> socket.socket:
    """A socket that listens; on the first free port from the usual one on, if none is named."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for candidate in (port,) if port is not None else (*range(DEFAULT_PORT, DEFAULT_PORT + 20), 0):
        bound = socket.socket(family, socket.SOCK_STREAM)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((host.strip("[]"), candidate))
        except OSError as problem:
            bound.close()
            reason = problem.strerror or str(problem)
            continue
        return bound
    where = "" if port is None else f":{port}"
    raise OptionError(f"{host}{where}: cannot listen there ({reason}). Name another --port or --host.")


def make_access(options: ServerOptions, port: int) -> Access:
    """Who may talk to the server."""
    secret = None if options.no_password else options.password or secrets.token_urlsafe(24)
    named = () if options.host in ANY_ADDRESS else (options.host.lower(), f"[{options.host}]")
    return Access(
        secret=secret,
        port=port,
        hosts=frozenset({*(name.lower() for name in options.allowed_hosts), *named} - {"127.0.0.1", "localhost"}),
        accepts_addresses=not is_loopback(options.host),
    )


def address(options: ServerOptions, access: Access) -> str:
    """What to open in the browser; a password is not part of it."""
    host = socket.gethostname() if options.host in ANY_ADDRESS else options.host
    shown = f"[{host}]" if ":" in host else host
    token = "" if access.secret is None or options.password is not None else f"#token={access.secret}"
    return f"http://{shown}:{access.port}/{token}"


def describe_access(options: ServerOptions) -> str:
    """Who can reach the review, in words."""
    if is_loopback(options.host):
        return "Only this machine can reach it."
    if options.no_password:
        return "There is NO password: everybody who reaches this address can read all texts and decide."
    return "Others can reach it with the password. It is sent unencrypted: put a proxy with TLS before it."


def serve(
    session: ReviewSession, folder: Path, options: ServerOptions, *, every: int, say: Callable[[str], None]
) -> None:
    """Serve a review until it is interrupted.

    Args:
        session: The review.
        folder: Its folder, for exports.
        options: How it is served.
        every: After how many decisions everything is fitted again.
        say: Tells the person at the terminal.
    """
    check_server(options)
    bound = bind(options.host, options.port)
    with closing(bound):
        bound.listen(128)  # who follows the address at once waits, and is not turned away
        access = make_access(options, bound.getsockname()[1])
        hosts = access.hosts | ({socket.gethostname().lower()} if options.host in ANY_ADDRESS else set())
        runner = RefitRunner(session, every=every, report=say)
        app = make_app(session, runner, folder, Access(**{**vars(access), "hosts": frozenset(hosts)}))
        place = address(options, access)
        say(f"{place}  {describe_access(options)} Stop with Ctrl-C; go on later with the same command.")
        if options.opens_browser:
            Timer(0.5, webbrowser.open, [place]).start()
        config = uvicorn.Config(
            app, log_level="error", access_log=False, server_header=False, timeout_graceful_shutdown=5, lifespan="off"
        )
        try:
            with suppress(KeyboardInterrupt):  # Ctrl-C is how a review ends
                uvicorn.Server(config).run(sockets=[bound])
        finally:
            runner.close()
