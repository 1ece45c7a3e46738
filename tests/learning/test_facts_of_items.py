"""Tables of facts are about items, not about names: other items of the same name do not inherit them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from crowdlogic.data.corpus import Corpus, documents
from crowdlogic.data.simulate import simulate_sentiment
from crowdlogic.errors import RuleError
from crowdlogic.learning.algorithm import LogicLNCL
from crowdlogic.learning.saved_run import Run, load_run
from crowdlogic.learning.stopping import TrainingLimits
from crowdlogic.rules.predicates import Vocabulary


def numbered(texts: list[str]) -> Corpus:
    return documents([str(n) for n in range(len(texts))], texts)


SIMILAR = "0.5: Similar(A, B) & Label(A, C) -> Label(B, C)"
PAIR = pl.DataFrame({"a": ["0"], "b": ["1"]})


@pytest.fixture(scope="module")
def similar(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run with facts about its training items, which are called 0, 1, ..."""
    made = simulate_sentiment(3, items=60, test_items=20, annotators=6, labels_per_item=3)
    corpus = replace(numbered(list(made.corpus.texts or ())), classes=made.corpus.classes, gold=made.corpus.gold)
    crowd = replace(made.labels, items=corpus.items)
    method = LogicLNCL(learn_weights=False, limits=TrainingLimits(epochs=2))
    folder = tmp_path_factory.mktemp("run") / "run"
    method.fit(corpus, crowd, rules=SIMILAR, vocabulary=Vocabulary().table("Similar", PAIR), save=folder)
    return load_run(folder)


@pytest.mark.parametrize("loaded", [False, True])
def test_facts_are_not_applied_to_other_items_of_the_same_name(similar: Run, loaded: bool) -> None:
    run = load_run(similar.folder) if loaded else similar.learned
    others = numbered(["a fine plot", "not so good, but short"])

    with pytest.raises(RuleError, match=r"given for other items, one of which is called '0'.*--table Similar=FILE"):
        run.predict(others)
    with pytest.raises(RuleError, match="given for other items"):
        run.predict_labels(others)

    about_them = Vocabulary().table("Similar", pl.DataFrame({"a": ["1"], "b": ["0"]}))
    student = run.predict(others, student=True, calibrated=False)
    teacher = run.predict(others, vocabulary=about_them, calibrated=False)
    assert np.abs(student - teacher).max() > 1e-3
    unrelated = Vocabulary().table("Similar", pl.DataFrame({"a": ["x"], "b": ["y"]}))
    np.testing.assert_allclose(run.predict(others, vocabulary=unrelated, calibrated=False), student)


def test_facts_given_when_a_run_is_loaded_are_about_new_items(similar: Run) -> None:
    others = numbered(["a fine plot", "not so good, but short"])
    about_them = Vocabulary().table("Similar", pl.DataFrame({"a": ["1"], "b": ["0"]}))

    again = load_run(similar.folder, vocabulary=about_them)

    np.testing.assert_allclose(again.predict(others), similar.predict(others, vocabulary=about_them))
    training = similar.learned.task.corpus
    np.testing.assert_allclose(again.predict(training), similar.predict(training))


def test_facts_hold_for_the_training_items_read_again_and_for_items_of_other_names(similar: Run) -> None:
    training = similar.learned.task.corpus
    again = replace(training, features=None)
    renamed = replace(training, items=pl.Series([f"n{i}" for i in range(len(training.items))]))

    np.testing.assert_allclose(similar.predict(again), similar.predict(training))
    np.testing.assert_allclose(
        similar.predict(renamed, calibrated=False), similar.predict(renamed, student=True, calibrated=False)
    )


def test_dev_items_of_the_same_names_as_training_items_are_refused() -> None:
    made = simulate_sentiment(3, items=60, test_items=20, annotators=6, labels_per_item=3)
    corpus = replace(numbered(list(made.corpus.texts or ())), classes=made.corpus.classes, gold=made.corpus.gold)
    dev = replace(numbered(list(made.test.texts or ())), classes=made.test.classes, gold=made.test.gold)
    facts = Vocabulary().table("Similar", PAIR)

    with pytest.raises(RuleError, match="given for other items"):
        LogicLNCL(limits=TrainingLimits(epochs=2)).fit(
            corpus, replace(made.labels, items=corpus.items), rules=SIMILAR, vocabulary=facts, dev=dev
        )
