"""`crowdlogic.aggregate` against the command of the same name."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import crowdlogic
from crowdlogic.data.estimate import Calibration
from crowdlogic.data.reading import write_labels
from crowdlogic.data.simulate import simulate_ner, simulate_sentiment
from crowdlogic.errors import OptionError
from crowdlogic.truth.methods import truth_method
from crowdlogic.workflows.aggregate import AggregateOptions
from crowdlogic.workflows.aggregate import aggregate_files as run_command
from crowdlogic.workflows.plots import plot_confidence, plot_reliability

METHODS = (None, "pool", "ensemble", "majority", "dawid-skene", "glad")


@pytest.fixture(scope="module")
def labels() -> crowdlogic.CrowdLabels:
    return simulate_sentiment(3, items=80, annotators=8).labels


def assert_same_calibration(one: Calibration | None, other: Calibration | None) -> None:
    """The rows of a file come in another order, so sums differ in the last digits."""
    if one is None or other is None:
        assert one is other
        return
    for name, value in asdict(one).items():
        assert getattr(other, name) == (pytest.approx(value) if isinstance(value, float) else value)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dependence", ["public", "none"])
def test_the_function_gives_the_figures_of_the_command(
    labels: crowdlogic.CrowdLabels, tmp_path: Path, method: str | None, dependence: str
) -> None:
    source = tmp_path / "labels.csv"
    write_labels(source, labels)
    done = run_command(
        AggregateOptions(labels=str(source), out=str(tmp_path / "t.csv"), method=method, seed=5, dependence=dependence)
    )

    for given in (labels, pl.read_csv(source), source):
        ours = crowdlogic.aggregate(given, method, seed=5, dependence=dependence)

        assert ours.method == done.method
        assert_same_calibration(ours.calibration, done.estimate.calibration)
        written = pl.read_csv(tmp_path / "t.csv").sort("item")
        table = ours.to_frame().sort("item")
        assert table["label"].to_list() == written["label"].to_list()
        np.testing.assert_allclose(table["confidence"], written["confidence"], rtol=0, atol=1e-9)


def test_known_truths_calibrate_as_with_the_command(labels: crowdlogic.CrowdLabels, tmp_path: Path) -> None:
    truth = dict(zip(labels.items.to_list()[:40], [str(labels.classes[i % 2]) for i in range(40)], strict=True))
    write_labels(tmp_path / "labels.csv", labels)
    pl.DataFrame({"item": list(truth), "label": list(truth.values())}).write_csv(tmp_path / "known.csv")
    done = run_command(
        AggregateOptions(
            labels=str(tmp_path / "labels.csv"), out=str(tmp_path / "t.csv"), anchors=str(tmp_path / "known.csv")
        )
    )

    ours = crowdlogic.aggregate(labels, anchors=truth)

    assert ours.calibration is not None
    assert ours.calibration.anchors == 40
    np.testing.assert_allclose(ours.beliefs, done.estimate.beliefs, rtol=0, atol=1e-9)


def test_sentences_are_aggregated_too() -> None:
    made = simulate_ner(0, items=20, annotators=4)

    found = crowdlogic.aggregate(made.labels)

    assert found.offsets is not None
    assert found.calibration is not None


@pytest.mark.parametrize("method", ["majority", "dawid-skene"])
def test_tables_and_figures_of_a_methods_own_posterior_are_those_of_the_command(
    labels: crowdlogic.CrowdLabels, method: str
) -> None:
    own, stated = truth_method(method).infer(labels), crowdlogic.aggregate(labels, method)

    assert crowdlogic.annotator_table(labels, own).equals(crowdlogic.annotator_table(labels, stated))
    assert plot_confidence(own, labels).svg == plot_confidence(stated, labels).svg


def test_figures_of_labels_are_those_of_the_default_method(labels: crowdlogic.CrowdLabels) -> None:
    stated = crowdlogic.aggregate(labels)

    assert stated.method == "pool"
    assert plot_reliability(labels).svg == plot_reliability(stated, labels).svg


def test_what_does_not_go_together_is_refused(labels: crowdlogic.CrowdLabels) -> None:
    with pytest.raises(OptionError, match=r"^dependence must be one of public, none; got 'much'"):
        crowdlogic.aggregate(labels, dependence="much")
    with pytest.raises(OptionError, match=r"^seed: a method passed as an object has its own"):
        crowdlogic.aggregate(labels, crowdlogic.MajorityVote(), seed=1)
