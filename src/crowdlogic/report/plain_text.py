"""Text from data, made fit to be shown: cut when long, control characters visible, inert inside a script element."""

from __future__ import annotations

import json
import re
from typing import Any

from markupsafe import Markup

LONGEST = 1000
"""How many characters of one text the page holds: enough to judge a label by."""

CONTROLS = {
    **{code: f"⟨U+{code:04X}⟩" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C)},
    **{code: f"⟨U+{code:04X}⟩" for code in range(0x20) if code not in (0x09, 0x0A, 0x0D)},
    **{code: f"⟨U+{code:04X}⟩" for code in range(0x7F, 0xA0)},
    0xFEFF: "⟨U+FEFF⟩",
    0x2028: " ",
    0x2029: " ",
}
"""Direction overrides and isolates, control characters, line separators, and what replaces them.

A text that holds U+202E would otherwise read backwards, and take what follows it along.
"""


def show_controls(words: str) -> str:
    """The words with control characters as visible marks, and lone surrogates replaced."""
    return words.encode("utf-8", "replace").decode("utf-8").translate(CONTROLS)


def cut(words: str, longest: int = LONGEST) -> str:
    """The words, or their beginning and an ellipsis."""
    return words if len(words) <= longest else words[: longest - 1].rstrip() + "…"


def shorten(words: str, longest: int = LONGEST) -> str:
    """A text for the page: cut with a note of how much was left out, then made safe to show."""
    if len(words) <= longest:
        return show_controls(words)
    return f"{show_controls(words[:longest].rstrip())}… [cut: {len(words) - longest:,} more characters]"


INERT = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
"""What could end a script element, open a comment in it or end a line of it."""


def embed_json(value: Any) -> Markup:
    """JSON for the inside of a script element: no character of it can end the element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character, escape in INERT.items():
        text = text.replace(character, escape)
    return Markup(text)  # noqa: S704 (its angle brackets and ampersands are escapes)


def show_place(place: str) -> str:
    """Where a rule stands: my.rules, line 2; rules that a file includes are named by the file alone."""
    included = re.fullmatch(r"(.*):\d+ \(include .*\).*", place)
    if included:
        return included.group(1)
    found = re.fullmatch(r"(.*):(\d+):\d+", place)
    return f"{found.group(1)}, line {found.group(2)}" if found else place
