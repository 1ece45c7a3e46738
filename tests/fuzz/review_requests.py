"""Requests to the review: as its description allows and not, on a review of its own for every input."""

from __future__ import annotations

from pathlib import Path

from tests.fuzz.mutations import Rng

REQUESTS = 20
"""Requests per input."""


def attack_requests(folder: Path, rng: Rng) -> None:
    """Odd requests: no answer of 500 or more, no path in an answer, and a review that still takes decisions."""
    from fastapi.testclient import TestClient
    from tests.extensions.review.conftest import TOKEN, client_of
    from tests.extensions.review.requests_from_schema import RequestMaker
    from tests.extensions.review.small_reviews import opened, small_material

    from crowdlogic.extensions.review.session import RefitRunner

    home = folder / "secret-folder"
    with opened(small_material(), home) as session:
        runner = RefitRunner(session, every=2)
        try:
            client = TestClient(
                client_of(session, runner, home).app,
                "http://127.0.0.1:8000",
                headers={"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"},
                raise_server_exceptions=False,
            )
            maker = RequestMaker(client.get("/api/openapi.json").json(), int(rng.integers(2**31)))
            for _ in range(REQUESTS):
                method, path, body = maker.make()
                answer = client.request(method, path, content=body)
                if answer.status_code >= 500 or str(home) in answer.text:
                    raise AssertionError(f"{method} {path} {body!r:.200}: {answer.status_code} {answer.text[:200]}")
            sound = client.post("/api/decisions", json={"request": "end", "item": 0, "reviewer": "ann", "answer": "x"})
            if sound.status_code not in (201, 409):
                raise AssertionError(f"a decision afterwards: {sound.status_code} {sound.text[:200]}")
        finally:
            runner.close()
