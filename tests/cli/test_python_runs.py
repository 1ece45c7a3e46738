"""Runs that Python made with parts that no run can hold: what the commands can do with them, and what they say."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.conftest import BUT, Result, write_simulated

import crowdlogic
from crowdlogic.data.simulate import simulate_sentiment

Run = Callable[..., Result]

BRING = "run: its classifier holds a Pipeline that was made in Python and is not saved with the run. Pass it when you load the run: crowdlogic.load_run('run', classifier=classifier)."
TOGETHER = f"Rules that need the classifier are shown together, not one by one. {BRING}"


def make_classifier() -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    return make_pipeline(TfidfVectorizer(), LogisticRegression())


@pytest.fixture
def learned(run: Run) -> crowdlogic.learning.Learned:
    """A run with a pipeline of scikit-learn's and a rule that asks it, in the folder run."""
    made = simulate_sentiment(3, items=60, annotators=8, test_items=5)
    write_simulated(made)
    method = crowdlogic.LogicLNCL(make_classifier(), limits=crowdlogic.TrainingLimits(epochs=2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return method.fit(made.corpus, made.labels, rules=BUT, save="run")


def test_an_answer_is_explained_without_the_classifier(run: Run, learned: crowdlogic.learning.Learned) -> None:
    item = next(i for i, t in zip(learned.task.corpus.items, learned.task.corpus.texts, strict=True) if " but " in t)

    plain, shown = run("explain", "run", item, "--json"), run("explain", "run", item)

    (unit,) = json.loads(plain.out)["units"]
    known = learned.explain(item)
    assert (plain.code, shown.code) == (0, 0)
    np.testing.assert_allclose(unit["classifier"], known.classifier[0])
    np.testing.assert_allclose(unit["q_f"], known.q_f[0])
    rules = unit["rules"]
    log_q = np.array(rules["base"]) - rules["normaliser"] + sum(np.array(one["bits"]) for one in rules["rules"])
    np.testing.assert_allclose(log_q, np.log2(known.q_b[0]), rtol=0, atol=1e-9)
    assert [one["rule"] for one in rules["rules"]] == ["all rules together (one by one: with the classifier)"]
    assert TOGETHER in shown.err


def test_with_the_classifier_the_pasted_line_explains_rule_by_rule(
    run: Run, learned: crowdlogic.learning.Learned
) -> None:
    item = next(i for i, t in zip(learned.task.corpus.items, learned.task.corpus.texts, strict=True) if " but " in t)

    again = crowdlogic.load_run("run", classifier=make_classifier())

    (rule,) = again.explain(item).rules.rules
    assert (rule,) == learned.explain(item).rules.rules
    assert rule.partition(": ")[2] == BUT.strip().partition(": ")[2]  # its weight is the one that the labels allow


def test_a_report_is_written_without_the_classifier(run: Run, learned: crowdlogic.learning.Learned) -> None:
    done = run("report", "run", "-o", "page.html")

    figures = json.loads(Path("page.json").read_text())
    assert done.code == 0
    assert done.err.splitlines()[0] == TOGETHER
    assert figures["labels"]["doubts"][0]["evidence"] is not None
    assert [row["rule"] for row in figures["rules"]["rows"]] == [one.rule for one in learned.audit]


@pytest.mark.usefixtures("learned")
def test_the_audit_needs_no_classifier_of_a_run(run: Run) -> None:
    Path("my.rules").write_text(f"{BUT}1.0: Predicted(S, C) -> Label(S, C)\n")

    done = run("rules", "audit", "my.rules", "labels.csv", "--items", "items.csv", "--run", "run", "--json")

    assert done.code == 0
    assert [one["rule"] for one in json.loads(done.out)["rules"]] == [
        BUT.strip(),
        "1.0: Predicted(S, C) -> Label(S, C)",
    ]


def test_the_verdicts_of_the_training_are_there_without_the_classifier(
    run: Run, learned: crowdlogic.learning.Learned
) -> None:
    found = crowdlogic.load_run("run")

    assert found.rule_table().equals(learned.rule_table())
    assert found.annotator_table().equals(learned.annotator_table())


@pytest.mark.extension("networks")
@pytest.mark.usefixtures("learned")
@pytest.mark.parametrize("words", [("predict", "run", "test.csv", "-o", "p.csv"), ("review", "run")])
def test_what_needs_the_classifier_says_how_to_bring_it(run: Run, words: tuple[str, ...]) -> None:
    done = run(*words)

    assert done.code == 2
    assert done.err.startswith(f"crowdlogic: {BRING}")
    assert not Path("p.csv").exists()


def test_a_report_of_rules_with_own_predicates_says_what_it_lacks_and_the_line_that_has_it(run: Run) -> None:
    made = simulate_sentiment(3, items=60, annotators=8, test_items=5)
    vocabulary = crowdlogic.Vocabulary()
    vocabulary.predicate("Long")(lambda texts: [float(len(text) > 60) for text in texts])
    method = crowdlogic.LogicLNCL("linear", limits=crowdlogic.TrainingLimits(epochs=2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rules = "1.0: Long(S) -> Label(S, 'negative')"
        method.fit(made.corpus, made.labels, rules=rules, vocabulary=vocabulary, save="run")

    done = run("report", "run", "-o", "page.html")
    without = json.loads(Path("page.json").read_text())
    crowdlogic.report(crowdlogic.load_run("run", vocabulary=vocabulary), "page.html")
    whole = json.loads(Path("page.json").read_text())

    assert done.code == 0
    assert done.err.splitlines()[0] == (
        "run: Long is Python code that the run does not hold, so the page does not say why doubtful items got their "
        "answers. In Python, with the same predicates, it does: "
        "crowdlogic.report(crowdlogic.load_run('run', vocabulary=vocabulary))."
    )
    assert without["labels"]["doubts"][0]["evidence"] is None
    assert whole["labels"]["doubts"][0]["evidence"] is not None
