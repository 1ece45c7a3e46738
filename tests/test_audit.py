"""What `make audit` says of the dependencies."""

from __future__ import annotations

from tests.audit import dependencies, licence


def test_every_dependency_states_its_licence() -> None:
    found = dependencies()

    assert {"crowdlogic", "numpy", "polars", "scikit-learn", "scipy", "typer"} <= set(found)
    assert [name for name, one in found.items() if licence(one) == "not stated"] == []
