"""A rule file with an included file, word lists and a table of facts, and what its rules make of three texts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

from crowdlogic.data.corpus import documents
from crowdlogic.rules.parser import read_rules
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.projection.projector import Projector
from crowdlogic.rules.syntax import RuleSet

CLASSES = ("neg", "pos")
TEXTS = documents(["a", "b", "c"], ["awful thing", "fine it's", "plain"])
RULES = """
$BAD = {'awful', 'poor'}
include 'sub/more.rules'
0.5: InList(S, 'words.txt') -> Label(S, 'pos')
2: Near(A, B) & Label(A, C) -> Label(B, C)
1: Contains(S, $BAD) -> Label(S, 'neg') ^2
include contrast('it\\'s')
Label(S, 'pos') + Label(S, 'neg') = 1 .
"""
MORE = "0.7: InList(S, 'words.txt') & !InList(S, '../words.txt') -> Label(S, 'neg')\n"


def write_rules(folder: Path) -> tuple[RuleSet, Vocabulary]:
    (folder / "sub").mkdir(parents=True)
    (folder / "my.rules").write_text(RULES)
    (folder / "sub" / "more.rules").write_text(MORE)
    (folder / "words.txt").write_text("fine\n")
    (folder / "sub" / "words.txt").write_text("plain\n")
    near = pl.DataFrame({"x": ["a", "b"], "y": ["b", "c"], "truth": [0.5, 1.0]})
    return read_rules(folder / "my.rules"), Vocabulary().table("Near", near)


def project_rules(rules: RuleSet, vocabulary: Vocabulary) -> np.ndarray:
    q_a = np.array([[0.4, 0.6], [0.7, 0.3], [0.5, 0.5]])
    projector = Projector(rules=rules, vocabulary=vocabulary, strength=1.0)
    ground = projector.ground(TEXTS, CLASSES)
    return projector.project(q_a, ground, predict=lambda texts: np.tile([0.2, 0.8], (len(texts), 1))).q_b
