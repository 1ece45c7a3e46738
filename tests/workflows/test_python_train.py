"""`crowdlogic.train` against the command of the same name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import crowdlogic
from crowdlogic.data.reading import write_corpus, write_labels
from crowdlogic.data.simulate import simulate_ner, simulate_sentiment
from crowdlogic.errors import OptionError
from crowdlogic.workflows.train import TrainOptions, prepare_training

RULE = "1.0: Label(S, C) & After(S, 'but', B) -> Predicted(B, C)"


def test_the_function_learns_what_the_command_learns(tmp_path: Path) -> None:
    made = simulate_sentiment(0, items=60, annotators=5)
    labels, items, rules = tmp_path / "labels.csv", tmp_path / "items.csv", tmp_path / "my.rules"
    write_labels(labels, made.labels)
    write_corpus(items, made.corpus)
    rules.write_text(RULE)
    options = TrainOptions(labels=str(labels), items=str(items), rules=str(rules), epochs=4, seed=3)
    done = prepare_training(options, tmp_path / "command").train()

    for source in ((labels, items), (crowdlogic.read_labels(labels), crowdlogic.read_corpus(items))):
        learned = crowdlogic.train(*source, rules=rules, epochs=4, seed=3)

        np.testing.assert_allclose(learned.estimate.beliefs, done.run.estimate.beliefs, rtol=0, atol=1e-12)
        assert len(learned.history) == len(done.run.history)


def test_a_run_is_saved_for_the_commands(tmp_path: Path) -> None:
    made = simulate_sentiment(0, items=40, annotators=5)

    learned = crowdlogic.train(made.labels, made.corpus, epochs=2, out=tmp_path / "run")

    loaded = crowdlogic.load_run(tmp_path / "run")
    np.testing.assert_allclose(loaded.learned.estimate.beliefs, learned.estimate.beliefs, rtol=0, atol=1e-12)


def test_tags_keep_to_their_grammar_unless_told_otherwise() -> None:
    made = simulate_ner(0, items=20, annotators=4)

    by_grammar = crowdlogic.train(made.labels, made.corpus, epochs=2)
    free = crowdlogic.train(made.labels, made.corpus, epochs=2, grammar=False)

    assert by_grammar.rule_table()["rule"].to_list()
    assert not free.rule_table()["rule"].to_list()


def test_a_model_may_be_an_object() -> None:
    made = simulate_sentiment(0, items=40, annotators=5)

    learned = crowdlogic.train(made.labels, made.corpus, model=crowdlogic.Linear(), method="aggnet", epochs=2)

    assert learned.estimate.method == "aggnet"


def test_labels_without_texts_are_refused(tmp_path: Path) -> None:
    write_labels(tmp_path / "labels.csv", simulate_sentiment(0, items=9, annotators=3).labels)

    with pytest.raises(OptionError, match=r"this file contains labels but no texts\. Pass the items"):
        crowdlogic.train(tmp_path / "labels.csv")
