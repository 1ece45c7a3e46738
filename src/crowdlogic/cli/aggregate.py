"""`crowdlogic aggregate`: the most probable label of every item."""

from __future__ import annotations

import warnings
from dataclasses import fields, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

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
)  # fmt: skip
from crowdlogic.data.answers import Answers, read_answers, write_estimate
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.intake import Duplicates
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.reading import Crowd, read_crowd
from crowdlogic.data.tables import STANDARD, Format, format_of
from crowdlogic.data.writing import write_table
from crowdlogic.errors import ConvergenceWarning, OptionError
from crowdlogic.truth.annotators import annotator_table
from crowdlogic.truth.comparison import agreement_between, compare, methods_for, scored
from crowdlogic.truth.fitting import Fitting
from crowdlogic.truth.methods import TruthMethod, method_named, suited_method
from crowdlogic.truth.relabelling import sure_and_unsure, take_items
from crowdlogic.truth.ties import Ties
from crowdlogic.truth.voting import MajorityVote


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
    if (out is None) == (methods is None):
        raise OptionError("Say where to write with -o FILE, or compare methods with --methods all.")
    crowd = read_crowd(
        labels, format=format, columns=columns_of(column), classes=list_of(classes), duplicates=duplicates,
        wide=wide, abstain=abstain,
    )  # fmt: skip
    truth = None if gold is None else read_answers(gold)
    fitting = Fitting(anchors=_anchors(anchors), checkpoint=checkpoint, threads=threads)
    if methods is not None:
        _compare(crowd, methods, truth, fitting, seed=seed, as_json=json)
        return
    chosen, why = _chosen(crowd.labels, method, ties, list_of(order), seed)
    _check_outputs((out, to), (annotators, None))
    estimate, remarks = _inferred(chosen, crowd, fitting)
    written = _write(str(out), estimate, crowd.corpus, min_confidence, to)
    if annotators is not None:
        write_table(annotators, annotator_table(crowd.labels, estimate))
    if truth is not None:
        _show_scores(chosen.name, scored(estimate, truth), as_json=json)
    for sentence in [*crowd.labels.intake.sentences(), *remarks]:
        say(sentence)
    say(f"{chosen.name}{why}: {describe(estimate)} -> {written}")


def _anchors(path: str | None) -> dict[Any, Any] | None:
    """The truth of some items by name, a class or a list of tags, from a file of answers."""
    if path is None:
        return None
    known = read_answers(path)
    names = [*known.classes, None]
    tags = [names[code] for code in known.answer]
    if known.offsets is None:
        return {item: tag for item, tag in zip(known.items.to_list(), tags, strict=True) if tag is not None}
    bounds = zip(known.offsets[:-1].tolist(), known.offsets[1:].tolist(), strict=True)
    return {item: tags[begin:end] for item, (begin, end) in zip(known.items.to_list(), bounds, strict=True)}


def _chosen(
    labels: CrowdLabels, method: Method | None, ties: Ties | None, order: list[str] | None, seed: int
) -> tuple[TruthMethod, str]:
    """The method asked for, or the one that suits the labels and why; --ties asks for votes."""
    name, why = ("majority", "") if method is None else (str(method), "")
    if method is None and ties is None:
        name, reason = suited_method(labels)
        why = f" (chosen for {reason})"
    if name == "majority":
        return MajorityVote(ties=ties or Ties.random, order=order, seed=seed), why
    if ties is not None:
        raise OptionError(f"--ties is for majority; {name} weighs the labels and has hardly any ties.")
    return _seeded(method_named(name), seed), why


def _check_outputs(*places: tuple[str | None, Format | None]) -> None:
    """Refuse a place that cannot be written to before the work, not after it."""
    for path, layout in places:
        if path is not None and path != STANDARD:
            format_of(path, layout)
            if not Path(path).parent.is_dir():
                raise OptionError(f"{path}: the folder {Path(path).parent} does not exist. Make it first.")


def _seeded(method: Any, seed: int) -> TruthMethod:
    """The same method with that seed, if it has any use for one."""
    named = {field.name for field in fields(method)}
    seeded: TruthMethod = replace(method, seed=seed) if "seed" in named else method
    return seeded


def _inferred(method: TruthMethod, crowd: Crowd, fitting: Fitting) -> tuple[Estimate, list[str]]:
    """The estimate, and what the fit warned about."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        estimate = method.infer(crowd.labels, crowd.corpus, fitting=fitting)
    return estimate, [str(warning.message) for warning in caught]


def _write(out: str, estimate: Estimate, corpus: Corpus | None, least: float | None, to: Format | None) -> str:
    """Write the answers, those below the least confidence to a file of their own; say where."""
    if least is None:
        write_estimate(out, estimate, corpus=corpus, format=to)
        return out
    if out == STANDARD:
        raise OptionError("--min-confidence writes two files; name one with -o FILE.")
    sure, unsure = sure_and_unsure(estimate, least)
    path = Path(out)
    apart = path.with_name(f"{path.name.split('.')[0]}.relabel{''.join(path.suffixes)}")
    for file, items in ((apart, unsure), (path, sure)):
        part = None if corpus is None else corpus.take_items(items)
        write_estimate(file, take_items(estimate, items), corpus=part, format=to)
    return f"{path} ({len(sure):,} items), {apart} ({len(unsure):,} items to label again, below {least:g})"


def _compare(crowd: Crowd, names: str, gold: Answers | None, fitting: Fitting, *, seed: int, as_json: bool) -> None:
    wanted = methods_for(crowd.labels) if names == "all" else list_of(names) or []
    if fitting.anchors and names == "all":
        wanted = [name for name in wanted if name not in ("majority", "wawa", "pm", "catd")]
    found = compare(
        [_seeded(method_named(name), seed) for name in wanted], crowd.labels, crowd.corpus, gold=gold, fitting=fitting
    )
    for sentence in crowd.labels.intake.sentences():
        say(sentence)
    between = agreement_between(found)
    if as_json:
        show_json({
            one.name: {
                **one.scores, "seconds": one.seconds, "iterations": len(one.estimate.trace),
                "converged": one.estimate.converged,
                "agreement": dict(zip([other.name for other in found], row.tolist(), strict=True)),
            }
            for one, row in zip(found, between, strict=True)
        })  # fmt: skip
        return
    scores = list(found[0].scores) if found else []
    others = np.maximum(len(found) - 1, 1)
    rows = [
        (one.name, *(percent(one.scores[name]) for name in scores), percent((row.sum() - 1) / others),
         percent(row[0]), len(one.estimate.trace), "yes" if one.estimate.converged else "no", f"{one.seconds:.2f}")
        for one, row in zip(found, between, strict=True)
    ]  # fmt: skip
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
