"""What a training reads, and what is said of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from tests.workflows.conftest import Trained

from crowdlogic.errors import OptionError, RuleError
from crowdlogic.workflows.train import read_training_inputs


def test_everything_is_read_and_said(trained: Trained) -> None:
    inputs = read_training_inputs(trained.options)

    labels = inputs.data.labels
    assert inputs.method.name == "logic-lncl"
    assert list(inputs.data.watched) == ["test"]
    assert inputs.data.inputs == {**trained.options.plain(), "chosen": {"model": "linear", "preset": None}}
    assert inputs.notices == (
        "linear was chosen: no other installed classifier suits the size of the data and the time.",
        f"{trained.options.labels}: {labels.n_labels:,} labels of 120 items by 10 annotators; classes negative, positive.",
        "No dev items: the labels of 10% of the items are held out for early stopping; the model is then refit with all labels.",
        "but.rules: 1 rule.",
    )


def test_dev_items_that_are_training_items_are_noticed(trained: Trained) -> None:
    notices = read_training_inputs(replace(trained.options, dev=trained.file("gold.csv"))).notices

    assert f"{trained.file('gold.csv')}: 120 dev items for early stopping." in notices
    assert "120 of the dev items are training items, too: their score is too good." in notices


def test_items_without_labels_are_noticed(trained: Trained, tmp_path: Path) -> None:
    labels = pl.read_csv(trained.file("labels.csv"))
    labels.filter(pl.col("item") != labels["item"][0]).write_csv(tmp_path / "l.csv")

    notices = read_training_inputs(replace(trained.options, labels=str(tmp_path / "l.csv"))).notices

    assert "1 item has no labels: answered, but not learnt from." in notices


def test_labels_without_items_and_rules_with_errors_are_refused(trained: Trained, tmp_path: Path) -> None:
    (tmp_path / "bad.rules").write_text("1: Contains(S, 'x') -> Label(S, 'positve')\n")

    with pytest.raises(OptionError, match=r"this file contains labels but no texts\. Pass the items: --items FILE\."):
        read_training_inputs(replace(trained.options, items=None))
    with pytest.raises(RuleError, match="'positve' is not a class"):
        read_training_inputs(replace(trained.options, rules=str(tmp_path / "bad.rules")))


@pytest.mark.extension("networks")
def test_the_share_of_words_with_a_vector_is_noticed(trained: Trained, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    from crowdlogic.extensions.networks.word_network import tokenize_kim

    vectors = tmp_path / "vectors.txt"
    vectors.write_text("but 0.1 0.2 0.3\nwas 0.3 0.2 0.1\n")
    words = [word for text in pl.read_csv(trained.file("items.csv"))["text"] for word in tokenize_kim(text)]
    share = sum(word in ("but", "was") for word in words) / len(words)

    notices = read_training_inputs(replace(trained.options, model="kim-cnn", vectors=(str(vectors),))).notices

    assert 0 < share < 1
    assert f"{vectors}: 3 dimensions; {share:.2%} of the words have a vector.".replace("%", " %") in notices
