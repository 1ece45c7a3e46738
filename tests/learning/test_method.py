"""Every learning method is options and two ways to fit."""

from __future__ import annotations

import pickle
from dataclasses import fields, is_dataclass
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from crowdlogic.classifiers.linear import Linear
from crowdlogic.data.corpus import documents
from crowdlogic.data.frames import from_frame
from crowdlogic.data.simulate import simulate_sentiment
from crowdlogic.errors import CorpusError, CrowdLogicWarning, OptionError
from crowdlogic.learning.algorithm import LogicLNCL
from crowdlogic.learning.method import FitMixin, LearningMethod, TrainingData
from crowdlogic.learning.saved_run import load_run
from crowdlogic.learning.stopping import TrainingLimits
from crowdlogic.registry import LEARNING_METHODS
from crowdlogic.rules.checking import check
from crowdlogic.rules.parser import as_rules, parse_rules
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.projection.projector import Projector

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


def test_texts_are_matched_with_their_items_by_name() -> None:
    """A dictionary, and a series with the items as its index, in any order."""
    names, texts = MADE.corpus.items.to_list(), list(MADE.corpus.texts or ())
    mixed = np.random.default_rng(0).permutation(len(names)).tolist()
    given = {names[at]: texts[at] for at in mixed}
    method = LogicLNCL(limits=TrainingLimits(epochs=1))

    whole = method.fit(MADE.corpus, MADE.labels)
    by_name = method.fit(given, MADE.labels)
    by_index = method.fit(pd.Series(given), MADE.labels.to_pandas())

    for found in (by_name, by_index):
        assert dict(zip(found.task.corpus.items, found.task.corpus.texts, strict=True)) == given
        assert found.explain(names[0]).item == whole.explain(names[0]).item


def test_texts_without_names_beside_mixed_rows_are_refused() -> None:
    rows = MADE.labels.to_frame().sample(fraction=1, shuffle=True, seed=1)
    method = LogicLNCL(limits=TrainingLimits(epochs=1))

    with pytest.raises(
        CorpusError, match=r"texts cannot be matched to items\. Pass a frame with item and text, or a dict"
    ):
        method.fit(list(MADE.corpus.texts or ()), rows)
    with pytest.raises(CorpusError, match="texts cannot be matched to items"):
        method.fit(list(MADE.corpus.texts or ()), from_frame(rows))
    method.fit(list(MADE.corpus.texts or ()), MADE.labels)


def test_dev_may_be_a_frame_and_known_truths_a_series() -> None:
    test = MADE.test
    gold = [test.classes[int(code)] for code in np.asarray(test.gold)]
    frame = pd.DataFrame({"item": test.items.to_list(), "text": test.texts, "label": gold})
    known = pd.Series({MADE.corpus.items[0]: MADE.labels.classes[0]})
    method = LogicLNCL(limits=TrainingLimits(epochs=1))

    found = method.fit(MADE.corpus, MADE.labels, dev=frame, anchors=known)

    whole = method.fit(MADE.corpus, MADE.labels, dev=test, anchors=known.to_dict())
    np.testing.assert_array_equal(found.epoch.q_f, whole.epoch.q_f)


def test_rules_may_be_text_wherever_they_are_taken() -> None:
    text = "1.0: include contrast('but')"

    assert check(text) == check(RULES)
    assert Projector(rules=text).rules.statements == RULES.statements


@pytest.mark.parametrize("rules", [["1.0: include contrast('but')"], ("1.0: include contrast('but')",)], ids=str)
def test_a_list_of_rules_is_their_text(rules: Any) -> None:
    found = as_rules(rules)

    assert found is not None
    assert len(found.statements) == len(RULES.statements)


def test_what_was_learnt_with_a_pipeline_can_be_pickled_by_those_who_do() -> None:
    pipeline = make_pipeline(TfidfVectorizer(), LogisticRegression())
    learned = LogicLNCL(pipeline, limits=TrainingLimits(epochs=1)).fit(MADE.corpus, MADE.labels)

    again = pickle.loads(pickle.dumps(learned))  # noqa: S301 (our own bytes)

    np.testing.assert_array_equal(again.predict(["fine"]), learned.predict(["fine"]))


@pytest.mark.filterwarnings("ignore:.*the classifier holds a Pipeline:crowdlogic.errors.CrowdLogicWarning")
@pytest.mark.parametrize(
    ("other", "said"),
    [
        (
            make_pipeline(TfidfVectorizer(lowercase=False), LogisticRegression()),
            r"estimator was Pipeline\(.* and is now Pipeline",
        ),
        ("linear", "name was 'scikit' and is now 'linear'"),
    ],
    ids=["pipeline", "linear"],
)
def test_a_run_is_not_loaded_with_another_classifier(tmp_path: Path, other: Any, said: str) -> None:
    pipeline = make_pipeline(TfidfVectorizer(), LogisticRegression())
    method = LogicLNCL(pipeline, limits=TrainingLimits(epochs=1))
    learned = method.fit(MADE.corpus, MADE.labels, save=tmp_path / "run")

    with pytest.raises(OptionError, match=f"run: was trained with a different classifier: {said}"):
        load_run(tmp_path / "run", classifier=other)
    again = load_run(tmp_path / "run", classifier=make_pipeline(TfidfVectorizer(), LogisticRegression()))
    np.testing.assert_allclose(again.predict(["fine"]), learned.predict(["fine"]))
