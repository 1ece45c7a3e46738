"""The contract of engines: counts are added by name, and the local engine keeps it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from tests.extensions.scale.shardings import cut_at
from tests.truth.planted import planted

from crowdlogic.data.blocks import Arrays, Engine, Shard


@dataclass(frozen=True)
class Add:
    """A step that counts labels and adds a parameter to what each unit has."""

    def __call__(self, shard: Shard, parameters: Arrays, state: Arrays) -> tuple[Arrays, Arrays]:
        before = state.get("x", np.zeros(shard.n_units))
        return {"n": np.array(len(shard.label))}, {"x": before + parameters["more"]}


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("cuts", [[], [10], [0, 3, 3, 29]], ids=str)
def test_the_local_engine_adds_counts_and_keeps_states_apart(threads: int, cuts: list[int]) -> None:
    labels = planted(3, units=30).labels
    engine: Engine = cut_at(labels, cuts, threads=threads)

    counts, first = engine.sum(Add(), {"more": np.array(1.0)})
    _, second = engine.sum(Add(), {"more": np.array(10.0)}, first)

    assert counts["n"] == labels.n_labels
    assert engine.gather(first)["x"].tolist() == [1.0] * 30  # the state that was given is as it was
    assert engine.gather(second)["x"].tolist() == [11.0] * 30


def test_scatter_and_gather_are_inverse_and_streams_go_by_units() -> None:
    engine = cut_at(planted(4, units=30).labels, [7, 7, 20], threads=2)
    whole = np.arange(60.0).reshape(30, 2)

    states = engine.scatter({"x": whole})
    streamed = list(engine.stream(Add(), {"more": np.array(0.0)}, states))

    np.testing.assert_array_equal(engine.gather(states)["x"], whole)
    assert [units for units, _ in streamed] == [slice(0, 7), slice(7, 7), slice(7, 20), slice(20, 30)]
    np.testing.assert_array_equal(np.concatenate([state["x"] for _, state in streamed]), whole)


def test_a_digest_knows_the_labels_and_the_classes() -> None:
    one, same, other = (cut_at(planted(seed, units=30).labels, [4]) for seed in (1, 1, 2))

    assert one.digest() == same.digest()
    assert one.digest() != other.digest()
