"""What people hand to `infer`: labels, or a frame of them; anything else is refused in one sentence."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.frames import as_labels
from crowdlogic.errors import LabelError

Infer = TypeVar("Infer", bound=Callable[..., Estimate])


def takes_frames(infer: Infer) -> Infer:
    """`infer(labels, corpus=None, ...)` that also takes a frame of labels; what is none is refused in one sentence."""

    @wraps(infer)
    def accepting(self: Any, labels: Any, corpus: Corpus | None = None, **options: Any) -> Estimate:
        if isinstance(labels, Corpus):
            raise LabelError("infer: items where labels are expected. Write infer(labels), or infer(labels, corpus).")
        return infer(self, as_labels(labels, "infer"), corpus, **options)

    return accepting  # type: ignore[return-value]
