"""Elements are escaped."""

from __future__ import annotations

from crowdlogic.reporting.charts import fit_words, tag, tooltip


def test_an_element_escapes_what_it_is_given() -> None:
    assert tag("text", "<b>&", class_='"x') == '<text class="&#34;x">&lt;b&gt;&amp;</text>'


def test_control_characters_of_words_are_shown() -> None:
    assert tooltip("a\u202eb") == "<title>a⟨U+202E⟩b</title>"


def test_words_are_cut_to_their_room() -> None:
    assert fit_words("annotator", 40) == "annot…"
