"""Evidence as a text that fits a screen."""

from __future__ import annotations

import numpy as np

from crowdlogic.data.simulate import simulate_ner, simulate_sentiment
from crowdlogic.learning.algorithm import LogicLNCL
from crowdlogic.learning.explain import (
    MOST_LINES,
    NEGLIGIBLE,
    SHOWN_CLASSES,
    EvidenceTable,
    format_bits,
    shown_classes,
)
from crowdlogic.learning.stopping import TrainingLimits

METHOD = LogicLNCL(limits=TrainingLimits(epochs=2))
SCREEN = (120, 40)


def fits_a_screen(text: str) -> bool:
    lines = text.splitlines()
    return len(lines) <= SCREEN[1] and max(map(len, lines)) <= SCREEN[0]


def test_a_table_shows_the_most_probable_classes_in_their_order() -> None:
    belief = np.array([0.1, 0.3, 0.05, 0.25, 0.2, 0.1])

    assert shown_classes(belief).tolist() == [0, 1, 3, 4]
    assert SHOWN_CLASSES == 4


def test_bits_have_two_digits_and_what_is_impossible_is_a_dash() -> None:
    assert format_bits(np.array([1.0, -0.255, -np.inf, np.nan])) == ["+1.00", "-0.26", "-", "-"]


def test_what_is_left_out_would_show_as_nothing() -> None:
    assert {text.lstrip("+-") for text in format_bits(np.array([0.99, -0.99]) * NEGLIGIBLE)} == {"0.00"}


def test_the_evidence_of_a_text_is_printed_source_by_source_and_fits_a_screen() -> None:
    made = simulate_sentiment(3, items=80, annotators=10, labels_per_item=3)
    learned = METHOD.fit(made.corpus, made.labels, rules="1.0: include contrast('but')")
    item = made.corpus.items[0]

    found = learned.explain(item)

    lines = str(found).splitlines()
    assert repr(found) == str(found)
    assert lines[0].startswith(f"{item}: {made.corpus.texts[0][:20]}")
    answer = found.classes[int(found.answer[0])]
    assert lines[1] == f"{answer}, {100 * found.q_f.max():.2f} %: evidence in bits (each bit doubles the odds)"
    assert [line.split("  ")[0] for line in lines if " said " in line] == [
        f"{who} said {found.classes[k]}" for who, k in zip(found.crowd.annotator, found.crowd.label, strict=True)
    ]
    assert fits_a_screen(str(found))


def test_the_evidence_of_a_sentence_is_printed_token_by_token() -> None:
    made = simulate_ner(3, items=30, annotators=6, labels_per_item=3, test_items=5)
    learned = METHOD.fit(made.corpus, made.labels)

    found = learned.explain(made.corpus.items[0])

    assert [line.split()[1] for line in str(found).splitlines()[2:]] == list(made.corpus.sentence(0))
    assert fits_a_screen(str(found))


def test_a_long_table_says_how_many_lines_it_leaves_out() -> None:
    table = EvidenceTable(title="t", columns=("a", "b"), rows=[("x" * 500, "1")] * (MOST_LINES + 1))

    assert str(table).splitlines()[-1] == "... and 1 more line"
    assert fits_a_screen(str(table))
