"""Thousands of requests made from the description, sensible and odd: none breaks the server."""

from __future__ import annotations

from collections import Counter

import pytest
from fastapi.testclient import TestClient
from tests.extensions.review.conftest import TOKEN, Served
from tests.extensions.review.requests_from_schema import RequestMaker


def send(served: Served, count: int, seed: int) -> Counter[int]:
    """The statuses of the answers to so many requests."""
    client = TestClient(
        served.client.app,
        "http://127.0.0.1:8000",
        headers={"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"},
        raise_server_exceptions=False,
    )
    maker = RequestMaker(client.get("/api/openapi.json").json(), seed)
    found: Counter[int] = Counter()
    for _ in range(count):
        method, path, body = maker.make()
        answer = client.request(method, path, content=body)
        found[answer.status_code] += 1
        assert answer.status_code < 500, (method, path, body, answer.text)
        assert str(served.folder) not in answer.text
    return found


def test_no_request_breaks_the_server(served: Served) -> None:
    found = send(served, 300, seed=0)

    assert {200, 201, 404, 422} <= set(found)
    assert served.decide(0, "x", request="afterwards").status_code == 201


@pytest.mark.heavy
def test_no_request_of_two_thousand_breaks_the_server(served: Served) -> None:
    found = send(served, 2000, seed=1)

    assert sum(found.values()) == 2000
    assert found[200] + found[201] + found[202] > 300
