"""`crowdlogic aggregate`: the most probable label of every item."""

from __future__ import annotations

import warnings
from dataclasses import fields, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from crowdlogic.annotators.table import annotator_table
from crowdlogic.cli.console import percent, say, show_json, show_table
from crowdlogic.cli.options import (
    AbstainOption,
    ClassesOption,
    ColumnsOption,
    DuplicatesOption,
    FormatOption,
    JsonOption,
    LabelsFile,
    SeedOption,
    ToOption,
    WideOption,
    columns_of,
    list_of,
)
from crowdlogic.data.answers import Answers
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.files import STANDARD_STREAM
from crowdlogic.data.formats.detection import find_format
from crowdlogic.data.formats.protocol import Crowd
from crowdlogic.data.intake.contract import Duplicates
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import find
from crowdlogic.data.reading import read_answers, read_crowd
from crowdlogic.data.writing import write_estimate, write_table
from crowdlogic.errors import ConvergenceWarning, DataError, OptionError, name_list
from crowdlogic.store.estimates import save_estimate
from crowdlogic.truth.comparison import compare_methods, pairwise_agreement, score_estimate
from crowdlogic.truth.confidence import split_by_confidence, take_items
from crowdlogic.truth.fitting import Fitting
from crowdlogic.truth.majority import MajorityVote
from crowdlogic.truth.methods import TruthMethod, applicable_methods, choose_method, truth_method, uses_anchors
from crowdlogic.truth.ties import Ties


class Method(StrEnum):
    """The truth methods, as the command line names them."""

    majority = "majority"
    wawa = "wawa"
    dawid_skene = "dawid-skene"
    one_coin = "one-coin"
    ibcc = "ibcc"
    ebcc = "ebcc"
    glad = "glad"
    mace = "mace"
    pm = "pm"
    catd = "catd"
    hmm_crowd = "hmm-crowd"
    bsc_seq = "bsc-seq"


OutOption = Annotated[str | None, typer.Option("--out", "-o", help="Where to write; - for standard output.")]
MethodOption = Annotated[
    Method | None,
    typer.Option("--method", "-m", help="How to infer the truth; chosen to suit the labels if not given."),
]
MethodsOption = Annotated[
    str | None, typer.Option("--methods", help="Compare methods instead: all, or names separated by commas.")
]
AnnotatorsOption = Annotated[
    str | None, typer.Option("--annotators", metavar="FILE", help="Also write what is believed of each annotator.")
]
AnchorsOption = Annotated[
    str | None, typer.Option("--anchors", metavar="FILE", help="Items whose truth is known: item and label, or tags.")
]
GoldOption = Annotated[
    str | None, typer.Option("--gold", metavar="FILE", help="The truth, to score the answers with; never learnt from.")
]
LeastOption = Annotated[
    float | None,
    typer.Option(
        "--min-confidence", metavar="P", help="Write items below P to OUT's name with .relabel before its suffix."
    ),
]


def command(
    labels: LabelsFile,
    out: OutOption = None,
    method: MethodOption = None,
    methods: MethodsOption = None,
    annotators: AnnotatorsOption = None,
    anchors: AnchorsOption = None,
    gold: GoldOption = None,
    min_confidence: LeastOption = None,
    save: Annotated[
        str | None,
        typer.Option("--save", metavar="FOLDER", help="Also keep the estimate, for crowdlogic report."),
    ] = None,
    ties: Annotated[Ties | None, typer.Option("--ties", help="How majority decides a tie.")] = None,
    order: Annotated[str | None, typer.Option("--order", help="With --ties order: the classes, best first.")] = None,
    seed: SeedOption = 0,
    threads: Annotated[int, typer.Option("--threads", min=1, help="How many threads may work at once.")] = 1,
    checkpoint: Annotated[
        str | None,
        typer.Option("--checkpoint", metavar="FILE", help="Keep the fit's state here; go on from it if there."),
    ] = None,
    classes: ClassesOption = None,
    duplicates: DuplicatesOption = Duplicates.error,
    wide: WideOption = False,
    abstain: AbstainOption = None,
    column: ColumnsOption = None,
    format: FormatOption = None,
    to: ToOption = None,
    json: JsonOption = False,
) -> None:
    """Estimate the true label of every item."""
    _check_options(out, methods, min_confidence, gold=gold, annotators=annotators, save=save, as_json=json)
    _check_places(labels, out=(out, to), annotators=(annotators, None), checkpoint=checkpoint, read=(anchors, gold))
    crowd = read_crowd(
        labels,
        format=format,
        columns=columns_of(column),
        classes=list_of(classes),
        duplicates=duplicates,
        wide=wide,
        abstain=abstain,
    )
    truth = None if gold is None else read_answers(gold)
    fitting = Fitting(anchors=_anchors(anchors, crowd.labels), checkpoint=checkpoint, threads=threads)
    if truth is not None and (find(truth.items, crowd.labels.items) < 0).all():
        raise DataError(f"{gold}: no item is among the labelled ones ({name_list(crowd.labels.items[:3])}, ...).")
    if methods is not None:
        _compare(crowd, methods, truth, fitting, seed=seed, as_json=json)
        return
    chosen, why = _chosen(crowd.labels, method, ties, list_of(order), seed, anchored=anchors is not None)
    estimate, remarks = _inferred(chosen, crowd, fitting)
    written = _write(str(out), estimate, crowd.corpus, min_confidence, to)
    if annotators is not None:
        write_table(annotators, annotator_table(crowd.labels, estimate))
    if save is not None:
        save_estimate(save, estimate)
    if truth is not None:
        _show_scores(chosen.name, score_estimate(estimate, truth), as_json=json)
    for sentence in [*crowd.labels.intake.messages(), *remarks]:
        say(sentence)
    say(f"{chosen.name}{why}: {describe(estimate)} -> {written}")


def _anchors(path: str | None, labels: CrowdLabels) -> dict[Any, Any] | None:
    """The truth of some items by name, a class or a list of tags, from a file of answers."""
    if path is None:
        return None
    known = read_answers(path)
    lost = np.flatnonzero(find(known.items, labels.items) < 0)
    if len(lost):
        name = known.items[int(lost[0])]
        raise DataError(f"{path}: nobody labelled item {name!r} ({len(lost):,} such items). Leave them out.")
    names = [*known.classes, None]
    tags = [names[code] for code in known.answer]
    if known.offsets is None:
        return {item: tag for item, tag in zip(known.items.to_list(), tags, strict=True) if tag is not None}
    bounds = zip(known.offsets[:-1].tolist(), known.offsets[1:].tolist(), strict=True)
    return {item: tags[begin:end] for item, (begin, end) in zip(known.items.to_list(), bounds, strict=True)}


def _chosen(
    labels: CrowdLabels, method: Method | None, ties: Ties | None, order: list[str] | None, seed: int, *, anchored: bool
) -> tuple[TruthMethod, str]:
    """The method asked for, or the one that suits the labels and why; --ties asks for votes."""
    name, why = ("majority", "") if method is None else (str(method), "")
    if method is None and ties is None:
        name, reason = choose_method(labels)
        if anchored and not uses_anchors(name):
            name, reason = "dawid-skene", "anchors"
        why = f" (chosen for {reason})"
    if name == "majority":
        return MajorityVote(ties=ties or Ties.random, order=order, seed=seed), why
    if ties is not None or order is not None:
        raise OptionError(f"--ties and --order are for majority; {name} weighs the labels and has hardly any ties.")
    return seeded(truth_method(name), seed), why


def _check_options(
    out: str | None,
    methods: str | None,
    least: float | None,
    *,
    gold: str | None,
    annotators: str | None,
    save: str | None,
    as_json: bool,
) -> None:
    """Refuse options that do not go together, before any work."""
    if (out is None) == (methods is None):
        raise OptionError("Say where to write with -o FILE, or compare methods with --methods all.")
    if methods is not None and (annotators is not None or least is not None or save is not None):
        raise OptionError(
            "--annotators, --min-confidence and --save go with one method (-m) and -o FILE, not with --methods."
        )
    if save is not None and Path(save).exists() and (not Path(save).is_dir() or any(Path(save).iterdir())):
        raise OptionError(f"--save: {save} is there already. Name a folder that is new or empty.")
    if as_json and methods is None and (gold is None or out == STANDARD_STREAM):
        raise OptionError("--json prints scores: it goes with --methods, or with --gold and -o FILE.")
    if least is not None and not 0 <= least <= 1:
        raise OptionError(f"--min-confidence: {least:g} is no probability. Give one from 0 to 1.")
    if least is not None and out == STANDARD_STREAM:
        raise OptionError("--min-confidence writes two files; name one with -o FILE.")


def _check_places(
    labels: str,
    *,
    out: tuple[str | None, str | None],
    annotators: tuple[str | None, str | None],
    checkpoint: str | None,
    read: tuple[str | None, ...],
) -> None:
    """Refuse a place that cannot be written to, or that would be written over, before the work and not after it."""
    for path, layout in (out, annotators):
        if path is not None and path != STANDARD_STREAM:
            find_format(path, layout)
            if not Path(path).parent.is_dir():
                raise OptionError(f"{path}: the folder {Path(path).parent} does not exist. Make it first.")
    taken = {Path(path).resolve() for path in (labels, *read) if path is not None and path != STANDARD_STREAM}
    written = [
        out[0],
        annotators[0],
        checkpoint,
        None if out[0] in (None, STANDARD_STREAM) else str(relabel_path(str(out[0]))),
    ]
    for path in written:
        if path is None:
            continue
        place = Path(path).resolve()
        if place in taken:
            raise OptionError(f"{path}: is used twice, and would be written over. Name another file.")
        taken.add(place)


def seeded(method: Any, seed: int) -> TruthMethod:
    """The same method with that seed, if it has any use for one."""
    named = {field.name for field in fields(method)}
    changed: TruthMethod = replace(method, seed=seed) if "seed" in named else method
    return changed


def _inferred(method: TruthMethod, crowd: Crowd, fitting: Fitting) -> tuple[Estimate, list[str]]:
    """The estimate, and what the fit warned about."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        estimate = method.infer(crowd.labels, crowd.corpus, fitting=fitting)
    return estimate, [str(warning.message) for warning in caught]


def _write(out: str, estimate: Estimate, corpus: Corpus | None, least: float | None, to: str | None) -> str:
    """Write the answers, those below the least confidence to a file of their own; say where."""
    if least is None:
        write_estimate(out, estimate, corpus=corpus, format=to)
        return out
    sure, unsure = split_by_confidence(estimate, least)
    path, apart = Path(out), relabel_path(out)
    for file, items in ((apart, unsure), (path, sure)):
        part = None if corpus is None else corpus.take_items(items)
        write_estimate(file, take_items(estimate, items), corpus=part, format=to)
    return f"{path} ({len(sure):,} items), {apart} ({len(unsure):,} items to label again, below {least:g})"


def relabel_path(out: str) -> Path:
    """Where the items to label again go: OUT with .relabel before its suffix (and before .gz)."""
    path = Path(out)
    zipped = ".gz" if path.suffix == ".gz" else ""
    bare = path.with_suffix("") if zipped else path
    return bare.with_name(f"{bare.stem}.relabel{bare.suffix}{zipped}")


def _compare(crowd: Crowd, names: str, gold: Answers | None, fitting: Fitting, *, seed: int, as_json: bool) -> None:
    wanted = applicable_methods(crowd.labels) if names == "all" else list(dict.fromkeys(list_of(names) or []))
    if not wanted:
        raise OptionError("--methods: no method is named. Write all, or names separated by commas.")
    if fitting.anchors and names == "all":
        wanted = [name for name in wanted if uses_anchors(name)]
    found = compare_methods(
        [seeded(truth_method(name), seed) for name in wanted], crowd.labels, crowd.corpus, gold=gold, fitting=fitting
    )
    for sentence in crowd.labels.intake.messages():
        say(sentence)
    between = pairwise_agreement(found)
    if as_json:
        show_json(
            {
                one.name: {
                    **one.scores,
                    "seconds": one.seconds,
                    "iterations": len(one.estimate.trace),
                    "converged": one.estimate.converged,
                    "agreement": dict(zip([other.name for other in found], row.tolist(), strict=True)),
                }
                for one, row in zip(found, between, strict=True)
            }
        )
        return
    scores = list(found[0].scores) if found else []
    others = np.maximum(len(found) - 1, 1)
    rows = [
        (
            one.name,
            *(percent(one.scores[name]) for name in scores),
            percent((row.sum() - 1) / others),
            percent(row[0]),
            len(one.estimate.trace),
            "yes" if one.estimate.converged else "no",
            f"{one.seconds:.2f}",
        )
        for one, row in zip(found, between, strict=True)
    ]
    first = found[0].name if found else "first"
    columns = ["method", *scores, "agrees with others", f"with {first}", "iterations", "settled", "seconds"]
    show_table(describe(found[0].estimate) if found else "no methods", columns, rows)


def _show_scores(name: str, scores: dict[str, float], *, as_json: bool) -> None:
    if as_json:
        show_json({"method": name, **scores})
        return
    show_table(name, ["score", "value"], [(score, percent(value)) for score, value in scores.items()])


def describe(estimate: Estimate) -> str:
    """What was answered, in one clause."""
    kind = (
        f"{len(estimate.items):,} sentences, {len(estimate.answer):,} tokens"
        if estimate.offsets is not None
        else f"{len(estimate.items):,} items"
    )
    open_units = int(np.count_nonzero(~estimate.answered))
    parts = [kind, f"{len(estimate.annotators):,} annotators"]
    parts += [f"{estimate.tied:,} ties"] if estimate.tied else []
    parts += [f"{open_units:,} without labels and so without an answer"] if open_units else []
    return ", ".join(parts)
