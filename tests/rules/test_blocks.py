"""Distances to satisfaction for every labelling, against the definition of the hinge."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from crowdlogic.data.corpus import documents
from crowdlogic.errors import OptionError
from crowdlogic.rules.grounding import ground_rules
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.potentials import Block, Predictions, distances, soft_distances, tabulate
from crowdlogic.rules.predicates import Vocabulary

CLASSES = ("x", "y", "z")


def block(text: str, truth: tuple[float, ...] = (1.0, 0.5)) -> Block:
    """The one block of a rule over two items, with tagged truth and a link between them."""
    vocabulary = Vocabulary().table("Tagged", pl.DataFrame({"a": ["u0", "u1"], "truth": truth}))
    vocabulary.table("Near", pl.DataFrame({"a": ["u0"], "b": ["u1"], "truth": [0.8]}))
    corpus = documents(["u0", "u1"], ["t"] * 2)
    (rule,) = ground_rules(parse_rules(text), corpus, CLASSES, vocabulary=vocabulary).rules
    (found,) = rule.blocks
    return found


@pytest.mark.parametrize("power", [1, 2])
def test_rows_differ_by_their_evidence(power: int) -> None:
    found = distances(block(f"1: Tagged(S) -> Label(S, 'x') ^{power}"), Predictions()).by_row()

    np.testing.assert_allclose(found, np.array([[0, 1, 1], [0, 0.5, 0.5]]) ** power, rtol=0, atol=1e-12)


def test_rows_with_the_same_evidence_share_a_table() -> None:
    found = distances(block("1: Tagged(S) -> Label(S, 'x')", (1.0, 1.0)), Predictions())

    assert found.which is None
    np.testing.assert_array_equal(found.table, [[0, 1, 1]])


def test_a_pair_has_a_distance_for_every_pair_of_labels() -> None:
    found = distances(block("1: Near(A, B) & Label(A, C) -> Label(B, C)"), Predictions()).by_row()

    np.testing.assert_allclose(found.reshape(3, 3), 0.8 * (1 - np.eye(3)), rtol=0, atol=1e-12)


def test_an_equation_is_two_hinges() -> None:
    made = block("1: Label(S, 'x') + Tagged(S) = 1")

    assert len(made.violations) == 2
    np.testing.assert_allclose(
        distances(made, Predictions()).by_row(), [[1.0, 0.0, 0.0], [0.5, 0.5, 0.5]], rtol=0, atol=1e-12
    )


def test_predictions_enter_by_class() -> None:
    said = np.array([[0.7, 0.2, 0.1], [0.1, 0.1, 0.8]])
    made = block("1: Label(S, C) -> Predicted(S, C)")

    assert not made.is_static
    np.testing.assert_allclose(distances(made, Predictions(units=said)).by_row(), 1 - said, rtol=0, atol=1e-12)
    with pytest.raises(OptionError, match="there are no predictions for the items"):
        distances(made, Predictions())


def test_how_far_a_body_holds() -> None:
    made = block("1: Tagged(S) & Label(S, 'x') -> Label(S, 'y')")

    np.testing.assert_allclose(
        tabulate(made.applies, Predictions()).by_row(), [[1, 0, 0], [0.5, 0, 0]], rtol=0, atol=1e-12
    )


def test_soft_labels_give_the_distance_of_psl() -> None:
    truth = np.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3]])
    made = block("1: Near(A, B) & Label(A, C) -> Label(B, C)")

    found = soft_distances(made, truth, Predictions())

    np.testing.assert_allclose(found, [np.maximum(0, 0.8 + truth[0] - 1 - truth[1])], rtol=0, atol=1e-12)
