from __future__ import annotations

from collections.abc import Iterator

import pytest

from crowdlogic.registry import FORMATS


@pytest.fixture
def with_votes() -> Iterator[None]:
    """The format `votes` is in the registry for one test."""
    FORMATS.add("votes", "tests.data.formats.votes:VOTES")
    yield
    FORMATS._places.pop("votes")
