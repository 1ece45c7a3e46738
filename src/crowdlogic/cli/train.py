"""`crowdlogic train`: a classifier, the annotators and the truth, learnt together from labels and rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from crowdlogic.cli.console import say, show_json, show_tables, summary
from crowdlogic.cli.options import JsonOption, OutsideOption, TablesOption, may_read_labels
from crowdlogic.registry import CLASSIFIERS, DEFAULT_LEARNING_METHOD, LEARNING_METHODS, PRESETS
from crowdlogic.store.options.changes import parse_changes

RunOption = Annotated[str, typer.Option("--out", "-o", metavar="RUN", help="The folder of the run; a new one.")]
LabelsOption = Annotated[str | None, typer.Option("--labels", help="The crowd's labels.")]
ItemsOption = Annotated[
    str | None,
    typer.Option("--items", help="The items: item and text, or sentences. CoNLL and exports of tools bring them."),
]
DevOption = Annotated[str | None, typer.Option("--dev", help="Items with gold for early stopping.")]
TestOption = Annotated[str | None, typer.Option("--test", help="Items with gold that are only scored.")]
AnchorsOption = Annotated[
    str | None, typer.Option("--anchors", metavar="FILE", help="Items whose truth is known: item and label, or tags.")
]
RulesOption = Annotated[str | None, typer.Option("--rules", help="A rule file.")]
GrammarOption = Annotated[
    bool, typer.Option("--grammar/--no-grammar", help="For BIO tags: add the rules of their grammar. The default.")
]
MethodOption = Annotated[
    str | None,
    typer.Option(
        "--method",
        "-m",
        help=f"The learning method: {', '.join(LEARNING_METHODS)}. {DEFAULT_LEARNING_METHOD} if not given.",
    ),
]
PresetOption = Annotated[
    str | None, typer.Option("--preset", help=f"A configuration to start from: {', '.join(PRESETS)}.")
]
ModelOption = Annotated[str | None, typer.Option("--model", help=f"The classifier: {', '.join(CLASSIFIERS)}.")]
VectorsOption = Annotated[
    list[str] | None, typer.Option("--vectors", help="Word vectors. May repeat: they are concatenated.")
]
ConfigOption = Annotated[str | None, typer.Option("--config", metavar="TOML", help="These options from a file.")]
SetOption = Annotated[
    list[str] | None, typer.Option("--set", help="Any option of the method, as classifier.filters=50. May repeat.")
]
EpochsOption = Annotated[int | None, typer.Option("--epochs", min=1, help="Maximum number of epochs.")]
PatienceOption = Annotated[
    int | None, typer.Option("--patience", min=1, help="Epochs without a better score before early stopping.")
]
SeedOption = Annotated[int | None, typer.Option("--seed", min=0, help="Random seed; 0 if not given.")]
DeviceOption = Annotated[str | None, typer.Option("--device", help="Where a neural model is trained: auto, cpu, cuda.")]
ResumeOption = Annotated[bool, typer.Option("--resume", help="Resume the run in RUN; it knows its own options.")]


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
    device: DeviceOption = None,
    resume: ResumeOption = False,
    reading: Mapping[str, Any],
    json: JsonOption = False,
) -> None:
    """Learn a classifier, whom to trust, and what is true, from crowd labels and rules."""
    from crowdlogic.cli.epochs import show_epochs
    from crowdlogic.workflows.train import prepare_training
    from crowdlogic.workflows.train_options import TrainOptions

    options = TrainOptions(
        labels=labels,
        items=items,
        dev=dev,
        test=test,
        anchors=anchors,
        rules=rules,
        grammar=grammar,
        table=tuple(table or ()),
        method=method,
        preset=preset,
        model=model,
        vectors=tuple(vectors or ()),
        epochs=epochs,
        patience=patience,
        seed=seed,
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
            show_json(outcome.figures())
        elif outcome.has_scores:
            show_tables(outcome.table())
    say(outcome.confidence_message, outcome.message)
