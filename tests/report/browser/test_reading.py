"""The page in a real browser: it reads well, it filters, and nothing in it acts by itself."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from tests.report.browser.chrome import Chrome, chrome
from tests.report.browser.looking import check, each_page, turn
from tests.report.example_reports import documents

from crowdlogic.reporting.figures import write_figures
from crowdlogic.reporting.html import to_html

pytestmark = pytest.mark.heavy

COUNT = "document.getElementById('count').textContent"
NAMES = "[...document.querySelectorAll('#items .item-name')].map((one) => one.textContent)"
SET = """
(() => {{ const input = document.getElementById('{0}'); input.value = {1!r}; input.dispatchEvent(new Event('input', {{ bubbles: true }})); }})()
"""


@pytest.mark.parametrize("name", ["documents", "tagged"])
def test_every_page_has_its_plots_can_be_read_in_both_schemes_and_fits_a_phone(
    browser: Chrome, pages: dict[str, Path], name: str
) -> None:
    check(browser, pages[name])


def test_hostile_text_runs_nothing_and_is_shown_as_text(browser: Chrome, pages: dict[str, Path]) -> None:
    browser.open(pages["documents"])
    each_page(browser, "document.body.innerText.length")
    turn(browser, "labels")
    shown = browser.evaluate("document.getElementById('items').innerText")

    assert browser.evaluate("window.pwned") is None
    assert "<script>window.pwned=1</script>" in shown
    assert "</script><script>window.pwned=2</script>" in shown
    assert '<img src=x onerror="window.pwned=3">' in shown
    assert "⟨U+202E⟩gnp.exe" in shown
    assert browser.evaluate("document.querySelectorAll('img, iframe, object, embed, #items script').length") == 0


def test_the_policy_stops_what_would_slip_through(browser: Chrome, pages: dict[str, Path]) -> None:
    browser.open(pages["documents"])

    browser.evaluate("""(() => { const one = document.createElement('div');
        one.innerHTML = '<img src="https://example.org/x.png" onerror="window.pwned=8">'; document.body.append(one);
        const script = document.createElement('script'); script.textContent = 'window.pwned=9'; document.body.append(script); })()""")

    assert browser.evaluate("new Promise((done) => setTimeout(() => done(window.pwned ?? null), 100))") is None
    assert any("Content Security Policy" in complaint for complaint in browser.complaints())


def test_filters_and_search_change_the_rows(browser: Chrome, pages: dict[str, Path]) -> None:
    browser.open(pages["documents"])
    turn(browser, "labels")
    assert browser.evaluate(COUNT) == "1 to 10 of 60 items"

    browser.evaluate(SET.format("search", "FILM number17"))
    assert browser.evaluate(NAMES) == ["review_17"]
    browser.evaluate(SET.format("search", ""))
    browser.evaluate(SET.format("class", "positive"))
    assert browser.evaluate(COUNT) == "1 to 10 of 20 items that fit, out of 60"
    assert set(browser.evaluate("[...document.querySelectorAll('.answer')].map((one) => one.textContent)")) == {
        "positive"
    }
    browser.evaluate(SET.format("annotator", "w5"))
    assert browser.evaluate(NAMES) == ["review_5"]
    browser.evaluate(SET.format("class", ""))
    assert browser.evaluate(NAMES) == ["review_5", "review_45"]
    browser.evaluate(SET.format("annotator", ""))
    browser.evaluate(SET.format("confidence", "50"))
    sure = browser.evaluate("[...document.querySelectorAll('.item-head .muted')].map((one) => one.textContent)")
    assert 0 < len(sure) <= 10
    assert all(float(one.split("%")[0]) <= 50 for one in sure if "sure" in one)
    browser.evaluate(SET.format("search", "no such words"))
    assert browser.evaluate(COUNT) == "0 items that fit, out of 60"


def test_items_page_on_and_back(browser: Chrome, pages: dict[str, Path]) -> None:
    browser.open(pages["documents"])
    turn(browser, "labels")

    browser.evaluate("document.getElementById('next').click()")

    assert browser.evaluate(COUNT) == "11 to 20 of 60 items"
    assert browser.evaluate(NAMES)[0] == "review_10"
    browser.evaluate("document.getElementById('before').click()")
    assert browser.evaluate(NAMES)[0] == "review_0"


def test_evidence_for_lies_right_of_the_middle_and_evidence_against_left(
    browser: Chrome, pages: dict[str, Path]
) -> None:
    browser.open(pages["documents"])
    turn(browser, "labels")

    bars = browser.evaluate("""[...document.querySelector('.item .evidence').children].map((bar) => {
        const track = bar.children[1].getBoundingClientRect(), fill = bar.querySelector('.fill').getBoundingClientRect();
        return [bar.textContent, (fill.left - track.left) / track.width, (fill.right - track.left) / track.width]; })""")

    found = {text: (left, right) for text, left, right in bars}
    left, right = found["w7: neutral−2.4"]
    assert (left, right) == pytest.approx((0.0, 0.5), abs=0.02)
    left, right = found["the classifier+1.2"]
    assert (left, right) == pytest.approx((0.5, 0.75), abs=0.02)


def test_tables_sort_by_their_heads_and_are_searched(browser: Chrome, pages: dict[str, Path]) -> None:
    browser.open(pages["documents"])
    turn(browser, "annotators")
    cells = "[...document.querySelectorAll('table[data-name=annotators] tbody tr')].map((row) => Number(row.cells[2].dataset.value))"

    browser.evaluate("[...document.querySelectorAll('table[data-name=annotators] .sort')][2].click()")
    falling = browser.evaluate(cells)
    browser.evaluate("[...document.querySelectorAll('table[data-name=annotators] .sort')][2].click()")
    rising = browser.evaluate(cells)

    assert falling == sorted(falling, reverse=True)
    assert rising == sorted(rising)
    assert falling[0] > rising[0]
    browser.evaluate("""(() => { const input = document.querySelector('.table-tools input'); input.value = 'spammer';
        input.dispatchEvent(new Event('input')); })()""")
    assert browser.evaluate(
        "[...document.querySelectorAll('table[data-name=annotators] tbody th')].map((one) => one.textContent)"
    ) == ["w1 human"]


def test_the_keyboard_alone_turns_pages_and_the_focus_is_seen(browser: Chrome, pages: dict[str, Path]) -> None:
    browser.open(pages["documents"])
    browser.evaluate("document.getElementById('tab-overview').focus()")

    for kind in ("keyDown", "keyUp"):
        browser.send("Input.dispatchKeyEvent", type=kind, key="ArrowRight", code="ArrowRight", windowsVirtualKeyCode=39)

    assert browser.evaluate("document.activeElement.id") == "tab-labels"
    assert browser.evaluate("document.getElementById('labels').hidden") is False
    assert browser.evaluate("document.getElementById('overview').hidden") is True
    assert browser.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_long_lists_of_findings_are_folded_and_open_again(browser: Chrome, pages: dict[str, Path]) -> None:
    browser.open(pages["documents"])
    turn(browser, "annotators")
    seen = "[...document.querySelectorAll('#annotators .finding')].filter((one) => one.checkVisibility()).length"

    assert browser.evaluate(seen) == 5
    browser.evaluate("document.querySelector('#annotators .findings + .more').click()")
    assert browser.evaluate(seen) == 8


def test_a_finding_leads_to_what_it_is_about(browser: Chrome, pages: dict[str, Path]) -> None:
    browser.open(pages["documents"])

    browser.evaluate("document.querySelector('[data-about=review_3]').click()")

    assert browser.evaluate("document.getElementById('tab-labels').getAttribute('aria-selected')") == "true"
    assert "review_3" in browser.evaluate(NAMES)


def test_the_scheme_is_turned_by_hand_and_remembered(browser: Chrome, pages: dict[str, Path]) -> None:
    browser.open(pages["documents"])
    paper = "getComputedStyle(document.body).backgroundColor"
    light = browser.evaluate(paper)

    browser.evaluate("document.getElementById('theme').click()")
    dark = browser.evaluate(paper)
    browser.open(pages["documents"])

    assert dark != light
    assert browser.evaluate(paper) == dark
    browser.evaluate("document.getElementById('theme').click()")
    assert browser.evaluate(paper) == light
    browser.evaluate("localStorage.clear()")


def test_paper_shows_every_page_in_light_colours(browser: Chrome, pages: dict[str, Path]) -> None:
    browser.open(pages["documents"], dark=True)

    browser.send("Emulation.setEmulatedMedia", media="print")

    try:
        shown = "[...document.querySelectorAll('.page')].map((one) => one.checkVisibility())"
        tabs = browser.evaluate("document.querySelectorAll('.tabs button').length")
        assert browser.evaluate(shown) == [True] * tabs
        assert tabs >= 6
        assert browser.evaluate("document.querySelector('.tabs').checkVisibility()") is False
        bare, dark_ink = "rgba(0, 0, 0, 0)", "rgb(28, 33, 38)"
        assert browser.evaluate("getComputedStyle(document.body).backgroundColor") == bare
        assert browser.evaluate("getComputedStyle(document.body).color") == dark_ink
    finally:
        browser.send("Emulation.setEmulatedMedia", media="")


def test_downloads_hold_the_rows_that_fit(browser: Chrome, pages: dict[str, Path]) -> None:
    browser.open(pages["documents"])
    turn(browser, "labels")
    browser.evaluate(SET.format("search", "number9"))

    browser.evaluate("""(() => { const made = URL.createObjectURL; window.saved = [];
        URL.createObjectURL = (blob) => { window.saved.push(blob.text()); return made.call(URL, blob); }; })()""")
    browser.evaluate("for (const button of document.querySelectorAll('[data-download]')) button.click()")
    csv, json = browser.evaluate("Promise.all(window.saved)")

    assert csv.splitlines()[0] == "item,answer,confidence,expected_wrong,gold,votes,text"
    assert csv.splitlines()[1].startswith("review_9,negative,")
    assert '"name": "review_9"' in json
    assert "review_8" not in csv + json


@pytest.mark.usefixtures("browser")
def test_a_page_of_a_hundred_thousand_items_is_usable_within_three_seconds(pages: dict[str, Path]) -> None:
    # Processor time of a browser of its own, not the clock's: other work on the machine is not a fault of the page.
    with chrome() as fresh:
        fresh.open(pages["large"])
        opened = fresh.busy()
        turn(fresh, "labels")
        fresh.evaluate(SET.format("search", "review_77"))
        names, searched = fresh.evaluate(NAMES), fresh.busy()

    assert 0 < opened < 3
    assert searched < 4
    assert "review_77" in names
    assert pages["large"].stat().st_size < 5_000_000


def test_figures_become_png_files(browser: Chrome, tmp_path: Path) -> None:
    written = write_figures(documents(), tmp_path)

    assert written.missing is None
    assert {one.stem for one in written.png} <= {one.stem for one in written.svg}
    assert len(written.png) >= 10
    assert all(one.read_bytes().startswith(b"\x89PNG") and one.stat().st_size > 3000 for one in written.png)


def test_the_report_of_the_demo_reads_well(browser: Chrome, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "crowdlogic", "demo", "--items", "300", "-o", str(tmp_path / "demo")],
        check=False,
        capture_output=True,
        text=True,
    )

    assert done.returncode == 0, done.stderr
    check(browser, tmp_path / "demo" / "report.html")


@pytest.mark.parametrize("width", [390, 1280])
def test_a_link_to_a_page_shows_its_first_line_below_the_tabs(
    browser: Chrome, pages: dict[str, Path], width: int
) -> None:
    browser.open(pages["documents"], width=width)

    browser.evaluate("(() => { location.hash = ''; location.hash = '#rules'; })()")
    browser.evaluate("new Promise((done) => setTimeout(done, 300))")
    tabs, first = browser.evaluate("""[document.querySelector('.tabs').getBoundingClientRect().bottom,
        document.querySelector('#rules .finding, #rules .rule-head').getBoundingClientRect().top]""")

    assert first >= tabs


def test_a_term_is_explained_on_a_tap(browser: Chrome, pages: dict[str, Path]) -> None:
    browser.open(pages["documents"], width=390)
    shown = "getComputedStyle(document.querySelector('.term .gloss')).display"
    before = browser.evaluate(shown)

    browser.evaluate("document.querySelector('.term').focus()")

    assert (before, browser.evaluate(shown)) == ("none", "block")
    assert browser.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_list_opens_with_the_items_below_the_threshold_and_gold_mistakes_with_all(
    browser: Chrome, tmp_path: Path
) -> None:
    made = documents()
    found = replace(made.pages["labels"], check_below=0.6)
    n_below = sum((one.confidence or 0.0) < 0.6 for one in found.doubts)
    (tmp_path / "r.html").write_text(to_html(replace(made, pages={**made.pages, "labels": found})), encoding="utf-8")

    browser.open(tmp_path / "r.html")
    turn(browser, "labels")
    opened = browser.evaluate(COUNT)
    browser.evaluate(SET.format("list", "gold_mistakes"))

    assert 0 < n_below < len(found.doubts)
    assert opened == f"1 to {min(n_below, 10)} of {n_below} items that fit, out of {len(found.doubts)}"
    assert browser.evaluate(COUNT) == "1 to 3 of 3 items"
    assert browser.evaluate("document.getElementById('confidence-shown').textContent") == "any"
