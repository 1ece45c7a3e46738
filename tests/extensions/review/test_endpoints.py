"""The endpoints, as a script uses them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.extensions.review.conftest import Served, client_of
from tests.extensions.review.small_reviews import material_of, opened

from crowdlogic.data.frames import from_sequences
from crowdlogic.extensions.review.session import RefitRunner


def test_a_review_from_queue_to_export(served: Served) -> None:
    client = served.client
    facts = client.get("/api/session").json()
    assert (facts["task"], facts["types"], facts["items"]) == ("documents", ["x", "y"], 4)

    first = client.get("/api/queue", params={"reviewer": "ann", "most": 2}).json()
    assert [one["chosen"] for one in first["items"]] == ["queue", "queue"]
    assert first["fitting"] == 4
    saved = served.decide(first["items"][0]["item"], "y", seconds=1.5, cause="guideline gap", note="n")
    assert saved.status_code == 201
    assert saved.json()["number"] == 1
    assert saved.json()["item"]["is_decided"]
    assert saved.json()["progress"]["counts"]["decided"] == 1
    lines = client.get("/api/decisions").json()
    assert [(one["kind"], one["after"], one["seconds"], one["cause"]) for one in lines] == [
        ("decide", "y", 1.5, "guideline gap")
    ]
    written = client.post("/api/exports").json()
    assert {"anchors.csv", "labels.csv", "report.html"} <= {one["name"] for one in written}
    file = client.get("/api/exports/anchors.csv")
    assert file.text.startswith("item,label,chosen")
    assert file.headers["content-disposition"] == 'attachment; filename="anchors.csv"'
    assert client.get("/api/exports/decisions.sqlite").status_code == 404


def test_a_request_that_is_repeated_counts_once(served: Served) -> None:
    body = {"request": "same", "item": 0, "reviewer": "ann", "answer": "x"}

    numbers = [served.client.post("/api/decisions", json=body).json()["number"] for _ in range(3)]

    assert numbers == [1, 1, 1]
    assert len(served.session.log.read()) == 1


def test_a_conflict_is_shown_kept_and_settled(served: Served) -> None:
    served.decide(0, "x")
    second = served.decide(0, "y", reviewer="bob").json()["item"]

    assert second["in_conflict"]
    assert [(one["reviewer"], one["answer"]) for one in second["decisions"]] == [("ann", "x"), ("bob", "y")]
    stale = served.decide(0, "y", reviewer="cat", settles=True, revision=1)
    assert stale.status_code == 409
    settled = served.decide(0, "y", reviewer="cat", settles=True, revision=2).json()["item"]
    assert not settled["in_conflict"]
    assert len(served.session.log.read()) == 3


def test_undo(served: Served) -> None:
    served.decide(1, "x")

    answer = served.client.post("/api/undo", json={"request": "u", "reviewer": "ann"})

    assert answer.json()["item"]["name"] == "u2"
    assert not answer.json()["item"]["is_decided"]
    assert served.client.post("/api/undo", json={"request": "v", "reviewer": "ann"}).status_code == 404


def test_refits_happen_by_themselves_and_on_demand(served: Served) -> None:
    served.decide(0, "x")
    assert served.runner.wait()
    assert served.client.get("/api/progress").json()["last"] is None
    served.decide(2, "y")
    assert served.runner.wait()
    last = served.client.get("/api/progress").json()["last"]
    assert last["sentence"].startswith("2 decisions changed ")
    assert served.client.post("/api/refits", json={}).status_code == 202
    assert served.runner.wait()
    assert served.client.get("/api/progress").json()["last"]["number"] == 2


def test_filters(served: Served) -> None:
    def names(**given: object) -> set[str]:
        answer = served.client.get("/api/queue", params={"reviewer": "ann", "most": 9, **given}).json()
        return {one["name"] for one in answer["items"]}

    assert names(search="fish") == {"u1", "u2"}
    assert names(annotator="cat") == {"u1", "u2", "u4"}
    assert names(holding=[0, 1]) == {"u3", "u4"}
    assert names(most_confidence=0) == set()
    assert names(state="decided") == set()


def test_items_by_number_and_name(served: Served) -> None:
    assert served.client.get("/api/items/2").json()["name"] == "u3"
    assert served.client.get("/api/find", params={"name": "u3"}).json() == {"item": 2}
    assert served.client.get("/api/find", params={"name": "u9"}).status_code == 404
    assert served.client.get("/api/items/4").status_code == 404
    assert served.client.get("/api/items/-1").status_code == 404
    assert served.client.get("/api/items/x").status_code == 422
    terms = served.client.get("/api/items/0/evidence").json()["units"][0]["terms"]
    assert [term["name"] for term in terms if term["source"] == "annotator"] == ["ann", "bob", "cat"]


def test_cannot_say_and_skip(served: Served) -> None:
    assert served.decide(0, kind="cannot-say").json()["progress"]["counts"]["cannot_say"] == 1
    assert served.decide(1, kind="skip").json()["progress"]["counts"]["decided"] == 0


@pytest.fixture
def sentences(tmp_path: Path) -> object:
    rows = [("s", "ann", ["B-PER", "I-PER", "O"]), ("s", "bob", ["O", "O", "B-LOC"]), ("t", "ann", ["O"])]
    with opened(material_of(from_sequences(rows)), tmp_path / "r", hide_names=True) as session:
        runner = RefitRunner(session)
        yield Served(client_of(session, runner, tmp_path / "r"), session, runner, tmp_path / "r")
        runner.close()


def test_a_sentence_is_decided_by_its_spans(sentences: Served) -> None:
    item = sentences.decide(0, spans=[{"start": 0, "end": 3, "type": "PER"}]).json()["item"]

    assert item["decisions"][0]["answer"] == ["B-PER", "I-PER", "I-PER"]
    assert sentences.decide(0, ["O", "O", "B-PER"]).status_code == 201
    overlapping = [{"start": 0, "end": 2, "type": "LOC"}, {"start": 1, "end": 3, "type": "PER"}]
    assert sentences.decide(0, spans=overlapping).status_code == 422
    assert sentences.decide(9, spans=overlapping).status_code == 404
    assert sentences.client.get("/api/session").json()["task"] == "spans"


def test_hidden_names_are_in_no_answer(sentences: Served) -> None:
    for path in ("session", "annotators", "queue?reviewer=zoe", "items/0", "items/0/evidence", "progress"):
        text = sentences.client.get(f"/api/{path}").text
        assert '"ann"' not in text
        assert "bob" not in text
    assert "annotator 1" in sentences.client.get("/api/items/0").text


def test_the_guide_names_every_endpoint(served: Served) -> None:
    guide = (Path(__file__).parents[3] / "docs" / "reference" / "review.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(GET|POST) (/api/[\w/{}]+)`", guide)) | {("GET", "/api/items/{item}/evidence")}
    described = served.client.get("/api/openapi.json").json()["paths"]

    assert named == {(method.upper(), path) for path, methods in described.items() for method in methods}


def test_the_description_names_every_endpoint(served: Served) -> None:
    described = served.client.get("/api/openapi.json").json()

    assert set(described["paths"]) == {
        "/api/session", "/api/progress", "/api/annotators", "/api/queue", "/api/find", "/api/items/{item}",
        "/api/items/{item}/evidence", "/api/decisions", "/api/undo", "/api/refits", "/api/exports", "/api/exports/{name}",
        "/api/suggestions",
    }  # fmt: skip
    assert all(operation["description"] for path in described["paths"].values() for operation in path.values())


def test_conflicting_requests_are_answered_with_409(served: Served) -> None:
    assert served.decide(0, "x", request="same").status_code == 201
    assert served.decide(0, "x", request="same").status_code == 201
    assert served.decide(1, "x", request="same").status_code == 409
    assert served.decide(1, "x", request="other", revision=999).status_code == 409
    assert len(served.client.get("/api/decisions").json()) == 1
