"""Web server of a review: application, access and lifecycle."""

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
from crowdlogic.reporting.charts import colour_schemes

KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
"""Media types of the static files by suffix."""

STATUS: dict[type[CrowdLogicError], int] = {
    UnknownItemError: 404,
    OutdatedError: 409,
    ReusedRequestError: 409,
    ResourceError: 507,
}
"""HTTP status by exception; 422 for all others."""

HTTP_PROBLEMS = {
    400: "The request is not valid JSON.",
    404: "There is nothing at this address.",
    405: "This address does not support this method.",
}
"""Messages by HTTP status of requests that the framework rejects."""

REFUSALS: dict[int | str, dict[str, Any]] = {
    code: {"model": Problem, "description": why}
    for code, why in {
        400: "The request is not valid JSON.",
        401: "The token is missing or wrong.",
        403: "The request comes from another site or uses another name for this server.",
        404: "Not found.",
        408: "The request did not arrive in time.",
        409: "Somebody decided in the meantime, or another request has this name.",
        413: "The request is too large.",
        422: "The request is invalid.",
        507: "The disk is full.",
    }.items()
}

ABOUT = """The review application of crowdlogic. Every request needs `Authorization: Bearer TOKEN`, where TOKEN is the
part after `#token=` of the address that `crowdlogic review` prints. Decisions are on disk before they are acknowledged;
a request that is sent twice with the same name counts once."""


def make_app(session: ReviewSession, runner: RefitRunner, folder: Path, access: Access) -> Guard:
    """Create the application for a review."""
    app = FastAPI(
        title="crowdlogic review",
        version=__version__,
        description=ABOUT,
        openapi_url="/api/openapi.json",
        docs_url=None,  # its page would load external scripts
        redoc_url=None,
        responses=REFUSALS,
    )
    app.include_router(Endpoints(session, runner, folder).router())
    app.add_api_route("/", lambda: _page_file("index.html"), include_in_schema=False)
    app.add_api_route("/static/{name}", _page_file, include_in_schema=False)
    for kind in (CrowdLogicError, RequestValidationError, HTTPException, OSError):
        app.add_exception_handler(kind, _answer_problem)
    return Guard(app, access)


def _page_file(name: str) -> Response:
    """Return a static file by its name."""
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
    return colour_schemes() + text if name == "review.css" else text


def _answer_problem(_: Request, problem: Exception) -> Response:
    """Respond to an error without revealing folders or repeating invalid input."""
    if isinstance(problem, CrowdLogicError):
        status = next((code for kind, code in STATUS.items() if isinstance(problem, kind)), 422)
        return JSONResponse({"detail": hide_folders(str(problem))}, status)
    if isinstance(problem, RequestValidationError):
        errors = problem.errors()
        places = [".".join(str(part) for part in error["loc"][1:]) or "the request" for error in errors]
        text = "; ".join(f"{place}: {error['msg']}" for place, error in zip(places, errors, strict=True))
        return JSONResponse({"detail": text[:1000].encode("utf-8", "backslashreplace").decode("utf-8")}, 422)
    if isinstance(problem, HTTPException):
        text = HTTP_PROBLEMS.get(problem.status_code, "The request was refused.")
        return JSONResponse({"detail": text}, problem.status_code, problem.headers)
    reason = problem.strerror if isinstance(problem, OSError) else None
    return JSONResponse({"detail": f"Disk error: {reason or 'unknown reason'}."}, 507)


def hide_folders(message: str) -> str:
    """Return a message in which every path is reduced to its last part."""
    words = (word.rpartition("/")[2] or "/" if "/" in word else word for word in message.split(" "))
    return " ".join(words)


DEFAULT_PORT = 8642
ANY_ADDRESS = ("0.0.0.0", "::", "")  # noqa: S104 (recognised, not bound to by default)
MIN_PASSWORD_LENGTH = 8


@dataclass(frozen=True, kw_only=True)
class ServerOptions:
    """Options for serving a review.

    Attributes:
        host: Address to listen on.
        port: Port; None for the first free port, starting at the default.
        password: Password for reviewers; None for a random token, which is only allowed on this machine.
        no_password: Whether everybody who reaches the server is admitted; must be stated explicitly.
        allowed_hosts: Additional host names of the server, such as that of a proxy.
        opens_browser: Whether to open the browser.
    """

    host: str = "127.0.0.1"
    port: int | None = None
    password: str | None = None
    no_password: bool = False
    allowed_hosts: tuple[str, ...] = ()
    opens_browser: bool = True


def check_server(options: ServerOptions) -> None:
    """Raise an error if others could reach the server without an explicit decision about the password."""
    if options.password is not None and options.no_password:
        raise OptionError("--password-file and --no-password exclude each other. Give one of them.")
    if options.password is not None and len(options.password) < MIN_PASSWORD_LENGTH:
        raise OptionError(f"--password-file: the password must have at least {MIN_PASSWORD_LENGTH} characters.")
    if not is_loopback(options.host) and options.password is None and not options.no_password:
        raise OptionError(
            f"--host {options.host}: others can reach this server. Set a password (--password-file FILE), or confirm "
            f"that there is none (--no-password)."
        )


def is_loopback(host: str) -> bool:
    """Return whether an address is only reachable from this machine."""
    if host == "localhost":
        return True
    with suppress(ValueError):
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    return False


def bind(host: str, port: int | None) -> socket.socket:
    """Bind a socket, by default to the first free port starting at DEFAULT_PORT."""
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
    raise OptionError(f"{host}{where}: cannot listen on this address ({reason}). Choose another --port or --host.")


def make_access(options: ServerOptions, port: int) -> Access:
    """Create the access policy of the server."""
    secret = None if options.no_password else options.password or secrets.token_urlsafe(24)
    named = () if options.host in ANY_ADDRESS else (options.host.lower(), f"[{options.host}]")
    return Access(
        secret=secret,
        port=port,
        hosts=frozenset({*(name.lower() for name in options.allowed_hosts), *named} - {"127.0.0.1", "localhost"}),
        accepts_addresses=not is_loopback(options.host),
    )


def address(options: ServerOptions, access: Access) -> str:
    """Return the address to open in the browser, which never contains a password."""
    host = socket.gethostname() if options.host in ANY_ADDRESS else options.host
    shown = f"[{host}]" if ":" in host else host
    token = "" if access.secret is None or options.password is not None else f"#token={access.secret}"
    return f"http://{shown}:{access.port}/{token}"


def describe_access(options: ServerOptions) -> str:
    """Describe who can reach the review."""
    if is_loopback(options.host):
        return "Only this machine can reach it."
    if options.no_password:
        return "There is NO password: everybody who reaches this address can read all texts and decide."
    return "Others can reach it with the password. It is sent unencrypted: use a proxy with TLS."


def serve(
    session: ReviewSession, folder: Path, options: ServerOptions, *, every: int, say: Callable[[str], None]
) -> None:
    """Serve a review until it is interrupted.

    Args:
        session: The review.
        folder: Folder of the review, for exports.
        options: Options for serving.
        every: Number of decisions between refits.
        say: Function that prints messages to the terminal.
    """
    check_server(options)
    bound = bind(options.host, options.port)
    with closing(bound):
        bound.listen(128)  # early connections wait instead of being refused
        access = make_access(options, bound.getsockname()[1])
        hosts = access.hosts | ({socket.gethostname().lower()} if options.host in ANY_ADDRESS else set())
        runner = RefitRunner(session, every=every, report=say)
        app = make_app(session, runner, folder, Access(**{**vars(access), "hosts": frozenset(hosts)}))
        place = address(options, access)
        say(f"{place}  {describe_access(options)} Stop with Ctrl-C; resume with the same command.")
        if options.opens_browser:
            Timer(0.5, webbrowser.open, [place]).start()
        config = uvicorn.Config(
            app, log_level="error", access_log=False, server_header=False, timeout_graceful_shutdown=5, lifespan="off"
        )
        try:
            with suppress(KeyboardInterrupt):  # Ctrl-C ends a review
                uvicorn.Server(config).run(sockets=[bound])
        finally:
            runner.close()
