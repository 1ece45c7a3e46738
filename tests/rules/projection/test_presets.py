"""Where each preset starts, and what it gives."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from crowdlogic.data.corpus import sentences
from crowdlogic.rules.grounding import ground_rules
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.projection.projector import Projector, raise_path
from crowdlogic.rules.transitions import transition_table

BIO = ("B-PER", "I-PER", "O")


def bio_ground(tokens: list[list[str]], text: str = "include bio"):
    return ground_rules(parse_rules(text), sentences([f"s{n}" for n in range(len(tokens))], tokens), BIO)


def test_the_paper_preset_starts_from_the_crowd_and_transitions_from_the_classifier() -> None:
    ground = bio_ground([["a", "b"], ["c"]])
    rng = np.random.default_rng(0)
    crowd, classifier = rng.dirichlet(np.ones(3), size=3), rng.dirichlet(np.ones(3), size=3)

    paper = Projector().project(crowd, ground, classifier=classifier)
    other = Projector(preset="transitions").project(crowd, ground, classifier=classifier)

    np.testing.assert_array_equal(paper.q_b, Projector().project(crowd, ground).q_b)
    np.testing.assert_array_equal(other.q_b, Projector().project(classifier, ground).q_b)


def test_the_released_preset_raises_the_best_path_of_the_classifier() -> None:
    ground = ground_rules(parse_rules(""), sentences(["s"], [["a", "b", "c"]]), BIO)
    classifier = np.array([[0.3, 0.1, 0.6], [0.05, 0.5, 0.45], [0.1, 0.5, 0.4]])
    table = transition_table(
        {("O", "O"): 0.9, ("O", "B-PER"): 1.0, ("B-PER", "I-PER"): 1.0, ("I-PER", "O"): 0.1},
        BIO,
        start={"O": 0.5, "B-PER": 0.5},
        strength=0.1,
    )
    crowd = np.full((3, 3), 1 / 3)

    found = Projector(preset="released", transitions=table, strength=5.0).project(crowd, ground, classifier=classifier)

    paths = list(np.ndindex(3, 3, 3))
    scores = [
        sum(np.log(classifier[i, k]) for i, k in enumerate(path))
        + table.log_start[path[0]]
        + sum(table.log_pairwise[a, b] for a, b in pairwise(path))
        for path in paths
    ]
    best = np.array(paths[int(np.argmax(scores))])
    assert found.path is not None
    np.testing.assert_array_equal(found.path, best)
    boosted = classifier * np.exp(5.0 * (np.arange(3) == best[:, None]))
    np.testing.assert_allclose(found.q_b, boosted / boosted.sum(axis=1, keepdims=True), rtol=0, atol=1e-12)


def test_the_released_preset_raises_the_path_of_rules_over_single_tokens_too() -> None:
    ground = bio_ground([["a", "b"], ["c"]], "1: First(T) -> Label(T, 'O')")
    classifier = np.array([[0.5, 0.2, 0.3], [0.5, 0.2, 0.3], [0.9, 0.05, 0.05]])

    found = Projector(preset="released", strength=2.0).project(np.full((3, 3), 1 / 3), ground, classifier=classifier)

    assert found.path is not None
    np.testing.assert_array_equal(found.path, [2, 0, 0])  # 0.3 > 0.5 exp(-2); 0.5; 0.9 exp(-2) > 0.05
    np.testing.assert_allclose(found.q_b, raise_path(classifier, found.path, 2.0), rtol=0, atol=1e-12)
