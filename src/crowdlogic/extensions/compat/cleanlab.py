"""CROWDLAB: cleanlab's `get_label_quality_multiannotator`, with its arguments and data frames.

[GTM22] Goh, Tkachenko and Mueller, "CROWDLAB: supervised learning to infer consensus labels and quality scores for data
with multiple annotators", 2022. The posterior of an item is a weighted mean of the classifier's probabilities and the
evidence of each label. The weights of the classifier and of each annotator measure how much better they agree with
the other labels than the most frequent class does.

Axes: i item, j annotator, k class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from crowdlogic.errors import LabelError, OptionError
from crowdlogic.numerics.arrays import Bools, Floats, Ints
from crowdlogic.numerics.logspace import normalise, safe_log

MIN_WEIGHT = 1e-6
"""Minimum weight, and minimum error of the most frequent class."""
CONSENSUS_METHODS, QUALITY_METHODS = ("best_quality", "majority_vote"), ("crowdlab", "agreement")
TEMPERATURES = (0.1, 0.2, 0.5, 0.8, 1, 2, 3, 5, 8)
"""Coarse grid of temperatures; a finer grid around the best one follows."""


@dataclass(frozen=True, eq=False)
class Annotations:
    """Matrix of labels.

    Attributes:
        label: label[i, j], 0 where missing.
        given: given[i, j], whether annotator j labelled item i.
        n_classes: Number of classes.
    """

    label: Ints
    given: Bools
    n_classes: int

    @property
    def count(self) -> Ints:
        """Return count[i], the number of labels of each item."""
        return np.asarray(self.given.sum(axis=1))

    def votes(self, weight: Floats | None = None) -> Floats:
        """Return votes[i, k], the number of labels k, or the sum of their annotators' weights."""
        each = self.given.astype(np.float64) if weight is None else self.given * weight
        return np.stack([(each * (self.label == k)).sum(axis=1) for k in range(self.n_classes)], axis=1)

    def agreement(self, consensus: Ints, rows: Bools) -> Floats:
        """Return [j], the share of an annotator's labels in `rows` that equal the consensus; NaN without labels."""
        counted = self.given[rows]
        same = (self.label[rows] == consensus[rows, None]) & counted
        with np.errstate(invalid="ignore"):
            return np.asarray(same.sum(axis=0) / counted.sum(axis=0))


@dataclass(frozen=True, eq=False)
class Consensus:
    """Consensus labels with their quality and posterior.

    Attributes:
        label: label[i].
        agreement: agreement[i], the share of the item's labels that equal the consensus.
        quality: quality[i], the estimated probability that the consensus is correct.
        posterior: posterior[i, k].
        model_weight: Weight of the classifier; None for quality_method="agreement".
        annotator_weight: Weight of each annotator; None for quality_method="agreement".
    """

    label: Ints
    agreement: Floats
    quality: Floats
    posterior: Floats
    model_weight: float | None
    annotator_weight: Floats | None


def get_label_quality_multiannotator(
    labels_multiannotator: Any,
    pred_probs: Any,
    *,
    consensus_method: str | Sequence[str] = "best_quality",
    quality_method: str = "crowdlab",
    calibrate_probs: bool = False,
    return_detailed_quality: bool = True,
    return_annotator_stats: bool = True,
    return_weights: bool = False,
    verbose: bool = True,  # noqa: ARG001 (only for compatibility)
) -> dict[str, Any]:
    """Return consensus labels with quality scores, and the quality of each annotator, as cleanlab does.

    Args:
        labels_multiannotator: Data frame or matrix of items x annotators with the classes 0, 1, ... and NaN.
        pred_probs: p[i, k] of a classifier that was not trained on the item itself (out-of-sample).
        consensus_method: best_quality or majority_vote, or several; the first one is the primary method.
        quality_method: crowdlab or agreement.
        calibrate_probs: Whether to calibrate the classifier's probabilities by temperature scaling first.
        return_detailed_quality: Whether to return the quality of every single label.
        return_annotator_stats: Whether to return statistics of every annotator.
        return_weights: Whether to return the weights of the classifier and the annotators.
        verbose: Ignored; nothing is printed.
    """
    methods = [consensus_method] if isinstance(consensus_method, str) else list(consensus_method)
    for given, known, name in (
        *((method, CONSENSUS_METHODS, "consensus_method") for method in methods),
        (quality_method, QUALITY_METHODS, "quality_method"),
    ):
        if given not in known:
            raise OptionError(f"{name}: expected one of {', '.join(known)}; got {given!r}.")
    if return_weights and quality_method != "crowdlab":
        raise OptionError("return_weights requires quality_method='crowdlab'.")
    index, columns = getattr(labels_multiannotator, "index", None), getattr(labels_multiannotator, "columns", None)
    p = np.asarray(pred_probs, dtype=np.float64)
    annotations = read_matrix(labels_multiannotator, p)
    if calibrate_probs:
        p = scale_by_temperature(p, best_temperature(annotations, p))
    voted = judge(annotations, p, majority_labels(annotations, p), quality_method)
    found, frame = {"majority_vote": voted}, dict[str, Any]()
    if "best_quality" in methods:
        highest = voted.posterior == voted.posterior.max(axis=1, keepdims=True)
        label = np.where(highest.sum(axis=1) == 1, highest.argmax(axis=1), voted.label)
        found["best_quality"] = judge(annotations, p, label, quality_method)
    for name in methods:
        end = f"_{name}" if frame else ""
        frame[f"consensus_label{end}"] = found[name].label
        frame[f"consensus_quality_score{end}"] = found[name].quality
        frame[f"annotator_agreement{end}"] = found[name].agreement
        frame.setdefault("num_annotations", annotations.count)
    main = found[methods[0]]
    result: dict[str, Any] = {"label_quality": pd.DataFrame(frame, index=index)}
    detailed = label_quality(annotations, main.posterior)
    if return_detailed_quality:
        names = [f"quality_annotator_{name}" for name in (range(detailed.shape[1]) if columns is None else columns)]
        result["detailed_label_quality"] = pd.DataFrame(detailed, index=index, columns=names)
    if return_annotator_stats:
        result["annotator_stats"] = annotator_stats(annotations, main, detailed, columns)
    if return_weights:
        result |= {"model_weight": main.model_weight, "annotator_weight": main.annotator_weight}
    return result


def read_matrix(given: Any, p: Floats) -> Annotations:
    """Read and validate the labels of a data frame or a matrix."""
    cells = given.astype(float).to_numpy() if hasattr(given, "to_numpy") else np.asarray(given, dtype=np.float64)
    if cells.ndim != 2 or p.ndim != 2 or len(cells) != len(p):
        raise LabelError(
            f"labels_multiannotator has shape {cells.shape} and pred_probs {p.shape}. Both need one row per item."
        )
    there = ~np.isnan(cells)
    label = np.where(there, cells, 0).astype(np.int64)
    if not there.any(axis=1).all():
        raise LabelError(f"Item {int(np.flatnonzero(~there.any(axis=1))[0])} has no label. Remove such items.")
    if label.min() < 0 or label.max() >= p.shape[1]:
        raise LabelError(f"Labels range from {label.min()} to {label.max()}, but pred_probs has {p.shape[1]} classes.")
    if (there.sum(axis=1) == 1).all():
        raise LabelError("No item has two labels, so annotators cannot be compared. Add items with several labels.")
    return Annotations(label, there, p.shape[1])


def majority_labels(annotations: Annotations, p: Floats) -> Ints:
    """Return the majority class; ties are broken by classifier, then rarer class, then better annotators."""
    votes = annotations.votes()
    best = votes == votes.max(axis=1, keepdims=True)
    decided = best.sum(axis=1) == 1
    for values in (p, np.broadcast_to(-votes.sum(axis=0), p.shape)):
        best = _narrow(best, values)
    quality = annotations.agreement(best.argmax(axis=1), decided)
    quality = np.where(np.isnan(quality), np.nanmean(quality) if decided.any() else 0.0, quality)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.nan_to_num(annotations.votes(quality) / votes)
    return np.asarray(_narrow(best, mean).argmax(axis=1))


def _narrow(best: Bools, values: Floats) -> Bools:
    """Restrict the best classes of each item to those with the highest value."""
    own = np.where(best, values, -np.inf)
    return np.asarray(best & (own == own.max(axis=1, keepdims=True)))


def judge(annotations: Annotations, p: Floats, label: Ints, quality_method: str) -> Consensus:
    """Return the posterior and the quality of consensus labels ([GTM22] section 3)."""
    agreement = ((annotations.label == label[:, None]) & annotations.given).sum(axis=1) / annotations.count
    if quality_method == "agreement":
        posterior = annotations.votes() / annotations.count[:, None]
        return Consensus(label, agreement, agreement, posterior, None, None)
    several = annotations.count > 1
    # probability that a label equals the consensus, and each of the other classes
    right = float(agreement[several].mean())
    wrong = (1.0 - right) / max(annotations.n_classes - 1, 1)
    frequent = np.bincount(label[several], minlength=annotations.n_classes).argmax()
    base_error = max(float((label[several] != frequent).mean()), MIN_WEIGHT)
    weight = np.maximum(1.0 - (1.0 - pair_agreement(annotations)) / base_error, MIN_WEIGHT)
    model_error = float((p[several].argmax(axis=1) != label[several]).mean())
    model_weight = max(1.0 - model_error / base_error, MIN_WEIGHT) * float(np.sqrt(annotations.count.mean()))
    of_labels = annotations.votes(weight)  # the weight of the labels k of item i
    total = of_labels.sum(axis=1, keepdims=True)
    posterior = (model_weight * p + right * of_labels + wrong * (total - of_labels)) / (model_weight + total)
    quality = posterior[np.arange(len(label)), label]
    return Consensus(label, agreement, quality, posterior, model_weight, weight)


def pair_agreement(annotations: Annotations) -> Floats:
    """Return [j], the agreement with other labels of the same items; the mean if there are no others."""
    votes, count = annotations.votes(), annotations.count
    same = np.take_along_axis(votes, annotations.label, axis=1) - 1  # [i, j], the other labels that agree
    others = np.where(annotations.given, count[:, None] - 1, 0).sum(axis=0)
    agreeing = np.where(annotations.given, same, 0).sum(axis=0)
    found = agreeing / np.maximum(others, 1)
    return np.asarray(np.where(others > 0, found, found[others > 0].mean()))


def label_quality(annotations: Annotations, posterior: Floats) -> Floats:
    """Return [i, j], the posterior of every single label; NaN where there is none."""
    return np.where(annotations.given, np.take_along_axis(posterior, annotations.label, axis=1), np.nan)


def annotator_stats(annotations: Annotations, consensus: Consensus, detailed: Floats, names: Any) -> Any:
    """Return a data frame with one row per annotator, the worst first."""
    everything = np.ones(len(consensus.label), dtype=bool)
    several = annotations.agreement(consensus.label, annotations.count > 1)
    quality = several
    if consensus.annotator_weight is not None and consensus.model_weight is not None:
        share = annotations.count.mean() / annotations.given.shape[1]
        model = consensus.model_weight / (consensus.model_weight + consensus.annotator_weight.sum() * share)
        quality = model * np.nanmean(detailed, axis=0) + (1.0 - model) * several
    worst = [_worst_class(annotations, consensus, j) for j in range(annotations.given.shape[1])]
    frame = pd.DataFrame(
        {
            "annotator_quality": quality,
            "agreement_with_consensus": annotations.agreement(consensus.label, everything),
            "worst_class": worst,
            "num_examples_labeled": annotations.given.sum(axis=0),
        },
        index=names,
    )
    return frame.sort_values(by=["annotator_quality", "agreement_with_consensus"])


def _worst_class(annotations: Annotations, consensus: Consensus, j: int) -> int:
    """Return the class with the least agreement; ties go to frequent labels, then to higher quality."""
    rows = annotations.given[:, j]
    label, size = annotations.label[rows, j], annotations.n_classes
    count = np.bincount(label, minlength=size)
    right = np.bincount(label, weights=label == consensus.label[rows], minlength=size)
    surety = np.bincount(label, weights=consensus.quality[rows], minlength=size)
    used = count > 0
    safe = np.maximum(count, 1)
    best = used[None, :]
    for values in (-right / safe, count.astype(np.float64), surety / safe):
        best = _narrow(best, values[None, :])
    return int(best.argmax())


def best_temperature(annotations: Annotations, p: Floats) -> float:
    """Return the temperature that minimises the cross-entropy with the shares of the labels."""
    shares = annotations.votes() / annotations.count[:, None]

    def loss(temperature: float) -> float:
        scaled = normalise(safe_log(p) / temperature)[0]
        return -float((shares * np.log(np.maximum(scaled, 1e-300))).sum(axis=1).mean())

    at = int(np.argmin([loss(one) for one in TEMPERATURES]))
    below = np.linspace(TEMPERATURES[at - 1], TEMPERATURES[at], 4, endpoint=False) if at else np.empty(0)
    above = np.linspace(TEMPERATURES[at], TEMPERATURES[at + 1], 5) if at + 1 < len(TEMPERATURES) else np.empty(0)
    fine = np.concatenate([below, above])
    return float(fine[np.argmin([loss(one) for one in fine])])


def scale_by_temperature(p: Floats, temperature: float) -> Floats:
    """Return p^(1 / temperature), normalised."""
    return normalise(safe_log(np.maximum(p, 1e-100)) / temperature)[0]
