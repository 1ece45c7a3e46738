"""Input of a review: labels, items, a first fit, and how to refit it with decisions.

Labels are aggregated first; a saved estimate or run already contains beliefs. Decisions enter as known truths: truth
methods are refitted from their last beliefs (`review_queue.refit`), runs repeat their M- and E-steps
(`refit_run`).

Axes: i unit, k class.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from crowdlogic.classifiers.protocol import AbsentClassifier
from crowdlogic.data.blocks import anchor_classes
from crowdlogic.data.corpus import UNKNOWN, Corpus
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.files import InputFile
from crowdlogic.data.formats.protocol import detect_format
from crowdlogic.data.formats.tables import TableFormat
from crowdlogic.data.labels import CrowdLabels, require_whole_labels
from crowdlogic.errors import CorpusError, MissingDataError, OptionError
from crowdlogic.extensions.review.evidence import ReviewRules, read_review_rules, rules_of_run
from crowdlogic.extensions.review.refit_run import known_truths, refit
from crowdlogic.extensions.review.review_queue import Committee, Decisions, make_committee
from crowdlogic.extensions.review.review_queue import refit as refit_method
from crowdlogic.learning.learned import Learned
from crowdlogic.learning.saved_run import load_run
from crowdlogic.numerics.arrays import Ints
from crowdlogic.registry import TRUTH_METHODS
from crowdlogic.reporting.inputs import inputs_from_estimate
from crowdlogic.store.estimates import NAMES, load_estimate
from crowdlogic.store.files import is_run
from crowdlogic.truth.dependence import keep_known, state_confidence
from crowdlogic.truth.methods import TruthMethod, uses_anchors
from crowdlogic.workflows.aggregate import collect_warnings, configured_method, suggest_method
from crowdlogic.workflows.inputs import InputOptions
from crowdlogic.workflows.report import is_labels


@dataclass(frozen=True, kw_only=True)
class ReviewOptions:
    """Options of a review.

    Attributes:
        source: File of labels, or the folder of an estimate or a run.
        labels: For an estimate: file of the labels from which it was computed.
        items: File of the items; already included in a run.
        rules: For labels or an estimate: file of rules to display.
        tables: Facts for predicates, as Name=file.
        method: For labels: the truth method; None to choose one automatically.
        seed: Random seed.
        input: Options for reading the labels.
    """

    source: str
    labels: str | None = None
    items: str | None = None
    rules: str | None = None
    tables: tuple[str, ...] = ()
    method: str | None = None
    seed: int = 0
    input: InputOptions = field(default_factory=InputOptions)


@dataclass(frozen=True, eq=False, kw_only=True)
class ReviewFit:
    """Fit of a review at one moment.

    Attributes:
        estimate: Estimate with calibrated beliefs.
        learned: For a run: the learned model; None without a classifier.
    """

    estimate: Estimate
    learned: Learned | None = None


class ReviewFitter(Protocol):
    """Protocol for refitting a review."""

    def refit(self, last: ReviewFit, decisions: Decisions, *, recalibrate: bool = False, epochs: int = 0) -> ReviewFit:
        """Return a refit with the decisions as known truths, starting from the last fit.

        Args:
            last: The last fit.
            decisions: All decisions so far.
            recalibrate: Whether to recalibrate the confidence on decisions drawn at random.
            epochs: Number of extra training epochs for the classifier of a run.
        """


@dataclass(frozen=True, eq=False, kw_only=True)
class ReviewMaterial:
    """Input of a review.

    Attributes:
        title: Title, without a folder.
        labels: The labels.
        corpus: The items; None if only their names are known.
        fit: The first fit.
        fitter: Fitter that refits the review with decisions.
        rules: The rules; None without rules.
        tool: Name of the annotation tool's format in which the labels were read; None for plain tables.
        notices: Messages to the user.
    """

    title: str
    labels: CrowdLabels
    corpus: Corpus | None
    fit: ReviewFit
    fitter: ReviewFitter
    rules: ReviewRules | None = None
    tool: str | None = None
    notices: tuple[str, ...] = ()

    @cached_property
    def committee(self) -> Committee:
        """Committee of other methods on the same labels, for finding likely mistakes."""
        return make_committee(self.labels, self.fit.estimate)

    @property
    def has_classifier(self) -> bool:
        """Whether there is a classifier that can be trained on the decisions."""
        return self.fit.learned is not None


@dataclass(frozen=True, eq=False)
class TruthFitter:
    """Fitter that refits a truth method with decisions."""

    method: TruthMethod
    labels: CrowdLabels
    corpus: Corpus | None = None

    def infer(self) -> Estimate:
        """Return the first fit, without decisions."""
        return state_confidence(self.labels, self.method.infer(self.labels, self.corpus))

    def refit(
        self,
        last: ReviewFit,
        decisions: Decisions,
        *,
        recalibrate: bool = False,
        epochs: int = 0,  # noqa: ARG002 (there is no classifier)
    ) -> ReviewFit:
        """Refit from the last beliefs; a method without support for known truths is not refitted."""
        estimate = last.estimate
        if uses_anchors(self.method.name):
            estimate = refit_method(
                self.method, self.labels, estimate, decisions, corpus=self.corpus, recalibrate=recalibrate
            )
        return ReviewFit(estimate=with_truths(estimate, self.labels, decisions.truth))


@dataclass(frozen=True, eq=False)
class RunFitter:
    """Fitter that refits a run with decisions; `trained_with` are the truths known in training."""

    trained_with: Ints

    def refit(
        self,
        last: ReviewFit,
        decisions: Decisions,
        *,
        recalibrate: bool = False,  # noqa: ARG002 (the calibration of the run is kept)
        epochs: int = 0,
    ) -> ReviewFit:
        """Repeat M- and E-steps from the last beliefs, with the decisions as known truths."""
        if last.learned is None:
            raise OptionError("The last fit has no run that can be refitted. Start the review from a run.")
        known = decisions.classes(last.learned.task.labels)
        learned = refit(last.learned, np.where(known == UNKNOWN, self.trained_with, known), epochs=epochs)
        return ReviewFit(estimate=learned.estimate, learned=learned)


def with_truths(estimate: Estimate, labels: CrowdLabels, anchors: Mapping[Any, Any]) -> Estimate:
    """Return the estimate with certainty where the truth is known."""
    if not anchors:
        return estimate
    known = anchor_classes(labels, anchors)
    beliefs = keep_known(estimate.beliefs.copy(), labels, anchors)
    return replace(estimate, beliefs=beliefs, answer=np.where(known == UNKNOWN, estimate.answer, known))


def load_material(options: ReviewOptions) -> ReviewMaterial:
    """Read the input of a review, and aggregate labels if needed."""
    home = Path(options.source)
    if is_labels(options.source):
        material = _from_labels(options)
    elif is_run(home):
        return _from_run(home, options)
    elif (home / NAMES).is_file():
        material = _from_estimate(home, options)
    else:
        raise MissingDataError(
            f"{home}: this folder contains neither a run nor an estimate. Name a file of labels, or a folder that "
            f"`train` or `aggregate --save` wrote."
        )
    if options.rules is None:
        return material
    if material.corpus is None:
        raise CorpusError(f"{options.rules}: rules require texts. Pass them with --items FILE.")
    rules, left_out = read_review_rules(options.rules, options.tables, material.corpus, material.labels.classes)
    return replace(material, rules=rules, notices=(*material.notices, *left_out))


def _from_labels(options: ReviewOptions) -> ReviewMaterial:
    crowd = options.input.read_labelled(options.source, options.items)
    require_whole_labels(crowd.labels, "A review")
    name, reason = options.method, ""
    if name is None:
        name, reason = suggest_method(crowd.labels, anchored=True)
    fitter = TruthFitter(configured_method(name, seed=options.seed), crowd.labels, crowd.corpus)
    with collect_warnings() as warned:
        fit = ReviewFit(estimate=fitter.infer())
    why = f", chosen because {reason}" if reason else ""
    title = Path(options.source).name
    return ReviewMaterial(
        title=title,
        labels=crowd.labels,
        corpus=crowd.corpus,
        fit=fit,
        fitter=fitter,
        tool=tool_format(options.source, options.input.format),
        notices=(*crowd.labels.intake.messages(), f"{title}: aggregated by {name}{why}.", *warned),
    )


def _from_estimate(home: Path, options: ReviewOptions) -> ReviewMaterial:
    if options.labels is None:
        raise OptionError(f"{home}: an estimate does not contain the labels. Pass them with --labels FILE.")
    by_file = options.input.by_file(options.labels, options.items)
    crowd = by_file[options.labels].read_crowd(options.labels)
    corpus = crowd.corpus if options.items is None else by_file[options.items].read_corpus(options.items)
    inputs = inputs_from_estimate(load_estimate(home), crowd.labels, corpus)
    name = inputs.estimate.method
    if name not in TRUTH_METHODS or not uses_anchors(name):
        name = suggest_method(inputs.labels, anchored=True)[0]
    return ReviewMaterial(
        title=home.name,
        labels=inputs.labels,
        corpus=inputs.corpus,
        fit=ReviewFit(estimate=inputs.estimate),
        fitter=TruthFitter(configured_method(name, seed=options.seed), inputs.labels, inputs.corpus),
        tool=tool_format(options.labels, options.input.format),
    )


def _from_run(home: Path, options: ReviewOptions) -> ReviewMaterial:
    given = {"--labels": options.labels, "--items": options.items, "--rules": options.rules, "-m": options.method}
    for flag, value in given.items():
        if value is not None:
            raise OptionError(f"{home}: a run already contains its labels, items, rules and method. Leave {flag} out.")
    learned = load_run(home).learned
    if isinstance(learned.classifier, AbsentClassifier):
        raise OptionError(
            f"{learned.classifier.message} Alternatively, review the labels of the run: crowdlogic review LABELS."
        )
    require_whole_labels(learned.task.labels, "A review")
    return ReviewMaterial(
        title=home.resolve().name,
        labels=learned.task.labels,
        corpus=learned.task.corpus,
        fit=ReviewFit(estimate=learned.estimate, learned=learned),
        fitter=RunFitter(known_truths(learned)),
        rules=rules_of_run(learned),
    )


def tool_format(path: str, read_as: str | None) -> str | None:
    """Return the annotation tool's format of a file, if answers can be written in it as one file."""
    found = detect_format(InputFile(path), read_as)
    fits = found.overrides("encode_estimate") and not found.writes_folder and not isinstance(found, TableFormat)
    return found.name if fits else None
