"""The command `aggregate` as a function, from labels in memory to an Estimate with calibrated confidence."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from crowdlogic.confidence.annotator_verdicts import LEVEL
from crowdlogic.confidence.annotator_verdicts import annotator_table as table_of_annotators
from crowdlogic.confidence.calibration import infer_calibrated
from crowdlogic.data.corpus import Corpus, align
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.frames import as_labels
from crowdlogic.data.item_tables import texts_beside_labels
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.reading import read_crowd
from crowdlogic.errors import OptionError
from crowdlogic.registry import LEARNING_METHODS
from crowdlogic.truth.dependence import state_confidence
from crowdlogic.truth.fitting import Fitting
from crowdlogic.truth.methods import TruthMethod
from crowdlogic.workflows.aggregate import configured_method, parse_dependence, suggest_method


def aggregate(
    labels: Any,
    method: str | TruthMethod | None = None,
    *,
    items: Corpus | None = None,
    anchors: Mapping[Any, Any] | None = None,
    dependence: str = "public",
    seed: int = 0,
) -> Estimate:
    """Estimate the truth of every item, with the same answers and calibrated confidence as the command `aggregate`.

    Unlike a method's own `infer`, which returns the posterior of its model, the confidence takes into account that
    annotators make the same mistakes (docs/confidence.md).

    Args:
        labels: CrowdLabels, a frame with one row per label, or the path of a file of labels.
        method: A truth method or its name; None for the one that suits the labels.
        items: The items, for methods that read them.
        anchors: Known truths as item -> class, or item -> tags for sentences. If 30 or more were drawn at random, the
            confidence is also fitted to them.
        dependence: How strongly the labels of an item depend on each other: "public" (as in public data sets) or
            "none" (return the method's own posterior).
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
        raise OptionError("seed: a method that is given as an object has its own. Set it there, or name the method.")
    return infer_calibrated(method, labels, corpus, fitting=Fitting(anchors=anchors), dependence=known)


def calibrate(labels: CrowdLabels, estimate: Estimate) -> Estimate:
    """Return the estimate of a truth method with calibrated confidence, as `aggregate` states it.

    The estimates of learning methods come back as they are: those that can be calibrated are calibrated already.
    """
    if estimate.calibration is not None or estimate.method in LEARNING_METHODS:
        return estimate
    return state_confidence(labels, estimate)


def annotator_table(labels: Any, estimate: Estimate, *, level: float = LEVEL) -> pl.DataFrame:
    """Return one row per annotator with the verdict, its reason and figures, as `aggregate --annotators` writes them.

    The estimate of a truth method's own `infer` is calibrated first. See `crowdlogic.annotators.annotator_table` for
    the columns.

    Args:
        labels: The labels that the estimate was made from, or the frame that holds them.
        estimate: What a method believes; of the outcome of a training, its estimate.
        level: The probability that a credible interval holds the truth.
    """
    labels, estimate = as_labels(labels, "annotator_table"), getattr(estimate, "estimate", estimate)
    if isinstance(estimate, Estimate) and len(estimate.beliefs) == labels.n_units:
        estimate = calibrate(labels, estimate)
    return table_of_annotators(labels, estimate, level=level)
