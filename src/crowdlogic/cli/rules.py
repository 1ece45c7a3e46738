"""`crowdlogic rules`: check rules before they are used, and audit what each one does."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass
from typing import Annotated

import typer

from crowdlogic.classifiers.protocol import predict_texts
from crowdlogic.cli.console import percent, say, show_json, show_lines, show_table
from crowdlogic.cli.options import (
    ClassesOption,
    ColumnsOption,
    FormatOption,
    JsonOption,
    TablesOption,
    columns_of,
    list_of,
    vocabulary_of,
)
from crowdlogic.cli.several_files import columns_by_file, layout_of
from crowdlogic.data.corpus import Corpus, align
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import Classes
from crowdlogic.data.reading import read_corpus, read_crowd
from crowdlogic.errors import ConvergenceWarning, OptionError, name_list
from crowdlogic.rules.audit import audit
from crowdlogic.rules.checking import check
from crowdlogic.rules.expansion import expand
from crowdlogic.rules.grounding import GroundRules
from crowdlogic.rules.parser import read_rules
from crowdlogic.rules.projection.projector import Predict, Projector
from crowdlogic.truth.methods import truth_method

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Check rules, and audit what each one does.")

RulesFile = Annotated[str, typer.Argument(metavar="RULES", help="A rule file.")]
ItemsOption = Annotated[
    str | None, typer.Option("--items", help="The items: item and text (and label, where gold is known), or sentences.")
]


@app.command("check")
def check_command(
    rules: RulesFile,
    labels: Annotated[str | None, typer.Option("--labels", help="Labels, which tell the classes.")] = None,
    items: ItemsOption = None,
    classes: ClassesOption = None,
    table: TablesOption = None,
    show: Annotated[bool, typer.Option("--show", help="Print the rules, with ready-made sets written out.")] = False,
    column: ColumnsOption = None,
    format: FormatOption = None,
    json: JsonOption = False,
) -> None:
    """Check a rule file: names, arities, classes, contradictions, duplicates, rules that never ground."""
    read = read_rules(rules)
    names, corpus = _known(labels, items, classes, column, format)
    found = check(read, classes=names, vocabulary=vocabulary_of(table), corpus=corpus)
    if json:
        show_json([{"severity": one.severity, "place": str(one.place), "message": one.what} for one in found])
    else:
        show_lines([str(expand(read, names)).rstrip("\n")] if show else [])
        show_lines([str(one) for one in found])
    say(f"{rules}: {len(expand(read, names))} rules, {len(found)} findings")
    raise typer.Exit(1 if found else 0)


@app.command("audit")
def audit_command(
    rules: RulesFile,
    labels: Annotated[str, typer.Argument(metavar="LABELS", help="The crowd's labels.")],
    items: ItemsOption = None,
    method: Annotated[str, typer.Option("--method", "-m", help="How the crowd's posterior is found.")] = "dawid-skene",
    strength: Annotated[float, typer.Option("--strength", min=0, help="How strongly rules pull (C).")] = 5.0,
    run: Annotated[
        str | None, typer.Option("--run", metavar="RUN", help="A trained run, for rules that ask a classifier.")
    ] = None,
    table: TablesOption = None,
    classes: ClassesOption = None,
    column: ColumnsOption = None,
    format: FormatOption = None,
    json: JsonOption = False,
) -> None:
    """Say of each rule what it touches, how far the crowd agrees, what it flips, and whether it helps."""
    crowd, corpus = _crowd(labels, items, list_of(classes), column, format)
    asked = _Asked() if run is None else _of_run(run, crowd, corpus)
    crowd = crowd.with_classes(asked.classes or crowd.classes)
    corpus = corpus.with_classes(crowd.classes)
    projector = Projector(rules=read_rules(rules), vocabulary=vocabulary_of(table), strength=strength)
    ground = projector.ground(corpus, crowd.classes)
    ground = _auditable(ground) if run is None else ground
    for notice in ground.notices:
        say(notice)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        beliefs = truth_method(method).infer(crowd, corpus).beliefs
        judged = audit(projector, beliefs, ground, predict=asked.predict, classifier=asked.units, gold=corpus.gold)
    for remark in dict.fromkeys(str(warning.message) for warning in caught):
        say(remark)
    if json:
        show_json([asdict(one) for one in judged])
        return
    rows = [
        (
            one.place,
            one.groundings,
            percent(one.coverage),
            percent(one.satisfaction),
            f"{percent(one.low)} to {percent(one.high)}",
            one.moved,
            one.flipped,
            one.flipped_right,
            one.flipped_wrong,
            one.verdict,
        )
        for one in judged
    ]
    names = ["rule", "groundings", "coverage", "holds", "95 %", "nats", "flips", "right", "wrong", "verdict"]
    show_table(f"{rules} on {labels} ({method})", names, rows)


def _known(
    labels: str | None, items: str | None, classes: str | None, column: list[str] | None, format: str | None
) -> tuple[Classes | None, Corpus | None]:
    """The classes and the items, as far as they were given: labels alone, without text, tell the classes only."""
    named = list_of(classes)
    if labels is not None:
        crowd, corpus = _crowd(labels, items, named, column, format)
        is_known = items is not None or corpus.texts is not None or corpus.tokens is not None
        return crowd.classes, corpus if is_known else None
    if items is None:
        return None if named is None else tuple(named), None
    read = read_corpus(items, columns=columns_of(column), format=format)
    return tuple(named) if named is not None else read.classes or None, read


def _crowd(
    labels: str, items: str | None, classes: list[str] | None, column: list[str] | None, format: str | None
) -> tuple[CrowdLabels, Corpus]:
    """The labels and the items they are about; items without text where no file gives any."""
    own = None if items is None else layout_of(items, format)
    columns = columns_by_file(column, {**({} if items is None else {items: own}), labels: format})
    crowd = read_crowd(labels, columns=columns[labels], classes=classes, format=format)
    if items is not None:
        return align(crowd.labels, read_corpus(items, columns=columns[items], format=own))
    return crowd.labels, crowd.corpus or Corpus(crowd.labels.items, offsets=crowd.labels.offsets)


def _auditable(ground: GroundRules) -> GroundRules:
    """The rules that need no classifier; the others are named and left out."""
    kept = [place for place, rule in enumerate(ground.rules) if rule.is_static]
    for rule in ground.rules:
        if not rule.is_static:
            say(f"{rule.rule.place}: this rule asks a classifier (Predicted) and is left out. Give one with --run RUN.")
    return ground.only(kept)


@dataclass(frozen=True, eq=False)
class _Asked:
    """What a run's classifier says: of derived texts, and of the items; over its own classes."""

    predict: Predict | None = None
    units: Beliefs | None = None
    classes: Classes = ()


def _of_run(folder: str, crowd: CrowdLabels, corpus: Corpus) -> _Asked:
    from crowdlogic.learning.saved_run import load_run

    run = load_run(folder)
    unknown = [name for name in crowd.classes if str(name) not in {str(own) for own in run.estimate.classes}]
    if unknown:
        raise OptionError(f"{folder} knows no class {unknown[0]!r}: its classes are {name_list(run.estimate.classes)}.")
    return _Asked(
        lambda texts: predict_texts(run.classifier, texts), run.classifier.predict_proba(corpus), run.estimate.classes
    )
