"""The rows of a rule, against trying everything that its variables could stand for."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest

from crowdlogic.data.corpus import documents
from crowdlogic.rules.facts import World
from crowdlogic.rules.grounding import BoundRule, atom_truth, bind
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.predicates import Vocabulary

CLASSES = ("x", "y")
UNITS = ("a", "b", "c")


def world(rng: np.random.Generator) -> tuple[World, dict[str, dict[tuple[str, ...], float]]]:
    """Random facts, coded and as plain dictionaries."""
    tables = {
        "Near": {pair: float(rng.choice([1.0, 0.5])) for pair in product(UNITS, UNITS) if rng.random() < 0.5},
        "Says": {pair: 1.0 for pair in product(UNITS, ("v", "w")) if rng.random() < 0.6},
        "Means": {pair: 0.5 for pair in product(("v", "w"), CLASSES) if rng.random() < 0.6},
    }
    vocabulary = Vocabulary()
    for name, rows in tables.items():
        columns = {f"{n}": pl.Series([row[n] for row in rows], dtype=pl.String) for n in range(2)}
        vocabulary.table(name, pl.DataFrame({**columns, "truth": pl.Series(list(rows.values()), dtype=pl.Float64)}))
    return World(documents(UNITS, ["t"] * 3), CLASSES, vocabulary), tables


def decode(bound: BoundRule, facts: World) -> set[tuple[str, ...]]:
    """The rows by name, variables in alphabetical order."""
    names = {"A": UNITS, "B": UNITS, "C": CLASSES, "W": tuple(facts.names.texts.to_list())}
    columns = [[names[name][code] for code in bound.rows.columns[name]] for name in sorted(bound.rows.columns)]
    return set(zip(*columns, strict=True))


@pytest.mark.parametrize("seed", range(5))
def test_rows_are_what_makes_every_binding_atom_true(seed: int) -> None:
    facts, tables = world(np.random.default_rng(seed))
    (rule,) = parse_rules("1: Near(A, B) & Says(B, W) & Means(W, C) & A != B & Label(A, C) -> Label(B, C)").rules

    bound = bind(rule, facts)

    expected = {
        (a, b, c, w)
        for a, b, c, w in product(UNITS, UNITS, CLASSES, ("v", "w"))
        if (a, b) in tables["Near"] and (b, w) in tables["Says"] and (w, c) in tables["Means"] and a != b
    }
    assert decode(bound, facts) == expected
    assert bound.rows.size == len(expected)
    assert bound.axes == ()


@pytest.mark.parametrize("seed", range(5))
def test_the_truth_of_an_atom_that_binds_nothing_is_looked_up_for_every_row_and_class(seed: int) -> None:
    facts, tables = world(np.random.default_rng(seed))
    (rule,) = parse_rules("1: Says(A, W) & Label(A, C) -> Means(W, C)").rules

    bound = bind(rule, facts)
    axes = {"C": np.arange(2)}
    found = np.asarray(atom_truth(2, bound, facts, axes))

    assert bound.axes == ("C",)
    words = [facts.names.texts[int(code)] for code in bound.rows.columns["W"]]
    expected = [[tables["Means"].get((word, name), 0.0) for name in CLASSES] for word in words]
    np.testing.assert_array_equal(found, np.array(expected).reshape(found.shape))


def test_a_unit_that_only_a_label_names_is_every_unit() -> None:
    facts, _ = world(np.random.default_rng(0))
    (rule,) = parse_rules("1: Label(A, 'x') & Label('b', 'y') -> Label(B, 'x')").rules

    bound = bind(rule, facts)

    assert bound.rows.size == 9
    assert set(bound.rows.columns) == {"A", "B", "'b'"}
    assert (bound.rows.columns["'b'"] == 1).all()
