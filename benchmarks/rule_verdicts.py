"""Measure how often verdicts on planted rules are right.

    python -m benchmarks.rule_verdicts [--seeds 10] [--first-seed 100] [--part verdicts|accuracy]

Design. Every data set has three planted rules: a good one (right in 92 % of its cases), a useless one (right as often
as by chance) and a harmful one (right in 8 %, about the most frequent class). Documents: 800 training texts of 8 to 14
words, some of which depend on the class; each rule is about one word, which occurs in 150 texts. Tags: 300 sentences of
8 to 14 tokens; the good rule is about a word that usually has a B- tag, the harmful rule predicts O for a word that
usually has another tag, and the useless rule predicts O for a random word.

Crowds have 20 annotators with uniformly drawn accuracies (errors are uniform over other classes): a strong crowd gives
4 labels per item with an accuracy of 0.65 to 0.90; a weak one 2 labels with an accuracy of 0.42 to 0.60 for three
classes, of 0.55 to 0.70 for two, of 0.32 to 0.50 for five. Labelling functions: 20 functions that give one class each,
to 5 to 15 % of the items, right in 65 to 90 %. Gold: 50 items drawn at random, or none.
"""

from __future__ import annotations

import argparse
import itertools
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from crowdlogic.data.corpus import UNKNOWN, Corpus
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.learning.algorithm import LogicLNCL
from crowdlogic.learning.rule_verdicts import fit_without_rules, judge_rules
from crowdlogic.numerics.arrays import Bools, Floats, Ints
from crowdlogic.rules import Projector, parse_rules
from crowdlogic.rules.audit import Outcome, RuleVerdict

ACCURACY = {
    ("strong", 2): (0.65, 0.90), ("strong", 3): (0.65, 0.90), ("strong", 5): (0.65, 0.90),
    ("weak", 2): (0.55, 0.70), ("weak", 3): (0.42, 0.60), ("weak", 5): (0.32, 0.50),
}  # fmt: skip
LABELS = {"strong": 4, "weak": 2}
EXPECTED = (Outcome.helps, Outcome.no_effect, Outcome.contradicts)
DOCUMENTS, SENTENCES, CASES, TEST, GOLD, ANNOTATORS = 800, 300, 150, 800, 50, 20


@dataclass(frozen=True, eq=False, kw_only=True)
class Planted:
    """Labels with three planted rules: a good, a useless and a harmful one."""

    labels: CrowdLabels
    corpus: Corpus
    test: Corpus
    rules: tuple[str, ...]
    gold: Ints


def plant_word(
    rng: np.random.Generator, truth: Ints, head: int, right: float | None, cases: int, free: Bools | None = None
) -> Ints:
    """Choose the units that get a word, a share `right` of which has class head (the base rate if None)."""
    free = np.ones(len(truth), dtype=bool) if free is None else free
    if right is None:
        right = float((truth == head).mean())
    same, other = np.flatnonzero((truth == head) & free), np.flatnonzero((truth != head) & free)
    hits = min(round(cases * right), len(same))
    misses = min(cases - round(cases * right), len(other))
    return np.concatenate([rng.choice(same, hits, replace=False), rng.choice(other, misses, replace=False)])


def draw_documents(rng: np.random.Generator, n: int, classes: int, cases: int, shares: Floats, heads: Ints) -> Corpus:
    """Return texts whose words depend weakly on the class, with the words of the three rules."""
    truth = rng.choice(classes, size=n, p=shares).astype(np.int32)
    words = []
    for k in truth:
        size = int(rng.integers(8, 15))
        topical = rng.random(size) < 0.12
        words.append([f"t{k}w{rng.integers(60)}" if one else f"w{rng.integers(600)}" for one in topical])
    for name, head, right in (("good", heads[0], 0.92), ("useless", heads[1], None), ("harmful", heads[2], 0.08)):
        for i in plant_word(rng, truth, int(head), right, cases):
            words[i].insert(int(rng.integers(len(words[i]) + 1)), name)
    names = tuple(f"c{k}" for k in range(classes))
    texts = tuple(" ".join(one) for one in words)
    return Corpus(pl.Series([f"i{i}" for i in range(n)]), texts=texts, classes=names, gold=truth)


def tag_names(classes: int) -> tuple[str, ...]:
    """Return the tags for a number of classes."""
    return {2: ("O", "X"), 3: ("O", "B-X", "I-X"), 5: ("O", "B-X", "I-X", "B-Y", "I-Y")}[classes]


def draw_sentences(rng: np.random.Generator, n: int, classes: int, cases: int) -> Corpus:
    """Return sentences with spans, and the words of the three rules."""
    names = tag_names(classes)
    tags: list[int] = []
    lengths: list[int] = []
    for _ in range(n):
        size = int(rng.integers(8, 15))
        row: list[int] = []
        while len(row) < size:
            if rng.random() < 0.25:
                kind = 1 if classes <= 3 else int(rng.choice([1, 3]))
                row += [kind] + [kind + (classes > 2)] * int(rng.integers(0, 3))
            else:
                row += [0]
        tags += row[:size]
        lengths.append(size)
    truth = np.array(tags, dtype=np.int32)
    topical = rng.random(len(truth)) < 0.3
    tokens = [
        f"t{k}w{rng.integers(60)}" if one else f"w{rng.integers(600)}" for k, one in zip(truth, topical, strict=True)
    ]
    free = np.ones(len(truth), dtype=bool)
    for name, head, right in (("useless", 0, None), ("harmful", 0, 0.08), ("good", 1, 0.92)):
        for i in plant_word(rng, truth, head, right, cases, free):
            tokens[i], free[i] = name, False
    return Corpus(
        pl.Series([f"s{i}" for i in range(n)]),
        tokens=tuple(tokens),
        offsets=np.concatenate([[0], np.cumsum(lengths)]),
        classes=names,
        gold=truth,
    )


def label_corpus(rng: np.random.Generator, corpus: Corpus, strength: str) -> CrowdLabels:
    """Return the labels of a strong or weak crowd, or of labelling functions."""
    truth, classes, n_items = np.asarray(corpus.gold), len(corpus.classes), len(corpus.items)
    item_of_unit = (
        np.arange(n_items) if corpus.offsets is None else np.repeat(np.arange(n_items), np.diff(corpus.offsets))
    )
    if strength == "functions":
        units: list[Ints] = []
        functions: list[Ints] = []
        given: list[Ints] = []
        for j in range(ANNOTATORS):
            k, right = j % classes, rng.uniform(0.65, 0.90)
            cases = plant_word(rng, truth, k, right, int(rng.uniform(0.05, 0.15) * len(truth)))
            units.append(cases)
            functions.append(np.full(len(cases), j))
            given.append(np.full(len(cases), k))
        unit, annotator, label = np.concatenate(units), np.concatenate(functions), np.concatenate(given)
    else:
        each = LABELS[strength]
        accuracy = rng.uniform(*ACCURACY[strength, classes], size=ANNOTATORS)
        who = np.stack([rng.choice(ANNOTATORS, size=each, replace=False) for _ in range(n_items)])
        unit = np.repeat(np.arange(len(truth)), each)
        annotator = who[item_of_unit].ravel()
        wrong = (truth[unit] + rng.integers(1, classes, size=len(unit))) % classes
        label = np.where(rng.random(len(unit)) < accuracy[annotator], truth[unit], wrong)
    return CrowdLabels(
        unit=unit,
        annotator=annotator,
        label=label.astype(np.int32),
        items=corpus.items,
        annotators=pl.Series([f"a{j}" for j in range(ANNOTATORS)]),
        classes=corpus.classes,
        offsets=corpus.offsets,
    )


def draw_planted(seed: int, kind: str, classes: int, strength: str, *, gold: bool) -> Planted:
    """Return one simulated data set."""
    rng = np.random.default_rng(
        [seed, ("documents", "tags").index(kind), classes, ("strong", "weak", "functions").index(strength)]
    )
    if kind == "documents":
        shares = rng.dirichlet(np.full(classes, 30.0))
        heads = rng.integers(classes, size=3)
        heads[2] = shares.argmax()
        cases = min(CASES, int(0.85 * shares[heads[0]] * DOCUMENTS / 0.92))
        corpus = draw_documents(rng, DOCUMENTS, classes, cases, shares, heads)
        test = draw_documents(rng, TEST, classes, cases, shares, heads)
        rules = tuple(
            f"1.0: Contains(S, '{name}') -> Label(S, 'c{head}')"
            for name, head in zip(("good", "useless", "harmful"), heads, strict=True)
        )
    else:
        corpus, test = draw_sentences(rng, SENTENCES, classes, CASES), draw_sentences(rng, SENTENCES, classes, CASES)
        begin = tag_names(classes)[1]
        rules = (
            f"1.0: Token(T, 'good') -> Label(T, '{begin}')",
            "1.0: Token(T, 'useless') -> Label(T, 'O')",
            "1.0: Token(T, 'harmful') -> Label(T, 'O')",
        )
    labels = label_corpus(rng, corpus, strength)
    known = np.full(labels.n_units, UNKNOWN, dtype=np.int32)
    if gold:
        chosen = rng.permutation(len(corpus.items))[:GOLD]
        where = np.isin(labels.item_of_unit, chosen)
        known[where] = np.asarray(corpus.gold)[where]
    return Planted(labels=labels, corpus=corpus, test=test, rules=rules, gold=known)


def judge(planted: Planted) -> tuple[RuleVerdict, ...]:
    """Return the verdicts on the three rules."""
    projector = Projector(rules=parse_rules("\n".join(planted.rules)))
    fit = fit_without_rules(planted.labels, planted.corpus, gold=planted.gold)
    return judge_rules(projector.ground(planted.corpus, planted.labels.classes), fit)


def designs() -> Iterator[tuple[str, int, str, bool]]:
    """Yield kind, classes, strength and gold of all designs."""
    yield from itertools.product(("documents", "tags"), (2, 3, 5), ("strong", "weak", "functions"), (False, True))


def run_verdicts(seeds: range, verbose: bool) -> None:
    """Print how often each planted rule gets each verdict."""
    found: dict[tuple[str, ...], Counter[Outcome]] = defaultdict(Counter)
    totals: dict[str, Counter[str]] = defaultdict(Counter)
    begin = time.perf_counter()
    for (kind, classes, strength, gold), seed in itertools.product(designs(), seeds):
        verdicts = judge(draw_planted(seed, kind, classes, strength, gold=gold))
        for name, expected, one in zip(("good", "useless", "harmful"), EXPECTED, verdicts, strict=True):
            found[kind, str(classes), strength, "gold" if gold else "", name][one.outcome] += 1
            how = (
                "right" if one.outcome is expected else "cannot tell" if one.outcome is Outcome.cannot_tell else "wrong"
            )
            totals[strength][how] += 1
            if verbose and how != "right":
                figures = f"lift {one.lift:.2f}+-{one.lift_error:.2f} holds {one.holds:.2f} chance {one.chance:.2f}"
                print(f"{kind} {classes} {strength} {gold} {seed} {name}: {one.outcome} {figures}")
    for key, counts in found.items():
        print(
            " ".join(f"{part:9}" for part in key), " ".join(f"{o.value[:11]} {counts[o]}" for o in Outcome if counts[o])
        )
    for strength, ways in totals.items():
        n = ways.total()
        print(strength, {how: f"{100 * ways[how] / n:.1f} %" for how in ("right", "cannot tell", "wrong")}, n)
    print(f"{time.perf_counter() - begin:.0f} s")


def run_accuracy(seeds: range, given: bool) -> None:
    """Print the mean accuracy on training and test items without rules, with the good rule, and with all three."""
    found: dict[tuple[str, ...], list[Floats]] = defaultdict(list)
    weights: dict[tuple[str, ...], list[Floats]] = defaultdict(list)
    for kind, classes, strength in itertools.product(("documents", "tags"), (2, 3, 5), ("strong", "weak")):
        for seed in seeds:
            planted = draw_planted(seed, kind, classes, strength, gold=False)
            labels, corpus = planted.labels, replace(planted.corpus, gold=None)
            fit = fit_without_rules(labels, corpus)
            row = []
            for how in ("none", "good", "all judged", "all given") if given else ("none", "good", "all judged"):
                rules = planted.rules if how.startswith("all") else planted.rules[:1]
                projector = Projector(rules=None if how == "none" else parse_rules("\n".join(rules)))
                if how in ("good", "all judged"):
                    verdicts = judge_rules(projector.ground(corpus, labels.classes), fit)
                    factors = np.array([one.factor for one in verdicts])
                    projector = projector.reweight(factors)
                    if how == "all judged":
                        weights[kind, str(classes), strength].append(factors)
                learned = LogicLNCL(projector=projector).fit(corpus, labels)
                train = (learned.estimate.beliefs.argmax(axis=1) == planted.corpus.gold).mean()
                test = (learned.predict(replace(planted.test, gold=None)).argmax(axis=1) == planted.test.gold).mean()
                row.append((float(train), float(test)))
            found[kind, str(classes), strength].append(np.array(row))
        mean = 100 * np.mean(found[kind, str(classes), strength], axis=0)
        factors = np.mean(weights[kind, str(classes), strength], axis=0).round(2)
        print(
            kind,
            classes,
            strength,
            "none / good / all judged" + " / all given" * given + ": inference",
            mean[:, 0].round(1),
            "test",
            mean[:, 1].round(1),
            "weights",
            factors,
            flush=True,
        )


def main() -> None:
    """Measure and print the figures."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seeds", type=int, default=10)
    options.add_argument("--first-seed", type=int, default=100)
    options.add_argument("--part", choices=("verdicts", "accuracy"), default="verdicts")
    options.add_argument("--given", action="store_true", help="Train with all rules at their given weights as well.")
    options.add_argument("--verbose", action="store_true")
    chosen = options.parse_args()
    warnings.simplefilter("ignore")
    seeds = range(chosen.first_seed, chosen.first_seed + chosen.seeds)
    if chosen.part == "accuracy":
        run_accuracy(seeds, chosen.given)
    else:
        run_verdicts(seeds, chosen.verbose)


if __name__ == "__main__":
    main()
