"""Suggested rules in a review."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.extensions.review.conftest import client_of
from tests.extensions.review.small_reviews import small_material

from crowdlogic.errors import CrowdLogicError, FormatError
from crowdlogic.extensions.review.session import RefitRunner, open_review
from crowdlogic.extensions.review.suggestions import ACCEPTED, RuleState, Suggestions, read_suggestions
from crowdlogic.rules.parser import parse_rules

FILE = """# 2 suggested rules. Read each one, edit it, or delete it.

# word: holds in 98% of 35 cases
#   for:     one fish
0.5: Contains(S, 'fish') -> Label(S, 'x')

0.4: Contains(S, 'three') -> Label(S, 'y')
"""


@pytest.fixture
def source(tmp_path: Path) -> str:
    """A file of two suggestions."""
    path = tmp_path / "suggested.rules"
    path.write_text(FILE)
    return str(path)


def opened(source: str, folder: Path) -> Suggestions:
    folder.mkdir(exist_ok=True)
    material = small_material()
    return Suggestions(source, folder, classes=material.labels.classes, corpus=material.corpus)


def test_rules_are_read_with_the_comments_above_them(source: str) -> None:
    first, second = read_suggestions(source)

    assert first.rule == "0.5: Contains(S, 'fish') -> Label(S, 'x')"
    assert first.comments == ["word: holds in 98% of 35 cases", "for:     one fish"]
    assert (second.number, second.comments, second.state) == (1, [], RuleState.open)


def test_accepted_and_edited_rules_are_written_and_kept_after_a_restart(source: str, tmp_path: Path) -> None:
    book = opened(source, tmp_path / "review")

    book.decide(0, RuleState.accepted, "0.9: Contains(S, 'fish') -> Label(S, 'x')")
    book.decide(1, RuleState.rejected)

    written = parse_rules((tmp_path / "review" / ACCEPTED).read_text())
    assert [str(rule) for rule in written.rules] == ["0.9: Contains(S, 'fish') -> Label(S, 'x')"]
    again = opened(source, tmp_path / "review")
    assert [one.state for one in again.rules] == [RuleState.accepted, RuleState.rejected]
    assert again.rules[0].rule.startswith("0.9")
    again.decide(0, RuleState.open)
    assert not parse_rules((tmp_path / "review" / ACCEPTED).read_text()).rules


@pytest.mark.parametrize(
    "rule",
    [
        "Contains(S, 'fish'",
        "1.0: Contains(S, 'fish') -> Label(S, 'z')",
        "1.0: Contains(S, 'a') -> Label(S, 'x')\n1.0: Contains(S, 'b') -> Label(S, 'y')",
        "include '/etc/passwd'",
        "",
    ],
)
def test_an_edited_rule_that_is_not_one_valid_rule_is_refused(rule: str, source: str, tmp_path: Path) -> None:
    book = opened(source, tmp_path / "review")

    with pytest.raises(CrowdLogicError):
        book.decide(0, RuleState.accepted, rule)

    assert book.rules[0].state is RuleState.open
    assert not (tmp_path / "review" / ACCEPTED).exists()


@pytest.mark.parametrize("text", ["", "# nothing\n", "1.0: include contrast('but')\n", "not a rule\n"])
def test_a_file_without_suggested_rules_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "other.rules"
    path.write_text(text)

    with pytest.raises(CrowdLogicError, match=r"other\.rules"):
        read_suggestions(str(path))


def test_a_damaged_state_is_refused(source: str, tmp_path: Path) -> None:
    opened(source, tmp_path / "review").decide(0, RuleState.rejected)
    (tmp_path / "review" / "suggestions.json").write_text('{"x": 1}')

    with pytest.raises(FormatError, match="Delete it to start over"):
        opened(source, tmp_path / "review")


def test_the_page_lists_and_decides_them(source: str, tmp_path: Path) -> None:
    with open_review(small_material(), tmp_path / "review", suggestions=source) as session:
        client = client_of(session, RefitRunner(session), tmp_path / "review")

        assert client.get("/api/session").json()["suggestions"] == 2
        assert [one["state"] for one in client.get("/api/suggestions").json()] == ["open", "open"]
        done = client.post("/api/suggestions", json={"number": 1, "state": "accepted"})
        assert (done.status_code, done.json()["state"]) == (200, "accepted")
        bad = client.post("/api/suggestions", json={"number": 0, "state": "accepted", "rule": "nonsense"})
        assert bad.status_code == 422
        assert "the rule" in bad.json()["detail"]
        assert client.post("/api/suggestions", json={"number": 2, "state": "rejected"}).status_code == 422
        exported = {one["name"] for one in client.post("/api/exports").json()}
        assert ACCEPTED in exported
        assert "'three'" in client.get(f"/api/exports/{ACCEPTED}").text


def test_a_review_without_suggestions_has_none(tmp_path: Path) -> None:
    with open_review(small_material(), tmp_path / "review") as session:
        client = client_of(session, RefitRunner(session), tmp_path / "review")

        assert client.get("/api/suggestions").json() == []
        assert client.post("/api/suggestions", json={"number": 0, "state": "accepted"}).status_code == 422
