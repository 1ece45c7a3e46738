"""The report's figures for notebooks: `plot_reliability`, `plot_confusion`, `plot_calibration`, `plot_agreement`, ...

Each returns a Figure that Jupyter, marimo and VS Code display, and that can be saved. The pages of the report draw the
figures, so they look the same in a notebook and in the report.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any

from crowdlogic.data.corpus import Corpus, documents
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.files import write_bytes
from crowdlogic.data.labels import CrowdLabels, find_codes
from crowdlogic.errors import DataError, OptionError, did_you_mean
from crowdlogic.learning.learned import Learned
from crowdlogic.learning.saved_run import Run, to_record
from crowdlogic.learning.training import HistoryRow
from crowdlogic.registry import PAGES
from crowdlogic.reporting.charts import Plot
from crowdlogic.reporting.figures import standalone_svg
from crowdlogic.reporting.inputs import Context, ReportInputs, inputs_from_estimate, inputs_from_run
from crowdlogic.truth.fitting import Progress
from crowdlogic.workflows.aggregate import aggregate, calibrate

Source = Run | Learned | Estimate | CrowdLabels
"""Sources of a figure: a run, a fit, an estimate (with its labels), or labels, which are aggregated with the defaults
of `crowdlogic.aggregate`. An estimate that a truth method's `infer` returned is calibrated first."""


@dataclass(frozen=True, eq=False)
class Figure:
    """A figure of the report.

    Attributes:
        title: Title of the figure.
        svg: The figure as an SVG document with title, legend and colours.
    """

    title: str
    svg: str

    def _repr_svg_(self) -> str:
        return self.svg

    def _repr_html_(self) -> str:
        return self.svg

    def save(self, path: str | Path) -> Path:
        """Write the figure to an .svg file and return its path."""
        if Path(path).suffix != ".svg":
            raise OptionError(f"{path}: figures can only be saved as .svg. Name a file with that suffix.")
        write_bytes(Path(path), self.svg.encode())
        return Path(path)

    def __repr__(self) -> str:
        return f"Figure({self.title!r})"


def plot_reliability(source: Source, labels: CrowdLabels | None = None, *, gold: Any = None) -> Figure:
    """Plot each annotator's reliability, with its interval, against the number of labels.

    Args:
        source: A run, a fit, an estimate (then with its labels), or labels alone.
        labels: The labels of an estimate.
        gold: The truth of some items, as {item: class} or Answers.
    """
    return _figure(_inputs(source, labels, gold), "annotators", "reliability", "There is no annotator to draw.")


def plot_confusion(
    source: Source, labels: CrowdLabels | None = None, *, annotator: Any = None, gold: Any = None
) -> Figure:
    """Plot the confusion matrix of an annotator; by default, the one with the most labels.

    Args:
        source: A run, a fit, an estimate (then with its labels), or labels alone.
        labels: The labels of an estimate.
        annotator: The name of an annotator.
        gold: The truth of some items, as {item: class} or Answers.
    """
    inputs = _inputs(source, labels, gold)
    names = [str(name) for name in inputs.labels.annotators]
    if annotator is None:
        annotator = names[int(inputs.labels.labels_per_annotator().argmax())]
    if str(annotator) not in names:
        raise OptionError(f"No annotator is called {annotator!r}.{did_you_mean(str(annotator), names)}")
    chosen = inputs.labels.annotators.filter(inputs.labels.annotators.cast(str) == str(annotator))
    estimate, codes = inputs.estimate, find_codes(chosen.to_list(), inputs.labels.annotators, "annotator")
    alone = ReportInputs(
        labels=inputs.labels.select(annotators=chosen.to_list()),
        estimate=replace(
            estimate,
            annotators=chosen,
            confusion=None if estimate.confusion is None else estimate.confusion[codes],
            reliability=None if estimate.reliability is None else estimate.reliability[codes],
        ),
        corpus=inputs.corpus,
        gold=inputs.gold,
    )
    return _figure(alone, "annotators", "confusion-1", f"{annotator} gave no labels.")


def plot_calibration(source: Source, labels: CrowdLabels | None = None, *, gold: Any = None) -> Figure:
    """Plot the accuracy of answers against their confidence, by gold.

    Args:
        source: A run, a fit, an estimate (then with its labels), or labels alone.
        labels: The labels of an estimate.
        gold: The truth of some items, as {item: class} or Answers; a run may have its own.
    """
    missing = "There is no gold to compare with. Pass gold = {item: class}."
    return _figure(_inputs(source, labels, gold), "overview", "calibration", missing)


def plot_agreement(source: Source, labels: CrowdLabels | None = None) -> Figure:
    """Plot every coefficient of agreement with its interval.

    Args:
        source: A run, a fit, an estimate (then with its labels), or labels alone.
        labels: The labels of an estimate.
    """
    inputs = _inputs(source, labels, None)
    if inputs.labels.labels_per_unit().max(initial=0) < 2:
        raise DataError("No item has two labels, so there is no agreement to draw.")
    return _figure(inputs, "overview", "agreement", "There is no agreement to draw.")


def plot_confidence(source: Source, labels: CrowdLabels | None = None) -> Figure:
    """Plot the distribution of confidence.

    Args:
        source: A run, a fit, an estimate (then with its labels), or labels alone.
        labels: The labels of an estimate.
    """
    return _figure(_inputs(source, labels, None), "labels", "confidence", "There is no answer to draw.")


def plot_training(source: Run | Learned, *, figure: str = "loss") -> Figure:
    """Plot training by epoch.

    Args:
        source: A run or a fit.
        figure: Name of the figure: loss, scores, stopping, convergence, views or student-teacher.
    """
    return _figure(_inputs(source, None, None), "training", figure, f"This fit has no figure of {figure}.")


def _inputs(source: Source, labels: CrowdLabels | None, gold: Any) -> ReportInputs:
    """Return the inputs of a report on the source."""
    if isinstance(source, CrowdLabels):
        return _inputs(aggregate(source), source, gold)
    if isinstance(source, Estimate):
        if labels is None:
            raise DataError("An estimate does not contain the labels. Pass them as well: plot_...(estimate, labels).")
        source = calibrate(labels, source)
        truth = _gold_corpus(source, gold) if isinstance(gold, Mapping) else None
        return inputs_from_estimate(source, labels, truth, None if truth is not None else gold)
    record = source.record if isinstance(source, Run) else to_record(source, {"method": {}})
    if isinstance(gold, Mapping):
        return inputs_from_estimate(record.estimate, record.labels, _gold_corpus(record.estimate, gold))
    return inputs_from_run(record, gold)


def _gold_corpus(estimate: Estimate, gold: Mapping[Any, Any]) -> Corpus:
    if estimate.offsets is not None:
        raise OptionError("gold: for sentences give Answers (read_answers), not a mapping.")
    return documents(estimate.items.to_list(), gold=[gold.get(item) for item in estimate.items.to_list()])


def _figure(inputs: ReportInputs, page: str, name: str, missing: str) -> Figure:
    """Return one plot of a page of the report."""
    made = PAGES.load(page)
    found = made.compute(Context(inputs=inputs))
    groups: Sequence[Sequence[Plot]] = () if found is None else tuple(made.draw(found, inputs.task).values())
    plots = {plot.name: plot for group in groups for plot in group}
    if name not in plots:
        others = f" There are {', '.join(plots)}." if page == "training" and plots else ""
        raise DataError(f"{missing}{others}")
    return Figure(plots[name].title, standalone_svg(plots[name]))


# Progress of a fit in a notebook: one line that is updated in place.
#
# DawidSkene().infer(labels, fitting=Fitting(progress=NotebookProgress()))
# LogicLNCL().fit(corpus, labels, callback=NotebookProgress())

PAUSE = 0.1
"""Seconds between two updates; the last state is always shown."""


class NotebookProgress:
    """Callback that shows the progress of truth methods (`Fitting.progress`) and learning methods (`callback`).

    Outside of notebooks it displays nothing. The attribute `text` contains the last state.
    """

    def __init__(self) -> None:
        self.text = ""
        self._handle: Any = None
        self._shown = 0.0

    def __call__(self, state: Progress | HistoryRow, limit: int | None = None) -> None:
        """Show the state after an iteration or an epoch."""
        if isinstance(state, HistoryRow):
            done, most = state.epoch, limit or state.epoch
            scores = ", ".join(f"{name} {value:.3f}" for name, value in list(state.scores.items())[:2])
            again = ", with all labels" if state.refit else ""
            self.text = f"epoch {done} of at most {most}{again}: loss {state.loss:.4f}" + (
                f", {scores}" if scores else ""
            )
        else:
            done, most = state.iteration, state.max_iterations
            self.text = f"{state.method}: iteration {done} of at most {most}, gain {state.gain:.2g} per label"
        share, display, now = done / max(most, 1), import_display(), time.monotonic()
        if display is None or (self._handle is not None and now - self._shown < PAUSE and share < 1):
            return
        bar = f'<progress value="{share:.3f}" style="width: 16em"></progress> <code>{escape(self.text)}</code>'
        content = display.HTML(bar)
        if self._handle is None:
            self._handle = display.display(content, display_id=True)
        else:
            self._handle.update(content)
        self._shown = now


def import_display() -> Any:
    """Return IPython's module for display in a notebook; None outside of notebooks."""
    try:
        from IPython import display, get_ipython
    except ImportError:
        return None
    return display if get_ipython() is not None else None
