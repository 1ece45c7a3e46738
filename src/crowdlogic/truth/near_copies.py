"""Detection of near-copies: annotators who give the same answers as somebody else even if these are wrong.

Two good annotators agree because both are right. A copy is revealed by agreement beyond what the others' votes
explain. For a pair of annotators, items are grouped into strata by the votes of everybody else (the two leading
classes, and how far the first one leads). Within a stratum, independent annotators agree as often as a random
permutation of one annotator's labels would make them; the permutation distribution has known mean and variance. The
excess is expressed as a share of the largest possible agreement,

    excess = (agreements - expected) / (most - expected)     1 for a copy, about 0 for independent annotators.

Shared difficulty has the same effect, but weaker and for all pairs, so the lower quartile over the pairs is subtracted.
Pairs are tested with control of the false discovery rate ([BH95]). Similar annotators are grouped into families by
average linkage. Once families are known, an annotator's family does not count as "the others", so that even a family
with most of the annotators can be found.

Only near-copies should be merged. Weaker similarity is often shared difficulty, and counting similar annotators once
makes answers worse on real crowds.

[BH95] Benjamini and Hochberg, "Controlling the false discovery rate", 1995.
Axes: i item, j annotator, k class, p pair, s stratum.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from crowdlogic.data.labels import CrowdLabels, require_whole_labels
from crowdlogic.errors import OptionError
from crowdlogic.numerics.arrays import Bools, Floats, Ints, find_discoveries

MIN_COMMON = 50
"""Minimum number of common items for testing a pair."""
MAX_UNITS = 4_000
"""Maximum number of items that are used."""
MAX_PAIRS = 2_000
"""Maximum number of pairs that are examined, those with the most agreement."""
MAX_COMPARED, MAX_LABEL_PAIRS = 4_000, 300_000_000
"""Maximum number of annotators whose common items are counted, and of pairs of their labels on the same item."""
SIMILAR, NEAR_COPY = 0.35, 0.7
"""Minimum excess agreement of a similar pair, and of a near-copy."""
AT_LEAST = 0.5
"""The excess agreement of near-copies must be significantly above this."""
BINS = 4
"""Number of strata by the lead of the first class."""
STRATUM = 25
"""Approximate minimum number of items per stratum."""
ROUNDS = 4
SAME_ANSWERS = 0.85
"""Minimum kappa at which two annotators are not used to explain each other's agreement."""
MOSTLY_SAME = 0.75
"""Minimum kappa of near-copies."""
SURELY_SAME = 0.95
"""Minimum kappa of near-copies if skill cannot be distinguished from copying."""


@dataclass(frozen=True, kw_only=True)
class SimilarPair:
    """Pair of annotators with similar answers.

    Attributes:
        first: Code of the first annotator.
        second: Code of the second annotator.
        common: Number of items labelled by both.
        agreement: Share of these items on which they agree.
        excess: Agreement beyond what the others' votes explain, as a share of the largest possible.
        near_copy: Whether they almost always give the same answer, even if it is wrong.
    """

    first: int
    second: int
    common: int
    agreement: float
    excess: float
    near_copy: bool


@dataclass(frozen=True, eq=False, kw_only=True)
class Similarity:
    """Groups and pairs of annotators with similar answers.

    Attributes:
        pairs: The similar pairs, the most similar first.
        group: group[j], equal for near-copies of each other.
        family: family[j], equal for annotators who are similar or near-copies.
        tested: Number of pairs with enough common items.
    """

    pairs: tuple[SimilarPair, ...]
    group: Ints
    family: Ints
    tested: int

    @property
    def has_copies(self) -> bool:
        """Whether there are near-copies."""
        return len(np.unique(self.group)) < len(self.group)


def find_similar(labels: CrowdLabels, *, false_discovery_rate: float = 0.01, seed: int = 0) -> Similarity:
    """Find annotators who agree with each other beyond what the others' votes explain.

    Args:
        labels: The labels.
        false_discovery_rate: Expected share of false pairs among the reported pairs.
        seed: Random seed of the sample of items, if there are very many.
    """
    if not 0 < false_discovery_rate < 1:
        raise OptionError(f"false_discovery_rate must be between 0 and 1, got {false_discovery_rate}.")
    require_whole_labels(labels, "the search for near-copies")
    n_annotators, n_classes = len(labels.annotators), labels.n_classes
    alone = np.arange(n_annotators)
    unit, annotator, label = first_labels(labels, seed)
    first, second, kappa = _candidate_pairs(unit, annotator, label, shape=(labels.n_units, n_annotators))
    if not len(first) or n_classes < 2:
        return Similarity(pairs=(), group=alone, family=alone, tested=0)

    # Annotators with nearly the same answers must not explain each other's agreement, so they start in one family
    family, group = _link(first, second, kappa, n_annotators, SAME_ANSWERS), alone
    for _ in range(ROUNDS):
        table = _measure_pairs(unit, annotator, label, family, first, second, shape=(labels.n_units, n_classes))
        common, agreed, above, most, variance = table
        excess = np.where(most > 0, above / np.maximum(most, 1e-12), 0.0)
        baseline = max(float(np.quantile(excess, 0.25)), 0.0) if len(excess) > 2 else 0.0
        adjusted = (excess - baseline) / (1.0 - min(baseline, 0.99))
        # Similar pairs agree more than the baseline; near-copies agree more than `least`, and not only through skill
        similar = (adjusted >= SIMILAR) & _discoveries(above - baseline * most, variance, false_discovery_rate)
        least = baseline + AT_LEAST * (1.0 - baseline)
        copies = (
            (adjusted >= NEAR_COPY)
            & (kappa >= MOSTLY_SAME)
            & _discoveries(above - least * most, variance, false_discovery_rate)
        )
        copies[copies] = _beyond_skill(first, second, kappa, common, family, np.flatnonzero(copies))
        before = family
        family = _link(first, second, np.where(similar, adjusted, np.minimum(adjusted, 0.0)), n_annotators, SIMILAR)
        group = _link(first, second, np.where(copies, adjusted, np.minimum(adjusted, 0.0)), n_annotators, NEAR_COPY)
        if np.array_equal(before, family):
            break

    pairs = [
        SimilarPair(
            first=int(first[p]),
            second=int(second[p]),
            common=int(common[p]),
            agreement=float(agreed[p] / max(common[p], 1)),
            excess=float(excess[p]),
            near_copy=bool(group[first[p]] == group[second[p]]),
        )
        for p in np.argsort(-excess)
        if similar[p]
    ]
    return Similarity(pairs=tuple(pairs), group=group, family=family, tested=len(first))


def merge_groups(labels: CrowdLabels, group: Ints) -> CrowdLabels:
    """Weight labels so that every group counts as one annotator, whose labels on an item share one vote.

    Args:
        labels: The labels.
        group: group[j], equal for annotators who count as one.
    """
    names, code = np.unique(group, return_inverse=True)
    if len(names) == len(group):
        return labels
    annotator = code[labels.annotator]
    # The labels of a group for an item have a total weight of one
    pair = labels.unit.astype(np.int64) * len(names) + annotator
    _, position, size = np.unique(pair, return_inverse=True, return_counts=True)
    weight = labels.weights / size[position]
    leader = np.array([np.flatnonzero(code == g)[0] for g in range(len(names))])
    kind = None if labels.kind is None else tuple(labels.kind[j] for j in leader)
    return replace(labels, annotator=annotator, annotators=labels.annotators.gather(leader), kind=kind, weight=weight)


def first_labels(labels: CrowdLabels, seed: int) -> tuple[Ints, Ints, Ints]:
    """Return unit, annotator and label of at most MAX_UNITS units, one label per unit and annotator, sorted by unit."""
    chosen = np.ones(labels.n_labels, dtype=bool)
    chosen[1:] = (labels.unit[1:] != labels.unit[:-1]) | (labels.annotator[1:] != labels.annotator[:-1])
    if labels.n_units > MAX_UNITS and labels.n_labels > 100_000:
        drawn = np.zeros(labels.n_units, dtype=bool)
        # Most pairs are on units with many labels, so draw among these
        count = labels.labels_per_unit() + np.random.default_rng(seed).random(labels.n_units)
        drawn[np.argpartition(-count, MAX_UNITS)[:MAX_UNITS]] = True
        chosen &= drawn[labels.unit]
    return labels.unit[chosen], labels.annotator[chosen], labels.label[chosen]


def _candidate_pairs(unit: Ints, annotator: Ints, label: Ints, *, shape: tuple[int, int]) -> tuple[Ints, Ints, Floats]:
    """Return pairs with enough common items, and Cohen's kappa with the class frequencies of all labels of the two.

    If there are too many pairs, those with the largest lower bound of agreement are chosen.
    """
    n_annotators, n_classes = shape[1], int(label.max(initial=0)) + 1
    first, second, n, agreed = count_pairs(unit, annotator, label, shape=shape)
    if not len(first):
        return first, second, n
    share = agreed / n
    if len(first) > MAX_PAIRS:
        best = np.argsort(-(share - 2.0 * np.sqrt(share * (1 - share) / n)), kind="stable")[:MAX_PAIRS]
        first, second, share = first[best], second[best], share[best]
    cell = annotator.astype(np.int64) * n_classes + label
    counts = np.bincount(cell, minlength=n_annotators * n_classes).reshape(n_annotators, n_classes)
    frequency = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    chance = np.einsum("pk,pk->p", frequency[first], frequency[second])
    return first, second, (share - chance) / np.maximum(1.0 - chance, 1e-9)


def count_pairs(
    unit: Ints, annotator: Ints, label: Ints, *, shape: tuple[int, int]
) -> tuple[Ints, Ints, Floats, Floats]:
    """Return the pairs of annotators with at least MIN_COMMON common items, and how often they agree.

    If counting all pairs would take too much time or memory, only the annotators with the most labels are compared.

    Args:
        unit: unit[n], the unit of each label, with one label per unit and annotator.
        annotator: annotator[n].
        label: label[n].
        shape: Number of units and of annotators.

    Returns:
        first[p] < second[p], common[p] items and agreed[p], those with equal labels.
    """
    # Annotators with fewer labels than MIN_COMMON cannot have enough items in common with anybody
    given = np.bincount(annotator, minlength=shape[1])
    most = min(int(np.count_nonzero(given >= MIN_COMMON)), MAX_COMPARED)
    ranked = np.argsort(-given, kind="stable")
    while most > 1:
        compared = np.zeros(shape[1], dtype=bool)
        compared[ranked[:most]] = True
        if (np.bincount(unit[compared[annotator]]).astype(np.float64) ** 2).sum() <= MAX_LABEL_PAIRS:
            break
        most //= 2
    else:
        none = np.zeros(0, dtype=np.int64)
        return none, none, np.zeros(0), np.zeros(0)
    unit, annotator, label = (column[compared[annotator]] for column in (unit, annotator, label))
    said = sparse.csr_matrix((np.ones(len(unit)), (unit, annotator)), shape=shape)
    common = sparse.triu(said.T @ said, k=1).tocoo()
    enough = common.data >= MIN_COMMON
    first, second = common.row[enough], common.col[enough]
    if not len(first):
        return first, second, np.zeros(0), np.zeros(0)
    answer = unit.astype(np.int64) * (int(label.max()) + 1) + label
    gave = sparse.csr_matrix((np.ones(len(unit)), (answer, annotator)))
    return first, second, common.data[enough], np.asarray((gave.T @ gave).tocsr()[first, second]).ravel()


def _measure_pairs(
    unit: Ints, annotator: Ints, label: Ints, family: Ints, first: Ints, second: Ints, *, shape: tuple[int, int]
) -> Floats:
    """Return measured[0..4, p]: common items, agreements, excess agreements, largest possible excess, variance."""
    n_units, n_classes = shape
    # votes[i, k] of all families, each counting once; the votes of families with several members are kept
    cell = unit.astype(np.int64) * n_classes + label
    _, position, size = np.unique(
        unit.astype(np.int64) * len(family) + family[annotator], return_inverse=True, return_counts=True
    )
    weight = 1.0 / size[position]
    votes = np.bincount(cell, weights=weight, minlength=n_units * n_classes).reshape(shape)
    large = np.flatnonzero(np.bincount(family, minlength=len(family)) > 1)
    votes_of = {}
    for f in large:
        rows = family[annotator] == f
        votes_of[f] = np.bincount(cell[rows], weights=weight[rows], minlength=n_units * n_classes).reshape(shape)
    order = np.argsort(annotator, kind="stable")
    rows_of = np.split(order, np.cumsum(np.bincount(annotator, minlength=len(family)))[:-1])  # ascending in unit

    measured = np.zeros((5, len(first)))
    for p, (a, b) in enumerate(zip(first, second, strict=True)):
        units, at_a, at_b = np.intersect1d(unit[rows_of[a]], unit[rows_of[b]], assume_unique=True, return_indices=True)
        label_a, label_b = label[rows_of[a][at_a]], label[rows_of[b][at_b]]
        # others[c, k]: the votes of other families on the common items
        others = votes[units].copy()
        for f, said in {family[a]: label_a, family[b]: label_b}.items():
            if f in votes_of:
                others -= votes_of[f][units]
            else:
                others[np.arange(len(units)), said] -= 1.0
        known = others.sum(axis=1) > 1e-9
        if known.sum() >= MIN_COMMON:
            measured[:, p] = _measure_pair(label_a[known], label_b[known], others[known])
    return measured


def _measure_pair(label_a: Ints, label_b: Ints, others: Floats) -> tuple[float, float, float, float, float]:
    """Return the result of `_measure_pairs` for one pair, within strata of the others' votes."""
    n, n_classes = others.shape
    # Strata: the two leading classes of the others, then how far the first one leads
    ranked = np.argsort(-others, axis=1, kind="stable")
    top, runner = ranked[:, 0], ranked[:, 1]
    rows = np.arange(n)
    total = others.sum(axis=1)
    lead = (others[rows, top] - others[rows, runner]) / total
    runner = np.where(others[rows, runner] > 1e-9, runner, top)
    leaders = top * n_classes + runner
    within = np.argsort(np.lexsort((lead, leaders)))
    size = np.bincount(leaders, minlength=n_classes**2)
    begins = np.cumsum(size) - size
    bins = np.clip(size // STRATUM, 1, BINS)
    stratum = leaders * BINS + (within - begins[leaders]) * bins[leaders] // size[leaders]

    # counts[s, x, y]: how often the pair gave the labels (x, y) in a stratum
    used, stratum = np.unique(stratum, return_inverse=True)
    cells = (stratum * n_classes + label_a) * n_classes + label_b
    counts = np.bincount(cells, minlength=len(used) * n_classes**2).reshape(-1, n_classes, n_classes).astype(float)
    of_a, of_b, items = counts.sum(axis=2), counts.sum(axis=1), counts.sum(axis=(1, 2))
    agreed = np.trace(counts, axis1=1, axis2=2)
    expected = (of_a * of_b).sum(axis=1) / items
    most = np.minimum(of_a, of_b).sum(axis=1)
    # Variance of the agreements when the labels of one are permuted within a stratum: of the sum of d[x, y] over a
    # random matching, with d centred by rows and columns
    p, q = of_a / items[:, None], of_b / items[:, None]
    centred = np.eye(n_classes) - q[:, :, None] - p[:, None, :] + (expected / items)[:, None, None]
    spread = (of_a[:, :, None] * of_b[:, None, :] * centred**2).sum(axis=(1, 2))
    variance = spread / np.maximum(items - 1, 1)
    counted = items > 1
    return (
        float(n),
        float(agreed.sum()),
        float((agreed - expected)[counted].sum()),
        float((most - expected)[counted].sum()),
        float(variance[counted].sum()),
    )


def _beyond_skill(first: Ints, second: Ints, kappa: Floats, common: Floats, family: Ints, pairs: Ints) -> Bools:
    """Return whether pairs agree more than the skill of the two annotators explains.

    Two excellent annotators among poor ones also agree beyond what the others' votes explain, without copying. With
    independent errors, there is one factor, kappa[a, b] = skill[a] skill[b]. So kappa[a, k] kappa[b, l] = explained
    kappa[k, l] for all k and l of other families, where `explained` = skill[a] skill[b] has a least squares estimate in
    closed form.
    """
    names = np.unique(np.concatenate([first, second]))
    a, b = np.searchsorted(names, first), np.searchsorted(names, second)
    # agreement[a, b] of pairs in different families, and the variance of its noise; 0 for other pairs
    across = (family[first] != family[second]) & (common > 0)
    agreement, noise = np.zeros((len(names), len(names))), np.zeros((len(names), len(names)))
    a_across, b_across = a[across], b[across]
    agreement[a_across, b_across] = agreement[b_across, a_across] = kappa[across]
    noise[a_across, b_across] = noise[b_across, a_across] = 1.0 / common[across]

    beyond = np.zeros(len(pairs), dtype=bool)
    for at, p in enumerate(pairs):
        own = np.isin(family[names], family[[first[p], second[p]]])
        with_a, with_b = np.where(own, 0.0, agreement[a[p]]), np.where(own, 0.0, agreement[b[p]])
        both = np.outer(with_a != 0, with_b != 0)
        among = np.where(both, agreement, 0.0)
        square = (among**2).sum() - np.where(both, noise, 0.0).sum()
        doubt = 2.0 * np.sqrt((among**2 * noise).sum())  # standard error of `square`
        if square <= 2.0 * doubt or square <= 0:
            beyond[at] = kappa[p] >= SURELY_SAME  # skill cannot be distinguished from copying
            continue
        explained = with_a @ among @ with_b / square
        error = (among @ with_b) ** 2 @ noise[a[p]] + (with_a @ among) ** 2 @ noise[b[p]]
        error = np.sqrt(error + with_a**2 @ noise @ with_b**2 + (explained * doubt) ** 2) / square
        upper = min(explained + 2.0 * error, 1.0)
        beyond[at] = kappa[p] - upper >= AT_LEAST * (1.0 - upper) and (upper < 1.0 or kappa[p] >= SURELY_SAME)
    return beyond


def _discoveries(above: Floats, variance: Floats, rate: float) -> Bools:
    """Return which pairs are significantly similar, controlling the false discovery rate ([BH95])."""
    from scipy.special import ndtr

    return find_discoveries(1.0 - ndtr(above / np.sqrt(np.maximum(variance, 1e-12))), rate)


def _link(first: Ints, second: Ints, strength: Floats, n_annotators: int, least: float) -> Ints:
    """Return groups by average linkage with a mean strength of at least `least`. Pairs not given have strength zero."""
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    group = np.arange(n_annotators)
    linked = np.unique(np.concatenate([first[strength >= least], second[strength >= least]]))
    if not len(linked):
        return group
    # distance[a, b] between annotators with at least one link
    position = np.full(n_annotators, -1)
    position[linked] = np.arange(len(linked))
    distance = np.ones((len(linked), len(linked)))
    np.fill_diagonal(distance, 0.0)
    inside = (position[first] >= 0) & (position[second] >= 0)
    a, b = position[first[inside]], position[second[inside]]
    distance[a, b] = distance[b, a] = 1.0 - np.clip(strength[inside], 0.0, 1.0)
    cluster = fcluster(linkage(squareform(distance, checks=False), "average"), 1.0 - least, "distance")
    for c in np.unique(cluster):
        members = linked[cluster == c]
        group[members] = members.min()
    return group
