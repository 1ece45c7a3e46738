"""A classifier that a run cannot hold, because Python made it: all that needs no answer of it works nevertheless."""

from __future__ import annotations

from dataclasses import dataclass

from crowdlogic.classifiers.protocol import Arrays
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs
from crowdlogic.errors import OptionError
from crowdlogic.numerics.arrays import Floats


@dataclass(frozen=True)
class AbsentClassifier:
    """Stands for a classifier that is not there; whoever asks it is told where to bring it.

    Attributes:
        run: The folder of the run.
        what: What the classifier is: "holds a Pipeline", "is 'own', one".
    """

    run: str
    what: str

    @property
    def message(self) -> str:
        """What is missing, and the call that brings it."""
        return (
            f"{self.run}: its classifier {self.what} that was made in Python and is not in the run. Load it from "
            f"Python with the same one: crowdlogic.load_run({self.run!r}, classifier=classifier)."
        )

    @property
    def notice(self) -> str:
        """What an explanation lacks without it."""
        return f"Rules that ask the classifier are shown together, not one by one. {self.message}"

    def fit_epoch(self, corpus: Corpus, targets: Beliefs, weights: Floats | None = None) -> float:  # noqa: ARG002
        """Refuse."""
        raise OptionError(self.message)

    def predict_proba(self, corpus: Corpus) -> Beliefs:  # noqa: ARG002
        """Refuse."""
        raise OptionError(self.message)

    def arrays(self) -> Arrays:
        """Refuse."""
        raise OptionError(self.message)

    def restore(self, arrays: Arrays) -> None:  # noqa: ARG002
        """Refuse."""
        raise OptionError(self.message)


def is_absent(classifier: object) -> bool:
    """Whether a classifier is not there."""
    return isinstance(classifier, AbsentClassifier)
