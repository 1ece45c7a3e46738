"""Conformance with the PSL engine itself: the same groundings, and the same distance to satisfaction.

Needs a Python that has pslpython 2.4.1 (which carries the engine), and Java. It is looked for in the variable
CROWDLOGIC_PSL_PYTHON, in this environment and in .venv-psl.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import defaultdict
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from crowdlogic.data.corpus import Corpus, sentences
from crowdlogic.rules.grounding import ground_rules
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.potentials import Block, Predictions, evidence, soft_distances
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.syntax import LogicalRule

pytestmark = pytest.mark.heavy

PROGRAMS = [
    # logical rules: arrows, conjunctions, disjunctions, negations, weights, squares
    "1: Label(T, C) -> Tagged(T)",
    "0.8: Label(T, C) >> Tagged(T)",
    "2: Tagged(T) <- Label(T, C)",
    "2: Tagged(T) << Label(T, 'x')",
    "1: Tagged(T) -> Label(T, 'x')",
    "1: Tagged(T) -> Label(T, 'x') ^2",
    "1: Tagged(T) -> Label(T, 'x') ^1",
    "1: Tagged(T) & Noted(T, W) -> Label(T, 'x')",
    "1: Tagged(T) && Noted(T, 'w1') -> Label(T, 'x') || Label(T, 'y')",
    "1: Similar(A, B) & Label(A, C) -> Label(B, C)",
    "5: Similar(A, B) & Label(A, C) -> Label(B, C) ^2",
    "1: Similar(A, B) & Similar(B, D) & Label(A, C) -> Label(D, C)",
    "1: Similar(A, B) & !Tagged(A) & Label(A, 'x') -> Label(B, 'x')",
    "1: Similar(A, B) & Label(A, 'x') & !Label(B, 'x') -> Tagged(A)",
    "1: Tagged(T) -> !Label(T, 'z')",
    "1: ~Label(T, 'z')",
    "0.3: !Label(T, C) ^2",
    "1: !Label(T, 'x') | !Tagged(T) | Label(T, 'y')",
    "1: (Tagged(T) & (Noted(T, W) & Label(T, C))) -> (Means(W, C) | (Label(T, 'x')))",
    "1: Noted(T, W) & Means(W, C) -> Label(T, C)",
    "1: Noted(T, W) & Noted(T, V) & (W != V) -> Label(T, 'y')",
    "1: Noted(T, W) & Label(T, C) & (W == 'w1') -> Means(W, C)",
    "1: Similar(A, B) & Label(A, C) & Label(B, D) & (C != D) -> Tagged(A)",
    "1: Label(T, C) -> Predicted(T, C)",
    "1: Predicted(T, C) -> Label(T, C) ^2",
    "1: Label(T, C) & Predicted(T, D) & (C != D) -> Tagged(T)",
    # hard rules
    "Crisp(A, B) & Label(A, C) -> !Label(B, C) .",
    "Crisp(A, B) & Label(A, 'x') -> Label(B, 'y') | Label(B, 'z') .",
    "Label(T, 'x') & First(T) -> Label(T, 'z') .",
    # structure
    "1: Label(T, 'x') & Previous(T, P) -> Label(P, 'y') | Label(P, 'x')",
    "1: Label(T, C) & Next(T, N) -> Label(N, C)",
    "1: Label(T, 'x') & Next(T, N) -> Label(N, 'y')",
    "1: Similar(A, A) -> Label(A, 'x')",
    "1: First(T) -> !Label(T, 'x')",
    "1: Last(T) & Label(T, C) -> Predicted(T, C)",
    "1: SameSequence(A, B) & Label(A, 'x') -> Label(B, 'x')",
    # arithmetic rules
    "1: Label(T, 'x') + Tagged(T) <= 1",
    "1: Label(T, 'x') + Tagged(T) >= 1 ^2",
    "1: Label(A, C) + Label(B, C) + Similar(A, B) <= 2",
    "1: 2 * Label(T, 'x') - 0.5 * Label(T, 'y') >= 0.25",
    "1: Label(T, 'x') / 2 + 3 Tagged(T) <= 1.5",
    "1: Label(T, C) = Predicted(T, C)",
    "1: Label(A, 'x') - Label(B, 'x') = Similar(A, B) - 0.5 ^2",
    "1: Label(T, +C) + Tagged(T) <= 1.5",
    "Label(T, +C) = 1 .",
    "Label(A, C) + Label(B, C) + Crisp(A, B) <= 2 .",
]
CLASSES = ("x", "y", "z")
SEEDS = 5
WIDTHS = {"Similar": 2, "Crisp": 2, "Tagged": 1, "Noted": 2, "Means": 2}
STRUCTURE = {"Previous": 2, "Next": 2, "First": 1, "Last": 1, "SameSequence": 2}


@lru_cache(maxsize=1)
def psl_python() -> str | None:
    """A Python that can import pslpython, or None."""
    if shutil.which("java") is None:
        return None
    beside = Path(__file__).parents[2] / ".venv-psl" / "bin" / "python"
    for candidate in (os.environ.get("CROWDLOGIC_PSL_PYTHON"), sys.executable, str(beside)):
        if candidate and Path(candidate).exists():
            done = subprocess.run([candidate, "-c", "import pslpython.model"], capture_output=True, check=False)
            if done.returncode == 0:
                return candidate
    return None


def value(rng: np.random.Generator) -> float:
    """A truth value that a single-precision float holds exactly, since the engine computes in them."""
    return float(rng.choice([0, 1, 1, *rng.integers(1, 64, size=4) / 64]))


def a_world(
    seed: int, *, summed: bool
) -> tuple[Corpus, dict[str, dict[tuple[str, ...], float]], np.ndarray, np.ndarray]:
    """Sentences, facts, fractional truth values of Label, and predictions."""
    rng = np.random.default_rng(seed)
    corpus = sentences(["s", "t"], [["a", "b", "c"], ["d", "e"]])
    units = ["s:1", "s:2", "s:3", "t:1", "t:2"]
    some = [(a, b) for a in units for b in units if rng.random() < 0.35]
    facts = {
        "Similar": {pair: value(rng) for pair in some},
        "Crisp": {pair: 1.0 for pair in some if rng.random() < 0.7},
        "Tagged": {(unit,): value(rng) for unit in units if rng.random() < 0.7},
        "Noted": {(unit, w): value(rng) for unit in units for w in ("w1", "w2") if rng.random() < 0.7},
        "Means": {(w, k): value(rng) for w in ("w1", "w2") for k in CLASSES if rng.random() < 0.7},
    }
    truth = rng.integers(0, 65, size=(5, 3)) / 64
    if summed:  # rows sum to one here, so that a sum over classes means the same on both sides
        truth = rows_of_one(rng)
    return corpus, facts, truth, rng.integers(0, 65, size=(5, 3)) / 64


def rows_of_one(rng: np.random.Generator) -> np.ndarray:
    cuts = np.sort(rng.integers(0, 65, size=(5, 2)), axis=1)
    return np.diff(np.concatenate([np.zeros((5, 1)), cuts, np.full((5, 1), 64)], axis=1), axis=1) / 64


def structure(corpus: Corpus) -> dict[str, dict[tuple[str, ...], float]]:
    assert corpus.offsets is not None
    named = [
        [f"{item}:{n + 1}" for n in range(size)]
        for item, size in zip(corpus.items, np.diff(corpus.offsets), strict=True)
    ]
    return {
        "Previous": {(b, a): 1.0 for units in named for a, b in pairwise(units)},
        "Next": {(a, b): 1.0 for units in named for a, b in pairwise(units)},
        "First": {(units[0],): 1.0 for units in named},
        "Last": {(units[-1],): 1.0 for units in named},
        "SameSequence": {(a, b): 1.0 for units in named for a in units for b in units if a != b},
    }


def program_for_psl(text: str, seed: int) -> dict[str, Any]:
    corpus, facts, truth, answer = a_world(seed, summed="+C" in text)
    units = ["s:1", "s:2", "s:3", "t:1", "t:2"]
    predicted = {(u, k): float(answer[i, n]) for i, u in enumerate(units) for n, k in enumerate(CLASSES)}
    tables = {**facts, **structure(corpus), "Predicted": predicted}
    widths = {**WIDTHS, **STRUCTURE, "Predicted": 2}
    return {
        "labels": [[u, k, float(truth[i, n])] for i, u in enumerate(units) for n, k in enumerate(CLASSES)],
        "facts": {n: [widths[n], [[*row, v] for row, v in rows.items()]] for n, rows in tables.items() if n in text},
        "rules": [text],
    }


def theirs(answer: list[Any], text: str) -> dict[Any, list[float]]:
    """Distances by the Label atoms of a grounding, of groundings that some truth of the labels would violate."""
    found = defaultdict(list)
    for atoms, gap, most in answer:
        labels = [(unit, k) for name, unit, *rest in atoms if name == "LABEL" for k in rest]
        if most is None or most > 1e-9:
            found[key_of(labels, text)].append(gap)
    return settled(found, text)


def settled(found: dict[Any, list[float]], text: str) -> dict[Any, list[float]]:
    """Sorted, so that lists can be compared; the engine grounds a weighted equation twice, and we add the halves."""
    return {key: [sum(gaps)] if " = " in text else sorted(gaps) for key, gaps in found.items()}


def key_of(labels: list[tuple[str, str]], text: str) -> Any:
    return tuple(sorted({unit for unit, _ in labels})) if "+C" in text else tuple(sorted(set(labels)))


def ours(text: str, seed: int) -> dict[Any, list[float]]:
    corpus, facts, truth, answer = a_world(seed, summed="+C" in text)
    vocabulary = Vocabulary()
    for name, rows in facts.items():
        columns = {f"a{n}": pl.Series([row[n] for row in rows], dtype=pl.String) for n in range(WIDTHS[name])}
        vocabulary.table(name, pl.DataFrame({**columns, "truth": pl.Series(list(rows.values()), dtype=pl.Float64)}))
    ground = ground_rules(parse_rules(text), corpus, CLASSES, vocabulary=vocabulary)
    found = defaultdict(list)
    said = Predictions(units=answer)
    for block in ground.rules[0].blocks:
        gaps = soft_distances(block, truth, said)
        live = most_violated(block, said) > 1e-9 if isinstance(ground.rules[0].rule, LogicalRule) else gaps >= 0
        for key, gap, counts in zip(keys_of(block, text), gaps.ravel(), live.ravel(), strict=True):
            if counts:
                found[key].append(float(gap))
    return settled(found, text)


def most_violated(block: Block, said: Predictions) -> np.ndarray:
    """The largest distance of each grounding that any truth of the labels could give."""
    (form,) = block.violations
    base = evidence(form, said)
    wide = np.broadcast_to(base[:, None] if base.ndim == 1 else base, (len(block.first), len(block.valid)))
    return (wide + sum(max(0.0, term.coefficient) for term in form.labels))[:, block.valid]


def keys_of(block: Block, text: str) -> list[Any]:
    units = ["s:1", "s:2", "s:3", "t:1", "t:2"]
    slots = (block.first, block.first if block.second is None else block.second)
    keys = []
    for g in range(len(block.first)):
        for c in np.flatnonzero(block.valid):
            labels = [(units[slots[t.slot][g]], CLASSES[t.classes[c]]) for t in block.violations[0].labels]
            everywhere = [(units[slot[g]], "") for slot in slots] if "+C" in text else []
            keys.append(key_of(labels + everywhere, text))
    return keys


@lru_cache(maxsize=1)
def engine_answers() -> dict[tuple[str, int], list[Any]]:
    cases = [(text, seed) for text in PROGRAMS for seed in range(SEEDS)]
    programs = [program_for_psl(text, seed) for text, seed in cases]
    driver = Path(__file__).with_name("psl_driver.py")
    done = subprocess.run(
        [psl_python() or "", str(driver)], input=json.dumps(programs), capture_output=True, text=True, check=True
    )
    line = next(line for line in done.stdout.splitlines() if line.startswith("ANSWERS"))
    return dict(zip(cases, json.loads(line.removeprefix("ANSWERS")), strict=True))


@pytest.mark.skipif(psl_python() is None, reason="needs Java and a Python with pslpython 2.4.1")
@pytest.mark.parametrize("text", PROGRAMS)
def test_the_psl_engine_grounds_and_measures_alike(text: str) -> None:
    violated = 0
    for seed in range(SEEDS):
        expected, found = theirs(engine_answers()[text, seed], text), ours(text, seed)

        assert found.keys() == expected.keys()
        for key, gaps in expected.items():
            np.testing.assert_allclose(found[key], gaps, rtol=0, atol=1e-6)
        violated += sum(gap > 0.01 for gaps in expected.values() for gap in gaps)
    assert violated > 0 or "+C) = 1 ." in text  # else the comparison would be of zeros


def test_at_least_thirty_programs_are_compared() -> None:
    assert len(set(PROGRAMS)) >= 30
