"""The one figure that a set of answers is judged by: accuracy for documents, span F1 for BIO tags."""

from __future__ import annotations

import numpy as np

from crowdlogic.data.chain_beliefs import AnyBeliefs, answers
from crowdlogic.data.corpus import UNKNOWN, Corpus
from crowdlogic.data.names import Classes
from crowdlogic.data.tagging import is_span_tag_set
from crowdlogic.metrics.scores import accuracy
from crowdlogic.metrics.spans import span_scores
from crowdlogic.numerics.arrays import Ints


def is_scorable(corpus: Corpus) -> bool:
    """Whether any unit has gold."""
    return corpus.gold is not None and bool((corpus.gold != UNKNOWN).any())


def score(corpus: Corpus, beliefs: AnyBeliefs) -> float:
    """The share of right answers, or conlleval's F1 of the spans where the classes are span tags."""
    return score_answers(corpus, answers(beliefs, corpus.offsets))


def score_answers(corpus: Corpus, answer: Ints) -> float:
    """As `score`, for answers."""
    gold = np.asarray(corpus.gold)
    if corpus.offsets is not None and is_span_tag_set(corpus.classes):
        return float(span_scores(gold, answer, corpus.offsets, corpus.classes).f1)
    return float(accuracy(gold, answer))


def score_name(classes: Classes, *, sequential: bool) -> str:
    """What `score` measures."""
    return "span F1" if sequential and is_span_tag_set(classes) else "accuracy"
