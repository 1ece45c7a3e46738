"""Text from data: control characters are shown, long texts are cut, JSON cannot end its element."""

from __future__ import annotations

import json

import pytest
from tests.report.example_reports import HOSTILE

from crowdlogic.reporting.charts import LONGEST, cut, embed_json, shorten, show_controls, show_place


def test_embedded_json_means_the_same() -> None:
    value = (*HOSTILE, {"</script>": 0.1})

    assert json.loads(embed_json(value)) == json.loads(json.dumps(value))


@pytest.mark.parametrize("code", [0x202E, 0x2066, 0x200F, 0x00, 0x1B, 0x9B, 0xFEFF])
def test_characters_that_steer_a_line_are_shown_instead_of_obeyed(code: int) -> None:
    assert show_controls(f"a{chr(code)}b") == f"a⟨U+{code:04X}⟩b"


def test_ordinary_text_in_any_script_stays_as_it_is() -> None:
    for words in ("naïve café", "שלום עולם", "日本語\n\tテスト", "👩🏽‍🚀 zero-width joiners stay"):
        assert show_controls(words) == words


def test_a_long_text_is_cut_with_a_note() -> None:
    assert shorten("x" * 1_000_000).endswith(f"… [cut: {1_000_000 - LONGEST:,} more characters]")
    assert cut("a long name", 7) == "a long…"
    assert cut("short", 7) == "short"


@pytest.mark.parametrize(
    ("place", "shown"),
    [
        ("my.rules:2:1", "my.rules, line 2"),
        ("the grammar of the tags:1 (include bio):3:1", "the grammar of the tags"),
        ("C:/a:b/my.rules:12:4", "C:/a:b/my.rules, line 12"),
        ("anything", "anything"),
    ],
)
def test_the_place_of_a_rule_is_told_in_words(place: str, shown: str) -> None:
    assert show_place(place) == shown
