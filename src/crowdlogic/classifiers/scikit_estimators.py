"""scikit-learn's classifiers by name, with plain parameters. No other package is imported for a name in a file."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from crowdlogic.errors import OptionError, did_you_mean

MODULES = (
    "linear_model", "ensemble", "naive_bayes", "neighbors", "svm", "tree", "neural_network", "discriminant_analysis",
    "gaussian_process", "semi_supervised", "calibration", "dummy",
)  # fmt: skip
"""The modules of scikit-learn that have classifiers."""


def find_class(name: str) -> type[Any]:
    """The scikit-learn classifier of this name."""
    from sklearn.base import ClassifierMixin

    known: list[str] = []
    for module in MODULES:
        for public, found in inspect.getmembers(import_module(f"sklearn.{module}"), inspect.isclass):
            if issubclass(found, ClassifierMixin) and not public.startswith(("_", "ClassifierMixin", "Base")):
                known.append(public)
                if public == name:
                    return found
    raise OptionError(f"scikit-learn has no classifier {name!r}.{did_you_mean(name, known)}")


def build_estimator(name: str, parameters: Mapping[str, Any]) -> Any:
    """A new, unfitted estimator by its name and parameters."""
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
    """Name and parameters from which `build_estimator` makes an equal one; None if they are not plain values."""
    name = type(estimator).__name__
    try:
        if find_class(name) is not type(estimator):
            return None
        defaults = type(estimator)().get_params(deep=False)
        changed = {key: value for key, value in estimator.get_params(deep=False).items() if value != defaults[key]}
        return (name, changed) if json.loads(json.dumps(changed)) == changed else None
    except (OptionError, TypeError, ValueError):  # of another package, or parameters that JSON cannot express
        return None


def seed_estimator(estimator: Any, seed: int) -> Any:
    """An unfitted copy in which every `random_state` that is not an integer is set to the seed."""
    from sklearn.base import clone

    copy = clone(estimator)
    states = {key: value for key, value in copy.get_params().items() if key.split("__")[-1] == "random_state"}
    return copy.set_params(**{key: seed for key, value in states.items() if not isinstance(value, int)})


def sample_weight_name(estimator: Any) -> str:
    """The keyword argument of `fit` for sample weights; of a pipeline, that of its last step."""
    from sklearn.pipeline import Pipeline
    from sklearn.utils.validation import has_fit_parameter

    step, last = estimator.steps[-1] if isinstance(estimator, Pipeline) else ("", estimator)
    if not has_fit_parameter(last, "sample_weight"):
        raise OptionError(
            f"{type(last).__name__} takes no weights of examples, and soft targets are weights. Choose another."
        )
    return f"{step}__sample_weight" if step else "sample_weight"
