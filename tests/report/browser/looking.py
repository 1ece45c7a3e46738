"""What a page looks like to a reader, asked of the browser itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.report.browser.chrome import Chrome

CONTRAST = """
(() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const known = new Map();
  const parts = (colour) => {
    if (!known.has(colour)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
      known.set(colour, [...canvas.getImageData(0, 0, 1, 1).data]);
    }
    return known.get(colour);
  };
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, n) => sum + v * [0.2126, 0.7152, 0.0722][n], 0);
  const paper = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const colour = getComputedStyle(one).backgroundColor;
      if (parts(colour)[3] === 255) return colour;
    }
    return "white";
  };
  const worst = {};
  for (const element of document.querySelectorAll("body *")) {
    if (element.closest("svg, script, style, :disabled") || !element.checkVisibility()) continue;
    const words = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!words && element.tagName !== "INPUT") continue;
    const [low, high] = [light(parts(getComputedStyle(element).color)), light(parts(paper(element)))].sort((a, b) => a - b);
    const kind = element.tagName.toLowerCase() + (element.className ? "." + String(element.className).split(" ").join(".") : "");
    worst[kind] = Math.min(worst[kind] ?? 99, (high + 0.05) / (low + 0.05));
  }
  return worst;
})()
"""
"""The least contrast of text with what is behind it, by kind of element (WCAG 2)."""

MARKS = """
[...document.querySelectorAll("main svg.plot:not(.ruler)")].filter((one) => one.checkVisibility()).map((plot) => ({
  says: plot.getAttribute("aria-label"),
  marks: [...plot.querySelectorAll(".mark, .heat, path.line, .ring")].filter((mark) => {
    const box = mark.getBoundingClientRect();
    const style = getComputedStyle(mark);
    return box.width + box.height > 1 && (style.fill !== "none" || style.stroke !== "none");
  }).length,
  outside: [...plot.querySelectorAll(".mark, .heat, path.line, .ring, text")].filter((mark) => {
    const box = mark.getBoundingClientRect(), room = plot.getBoundingClientRect();
    return box.left < room.left - 3 || box.right > room.right + 3 || box.top < room.top - 3 || box.bottom > room.bottom + 3;
  }).map((mark) => mark.textContent || mark.outerHTML.slice(0, 60)),
}))
"""

TABS = "[...document.querySelectorAll('[role=tab]')].map((tab) => tab.getAttribute('aria-controls'))"


def turn(browser: Chrome, page: str) -> None:
    """Turn to a page by its tab."""
    browser.evaluate(f"document.getElementById('tab-{page}').click()")


def each_page(browser: Chrome, script: str) -> dict[str, Any]:
    """The value of an expression on every page of the report."""
    found = {}
    for page in browser.evaluate(TABS):
        turn(browser, page)
        found[page] = browser.evaluate(script)
    return found


def check(browser: Chrome, path: Path) -> None:
    """What must hold of every report, whatever it is of."""
    browser.open(path)
    drawn = each_page(browser, MARKS)
    assert [page for page, plots in drawn.items() if not plots] in ([], ["rules"])  # a single rule needs no plot
    assert [(page, plot["says"]) for page, plots in drawn.items() for plot in plots if not plot["marks"]] == []
    assert [(page, plot["outside"]) for page, plots in drawn.items() for plot in plots if plot["outside"]] == []
    for dark in (False, True):
        browser.open(path, dark=dark)
        for page, kinds in each_page(browser, CONTRAST).items():
            assert {kind: ratio for kind, ratio in kinds.items() if ratio < 4.5} == {}, (page, dark)
    browser.open(path, width=375, height=800)
    wide = each_page(browser, "[document.documentElement.scrollWidth, innerWidth, visualViewport.width]")
    assert {page: widths for page, widths in wide.items() if max(widths) > 375} == {}
    assert browser.complaints() == []
    assert browser.requests() == []
