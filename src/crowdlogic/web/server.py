"""The server: one review on one port, until it is interrupted."""

from __future__ import annotations

import ipaddress
import secrets
import socket
import webbrowser
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Timer

import uvicorn

from crowdlogic.errors import OptionError
from crowdlogic.web.access import Access
from crowdlogic.web.app import make_app
from crowdlogic.workflows.review.refitting import RefitRunner
from crowdlogic.workflows.review.session import ReviewSession

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
