"""Every learning method is options and two ways to fit."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import pytest

from crowdlogic.learning.stopping import TrainingLimits
from crowdlogic.registry import LEARNING_METHODS


@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed: pip install crowdlogic[torch]")
@pytest.mark.parametrize("name", LEARNING_METHODS)
def test_methods_say_their_name(name: str) -> None:
    from crowdlogic.extensions.networks.mlp import MLP

    kind: Any = LEARNING_METHODS.load(name)
    needs_network = name in ("crowd-layer", "dl-dn", "dl-wdn")

    method = kind(MLP()) if needs_network else kind()

    assert method.name == ("majority + linear" if name == "two-stage" else name)
    with pytest.raises(AttributeError):
        method.limits = TrainingLimits()
