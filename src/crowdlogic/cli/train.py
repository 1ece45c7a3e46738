"""`crowdlogic train`: a classifier, the annotators and the truth, learnt together from labels and rules."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from crowdlogic.cli.console import complain, percent, say, show_json, show_table
from crowdlogic.cli.epochs import HELD_OUT, epochs_shown
from crowdlogic.cli.options import (
    AbstainOption,
    ClassesOption,
    ColumnsOption,
    FormatOption,
    JsonOption,
    TablesOption,
    WideOption,
)
from crowdlogic.cli.settings import Settings
from crowdlogic.cli.training_data import Prepared, prepared
from crowdlogic.data.intake.contract import Duplicates
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import ConvergenceWarning, OptionError
from crowdlogic.learning.choosing import MethodName, PresetName
from crowdlogic.learning.learned import Learned
from crowdlogic.learning.saved_run import Run
from crowdlogic.learning.scoring import score_name
from crowdlogic.learning.training_run import train_run
from crowdlogic.rules.audit import Verdict
from crowdlogic.store.damage import reading, require_entry
from crowdlogic.store.layout import is_run, last_epoch, read_config
from crowdlogic.store.locks import check_claimable
from crowdlogic.store.options.changes import parse_changes, read_toml


def command(
    out: Annotated[str, typer.Option("--out", "-o", metavar="RUN", help="The folder of the run; a new one.")],
    labels: Annotated[str | None, typer.Option("--labels", help="The crowd's labels.")] = None,
    items: Annotated[
        str | None, typer.Option("--items", help="The items: item and text, or sentences. Labels in CoNLL bring them.")
    ] = None,
    dev: Annotated[str | None, typer.Option("--dev", help="Items with gold to stop by.")] = None,
    test: Annotated[str | None, typer.Option("--test", help="Items with gold that are only scored.")] = None,
    rules: Annotated[str | None, typer.Option("--rules", help="A rule file.")] = None,
    table: TablesOption = None,
    method: Annotated[
        MethodName | None, typer.Option("--method", "-m", help="What to fit; logic-lncl if not given.")
    ] = None,
    preset: Annotated[
        PresetName | None, typer.Option("--preset", help="A configuration of the paper to start from.")
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", help="linear, crf, kim-cnn, cnn-gru, mlp, transformer, scikit.")
    ] = None,
    vectors: Annotated[
        list[str] | None, typer.Option("--vectors", help="Word vectors. May repeat: side by side.")
    ] = None,
    config: Annotated[str | None, typer.Option("--config", metavar="TOML", help="These options from a file.")] = None,
    set: Annotated[
        list[str] | None, typer.Option("--set", help="Any option of the method, as classifier.filters=50. May repeat.")
    ] = None,
    epochs: Annotated[int | None, typer.Option("--epochs", min=1, help="The most epochs.")] = None,
    patience: Annotated[int | None, typer.Option("--patience", min=1, help="Epochs without a better score.")] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="The seed of whatever is random; 0 if not given.")
    ] = None,
    device: Annotated[
        str | None, typer.Option("--device", help="Where a neural model is trained: auto, cpu, cuda.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run in RUN; it knows its own options.")
    ] = False,
    classes: ClassesOption = None,
    duplicates: Annotated[
        Duplicates | None, typer.Option("--duplicates", help="When an annotator labels an item twice.")
    ] = None,
    wide: WideOption = False,
    abstain: AbstainOption = None,
    column: ColumnsOption = None,
    format: FormatOption = None,
    json: JsonOption = False,
) -> None:
    """Learn a classifier, whom to trust, and what is true, from crowd labels and rules."""
    asked = Settings(
        labels=labels,
        items=items,
        dev=dev,
        test=test,
        rules=rules,
        table=tuple(table or ()),
        method=method,
        preset=preset,
        model=model,
        vectors=tuple(vectors or ()),
        epochs=epochs,
        patience=patience,
        seed=seed,
        device=device,
        classes=classes,
        column=tuple(column or ()),
        format=format,
        duplicates=duplicates,
        wide=wide,
        abstain=abstain,
        set=parse_changes(set or ()),
    )
    folder = Path(out)
    check_claimable(folder, resume=resume)
    ready = prepared(_settled(asked, config, folder, resume=resume))
    for sentence in ready.remarks:
        say(sentence)
    with _interruptible(folder), _warnings_said(), epochs_shown(stopping_of(ready)) as progress:
        run = train_run(folder, ready.method, ready.given, resume=resume, progress=progress)
    _tell(run, as_json=json)


def _settled(asked: Settings, config: str | None, folder: Path, *, resume: bool) -> Settings:
    """What is asked for, over the TOML file, over what the run that is there was begun with."""
    known = asked if config is None else asked.over(read_toml(config), where=f"{config}: ")
    if resume and is_run(folder):
        with reading(folder):
            known = known.over(require_entry(read_config(folder), "inputs", dict), where=f"{folder}: ")
    if known.labels is None:
        nothing = f"{folder}: there is no run to go on with. " if resume else ""
        raise OptionError(f"{nothing}Give the labels: --labels FILE.")
    return known


def stopping_of(ready: Prepared) -> str:
    """What the stopping score is called; empty when there is none."""
    if ready.given.dev is not None:
        return f"dev {score_name(ready.given.dev.classes, sequential=ready.given.dev.is_sequential)}"
    return "" if getattr(ready.method, "held_out", None) is None else HELD_OUT


@contextmanager
def _interruptible(folder: Path) -> Iterator[None]:
    """Ctrl-C leaves a run that can be gone on with, and one line that says how."""
    try:
        yield
    except KeyboardInterrupt:
        done = last_epoch(folder)
        complain(
            f"interrupted after {done}. Go on with it: crowdlogic train --resume -o {folder}"
            if done
            else "interrupted before the first epoch was over; nothing is kept."
        )
        raise typer.Exit(130) from None


@contextmanager
def _warnings_said() -> Iterator[None]:
    """What the fit warned about, each sentence once, when it is over."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        yield
    for remark in dict.fromkeys(str(warning.message) for warning in caught):
        say(remark)


def _tell(run: Run, *, as_json: bool) -> None:
    """What came out: scores where gold is known, rules that the crowd contradicts, and where it is."""
    learned = run.learned
    scores = learned.final.scores
    for one in run.audit:
        if one.verdict is Verdict.contradicts:
            say(f"{one.place}: this rule contradicts the crowd (it holds in {percent(one.satisfaction)} of the cases).")
    if as_json:
        show_json(figures_of(learned))
    elif scores:
        name = score_name(learned.task.labels.classes, sequential=learned.task.labels.is_sequential)
        rows = [(which, percent(value)) for which, value in scores.items()]
        show_table(f"{name} {_when(learned)}", ["on", name], rows)
    again = f", then {pluralise(len(learned.again), 'epoch')} with all labels" if learned.again else ""
    again += f" and the mean of the weights since epoch {learned.since}" if learned.since is not None else ""
    say(
        f"{learned.estimate.method}: {len(learned.estimate.items):,} items, {len(learned.estimate.annotators):,} "
        f"annotators, epoch {learned.chosen} of {len(learned.history)} chosen{again} -> {run.folder}"
    )


def _when(learned: Learned) -> str:
    """Which epoch, or which epochs, the answers are of."""
    if learned.since is not None:
        return f"of the mean of epochs {learned.since} to {len(learned.again)}"
    return f"at the chosen epoch ({learned.chosen})"


def figures_of(learned: Learned) -> dict[str, Any]:
    """The outcome in figures."""
    chosen, final = learned.history[learned.chosen - 1], learned.final
    return {
        "method": learned.estimate.method,
        "epoch": learned.chosen,
        "epochs": len(learned.history),
        "epochs again": len(learned.again),
        "mean since": learned.since,
        "stopping": chosen.stopping,
        "k": final.k,
        "loss": final.loss,
        "scores": dict(final.scores),
        "seconds": sum(row.seconds for row in (*learned.history, *learned.again)),
    }
