"""Every truth method by name, with its defaults; and which one to take when nobody says."""

from __future__ import annotations

from typing import Protocol

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.tagging import is_span_tag_set
from crowdlogic.errors import OptionError, did_you_mean, name_list
from crowdlogic.registry import TRUTH_METHODS
from crowdlogic.truth.bsc_seq import BSCSeq
from crowdlogic.truth.dawid_skene import MOST_CELLS, DawidSkene, labelling_functions
from crowdlogic.truth.ebcc import EBCC
from crowdlogic.truth.fitting import ALONE, Fitting
from crowdlogic.truth.glad import GLAD
from crowdlogic.truth.hmm_crowd import HMMCrowd
from crowdlogic.truth.ibcc import IBCC
from crowdlogic.truth.mace import MACE
from crowdlogic.truth.majority import MajorityVote
from crowdlogic.truth.one_coin import OneCoin
from crowdlogic.truth.weighting import CATD, PM, Wawa


@TRUTH_METHODS.serves
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
            f"No method is called {name!r}.{did_you_mean(name, list(METHODS))} There are {name_list(METHODS, most=20)}."
        )
    return METHODS[name]


ENOUGH = 15
"""Labels per annotator and class from which on a confusion matrix is worth estimating."""

FEW = 2
"""Below this many there is not even enough for one number per annotator."""


def suited_method(labels: CrowdLabels) -> tuple[str, str]:
    """The name of the method to take when nobody says, and why.

    The rule looks at the labels per annotator and class, c = labels / (annotators x classes): with c of 15 or more a
    confusion matrix per annotator can be estimated (dawid-skene; bsc-seq for the tags of sentences); with less, a few
    numbers (mace; hmm-crowd); with less than 2, nothing (majority). Where confusion matrices would be too large, mace;
    and also where most labels come from annotators who only ever give one class, such as labelling functions.
    """
    size = len(labels.annotators) * labels.n_classes
    each = labels.n_labels / max(size, 1)
    spans = labels.is_sequential and is_span_tag_set(labels.classes)
    why = f"{each:.1f} labels per annotator and class"
    if each < FEW:
        return "majority", why
    if size * labels.n_classes * (labels.n_classes if spans else 1) > MOST_CELLS:
        return "mace", f"{labels.n_classes:,} classes"
    if labelling_functions(labels).any():
        return "mace", "most labels are of annotators who only ever give one class"
    if spans:
        return ("bsc-seq" if each >= ENOUGH else "hmm-crowd"), why
    return ("dawid-skene" if each >= ENOUGH else "mace"), why
