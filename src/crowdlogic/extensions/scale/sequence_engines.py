"""Sequence labels on an engine: tags are read in memory and written as shards of whole sentences for a remote fit."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import OptionError
from crowdlogic.extensions.scale.coded_files import SHARD_ROWS, write_coded
from crowdlogic.registry import ENGINES, TRUTH_METHODS
from crowdlogic.truth.fitting import DEFAULT_FIT, Fitting
from crowdlogic.truth.word_hmm import FitsSequences
from crowdlogic.workflows.aggregate import AggregateOptions, FittedInMemory, LabelsInMemory, open_in_memory


@dataclass(frozen=True, kw_only=True)
class ThroughEngine:
    """Sequence method whose steps run on an engine.

    Attributes:
        method: The method.
        engine: Name of the engine in `registry.ENGINES`.
        workers: Number of workers of the engine.
        address: Address of a cluster; None for this machine.
        beside: A file; the shards are in its folder until the fit is done.
    """

    method: FitsSequences
    engine: str
    workers: int = 2
    address: str | None = None
    beside: str = ""

    @property
    def name(self) -> str:
        """Name of the method."""
        return self.method.name

    def infer(self, labels: CrowdLabels, corpus: Corpus | None = None, *, fitting: Fitting = DEFAULT_FIT) -> Estimate:
        """Write the tags as shards, about two for each worker, and fit the method on the engine."""
        home = Path(self.beside).resolve().parent
        rows = min(SHARD_ROWS, -(-labels.n_labels // (2 * self.workers)) or 1)
        with tempfile.TemporaryDirectory(prefix=".crowdlogic-shards-", dir=home) as folder:
            write_coded(folder, self.method.arrange(labels), rows=rows, anchors=fitting.anchors)
            opened = ENGINES.load(self.engine)(Path(folder), workers=self.workers, address=self.address)
            with opened as engine:
                return self.method.infer_over(engine, labels, corpus, fitting=fitting)


@contextmanager
def open_sequences(options: AggregateOptions) -> Iterator[SequencesOverEngine]:
    """Read the tags into memory for a fit on an engine."""
    with open_in_memory(options) as labels:
        yield SequencesOverEngine(**{field.name: getattr(labels, field.name) for field in fields(labels)})


class SequencesOverEngine(LabelsInMemory):
    """Labels in memory that are fitted on an engine."""

    def fit(self, method: Any) -> FittedInMemory:
        """Fit a method on the engine; raise an error if it does not support engines."""
        options = self.options
        engine = ENGINES.check(options.engine or "")
        if not self.crowd.labels.is_sequential:
            from crowdlogic.extensions.scale.out_of_core import no_shards

            raise no_shards(engine)
        if not hasattr(method, "infer_over"):
            able = [name for name in TRUTH_METHODS.loadable() if hasattr(TRUTH_METHODS.load(name), "infer_over")]
            raise OptionError(
                f"{method.name} requires all tags in memory. Remove --engine, or use {' or '.join(able)}."
            )
        through = ThroughEngine(
            method=method,
            engine=engine,
            workers=options.threads or 2,
            address=options.address,
            beside=options.out,
        )
        return super().fit(through)
