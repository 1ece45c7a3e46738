"""Annotators who remember what they said of the token before."""

from __future__ import annotations

import numpy as np
import pytest

from crowdlogic.annotators.sequential import INVALID_COUNT, Sequential, previous_tags
from crowdlogic.data.frames import from_matrix, from_sequences
from crowdlogic.errors import OptionError

TAGS = ("B-LOC", "B-PER", "I-LOC", "I-PER", "O")


def test_the_previous_tag_is_the_same_annotators_own_within_the_sentence() -> None:
    rows = [("s", "ann", ["B-PER", "I-PER"]), ("s", "bob", ["O", "B-PER"]), ("t", "ann", ["I-PER", "O"])]
    labels = from_sequences(rows, classes=TAGS)

    said = previous_tags(labels)

    found = {
        (int(unit), str(labels.annotators[int(j)])): TAGS[p]
        for unit, j, p in zip(labels.unit, labels.annotator, said, strict=True)
    }
    assert found == {
        (0, "ann"): "O",
        (1, "ann"): "B-PER",
        (0, "bob"): "O",
        (1, "bob"): "O",
        (2, "ann"): "O",
        (3, "ann"): "I-PER",
    }


def test_counts_are_taken_for_each_previous_tag() -> None:
    labels = from_sequences([("s", "ann", ["B-PER", "I-PER", "O"])], classes=TAGS)
    q = np.random.default_rng(0).dirichlet(np.ones(5), size=3)
    model = Sequential()
    prior = model.prior(TAGS)

    table = model.m_step(model.observe(labels), q).table.reshape(5, 5, 5)

    expected = prior.copy()
    for unit, (previous, tag) in enumerate([("O", "B-PER"), ("B-PER", "I-PER"), ("I-PER", "O")]):
        expected[TAGS.index(previous), TAGS.index(tag)] += q[unit]
    np.testing.assert_allclose(table, expected, rtol=1e-12)


def test_prior_counts_of_invalid_pairs_are_moved_to_what_was_meant() -> None:
    prior = Sequential(diagonal=10, spread=10).prior(TAGS)
    wrong, o, b_per, i_per, b_loc, i_loc = 10 / 4, 4, 1, 3, 0, 2

    np.testing.assert_allclose(prior[o, i_per], INVALID_COUNT)
    assert prior[o, b_per, b_per] == pytest.approx(20 + wrong - INVALID_COUNT)
    np.testing.assert_allclose(prior[b_loc, i_per], INVALID_COUNT)
    assert prior[b_loc, i_loc, i_loc] == pytest.approx(20 + wrong - INVALID_COUNT)


def test_documents_are_refused() -> None:
    with pytest.raises(OptionError) as caught:
        Sequential().observe(from_matrix(np.zeros((2, 2), dtype=int)))

    assert str(caught.value) == (
        "sequential annotators are for tags of the tokens of sentences. These labels are of single items; use "
        "confusion, variational or one-coin annotators for them."
    )
