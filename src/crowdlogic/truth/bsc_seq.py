"""BSC-seq: an annotator's tag depends on the truth and on their previous tag.

[SG19] Simpson and Gurevych, "A Bayesian approach for sequence tagging with crowds", 2019: variational Bayes for
annotators (`annotators/sequential`), transitions and words together (section 4). `word_hmm` has the iteration.

Words are a feature if the corpus is given ("BSC-seq"), otherwise only the chain and the annotators are used
("BSC-seq-notext").
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from crowdlogic.annotators.label_sums import check_size
from crowdlogic.annotators.sequential import Sequential, by_previous_tag
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.numerics.arrays import check_amounts
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.truth.ibcc import IBCC
from crowdlogic.truth.word_hmm import FitsSequences, require_sequences


@dataclass(frozen=True)
class BSCSeq(FitsSequences):
    """Bayesian sequence combination with sequential annotators ([SG19]).

    Attributes:
        diagonal: Prior count of right tags beyond `spread`, for each truth and previous tag.
        spread: Prior count of all wrong tags together.
        transition_count: Prior count of each allowed transition and start.
        word_count: Prior count of each word for each tag.
        shapes: Whether the kind of a word's first character (capital, digit or other) is a feature as well.
        convergence: Stopping criterion, by the gain of the bound per label.
    """

    diagonal: float = 10.0
    spread: float = 10.0
    transition_count: float = 1.0
    word_count: float = 0.1
    shapes: bool = False
    convergence: Convergence = Convergence(max_iterations=200, tolerance=1e-6)

    name = "bsc-seq"
    takes_partial_labels: ClassVar[bool] = True
    needs_sequences: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_amounts(self, positive=("diagonal", "spread", "transition_count", "word_count"))

    def arrange(self, labels: CrowdLabels) -> CrowdLabels:
        """Return the tags in shards, with one annotator for each pair of an annotator and a previous tag."""
        require_sequences(self.name, labels)
        return by_previous_tag(labels)

    def parts(self, labels: CrowdLabels) -> tuple[Sequential, IBCC]:
        """Return the annotator model, and the method whose beliefs the fit starts from."""
        require_sequences(self.name, labels)
        check_size(self.name, len(labels.annotators) * labels.n_classes, labels.n_classes)
        return Sequential(self.diagonal, self.spread), IBCC()
