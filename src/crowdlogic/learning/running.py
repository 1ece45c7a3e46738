"""A fit that keeps itself in a run directory: begun, interrupted, gone on with, and done."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from crowdlogic import __version__
from crowdlogic.classifiers.protocol import Architecture, Arrays
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.vectors import WordVectors
from crowdlogic.learning.configuring import plain_options
from crowdlogic.learning.course import BELIEFS, Epoch, Keeper, Progress
from crowdlogic.learning.learned import Learned
from crowdlogic.learning.restoring import Run, carried, kept_of, row_of
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.syntax import RuleSet
from crowdlogic.runs.checkpoint import RunKeeper
from crowdlogic.runs.claiming import Status, alone, claim, release
from crowdlogic.runs.damage import needed, numbers
from crowdlogic.runs.files import CONFIG, VERSION, put_json
from crowdlogic.runs.fingerprints import corpus_digest, digest_of, labels_digest
from crowdlogic.runs.kept import write_run

FREE = ("epochs", "patience", "device")
"""Options that may change while a run is interrupted: how long to go on, and where."""


class Method(Protocol):
    """Whatever learns from crowd labels."""

    @property
    def name(self) -> str:
        """As the command line calls it."""

    @property
    def classifier(self) -> Architecture:
        """What learns."""

    @property
    def seed(self) -> int:
        """Where all chance comes from."""

    def fit(
        self,
        corpus: Corpus,
        labels: CrowdLabels,
        *,
        rules: RuleSet | None = None,
        vocabulary: Vocabulary | None = None,
        dev: Corpus | None = None,
        watched: Mapping[str, Corpus] | None = None,
        keeper: Keeper | None = None,
        progress: Progress | None = None,
    ) -> Learned:
        """Learn."""


@dataclass(frozen=True, eq=False)
class Given:
    """What a run learns from.

    Attributes:
        corpus: The items.
        labels: Their labels.
        rules: What is known of them.
        vocabulary: The predicates that the rules use beyond the built-in ones.
        dev: Items with gold to stop by.
        watched: Items that are only scored, by name.
        inputs: Where all this came from, for config.json.
    """

    corpus: Corpus
    labels: CrowdLabels
    rules: RuleSet | None = None
    vocabulary: Vocabulary | None = None
    dev: Corpus | None = None
    watched: Mapping[str, Corpus] = field(default_factory=dict)
    inputs: Mapping[str, Any] = field(default_factory=dict)


def train_run(
    folder: str | Path, method: Method, given: Given, *, resume: bool = False, progress: Progress | None = None
) -> Run:
    """Fit a method and keep it as a run directory, with a checkpoint after every epoch.

    A fit that is interrupted or killed leaves a run that `resume` goes on with, and that then ends as it would have.
    One that fails before its first epoch is over leaves nothing.

    Args:
        folder: Where the run goes; a new or an empty folder, or with `resume` the run to go on with.
        method: What to fit.
        given: What to learn from.
        resume: Whether to go on with a run that is there.
        progress: Hears of every epoch.
    """
    home = Path(folder)
    claim(home, resume=resume)
    config = _config(method, given)
    keeper = RunKeeper(
        home,
        owner_of(method, given),
        lambda: _begin(home, config),
        lambda last, best, note: check_checkpoint(last, best, note, given),
    )
    with alone(home), _released(home):
        learned = method.fit(
            given.corpus,
            given.labels,
            rules=given.rules,
            vocabulary=given.vocabulary,
            dev=given.dev,
            watched=given.watched,
            keeper=keeper,
            progress=progress,
        )
        kept = kept_of(learned, {**config, "rules": carried(home, given.rules, given.vocabulary)})
        write_run(home, kept)
        keeper.second().remove()
        keeper.remove()
    return Run(home, kept, learned)


def _config(method: Method, given: Given) -> dict[str, Any]:
    """What is known of a run before it is fitted."""
    return {
        "crowdlogic": __version__,
        "version": VERSION,
        "status": Status.running,
        "method": plain_options(method),
        "seed": method.seed,
        "inputs": dict(given.inputs),
    }


def _begin(home: Path, config: Mapping[str, Any]) -> None:
    put_json(home / CONFIG, config)


def check_checkpoint(last: Arrays, best: Arrays, note: Mapping[str, Any], given: Given) -> None:
    """Raise unless a fit of what is given can go on from a checkpoint: all is of its type and its shape."""
    rows = [row_of(row) for row in needed(note["history"], list, "history")]
    if needed(note["best_epoch"], int, "best_epoch") not in range(1, len(rows) + 1):
        raise ValueError(f"the best epoch is {note['best_epoch']}, and the history has {len(rows)}")
    left: dict[str, Any] = {name: best[name] for name in BELIEFS}
    Epoch(**numbers(note["best"], "the best epoch"), **left)
    n_classes, n_items = best["q_f"].shape[-1], len(given.corpus.items)
    beliefs = (given.corpus.n_units, n_classes)
    sizes = dict.fromkeys(BELIEFS, beliefs) | {"confusion": (len(given.labels.annotators), n_classes, n_classes)}
    for name, array in [*left.items(), ("q_f", last["q_f"])]:
        if array.shape != sizes[name]:
            raise ValueError(f"{name} is {array.shape} where {sizes[name]} is expected")
    for name, array in best.items():
        of = f"classifier.{name.removeprefix('mean.')}"
        if name.startswith("mean.") and array.shape != best[of].shape:
            raise ValueError(f"{name} is {array.shape} where {best[of].shape} is expected")
    if best.get("highest", np.zeros(n_items)).shape != (n_items,):
        raise ValueError(f"highest is {best['highest'].shape} where ({n_items},) is expected")


@contextmanager
def _released(home: Path) -> Iterator[None]:
    """Whatever stops a fit, the run says so, or there is none."""
    try:
        yield
    except BaseException:  # an interrupt, too
        release(home)
        raise


def owner_of(method: Method, given: Given) -> dict[str, str]:
    """What a fit depends on, part by part, so that a checkpoint of another one can be told apart and named."""
    vectors = getattr(method.classifier, "vectors", None)
    tables = {} if given.vocabulary is None else given.vocabulary.tables
    facts = [part for name in sorted(tables) for part in (name, *tables[name].arguments, tables[name].truth)]
    return {
        "labels": labels_digest(given.labels),
        "items": corpus_digest(given.corpus),
        "dev items": corpus_digest(given.dev),
        "rules": digest_of(None if given.rules is None else str(given.rules), *facts),
        "options": digest_of(_without(plain_options(method), FREE)),
        "vectors": digest_of(vectors.words, vectors.vectors) if isinstance(vectors, WordVectors) else "none",
        "version of crowdlogic": __version__,
    }


def _without(options: Any, names: tuple[str, ...]) -> Any:
    """Nested options but for those of some names."""
    if not isinstance(options, Mapping):
        return options
    return {name: _without(value, names) for name, value in options.items() if name not in names}
