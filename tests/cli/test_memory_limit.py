from __future__ import annotations

import resource

import pytest

from crowdlogic.cli.app import LEAST, check_memory_limit
from crowdlogic.errors import ResourceError


@pytest.mark.parametrize("limit", [resource.RLIM_INFINITY, LEAST, 64 << 30])
def test_enough_memory_is_fine(monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (limit, limit))

    check_memory_limit()


def test_too_little_memory_is_refused_with_the_command_that_raises_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (600 << 20, 600 << 20))

    with pytest.raises(ResourceError) as refused:
        check_memory_limit()

    assert str(refused.value) == (
        "this process may use 600 MiB of memory (ulimit -v), but needs 1,536. Raise the limit: ulimit -v 1572864"
    )
