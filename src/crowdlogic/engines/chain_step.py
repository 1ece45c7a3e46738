"""The step of sequence methods: forward-backward over the sequences of a shard, and the counts of the next M-step.

Shards are cut between sequences, so that each is whole in one of them. What is added up over shards is expected counts:
of labels by annotator, of transitions and starts, of words by tag.

Axes: i unit, j annotator, k tag (and k' the next tag), n given label, v word.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from crowdlogic.engines.engine import Arrays
from crowdlogic.engines.shard import Shard
from crowdlogic.engines.steps import COUNTS, EVIDENCE, EvidenceStep, Q, TallyStep
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.numerics.chain import marginals
from crowdlogic.numerics.sums import sum_by

FEATURE = "feature"
"""What the names of features begin with: feature0, feature1, ..."""


@dataclass(frozen=True, kw_only=True)
class ChainStep:
    """Forward-backward with annotators and words.

    Parameters: table[j * n_codes + n, k], the log probability of a label; transitions[k, k'] and start[k], in logs;
    featureN[v, k], the log probability of each value of a feature. State: featureN[i], its value at each unit. With
    `keep` the new state is q[i, k].

    Attributes:
        n_annotators: Number of annotators.
        n_classes: Number of tags.
        n_codes: Number of codes that labels have.
        compiled: Whether to use the compiled kernels for labels.
        keep: Whether to keep the beliefs.
    """

    n_annotators: int
    n_classes: int
    n_codes: int
    compiled: bool = False
    keep: bool = False

    def __call__(self, shard: Shard, parameters: Arrays, state: Arrays) -> tuple[Arrays, Arrays]:
        """counts[j * n_codes + n, k], transitions[k, k'], start[k], featureN[v, k] and the log evidence."""
        names = [name for name in parameters if name.startswith(FEATURE)]
        unary = self._evidence(shard, parameters)
        for name in names:
            unary = unary + parameters[name][state[name]]
        found = marginals(unary, parameters["transitions"], shard.offsets, start=parameters["start"])
        first = shard.offsets[:-1][np.diff(shard.offsets) > 0]
        counts = {
            COUNTS: self._tally(shard, found.q),
            "transitions": found.transitions,
            "start": found.q[first].sum(axis=0),
            EVIDENCE: np.array(found.log_partition.sum()),
        }
        counts |= {name: count_feature(state[name], len(parameters[name]), found.q) for name in names}
        return counts, {Q: found.q} if self.keep else {}

    def _evidence(self, shard: Shard, parameters: Arrays) -> Floats:
        step = EvidenceStep(n_codes=self.n_codes, compiled=self.compiled)
        return np.asarray(step(shard, {"table": parameters["table"]}, {})[1]["evidence"])

    def _tally(self, shard: Shard, q: Floats) -> Floats:
        step = TallyStep(
            n_annotators=self.n_annotators, n_classes=self.n_classes, n_codes=self.n_codes, compiled=self.compiled
        )
        return np.asarray(step(shard, {}, {Q: q})[0][COUNTS])


def count_feature(codes: Ints, size: int, q: Floats) -> Floats:
    """counts[v, k], the expected number of units with value v of a feature and tag k."""
    columns = [sum_by(codes, size, q[:, k]) for k in range(q.shape[1])]
    return np.stack(columns, axis=1) if columns else np.zeros((size, 0))
