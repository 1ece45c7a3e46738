"""What people hand to `infer` or to score it: labels and gold, or frames of them; else one sentence refuses it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, TypeVar

import polars as pl

from crowdlogic.data.answers import Answers, answers_from_estimate, answers_from_gold
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.frames import as_labels
from crowdlogic.data.intake.contract import TableSource
from crowdlogic.data.intake.dataframes import to_column, to_polars
from crowdlogic.errors import CorpusError, LabelError

Infer = TypeVar("Infer", bound=Callable[..., Estimate])


def takes_frames(infer: Infer) -> Infer:
    """`infer(labels, corpus=None, ...)` that also takes a frame of labels; what is none is refused in one sentence."""

    @wraps(infer)
    def accepting(self: Any, labels: Any, corpus: Corpus | None = None, **options: Any) -> Estimate:
        if isinstance(labels, Corpus):
            raise LabelError("infer: items where labels are expected. Write infer(labels), or infer(labels, corpus).")
        return infer(self, as_labels(labels, "infer"), corpus, **options)

    return accepting  # type: ignore[return-value]


def as_answers(gold: Any, where: str) -> Answers:
    """Gold as it is, or from a corpus, an estimate, a frame or {item: class}; else it is refused in one sentence.

    Args:
        gold: What was given.
        where: The function that it was given to, for the message.
    """
    if isinstance(gold, Answers):
        return gold
    if isinstance(gold, Corpus):
        return answers_from_gold(gold, GOLD)
    if isinstance(gold, Estimate):
        return answers_from_estimate(gold, GOLD)
    if hasattr(gold, "columns") and not isinstance(gold, type):
        return _from_table(gold)
    if isinstance(gold, Mapping) and gold:
        values = list(gold.values())
        role = "tags" if all(isinstance(one, list | tuple) for one in values) else "label"
        return _from_table(pl.DataFrame({"item": to_column("item", list(gold)), role: to_column(role, values)}))
    raise CorpusError(
        f"{where}: a {type(gold).__name__} where gold is expected. Give a frame with item and label, {{item: class}}, "
        f"or a Corpus with gold."
    )


GOLD = "the gold"
"""What messages call it."""


def _from_table(table: Any) -> Answers:
    from crowdlogic.data.formats.tables import answers_from_table  # which not every method needs

    source = TableSource(GOLD)
    return answers_from_table(to_polars(table, source), source)
