"""A fit that keeps itself: interrupted and gone on with it ends as it would have, and a run works wherever it lies."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.learning.planted_likelihoods import plant_likelihoods

from crowdlogic.annotators.sequential import Sequential
from crowdlogic.classifiers.crf import CRF
from crowdlogic.classifiers.scikit import Scikit
from crowdlogic.data.corpus import documents
from crowdlogic.data.frames import from_arrays
from crowdlogic.data.simulate import simulate_ner, simulate_sentiment
from crowdlogic.data.vectors import WordVectors
from crowdlogic.extensions.networks.crowd_methods import CrowdLayer, DoctorNets
from crowdlogic.extensions.networks.network import Training
from crowdlogic.extensions.paper.crf_ma import CRFMA
from crowdlogic.learning.algorithm import ConstantImitation, LogicLNCL
from crowdlogic.learning.baselines import Gold, TwoStage
from crowdlogic.learning.method import TrainingData
from crowdlogic.learning.saved_run import Run, load_run, train_run
from crowdlogic.learning.stopping import HeldOut, TrainingLimits
from crowdlogic.learning.training import HistoryRow
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.projection.projector import Projector
from crowdlogic.truth.bsc_seq import BSCSeq

REVIEWS = simulate_sentiment(5, items=60, test_items=30, annotators=10, labels_per_item=3)
SENTENCES = simulate_ner(5, items=24, test_items=10, annotators=5, labels_per_item=3)
BUT, BIO = parse_rules("1.0: include contrast('but')"), parse_rules("1.0: include bio")


def reviews(**more: Any) -> TrainingData:
    return replace(TrainingData(corpus=REVIEWS.corpus, labels=REVIEWS.labels, rules=BUT), **more)


def sentences(**more: Any) -> TrainingData:
    given = TrainingData(corpus=SENTENCES.corpus, labels=SENTENCES.labels, rules=BIO, watched={"test": SENTENCES.test})
    return replace(given, **more)


def small_cnn(kind: str) -> Any:
    pytest.importorskip("torch")
    from crowdlogic.extensions.networks.bilstm_crf import BiLSTMCRF
    from crowdlogic.extensions.networks.cnn_gru import CNNGRU
    from crowdlogic.extensions.networks.kim_cnn import KimCNN
    from crowdlogic.extensions.networks.mlp import MLP

    rng = np.random.default_rng(0)
    words = sorted({word for text in REVIEWS.corpus.texts for word in text.split()} | set(SENTENCES.corpus.tokens))
    vectors = WordVectors(tuple(words[::2]), rng.normal(size=(len(words[::2]), 6)).astype(np.float32))
    if kind == "bilstm-crf":
        return BiLSTMCRF(vectors=vectors, hidden_size=5, training=Training(learning_rate=1e-2, batch_size=4))
    if kind == "mlp":
        return MLP(hidden_size=4)
    if kind == "kim-cnn":
        return KimCNN(vectors=vectors, windows=(2, 3), filters=4)
    return CNNGRU(vectors=vectors, filters=5, hidden_size=4)


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


CASES = {
    "linear": (LogicLNCL(limits=TrainingLimits(epochs=6, patience=6)), reviews()),
    "linear tagger with learnt weights": (
        LogicLNCL(learn_weights=True, loss="annotators", limits=TrainingLimits(epochs=3)),
        sentences(),
    ),
    "sequential annotators": (LogicLNCL(annotators=Sequential(), limits=TrainingLimits(epochs=3)), sentences()),
    "kim-cnn": (LogicLNCL(classifier="kim-cnn", limits=TrainingLimits(epochs=3, seed=3)), reviews(dev=REVIEWS.test)),
    "cnn-gru": (
        LogicLNCL(
            classifier="cnn-gru",
            projector=Projector(transitions="estimated", preset="transitions"),
            limits=TrainingLimits(epochs=3),
        ),
        sentences(),
    ),
    "bilstm-crf": (
        LogicLNCL(
            classifier="bilstm-crf",
            annotators=Sequential(),
            start=BSCSeq(),
            imitation=ConstantImitation(0.4),
            warm_up=3,
            limits=TrainingLimits(epochs=4),
        ),
        sentences(),
    ),
    "bilstm-crf with dev": (
        LogicLNCL(classifier="bilstm-crf", annotators=Sequential(), limits=TrainingLimits(epochs=3)),
        sentences(dev=SENTENCES.test),
    ),
    "mlp": (LogicLNCL(classifier="mlp", limits=TrainingLimits(epochs=3)), rows_of_features()),
    "a forest": (
        LogicLNCL(classifier=Scikit("RandomForestClassifier", {"n_estimators": 3}), limits=TrainingLimits(epochs=3)),
        rows_of_features(),
    ),
    "two stages": (TwoStage(limits=TrainingLimits(epochs=4)), reviews()),
    "kim-cnn without dev": (LogicLNCL(classifier="kim-cnn", limits=TrainingLimits(epochs=3, seed=3)), reviews()),
    "a crowd layer": (CrowdLayer("kim-cnn", limits=TrainingLimits(epochs=3)), reviews(rules=None)),
    "weighted doctor nets": (DoctorNets("mlp", weighted=True, limits=TrainingLimits(epochs=3)), rows_of_features()),
    "crf-ma": (CRFMA(CRF(steps=5), first_steps=10, limits=TrainingLimits(epochs=3)), sentences(rules=None)),
    "gold": (Gold(limits=TrainingLimits(epochs=4)), reviews()),
}


def case(name: str) -> tuple[Any, TrainingData]:
    method, given = CASES[name]
    return (
        replace(method, classifier=small_cnn(method.classifier)) if isinstance(method.classifier, str) else method
    ), given


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


@dataclass(frozen=True)
class Whole:
    """A run of a case that nothing stopped, and the folder that it was moved to."""

    fitted: Run
    folder: Path


@pytest.fixture(scope="module")
def train_whole(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Whole]:
    """Trains a case without an interruption, once for all tests, and moves the run."""
    made, moved = tmp_path_factory.mktemp("made"), tmp_path_factory.mktemp("moved")

    @cache
    def train(name: str) -> Whole:
        method, given = case(name)
        fitted = train_run(made / "run", method, given)
        return Whole(fitted, (made / "run").rename(moved / name))

    return train


@pytest.mark.parametrize(("name", "how"), [("linear", KeyboardInterrupt), *((name, StopError) for name in CASES)])
def test_a_run_that_was_stopped_ends_as_it_would_have(
    tmp_path: Path, train_whole: Callable[[str], Whole], name: str, how: type[BaseException]
) -> None:
    method, given = case(name)
    whole = train_whole(name)

    with pytest.raises(how):
        train_run(tmp_path / "stopped", method, given, callback=stopping_after(2, how))
    status = json.loads((tmp_path / "stopped" / "config.json").read_text())["status"]
    train_run(tmp_path / "stopped", method, given, resume=True)

    assert status == "interrupted"
    same(load_run(whole.folder), load_run(tmp_path / "stopped"))
    assert not (tmp_path / "stopped" / "checkpoint").exists()


@pytest.mark.parametrize(
    "name",
    ["linear", "linear tagger with learnt weights", "sequential annotators", "cnn-gru", "bilstm-crf", "two stages"],
)
@pytest.mark.parametrize("how", ["stopped", "stopped in both passes", "stopped between the passes"])
def test_a_run_that_was_stopped_in_its_second_pass_ends_as_it_would_have(
    tmp_path: Path, train_whole: Callable[[str], Whole], name: str, how: str
) -> None:
    method, given = case(name)
    whole = train_whole(name)

    stops = [(2, False)] if how == "stopped in both passes" else []
    stops.append((len(whole.fitted.history), False) if how == "stopped between the passes" else (1, True))
    for at, (epoch, refit) in enumerate(stops):
        with pytest.raises(StopError):
            train_run(
                tmp_path / "stopped",
                method,
                given,
                resume=at > 0,
                callback=stopping_after(epoch, StopError, refit=refit),
            )
    heard: list[tuple[int, bool]] = []
    train_run(
        tmp_path / "stopped",
        method,
        given,
        resume=True,
        callback=lambda row, _: heard.append((row.epoch, row.refit)),
    )

    first = 1 if how == "stopped between the passes" else 2
    assert heard == [(epoch, True) for epoch in range(first, len(whole.fitted.learned.refit_history) + 1)]
    same(load_run(whole.folder), load_run(tmp_path / "stopped"))
    assert not list((tmp_path / "stopped").glob("checkpoint*"))


@pytest.mark.parametrize(
    "name", ["linear", "linear tagger with learnt weights", "sequential annotators", "kim-cnn", "cnn-gru"]
)
def test_a_run_that_was_moved_predicts_and_explains_as_the_fit_did(
    train_whole: Callable[[str], Whole], name: str
) -> None:
    made = REVIEWS if CASES[name][1].corpus.offsets is None else SENTENCES
    fitted = train_whole(name).fitted

    moved = load_run(train_whole(name).folder)

    for student in (True, False):
        np.testing.assert_allclose(
            moved.predict(made.test, student=student), fitted.predict(made.test, student=student), rtol=0, atol=1e-12
        )
    assert np.abs(moved.predict(made.test) - moved.predict(made.test, student=True)).max() > 1e-3  # rules have a say
    item = made.corpus.items[7]
    before, after = fitted.explain(item), moved.explain(item)
    for part in ("classifier", "normaliser", "q_a", "q_b", "q_f"):
        np.testing.assert_array_equal(getattr(before, part), getattr(after, part))
    np.testing.assert_array_equal(before.crowd.term, after.crowd.term)
    assert before.crowd.annotator == after.crowd.annotator
    assert before.rules is not None
    assert after.rules is not None
    np.testing.assert_allclose(before.rules.share, after.rules.share, rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", ["linear", "kim-cnn without dev", "a crowd layer", "weighted doctor nets"])
def test_a_mean_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    method, given = case(name)
    method = replace(method, limits=replace(method.limits, epochs=5, held_out=HeldOut(average=4)))
    plant_likelihoods(monkeypatch, [-3.0, -1.0, -2.0, -2.0, -2.0])
    whole = train_run(tmp_path / "whole", method, given)

    for stop in (2, 3, 4):
        with pytest.raises(StopError):
            train_run(
                tmp_path / "stopped",
                method,
                given,
                resume=stop > 2,
                callback=stopping_after(stop, StopError, refit=True),
            )
    train_run(tmp_path / "stopped", method, given, resume=True)

    assert (whole.learned.averaged_from, len(whole.learned.refit_history)) == (2, 5)
    same(load_run(tmp_path / "whole"), load_run(tmp_path / "stopped"))
    np.testing.assert_array_equal(whole.learned.epoch.p, whole.learned.classifier.predict_proba(given.corpus))
