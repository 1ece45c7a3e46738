"""Frames of other libraries, and plain lists, as polars columns; and polars frames as frames of pandas."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from crowdlogic.data.intake.contract import TableSource
from crowdlogic.errors import LabelError, MissingExtraError

if TYPE_CHECKING:
    import narwhals as nw
    import pandas as pd


def to_polars(frame: Any, source: TableSource) -> pl.DataFrame:
    """A frame of pandas, polars or pyarrow as a polars frame; dictionaries of columns work too."""
    if isinstance(frame, pl.DataFrame):
        return frame
    if isinstance(frame, pl.LazyFrame):
        return frame.collect()
    if isinstance(frame, dict):
        return pl.DataFrame({name: to_column(name, values) for name, values in frame.items()})
    import narwhals as nw

    header = [str(name) for name in getattr(frame, "columns", [])]
    if len(set(header)) != len(header):
        raise LabelError(f"{source.name}: two columns have one name. Give each column its own name.")
    try:
        known = nw.from_native(frame, eager_only=True)
    except TypeError as problem:
        raise LabelError(
            f"{source.name} is a {type(frame).__name__}, which is no frame. Give a frame of pandas, polars or pyarrow, "
            f"or use from_arrays, from_dict or from_matrix."
        ) from problem
    return pl.DataFrame([_convert_series(series, str(series.name)) for series in known.iter_columns()])


def to_column(name: str, values: Sequence[Any]) -> pl.Series:
    """A list or array as a column, all of one type; None and NaN are missing."""
    try:
        if getattr(values, "dtype", np.dtype(object)) != np.dtype(object):
            return pl.Series(name, values)
        return pl.Series(name, [None if _is_nan(value) else value for value in values])
    except (TypeError, pl.exceptions.PolarsError, OverflowError) as problem:
        raise mixed_types_error(name) from problem


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def mixed_types_error(name: str) -> LabelError:
    """The error for a column of several types."""
    return LabelError(
        f"The {name} column mixes types, such as text and numbers. Give all values as text, or all as numbers."
    )


def _convert_series(series: nw.Series[Any], name: str) -> pl.Series:
    """One column. Without pyarrow, pandas can hand over its values only one by one."""
    import narwhals as nw

    if series.dtype in (nw.Categorical, nw.Enum):
        return to_column(name, series.to_list())
    try:
        return series.to_polars().alias(name)
    except ImportError:
        return to_column(name, series.to_list())
    except (TypeError, ValueError, pl.exceptions.PolarsError) as problem:
        raise mixed_types_error(name) from problem
    except Exception as problem:
        if type(problem).__module__.startswith("pyarrow"):
            raise mixed_types_error(name) from problem
        raise


def to_pandas(frame: pl.DataFrame) -> pd.DataFrame:
    """A polars frame as one of pandas; missing values are None or NaN."""
    try:
        import pandas as pd
    except ImportError as problem:
        raise MissingExtraError("A frame of pandas needs the package pandas: pip install pandas") from problem

    numeric = [name for name, dtype in frame.schema.items() if dtype.is_numeric()]
    return pd.DataFrame({n: frame[n].to_numpy() if n in numeric else frame[n].to_list() for n in frame.columns})
