"""Every learning method is options and two ways to fit."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from importlib.util import find_spec
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from crowdlogic.classifiers.linear import Linear
from crowdlogic.data.corpus import documents
from crowdlogic.data.simulate import simulate_sentiment
from crowdlogic.errors import CrowdLogicWarning
from crowdlogic.learning.algorithm import LogicLNCL
from crowdlogic.learning.method import FitMixin, LearningMethod, TrainingData
from crowdlogic.learning.saved_run import load_run
from crowdlogic.learning.stopping.protocol import TrainingLimits
from crowdlogic.registry import LEARNING_METHODS
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.predicates import Vocabulary

MADE = simulate_sentiment(3, items=40, annotators=6, test_items=20)
RULES = parse_rules("1.0: include contrast('but')")


def test_fit_is_learn_with_the_data_as_arguments() -> None:
    method = LogicLNCL(limits=TrainingLimits(epochs=2))
    heard: list[int] = []

    fitted = method.fit(
        MADE.corpus,
        MADE.labels,
        rules=RULES,
        dev=MADE.test,
        watched={"test": MADE.test},
        callback=lambda row, _: heard.append(row.epoch),
    )

    data = TrainingData(corpus=MADE.corpus, labels=MADE.labels, rules=RULES, dev=MADE.test, watched={"test": MADE.test})
    learned = method.learn(data)
    np.testing.assert_array_equal(fitted.epoch.q_f, learned.epoch.q_f)
    assert [row.scores for row in fitted.history] == [row.scores for row in learned.history]
    assert heard == [1, 2]


@pytest.mark.parametrize("name", LEARNING_METHODS)
def test_methods_by_name_are_frozen_options_with_limits(name: str) -> None:
    kind: Any = LEARNING_METHODS.load(name)

    assert is_dataclass(kind)
    assert issubclass(kind, FitMixin)
    assert {"classifier", "limits"} <= {field.name for field in fields(kind)}
    assert signature(kind.learn).parameters.keys() == signature(LearningMethod.learn).parameters.keys()


@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed: pip install crowdlogic[torch]")
@pytest.mark.parametrize("name", LEARNING_METHODS)
def test_methods_say_their_name(name: str) -> None:
    from crowdlogic.classifiers.mlp import MLP

    kind: Any = LEARNING_METHODS.load(name)
    needs_network = name in ("crowd-layer", "dl-dn", "dl-wdn")

    method = kind(MLP()) if needs_network else kind()

    assert method.name == ("majority + linear" if name == "two-stage" else name)
    with pytest.raises(AttributeError):
        method.limits = TrainingLimits()


def test_frames_a_rule_text_a_models_name_and_texts_go_straight_into_a_fit_and_it_is_saved(tmp_path: Path) -> None:
    made = simulate_sentiment(2, items=60, annotators=8, labels_per_item=3)
    frame, items = made.labels.to_pandas(), made.corpus.to_pandas()[["item", "text"]]
    rule = "1.0: Label(S, C) & After(S, 'but', B) -> Predicted(B, C)"
    limits = TrainingLimits(epochs=2)

    straight = LogicLNCL("linear", limits=limits).fit(items, frame, rules=rule, save=tmp_path / "run")
    spelled = LogicLNCL(Linear(), limits=limits).fit(
        documents(made.corpus.items.to_list(), made.corpus.texts), made.labels, rules=parse_rules(rule)
    )
    texts = LogicLNCL(limits=limits).fit(list(made.corpus.texts or ()), made.labels, rules=rule)

    np.testing.assert_allclose(straight.estimate.beliefs, spelled.estimate.beliefs, rtol=1e-9)
    np.testing.assert_allclose(texts.estimate.beliefs, spelled.estimate.beliefs, rtol=1e-9)
    loaded = load_run(tmp_path / "run")
    np.testing.assert_allclose(loaded.predict(["slow but grand"]), spelled.predict(["slow but grand"]), rtol=1e-9)


def test_a_pipeline_of_scikit_learn_goes_straight_into_a_fit() -> None:
    made = simulate_sentiment(2, items=60, annotators=8, labels_per_item=3)
    pipeline = make_pipeline(TfidfVectorizer(), LogisticRegression())

    learned = LogicLNCL(pipeline, limits=TrainingLimits(epochs=2)).fit(made.corpus, made.labels)

    assert learned.predict(["grand", "dull"]).shape == (2, 2)


def test_what_a_fit_leaves_shows_itself_on_one_screen(tmp_path: Path) -> None:
    made = simulate_sentiment(2, items=60, annotators=8, labels_per_item=3)
    learned = LogicLNCL(limits=TrainingLimits(epochs=2)).fit(made.corpus, made.labels, save=tmp_path / "run")

    shown = [learned, learned.epoch, learned.estimate, learned.task, learned.teacher, load_run(tmp_path / "run")]

    assert max(len(repr(one)) for one in (*shown, made.labels, made.corpus, LogicLNCL())) < 1000
    assert repr(shown[-1]) == f"Run('{tmp_path / 'run'}': Learned(logic-lncl: 60 items, epoch {learned.chosen} of 2))"


def label_rows(n: int = 40) -> pl.DataFrame:
    """A row per label, with the text beside it."""
    rows = [
        (f"i{k}", who, "good" if k % 2 else "bad", f"a {'fine' if k % 2 else 'dull'} film")
        for k in range(n)
        for who in "ab"
    ]
    return pl.DataFrame(rows, schema=["item", "annotator", "label", "text"], orient="row")


def test_one_frame_with_texts_beside_the_labels_is_all_that_a_fit_needs() -> None:
    frame, limits = label_rows(), TrainingLimits(epochs=2)
    items = frame.select("item", "text").unique(maintain_order=True)

    both = LogicLNCL(limits=limits).fit(frame)
    twice = LogicLNCL(limits=limits).fit(frame, frame)
    apart = LogicLNCL(limits=limits).fit(items, frame.drop("text"))

    np.testing.assert_allclose(both.estimate.beliefs, apart.estimate.beliefs, rtol=0, atol=1e-12)
    np.testing.assert_allclose(twice.estimate.beliefs, apart.estimate.beliefs, rtol=0, atol=1e-12)


def test_facts_about_unknown_items_are_said_by_a_fit() -> None:
    frame = label_rows()
    pairs = pl.DataFrame({"a": ["i0", "i1", "j1"], "b": ["i2", "i3", "i5"]})
    rules = "0.5: Similar(A, B) & Label(A, C) -> Label(B, C)"

    with pytest.warns(CrowdLogicWarning) as said:
        LogicLNCL(limits=TrainingLimits(epochs=2)).fit(
            frame, rules=rules, vocabulary=Vocabulary().table("Similar", pairs)
        )

    assert [str(one.message) for one in said] == [
        "the rules:1:6: the table of Similar: 1 of 3 facts are about items that are not here, such as 'j1', and were left "
        "out (here are i0, i1, i2, ...)."
    ]


def test_items_that_stand_in_every_row_of_their_labels_are_taken_once() -> None:
    frame, limits = label_rows(), TrainingLimits(epochs=2)

    learned = LogicLNCL(limits=limits).fit(frame.select("item", "text"), frame.drop("text"))

    assert learned.estimate.items.to_list() == [f"i{k}" for k in range(40)]
