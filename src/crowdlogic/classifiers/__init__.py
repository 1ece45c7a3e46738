"""Classifiers that learn from soft targets, one epoch at a time.

An architecture is found by its name and made of plain options, as a command line or a file has them; nothing heavy is
imported before one is asked for.
"""

from __future__ import annotations

from dataclasses import fields
from importlib import import_module
from typing import TYPE_CHECKING, Any

from crowdlogic.data.names import nearest
from crowdlogic.errors import MissingExtraError, OptionError

if TYPE_CHECKING:
    from crowdlogic.classifiers.protocol import Architecture

ARCHITECTURES = {
    "linear": "crowdlogic.classifiers.linear:Linear",
    "kim-cnn": "crowdlogic.classifiers.kim_cnn:KimCNN",
    "cnn-gru": "crowdlogic.classifiers.cnn_gru:CNNGRU",
    "mlp": "crowdlogic.classifiers.mlp:MLP",
    "scikit": "crowdlogic.classifiers.scikit:Scikit",
    "transformer": "crowdlogic.classifiers.transformer:Transformer",
    "prior": "crowdlogic.classifiers.prior:ClassPrior",
}
"""Where each architecture is, by the name that people call it."""
VECTORS = "vectors"
"""The one option that is no plain value; what a network knows of words is kept in its arrays."""


def architecture_class(name: str) -> type[Any]:
    """The class of an architecture's options."""
    if name not in ARCHITECTURES:
        hint = nearest(name, list(ARCHITECTURES))
        raise OptionError(f"No classifier is called {name!r}.{hint} There are: {', '.join(ARCHITECTURES)}.")
    module, _, kind = ARCHITECTURES[name].partition(":")
    try:
        found: type[Any] = getattr(import_module(module), kind)
    except ModuleNotFoundError as problem:
        if problem.name != "torch":
            raise
        raise MissingExtraError(
            f"{name} needs the package torch, which is not installed: pip install crowdlogic[torch]"
        ) from problem
    return found


def architecture(name: str, **options: Any) -> Architecture:
    """An architecture by its name, made of plain options.

    Args:
        name: As ARCHITECTURES lists it.
        options: As the class names them. A list serves for a tuple, and a table for options within (`training`): what
            it leaves out keeps the architecture's own default.
    """
    from crowdlogic.classifiers.plain_options import fitted_options

    kind = architecture_class(name)
    made: Architecture = kind(**fitted_options(kind, options, where=name))
    return made


def options_of(architecture: Architecture) -> dict[str, Any]:
    """All options of an architecture as plain values, but for its vectors: `architecture` makes the same of them."""
    from crowdlogic.classifiers.plain_options import plain

    names = [field.name for field in fields(architecture)]  # type: ignore[arg-type]
    return {name: plain(getattr(architecture, name), name) for name in names if name != VECTORS}
