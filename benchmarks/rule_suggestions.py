"""Measure the share of planted rules that are suggested, and the share of suggested rules that are false.

    python -m benchmarks.rule_suggestions [--seeds 10] [--first-seed 100] [--kind texts|tags|both]

Design. Texts: 2,000 texts of 10 to 18 words in three classes, labelled by 20 annotators (accuracy 0.65 to 0.90, 4
labels per text). Most words are noise (600 words); 15 % of the words depend on the class. Five rules are planted, one
of each shape: a word, a phrase of two words that are frequent everywhere, an ending (30 words on -ing), a sign (!),
and a connective ("A but B", in 500 texts: the words of B are of the text's class, those of A of another one). Tags:
600 sentences of 10 to 16 tokens with the tags O, B-X and I-X, labelled likewise. Planted are a word, a preceding word,
a shape (EU), an ending, and the transition from B-X or I-X to I-X. A planted rule is right in 92 % of its 150 cases.

A planted rule counts as found if a rule with the same shape and words is among the first 20. A suggested rule is false
if, in 20,000 fresh texts (4,000 sentences), it holds at most 5 points more often than its class occurs by chance.
Connectives are false if they are not the planted one, transitions if the previous tag is impossible.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import polars as pl

from benchmarks.rule_verdicts import label_corpus
from crowdlogic.data.corpus import Corpus
from crowdlogic.learning.rule_suggestions import Suggestion, suggest_rules
from crowdlogic.numerics.arrays import Ints
from crowdlogic.rules import Projector, parse_rules
from crowdlogic.rules.audit import rule_expectation

RIGHT, FIRST, MARGIN, CASES = 0.92, 20, 0.05, 0.075
CLASSES = ("c0", "c1", "c2")
TAGS = ("O", "B-X", "I-X")
ENDED = [f"{a}{b}ing" for a in ("pla", "tes", "wor", "rea", "wri", "sta") for b in ("k", "d", "n", "r", "t")]
WORDS = ["".join(np.random.default_rng(i).choice(list("abdefgiklmnoprstu"), size=6)) for i in range(780)]
PLANTED_TEXTS = {
    "word": "Contains(S, 'refund')",
    "phrase": "Contains(S, 'never mind')",
    "ending": "ing",
    "signs": "Matches(S, '!')",
    "discourse": "After(S, 'but'",
}
PLANTED_TAGS = {
    "word": "Token(T, 'acme')",
    "word before": "Token(P, 'dear')",
    "shape": "Shape(T, 'X')",
    "ending": "lle$",
    "transition": "Label(T, 'I-X') & Previous(T, P)",
}


def draw_texts(rng: np.random.Generator, n: int) -> Corpus:
    """Return texts with the five planted rules."""
    truth = rng.choice(3, size=n, p=[0.4, 0.35, 0.25]).astype(np.int32)

    def noise(size: int, k: int, share: float = 0.15) -> list[str]:
        topical = rng.random(size) < share
        return [f"t{k}w{rng.integers(60)}" if one else f"w{rng.integers(600)}" for one in topical]

    words = []
    for k in truth:
        row = noise(int(rng.integers(10, 19)), int(k))
        for often in ("never", "mind"):  # frequent in all texts, so that only the phrase is informative
            if rng.random() < 0.25:
                row.insert(int(rng.integers(len(row) + 1)), often)
        words.append(row)
    for i in rng.permutation(n)[: n // 4].tolist():
        opposite = int((truth[i] + rng.integers(1, 3)) % 3)
        words[i] = [*noise(6, opposite, 0.6), "but", *noise(6, int(truth[i]), 0.6)]
    for name, head in (("refund", 1), ("never mind", 2), ("ending", 0), ("!", 1)):
        right = rng.random(round(CASES * n)) < RIGHT
        same, other = np.flatnonzero(truth == head), np.flatnonzero(truth != head)
        cases = np.concatenate(
            [rng.choice(same, right.sum(), replace=False), rng.choice(other, (~right).sum(), replace=False)]
        )
        for i in cases.tolist():
            word = ENDED[rng.integers(len(ENDED))] if name == "ending" else name
            at = int(rng.integers(len(words[i])))
            if name == "!":
                words[i][at] += "!"
            else:
                words[i].insert(at, word)
    names = pl.Series([f"i{i}" for i in range(n)])
    return Corpus(names, texts=tuple(" ".join(row) for row in words), classes=CLASSES, gold=truth)


def draw_sentences(rng: np.random.Generator, n: int) -> Corpus:
    """Return sentences of tokens with the five planted rules."""
    tags: list[int] = []
    lengths = []
    for _ in range(n):
        size, row = int(rng.integers(10, 17)), list[int]()
        while len(row) < size:
            row += [1, *[2] * int(rng.integers(0, 3))] if rng.random() < 0.2 else [0]
        tags += row[:size]
        lengths.append(size)
    truth = np.array(tags, dtype=np.int32)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    tokens = [WORDS[600 + 60 * k + rng.integers(60) if rng.random() < 0.15 else rng.integers(600)] for k in truth]
    free = np.ones(len(truth), dtype=bool)
    starts = np.isin(np.arange(len(truth)), offsets)
    for name, head in (("acme", 1), ("dear", 1), ("shape", 1), ("ending", 1)):
        right = rng.random(n // 4) < RIGHT
        usable = free & ~starts if name == "dear" else free
        same, other = (np.flatnonzero(usable & ((truth == head) == wanted)) for wanted in (True, False))
        cases = np.concatenate(
            [rng.choice(same, right.sum(), replace=False), rng.choice(other, (~right).sum(), replace=False)]
        )
        for i in cases.tolist():
            at = i - 1 if name == "dear" else i
            if not free[at]:
                continue
            free[at] = False
            drawn = {
                "shape": "".join(rng.choice(list("ABCDEFGHKLMNP"), size=3)),
                "ending": f"{''.join(rng.choice(list('abdegklmnoprstu'), size=4))}ville",
            }
            tokens[at] = drawn.get(name, name)
    names = pl.Series([f"s{i}" for i in range(n)])
    return Corpus(names, tokens=tuple(tokens), offsets=offsets, classes=TAGS, gold=truth)


def is_planted(one: Suggestion, shape: str, words: str) -> bool:
    """Return whether a suggestion is the planted rule of a shape."""
    return one.shape == shape and words in one.rule


def is_false(one: Suggestion, fresh: Corpus) -> bool:
    """Return whether a suggested rule holds no more often than by chance in fresh items."""
    gold = np.asarray(fresh.gold)
    if one.shape == "discourse":
        return "After(S, 'but'" not in one.rule
    if one.shape == "same word":
        return False
    ground = Projector(rules=parse_rules(one.rule)).ground(fresh, fresh.classes)
    truth = np.eye(len(fresh.classes))[gold]
    if one.shape == "transition":
        return rule_expectation(ground.rules[0], truth).confidence < RIGHT
    head = fresh.classes.index(one.rule.rpartition("Label(")[2].split("'")[1])
    cases: Ints = ground.rules[0].units
    return not len(cases) or bool((gold[cases] == head).mean() < (gold == head).mean() + MARGIN)


def run(kind: str, seeds: range, verbose: bool) -> None:
    """Print recall and the share of false suggestions."""
    planted = PLANTED_TEXTS if kind == "texts" else PLANTED_TAGS
    found, suggested, wrong, begin = 0, 0, 0, time.process_time()
    for seed in seeds:
        rng = np.random.default_rng([seed, kind == "tags"])
        corpus = draw_texts(rng, 2000) if kind == "texts" else draw_sentences(rng, 600)
        fresh = draw_texts(rng, 20_000) if kind == "texts" else draw_sentences(rng, 4000)
        suggestions = suggest_rules(label_corpus(rng, corpus, "strong"), corpus).suggestions
        first = suggestions[:FIRST]
        missed = [s for s, words in planted.items() if not any(is_planted(one, s, words) for one in first)]
        false = [one for one in suggestions if is_false(one, fresh)]
        found, suggested, wrong = found + 5 - len(missed), suggested + len(suggestions), wrong + len(false)
        print(f"{kind} seed {seed}: missed {missed}, {len(false)} of {len(suggestions)} false", flush=True)
        if verbose:
            for one in suggestions:
                print("   ", "FALSE" if one in false else "     ", one.shape, one.rule)
    seconds = time.process_time() - begin
    print(
        f"{kind}: {found} of {5 * len(seeds)} planted rules among the first {FIRST} ({found / 5 / len(seeds):.1%}); "
        f"{wrong} of {suggested} suggested rules false ({wrong / max(suggested, 1):.1%}); {seconds:.0f} s"
    )


def main() -> None:
    """Measure and print the figures."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seeds", type=int, default=10)
    options.add_argument("--first-seed", type=int, default=100)
    options.add_argument("--kind", choices=("texts", "tags", "both"), default="both")
    options.add_argument("--verbose", action="store_true")
    chosen = options.parse_args()
    for kind in ("texts", "tags") if chosen.kind == "both" else (chosen.kind,):
        run(kind, range(chosen.first_seed, chosen.first_seed + chosen.seeds), chosen.verbose)


if __name__ == "__main__":
    main()
