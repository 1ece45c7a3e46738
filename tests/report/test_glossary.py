"""Words of the field carry their explanation."""

from __future__ import annotations

from crowdlogic.reporting.html import GLOSSARY, gloss


def test_the_first_occurrence_of_a_term_carries_its_explanation() -> None:
    shown = gloss("The skill of w1 is low; the skill of w2 is high.")

    assert shown == (
        'The <span class="term" tabindex="0">skill<span class="gloss" role="tooltip">'
        + GLOSSARY["skill"]
        + "</span></span> of w1 is low; the skill of w2 is high."
    )


def test_a_longer_term_is_not_cut_into_a_shorter_one() -> None:
    assert str(gloss("90% right by gold")).count('class="term"') == 1
    assert ">by gold<span" in gloss("90% right by gold")


def test_a_part_of_a_word_is_no_term_and_text_from_data_is_escaped() -> None:
    assert gloss("marigold <b>skillful</b>") == "marigold &lt;b&gt;skillful&lt;/b&gt;"


def test_explanations_are_short() -> None:
    assert max(map(len, GLOSSARY.values())) <= 110
