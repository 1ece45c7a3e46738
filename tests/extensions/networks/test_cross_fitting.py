"""Cross-fitting: what is said of an item by a classifier that has not learnt it."""

from __future__ import annotations

import pytest

from crowdlogic.data.simulate import simulate_ner
from crowdlogic.errors import OptionError
from crowdlogic.learning.algorithm import LogicLNCL
from crowdlogic.learning.stopping import TrainingLimits

LIMITS = TrainingLimits(epochs=3, held_out=None)


def test_chains_and_no_folds_are_refused() -> None:
    pytest.importorskip("torch")
    from crowdlogic.extensions.networks.bilstm_crf import BiLSTMCRF

    made = simulate_ner(0, items=20, annotators=4)
    with pytest.raises(OptionError) as chains:
        LogicLNCL(classifier=BiLSTMCRF(vector_size=4, hidden_size=4), folds=2, limits=LIMITS).fit(
            made.corpus, made.labels
        )
    with pytest.raises(OptionError) as none:
        LogicLNCL(folds=0)

    assert str(chains.value) == (
        "folds: bilstm-crf models chains of tags, for which cross-fitting is not available. Use folds = 1."
    )
    assert str(none.value) == "folds must be at least 1, got 0. Use 1 to disable cross-fitting."
