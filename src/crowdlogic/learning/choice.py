"""Choose a classifier: the one whose predictions agree best with held-out crowd labels, within the time allowed.

    1. `registry.COSTS` estimates the time that each classifier takes, without importing it.
    2. Each affordable classifier learns the estimated truth of most items for a few epochs.
    3. Its predictions for the other items are scored by the likelihood of their crowd labels, as in early stopping.
    4. The cheapest classifier that is statistically indistinguishable from the best one is chosen.

Axes: i unit, k class, s item.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from crowdlogic.annotators.label_sums import find_labelling_functions
from crowdlogic.annotators.protocol import AnnotatorModel
from crowdlogic.classifiers.protocol import NeedsFiles, build, derive_seed, fit_epoch, predict
from crowdlogic.data.chain_beliefs import unit_beliefs
from crowdlogic.data.corpus import Corpus, align
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import CorpusError, MissingDataError, MissingExtraError
from crowdlogic.learning.stopping import HeldOut, is_indistinguishable, log_likelihood_by_item
from crowdlogic.numerics.arrays import Floats
from crowdlogic.registry import CLASSIFIERS, COSTS
from crowdlogic.truth.methods import choose_method, truth_method

DEFAULT_SECONDS = 300.0
"""Time that a choice allows for training if users name none."""

HELD_OUT_SHARE = 0.2
"""Share of the items that the trial of a classifier is scored on."""

TRIAL_EPOCHS, TRIAL_SHARE = 8, 0.2
"""Maximum number of epochs of a trial, and the share of the time that it may take."""

MIN_TRIAL_ITEMS = 50
"""With fewer items the held-out labels say too little, and the cheapest classifier is used."""

CHARACTERS_PER_TOKEN = 6
"""Mean length of a word with its space, to estimate the number of tokens of texts."""


@dataclass(frozen=True, kw_only=True)
class Workload:
    """Size of a training set, for estimates of the time that a classifier takes.

    Attributes:
        items: Number of documents or sentences.
        tokens: Number of tokens, estimated for texts; 0 without texts.
        features: Number of numeric features; 0 without.
        classes: Number of classes.
        sequential: Whether tokens are tagged.
    """

    items: int
    tokens: int
    features: int
    classes: int
    sequential: bool

    @classmethod
    def of(cls, corpus: Corpus, n_classes: int) -> Workload:
        """Return the size of a corpus."""
        characters = sum(map(len, corpus.texts)) if corpus.texts is not None else 0
        return cls(
            items=len(corpus.items),
            tokens=len(corpus.tokens) if corpus.tokens is not None else characters // CHARACTERS_PER_TOKEN,
            features=0 if corpus.features is None else int(corpus.features.shape[1]),
            classes=n_classes,
            sequential=corpus.is_sequential,
        )


class Cost(NamedTuple):
    """Time that a training takes on one core.

    Attributes:
        epoch: Seconds of one epoch with its predictions.
        epochs: Number of epochs to expect, in both passes together.
    """

    epoch: float
    epochs: int = 40

    @property
    def total(self) -> float:
        """Seconds of the whole training."""
        return self.epoch * self.epochs


# The seconds were measured on 5,000 reviews and 6,000 sentences (CoNLL).


def linear_cost(work: Workload) -> Cost:
    """Return the cost of the linear classifier, which suits everything."""
    per_token = 7e-7 if work.sequential else 3e-7
    return Cost((per_token * work.tokens + 2e-8 * work.items * work.features) * work.classes)


def crf_cost(work: Workload) -> Cost | None:
    """Return the cost of the linear-chain CRF; None for documents."""
    return Cost(1e-5 * work.tokens) if work.sequential else None


@dataclass(frozen=True, kw_only=True)
class ClassifierChoice:
    """A chosen classifier.

    Attributes:
        name: Its name in `registry.CLASSIFIERS`.
        preset: Name of the preset whose options suit it; None for the defaults.
        reason: Why it was chosen, and what else could do better, in one line.
        log_likelihood: Mean log-likelihood per held-out label of each classifier that was tried.
    """

    name: str
    preset: str | None
    reason: str
    log_likelihood: dict[str, float]


def choose_classifier(
    labels: CrowdLabels,
    corpus: Corpus,
    *,
    model: AnnotatorModel,
    seconds: float = DEFAULT_SECONDS,
    seed: int = 0,
) -> ClassifierChoice:
    """Return the classifier that suits the labels and items, chosen without gold.

    Args:
        labels: The crowd labels.
        corpus: The items.
        model: The annotator model that is trained with the classifier.
        seconds: Time that the training may take.
        seed: Random seed of the held-out items and of the trials.
    """
    labels, corpus = align(labels, corpus)
    if find_labelling_functions(labels).any():
        why = "labelling functions follow from the items, so their held-out labels do not compare classifiers"
        return ClassifierChoice(name="linear", preset=None, reason=f"linear was chosen: {why}.", log_likelihood={})
    affordable, hints = find_candidates(Workload.of(corpus, labels.n_classes), seconds)
    if len(affordable) == 1 or len(corpus.items) < MIN_TRIAL_ITEMS:
        name = next(iter(affordable))
        return ClassifierChoice(name=name, preset=None, reason=_reason(name, {}, hints), log_likelihood={})

    # The estimated truth of the training items is the target of every trial, so that trials differ by classifier only.
    training, held = HeldOut(share=HELD_OUT_SHARE).split(labels, seed=derive_seed(seed, "choice"))
    q = truth_method(choose_method(training)[0]).infer(training).beliefs
    shards = model.observe(held)
    annotators = model.m_step(model.observe(training), q)
    weights = (training.labels_per_unit() > 0).astype(np.float64)
    n_held = len(np.unique(held.item_of_unit[held.unit]))
    found: dict[str, Floats] = {}
    for name, cost in affordable.items():
        classifier = build(CLASSIFIERS.create(name), corpus, labels.classes, seed=seed)
        best: Floats | None = None
        for _ in range(max(min(TRIAL_EPOCHS, int(TRIAL_SHARE * seconds / cost.epoch)), 1)):
            fit_epoch(classifier, corpus, q, weights)
            p = unit_beliefs(predict(classifier, corpus, n_classes=labels.n_classes))
            score = log_likelihood_by_item(held, shards, annotators, p)
            if best is not None and score.sum() <= best.sum():
                break
            best = score
        found[name] = np.asarray(best)

    highest = max(found.values(), key=lambda by_item: float(by_item.sum()))
    chosen = next(name for name in affordable if is_indistinguishable(found[name], highest, n_held))
    means = {name: float(by_item.sum()) / held.n_labels for name, by_item in found.items()}
    preset = getattr(CLASSIFIERS.load(chosen), "preset", None)
    return ClassifierChoice(name=chosen, preset=preset, reason=_reason(chosen, means, hints), log_likelihood=means)


def find_candidates(work: Workload, seconds: float) -> tuple[dict[str, Cost], list[str]]:
    """Return the installed classifiers that fit into the time, cheapest first, and hints about the others."""
    costs: dict[str, Cost] = {name: cost for name in COSTS if (cost := COSTS.load(name)(work)) is not None}
    affordable: dict[str, Cost] = {}
    hints: list[str] = []
    for name, cost in sorted(costs.items(), key=lambda entry: entry[1].total):
        try:
            made: Any = CLASSIFIERS.create(name)
            if isinstance(made, NeedsFiles):
                made.check_files()
        except (MissingExtraError, MissingDataError, CorpusError) as problem:
            extra = str(problem).rpartition("pip install ")[2].rstrip(".") if "pip install" in str(problem) else ""
            hints.append(f"{name} may do better: pip install {extra}" if extra else f"{name}: {problem}")
            continue
        if cost.total > seconds and affordable:
            minutes = math.ceil(cost.total / 60)
            hints.append(f"{name} may do better and takes about {minutes} minutes: --time {minutes}m")
        else:
            affordable[name] = cost
    return affordable, hints


def _reason(name: str, means: dict[str, float], hints: list[str]) -> str:
    others = [f"{other} {mean:.3f}" for other, mean in means.items() if other != name]
    if others:
        why = (
            f"{name} was chosen: its predictions of held-out crowd labels have a mean log-likelihood of "
            f"{means[name]:.3f} ({', '.join(others)})"
        )
    else:
        why = f"{name} was chosen: no other installed classifier suits the size of the data and the time"
    return ". ".join([why, *hints]) + "."
