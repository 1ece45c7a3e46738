"""A review in a real browser: by keyboard, with filters, by two reviewers, over reloads and restarts."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.extensions.review.browser.driving import (
    NAME,
    NOTE,
    NOTICE,
    SAVED,
    click,
    decide,
    fill,
    foreign_requests,
    press,
    wait_for,
    write,
)
from tests.extensions.review.served import Served, serving, start
from tests.report.browser.chrome import Chrome

pytestmark = pytest.mark.heavy


@pytest.fixture
def reviews(data: Path, tmp_path: Path) -> Served:
    with serving(data / "labels.csv", "--items", data / "items.csv", "-o", tmp_path / "review") as served:
        yield served


def decided(served: Served) -> list[dict[str, object]]:
    return list(served.ask("decisions?most=1000"))


def test_items_are_decided_by_keys_and_nobody_waits(browser: Chrome, reviews: Served) -> None:
    browser.visit(reviews.url())
    first = [decide(browser, "1" if n % 2 else "2") for n in range(30)]

    assert wait_for(browser, SAVED, lambda text: text == "saved 30")
    lines = decided(reviews)
    assert [line["item"] for line in lines] == first
    assert len(set(first)) == 30
    assert [line["after"] for line in lines[:2]] == ["positive", "negative"]
    assert {line["chosen"] for line in lines} == {"queue", "random"}
    assert all(0 <= line["seconds"] < 60 for line in lines)
    assert browser.complaints() == []
    assert foreign_requests(browser, reviews) == []


def test_undo_skip_cannot_say_note_and_cause(browser: Chrome, reviews: Served) -> None:
    browser.visit(reviews.url())
    name = decide(browser, "1")
    press(browser, "u")
    assert wait_for(browser, NAME, lambda now: now == name)

    press(browser, "n")
    write(browser, "it says <both>")
    press(browser, "1")  # a key in a note is a letter
    press(browser, "Enter")
    fill(browser, "cause", "ambiguous text")
    assert decide(browser, "2") == name
    skipped, unsayable = decide(browser, "s"), decide(browser, "c")
    accepted = decide(browser, "Enter")

    wait_for(browser, SAVED, lambda text: text == "saved 6")
    lines = decided(reviews)
    assert [(line["kind"], line["item"]) for line in lines] == [
        ("decide", name), ("undo", name), ("decide", name), ("skip", skipped), ("cannot-say", unsayable), ("decide", accepted),
    ]  # fmt: skip
    assert (lines[2]["cause"], lines[2]["note"]) == ("ambiguous text", "it says <both>1")
    assert lines[5]["after"] == lines[5]["before"]
    assert browser.evaluate("document.getElementById('note').value") == ""
    assert browser.complaints() == []


def test_filters_show_what_fits(browser: Chrome, reviews: Served) -> None:
    browser.visit(reviews.url())
    press(browser, "/")
    assert browser.evaluate("document.activeElement.id") == "search"
    write(browser, "keyboard")
    browser.evaluate("document.getElementById('search').dispatchEvent(new Event('input', { bubbles: true }))")
    wait_for(browser, "document.querySelector('.text').textContent", lambda text: "keyboard" in text)
    found = browser.evaluate("document.getElementById('fitting').textContent")
    assert 0 < int(found.strip("()").split()[0]) < 120

    click(browser, "#clear")
    fill(browser, "filter-answer", "negative")
    wait_for(browser, "document.querySelector('.answers .believed')?.dataset.type", lambda kind: kind == "negative")
    fill(browser, "filter-answer", "")
    fill(browser, "filter-annotator", "w03")
    wait_for(browser, "document.querySelector('#item .votes').innerText", lambda text: "w03" in text)
    fill(browser, "search", "no such words at all")
    wait_for(browser, "document.getElementById('item').textContent", lambda text: "Nothing left here" in text)
    assert browser.complaints() == []


def test_a_refit_is_shown_and_the_page_goes_on(browser: Chrome, reviews: Served) -> None:
    browser.visit(reviews.url())
    for _ in range(10):
        decide(browser, "1")

    note = wait_for(browser, NOTE)
    assert note.startswith("10 decisions changed ")
    assert "expected mistakes" in note
    wait_for(browser, "document.getElementById('accuracy').textContent", lambda text: "%" in text)
    decide(browser, "2")
    browser.evaluate("document.getElementById('leaving').open = true")
    browser.evaluate("document.getElementById('refit').click()")  # by script: the next item's evidence moves the page
    wait_for(browser, NOTE, lambda text: text.startswith("1 decision changed "))
    browser.evaluate("document.getElementById('export').click()")
    wait_for(browser, "document.getElementById('exports').textContent", lambda text: "anchors.csv" in text)
    assert browser.complaints() == []


def test_reload_and_restart_keep_everything(browser: Chrome, data: Path, tmp_path: Path) -> None:
    arguments = (data / "labels.csv", "--items", data / "items.csv", "-o", tmp_path / "review")
    served = start(*arguments)
    browser.visit(served.url())
    names = [decide(browser, "1") for _ in range(3)]
    wait_for(browser, SAVED, lambda text: text == "saved 3")
    browser.visit(served.url())
    assert browser.evaluate(NAME) not in names
    assert browser.evaluate("document.getElementById('decided').textContent") == "3 of 120"
    served.kill()

    again = start(*arguments)
    browser.visit(again.url())
    assert browser.evaluate("document.getElementById('decided').textContent") == "3 of 120"
    press(browser, "u")
    wait_for(browser, NAME, lambda now: now == names[-1])
    again.stop()


def test_a_server_that_went_away_is_waited_for_and_nothing_is_lost(browser: Chrome, data: Path, tmp_path: Path) -> None:
    arguments = (data / "labels.csv", "--items", data / "items.csv", "-o", tmp_path / "review", "--password-file")
    (tmp_path / "password").write_text("the same after a restart")
    served = start(*arguments, tmp_path / "password")
    served.token = "the same after a restart"
    browser.visit(served.url().replace(" ", "%20"))
    served.kill()
    names = [decide(browser, "1") for _ in range(2)]
    assert browser.evaluate(SAVED) == "saving 2…"

    again = start(*arguments, tmp_path / "password", port=served.port)
    again.token = served.token
    wait_for(browser, SAVED, lambda text: text == "saved 2")
    assert [line["item"] for line in decided(again)] == names
    again.stop()


def test_two_reviewers_who_differ_see_the_conflict_and_neither_is_overwritten(
    browser: Chrome, second: Chrome, reviews: Served
) -> None:
    browser.visit(reviews.url("ann"))
    second.visit(reviews.url("bob"))
    assert browser.evaluate(NAME) != second.evaluate(NAME)  # they are given different items
    name = browser.evaluate(NAME)
    item = reviews.ask(f"find?name={name}")["item"]
    decide(browser, "1")
    wait_for(browser, SAVED, lambda text: text == "saved 1")
    fill(second, "filter-state", "decided")
    wait_for(second, NAME, lambda now: now == name)
    press(second, "2")

    wait_for(second, NOTICE, lambda text: text.startswith(f"Conflict about {name}: ann: negative."))
    found = reviews.ask(f"items/{item}")
    assert [(one["reviewer"], one["answer"]) for one in found["decisions"]] == [
        ("ann", "negative"),
        ("bob", "positive"),
    ]
    assert found["in_conflict"]
    wait_for(browser, "document.getElementById('decided').textContent", lambda text: "1 conflict" in text)

    click(second, "#notice button")
    wait_for(second, "document.querySelector('.conflict-box')?.innerText ?? ''", lambda text: "ann: negative" in text)
    click(second, "#settle")
    press(second, "2")
    wait_for(browser, "document.getElementById('decided').textContent", lambda text: text == "1 of 120")
    assert reviews.ask(f"items/{item}")["decisions"][0]["answer"] == "positive"
    assert len(decided(reviews)) == 3
    assert browser.complaints() == second.complaints() == []


def test_who_has_neither_name_nor_token_is_asked(browser: Chrome, data: Path, tmp_path: Path) -> None:
    (tmp_path / "password").write_text("correct horse")
    with serving(data / "labels.csv", "-o", tmp_path / "r", "--password-file", tmp_path / "password") as served:
        browser.visit(served.address)
        browser.evaluate("localStorage.clear(); sessionStorage.clear()")
        browser.visit(served.address)
        assert browser.evaluate("document.getElementById('login').open")
        fill(browser, "login-name", "zoe")
        fill(browser, "login-secret", "wrong horse")
        click(browser, "#login-form button")
        wait_for(browser, "document.getElementById('login-problem').textContent")
        fill(browser, "login-secret", "correct horse")
        click(browser, "#login-form button")
        wait_for(browser, NAME)
        decide(browser, "1")
        wait_for(browser, SAVED, lambda text: text == "saved 1")
        served.token = "correct horse"
        assert decided(served)[0]["reviewer"] == "zoe"


def test_suggested_rules_are_edited_accepted_and_refused(browser: Chrome, data: Path, tmp_path: Path) -> None:
    source = tmp_path / "suggested.rules"
    source.write_text("# word: holds often\n#   for:     <b>text</b>\n0.5: Contains(S, 'a') -> Label(S, 'positive')\n")
    folder = tmp_path / "review"
    count = "document.getElementById('suggested-count').textContent"
    with serving(data / "labels.csv", "--items", data / "items.csv", "--suggestions", source, "-o", folder) as served:
        browser.visit(served.url())
        assert wait_for(browser, count) == "(0 of 1 accepted)"

        browser.evaluate("document.querySelector('#suggested textarea').value = 'nonsense'")
        click(browser, "#suggested button")
        assert wait_for(browser, "document.querySelector('#suggested .bad').textContent").startswith("the rule")
        edited = "0.9: Contains(S, 'a') -> Label(S, 'positive')"
        browser.evaluate(f"document.querySelector('#suggested textarea').value = {edited!r}")
        click(browser, "#suggested button")
        assert wait_for(browser, count, lambda text: text == "(1 of 1 accepted)")

    assert (folder / "accepted.rules").read_text().splitlines()[1:] == [edited]
