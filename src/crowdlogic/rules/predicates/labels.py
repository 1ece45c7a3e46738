"""The latent label, and the current classifier's prediction of it."""

from __future__ import annotations

from crowdlogic.rules.predicates.definition import Kind, Predicate, Role

LABEL = Predicate(
    name="Label",
    kinds=(Kind.unit, Kind.label),
    role=Role.latent,
    example="Label(X, C)",
    meaning="X has the class C. This is the latent label.",
)

PREDICTED = Predicate(
    name="Predicted",
    kinds=(Kind.readable, Kind.label),
    role=Role.predicted,
    example="Predicted(X, C)",
    meaning="as far as the current classifier believes that X (an item or a derived text) is of class C",
)
