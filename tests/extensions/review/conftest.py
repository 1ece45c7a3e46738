"""A small review behind the application, in this process."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from fastapi.testclient import TestClient
from tests.extensions.review.small_reviews import opened, small_material

from crowdlogic.data.simulate import simulate_ner, simulate_sentiment
from crowdlogic.extensions.review.access import Access
from crowdlogic.extensions.review.server import make_app
from crowdlogic.extensions.review.session import RefitRunner, ReviewSession
from crowdlogic.workflows.simulate import write_simulation

TOKEN = "a-token-for-tests"


@dataclass(frozen=True)
class Served:
    """A review, and a client that brings its token."""

    client: TestClient
    session: ReviewSession
    runner: RefitRunner
    folder: Path

    def decide(self, item: int, answer: Any = None, **given: Any) -> Any:
        body = {"request": f"{item}-{answer}-{given}"[:100], "item": item, "reviewer": "ann", **given}
        if answer is not None:
            body["answer"] = answer
        return self.client.post("/api/decisions", json=body)


def client_of(session: ReviewSession, runner: RefitRunner, folder: Path) -> TestClient:
    app = make_app(session, runner, folder, Access(secret=TOKEN, port=8000))
    return TestClient(app, "http://127.0.0.1:8000", headers={"Authorization": f"Bearer {TOKEN}"})


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with labels.csv and items.csv of 120 reviews, and labels.conll of 30 tagged sentences."""
    folder = tmp_path_factory.mktemp("data")
    write_simulation(simulate_sentiment(2, items=120, test_items=10, annotators=10, labels_per_item=3), folder)
    pl.read_csv(folder / "gold.csv").drop("label").write_csv(folder / "items.csv")
    write_simulation(simulate_ner(2, items=30, test_items=5, annotators=6, labels_per_item=3), folder / "tagged")
    return folder


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    folder = tmp_path / "secret-folder"
    with opened(small_material(), folder) as session:
        runner = RefitRunner(session, every=2)
        yield Served(client_of(session, runner, folder), session, runner, folder)
        runner.close()
