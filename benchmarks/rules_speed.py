"""Measure the speed of grounding and projecting rules: BIO rules on a million tokens, contrast on a million texts.

    python -m benchmarks.rules_speed                  # one core: OMP_NUM_THREADS=1 POLARS_MAX_THREADS=1
    python -m benchmarks.rules_speed --psl PYTHON     # with the PSL engine, which needs pslpython and Java

Each time is the best of several runs, after a warm-up run for compilation. "numpy's bound" is the time that numpy needs
for logs, exponentials and normalisation of the beliefs alone: no projection in numpy can be faster.
"""

from __future__ import annotations

import argparse
import subprocess
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.machine import best_seconds
from crowdlogic.data.corpus import Corpus
from crowdlogic.numerics.arrays import Floats
from crowdlogic.numerics.logspace import normalise, safe_log
from crowdlogic.rules import GroundRules, Projector, ground_rules, parse_rules

TAGS = ("B-LOC", "B-MISC", "B-ORG", "B-PER", "I-LOC", "I-MISC", "I-ORG", "I-PER", "O")
LENGTH = 14
"""Number of tokens per sentence, about the mean of CoNLL 2003."""

WORDS = (
    "the", "plot", "is", "thin", "and", "its", "cast", "seems", "tired", "of", "every", "line", "in", "this", "film"
)  # fmt: skip
SHARE = 0.15
"""Share of texts that contain the word: 768 of 4,999 in the sentiment data."""


def tokens(count: int) -> tuple[Corpus, Floats]:
    """Return sentences with random beliefs."""
    rng = np.random.default_rng(0)
    offsets = np.append(np.arange(0, count, LENGTH), count)
    items = pl.Series(np.arange(len(offsets) - 1))
    beliefs = rng.random((count, len(TAGS)))
    return Corpus(items, tokens=("w",) * count, offsets=offsets), beliefs / beliefs.sum(axis=1, keepdims=True)


def texts(count: int) -> tuple[Corpus, Floats]:
    """Return sentences, some of which contain "but" in the middle."""
    rng = np.random.default_rng(0)
    chosen = np.array(WORDS)[rng.integers(len(WORDS), size=(count, 20))]
    chosen[rng.random(count) < SHARE, 10] = "but"
    lines = tuple(" ".join(row) for row in chosen.tolist())
    beliefs = rng.random((count, 2))
    return Corpus(pl.Series(np.arange(count)), texts=lines), beliefs / beliefs.sum(axis=1, keepdims=True)


def bio(count: int, repeats: int) -> float:
    """Print how long the BIO rules take, and return the seconds per token for grounding and projecting."""
    corpus, beliefs = tokens(count)
    rules = parse_rules("include bio")
    Projector().project(beliefs, ground_rules(rules, corpus, TAGS))  # compiles
    ground: list[GroundRules] = []
    grounding = best_seconds(lambda: ground.append(ground_rules(rules, corpus, TAGS)), repeats=repeats)
    both = best_seconds(lambda: Projector().project(beliefs, ground_rules(rules, corpus, TAGS)), repeats=repeats)
    again = best_seconds(lambda: Projector().project(beliefs, ground[0]), repeats=repeats)
    bound = best_seconds(lambda: normalise(safe_log(beliefs)), repeats=repeats)
    print(f"BIO rules over {count:,} tokens, {len(TAGS)} tags, {ground[0].count:,} groundings:")
    print(f"  ground {grounding:.3f} s; ground and project {both:.3f} s; project again {again:.3f} s")
    print(f"  numpy's bound for these beliefs {bound:.3f} s; {both / count * 1e6:.2f} microseconds a token")
    return both / count


def contrast(count: int, repeats: int) -> float:
    """Print how long the contrast rule takes, with a table for a classifier, and return the seconds per text."""
    corpus, beliefs = texts(count)
    rules = parse_rules("include contrast('but')")
    ground: list[GroundRules] = []
    grounding = best_seconds(lambda: ground.append(ground_rules(rules, corpus, ("neg", "pos"))), repeats=repeats)
    said = np.random.default_rng(1).dirichlet(np.ones(2), size=len(ground[0].texts))
    again = best_seconds(lambda: Projector().project(beliefs, ground[0], predict=lambda _: said), repeats=repeats)
    bound = best_seconds(lambda: normalise(safe_log(beliefs)), repeats=repeats)
    print(f"Contrast rule over {count:,} texts, {len(ground[0].texts):,} distinct clauses:")
    print(f"  ground {grounding:.3f} s; project {again:.3f} s; both {grounding + again:.3f} s")
    print(
        f"  numpy's bound for these beliefs {bound:.3f} s; {(grounding + again) / count * 1e6:.2f} microseconds a text"
    )
    return (grounding + again) / count


def psl(python: str, program: str, count: int, ours: float) -> None:
    """Print how long the PSL engine takes to ground the same rules, in a separate environment."""
    script = Path(__file__).with_name("rules_psl.py")
    done = subprocess.run([python, str(script), program, str(count)], capture_output=True, text=True, check=True)
    seconds = float(done.stdout.split()[-1])
    print(f"PSL engine: {seconds:.2f} s to ground the {program} rules over {count:,} units:")
    print(
        f"  {seconds / count * 1e6:.0f} microseconds a unit, {seconds / count / ours:,.0f} times ours (with projection)"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--psl", metavar="PYTHON", help="Python interpreter with pslpython, to measure PSL")
    parser.add_argument("--psl-units", type=int, default=10_000)
    options = parser.parse_args()
    ours = bio(options.count, options.repeats)
    per_text = contrast(options.count, options.repeats)
    if options.psl:
        psl(options.psl, "bio", options.psl_units, ours)
        psl(options.psl, "contrast", options.psl_units, per_text)


if __name__ == "__main__":
    main()
