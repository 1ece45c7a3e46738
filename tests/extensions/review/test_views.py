"""An item as a reviewer sees it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.extensions.review.small_reviews import decision, material_of, opened, small_material, tagged

from crowdlogic.data.frames import from_sequences
from crowdlogic.extensions.review.decision_log import DecisionKind
from crowdlogic.extensions.review.snapshot import SpanView


def test_a_document_with_votes_and_shares(tmp_path: Path) -> None:
    with opened(small_material(), tmp_path / "r") as session:
        view = session.view(1)

    assert (view.name, view.text, view.tokens, view.spans) == ("u2", "two <b>fish</b>", [], [])
    assert [(vote.annotator, vote.label) for vote in view.votes] == [("ann", "x"), ("bob", "y"), ("cat", "x")]
    assert sum(one.share for one in view.shares) == pytest.approx(1.0, abs=1e-3)
    assert view.answer == view.shares[0].name
    assert view.confidence == view.shares[0].share
    assert view.votes[0].reliability is not None


def test_control_characters_are_visible(tmp_path: Path) -> None:
    with opened(small_material(), tmp_path / "r") as session:
        session.record(decision(3, "x", note="a\u202eb", reviewer="a\u0007"))
        view = session.view(3)

    assert view.text == "four ⟨U+202E⟩"
    assert view.decisions[0].note == "a⟨U+202E⟩b"
    assert view.decisions[0].reviewer == "a⟨U+0007⟩"


def test_names_can_be_hidden(tmp_path: Path) -> None:
    with opened(small_material(), tmp_path / "r", hide_names=True) as session:
        assert [vote.annotator for vote in session.view(0).votes] == ["annotator 1", "annotator 2", "annotator 3"]


def test_a_sentence_with_spans_of_everybody(tmp_path: Path) -> None:
    rows = [("s", "ann", ["B-PER", "I-PER", "O"]), ("s", "bob", ["O", "O", "B-LOC"]), ("t", "ann", ["O"])]
    material = material_of(from_sequences(rows))
    with opened(material, tmp_path / "r") as session:
        view = session.view(0)

    assert view.tokens == ["token 1", "token 2", "token 3"]
    marked = {vote.annotator: vote.spans for vote in view.votes}
    assert marked == {
        "ann": [SpanView(start=0, end=2, type="PER")],
        "bob": [SpanView(start=2, end=3, type="LOC")],
    }
    assert all(span.confidence is not None and 0 <= span.confidence <= 1 for span in view.spans)
    assert view.shares == []


def test_tokens_are_those_of_the_corpus(tmp_path: Path) -> None:
    material, made = tagged()
    with opened(material, tmp_path / "r") as session:
        assert session.view(4).tokens == list(made.corpus.sentence(4))


def test_who_cannot_say_is_shown_without_an_answer(tmp_path: Path) -> None:
    with opened(small_material(), tmp_path / "r") as session:
        session.record(decision(0, kind=DecisionKind.cannot_say))
        view = session.view(0)

    assert not view.is_decided
    assert [(one.kind, one.answer) for one in view.decisions] == [("cannot-say", None)]
