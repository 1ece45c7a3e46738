"""The page in both schemes, on a phone, and with texts that are out to run something."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.extensions.review.browser.conftest import HOSTILE
from tests.extensions.review.browser.driving import NAME, decide, foreign_requests, poor_contrast, press, wait_for
from tests.extensions.review.served import serving
from tests.report.browser.chrome import Chrome

pytestmark = pytest.mark.heavy

OPEN_ALL = "for (const one of document.querySelectorAll('details')) one.open = true"


@pytest.mark.parametrize("source", ["labels.csv", "tagged/labels.conll"])
def test_it_can_be_read_in_both_schemes_and_fits_a_phone(
    browser: Chrome, data: Path, tmp_path: Path, source: str
) -> None:
    items = ("--items", data / "items.csv") if source.endswith(".csv") else ()
    with serving(data / source, *items, "-o", tmp_path / "review", "--refit-every", "3") as served:
        for dark in (False, True):
            browser.visit(served.url(), dark=dark)
            browser.evaluate(OPEN_ALL)
            for _ in range(3):
                decide(browser, "Enter")
            wait_for(browser, "document.getElementById('evidence').children.length")
            wait_for(browser, "!document.getElementById('refit-note').hidden")
            assert poor_contrast(browser) == {}
            press(browser, "?")
            assert browser.evaluate("document.getElementById('help').open")
            assert poor_contrast(browser) == {}
        browser.visit(served.url(), width=375, height=800)
        browser.evaluate(OPEN_ALL)
        widths = browser.evaluate("[document.documentElement.scrollWidth, innerWidth, visualViewport.width]")
        assert max(widths) <= 375
        assert browser.evaluate("document.querySelector('.answers button').getBoundingClientRect().height") >= 44
        assert browser.complaints() == []


def test_hostile_texts_run_nothing_and_are_shown_as_text(browser: Chrome, hostile: Path, tmp_path: Path) -> None:
    with serving(hostile / "labels.csv", "--items", hostile / "items.csv", "-o", tmp_path / "r") as served:
        browser.visit(served.url('<img src=x onerror="window.pwned=6">'))
        browser.evaluate(OPEN_ALL)
        seen = ""
        for _ in HOSTILE:
            wait_for(browser, "document.getElementById('evidence').children.length > 1")
            seen += browser.evaluate("document.body.innerText")
            browser.evaluate("document.getElementById('note').value = '<script>window.pwned=7</script>'")
            name = browser.evaluate(NAME)
            press(browser, "1")
            wait_for(browser, NAME, lambda now, name=name: now != name)
        wait_for(browser, "document.getElementById('saved').textContent", lambda text: text == f"saved {len(HOSTILE)}")
        seen += browser.evaluate("document.body.innerText")

        assert browser.evaluate("window.pwned") is None
        for text in HOSTILE:
            assert text.replace("\u202e", "⟨U+202E⟩") in seen
        assert browser.evaluate("document.querySelectorAll('img, iframe, object, embed, b, i').length") == 0
        assert browser.evaluate("document.querySelectorAll('script').length") == 1
        assert foreign_requests(browser, served) == []
        assert browser.complaints() == []


def test_the_policy_stops_what_would_slip_through(browser: Chrome, data: Path, tmp_path: Path) -> None:
    with serving(data / "labels.csv", "-o", tmp_path / "r") as served:
        browser.visit(served.url())
        browser.evaluate("""(() => { const one = document.createElement('div');
            one.innerHTML = '<img src="https://example.org/x.png" onerror="window.pwned=8">'; document.body.append(one);
            const script = document.createElement('script'); script.textContent = 'window.pwned=9'; document.body.append(script); })()""")

        assert browser.evaluate("new Promise((done) => setTimeout(() => done(window.pwned ?? null), 100))") is None
        assert any("Content Security Policy" in complaint for complaint in browser.complaints())
