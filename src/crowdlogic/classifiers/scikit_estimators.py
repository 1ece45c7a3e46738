"""scikit-learn's classifiers by name, and as plain options: nothing else is ever imported for a name in a file."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from crowdlogic.errors import OptionError, did_you_mean

HOMES = (
    "linear_model", "ensemble", "naive_bayes", "neighbors", "svm", "tree", "neural_network", "discriminant_analysis",
    "gaussian_process", "semi_supervised", "calibration", "dummy",
)  # fmt: skip
"""The modules of scikit-learn that classifiers come from."""


def find_class(name: str) -> type[Any]:
    """The scikit-learn classifier of this name."""
    from sklearn.base import ClassifierMixin

    known: list[str] = []
    for home in HOMES:
        for public, found in inspect.getmembers(import_module(f"sklearn.{home}"), inspect.isclass):
            if issubclass(found, ClassifierMixin) and not public.startswith(("_", "ClassifierMixin", "Base")):
                known.append(public)
                if public == name:
                    return found
    raise OptionError(f"scikit-learn has no classifier {name!r}.{did_you_mean(name, known)}")


def build_estimator(name: str, parameters: Mapping[str, Any]) -> Any:
    """A new estimator by its name and parameters."""
    kind = find_class(name)
    known = list(inspect.signature(kind).parameters)
    unknown = [parameter for parameter in parameters if parameter not in known]
    if unknown:
        raise OptionError(f"{name} has no parameter {unknown[0]!r}.{did_you_mean(unknown[0], known)}")
    try:
        return kind(**parameters)
    except TypeError as problem:
        raise OptionError(f"{name} cannot be made of {dict(parameters)}: {problem}") from problem


def describe_estimator(estimator: Any) -> tuple[str, dict[str, Any]] | None:
    """The name and parameters that `made` makes the same of; None where plain options cannot say it."""
    name = type(estimator).__name__
    try:
        if find_class(name) is not type(estimator):
            return None
        usual = type(estimator)().get_params(deep=False)
        others = {key: value for key, value in estimator.get_params(deep=False).items() if value != usual[key]}
        return (name, others) if json.loads(json.dumps(others)) == others else None
    except (OptionError, TypeError, ValueError):  # of another package, or with parameters that are no plain values
        return None


def seed_estimator(estimator: Any, seed: int) -> Any:
    """An unfitted copy whose chance comes from the seed wherever it is not a whole number already."""
    from sklearn.base import clone

    copy = clone(estimator)
    chance = {key: value for key, value in copy.get_params().items() if key.split("__")[-1] == "random_state"}
    return copy.set_params(**{key: seed for key, value in chance.items() if not isinstance(value, int)})


def sample_weight_name(estimator: Any) -> str:
    """What `fit` calls the weights of its examples."""
    from sklearn.pipeline import Pipeline
    from sklearn.utils.validation import has_fit_parameter

    last = estimator.steps[-1] if isinstance(estimator, Pipeline) else ("", estimator)
    if not has_fit_parameter(last[1], "sample_weight"):
        raise OptionError(
            f"{type(last[1]).__name__} takes no weights of examples, and soft targets are weights. Choose another."
        )
    return f"{last[0]}__sample_weight" if last[0] else "sample_weight"
