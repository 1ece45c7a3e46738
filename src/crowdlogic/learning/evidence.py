"""Why an item got its answer: what the classifier, each annotator and each rule said, in bits.

    log2 q_a(t) = log2 p(t|x) + sum over annotators j of log2 pi_j[t, y_j] - normaliser              ([LNCL] eq. 13)
    log2 q_b(t) = base(t) + sum over rules l of share_l(t) + residual(t) - normaliser                ([LNCL] eq. 15)
    q_f = (1 - k) q_a + k q_b                                                                        ([LNCL] eq. 9)

The first line is exact. In the second, base is log2 q_a, or log2 p where the projection starts from the classifier;
the shares are exact where rules are about single units, and elsewhere what is lost without each rule, with what these
do not account for as the residual. One bit more for a class doubles its odds.

[LNCL] "Learning from Noisy Crowd Labels with Logics". Axes: i unit of the item, k class, l rule, n label of the item.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from crowdlogic.classifiers.protocol import predict_texts
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.labels import CrowdLabels, find_codes
from crowdlogic.data.names import Classes
from crowdlogic.errors import OptionError
from crowdlogic.learning.learned import Learned
from crowdlogic.numerics.arrays import Bools, Floats, Ints
from crowdlogic.numerics.logspace import log_sum_exp, normalise, safe_log
from crowdlogic.rules.contributions import Contributions, rule_contributions
from crowdlogic.rules.grounding import GroundRules
from crowdlogic.rules.reach import stay_within_items

BIT = float(np.log(2.0))

CLOSE = 1e-6
"""How far q_a may be from what its terms add up to before they are taken to be no explanation of it."""


@dataclass(frozen=True, eq=False)
class CrowdEvidence:
    """What the labels of an item say: a row for each label.

    Attributes:
        unit: unit[n], which unit of the item the label is of.
        annotator: annotator[n], by name.
        label: label[n], the class that was given.
        term: term[n, k], log2 pi_j[k, label], times the label's weight.
    """

    unit: Ints
    annotator: tuple[Any, ...]
    label: Ints
    term: Floats


@dataclass(frozen=True, eq=False)
class RuleEvidence:
    """What the rules made of the beliefs that they started from.

    Attributes:
        base: base[i, k], log2 of the beliefs that the projection starts from.
        from_classifier: Whether these are the classifier's p; else they are q_a.
        rules: The rules that have a say in the item, as text.
        share: share[l, i, k] of each.
        transitions: transitions[i, k], the share of the table of transitions; None without one.
        residual: residual[i, k], what the shares do not account for.
        normaliser: normaliser[i].
        is_exact: Whether the shares add up by themselves; else each is what is lost without its rule.
    """

    base: Floats
    from_classifier: bool
    rules: tuple[str, ...]
    share: Floats
    transitions: Floats | None
    residual: Floats
    normaliser: Floats
    is_exact: bool


@dataclass(frozen=True, eq=False)
class Evidence:
    """Why the units of an item got their answers, in bits.

    Attributes:
        item: Its name.
        words: Its tokens, or its text alone.
        classes: The classes.
        classifier: classifier[i, k], log2 p.
        crowd: What the labels say.
        normaliser: normaliser[i] of q_a.
        rules: What the rules made of it; None without any.
        k: The imitation.
        q_a: q_a[i, k].
        q_b: q_b[i, k].
        q_f: q_f[i, k], the answer.
    """

    item: Any
    words: tuple[str, ...]
    classes: Classes
    classifier: Floats
    crowd: CrowdEvidence
    normaliser: Floats
    rules: RuleEvidence | None
    k: float
    q_a: Beliefs
    q_b: Beliefs
    q_f: Beliefs

    @property
    def answer(self) -> Ints:
        """answer[i]."""
        return np.asarray(self.q_f.argmax(axis=1))


def explain(learned: Learned, item: Any) -> Evidence:
    """The evidence behind the answers of one training item.

    Args:
        learned: What a fit left, or `load_run(folder).learned`.
        item: The item's name.
    """
    return explain_all(learned, [item])[0]


def explain_all(learned: Learned, items: Sequence[Any]) -> list[Evidence]:
    """The evidence behind the answers of several training items; the rules are grounded and projected once for all.

    Args:
        learned: What a fit left, or `load_run(folder).learned`.
        items: The items' names, each once.
    """
    chosen = find_codes(items, learned.task.corpus.items, "item")
    if not len(chosen):
        return []
    units = [_units(learned, int(s)) for s in chosen]
    rules = [None] * len(units) if learned.teacher.is_idle else rule_evidence(learned, chosen, units)
    return [_explained(learned, int(s), mine, one) for s, mine, one in zip(chosen, units, rules, strict=True)]


def is_explicable(learned: Learned) -> bool:
    """Whether the answers are the classifier's and the annotators' terms added up, so that `explain` can say why."""
    labels, epoch = learned.task.labels, learned.epoch
    terms = crowd_terms(labels, epoch.confusion)
    total = np.stack([np.bincount(labels.unit, weights=term, minlength=len(epoch.p)) for term in terms.T], axis=1)
    q_a, _ = normalise((safe_log(epoch.p) / BIT + total) * BIT)
    return bool(np.abs(q_a - epoch.q_a).max(initial=0.0) <= CLOSE)


def _units(learned: Learned, s: int) -> Ints:
    offsets = learned.task.corpus.offsets
    return np.arange(s, s + 1) if offsets is None else np.arange(*offsets[s : s + 2])


def _explained(learned: Learned, s: int, units: Ints, rules: RuleEvidence | None) -> Evidence:
    task, epoch, corpus = learned.task, learned.epoch, learned.task.corpus
    crowd = crowd_evidence(task.labels.take_items(np.array([s])), epoch.confusion)
    classifier = safe_log(epoch.p[units]) / BIT
    q_a, q_b, q_f = (beliefs[units] for beliefs in (epoch.q_a, epoch.q_b, epoch.q_f))
    together = classifier + summed(crowd, len(units), len(task.labels.classes))
    normaliser = log_sum_exp(together * BIT, axis=1) / BIT
    _check(q_a, together - normaliser[:, None], learned.estimate.method)
    words = corpus.sentence(s) if corpus.tokens is not None else (corpus.texts[s],) if corpus.texts else ()
    return Evidence(
        corpus.items[s], words, task.labels.classes, classifier, crowd, normaliser, rules, epoch.k, q_a, q_b, q_f
    )


def crowd_evidence(labels: CrowdLabels, confusion: Floats) -> CrowdEvidence:
    """What every label says."""
    names = labels.annotators.gather(labels.annotator).to_list()
    return CrowdEvidence(labels.unit, tuple(names), labels.label, crowd_terms(labels, confusion))


def crowd_terms(labels: CrowdLabels, confusion: Floats) -> Floats:
    """term[n, k], log2 pi_j[k, y] of every label; a label of weight 0 says nothing."""
    log_confusion = safe_log(confusion[labels.annotator, :, labels.label]) / BIT
    weight = labels.weights[:, None]
    return np.where(weight > 0, log_confusion, 0.0) * weight


def summed(crowd: CrowdEvidence, n_units: int, n_classes: int) -> Floats:
    """What all labels of each unit say together: sum[i, k]."""
    total = np.zeros((n_units, n_classes))
    np.add.at(total, crowd.unit, crowd.term)
    return total


def _check(q_a: Beliefs, log_q_a: Floats, method: str) -> None:
    if not (np.abs(q_a - np.exp2(log_q_a)).max(initial=0.0) <= CLOSE):  # what is not a number is not close
        raise OptionError(
            f"{method}: its answers are not the classifier's and the annotators' terms added up, so they cannot be "
            f"explained that way. Explain a run of logic-lncl, aggnet or raykar."
        )


def rule_evidence(learned: Learned, items: Ints, units: Sequence[Ints]) -> list[RuleEvidence]:
    """What each rule added to the units of some items, from the projection of these alone where that will do."""
    task, epoch, teacher = learned.task, learned.epoch, learned.teacher
    rules, vocabulary = teacher.projector.rules, teacher.projector.vocabulary
    alone = rules is None or stay_within_items(rules, teacher.classes, vocabulary)
    corpus = task.corpus.take_items(items) if alone else task.corpus
    seen = np.concatenate(units) if alone else np.arange(task.corpus.n_units)
    ends = np.cumsum([len(mine) for mine in units])
    places = [np.arange(end - len(mine), end) for mine, end in zip(units, ends, strict=True)] if alone else units
    ground = teacher.grounded(corpus)
    found = rule_contributions(
        teacher.projector,
        epoch.q_a[seen],
        ground,
        predict=lambda texts: predict_texts(learned.classifier, texts),
        classifier=epoch.p[seen],
    )
    return [_in_bits(found, ground, place, epoch.q_b[mine]) for place, mine in zip(places, units, strict=True)]


def _in_bits(found: Contributions, ground: GroundRules, mine: Ints, q_b: Beliefs) -> RuleEvidence:
    """The rows of the item's units, the rules that touch them, and what is left over."""
    share = found.per_rule[:, mine] / BIT
    touching = [place for place in range(len(share)) if (np.abs(share[place]) > 0).any()]
    rules = tuple(str(ground.rules[place].rule) for place in touching)
    table = None if found.transitions is None else found.transitions[mine] / BIT
    base = safe_log(found.start[mine]) / BIT
    explained = base + share.sum(axis=0) + (0.0 if table is None else table)
    residual, normaliser = left_over(explained, safe_log(q_b) / BIT)
    return RuleEvidence(
        base, found.from_classifier, rules, share[touching], table, residual, normaliser, found.is_exact
    )


def left_over(explained: Floats, log_q_b: Floats) -> tuple[Floats, Floats]:
    """The residual[i, k] and the normaliser[i] that make what is explained add up to log2 q_b.

    Classes that either side takes to be impossible have no residual: their sum is minus infinity as it is.
    """
    possible: Bools = np.isfinite(explained) & np.isfinite(log_q_b)
    gap = np.where(possible, log_q_b, 0.0) - np.where(possible, explained, 0.0)
    mean = gap.sum(axis=1) / np.maximum(possible.sum(axis=1), 1)
    return np.where(possible, gap - mean[:, None], 0.0), -mean
