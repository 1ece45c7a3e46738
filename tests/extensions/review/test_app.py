"""The application: its files, and how problems are answered."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Any

import pytest
from tests.extensions.review.conftest import Served

from crowdlogic.errors import FormatError
from crowdlogic.extensions.review.server import hide_folders, read_static

STATIC = files("crowdlogic.extensions.review") / "static"


def test_the_page_is_served_without_a_token_and_holds_no_data(served: Served) -> None:
    answer = served.client.get("/", headers={"Authorization": ""})

    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "fish" not in answer.text


@pytest.mark.parametrize("name", [entry.name for entry in STATIC.iterdir()])
def test_no_file_of_the_page_needs_another_server_or_runs_text(name: str) -> None:
    text = (STATIC / name).read_text(encoding="utf-8")

    assert not re.search(r"https?://(?!127)", text)
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", text)
    if name.endswith(".html"):
        assert not re.search(r"<script(?! type=\"module\" src=)|<style|\son\w+=|style=", text)


def test_the_style_has_both_schemes() -> None:
    style = read_static("review.css")

    assert style is not None
    assert "color-scheme: light" in style
    assert "prefers-color-scheme: dark" in style


@pytest.mark.parametrize(
    "path",
    [
        "/static/nothing.js",
        "/static/..%2fapp.py",
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/",
        "/x",
        "/docs",
    ],
)
def test_nothing_else_is_served(served: Served, path: str) -> None:
    answer = served.client.get(path)

    assert answer.status_code == 404
    assert "import" not in answer.text


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({}, "request: Field required"),
        ({"request": "r", "item": -1, "reviewer": "a"}, "item: Input should be greater than or equal to 0"),
        ({"request": "r", "item": 0, "reviewer": ""}, "reviewer: String should have at least 1 character"),
        ({"request": "r", "item": 0, "reviewer": "a", "nonsense": 1}, "nonsense: Extra inputs are not permitted"),
        ({"request": "r", "item": 0, "reviewer": "a", "kind": "undo"}, "kind: Input should be"),
        ({"request": "r", "item": 0, "reviewer": "a", "answer": "z"}, "'z' is not a class."),
        ({"request": "r", "item": 0, "reviewer": "a", "seconds": "NaN"}, "seconds"),
        ({"request": "r", "item": 10**30, "reviewer": "a"}, "item"),
        ({"request": "r", "item": True, "reviewer": "a"}, "item: Input should be a valid integer"),
        ({"request": "r", "item": 0, "reviewer": "a", "spans": []}, "Spans are only valid for sentences."),
    ],
)
def test_what_makes_no_sense_is_answered_with_the_reason(served: Served, body: dict[str, Any], said: str) -> None:
    answer = served.client.post("/api/decisions", json=body)

    assert answer.status_code == 422
    assert said in answer.json()["detail"]
    assert served.session.log.read() == []


@pytest.mark.parametrize(
    "body", [b"{", b"\xff\xfe", b"[]", b'"x"', b"", b'{"request": "\\ud800", "item": 0, "reviewer": "a"}']
)
def test_what_is_no_request_is_refused(served: Served, body: bytes) -> None:
    headers = {"Content-Type": "application/json"}

    answer = served.client.post("/api/decisions", content=body, headers=headers)

    assert answer.status_code in (400, 422)
    assert answer.json()["detail"]


def test_no_answer_names_a_folder_of_the_machine(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    where = str(served.folder)

    def fail(*_: object, **__: object) -> None:
        raise FormatError(f"{where}/decisions.sqlite: is damaged.")

    monkeypatch.setattr(served.session, "counts", fail)
    answer = served.client.get("/api/progress")

    assert answer.status_code == 422
    assert answer.json() == {"detail": "decisions.sqlite: is damaged."}
    monkeypatch.undo()
    for path in (
        "session",
        "progress",
        "annotators",
        "queue?reviewer=a",
        "items/0",
        "items/0/evidence",
        "decisions",
        "openapi.json",
    ):
        assert where not in served.client.get(f"/api/{path}").text
        assert "secret-folder" not in served.client.get(f"/api/{path}").text
    assert "secret-folder" not in served.client.post("/api/exports").text


def test_a_full_disk_is_said(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    served.session.log._database.execute("PRAGMA query_only=1")

    answer = served.decide(0, "x")

    served.session.log._database.execute("PRAGMA query_only=0")
    assert answer.status_code == 507
    assert "is not saved" in answer.json()["detail"]
    assert served.decide(0, "x").status_code == 201


def test_folders_are_left_out_of_messages() -> None:
    assert hide_folders("/a/b/c.csv: no such file in /a/b") == "c.csv: no such file in b"
    assert hide_folders("1 of 2 / 3") == "1 of 2 / 3"
