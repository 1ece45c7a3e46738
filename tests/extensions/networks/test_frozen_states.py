"""The cache of hidden states: what is kept, what is dropped, what is computed again."""

from __future__ import annotations

import numpy as np

from crowdlogic.extensions.networks.transformer_network import StateCache, digest


def test_what_is_held_is_not_computed_again() -> None:
    cache, computed = StateCache(limit=1000), []

    def compute() -> np.ndarray:
        computed.append(1)
        return np.zeros(10)

    first, second = cache.get(b"a", 80, compute), cache.get(b"a", 80, compute)

    assert first is second
    assert len(computed) == 1


def test_what_was_not_used_longest_is_dropped_first() -> None:
    cache = StateCache(limit=200)
    first, second = (cache.get(key, 80, lambda: np.zeros(10)) for key in (b"a", b"b"))
    cache.get(b"a", 80, lambda: np.ones(10))

    cache.get(b"c", 80, lambda: np.zeros(10))

    assert cache.size == 160
    assert cache.get(b"a", 80, lambda: np.ones(10)) is first
    assert cache.get(b"b", 80, lambda: np.ones(10)) is not second


def test_nothing_larger_than_the_limit_is_computed() -> None:
    def refuse() -> np.ndarray:
        raise AssertionError

    assert StateCache(limit=79).get(b"a", 80, refuse) is None


def test_a_digest_tells_content_shape_and_type_apart() -> None:
    a = np.arange(6)

    found = {digest([a]), digest([a.reshape(2, 3)]), digest([a.astype(np.int32)]), digest([a + 1]), digest([a, a])}

    assert len(found) == 5
    assert digest([a.reshape(2, 3).T]) == digest([np.ascontiguousarray(a.reshape(2, 3).T)])
