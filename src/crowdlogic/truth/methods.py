"""Every truth method by name, with its defaults; and which one to take when nobody says."""

from __future__ import annotations

from typing import Protocol

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import listed, nearest
from crowdlogic.errors import OptionError
from crowdlogic.truth.bayes import IBCC
from crowdlogic.truth.coins import OneCoin
from crowdlogic.truth.confusion import DawidSkene
from crowdlogic.truth.difficulty import GLAD
from crowdlogic.truth.fitting import ALONE, Fitting
from crowdlogic.truth.hidden_markov import HMMCrowd
from crowdlogic.truth.sequential import BSCSeq
from crowdlogic.truth.spamming import MACE
from crowdlogic.truth.subtypes import EBCC
from crowdlogic.truth.voting import MajorityVote
from crowdlogic.truth.weighting import CATD, PM, Wawa


class TruthMethod(Protocol):
    """What every method can do."""

    @property
    def name(self) -> str:
        """The method's name, as the command line knows it."""
        ...

    def infer(self, labels: CrowdLabels, corpus: Corpus | None = None, *, fitting: Fitting = ALONE) -> Estimate:
        """Estimate the truth of every unit."""
        ...


METHODS: dict[str, TruthMethod] = {
    method.name: method
    for method in (
        MajorityVote(), Wawa(), DawidSkene(), OneCoin(), IBCC(), EBCC(), GLAD(), MACE(), PM(), CATD(), HMMCrowd(),
        BSCSeq(),
    )
}  # fmt: skip
"""Every method. All but those of SEQUENCE_METHODS take single items, and sequences token by token."""

SEQUENCE_METHODS = ("hmm-crowd", "bsc-seq")
"""The methods with a model of which tag follows which; they take sequences only."""


def method_named(name: str) -> TruthMethod:
    """The method of that name, with its defaults."""
    if name not in METHODS:
        raise OptionError(
            f"No method is called {name!r}.{nearest(name, list(METHODS))} There are {listed(METHODS, most=20)}."
        )
    return METHODS[name]
