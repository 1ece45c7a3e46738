"""Aggregation of a Spark DataFrame of labels to a DataFrame of answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from crowdlogic.data.intake.columns import find_roles
from crowdlogic.errors import LabelError, OptionError, name_list
from crowdlogic.extensions.scale.patterns import LongColumns
from crowdlogic.registry import TRUTH_METHODS
from crowdlogic.truth.dependence import state_fit
from crowdlogic.truth.fitting import DEFAULT_FIT, Fitting, fits_over_engines
from crowdlogic.truth.methods import TruthMethod
from crowdlogic.workflows.aggregate import configured_method, parse_dependence

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ROLES = ("item", "annotator", "label")


def aggregate_spark(
    frame: DataFrame,
    *,
    method: str | TruthMethod = "dawid-skene",
    columns: Mapping[str, str] | None = None,
    classes: Sequence[Any] | None = None,
    dependence: str = "public",
    fitting: Fitting = DEFAULT_FIT,
) -> DataFrame:
    """Estimate the true labels for a long DataFrame; the result has item, label, confidence and p_<class>.

    The labels stay in Spark: they are encoded into shards, partitioned by item, and each step of the fit only transfers
    tables of counts. The answers are computed lazily, when rows of the returned DataFrame are requested.

    Args:
        frame: One row per label, with columns for the item, the annotator and the label.
        method: A truth method that supports engines, or its name.
        columns: role -> column, if the column names are not recognised.
        classes: The classes, in the order used to break ties; by default, the sorted labels.
        dependence: Assumed dependence between labels of an item: public, or none for the method's own posterior.
        fitting: Options of the fit, such as a checkpoint.
    """
    roles = find_roles(frame.columns, columns, where="the frame")
    missing = [role for role in ROLES if role not in roles]
    if missing:
        raise LabelError(
            f"the frame: no column for the {missing[0]}, found {name_list(frame.columns)}. "
            f'Set it with columns={{"{missing[0]}": "NAME"}}.'
        )
    stated = parse_dependence(dependence)
    chosen: Any = configured_method(method, seed=0, dependence=stated) if isinstance(method, str) else method
    if not hasattr(chosen, "fit_over"):
        able = name_list((name for name in TRUTH_METHODS.loadable() if fits_over_engines(name)), most=20)
        raise OptionError(f"{chosen.name} requires all labels in memory. Methods for Spark: {able}.")
    from crowdlogic.extensions.scale.spark_frames import answer_frame, code_frame

    labels = code_frame(frame, LongColumns(**{role: roles[role] for role in ROLES}), classes=classes)
    fit = state_fit(chosen.fit_over(labels.engine, fitting=fitting), stated)
    return answer_frame(labels, fit.beliefs.step, fit.beliefs.parameters, fit.beliefs.states)
