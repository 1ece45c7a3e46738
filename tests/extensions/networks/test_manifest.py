from __future__ import annotations

from pathlib import Path

from tests.extensions.networks.small_runs import CONTRAST, GRAMMAR, train_reviews, train_tags

from crowdlogic import Linear
from crowdlogic.extensions.networks.export import make_manifest, rule_decoding


def test_rules_of_tags_alone_become_a_table(tmp_path: Path) -> None:
    run = train_tags(tmp_path / "run", Linear(), GRAMMAR)

    found = rule_decoding(run)

    classes = [str(name) for name in run.estimate.classes]
    # the soft rule costs its weight times the strength where it is broken, and nothing where it holds
    assert found["transitions"][classes.index("O")][classes.index("I-PER")] == -5.0 * run.teacher.projector.strength
    assert found["transitions"][classes.index("B-PER")][classes.index("I-PER")] == 0.0
    assert make_manifest(run, {}, {"rules": found})["predictor"] == "teacher"


def test_rules_that_look_at_words_do_not(tmp_path: Path) -> None:
    words = train_tags(tmp_path / "words", Linear(), "1.0: Token(T, 'Paris') -> Label(T, 'B-LOC')")
    texts = train_reviews(tmp_path / "texts", Linear(), CONTRAST)

    assert rule_decoding(words) is None
    assert rule_decoding(texts) is None
    manifest = make_manifest(texts, {}, {"rules": None})
    assert (manifest["predictor"], manifest["rules_exported"]) == ("student", False)


def test_without_rules_there_is_nothing_to_decode(tmp_path: Path) -> None:
    run = train_tags(tmp_path / "run", Linear())

    assert rule_decoding(run) is None
    assert make_manifest(run, {}, {})["rules_exported"] is True
