"""The classifier that `train` chooses where users name none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import crowdlogic
from crowdlogic.annotators.confusion import ConfusionMatrices
from crowdlogic.data.reading import write_corpus, write_labels
from crowdlogic.data.simulate import simulate_ner, simulate_sentiment
from crowdlogic.errors import MissingExtraError, OptionError
from crowdlogic.learning.choice import Cost, Workload, choose_classifier
from crowdlogic.registry import CLASSIFIERS, COSTS
from crowdlogic.workflows.train import TrainOptions, parse_time, prepare_training

MADE = simulate_sentiment(0, items=120, annotators=8, labels_per_item=4)


def planted(n: int = 1200, *, seed: int = 0) -> tuple[crowdlogic.CrowdLabels, crowdlogic.Corpus]:
    """Labels whose truth is the exclusive or of the signs of two features: no linear model can learn it."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, 2))
    truth = ((features[:, 0] > 0) ^ (features[:, 1] > 0)).astype(int)
    votes = np.where(rng.random((n, 3)) < 0.8, truth[:, None], 1 - truth[:, None])
    rows = {"item": np.repeat(np.arange(n), 3), "annotator": np.tile(["a", "b", "c"], n), "label": votes.ravel()}
    return crowdlogic.from_frame(pl.DataFrame(rows)), crowdlogic.Corpus(pl.Series(range(n)), features=features)


def test_a_network_is_chosen_where_a_linear_model_cannot_learn() -> None:
    pytest.importorskip("torch", reason="torch is not installed: pip install crowdlogic[torch]")
    labels, corpus = planted()

    choice = choose_classifier(labels, corpus, model=ConfusionMatrices())

    assert choice.name == "mlp"
    assert choice.log_likelihood["mlp"] > choice.log_likelihood["linear"] + 0.05
    assert choice.reason.startswith("mlp was chosen: its predictions of held-out crowd labels")


def test_a_small_set_needs_no_trial_and_imports_no_network() -> None:
    choice = choose_classifier(MADE.labels, MADE.corpus, model=ConfusionMatrices())

    assert (choice.name, choice.log_likelihood) == ("linear", {})
    assert choice.reason == "linear was chosen: no other installed classifier suits the size of the data and the time."


def test_a_few_sentences_are_tagged_without_a_trial() -> None:
    made = simulate_ner(0, items=6, annotators=3)

    choice = choose_classifier(made.labels, made.corpus, model=ConfusionMatrices())

    assert (choice.name, choice.log_likelihood) == ("linear", {})


def test_what_takes_too_long_or_is_missing_is_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    costs = {"linear": Cost(0.1), "slow": Cost(30.0), "absent": Cost(1.0)}
    monkeypatch.setattr(COSTS, "_places", dict.fromkeys(costs, ""))
    monkeypatch.setattr(COSTS, "load", lambda name: lambda work: costs[name])
    create = CLASSIFIERS.create

    def make(name: str) -> object:
        if name == "absent":
            raise MissingExtraError("absent needs torch, which is not installed: pip install crowdlogic[torch]")
        return create("linear")

    monkeypatch.setattr(CLASSIFIERS, "create", make)

    choice = choose_classifier(MADE.labels, MADE.corpus, model=ConfusionMatrices(), seconds=600)

    assert choice.reason == (
        "linear was chosen: no other installed classifier suits the size of the data and the time. absent may do better: "
        "pip install crowdlogic[torch]. slow may do better and takes about 20 minutes: --time 20m."
    )


@pytest.mark.parametrize("name", sorted(COSTS))
def test_every_estimate_belongs_to_a_classifier_and_grows_with_the_data(name: str) -> None:
    sizes = [
        Workload(items=2000, tokens=60_000, features=20, classes=3, sequential=sequential)
        for sequential in (True, False)
    ]
    work = next(one for one in sizes if COSTS.load(name)(one) is not None)
    larger = Workload(items=4000, tokens=120_000, features=20, classes=3, sequential=work.sequential)

    assert name in CLASSIFIERS
    assert 1.5 < COSTS.load(name)(larger).total / COSTS.load(name)(work).total < 3


@pytest.mark.parametrize(("text", "seconds"), [("90", 90), ("90s", 90), ("5m", 300), ("1.5h", 5400)])
def test_a_time_has_a_unit(text: str, seconds: float) -> None:
    assert parse_time(text) == seconds


@pytest.mark.parametrize("text", ["", "0", "soon", "-5m", "5 days"])
def test_a_bad_time_is_refused(text: str) -> None:
    with pytest.raises(OptionError, match=r"--time: .* is not a time\. Write a number with a unit"):
        parse_time(text)


def stop(row: object, most: int) -> None:
    raise RuntimeError("stopped")


def test_the_reason_is_printed_and_a_resumed_run_does_not_choose_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_labels(tmp_path / "labels.csv", MADE.labels)
    write_corpus(tmp_path / "items.csv", MADE.corpus)
    options = TrainOptions(labels=str(tmp_path / "labels.csv"), items=str(tmp_path / "items.csv"), epochs=2)

    prepared = prepare_training(options, tmp_path / "run")
    with pytest.raises(RuntimeError, match="stopped"):
        prepared.train(callback=stop)
    monkeypatch.setattr("crowdlogic.workflows.train.choose_classifier", lambda *_, **__: pytest.fail("chose again"))
    resumed = prepare_training(TrainOptions(epochs=3), tmp_path / "run", resume=True)

    assert prepared.notices[0].startswith("linear was chosen")
    assert resumed.inputs.method.classifier.name == "linear"


def test_whoever_names_a_model_or_a_preset_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crowdlogic.workflows.train.choose_classifier", lambda *_, **__: pytest.fail("chose"))

    learned = crowdlogic.train(MADE.labels, MADE.corpus, model="prior", epochs=1)

    assert type(learned.classifier).__name__ == "PriorClassifier"
