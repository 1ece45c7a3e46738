"""Protocol for truth methods, and the default choice. `registry.TRUTH_METHODS` lists the methods by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, ClassVar, Protocol, TypeVar

import polars as pl

from crowdlogic.data.blocks import Engine, anchor_classes, make_shards
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Answers, Estimate, answers_from_estimate, answers_from_gold
from crowdlogic.data.frames import as_labels
from crowdlogic.data.intake.contract import TableSource, to_column, to_polars
from crowdlogic.data.labels import CrowdLabels, require_whole_labels
from crowdlogic.errors import CorpusError, LabelError, OptionError
from crowdlogic.registry import TRUTH_METHODS
from crowdlogic.truth.fitting import (
    DEFAULT_FIT,
    EngineFit,
    Fitting,
    empty_estimate,
    estimate_of_fit,
    pattern_shards,
    paying_patterns,
    refuse_anchors,
)


@TRUTH_METHODS.serves
class TruthMethod(Protocol):
    """Protocol for truth methods: a frozen dataclass with `infer(labels)`.

    Optional class attributes: `needs_sequences` (default False), `uses_anchors` (default True) and
    `takes_partial_labels` (default False).
    """

    @property
    def name(self) -> str:
        """Name of the method on the command line."""
        ...

    def infer(self, labels: CrowdLabels, corpus: Corpus | None = None, *, fitting: Fitting = DEFAULT_FIT) -> Estimate:
        """Estimate the truth of every unit."""
        ...


WHAT_IT_IS = (
    "A truth method has a name and infer(labels, corpus=None, *, fitting=Fitting()), which returns an Estimate: "
    "make_estimate(labels, name, beliefs), with one row of beliefs per unit and one column per class."
)
"""Requirements for a truth method, used in error messages."""


def truth_method(name: str) -> TruthMethod:
    """Return the named method with its default options."""
    method: TruthMethod = TRUTH_METHODS.load(name)()
    return method


def as_truth_method(given: Any, *, option: str = "truth") -> TruthMethod:
    """Return a truth method, given itself or its name. `option` names the option in error messages."""
    if isinstance(given, str):
        return truth_method(given)
    if isinstance(given, type):
        raise OptionError(f"{option}: {given.__name__} is a class. Pass an instance: {given.__name__}().")
    if not isinstance(getattr(given, "name", None), str):
        raise OptionError(f"{option}: {_called(given)} has no attribute `name`. {WHAT_IT_IS}")
    _check_signature(given, option)
    method: TruthMethod = given
    return method


def infer_truth(
    method: TruthMethod, labels: CrowdLabels, corpus: Corpus | None = None, *, fitting: Fitting = DEFAULT_FIT
) -> Estimate:
    """Run a truth method and validate its estimate, since methods of other packages may return anything."""
    _check_signature(method)
    estimate = method.infer(labels, corpus, fitting=fitting)
    if not isinstance(estimate, Estimate):
        raise OptionError(f"truth: infer of {method.name} returned a {type(estimate).__name__}. {WHAT_IT_IS}")
    if estimate.beliefs.shape != (labels.n_units, labels.n_classes):
        raise OptionError(
            f"truth: {method.name} returned beliefs of shape {estimate.beliefs.shape} for {labels.n_units:,} units "
            f"and {labels.n_classes:,} classes. {WHAT_IT_IS}"
        )
    return estimate


def _check_signature(method: Any, option: str = "truth") -> None:
    """Raise an error for a method whose `infer` has the wrong signature."""
    infer = getattr(method, "infer", None)
    if not callable(infer):
        raise OptionError(f"{option}: {_called(method)} has no infer. {WHAT_IT_IS}")
    try:
        signature = inspect.signature(infer)
        signature.bind(None, None, fitting=None)
    except TypeError:
        raise OptionError(f"{option}: {_called(method)} has infer{signature}. {WHAT_IT_IS}") from None


def _called(method: Any) -> str:
    return f"a {type(method).__name__}"


def needs_sequences(name: str) -> bool:
    """Return whether a method models transitions between tags, and so only accepts sequences."""
    return bool(getattr(TRUTH_METHODS.load(name), "needs_sequences", False))


def uses_anchors(name: str) -> bool:
    """Return whether a method can use items whose truth is known."""
    return bool(getattr(TRUTH_METHODS.load(name), "uses_anchors", True))


def takes_partial_labels(name: str) -> bool:
    """Return whether a method accepts labels that only exclude a class, as methods with confusion matrices do."""
    return bool(getattr(TRUTH_METHODS.load(name), "takes_partial_labels", False))


def applicable_methods(labels: CrowdLabels) -> list[str]:
    """Return the names of the methods that support these labels."""
    suitable = [name for name in TRUTH_METHODS.loadable() if labels.is_sequential or not needs_sequences(name)]
    return [name for name in suitable if labels.negated is None or takes_partial_labels(name)]


ENOUGH = 15
"""Minimum number of labels per annotator and class for estimating confusion matrices of tags."""

FEW = 2
"""Minimum number of labels per annotator and class for estimating anything about annotators of tags."""


WHY_POOL = "on average it was more accurate than counting votes on public crowds and panels"
"""Reason for the pool as the default for single items."""

WHY_ENSEMBLE = "it weights confusion matrices by the number of labels per annotator"
"""Reason for the ensemble as the default for tags that are not spans."""


def choose_method(labels: CrowdLabels) -> tuple[str, str]:
    """Return the name of the method that suits the labels, and the reason.

    Partial labels: dawid-skene, or bsc-seq for sentences. If most labels come from annotators who only give one class,
    such as labelling functions: mace. Other single items: the pool, in which the vote limits the influence of the
    models of annotators. Tags that are not spans: the ensemble. Spans in sentences, by the number of labels per
    annotator and class: bsc-seq for at least 15, hmm-crowd for at least 2, otherwise majority; mace if their tables
    would be too large.
    """
    from crowdlogic.annotators.label_sums import MOST_CELLS, find_labelling_functions

    if labels.negated is not None:
        return ("bsc-seq" if labels.is_sequential else "dawid-skene"), "some labels only exclude a class"
    size = len(labels.annotators) * labels.n_classes
    each = labels.n_labels / max(size, 1)
    if each >= FEW and find_labelling_functions(labels).any():
        return "mace", "most labels are by annotators who only give one class"
    if not labels.is_sequential:
        return "pool", WHY_POOL
    from crowdlogic.data.tagging import is_span_tag_set

    if not is_span_tag_set(labels.classes):
        return "ensemble", WHY_ENSEMBLE
    why = f"it suits {each:.1f} labels per annotator and class"
    if each < FEW:
        return "majority", why
    if size * labels.n_classes**2 > MOST_CELLS:
        return "mace", f"confusion matrices of {labels.n_classes:,} classes are too large"
    return ("bsc-seq" if each >= ENOUGH else "hmm-crowd"), why


# Conversion of labels and gold from data frames.

Infer = TypeVar("Infer", bound=Callable[..., Estimate])


def takes_frames(infer: Infer) -> Infer:
    """Wrap `infer(labels, corpus=None, ...)` so that it also accepts a data frame of labels."""

    @wraps(infer)
    def accepting(self: Any, labels: Any, corpus: Corpus | None = None, **options: Any) -> Estimate:
        if isinstance(labels, Corpus):
            raise LabelError("infer: got items instead of labels. Write infer(labels), or infer(labels, corpus).")
        return infer(self, as_labels(labels, "infer"), corpus, **options)

    return accepting  # type: ignore[return-value]


class FitsBlocks:
    """Base class with `infer` of methods that are fitted to blocks of labels by `fit_over`."""

    name: ClassVar[str]
    uses_anchors: ClassVar[bool] = True
    takes_partial_labels: ClassVar[bool] = False

    @takes_frames
    def infer(self, labels: CrowdLabels, corpus: Corpus | None = None, *, fitting: Fitting = DEFAULT_FIT) -> Estimate:  # noqa: ARG002 (no text needed)
        """Fit to labels, or to a frame of labels.

        If few annotators label everything, units with equal labels are computed once (`find_patterns`).
        """
        if not self.uses_anchors:
            refuse_anchors(self.name, fitting)
        if not self.takes_partial_labels:
            require_whole_labels(labels, self.name)
        if not labels.n_labels:
            return empty_estimate(labels, self.name)
        partial = self.takes_partial_labels
        blocks = make_shards(labels, anchors=fitting.anchors, threads=fitting.threads, partial=partial)
        fixed = anchor_classes(labels, fitting.anchors)
        patterns = None if fitting.start is not None else paying_patterns(labels, fixed)
        if patterns is None:
            fit = self.fit_over(blocks, labels=labels, fitting=fitting)
            return estimate_of_fit(self, fit, labels, answer_all=fitting.answer_all)
        known = fixed[patterns.unit] if len(fixed) else None
        few = pattern_shards(labels.take_items(patterns.unit), patterns.times, fixed=known, compiled=blocks.compiled)
        fit = self.fit_over(few, fitting=fitting)
        return estimate_of_fit(self, fit, labels, pattern=patterns.pattern, answer_all=fitting.answer_all)

    def fit_over(
        self, blocks: Engine, *, labels: CrowdLabels | None = None, fitting: Fitting = DEFAULT_FIT
    ) -> EngineFit:
        """Fit to blocks of labels, wherever they are; `labels` are the same labels if they are in memory."""
        raise NotImplementedError


def as_answers(gold: Any, where: str) -> Answers:
    """Convert gold to Answers, from a corpus, an estimate, a data frame or {item: class}.

    Args:
        gold: The gold in any of these forms.
        where: Name of the calling function, for error messages.
    """
    if isinstance(gold, Answers):
        return gold
    if isinstance(gold, Corpus):
        return answers_from_gold(gold, GOLD)
    if isinstance(gold, Estimate):
        return answers_from_estimate(gold, GOLD)
    if hasattr(gold, "columns") and not isinstance(gold, type):
        return _from_table(gold)
    if isinstance(gold, Mapping) and gold:
        values = list(gold.values())
        role = "tags" if all(isinstance(one, list | tuple) for one in values) else "label"
        return _from_table(pl.DataFrame({"item": to_column("item", list(gold)), role: to_column(role, values)}))
    raise CorpusError(
        f"{where}: a {type(gold).__name__} cannot be used as gold. Pass a frame with item and label, {{item: class}}, "
        f"or a Corpus with gold."
    )


GOLD = "the gold"
"""Name of the gold in error messages."""


def _from_table(table: Any) -> Answers:
    from crowdlogic.data.formats.tables import answers_from_table  # needed by some methods only

    source = TableSource(GOLD)
    return answers_from_table(to_polars(table, source), source)
