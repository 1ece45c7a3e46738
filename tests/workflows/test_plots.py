from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from crowdlogic import DawidSkene, LogicLNCL, TrainingLimits
from crowdlogic.data import from_arrays
from crowdlogic.data.simulate import Simulation, simulate_ner, simulate_sentiment
from crowdlogic.errors import DataError, OptionError
from crowdlogic.workflows.plots import (
    Figure,
    plot_agreement,
    plot_calibration,
    plot_confidence,
    plot_confusion,
    plot_reliability,
    plot_training,
)


@pytest.fixture(scope="module")
def crowd() -> Simulation:
    return simulate_sentiment(0, items=60, annotators=6)


def words(figure: Figure) -> str:
    """Every word of a figure, which must be a whole SVG document."""
    return " ".join(ElementTree.fromstring(figure.svg).itertext())  # noqa: S314 (our own document)


def test_figures_of_an_estimate(crowd: Simulation) -> None:
    estimate = DawidSkene().infer(crowd.labels)
    gold = {item: crowd.corpus.classes[k] for item, k in zip(crowd.corpus.items, crowd.corpus.gold, strict=True)}

    assert "Whom to trust" in words(plot_reliability(estimate, crowd.labels))
    assert "confidence" in words(plot_confidence(estimate, crowd.labels))
    assert "share that is right" in words(plot_calibration(estimate, crowd.labels, gold=gold))
    assert "Krippendorff" in words(plot_agreement(crowd.labels))


def test_the_confusion_of_one_annotator(crowd: Simulation) -> None:
    estimate = DawidSkene().infer(crowd.labels)
    name = str(crowd.labels.annotators[2])

    figure = plot_confusion(estimate, crowd.labels, annotator=name)

    assert figure.title == name
    assert all(str(one) in words(figure) for one in crowd.labels.classes)
    busiest = crowd.labels.annotators[int(crowd.labels.labels_per_annotator().argmax())]
    assert plot_confusion(estimate, crowd.labels).title == str(busiest)
    with pytest.raises(OptionError, match="No annotator is called 'nobody'"):
        plot_confusion(estimate, crowd.labels, annotator="nobody")


def test_figures_of_a_fit_and_of_a_run(crowd: Simulation, tmp_path: Path) -> None:
    from crowdlogic.learning import train_run
    from crowdlogic.learning.method import TrainingData

    method = LogicLNCL(limits=TrainingLimits(epochs=2, held_out=None))
    run = train_run(tmp_path / "run", method, TrainingData(corpus=crowd.corpus, labels=crowd.labels))

    for source in (run, run.learned):
        assert "epoch" in words(plot_training(source))
        assert "Whom to trust" in words(plot_reliability(source))
        assert "share that is right" in words(plot_calibration(source))
    with pytest.raises(DataError, match=r"This fit has no figure of stop\. There are"):
        plot_training(run, figure="stop")


def test_span_tags() -> None:
    made = simulate_ner(0, items=30, annotators=4)

    assert "span F1" in words(plot_reliability(made.labels))


def test_what_cannot_be_drawn_says_why(crowd: Simulation) -> None:
    estimate = DawidSkene().infer(crowd.labels)

    with pytest.raises(DataError, match=r"Pass them as well: plot_\.\.\.\(estimate, labels\)"):
        plot_reliability(estimate)
    with pytest.raises(DataError, match="There is no gold to compare with"):
        plot_calibration(estimate, crowd.labels)
    with pytest.raises(DataError, match="No item has two labels"):
        plot_agreement(from_arrays([], [], []))


def test_notebooks_show_it_and_files_keep_it(crowd: Simulation, tmp_path: Path) -> None:
    figure = plot_agreement(crowd.labels)

    assert figure._repr_svg_() == figure._repr_html_() == figure.svg
    assert figure.save(tmp_path / "a.svg").read_text() == figure.svg
    assert repr(figure) == "Figure('How far annotators agree')"
    with pytest.raises(OptionError, match=r"figures can only be saved as \.svg"):
        figure.save(tmp_path / "a.png")
