"""The protocol of truth methods, and the default choice. `registry.TRUTH_METHODS` lists them by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Protocol, TypeVar

import polars as pl

from crowdlogic.data.answers import Answers, answers_from_estimate, answers_from_gold
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.frames import as_labels
from crowdlogic.data.intake.contract import TableSource, to_column, to_polars
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.tagging import is_span_tag_set
from crowdlogic.errors import CorpusError, LabelError, OptionError
from crowdlogic.registry import TRUTH_METHODS
from crowdlogic.truth.fitting import DEFAULT_FIT, Fitting


@TRUTH_METHODS.serves
class TruthMethod(Protocol):
    """Options as fields, and `infer`.

    Optional class attributes: `needs_sequences` (default False), `uses_anchors` (default True) and
    `takes_partial_labels` (default False).
    """

    @property
    def name(self) -> str:
        """The method's name, as the command line knows it."""
        ...

    def infer(self, labels: CrowdLabels, corpus: Corpus | None = None, *, fitting: Fitting = DEFAULT_FIT) -> Estimate:
        """Estimate the truth of every unit."""
        ...


WHAT_IT_IS = (
    "A truth method has a name and infer(labels, corpus=None, *, fitting=Fitting()), which gives an Estimate: "
    "make_estimate(labels, name, beliefs), with a row of beliefs for each unit and a column for each class."
)
"""What a truth method must be, for messages."""


def truth_method(name: str) -> TruthMethod:
    """Return the method of that name, with its defaults."""
    method: TruthMethod = TRUTH_METHODS.load(name)()
    return method


def as_truth_method(given: Any, *, option: str = "truth") -> TruthMethod:
    """A truth method as it is, or by its name; what is none is refused in one sentence. `option` is for messages."""
    if isinstance(given, str):
        return truth_method(given)
    if isinstance(given, type):
        raise OptionError(f"{option}: {given.__name__} is a class. Give a method made of it: {given.__name__}().")
    if not isinstance(getattr(given, "name", None), str):
        raise OptionError(f"{option}: {_called(given)} has no name. {WHAT_IT_IS}")
    _check_signature(given, option)
    method: TruthMethod = given
    return method


def infer_truth(
    method: TruthMethod, labels: CrowdLabels, corpus: Corpus | None = None, *, fitting: Fitting = DEFAULT_FIT
) -> Estimate:
    """The estimate of a truth method; one of another package that is not as it should be is refused in one sentence."""
    _check_signature(method)
    estimate = method.infer(labels, corpus, fitting=fitting)
    if not isinstance(estimate, Estimate):
        raise OptionError(f"truth: infer of {method.name} gave a {type(estimate).__name__}. {WHAT_IT_IS}")
    if estimate.beliefs.shape != (labels.n_units, labels.n_classes):
        raise OptionError(
            f"truth: {method.name} gave beliefs of shape {estimate.beliefs.shape} for {labels.n_units:,} units and "
            f"{labels.n_classes:,} classes. {WHAT_IT_IS}"
        )
    return estimate


def _check_signature(method: Any, option: str = "truth") -> None:
    """Refuse a method whose `infer` cannot be called as all are."""
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
    """Return whether a method models transitions between tags, and so takes sequences only."""
    return bool(getattr(TRUTH_METHODS.load(name), "needs_sequences", False))


def uses_anchors(name: str) -> bool:
    """Return whether a method can use items whose truth is known."""
    return bool(getattr(TRUTH_METHODS.load(name), "uses_anchors", True))


def takes_partial_labels(name: str) -> bool:
    """Return whether a method has confusion matrices, in which labels that say which class it is not have a meaning."""
    return bool(getattr(TRUTH_METHODS.load(name), "takes_partial_labels", False))


def applicable_methods(labels: CrowdLabels) -> list[str]:
    """Return the names of the methods that can take these labels."""
    suitable = [name for name in TRUTH_METHODS.loadable() if labels.is_sequential or not needs_sequences(name)]
    return [name for name in suitable if labels.negated is None or takes_partial_labels(name)]


ENOUGH = 15
"""Minimum number of labels per annotator and class for estimating confusion matrices of tags."""

FEW = 2
"""Minimum number of labels per annotator and class for estimating anything about annotators of tags."""


WHY_POOL = "on average it was more accurate than counting votes on public crowds and panels"
"""Why the pool is the default for single items, in words."""

WHY_ENSEMBLE = "it weighs confusion matrices by how many labels there are for them"
"""Why the ensemble is the default for tags that are not spans, in words."""


def choose_method(labels: CrowdLabels) -> tuple[str, str]:
    """Return the name of the method that suits the labels, and the reason.

    Labels that say which class it is not: dawid-skene, or bsc-seq for sentences. Where most labels come from annotators
    who only ever give one class, such as labelling functions: mace. Other single items: the pool, in which the vote
    holds back the models of annotators. Tags that are not spans: the ensemble. Spans in sentences, by the labels per
    annotator and class: bsc-seq from 15 on, hmm-crowd from 2 on, else majority; mace where their tables would be too
    large.
    """
    from crowdlogic.annotators.label_sums import find_labelling_functions
    from crowdlogic.annotators.protocol import MOST_CELLS

    if labels.negated is not None:
        return ("bsc-seq" if labels.is_sequential else "dawid-skene"), "some labels only say which class it is not"
    size = len(labels.annotators) * labels.n_classes
    each = labels.n_labels / max(size, 1)
    if each >= FEW and find_labelling_functions(labels).any():
        return "mace", "most labels are of annotators who only ever give one class"
    if not (labels.is_sequential and is_span_tag_set(labels.classes)):
        return ("ensemble", WHY_ENSEMBLE) if labels.is_sequential else ("pool", WHY_POOL)
    why = f"it suits {each:.1f} labels per annotator and class"
    if each < FEW:
        return "majority", why
    if size * labels.n_classes**2 > MOST_CELLS:
        return "mace", f"confusion matrices of {labels.n_classes:,} classes are too large"
    return ("bsc-seq" if each >= ENOUGH else "hmm-crowd"), why


# What people hand to `infer` or to score it: labels and gold, or frames of them; else one sentence refuses it.

Infer = TypeVar("Infer", bound=Callable[..., Estimate])


def takes_frames(infer: Infer) -> Infer:
    """`infer(labels, corpus=None, ...)` that also takes a frame of labels; what is none is refused in one sentence."""

    @wraps(infer)
    def accepting(self: Any, labels: Any, corpus: Corpus | None = None, **options: Any) -> Estimate:
        if isinstance(labels, Corpus):
            raise LabelError("infer: items where labels are expected. Write infer(labels), or infer(labels, corpus).")
        return infer(self, as_labels(labels, "infer"), corpus, **options)

    return accepting  # type: ignore[return-value]


def as_answers(gold: Any, where: str) -> Answers:
    """Gold as it is, or from a corpus, an estimate, a frame or {item: class}; else it is refused in one sentence.

    Args:
        gold: What was given.
        where: The function that it was given to, for the message.
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
        f"{where}: a {type(gold).__name__} where gold is expected. Give a frame with item and label, {{item: class}}, "
        f"or a Corpus with gold."
    )


GOLD = "the gold"
"""Name in messages."""


def _from_table(table: Any) -> Answers:
    from crowdlogic.data.formats.tables import answers_from_table  # which not every method needs

    source = TableSource(GOLD)
    return answers_from_table(to_polars(table, source), source)
