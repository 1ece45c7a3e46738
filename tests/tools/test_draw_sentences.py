import ast
from pathlib import Path

from tests.tools.draw_sentences import ROOT, SIZES, draw, list_sentences, render


def test_a_sample_has_the_size_of_every_kind():
    sentences = list_sentences([ROOT / "src/crowdlogic", ROOT / "docs"])

    kinds = [sentence.kind for sentence in draw(sentences, seed=1)]

    assert {kind: kinds.count(kind) for kind in SIZES} == SIZES


def test_the_same_seed_draws_the_same_sentences_and_another_seed_draws_others():
    sentences = list_sentences([ROOT / "src/crowdlogic/cli"])

    assert list(draw(sentences, seed=1)) == list(draw(sentences, seed=1))
    assert list(draw(sentences, seed=1)) != list(draw(sentences, seed=2))


def test_docstrings_errors_and_help_texts_are_found():
    texts = {(one.kind, one.text) for one in list_sentences([Path(ROOT / "src/crowdlogic/cli/demo.py")])}

    assert ("help", "Number of reviews.") in texts
    assert any(kind == "help" and text.startswith("Compare majority vote") for kind, text in texts)
    assert any(kind == "docstrings" and text.startswith("Scores of the demo") for kind, text in texts)


def test_what_is_filled_into_a_message_is_shown_by_name():
    assert render(ast.parse('f"{place}: got {x!r}" + "."', mode="eval").body) == "{place}: got {x}."
