"""HMM-Crowd: the true tags are a Markov chain, the words come from them, and so do the annotators' tags.

[NWLNL17] Nguyen, Wallace, Li, Nenkova and Lease, "Aggregating and predicting sequence labels from crowd annotations",
2017, section 4. Transitions and words have Dirichlet priors and variational posteriors; annotators have one accuracy
per tag, by EM (`annotators/class_accuracy`). As in the authors' program the features of a token are the word and
whether it begins with a capital or a digit, if the corpus is given. `word_hmm` has the iteration.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from crowdlogic.annotators.class_accuracy import ClassAccuracy
from crowdlogic.annotators.label_sums import SMOOTHING, TRUST
from crowdlogic.data.labels import CrowdLabels, require_whole_labels
from crowdlogic.numerics.arrays import check_amounts
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.truth.dawid_skene import DawidSkene
from crowdlogic.truth.word_hmm import FitsSequences


@dataclass(frozen=True)
class HMMCrowd(FitsSequences):
    """A hidden Markov model with annotators ([NWLNL17]).

    Attributes:
        smoothing: Number of labels added to the right labels, and to the wrong labels, of each annotator and tag.
        trust: Number of right labels added in addition.
        transition_count: Prior count of each allowed transition and start.
        word_count: Prior count of each word for each tag.
        shapes: Whether the kind of a word's first character (capital, digit or other) is a feature as well.
        convergence: Stopping criterion, by the gain of the bound per label.
    """

    smoothing: float = SMOOTHING
    trust: float = TRUST
    transition_count: float = 0.1
    word_count: float = 0.1
    shapes: bool = True
    convergence: Convergence = Convergence(max_iterations=200, tolerance=1e-6)

    name = "hmm-crowd"
    needs_sequences: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_amounts(self, not_negative=("smoothing", "trust"), positive=("transition_count", "word_count"))

    def parts(self, labels: CrowdLabels) -> tuple[ClassAccuracy, DawidSkene]:
        """Return the annotator model, and the method whose beliefs the fit starts from."""
        require_whole_labels(labels, self.name)
        return ClassAccuracy(self.smoothing, self.trust), DawidSkene()
