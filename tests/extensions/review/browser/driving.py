"""What a reviewer does with the page, by keyboard and mouse; and what they see."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from tests.extensions.review.served import Served
from tests.report.browser.chrome import Chrome
from tests.report.browser.looking import CONTRAST

NAME = "document.querySelector('.item-name')?.textContent ?? null"
SAVED = "document.getElementById('saved').textContent"
NOTE = "document.getElementById('refit-note').textContent"
NOTICE = "document.getElementById('notice').textContent"
ALT, SHIFT = 1, 8

SET = """
(() => {{ const input = document.getElementById({0!r}); input.value = {1!r}; input.dispatchEvent(new Event("input", {{ bubbles: true }})); }})()
"""


def wait_for(browser: Chrome, script: str, fits: Callable[[Any], bool] = bool, seconds: float = 20) -> Any:
    """The value of an expression, once it fits."""
    end = time.monotonic() + seconds
    while True:
        value = browser.evaluate(script)
        if fits(value):
            return value
        if time.monotonic() > end:
            raise TimeoutError(f"{script} is {value!r}; {browser.complaints()}")
        time.sleep(0.02)


def press(browser: Chrome, key: str, modifiers: int = 0) -> None:
    """Press a key and let it go."""
    text = {"text": key} if len(key) == 1 else {"text": "\r"} if key == "Enter" else {}
    browser.send("Input.dispatchKeyEvent", type="keyDown", key=key, modifiers=modifiers, **text)
    browser.send("Input.dispatchKeyEvent", type="keyUp", key=key, modifiers=modifiers)


def write(browser: Chrome, text: str) -> None:
    """Write into what has the focus."""
    browser.send("Input.insertText", text=text)


def decide(browser: Chrome, key: str) -> str:
    """Press a key that decides the item, and wait for the next one; the name of the item."""
    name = browser.evaluate(NAME)
    press(browser, key)
    wait_for(browser, NAME, lambda now: now != name)
    return str(name)


def click(browser: Chrome, selector: str) -> None:
    """Click on an element."""
    point(browser, selector, "mousePressed", "mouseReleased")


def drag(browser: Chrome, begin: str, end: str) -> None:
    """Press the button on one element, move to another, and let it go."""
    point(browser, begin, "mousePressed")
    point(browser, end, "mouseMoved", "mouseReleased")


def point(browser: Chrome, selector: str, *kinds: str) -> None:
    """Do things with the mouse in the middle of an element."""
    browser.evaluate(f"document.querySelector({selector!r}).scrollIntoView({{ block: 'center' }})")
    x, y = browser.evaluate(
        f"(() => {{ const box = document.querySelector({selector!r}).getBoundingClientRect();"
        "return [box.x + box.width / 2, box.y + box.height / 2]; })()"
    )
    browser.send("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y, buttons=int("mouseMoved" in kinds))
    for kind in kinds:
        down = kind != "mouseReleased"
        browser.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1, buttons=int(down))


def fill(browser: Chrome, field: str, value: str) -> None:
    """Set a field, as if it had been written into."""
    browser.evaluate(SET.format(field, value))


def spans(browser: Chrome) -> list[tuple[str, str]]:
    """The spans of the sentence that is edited: their words, and their type."""
    return [
        (" ".join(words), kind)
        for words, kind in browser.evaluate("""(() => { const found = [];
          for (const token of document.querySelectorAll("#item .sentence[role=listbox] .token.in")) {
            const word = token.firstChild.textContent, type = token.querySelector(".type")?.textContent;
            if (token.classList.contains("first")) found.push([[word], type]); else found.at(-1)[0].push(word);
          } return found; })()""")
    ]


def foreign_requests(browser: Chrome, served: Served) -> list[str]:
    """Everything that the page asked anybody else for."""
    asked = [e["params"]["request"]["url"] for e in browser.events if e.get("method") == "Network.requestWillBeSent"]
    assert asked
    return [url for url in asked if not url.startswith((served.address, "data:", "blob:"))]


def poor_contrast(browser: Chrome) -> dict[str, float]:
    """Kinds of elements whose text is hard to read."""
    return {kind: ratio for kind, ratio in browser.evaluate(CONTRAST).items() if ratio < 4.5}
