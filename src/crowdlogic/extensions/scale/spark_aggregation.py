"""A Spark DataFrame of labels in, a DataFrame of answers out."""

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
    """Estimate the true label of every item of a long DataFrame: item, label, confidence and p_<class>.

    The labels stay with Spark: they are coded into shards, partitioned by item, and each step of the fit brings only
    tables of counts here. The answers are computed when the DataFrame that is returned is asked for its rows.

    Args:
        frame: One row per label, with columns for the item, the annotator and the label.
        method: A truth method that is fitted over engines, or its name.
        columns: role -> column, when the columns' names are not recognised.
        classes: The classes, in the order that decides ties; those found, sorted, when not given.
        dependence: How far labels of one item depend on each other: public, or none for the method's own posterior.
        fitting: Options of the fit, such as a checkpoint.
    """
    roles = find_roles(frame.columns, columns, where="the frame")
    missing = [role for role in ROLES if role not in roles]
    if missing:
        raise LabelError(
            f"the frame: no column for the {missing[0]} among {name_list(frame.columns)}. "
            f'Name it: columns={{"{missing[0]}": "NAME"}}.'
        )
    stated = parse_dependence(dependence)
    chosen: Any = configured_method(method, seed=0, dependence=stated) if isinstance(method, str) else method
    if not hasattr(chosen, "fit_over"):
        able = name_list((name for name in TRUTH_METHODS.loadable() if fits_over_engines(name)), most=20)
        raise OptionError(f"{chosen.name} needs all labels in memory. These can be fitted over Spark: {able}.")
    from crowdlogic.extensions.scale.spark_frames import answer_frame, code_frame

    labels = code_frame(frame, LongColumns(**{role: roles[role] for role in ROLES}), classes=classes)
    fit = state_fit(chosen.fit_over(labels.engine, fitting=fitting), stated)
    return answer_frame(labels, fit.beliefs.step, fit.beliefs.parameters, fit.beliefs.states)
