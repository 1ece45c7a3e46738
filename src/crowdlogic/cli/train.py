"""`crowdlogic train`: learn a classifier, annotators and the truth jointly from labels and rules."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crowdlogic.cli.console import Interval, Output, list_written, make_interval, say, show_output, show_tables, summary
from crowdlogic.cli.options import AnchorsOption, JsonOption, OutsideOption, TablesOption, may_read_labels
from crowdlogic.confidence.expected_accuracy import expected_accuracy
from crowdlogic.data.wording import pluralise
from crowdlogic.learning.training import EpochCallback, HistoryRow
from crowdlogic.registry import CLASSIFIERS, DEFAULT_LEARNING_METHOD, LEARNING_METHODS, PRESETS
from crowdlogic.store.options import parse_changes
from crowdlogic.workflows.inputs import percent
from crowdlogic.workflows.train import HELD_OUT

if TYPE_CHECKING:
    from rich.table import Table


RunOption = Annotated[str, typer.Option("--out", "-o", metavar="RUN", help="Output folder. Must not exist yet.")]
LabelsOption = Annotated[str | None, typer.Option("--labels", help="The crowd's labels.")]
ItemsOption = Annotated[
    str | None,
    typer.Option(
        "--items", help="Items: item and text, or sentences. Not needed for CoNLL files and exports of tools."
    ),
]
DevOption = Annotated[str | None, typer.Option("--dev", help="Items with gold for early stopping.")]
TestOption = Annotated[
    str | None, typer.Option("--test", help="Items with gold that are used for scores, not for training.")
]
RulesOption = Annotated[str | None, typer.Option("--rules", help="A rule file.")]
GrammarOption = Annotated[
    bool, typer.Option("--grammar/--no-grammar", help="For BIO tags: add the rules of their grammar. The default.")
]
KeepWeightsOption = Annotated[
    bool,
    typer.Option("--keep-weights", help="Keep the weights of rules even if held-out labels contradict them."),
]
MethodOption = Annotated[
    str | None,
    typer.Option(
        "--method",
        "-m",
        help=f"Learning method: {', '.join(LEARNING_METHODS)}. Default: {DEFAULT_LEARNING_METHOD}.",
    ),
]
PresetOption = Annotated[
    str | None, typer.Option("--preset", help=f"Configuration to start from: {', '.join(PRESETS)}.")
]
ModelOption = Annotated[str | None, typer.Option("--model", help=f"The classifier: {', '.join(CLASSIFIERS)}.")]
VectorsOption = Annotated[
    list[str] | None,
    typer.Option("--vectors", help="File of word vectors. Can be given several times; the vectors are concatenated."),
]
ConfigOption = Annotated[
    str | None, typer.Option("--config", metavar="TOML", help="File with values for these options.")
]
SetOption = Annotated[
    list[str] | None, typer.Option("--set", help="Any option of the method, as classifier.filters=50. May repeat.")
]
EpochsOption = Annotated[int | None, typer.Option("--epochs", min=1, help="Maximum number of epochs.")]
PatienceOption = Annotated[
    int | None, typer.Option("--patience", min=1, help="Epochs without a better score before early stopping.")
]
SeedOption = Annotated[int | None, typer.Option("--seed", min=0, help="Random seed. Default: 0.")]
TimeOption = Annotated[
    str | None,
    typer.Option("--time", help="Time that training may take if neither model nor preset is given. 5m if not given."),
]
DeviceOption = Annotated[str | None, typer.Option("--device", help="Where a neural model is trained: auto, cpu, cuda.")]
ResumeOption = Annotated[bool, typer.Option("--resume", help="Resume the run in RUN with its own options.")]


@dataclass(frozen=True, kw_only=True)
class TrainOutput(Output):
    """Result of a training.

    Attributes:
        method: The learning method.
        counts: Number of items, units, annotators, classes, unanswered and ties.
        expected_accuracy: Expected accuracy; null if the confidence is not calibrated.
        epoch: The chosen epoch.
        epochs: Number of epochs.
        refit_epochs: Number of epochs of the refit with all labels.
        averaged_from: The first epoch whose weights were averaged; null without averaging.
        stopping: The stopping score of the chosen epoch; null without one.
        k: Weight of the rules' posterior in the targets.
        loss: The loss of the classifier.
        scores: Scores by gold: on train, dev and test, of student and teacher.
        macro_f1: Mean F1 over the classes, with the keys of `scores`; empty for span tags, whose score is an F1.
        confidence: Basis of the confidence of answers, and of predictions by student and teacher.
        seconds: Training time in seconds.
    """

    method: str
    counts: Mapping[str, int]
    expected_accuracy: Interval | None
    epoch: int
    epochs: int
    refit_epochs: int
    averaged_from: int | None
    stopping: float | None
    k: float
    loss: float
    scores: Mapping[str, float]
    macro_f1: Mapping[str, float]
    confidence: Mapping[str, Any]
    seconds: float


OUTPUTS = {"train": TrainOutput}


@may_read_labels
def command(
    out: RunOption,
    *,
    labels: LabelsOption = None,
    items: ItemsOption = None,
    dev: DevOption = None,
    test: TestOption = None,
    anchors: AnchorsOption = None,
    rules: RulesOption = None,
    grammar: GrammarOption = True,
    keep_weights: KeepWeightsOption = False,
    table: TablesOption = None,
    allow_outside: OutsideOption = False,
    method: MethodOption = None,
    preset: PresetOption = None,
    model: ModelOption = None,
    vectors: VectorsOption = None,
    config: ConfigOption = None,
    set: SetOption = None,
    epochs: EpochsOption = None,
    patience: PatienceOption = None,
    seed: SeedOption = None,
    time: TimeOption = None,
    device: DeviceOption = None,
    resume: ResumeOption = False,
    reading: Mapping[str, Any],
    json: JsonOption = False,
) -> None:
    """Train a classifier on crowd labels and rules, and assess every annotator and rule."""
    from crowdlogic.workflows.train import TrainOptions, prepare_training

    options = TrainOptions(
        labels=labels,
        items=items,
        dev=dev,
        test=test,
        anchors=anchors,
        rules=rules,
        grammar=grammar,
        keep_weights=keep_weights,
        table=tuple(table or ()),
        method=method,
        preset=preset,
        model=model,
        vectors=tuple(vectors or ()),
        epochs=epochs,
        patience=patience,
        seed=seed,
        time=time,
        device=device,
        column=tuple(reading["column"] or ()),
        **{name: value for name, value in reading.items() if name != "column"},
        set=parse_changes(set or ()),
    )
    prepared = prepare_training(options, out, config=config, resume=resume, allow_outside=allow_outside)
    say(*prepared.notices)
    with show_epochs(prepared.stopping_score, has_rules=prepared.has_rules) as callback:
        outcome = prepared.train(callback=callback)
    say(*outcome.notices)
    with summary():
        if json:
            estimate = outcome.run.estimate
            show_output(
                TrainOutput(
                    command="train",
                    notices=(*prepared.notices, *outcome.notices),
                    written=list_written(out),
                    counts=estimate.counts,
                    expected_accuracy=make_interval(
                        None if estimate.calibration is None else expected_accuracy(estimate)
                    ),
                    **outcome.figures(),
                )
            )
        elif outcome.has_scores:
            show_tables(outcome.table())
    say(outcome.confidence_message, outcome.message)


# Progress of a fit: a table on a terminal, plain lines in a pipe.

SHOWN_EPOCHS = 12
"""Maximum number of epochs in the table, so that it fits a small window."""


SILENCE = 30.0
"""Seconds after which an epoch is shown even if nothing changed."""


@dataclass
class EpochLines:
    """Progress as plain lines. Consecutive epochs that change no answer are folded into one line.

    Attributes:
        stopping: The name of the stopping score; empty when there is none.
        has_rules: Whether rules are used.
        clock: Function that returns the time in seconds.
    """

    stopping: str
    has_rules: bool = True
    clock: Callable[[], float] = time.monotonic
    _folded: list[HistoryRow] = field(default_factory=list)
    _said: float = 0.0

    def show(self, row: HistoryRow, most: int) -> None:
        """Print a line unless nothing changed in this epoch and the one before."""
        if self._folded and self._folded[-1].refit != row.refit:
            self.finish()
        if row.change == 0 and row.epoch > 1 and row.epoch < most and self.clock() - self._said < SILENCE:
            self._folded.append(row)
            return
        self.finish()
        self._said = self.clock()
        say(epoch_line(row, most, self.stopping, has_rules=self.has_rules))

    def finish(self) -> None:
        """Print a line for the folded epochs."""
        if self._folded:
            first, last = self._folded[0].epoch, self._folded[-1].epoch
            which = f"epoch {first}" if first == last else f"epochs {first} to {last}"
            say(f"{'refit with all labels, ' if self._folded[0].refit else ''}{which}: no answer changed")
            self._folded.clear()


@contextmanager
def show_epochs(stopping: str, *, has_rules: bool = True) -> Iterator[EpochCallback]:
    """Return a callback that shows each epoch.

    Args:
        stopping: The name of the stopping score; empty when there is none.
        has_rules: Whether rules are used; their weight is then shown.
    """
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        lines = EpochLines(stopping, has_rules)
        yield lines.show
        lines.finish()
        return
    rows: list[HistoryRow] = []
    with Live(console=console, auto_refresh=False) as live:

        def show(row: HistoryRow, most: int) -> None:
            if row.refit and rows and not rows[0].refit:
                # The first pass remains visible above the refit
                live.console.print(epoch_table(rows, len(rows), stopping, has_rules=has_rules))
                rows.clear()
            rows.append(row)
            live.update(epoch_table(rows, most, stopping, has_rules=has_rules), refresh=True)

        yield show


def epoch_line(row: HistoryRow, most: int, stopping: str, *, has_rules: bool = True) -> str:
    """Return a line about an epoch."""
    score = f"{stopping} {format_score(row, stopping)}, " if stopping and not row.refit else ""
    which = (
        f"refit with all labels, epoch {row.epoch} of {most}" if row.refit else f"epoch {row.epoch} of at most {most}"
    )
    left = format_seconds(row.seconds * (most - row.epoch))
    rules = f"weight of the rules {percent(row.k)}, " if has_rules else ""
    return (
        f"{which}: loss {row.loss:.4f}, {score}{percent(row.change)} of answers changed, {rules}"
        f"{format_seconds(row.seconds)}, {'about' if row.refit else 'at most'} {left} left"
    )


def epoch_table(rows: Sequence[HistoryRow], most: int, stopping: str, *, has_rules: bool = True) -> Table:
    """Return the last epochs of a pass; the best one so far is bold."""
    from rich.table import Table

    refit = rows[-1].refit
    best = next((row for row in reversed(rows) if row.kept), None)
    stopping = "" if refit else stopping
    title = f"refit with all labels, {pluralise(most, 'epoch')}" if refit else None
    mean = sum(row.seconds for row in rows) / len(rows)
    left = format_seconds(mean * (most - rows[-1].epoch))
    caption = f"epoch {rows[-1].epoch} of {'' if refit else 'at most '}{most}, at most {left} left"
    table = Table(title=title, caption=caption, title_justify="left", caption_justify="left")
    weight = ["weight of rules"] if has_rules else []
    for name in ("epoch", "loss", *([stopping] if stopping else []), "changed", *weight, "time"):
        table.add_column(name, justify="right")
    for row in rows[-SHOWN_EPOCHS:]:
        score = [format_score(row, stopping)] if stopping else []
        rules = [percent(row.k)] if has_rules else []
        cells = (row.epoch, f"{row.loss:.4f}", *score, percent(row.change), *rules, format_seconds(row.seconds))
        table.add_row(*map(str, cells), style="bold" if row is best and not refit else None)
    return table


def format_score(row: HistoryRow, stopping: str) -> str:
    """Return the stopping score: a share in percent; a log likelihood as it is."""
    return f"{row.stopping:.4f}" if stopping == HELD_OUT else percent(row.stopping)


def format_seconds(count: float) -> str:
    """Return a readable time."""
    if count < 100:
        return f"{count:.1f} s"
    return f"{count / 60:.0f} min" if count < 7200 else f"{count / 3600:.1f} h"
