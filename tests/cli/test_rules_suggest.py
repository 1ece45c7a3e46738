from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from tests.cli.conftest import Result

import crowdlogic

Run = Callable[..., Result]


def write_tickets() -> None:
    """600 tickets; 'refund' stands in 70 % of those about billing, 'crash' in 60 % of those about bugs."""
    rng = np.random.default_rng(0)
    labels, items = ["item,annotator,label"], ["item,text"]
    for i in range(600):
        k = int(rng.integers(2))
        words = rng.choice(["alpha", "beta", "gamma", "delta"], 5).tolist()
        if rng.random() < (0.6, 0.7)[k]:
            words.append(("crash", "refund")[k])
        rng.shuffle(words)
        items.append(f"d{i},{' '.join(words)}")
        labels += [f"d{i},a{j},{('bug', 'billing')[k if rng.random() < 0.8 else 1 - k]}" for j in range(3)]
    Path("labels.csv").write_text("\n".join(labels))
    Path("items.csv").write_text("\n".join(items))


def test_planted_rules_are_suggested_and_can_be_audited(run: Run) -> None:
    write_tickets()

    done = run("rules", "suggest", "labels.csv", "--items", "items.csv", "-o", "s.rules")
    audited = run("rules", "audit", "s.rules", "labels.csv", "--items", "items.csv")
    in_python = crowdlogic.suggest_rules(crowdlogic.read_labels("labels.csv"), crowdlogic.read_corpus("items.csv"))

    rules = [str(rule) for rule in crowdlogic.read_rules("s.rules").rules]
    assert (done.code, audited.code) == (0, 0)
    assert {rule.partition(": ")[2] for rule in rules} == {
        "Contains(S, 'refund') -> Label(S, 'billing')",
        "Contains(S, 'crash') -> Label(S, 'bug')",
    }
    assert [str(rule) for rule in in_python.rules.rules] == rules


def test_labels_without_texts_or_with_one_class_are_refused_and_no_input_is_overwritten(run: Run) -> None:
    write_tickets()
    Path("one.csv").write_text(Path("labels.csv").read_text().replace("billing", "bug"))

    no_texts = run("rules", "suggest", "labels.csv", "-o", "s.rules")
    one_class = run("rules", "suggest", "one.csv", "--items", "items.csv", "-o", "s.rules")
    over = run("rules", "suggest", "labels.csv", "--items", "items.csv", "-o", "items.csv")

    assert [one.code for one in (no_texts, one_class, over)] == [2, 2, 2]
    assert "no texts" in no_texts.err
    assert "same class" in one_class.err
    assert "would overwrite" in over.err
    assert not Path("s.rules").exists()
