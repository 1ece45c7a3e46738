"""A fit that keeps itself: interrupted and gone on with it ends as it would have, and a run works wherever it lies."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.learning.planted_likelihoods import plant_likelihoods

from crowdlogic.annotators.confusion import ConfusionMatrices
from crowdlogic.classifiers.linear import Linear
from crowdlogic.classifiers.scikit import Scikit
from crowdlogic.confidence.annotator_verdicts import annotator_table
from crowdlogic.data.corpus import documents
from crowdlogic.data.frames import from_arrays
from crowdlogic.data.simulate import simulate_sentiment
from crowdlogic.errors import CrowdLogicWarning, OptionError, RuleError
from crowdlogic.learning.algorithm import LogicLNCL
from crowdlogic.learning.baselines import TwoStage
from crowdlogic.learning.method import TrainingData
from crowdlogic.learning.saved_run import Run, load_run, train_run
from crowdlogic.learning.stopping import HeldOut, TrainingLimits
from crowdlogic.learning.training import HistoryRow
from crowdlogic.rules.parser import parse_rules, read_rules
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.projection.projector import Projector

REVIEWS = simulate_sentiment(5, items=60, test_items=30, annotators=10, labels_per_item=3)
BUT, BIO = parse_rules("1.0: include contrast('but')"), parse_rules("1.0: include bio")


def reviews(**more: Any) -> TrainingData:
    return replace(TrainingData(corpus=REVIEWS.corpus, labels=REVIEWS.labels, rules=BUT), **more)


class StopError(Exception):
    """Something went wrong in the middle."""


def stopping_after(epoch: int, how: type[BaseException], *, refit: bool = False) -> Any:
    def hear(row: HistoryRow, most: int) -> None:
        if (row.epoch, row.refit) == (epoch, refit):
            raise how

    return hear


def rows_of_features() -> TrainingData:
    rng = np.random.default_rng(0)
    truth = rng.integers(2, size=40)
    corpus = documents([f"d{i}" for i in range(40)], features=rng.normal(size=(40, 3)) + truth[:, None])
    rows = [(f"d{i}", f"a{j}", int(truth[i] ^ (rng.random() < 0.2))) for i in range(40) for j in range(4)]
    return TrainingData(corpus=corpus, labels=from_arrays(*map(list, zip(*rows, strict=True))))


def same(one: Run, other: Run) -> None:
    """Whether two runs are the same to the bit, but for how long they took."""
    for view, beliefs in one.record.views.items():
        np.testing.assert_array_equal(other.record.views[view], beliefs)
    np.testing.assert_array_equal(one.estimate.answer, other.estimate.answer)
    np.testing.assert_array_equal(one.learned.epoch.annotators.confusion, other.learned.epoch.annotators.confusion)
    for passes in ((one.history, other.history), (one.learned.refit_history, other.learned.refit_history)):
        rows = [[repr(replace(row, seconds=0)) for row in history] for history in passes]  # as text: nan is not nan
        assert rows[0] == rows[1]
    assert (one.learned.chosen, one.learned.averaged_from) == (other.learned.chosen, other.learned.averaged_from)
    assert one.record.model.keys() == other.record.model.keys()
    for name, array in one.record.model.items():
        np.testing.assert_array_equal(other.record.model[name], array)


def test_a_run_holds_what_the_brief_reader_looks_for(tmp_path: Path) -> None:
    run = train_run(tmp_path / "run", LogicLNCL(limits=TrainingLimits(epochs=3)), reviews(inputs={"labels": "l.csv"}))

    config = json.loads((tmp_path / "run" / "config.json").read_text())
    answers = pl.read_parquet(tmp_path / "run" / "labels.parquet")
    people = pl.read_parquet(tmp_path / "run" / "annotators.parquet")

    assert (config["status"], config["seed"], config["classes"]) == ("done", 0, ["negative", "positive"])
    assert config["inputs"] == {"labels": "l.csv"}
    assert config["method"]["classifier"]["name"] == "linear"
    assert config["rules"]["text"] == "1.0: include contrast('but')\n"
    np.testing.assert_array_equal(answers["p_positive"].to_numpy(), run.estimate.beliefs[:, 1])
    np.testing.assert_array_equal(answers["mixed_positive"].to_numpy(), run.learned.epoch.q_f[:, 1])
    np.testing.assert_array_equal(answers["crowd_positive"].to_numpy(), run.learned.epoch.q_a[:, 1])
    assert people.equals(annotator_table(run.learned.task.labels, run.estimate))
    assert len(run.record.audit) == 1
    assert len((tmp_path / "run" / "history.jsonl").read_text().splitlines()) == len(run.history)
    assert len((tmp_path / "run" / "refit.jsonl").read_text().splitlines()) == len(run.learned.refit_history)


def test_learnt_weights_of_rules_are_in_the_run(tmp_path: Path) -> None:
    rules = parse_rules("1: Contains(S, 'the') -> Label(S, 'positive')\n1: include contrast('but')")
    run = train_run(
        tmp_path / "run",
        LogicLNCL(learn_weights=True, limits=TrainingLimits(epochs=5)),
        reviews(rules=rules, dev=REVIEWS.test),
    )

    again = load_run(tmp_path / "run")

    assert run.teacher.factors is not None
    assert (run.teacher.factors != 1).any()
    np.testing.assert_array_equal(again.teacher.factors, run.teacher.factors)
    np.testing.assert_array_equal(again.predict(REVIEWS.test), run.predict(REVIEWS.test))


def test_what_was_never_computed_is_no_number_after_reading_either(tmp_path: Path) -> None:
    run = train_run(tmp_path / "run", TwoStage(limits=TrainingLimits(epochs=2)), reviews())

    again = load_run(tmp_path / "run")

    assert [repr(row) for row in again.history] == [repr(row) for row in run.history]
    assert np.isnan(again.history[0].objective)
    assert np.isnan(again.learned.epoch.objective)


def test_facts_and_word_lists_are_in_the_run(tmp_path: Path) -> None:
    names = REVIEWS.corpus.items.to_list()
    words = Vocabulary().table("Near", pl.DataFrame({"a": names[:20], "b": names[20:40], "truth": [0.5] * 20}))
    rules = parse_rules("1: Near(A, B) & Label(A, C) -> Label(B, C)")
    run = train_run(
        tmp_path / "run",
        LogicLNCL(learn_weights=False, limits=TrainingLimits(epochs=2)),
        reviews(rules=rules, vocabulary=words),
    )
    (tmp_path / "run").rename(tmp_path / "moved")

    again = load_run(tmp_path / "moved").explain(names[3]).rules

    before = run.explain(names[3]).rules
    assert again is not None
    assert before is not None
    np.testing.assert_allclose(again.share, before.share, rtol=0, atol=1e-12)
    assert np.abs(again.share).max() > 0.01


def test_a_run_whose_rules_name_a_group_of_word_lists_may_be_moved(tmp_path: Path) -> None:
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "good.txt").write_text("great\nlovely\n")
    (tmp_path / "given" / "fine.txt").write_text("the\n")
    text = "$LISTS = {'good.txt', 'fine.txt'}\n1: InList(S, $LISTS) -> Label(S, 'positive')\n"
    (tmp_path / "given" / "my.rules").write_text(text)
    run = train_run(
        tmp_path / "run",
        LogicLNCL(learn_weights=False, limits=TrainingLimits(epochs=2)),
        reviews(rules=read_rules(tmp_path / "given" / "my.rules")),
    )
    before = run.predict(REVIEWS.test)
    shutil.rmtree(tmp_path / "given")
    (tmp_path / "run").rename(tmp_path / "moved")

    moved = load_run(tmp_path / "moved")

    np.testing.assert_array_equal(moved.predict(REVIEWS.test), before)
    assert np.abs(before - moved.predict(REVIEWS.test, student=True)).max() > 0.01  # the lists have a say


def test_a_second_process_in_the_same_run_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    method, given = LogicLNCL(limits=TrainingLimits(epochs=3)), reviews()
    refused: list[str] = []

    def another(row: HistoryRow, _: int) -> None:
        files = {file: file.read_bytes() for file in (tmp_path / "run").rglob("*") if file.is_file()}
        if (row.epoch, row.refit) == (2, False):
            with pytest.raises(OptionError) as problem:
                train_run(tmp_path / "run", method, given, resume=True)
            refused.append(str(problem.value))
        assert {file: file.read_bytes() for file in (tmp_path / "run").rglob("*") if file.is_file()} == files

    train_run(tmp_path / "run", method, given, callback=another)

    assert refused == [
        f"{tmp_path / 'run'}: another process is training this run. Wait until it ends, or choose another folder."
    ]
    same(load_run(tmp_path / "run"), train_run(tmp_path / "alone", method, given))


def test_a_fit_that_fails_before_its_first_epoch_is_over_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(RuleError):
        train_run(tmp_path / "run", LogicLNCL(), reviews(rules=parse_rules("1: Contains(S, 'x') -> Label(S, 'no')")))

    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_in_the_first_epoch_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*given: Any, **options: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(ConfusionMatrices, "m_step", interrupted)

    with pytest.raises(KeyboardInterrupt):
        train_run(tmp_path / "run", LogicLNCL(), reviews())

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"labels": REVIEWS.labels.take(np.arange(REVIEWS.labels.n_labels - 1))}, "labels"),
        ({"rules": parse_rules("2.0: include contrast('but')")}, "rules"),
        ({"dev": REVIEWS.test}, "dev items"),
        ({"corpus": replace(REVIEWS.corpus, texts=("new", *REVIEWS.corpus.texts[1:]))}, "items"),
        ({"vocabulary": Vocabulary().table("Near", pl.DataFrame({"a": ["x"]}))}, "rules"),
        ({"method": LogicLNCL(projector=Projector(strength=4.0), limits=TrainingLimits(epochs=6))}, "options"),
        ({"method": LogicLNCL(limits=TrainingLimits(epochs=6, seed=1))}, "options"),
        ({"method": LogicLNCL(classifier=Linear(ridge=1.0), limits=TrainingLimits(epochs=6))}, "options"),
    ],
)
def test_a_run_is_not_gone_on_with_something_else(tmp_path: Path, change: dict[str, Any], what: str) -> None:
    with pytest.raises(StopError):
        train_run(
            tmp_path / "run",
            LogicLNCL(limits=TrainingLimits(epochs=6)),
            reviews(),
            callback=stopping_after(1, StopError),
        )
    method = change.pop("method", LogicLNCL(limits=TrainingLimits(epochs=6)))

    with pytest.raises(OptionError) as refused:
        train_run(tmp_path / "run", method, reviews(**change), resume=True)

    assert str(refused.value) == (
        f"{tmp_path / 'run'}: the checkpoint belongs to a fit with other {what}. Use those of the interrupted run, "
        f"or name another folder."
    )


def test_a_run_may_be_gone_on_with_for_longer(tmp_path: Path) -> None:
    train_run(tmp_path / "long", LogicLNCL(limits=TrainingLimits(epochs=5, patience=9)), reviews())
    with pytest.raises(StopError):
        train_run(
            tmp_path / "run",
            LogicLNCL(limits=TrainingLimits(epochs=2)),
            reviews(),
            callback=stopping_after(2, StopError),
        )

    train_run(tmp_path / "run", LogicLNCL(limits=TrainingLimits(epochs=5, patience=9)), reviews(), resume=True)

    same(load_run(tmp_path / "long"), load_run(tmp_path / "run"))


@pytest.mark.parametrize(("first", "then"), [(3, 8), (8, 3)])
def test_a_run_may_be_gone_on_with_for_longer_or_shorter_in_its_second_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: int, then: int
) -> None:
    """When its first pass goes on, other epochs are chosen, and the mean is of those; epochs that were run count."""
    plant_likelihoods(monkeypatch, [-5.0, -3.0, -4.0, -4.0, -4.0, -2.0, -4.0, -4.0])
    method = LogicLNCL(limits=TrainingLimits(epochs=first, held_out=HeldOut(average=3)))
    fresh = train_run(tmp_path / "fresh", replace(method, limits=replace(method.limits, epochs=8)), reviews())
    with pytest.raises(StopError):
        train_run(tmp_path / "run", method, reviews(), callback=stopping_after(3, StopError, refit=True))

    train_run(tmp_path / "run", replace(method, limits=replace(method.limits, epochs=then)), reviews(), resume=True)

    same(load_run(tmp_path / "fresh"), load_run(tmp_path / "run"))
    assert (fresh.learned.averaged_from, len(fresh.learned.refit_history)) == (6, 8)


def test_a_run_over_rows_of_features_explains_and_predicts(tmp_path: Path) -> None:
    given = rows_of_features()
    run = train_run(tmp_path / "run", LogicLNCL(limits=TrainingLimits(epochs=3)), given)

    again = load_run(tmp_path / "run")

    np.testing.assert_array_equal(again.predict(given.corpus), run.predict(given.corpus))
    np.testing.assert_array_equal(again.explain("d7").crowd.term, run.explain("d7").crowd.term)


def test_a_classifier_that_python_made_must_be_brought_along(tmp_path: Path) -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    scikit = Scikit(make_pipeline(StandardScaler(), LogisticRegression()))
    given = rows_of_features()
    with pytest.warns(CrowdLogicWarning) as said:
        run = train_run(tmp_path / "run", LogicLNCL(classifier=scikit, limits=TrainingLimits(epochs=2)), given)

    bare = load_run(tmp_path / "run")
    with pytest.raises(OptionError) as refused:
        bare.predict(given.corpus)
    again = load_run(tmp_path / "run", classifier=scikit)

    assert str(refused.value) == (
        f"{tmp_path / 'run'}: its classifier holds a Pipeline that was made in Python and is not saved with the run. Pass it when you load the run: crowdlogic.load_run('{tmp_path / 'run'}', classifier=classifier)."
    )
    np.testing.assert_array_equal(bare.to_frame()["label"], run.to_frame()["label"])
    np.testing.assert_array_equal(bare.explain("d7").crowd.term, run.explain("d7").crowd.term)
    assert [str(one.message) for one in said] == [
        f"{tmp_path / 'run'}: the classifier holds a Pipeline that was made in Python and is not saved with the run. Pass it when you load the run: crowdlogic.load_run('{tmp_path / 'run'}', classifier=classifier)."
    ]
    np.testing.assert_allclose(again.predict(given.corpus), run.predict(given.corpus), rtol=0, atol=1e-9)


def test_a_run_with_a_comparison_as_its_head_can_be_read_again(tmp_path: Path) -> None:
    rules = parse_rules("1.0: Label(S, C) & Contains(S, 'the') -> C != 'positive'")
    run = train_run(tmp_path / "run", LogicLNCL(limits=TrainingLimits(epochs=2)), reviews(rules=rules))

    again = load_run(tmp_path / "run")

    np.testing.assert_array_equal(again.predict(REVIEWS.test), run.predict(REVIEWS.test))


def test_a_run_is_not_resumed_with_another_word_list(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("good\n")
    (tmp_path / "my.rules").write_text("1: InList(S, 'words.txt') -> Label(S, 'positive')")
    method = LogicLNCL(limits=TrainingLimits(epochs=4))
    with pytest.raises(StopError):
        train_run(
            tmp_path / "run",
            method,
            reviews(rules=read_rules(tmp_path / "my.rules")),
            callback=stopping_after(2, StopError),
        )

    (tmp_path / "words.txt").write_text("good\nbad\n")
    with pytest.raises(OptionError, match="the checkpoint belongs to a fit with other word lists"):
        train_run(tmp_path / "run", method, reviews(rules=read_rules(tmp_path / "my.rules")), resume=True)
    (tmp_path / "words.txt").write_text("good\n")
    train_run(tmp_path / "run", method, reviews(rules=read_rules(tmp_path / "my.rules")), resume=True)


def test_saving_says_that_a_predicate_is_code_and_loading_takes_it_again(tmp_path: Path) -> None:
    def vocabulary() -> Vocabulary:
        made = Vocabulary()
        made.predicate("Shouting")(lambda texts: [float(text.isupper()) for text in texts])
        return made

    given = replace(reviews(rules=parse_rules("1: Shouting(S) -> Label(S, 'negative')")), vocabulary=vocabulary())

    with pytest.warns(CrowdLogicWarning) as said:
        run = train_run(tmp_path / "run", LogicLNCL(limits=TrainingLimits(epochs=2)), given)
    with pytest.raises(OptionError, match="its rules use Shouting, which was registered from Python"):
        load_run(tmp_path / "run")
    again = load_run(tmp_path / "run", vocabulary=vocabulary())

    assert [str(one.message) for one in said] == [
        f"{tmp_path / 'run'}: Shouting is Python code and not saved with the run. Pass the same predicates when you load it: "
        f"crowdlogic.load_run('{tmp_path / 'run'}', vocabulary=vocabulary). Commands only know predicates of installed packages (entry points of the group crowdlogic.predicates)."
    ]
    np.testing.assert_allclose(again.predict(given.corpus), run.predict(given.corpus), rtol=0, atol=1e-9)


def test_what_is_said_of_code_and_of_a_classifier_is_one_call(tmp_path: Path) -> None:
    """Whoever follows either warning can load the run."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    words = Vocabulary()
    words.predicate("Shouting")(lambda texts: [float(text.isupper()) for text in texts])
    pipeline = make_pipeline(CountVectorizer(), LogisticRegression())
    method = LogicLNCL(classifier=pipeline, limits=TrainingLimits(epochs=2))
    rules = "1: Shouting(S) -> Label(S, 'negative')"

    with pytest.warns(CrowdLogicWarning) as said:
        learned = method.fit(REVIEWS.corpus, REVIEWS.labels, rules=rules, vocabulary=words, save=tmp_path / "run")
    again = load_run(tmp_path / "run", vocabulary=words, classifier=pipeline)

    np.testing.assert_allclose(again.predict(REVIEWS.test), learned.predict(REVIEWS.test), rtol=0, atol=1e-9)
    call = f"load_run('{tmp_path / 'run'}', vocabulary=vocabulary, classifier=classifier)"
    assert len(said) == 2
    assert all(call in str(one.message) for one in said)
