"""Access policy of the server."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.extensions.review.conftest import TOKEN, Served

from crowdlogic.extensions.review import access
from crowdlogic.extensions.review.access import HEADERS, MAX_BODY, Access, Guard

OPEN = Access(secret=None, port=80, hosts=frozenset({"box.example.org"}), accepts_addresses=True)
OWN = Access(secret="s", port=8000)


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost:8000", "[::1]:8000", "LOCALHOST:8000"])
def test_this_machine_goes_by_its_own_names(host: str) -> None:
    assert OWN.is_own_host(host)


@pytest.mark.parametrize(
    "host",
    ["", "evil.example", "evil.example:8000", "127.0.0.1", "127.0.0.1:8001", "localhost.evil.example:8000",
     "10.0.0.5:8000", "127.0.0.1:8000, evil.example", "127.0.0.1.nip.io:8000", "[::1]", ":8000"],
)  # fmt: skip
def test_another_name_is_refused(host: str) -> None:
    assert not OWN.is_own_host(host)


def test_beyond_this_machine_addresses_and_allowed_names_pass_and_other_names_do_not() -> None:
    assert OPEN.is_own_host("10.0.0.5:80")
    assert OPEN.is_own_host("[fe80::1]:80")
    assert OPEN.is_own_host("box.example.org")
    assert not OPEN.is_own_host("evil.example:80")


@pytest.mark.parametrize(
    ("header", "known"),
    [("Bearer s", True), ("bearer s", True), ("Bearer ", False), ("Bearer S", False), ("Basic s", False),
     ("", False), ("Bearer s ", False), ("Bearer ü", False)],
)  # fmt: skip
def test_the_token_is_compared_as_it_is(header: str, known: bool) -> None:
    assert OWN.is_known(header) is known
    assert OPEN.is_known(header)


PATHS = [
    "/api/session",
    "/api/progress",
    "/api/queue?reviewer=a",
    "/api/decisions",
    "/api/openapi.json",
    "/api/nothing",
]


@pytest.mark.parametrize("path", PATHS)
def test_without_the_token_nothing_under_api_is_answered(served: Served, path: str) -> None:
    for headers in ({"Authorization": ""}, {"Authorization": "Bearer wrong"}, {"Authorization": f"Bearer {TOKEN}x"}):
        answer = served.client.get(path, headers=headers)
        assert answer.status_code == 401
        assert set(answer.json()) == {"detail"}


def test_a_wrong_token_changes_nothing(served: Served) -> None:
    body = {"request": "r", "item": 0, "reviewer": "a", "answer": "x"}

    answer = served.client.post("/api/decisions", json=body, headers={"Authorization": "Bearer wrong"})

    assert answer.status_code == 401
    assert served.session.log.read() == []


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:8000"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:8001"},
        {"Origin": "http://localhost:8000"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_requests_of_other_sites_are_refused_though_they_bring_the_token(
    served: Served, headers: dict[str, str]
) -> None:
    body = {"request": "r", "item": 0, "reviewer": "a", "answer": "x"}

    assert served.client.get("/api/session", headers=headers).status_code == 403
    assert served.client.post("/api/decisions", json=body, headers=headers).status_code == 403
    assert served.session.log.read() == []


def test_the_pages_own_requests_pass(served: Served) -> None:
    headers = {"Origin": "http://127.0.0.1:8000", "Sec-Fetch-Site": "same-origin"}

    assert served.client.get("/api/session", headers=headers).status_code == 200


def test_a_request_that_is_too_large_is_refused(served: Served) -> None:
    large = b" " * (MAX_BODY + 1)

    assert served.client.post("/api/decisions", content=large).status_code == 413
    pieces = (b" " * 1000 for _ in range(MAX_BODY // 1000 + 2))
    assert served.client.post("/api/decisions", content=pieces).status_code == 413  # without a length


@pytest.mark.parametrize(
    "path", ["/", "/static/main.js", "/static/review.css", "/api/session", "/nothing", "/api/nothing"]
)
def test_every_answer_carries_the_policy(served: Served, path: str) -> None:
    answer = served.client.get(path)

    assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy


def test_websockets_are_refused(served: Served) -> None:
    from starlette.websockets import WebSocketDisconnect

    with pytest.raises(WebSocketDisconnect), served.client.websocket_connect("/api/session"):
        pass


def test_a_body_that_never_arrives_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "BODY_SECONDS", 0.05)
    sent: list[Any] = []
    pieces = [{"type": "http.request", "body": b'{"request": "h', "more_body": True}]

    async def receive() -> Any:
        if not pieces:
            await asyncio.sleep(60)
        return pieces.pop()

    async def send(message: Any) -> None:
        sent.append(message)

    async def application(*_: Any) -> None:
        raise AssertionError("the application was asked")

    scope = {"type": "http", "path": "/api/decisions", "headers": [(b"host", b"10.0.0.5:80")]}
    asyncio.run(asyncio.wait_for(Guard(application, OPEN)(scope, receive, send), 5))

    assert sent[0]["status"] == 408
    assert (b"connection", b"close") in sent[0]["headers"]
