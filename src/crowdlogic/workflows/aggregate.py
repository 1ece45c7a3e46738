"""Aggregate labels: estimate the most probable label of every item with one truth method.

`aggregate_files` is the command: options in, answers in a file. It opens the labels, fits a method and writes the
answers, in these three steps wherever the labels are: in memory (`LabelsInMemory`, here) or elsewhere
(`registry.SOURCES`). `aggregate` takes labels from Python and returns an Estimate.
"""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, fields, is_dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np
import polars as pl

from crowdlogic.confidence.calibration import infer_calibrated
from crowdlogic.confidence.expected_accuracy import (
    ExpectedAccuracy,
    describe_mistakes,
    describe_spans,
    expected_accuracy,
    warning_signs,
)
from crowdlogic.data.blocks import anchor_classes
from crowdlogic.data.corpus import Corpus, align
from crowdlogic.data.estimate import Answers, Estimate, KnownTruths
from crowdlogic.data.files import STANDARD_STREAM, written_together
from crowdlogic.data.formats.protocol import Crowd, find_format
from crowdlogic.data.formats.tables import CHOSEN, TableFormat
from crowdlogic.data.frames import as_labels, texts_beside_labels
from crowdlogic.data.intake.building import single_class
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import as_text, find
from crowdlogic.data.reading import read_crowd, write_estimate, write_table
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import ConvergenceWarning, DataError, OptionError, name_list
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.registry import LEARNING_METHODS, SOURCES, TRUTH_METHODS
from crowdlogic.truth.dependence import PUBLIC_CROWDS, Dependence, state_confidence
from crowdlogic.truth.fitting import Fitting
from crowdlogic.truth.methods import TruthMethod, applicable_methods, choose_method, truth_method, uses_anchors
from crowdlogic.truth.ties import Ties
from crowdlogic.workflows.inputs import (
    InputOptions,
    ResultTable,
    answer_format,
    check_outputs,
    check_writable,
    classes_are_ordered,
    gold_notices,
    group_annotators,
    percent,
    read_groups,
    relabel_path,
)

# List of items to review or label again, with their answers and votes.

LEAST_SURE = "least sure"
"""How the items of the list were selected."""


def write_relabel_list(
    path: str | Path,
    estimate: Estimate,
    labels: CrowdLabels,
    corpus: Corpus | None,
    *,
    format: str | None = None,
    spreadsheet_safe: bool = False,
) -> None:
    """Write items with their text, answer, confidence and votes; sentences with their tokens and answers.

    Args:
        path: The file.
        estimate: The answers of the items to write.
        labels: The labels of these items, and possibly of others.
        corpus: The items to write, if their texts are known.
        format: The format; None to take it from the suffix.
        spreadsheet_safe: Whether cells that a spreadsheet would read as formulas get a leading quote.
    """
    if estimate.offsets is not None or not isinstance(find_format(path, format), TableFormat):
        write_estimate(path, estimate, corpus=corpus, format=format, spreadsheet_safe=spreadsheet_safe)
        return
    write_table(path, relabel_table(estimate, labels, corpus), format=format, spreadsheet_safe=spreadsheet_safe)


def relabel_table(estimate: Estimate, labels: CrowdLabels, corpus: Corpus | None) -> pl.DataFrame:
    """Return one row per item, the least sure first: item, text, label, confidence, votes, chosen, p_<class>.

    `chosen` marks items that were not drawn at random: if they are corrected and passed as known truths, they must not
    be treated as a sample of all items.
    """
    table = estimate.to_frame()
    table = table.with_columns(as_text(table["label"]).alias("label"))
    # votes[s] of every item: ann: x; bob: y
    classes = pl.Series([str(name) for name in labels.classes], dtype=pl.String)
    vote = as_text(labels.annotators).gather(labels.annotator) + ": " + classes.gather(labels.label)
    rows = pl.DataFrame({"item": labels.unit, "vote": vote})
    given = rows.group_by("item", maintain_order=True).agg(pl.col("vote").str.join("; "))
    everyone = pl.DataFrame({"item": pl.Series(range(len(labels.items)), dtype=rows.schema["item"])})
    by_item = everyone.join(given, on="item", how="left", maintain_order="left")["vote"].fill_null("")
    votes = by_item.gather(find(estimate.items, labels.items)).alias("votes")
    table.insert_column(table.columns.index("confidence") + 1, votes)
    chosen = pl.Series(CHOSEN, [LEAST_SURE] * len(table), dtype=pl.String)
    table.insert_column(table.columns.index("votes") + 1, chosen)
    if corpus is not None and corpus.texts is not None:
        table.insert_column(1, pl.Series("text", corpus.texts, dtype=pl.String))
    return table.sort("confidence", nulls_last=False, maintain_order=True)


# Truth methods as users name them: one by name or the one that suits the labels, several to compare, known truths.

ALL = "all"
"""Name that selects all methods."""


DEPENDENCES: dict[str, Dependence | None] = {"public": PUBLIC_CROWDS, "none": None}
"""Assumed dependence of labels on one item: as on public crowd sets, or none."""


def configured_method(name: str, *, seed: int = 0, dependence: Dependence | None = PUBLIC_CROWDS) -> TruthMethod:
    """Return the named method with its defaults, and with the seed and dependence if it uses them."""
    method: Any = truth_method(name)
    own = {field.name for field in fields(method)} if is_dataclass(method) else set()
    given: dict[str, Any] = {"seed": seed}
    if dependence != PUBLIC_CROWDS:  # otherwise a method may have its own scale for public data
        given["dependence"] = dependence
    changed = {option: value for option, value in given.items() if option in own}
    chosen: TruthMethod = replace(method, **changed) if changed else method
    return chosen


def limit_iterations(method: Any, iterations: int | None) -> Any:
    """Return the method with a maximum number of iterations, if it is iterative."""
    limits = getattr(method, "convergence", None)
    if iterations is None or not isinstance(limits, Convergence):
        return method
    return replace(method, convergence=replace(limits, max_iterations=iterations))


def parse_dependence(name: str, *, option: str = "--dependence") -> Dependence | None:
    """Return the dependence with a name; `option` is the name of the option in the error message."""
    if name not in DEPENDENCES:
        raise OptionError(f"{option} must be one of {name_list(DEPENDENCES)}; got {name!r}.")
    return DEPENDENCES[name]


def suggest_method(labels: CrowdLabels, *, anchored: bool = False) -> tuple[str, str]:
    """Return the name of the method that suits the labels, and why; with anchors, a method that can use them."""
    name, reason = choose_method(labels)
    if anchored and not uses_anchors(name):
        return ("ensemble" if labels.is_sequential else "pool"), "it can use anchors"
    return name, reason


def methods_to_compare(names: Sequence[str], labels: CrowdLabels, *, option: str, anchored: bool = False) -> list[str]:
    """Return the names of the methods to compare, each once: the given ones, or all that can be used for the labels.

    Args:
        names: The names, or only `all`.
        labels: The labels.
        option: Name of the option in error messages.
        anchored: Whether the truth of some items is known; `all` then means all methods that can use it.
    """
    if not names:
        raise OptionError(f"{option}: no method is named. Pass all, or names separated by commas.")
    if list(names) != [ALL]:
        return [TRUTH_METHODS.check(name) for name in dict.fromkeys(names)]
    return [name for name in applicable_methods(labels) if not anchored or uses_anchors(name)]


def anchors_of(known: Answers, labels: CrowdLabels) -> dict[Any, Any]:
    """Return item -> true class (or the tags of a sequence) from answers that are known to be true."""
    lost = np.flatnonzero(find(known.items, labels.items) < 0)
    if len(lost):
        name = known.items[int(lost[0])]
        raise DataError(f"{known.source}: item {name!r} has no labels ({len(lost):,} such items). Leave them out.")
    names = [*known.classes, None]  # code -1, no answer, is the last one
    tags, items = [names[code] for code in known.answer], known.items.to_list()
    if known.offsets is None:
        truths: dict[Any, Any] = {item: tag for item, tag in zip(items, tags, strict=True) if tag is not None}
    else:
        bounds = pairwise(known.offsets.tolist())
        truths = {item: tags[begin:end] for item, (begin, end) in zip(items, bounds, strict=True)}
    if known.at_random is None:
        return truths
    return KnownTruths(truths, at_random=known.items.filter(pl.Series(known.at_random)).to_list())


@contextmanager
def collect_warnings(kind: type[Warning] = ConvergenceWarning) -> Iterator[list[str]]:
    """Yield a list, to which the messages of warnings of one kind are added at the end of the block, each once."""
    messages: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", kind)
        yield messages
    messages.extend(dict.fromkeys(str(warning.message) for warning in caught))


FEW_ANSWERS = 20
"""Minimum number of answers for a range of the number of wrong ones."""


@dataclass(frozen=True, kw_only=True)
class FitOptions:
    """Options for fits of truth methods.

    Attributes:
        labels: The file of labels.
        anchors: A file of items whose truth is known, which is used in the fit.
        gold: A file of true labels, which are only used for scores.
        items: A file of the items, whose texts are written to the list of items to label again.
        seed: Random seed.
        threads: Number of threads; None uses two from a million labels on, otherwise one.
        checkpoint: File for the state of the fit, which is resumed if the file exists.
        dependence: Dependence of labels on one item: a name in `truth_methods.DEPENDENCES`.
        iterations: Maximum number of iterations; None for the method's own.
        groups: A file of annotators and their groups. All annotators of a group count as one; used by the pool only.
        ordered: Whether the classes are ordered; None to take numbers with three values or more as ordered.
        input: Options for reading the labels.
    """

    labels: str
    anchors: str | None = None
    gold: str | None = None
    items: str | None = None
    seed: int = 0
    threads: int | None = None
    checkpoint: str | None = None
    dependence: str = "public"
    iterations: int | None = None
    groups: str | None = None
    ordered: bool | None = None
    input: InputOptions = field(default_factory=InputOptions)


@dataclass(frozen=True, kw_only=True)
class AggregateOptions(FitOptions):
    """The options of `aggregate`.

    Attributes:
        out: The file for the answers.
        method: The truth method; None for the default for the labels.
        annotators: A file for the table of annotators.
        min_confidence: Items with a lower confidence are written to a separate file, to be labelled again.
        save: A folder for the whole estimate.
        ties: How majority vote breaks ties.
        order: With `Ties.order`: the classes, best first.
        format: The format of the answers; None to take it from the suffix.
        spreadsheet_safe: Whether csv and tsv cells that a spreadsheet would read as formulas get a leading quote.
        memory: Bytes of memory that may be used; None for most of what is free.
        engine: Engine that processes labels in shards: a name in `registry.ENGINES`; None decides by their size.
        address: The address of a cluster of that engine; None for this machine.
    """

    out: str
    method: str | None = None
    annotators: str | None = None
    min_confidence: float | None = None
    save: str | None = None
    ties: Ties | None = None
    order: Sequence[str] | None = None
    format: str | None = None
    spreadsheet_safe: bool = False
    memory: int | None = None
    engine: str | None = None
    address: str | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Answered:
    """Answers that were written.

    Attributes:
        estimate: The estimate: of each item, or of each pattern where the labels are patterns; None where the answers
            were written part by part.
        size: Description of the number of answers.
        counts: Counts by name, among them items and annotators.
        written: Description of where the answers were written.
        expected: Expected accuracy; None if the confidence is not calibrated.
        mistakes: Sentence on the number of wrong answers; empty if it is unknown.
        scores: The scores by gold; empty without gold.
        notices: Notices on the fit.
    """

    estimate: Estimate | None
    size: str
    counts: Mapping[str, int]
    written: str
    expected: ExpectedAccuracy | None
    mistakes: str = ""
    scores: Mapping[str, float] = field(default_factory=dict)
    notices: tuple[str, ...] = ()


class FittedLabels(Protocol):
    """A fitted method and the labels it was fitted to."""

    def write_answers(self) -> Answered:
        """Write the answers."""

    def annotator_table(self) -> pl.DataFrame:
        """Return one row per annotator."""


class OpenedLabels(Protocol):
    """Labels that are ready for a fit, wherever they are: in memory, in files, with an engine."""

    @property
    def notices(self) -> tuple[str, ...]:
        """Notices about the labels."""

    def suggest_method(self) -> tuple[str, str]:
        """Return the name of the method that suits the labels, and why."""

    def fit(self, method: TruthMethod) -> FittedLabels:
        """Fit a method."""


FindLabels: TypeAlias = "Callable[[AggregateOptions], AbstractContextManager[OpenedLabels] | None]"
"""An entry of `registry.SOURCES`: a function that opens the labels, or returns None if it does not support them."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Aggregated(Answered):
    """Result of `aggregate_files`: the answers that were written, with notices on the labels as well.

    Attributes:
        method: The truth method.
        reason: Reason for the choice of method; empty if the user named it.
    """

    method: str
    reason: str

    @property
    def message(self) -> str:
        """One-sentence summary."""
        why = f" (chosen because {self.reason})" if self.reason else ""
        return f"{self.method}{why}: {self.size} -> {self.written}"

    @property
    def confidence_message(self) -> str:
        """Sentence on the number of wrong answers; empty if it is unknown."""
        return self.mistakes if self.expected is not None and self.expected.n >= FEW_ANSWERS else ""

    def table(self) -> ResultTable:
        """Return the scores."""
        rows = [(score, percent(value)) for score, value in self.scores.items()]
        return ResultTable(title=self.method, columns=["score", "value"], rows=rows)


def aggregate_files(options: AggregateOptions) -> Aggregated:
    """Estimate the truth of every item of a file of labels, and write it.

    The labels are opened by the first entry of `registry.SOURCES` that supports them, and otherwise read into memory.
    """
    check_outputs(
        (
            options.out,
            options.annotators,
            options.save,
            options.checkpoint,
            None if options.checkpoint is None else f"{options.checkpoint}.shards",
            None if options.min_confidence is None else relabel_path(options.out),
        ),
        read=(options.labels, options.anchors, options.gold, options.items, options.groups),
    )
    # Groups of annotators are merged in memory only
    found = (SOURCES.load(name)(options) for name in SOURCES if options.groups is None)
    opened = next((source for source in found if source is not None), None) or open_in_memory(options)
    with opened as labels:
        method, reason = choose_for_labels(options, labels)
        with collect_warnings() as warned:
            fitted = labels.fit(method)
        with written_together():
            answers = fitted.write_answers()
            if options.annotators is not None:
                table = fitted.annotator_table()
                write_table(options.annotators, table, spreadsheet_safe=options.spreadsheet_safe)
    notices = (*labels.notices, *warned, *answers.notices)
    return Aggregated(**vars(answers) | {"method": method.name, "reason": reason, "notices": notices})


def choose_for_labels(options: AggregateOptions, labels: OpenedLabels) -> tuple[TruthMethod, str]:
    """Return the named method, or the one that suits the labels and why; --ties alone implies majority vote."""
    name, reason = options.method or "majority", ""
    if options.method is None and options.ties is None:
        name, reason = labels.suggest_method()
    if name == "majority":
        from crowdlogic.truth.majority import MajorityVote

        return MajorityVote(ties=options.ties or Ties.random, order=options.order, seed=options.seed), reason
    method = limit_iterations(
        configured_method(name, seed=options.seed, dependence=parse_dependence(options.dependence)), options.iterations
    )
    if options.ties is not None or options.order is not None:
        raise OptionError(f"--ties and --order require majority; {name} weighs the labels, which rarely leaves ties.")
    return method, reason


@contextmanager
def open_in_memory(options: AggregateOptions) -> Iterator[LabelsInMemory]:
    """Read all labels."""
    if options.memory is not None and not len(SOURCES):
        raise OptionError("--memory needs the extension `scale`, which is not installed. Leave it out.")
    written_as = answer_format(options.labels, options.out, read_as=options.input.format, named=options.format)
    options = replace(options, format=written_as)
    check_answers(options)
    crowd, gold, fitting = read_for_fit(options)
    notices = (*crowd.labels.intake.messages(), *single_class(crowd.labels.classes))
    if options.anchors is not None:
        known = anchor_classes(crowd.labels, fitting.anchors)
        if len(known):
            notices += tuple(gold_notices(crowd.labels, known, options.anchors))
    yield LabelsInMemory(options=options, crowd=crowd, gold=gold, fitting=fitting, notices=notices)


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelsInMemory:
    """Labels in memory, with the gold for scores and the inputs of the fit; see `OpenedLabels`."""

    options: AggregateOptions
    crowd: Crowd
    gold: Answers | None
    fitting: Fitting
    notices: tuple[str, ...]

    def suggest_method(self) -> tuple[str, str]:
        """Return the name of the method that suits the labels, and why."""
        return suggest_method(self.crowd.labels, anchored=self.options.anchors is not None)

    def fit(self, method: TruthMethod) -> FittedInMemory:
        """Fit a method, and calibrate the confidence of its answers."""
        estimate = fit_calibrated(method, self.crowd, self.options, fitting=self.fitting)
        return FittedInMemory(labels=self, estimate=estimate)


def fit_calibrated(method: TruthMethod, crowd: Crowd, options: FitOptions, *, fitting: Fitting) -> Estimate:
    """Fit a method to labels in memory with the given options, and calibrate the confidence of its answers."""
    return infer_calibrated(
        method,
        crowd.labels,
        crowd.corpus,
        fitting=fitting,
        dependence=parse_dependence(options.dependence),
        groups=None if options.groups is None else read_groups(options.groups, crowd.labels),
        ordered=classes_are_ordered(crowd.labels.classes, options.ordered, given=options.input.classes is not None),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class FittedInMemory:
    """The estimate of labels in memory; see `FittedLabels`."""

    labels: LabelsInMemory
    estimate: Estimate

    def write_answers(self) -> Answered:
        """Write the answers, and the whole estimate if requested."""
        options, crowd, estimate = self.labels.options, self.labels.crowd, self.estimate
        written = _write_answers(options, estimate, crowd)
        if options.save is not None:
            from crowdlogic.store.estimates import save_estimate

            save_estimate(options.save, estimate)
        expected = None if estimate.calibration is None else expected_accuracy(estimate)
        mistakes, scores = "", {}
        if expected is not None:
            mistakes = describe_mistakes(expected, unit_noun(estimate))
            if estimate.offsets is not None:
                from crowdlogic.data.tagging import is_span_tag_set

                mistakes = describe_spans(estimate) if is_span_tag_set(estimate.classes) else mistakes
        if self.labels.gold is not None:
            from crowdlogic.truth.comparison import score_estimate

            scores = score_estimate(estimate, self.labels.gold)
        return Answered(
            estimate=estimate,
            size=describe_estimate(estimate),
            counts=estimate.counts,
            written=written,
            expected=expected,
            mistakes=mistakes,
            scores=scores,
            notices=self.notices,
        )

    @property
    def notices(self) -> tuple[str, ...]:
        """Signs that the answers cannot be trusted, and the command that also learns from the texts of the items."""
        options, crowd = self.labels.options, self.labels.crowd
        signs = tuple(warning_signs(crowd.labels, self.estimate))
        if crowd.corpus is None or crowd.corpus.texts is None or options.labels == STANDARD_STREAM:
            return signs
        items = "" if options.items is None else f" --items {shlex.quote(options.items)}"
        command = f"crowdlogic train --labels {shlex.quote(options.labels)}{items} -o run"
        return (*signs, f"The texts of the items were not used. To learn from them as well: {command}")

    def annotator_table(self) -> pl.DataFrame:
        """Return one row per annotator, with the verdict."""
        from crowdlogic.confidence.annotator_verdicts import annotator_table

        return annotator_table(self.labels.crowd.labels, self.estimate)


def check_answers(options: AggregateOptions) -> None:
    """Raise an error for outputs that cannot be written or would be lost, before any work is done."""
    save, least = options.save, options.min_confidence
    if save is not None and Path(save).exists() and (not Path(save).is_dir() or any(Path(save).iterdir())):
        raise OptionError(f"--save: {save} exists already. Choose a folder that is new or empty.")
    if least is not None and not 0 <= least <= 1:
        raise OptionError(f"--min-confidence must be a probability from 0 to 1, got {least:g}.")
    if least is not None and options.out == STANDARD_STREAM:
        raise OptionError("--min-confidence writes two files; name one with -o FILE.")
    check_writable(options.out, options.format)
    check_writable(options.annotators)


def read_for_fit(options: FitOptions) -> tuple[Crowd, Answers | None, Fitting]:
    """Read the labels, the gold, and the other inputs of a fit."""
    by_file = options.input.by_file(options.labels, options.anchors, options.gold, options.items)
    crowd = by_file[options.labels].read_crowd(options.labels)
    if options.items is not None:
        crowd = Crowd(*align(crowd.labels, by_file[options.items].read_corpus(options.items)))
    gold = None if options.gold is None else by_file[options.gold].read_answers(options.gold)
    known = None if options.anchors is None else by_file[options.anchors].read_answers(options.anchors)
    anchors = None if known is None else anchors_of(known, crowd.labels)
    fitting = Fitting(anchors=anchors, checkpoint=options.checkpoint, threads=options.threads)
    if gold is not None and (find(gold.items, crowd.labels.items) < 0).all():
        raise DataError(
            f"{options.gold}: none of its items has labels (labelled are {name_list(crowd.labels.items[:3])}, ...)."
        )
    return crowd, gold, fitting


def _write_answers(options: AggregateOptions, estimate: Estimate, crowd: Crowd) -> str:
    """Write the answers, those below the minimum confidence to a second file; return a description of the files."""
    least, corpus = options.min_confidence, crowd.corpus
    form: dict[str, Any] = {"format": options.format, "spreadsheet_safe": options.spreadsheet_safe}
    if least is None:
        write_estimate(options.out, estimate, corpus=corpus, **form)
        return options.out
    from crowdlogic.confidence.calibration import split_by_confidence, take_items

    sure, unsure = split_by_confidence(estimate, least)
    relabelled = relabel_path(options.out)
    known, doubtful = (None if corpus is None else corpus.take_items(items) for items in (sure, unsure))
    write_relabel_list(relabelled, take_items(estimate, unsure), crowd.labels, doubtful, **form)
    write_estimate(options.out, take_items(estimate, sure), corpus=known, **form)
    again = f"{relabelled} ({pluralise(len(unsure), 'item')} to label again, below {least:g})"
    return f"{options.out} ({pluralise(len(sure), 'item')}), {again}"


def unit_noun(estimate: Estimate) -> str:
    """Return the noun for an answer."""
    return "label" if estimate.offsets is None else "tag"


def describe_estimate(estimate: Estimate) -> str:
    """Return a clause on the number of answers."""
    kind = (
        f"{pluralise(len(estimate.items), 'sentence')}, {pluralise(len(estimate.answer), 'token')}"
        if estimate.offsets is not None
        else pluralise(len(estimate.items), "item")
    )
    open_units = int(np.count_nonzero(~estimate.answered))
    parts = [kind, pluralise(len(estimate.annotators), "annotator")]
    parts += [pluralise(estimate.tied, "tie")] if estimate.tied else []
    parts += [f"{open_units:,} without labels and so without an answer"] if open_units else []
    return ", ".join(parts)


# The functions for Python: labels in memory in, an Estimate out.


def aggregate(
    labels: Any,
    method: str | TruthMethod | None = None,
    *,
    items: Corpus | None = None,
    anchors: Mapping[Any, Any] | None = None,
    dependence: str = "public",
    groups: Mapping[Any, Any] | None = None,
    ordered: bool | None = None,
    seed: int = 0,
) -> Estimate:
    """Estimate the truth of every item, with the same answers and calibrated confidence as the command `aggregate`.

    Unlike a method's own `infer`, which returns the posterior of its model, the confidence takes into account that
    annotators make the same mistakes (docs/concepts/confidence.md).

    Args:
        labels: CrowdLabels, a frame with one row per label, or the path of a file of labels.
        method: A truth method or its name; None for the one that suits the labels.
        items: The items, for methods that read them.
        anchors: Known truths as item -> class, or item -> tags for sentences. If 30 or more were drawn at random, the
            confidence is also fitted to them.
        dependence: How strongly the labels of an item depend on each other: "public" (as in public data sets) or
            "none" (return the method's own posterior).
        groups: Mapping from annotators to groups. All annotators of a group count as one; used by the pool only.
        ordered: Whether the classes are ordered; None treats three or more ascending numbers as ordered. The pool uses
            the order when it learns from anchors.
        seed: Random seed, for methods that need one.
    """
    corpus = items
    if isinstance(labels, str | Path):
        crowd = read_crowd(labels)
        labels, corpus = crowd.labels, items or crowd.corpus
    elif not isinstance(labels, CrowdLabels):
        corpus = items or texts_beside_labels(labels)
        labels = as_labels(labels, "aggregate")
    if items is not None:
        labels, corpus = align(labels, items)
    known = parse_dependence(dependence, option="dependence")
    if method is None:
        method = suggest_method(labels, anchored=anchors is not None)[0]
    if isinstance(method, str):
        method = configured_method(method, seed=seed, dependence=known)
    elif seed:
        raise OptionError(
            "seed: a method passed as an object has its own seed. Set it there, or pass the name of the method."
        )
    return infer_calibrated(
        method,
        labels,
        corpus,
        fitting=Fitting(anchors=anchors),
        dependence=known,
        groups=None if groups is None else group_annotators(groups, labels),
        ordered=classes_are_ordered(labels.classes, ordered, given=ordered is not None),
    )


def calibrate(labels: CrowdLabels, estimate: Estimate) -> Estimate:
    """Return the estimate of a truth method with calibrated confidence, as `aggregate` states it.

    Estimates of learning methods are returned unchanged, since training calibrates them if possible.
    """
    if estimate.calibration is not None or estimate.method in LEARNING_METHODS:
        return estimate
    return state_confidence(labels, estimate)


def annotator_table(labels: Any, estimate: Estimate, *, level: float = 0.95) -> pl.DataFrame:
    """Return one row per annotator with the verdict, its reason and figures, as `aggregate --annotators` writes them.

    The estimate of a truth method's own `infer` is calibrated first. See `crowdlogic.annotators.annotator_table` for
    the columns.

    Args:
        labels: The labels that the estimate was made from, or the frame that holds them.
        estimate: The estimate of a method, or of a learned model.
        level: Level of the credible intervals.
    """
    from crowdlogic.confidence.annotator_verdicts import annotator_table as table_of_annotators

    labels, estimate = as_labels(labels, "annotator_table"), getattr(estimate, "estimate", estimate)
    if isinstance(estimate, Estimate) and len(estimate.beliefs) == labels.n_units:
        estimate = calibrate(labels, estimate)
    return table_of_annotators(labels, estimate, level=level)
