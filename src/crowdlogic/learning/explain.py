"""Explain answers: the contributions of the classifier, each annotator and each rule, in bits.

    log2 q_a(t) = log2 p(t|x) + sum over annotators j of log2 pi_j[t, y_j] - normaliser              ([LNCL] eq. 13)
    log2 q_b(t) = base(t) + sum over rules l of share_l(t) + residual(t) - normaliser                ([LNCL] eq. 15)
    q_f = (1 - k) q_a + k q_b                                                                        ([LNCL] eq. 9)

    q    = (1 - doubt) q_f^sharpness / (its sum) + doubt / K                                         (calibrated)

The first line is exact. If tags form chains, it has one more term, `neighbours`: the evidence from other tokens through
the transitions of the chain, computed as the difference between log2 q_a and the token's own terms. In the second line,
base is log2 q_a, or log2 p if the projection starts from the classifier; the shares are exact for rules about single
units. For other rules a share is the change when the rule is left out, and the residual is the rest. Each additional
bit for a class doubles its odds.

The last line is the calibration (`confidence`): all bits above it are multiplied by the sharpness of the unit, q_a, q_b
and q_f are raised to that power, and uniform doubt is a separate term. If k is below 1, the mixture of q_a and q_b is
also a term, so that the bits of a unit add up to its calibrated beliefs (`Evidence.added_up`).

[LNCL] "Learning from Noisy Crowd Labels with Logics". Axes: i unit of the item, k class, l rule, n label of the item.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from crowdlogic.classifiers.protocol import ChainClassifier, is_absent, predict, predict_texts
from crowdlogic.data.chain_beliefs import ChainBeliefs
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.labels import find_codes
from crowdlogic.errors import OptionError, require_kind
from crowdlogic.learning.confidence import answer_sharpness
from crowdlogic.learning.evidence import BIT, CrowdEvidence, Evidence, RuleEvidence, difference, left_over
from crowdlogic.learning.learned import Learned
from crowdlogic.numerics.arrays import Bools, Floats, Ints
from crowdlogic.numerics.logspace import log_sum_exp, normalise, safe_log, temper
from crowdlogic.rules.contributions import Contributions, rule_contributions
from crowdlogic.rules.expansion import stay_within_items
from crowdlogic.rules.grounding import GroundRules

# Calibration of evidence: bits times the sharpness of their unit, and uniform doubt.

CLOSE_SHARE = 1e-6
"""Tolerance for the difference between the calibrated beliefs and the sum of their evidence."""


@dataclass(frozen=True, eq=False, kw_only=True)
class UnitScale:
    """Calibration of the units of an item.

    Attributes:
        sharpness: sharpness[i], the factor for bits.
        doubt: Share of uniform doubt.
        stated: stated[i, k], the calibrated beliefs.
    """

    sharpness: Floats
    doubt: float
    stated: Beliefs


def state(found: Evidence, scale: UnitScale) -> Evidence:
    """Return the evidence on the scale of the calibrated confidence: bits times the sharpness of their unit, and doubt.

    Units with a given truth are not changed.
    """
    known = found.known | (scale.stated.max(axis=1, initial=0.0) == 1.0)  # with doubt, no other belief is certain
    sharpness = np.where(known, 1.0, scale.sharpness)
    q_a, q_b, q_f = (temper(beliefs, sharpness) for beliefs in (found.q_a, found.q_b, found.q_f))
    stated = np.where(known[:, None], found.q_f, temper(found.q_f, sharpness, scale.doubt))
    if np.abs(stated - scale.stated).max(initial=0.0) > CLOSE_SHARE:
        raise OptionError(
            f"{found.item}: the calibrated confidence does not match its evidence. Explain it without calibration "
            f"(calibrated=False)."
        )
    bits = sharpness[:, None]
    crowd = replace(found.crowd, term=found.crowd.term * sharpness[found.crowd.unit, None])
    classifier = found.classifier * bits
    neighbours = None if found.neighbours is None else found.neighbours * bits
    together = classifier + crowd.total(len(q_f)) + (0.0 if neighbours is None else neighbours)
    return replace(
        found,
        classifier=classifier,
        crowd=crowd,
        normaliser=log_sum_exp(together * BIT, axis=1) / BIT,
        neighbours=neighbours,
        rules=None if found.rules is None else _state_rules(found.rules, bits, q_a=q_a, q_b=q_b),
        q_a=q_a,
        q_b=q_b,
        mixture=difference(q_f, q_a if found.rules is None else q_b),
        sharpness=sharpness,
        doubt=difference(stated, q_f),
        q_f=stated,
        known=known,
    )


def _state_rules(rules: RuleEvidence, bits: Floats, *, q_a: Beliefs, q_b: Beliefs) -> RuleEvidence:
    """Return the evidence of the rules with bits[i, 1] times their bits, so that it leads from this q_a to this q_b."""
    base = rules.base * bits if rules.from_classifier else safe_log(q_a) / BIT
    share = rules.share * bits
    transitions = None if rules.transitions is None else rules.transitions * bits
    explained = base + share.sum(axis=0) + (0.0 if transitions is None else transitions)
    residual, normaliser = left_over(explained, safe_log(q_b) / BIT)
    return replace(rules, base=base, share=share, transitions=transitions, residual=residual, normaliser=normaliser)


CLOSE = 1e-6
"""Tolerance for the difference between log2 q_a and the sum of its terms."""

CLOSE_CHAIN = 1e-3
"""Tolerance for chains, whose scores a network recomputes in different batches."""

TOGETHER = "all rules together (one by one: with the classifier)"
"""Name of the joint contribution of all rules, if they cannot be separated because the run has no classifier."""

_NOT_ADDED_UP = (
    "{}: its answers are not the sum of the classifier's and the annotators' terms, so they cannot be explained this "
    "way. Explain a run of logic-lncl, aggnet or raykar."
)


@dataclass(frozen=True, eq=False)
class ExplainedChain:
    """Chains of the classifier for some items, without and with the annotators' evidence."""

    p: ChainBeliefs
    q_a: ChainBeliefs


def explain(learned: Learned, item: Any, *, calibrated: bool = True) -> Evidence:
    """Return the evidence behind the answers for one training item.

    Args:
        learned: Result of a fit, or `load_run(folder).learned`.
        item: Name of the item.
        calibrated: Whether to explain the calibrated confidence instead of the uncalibrated beliefs.
    """
    one = "Pass a single item; for several, use learning.explain_all(learned, items)."
    require_kind(item, (str, int, float, np.generic), "explain", one)
    return explain_all(learned, [item], calibrated=calibrated)[0]


def explain_all(learned: Learned, items: Sequence[Any], *, calibrated: bool = True) -> list[Evidence]:
    """Return the evidence behind the answers for several training items; labels and rules are evaluated only once.

    Args:
        learned: Result of a fit, or `load_run(folder).learned`.
        items: Names of the items, without duplicates.
        calibrated: Whether to explain the calibrated confidence instead of the uncalibrated beliefs.
    """
    chosen = find_codes(items, learned.task.corpus.items, "item")
    if not len(chosen):
        return []
    units = [_units(learned, int(s)) for s in chosen]
    crowd = crowd_evidence(learned, chosen, units)
    chain = explained_chain(learned, chosen, units, crowd)
    rules = [None] * len(units) if learned.teacher.is_idle else rule_evidence(learned, chosen, units, chain)
    found = [
        _explain_item(learned, int(s), units=mine, crowd=said, rules=one)
        for s, mine, said, one in zip(chosen, units, crowd, rules, strict=True)
    ]
    calibration = learned.estimate.calibration
    if not calibrated or calibration is None:
        return found
    sharpness, beliefs = answer_sharpness(learned.task.labels, calibration, learned.scales), learned.estimate.beliefs
    return [
        state(one, UnitScale(sharpness=sharpness[mine], doubt=calibration.doubt, stated=beliefs[mine]))
        for one, mine in zip(found, units, strict=True)
    ]


def is_explicable(learned: Learned) -> bool:
    """Return whether the answers are the sum of the classifier's and annotators' terms, which `explain` requires."""
    epoch, labels = learned.epoch, learned.task.labels
    if isinstance(learned.classifier, ChainClassifier):
        return _is_chain_posterior(learned)
    q_a, _ = normalise(safe_log(epoch.p) + epoch.annotators.evidence(learned.model.observe(labels)))
    return bool(np.abs(q_a - epoch.q_a)[~is_known(epoch.q_a, q_a)].max(initial=0.0) <= CLOSE)


def _is_chain_posterior(learned: Learned) -> bool:
    """Return whether q_a is the posterior of the classifier's chain and the annotators."""
    epoch, labels = learned.epoch, learned.task.labels
    scores = predict(learned.classifier, learned.task.corpus)
    if not isinstance(scores, ChainBeliefs) or scores.scores is None:
        return False
    q_a = scores.scores.add(epoch.annotators.evidence(learned.model.observe(labels))).marginals()
    return bool(np.abs(q_a - epoch.q_a)[~is_known(epoch.q_a, q_a)].max(initial=0.0) <= CLOSE_CHAIN)


def is_known(q_a: Beliefs, explained: Beliefs) -> Bools:
    """Return known[i]: whether the belief is certain but not because of classifier and annotators (a given truth)."""
    return np.asarray(
        (q_a.max(axis=1, initial=0.0) == 1.0) & (np.abs(q_a - explained).max(axis=1, initial=0.0) > CLOSE)
    )


def _units(learned: Learned, s: int) -> Ints:
    offsets = learned.task.corpus.offsets
    return np.arange(s, s + 1) if offsets is None else np.arange(*offsets[s : s + 2])


def _explain_item(
    learned: Learned, s: int, *, units: Ints, crowd: CrowdEvidence, rules: RuleEvidence | None
) -> Evidence:
    task, epoch, corpus = learned.task, learned.epoch, learned.task.corpus
    classifier = safe_log(epoch.p[units]) / BIT
    q_a, q_b, q_f = (beliefs[units] for beliefs in (epoch.q_a, epoch.q_b, epoch.q_f))
    together = classifier + crowd.total(len(units))
    neighbours = None
    if isinstance(learned.classifier, ChainClassifier):
        neighbours, normaliser = left_over(together, safe_log(q_a) / BIT)
        together = together + neighbours
    else:
        normaliser = log_sum_exp(together * BIT, axis=1) / BIT
    known = is_known(q_a, np.exp2(together - normaliser[:, None]))
    _check(q_a[~known], (together - normaliser[:, None])[~known], learned.estimate.method)
    words = corpus.sentence(s) if corpus.tokens is not None else (corpus.texts[s],) if corpus.texts else ()
    return Evidence(
        item=corpus.items[s],
        words=words,
        classes=task.labels.classes,
        classifier=classifier,
        crowd=crowd,
        normaliser=normaliser,
        neighbours=neighbours,
        rules=rules,
        k=epoch.k,
        q_a=q_a,
        q_b=q_b,
        mixture=difference(q_f, q_a if rules is None else q_b),
        sharpness=np.ones(len(units)),
        doubt=np.zeros_like(q_f),
        q_f=q_f,
        known=known,
        path=None if neighbours is None else np.asarray(learned.estimate.answer[units]),
    )


def crowd_evidence(learned: Learned, items: Ints, units: Sequence[Ints]) -> list[CrowdEvidence]:
    """Return the evidence of every label of some items, one result per item."""
    labels = learned.task.labels.take_items(items)
    terms = learned.epoch.annotators.terms(learned.model.observe(labels)) / BIT
    names = labels.annotators.gather(labels.annotator).to_list()
    # units are ordered by item, and rows are sorted by unit
    ends = np.cumsum([0, *(len(mine) for mine in units)])
    bounds = np.searchsorted(labels.unit, ends)
    return [
        CrowdEvidence(
            unit=labels.unit[rows] - first,
            annotator=tuple(names[rows]),
            label=labels.label[rows],
            term=terms[rows],
        )
        for first, rows in zip(ends, (slice(a, b) for a, b in pairwise(bounds.tolist())), strict=False)
    ]


def _check(q_a: Beliefs, log_q_a: Floats, method: str) -> None:
    if not (np.abs(q_a - np.exp2(log_q_a)).max(initial=0.0) <= CLOSE):  # also true for NaN
        raise OptionError(_NOT_ADDED_UP.format(method))


def explained_chain(
    learned: Learned, items: Ints, units: Sequence[Ints], crowd: Sequence[CrowdEvidence]
) -> ExplainedChain | None:
    """Return the chains of some items if the classifier models chains; raise an error if q_a is not their posterior."""
    if not isinstance(learned.classifier, ChainClassifier):
        return None
    p = learned.classifier.chain_scores(learned.task.corpus.take_items(items)).beliefs()
    terms = [said.total(len(mine)) for said, mine in zip(crowd, units, strict=True)]
    if p.scores is None:
        return None
    q_a = p.scores.add(np.concatenate(terms) * BIT).beliefs()
    believed = learned.epoch.q_a[np.concatenate(units)]
    if np.abs(q_a.q - believed)[~is_known(believed, q_a.q)].max(initial=0.0) > CLOSE_CHAIN and not len(
        learned.task.known
    ):
        raise OptionError(_NOT_ADDED_UP.format(learned.estimate.method))
    return ExplainedChain(p, q_a)


def rule_evidence(
    learned: Learned, items: Ints, units: Sequence[Ints], chain: ExplainedChain | None = None
) -> list[RuleEvidence]:
    """Return the contribution of each rule to the units of some items, projecting only these if possible."""
    task, epoch, teacher = learned.task, learned.epoch, learned.teacher
    rules, vocabulary = teacher.projector.rules, teacher.projector.vocabulary
    alone = rules is None or stay_within_items(rules, teacher.classes, vocabulary)
    corpus = task.corpus.take_items(items) if alone else task.corpus
    seen = np.concatenate(units) if alone else np.arange(task.corpus.n_units)
    ends = np.cumsum([len(mine) for mine in units])
    places = [np.arange(end - len(mine), end) for mine, end in zip(units, ends, strict=True)] if alone else units
    ground = teacher.ground(corpus)
    if ground.texts and is_absent(learned.classifier):
        return [rules_together(learned, mine) for mine in units]
    found = rule_contributions(
        teacher.projector,
        epoch.q_a[seen] if chain is None else chain.q_a,
        ground,
        predict=lambda texts: predict_texts(learned.classifier, texts),
        classifier=epoch.p[seen] if chain is None else chain.p,
    )
    return [_item_evidence(found, ground, place, epoch.q_b[mine]) for place, mine in zip(places, units, strict=True)]


def rules_together(learned: Learned, mine: Ints) -> RuleEvidence:
    """Return the joint contribution of all rules to the units of an item, used if the classifier is not available."""
    epoch, starts = learned.epoch, learned.teacher.projector.starts_from_classifier
    base, q_b = (epoch.p if starts else epoch.q_a)[mine], epoch.q_b[mine]
    _, normaliser = left_over(safe_log(base) / BIT, safe_log(q_b) / BIT)
    return RuleEvidence(
        base=safe_log(base) / BIT,
        from_classifier=starts,
        rules=(TOGETHER,),
        share=(difference(q_b, base) + normaliser[:, None])[None],
        transitions=None,
        residual=np.zeros_like(q_b),
        normaliser=normaliser,
        is_exact=True,
    )


def _item_evidence(found: Contributions, ground: GroundRules, mine: Ints, q_b: Beliefs) -> RuleEvidence:
    """Return the rows of the item's units, the rules that apply to them, and the residual."""
    share = found.per_rule[:, mine] / BIT
    touching = [place for place in range(len(share)) if (np.abs(share[place]) > 0).any()]
    rules = tuple(str(ground.rules[place].rule) for place in touching)
    table = None if found.transitions is None else found.transitions[mine] / BIT
    base = safe_log(found.start[mine]) / BIT
    explained = base + share.sum(axis=0) + (0.0 if table is None else table)
    residual, normaliser = left_over(explained, safe_log(q_b) / BIT)
    return RuleEvidence(
        base=base,
        from_classifier=found.from_classifier,
        rules=rules,
        share=share[touching],
        transitions=table,
        residual=residual,
        normaliser=normaliser,
        is_exact=found.is_exact,
    )
