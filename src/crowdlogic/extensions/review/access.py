"""Access control of the server: checks of Host, Origin, token and size before a request reaches the application.

- Host: a page whose domain name was pointed to this server (DNS rebinding) sends that name and is rejected. IP
  addresses belong to no domain, so they are accepted if the server listens beyond this machine.
- Origin: requests made by pages of other sites are rejected.
- Token: everything under /api/ requires `Authorization: Bearer TOKEN`, which pages of other sites cannot send.
- Size and time: bodies are read up to a size limit, and must arrive within a time limit.

Every response has a content security policy that only allows the application's own files.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import json
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

MAX_BODY = 1 << 20
"""Maximum size of a request body in bytes."""
BODY_SECONDS = 30.0
"""Time limit for receiving a request body, in seconds."""
WRONG_TOKEN_DELAY = 0.3
"""Delay before a wrong token is rejected, in seconds, to slow down guessing."""
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
"""Host names of this machine."""

HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
"""Headers of every response."""


@dataclass(frozen=True, kw_only=True)
class Access:
    """Access policy of the server.

    Attributes:
        secret: The token or password; None admits everybody who reaches the server.
        port: Port of the server.
        hosts: Accepted host names in addition to those of this machine.
        accepts_addresses: Whether any IP address is accepted as host, because the server listens beyond this machine.
    """

    secret: str | None
    port: int
    hosts: frozenset[str] = field(default_factory=frozenset)
    accepts_addresses: bool = False

    def is_own_host(self, host: str) -> bool:
        """Return whether a Host header names this server."""
        name, _, port = host.rpartition(":") if not host.endswith("]") else (host, "", "")
        if not name:
            name, port = host, "80"
        if name.lower() in {*LOOPBACK, *self.hosts}:
            return name.lower() in self.hosts or port == str(self.port)
        if not self.accepts_addresses:
            return False
        try:
            ipaddress.ip_address(name.strip("[]"))
        except ValueError:
            return False
        return True

    def is_own_origin(self, origin: str, host: str) -> bool:
        """Return whether an Origin header is that of the application's own page."""
        return origin in (f"http://{host}", f"https://{host}")

    def is_known(self, authorization: str) -> bool:
        """Return whether an Authorization header contains the token."""
        if self.secret is None:
            return True
        kind, _, given = authorization.partition(" ")
        return kind.lower() == "bearer" and hmac.compare_digest(given.encode(), self.secret.encode())


class Guard:
    """ASGI middleware that rejects forbidden requests and adds security headers to every response."""

    def __init__(self, application: Application, access: Access) -> None:
        self.application, self.access = application, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self.application(scope, receive, send)
            return
        # Repeated headers are joined, so that they match no expected value
        headers: dict[str, str] = {}
        for raw_name, raw_value in scope["headers"]:
            name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
            headers[name] = f"{headers[name]}, {value}" if name in headers else value

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message = {**message, "headers": [*message.get("headers", []), *own]}
            await send(message)

        problem = self._problem(scope["path"], headers)
        if problem is not None:
            if problem[0] == 401 and headers.get("authorization"):
                await asyncio.sleep(WRONG_TOKEN_DELAY)
            await _refuse(sending, *problem)
            return
        try:
            body = await asyncio.wait_for(_read_body(receive), BODY_SECONDS)
        except TimeoutError:
            await _refuse(sending, 408, f"The request did not arrive within {BODY_SECONDS:g} seconds.")
            return
        if body is None:
            await _refuse(sending, 413, f"A request may have at most {MAX_BODY:,} bytes.")
            return
        pending = [{"type": "http.request", "body": body, "more_body": False}]

        async def receiving() -> Message:
            return pending.pop() if pending else await receive()

        await self.application(scope, receiving, sending)

    def _problem(self, path: str, headers: dict[str, str]) -> tuple[int, str] | None:
        """Return the status and the reason of a rejection; None if the request is allowed."""
        host, origin = headers.get("host", ""), headers.get("origin")
        if not self.access.is_own_host(host):
            return 403, "Unknown host name of this server. Use the address that the command printed."
        if origin is not None and not self.access.is_own_origin(origin, host):
            return 403, "Requests from other sites are rejected."
        if headers.get("sec-fetch-site") in ("cross-site", "same-site") and path.startswith("/api/"):
            return 403, "Requests from other sites are rejected."
        if path.startswith("/api/") and not self.access.is_known(headers.get("authorization", "")):
            return 401, "The token is missing or wrong. Use the address that the command printed."
        size = headers.get("content-length", "0")
        if size.isdigit() and int(size[:20]) > MAX_BODY:
            return 413, f"A request may have at most {MAX_BODY:,} bytes."
        return None


async def _read_body(receive: Receive) -> bytes | None:
    """Read the whole body; None if it is too large."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return b"".join(parts)
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > MAX_BODY:
            return None
        if not message.get("more_body"):
            return b"".join(parts)


async def _refuse(send: Send, status: int, reason: str) -> None:
    content = json.dumps({"detail": reason}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode())]
    if status == 408:
        headers.append((b"connection", b"close"))  # the rest of the body could be mistaken for the next request
    if status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})
