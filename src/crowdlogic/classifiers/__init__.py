"""Classifiers that learn from soft targets, one epoch at a time.

The class of an architecture's options is found by its name; nothing heavy is imported before one is asked for.
`learning.configuring` makes options of plain data, as a command line or a file has them, and back.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from crowdlogic.data.names import nearest
from crowdlogic.errors import MissingExtraError, OptionError

ARCHITECTURES = {
    "linear": "crowdlogic.classifiers.linear:Linear",
    "crf": "crowdlogic.classifiers.crf:CRF",
    "kim-cnn": "crowdlogic.classifiers.kim_cnn:KimCNN",
    "cnn-gru": "crowdlogic.classifiers.cnn_gru:CNNGRU",
    "mlp": "crowdlogic.classifiers.mlp:MLP",
    "scikit": "crowdlogic.classifiers.scikit:Scikit",
    "transformer": "crowdlogic.classifiers.transformer:Transformer",
    "prior": "crowdlogic.classifiers.class_prior:ClassPrior",
}
"""Where each architecture is, by the name that people call it."""


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
