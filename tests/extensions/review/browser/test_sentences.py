"""Spans made, changed, typed and removed, by keyboard and by mouse."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.extensions.review.browser.driving import ALT, NAME, SAVED, SHIFT, click, decide, drag, press, spans, wait_for
from tests.extensions.review.served import Served, serving
from tests.report.browser.chrome import Chrome

pytestmark = pytest.mark.heavy

EDITED = "#item .sentence[role=listbox]"


@pytest.fixture
def sentences(data: Path, tmp_path: Path) -> Served:
    with serving(data / "tagged" / "labels.conll", "-o", tmp_path / "review") as served:
        yield served


def words(browser: Chrome) -> list[str]:
    return browser.evaluate(
        f"[...document.querySelectorAll('{EDITED} .token')].map((one) => one.firstChild.textContent)"
    )


def remove_all(browser: Chrome) -> None:
    """Pick the whole sentence and remove its spans, with the keyboard."""
    for _ in words(browser):
        press(browser, "ArrowLeft")
    for _ in words(browser)[1:]:
        press(browser, "ArrowRight", SHIFT)
    press(browser, "Delete")
    press(browser, "ArrowRight")


def home(browser: Chrome) -> None:
    for _ in words(browser):
        press(browser, "ArrowLeft")


def test_everybodys_spans_stand_beneath_the_consensus(browser: Chrome, sentences: Served) -> None:
    browser.visit(sentences.url())
    view = sentences.ask(f"items/{sentences.ask('find?name=' + browser.evaluate(NAME))['item']}")

    assert words(browser) == view["tokens"]
    shown = spans(browser)
    assert shown == [(" ".join(view["tokens"][s["start"] : s["end"]]), s["type"]) for s in view["spans"]]
    said = browser.evaluate(
        "[...document.querySelectorAll('.said')].map((one) => one.querySelectorAll('.token.first').length)"
    )
    assert said == [len(vote["spans"]) for vote in view["votes"]]


def test_spans_are_made_changed_typed_and_removed_by_keyboard(browser: Chrome, sentences: Served) -> None:
    browser.visit(sentences.url())
    name, tokens = browser.evaluate(NAME), words(browser)
    remove_all(browser)
    assert spans(browser) == []

    home(browser)
    press(browser, "ArrowRight", SHIFT)
    press(browser, "4")
    assert spans(browser) == [(" ".join(tokens[:2]), "PER")]
    press(browser, "ArrowRight", ALT)  # its end moves
    assert spans(browser) == [(" ".join(tokens[:3]), "PER")]
    press(browser, "ArrowLeft", ALT)
    press(browser, "ArrowLeft", ALT)
    assert spans(browser) == [(tokens[0], "PER")] or spans(browser) == [(" ".join(tokens[:2]), "PER")]
    home(browser)
    press(browser, "3")  # the span under the cursor gets another type
    assert spans(browser)[0][1] == "ORG"
    press(browser, "ArrowRight")
    press(browser, "ArrowRight")
    press(browser, "ArrowRight")
    press(browser, "1")
    assert spans(browser)[1] == (tokens[3], "LOC")
    press(browser, "Backspace")
    assert len(spans(browser)) == 1
    expected = spans(browser)
    decide(browser, "Enter")
    wait_for(browser, SAVED, lambda text: text == "saved 1")

    view = sentences.ask(f"items/{sentences.ask('find?name=' + str(name))['item']}")
    saved = view["decisions"][0]["spans"]
    assert [(" ".join(tokens[s["start"] : s["end"]]), s["type"]) for s in saved] == expected
    assert browser.complaints() == []


def test_spans_are_made_by_mouse(browser: Chrome, sentences: Served) -> None:
    browser.visit(sentences.url())
    name, tokens = browser.evaluate(NAME), words(browser)
    remove_all(browser)

    drag(browser, f"{EDITED} [data-place='1']", f"{EDITED} [data-place='3']")
    click(browser, "[data-type=MISC]")
    assert spans(browser) == [(" ".join(tokens[1:4]), "MISC")]
    click(browser, f"{EDITED} [data-place='2']")  # a click into a span picks it for another type
    click(browser, "[data-type=LOC]")
    assert spans(browser) == [(" ".join(tokens[1:4]), "LOC")]
    click(browser, "#save")
    wait_for(browser, SAVED, lambda text: text == "saved 1")

    lines = sentences.ask("decisions")
    assert lines[0]["item"] == name
    assert lines[0]["after"][:4] == ["O", "B-LOC", "I-LOC", "I-LOC"]
    press(browser, "u")
    wait_for(browser, NAME, lambda now: now == name)
    assert browser.complaints() == []


def test_screen_readers_are_told_what_is_what(browser: Chrome, sentences: Served) -> None:
    browser.visit(sentences.url())
    tree = browser.send("Accessibility.getFullAXTree")["nodes"]
    named = {(node.get("role", {}).get("value"), node.get("name", {}).get("value", "")) for node in tree}

    roles = {role for role, _ in named}
    assert {"listbox", "option", "button", "main", "status", "searchbox"} & roles >= {"listbox", "option", "button"}
    assert any(role == "listbox" and "arrows move" in name for role, name in named)
    assert [name for role, name in named if role in ("button", "textbox", "combobox", "slider") and not name] == []
    types = {name for role, name in named if role == "option" and ", " in name}
    assert types
