"""Truth inference that goes on as labels come in."""

from __future__ import annotations

import numpy as np
import pytest
from tests.truth.planted import planted, tagged_sentences

from crowdlogic.data.frames import from_arrays
from crowdlogic.errors import CorpusError, CrowdLogicError
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.truth.dawid_skene import DawidSkene
from crowdlogic.truth.hmm_crowd import HMMCrowd
from crowdlogic.truth.incremental import Incremental


def test_an_update_is_a_fit_of_all_labels_that_needs_fewer_steps() -> None:
    crowd = planted(5, units=400, annotators=8)
    rows = np.random.default_rng(0).permutation(crowd.labels.n_labels)
    first, second = crowd.labels.take(np.sort(rows[:-40])), crowd.labels.take(np.sort(rows[-40:]))
    started = Incremental.start(DawidSkene(convergence=Convergence(tolerance=1e-9)), first)

    updated = started.update(second)
    whole = DawidSkene(convergence=Convergence(tolerance=1e-9)).infer(crowd.labels)

    assert updated.labels.n_labels == crowd.labels.n_labels
    np.testing.assert_allclose(updated.estimate.beliefs, whole.beliefs, rtol=0, atol=1e-3)
    assert len(updated.estimate.trace) < len(whole.trace)


def test_new_sentences_come_with_their_words() -> None:
    labels, corpus = tagged_sentences()
    first, second = labels.select(items=["s0", "s1"]), labels.select(items=["s2"])

    updated = Incremental.start(HMMCrowd(), first, corpus.select(["s0", "s1"])).update(second, corpus.select(["s2"]))

    whole = HMMCrowd().infer(labels, corpus)
    assert updated.estimate.answer_names() == whole.answer_names()
    assert updated.corpus is not None
    assert updated.corpus.tokens == corpus.tokens
    with pytest.raises(CorpusError, match="Item 's2' has labels but no text"):
        Incremental.start(HMMCrowd(), first, corpus.select(["s0", "s1"])).update(second)


def test_a_second_label_for_the_same_item_is_an_error_unless_a_policy_is_given() -> None:
    first = from_arrays(["u", "u", "v", "v"], list("abab"), ["x", "x", "y", "y"])
    again = from_arrays(["u"], ["a"], ["y"], classes=["x", "y"])
    started = Incremental.start(DawidSkene(), first)

    with pytest.raises(CrowdLogicError):
        started.update(again)
    assert started.update(again, duplicates="last").labels.n_labels == 4
    assert started.update(again, duplicates="keep").labels.n_labels == 5


def test_the_first_state_is_left_as_it_was() -> None:
    crowd = planted(5, units=40).labels
    started = Incremental.start(DawidSkene(), crowd.take_items(np.arange(30)))
    before = started.estimate.beliefs.copy()

    started.update(crowd.take_items(np.arange(30, 40)))

    np.testing.assert_array_equal(started.estimate.beliefs, before)
    assert len(started.labels.items) == 30
