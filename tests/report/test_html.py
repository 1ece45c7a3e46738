"""From findings to the page, without a browser: what data says is text, and nothing of it can act."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest
from tests.report.example_reports import HOSTILE, documents, tagged

from crowdlogic.reporting.charts import show_controls
from crowdlogic.reporting.findings import Summary
from crowdlogic.reporting.html import to_html
from crowdlogic.reporting.pages.labels import BUDGET, select_items


class Seen(HTMLParser):
    """Every element of a page, with its attributes, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.fixture(scope="module")
def page() -> str:
    return to_html(documents())


@pytest.fixture(scope="module")
def seen(page: str) -> Seen:
    return Seen(page)


def test_only_the_scripts_of_the_page_itself_stand_in_it(seen: Seen) -> None:
    scripts = [attributes.get("type") for attributes in seen.named("script")]

    assert scripts == [None, "application/json", None]
    assert not seen.named("img")
    assert not seen.named("iframe")


def test_no_element_has_a_handler_or_a_style_of_its_own(seen: Seen) -> None:
    names = {name for _, attributes in seen.elements for name in attributes}

    assert not [name for name in names if name.startswith("on")]
    assert "style" not in names


def test_nothing_that_a_browser_could_fetch_is_named(seen: Seen) -> None:
    places = {
        attributes[name]
        for _, attributes in seen.elements
        for name in ("src", "href", "action", "data", "poster", "srcset")
        if name in attributes
    }

    assert places
    assert all(place == "data:," or str(place).startswith("#") for place in places)
    style = re.search("<style>(.*?)</style>", to_html(tagged()), re.S)
    assert style is not None
    assert "http" not in style[1]
    assert "@import" not in style[1]
    assert "url(" not in style[1]


def test_the_policy_allows_exactly_the_scripts_and_the_style_of_the_page(page: str, seen: Seen) -> None:
    policy = next(
        str(one["content"]) for one in seen.named("meta") if one.get("http-equiv") == "Content-Security-Policy"
    )
    scripts = re.findall(r"<script>(.*?)</script>", page, re.S)
    styles = re.findall(r"<style>(.*?)</style>", page, re.S)

    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    hashes = {
        f"'sha256-{base64.b64encode(hashlib.sha256(one.encode()).digest()).decode()}'" for one in (*scripts, *styles)
    }
    assert set(re.findall(r"'sha256-[^']+'", policy)) == hashes
    assert len(hashes) == 3


def test_hostile_text_is_shown_letter_by_letter(seen: Seen) -> None:
    shown = " ".join(seen.text)

    for words in HOSTILE:
        assert " ".join(show_controls(words).split()) in " ".join(shown.split())


def test_data_for_the_script_cannot_end_its_element(page: str) -> None:
    block = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)

    assert block is not None
    assert not re.search("[<>&\u2028\u2029]", block[1])
    data = json.loads(block[1])["labels"]
    assert [item["name"] for item in data["doubts"]] == [f"review_{n}" for n in range(60)]
    assert data["doubts"][0]["text"].endswith(HOSTILE[0])


def test_lone_surrogates_do_not_break_the_page() -> None:
    report = dataclasses.replace(documents(shown=1), title="bad \ud800 name")

    assert "bad ? name" in to_html(report)


def test_a_text_of_a_million_letters_is_cut_with_a_note() -> None:
    assert len(to_html(documents(shown=20, texts=("x" * 1_000_000,)))) < 1_000_000


def test_a_page_of_a_hundred_thousand_items_stays_under_five_megabytes() -> None:
    report = documents(items=100_000, shown=100_000 // 20, people=3000, texts=("word " * 180,))

    page = to_html(report)
    shown = select_items(report.pages["labels"])
    left_out = shown["left_out"]

    assert len(page.encode()) < 5_000_000
    assert len(json.dumps(shown, ensure_ascii=False).encode()) < 1.1 * BUDGET
    assert left_out > 0
    assert len(shown["doubts"]) + left_out >= 5000
    assert f"{left_out:,} more were left out to keep this file small" in page
    assert "600 of 3,000 annotators" in page


@pytest.mark.parametrize("made", [documents, tagged])
def test_every_plot_is_an_image_with_a_sentence_and_has_marks(made: object) -> None:
    page = to_html(made())  # type: ignore[operator]
    plots = re.findall(r'<svg[^>]*class="plot"[^>]*>.*?</svg>', page, re.S)

    assert len(plots) >= 8
    for plot in plots:
        assert 'role="img"' in plot
        assert re.search('aria-label="[^"]{20,}"', plot)
        assert re.search('class="(mark|heat|line|ring)', plot)
        assert "nan" not in re.sub('<title>.*?</title>|aria-label="[^"]*"|<text.*?</text>', "", plot)


def test_identifiers_are_unique(seen: Seen) -> None:
    identifiers = [attributes["id"] for _, attributes in seen.elements if "id" in attributes]

    assert len(identifiers) == len(set(identifiers))


def test_pages_without_findings_are_left_out() -> None:
    page = Seen(to_html(tagged()))

    assert [one["aria-controls"] for one in page.named("button") if one.get("role") == "tab"] == [
        "overview",
        "labels",
        "annotators",
    ]


def test_a_report_of_nothing_is_still_a_page() -> None:
    full = documents(shown=0, people=0)
    found = full.pages
    report = dataclasses.replace(
        full,
        classes=(),
        summary=Summary((), ()),
        pages={
            "overview": dataclasses.replace(found["overview"], classes=(), agreement=()),
            "labels": dataclasses.replace(found["labels"], thresholds=(), n_doubts=0, gold_mistakes=(), findings=()),
            "annotators": dataclasses.replace(found["annotators"], pairs=None),
        },
    )

    assert "</html>" in to_html(report)


def test_the_list_of_items_opens_with_those_below_the_threshold_of_the_sentence() -> None:
    made = documents()
    below = dataclasses.replace(
        made, pages={**made.pages, "labels": dataclasses.replace(made.pages["labels"], check_below=0.95)}
    )

    assert 'id="confidence" min="0" max="100" step="1" value="95" data-check="95"' in to_html(below)
    assert 'id="confidence" min="0" max="100" step="1" value="100" data-check="100"' in to_html(made)


def test_what_the_summary_leaves_out_is_named_page_by_page_with_links() -> None:
    page = to_html(documents())

    assert (
        'More to act on or to look at: <a href="#labels" data-go="labels">1 on Labels</a>, <a href="#annotators"'
        in page
    )
