"""What is said of a damaged run: one line that names it, whatever its files hold in place of what was written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from crowdlogic.errors import CrowdLogicError, FormatError, MissingDataError, MissingExtraError

BROKEN = (
    LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RuntimeError, pl.exceptions.PolarsError,
    pl.exceptions.PanicException,
)  # fmt: skip
"""What making something out of a file raises when the file is not what was written."""

MOST = 200
"""No more characters of someone else's message than this."""


@contextmanager
def undamaged(run: str | Path) -> Iterator[None]:
    """Say of whatever goes wrong within that the run is damaged, unless it is said well already.

    Args:
        run: Its folder.
    """
    try:
        yield
    except (FormatError, MissingDataError, MissingExtraError):
        raise  # these name the file, or what is not installed
    except BROKEN as problem:
        if isinstance(problem, CrowdLogicError) and str(problem).startswith(f"{run}: "):
            raise
        raise FormatError(
            f"{run}: the run is damaged ({_what(problem)}). Train it again, or bring back the file."
        ) from problem


def _what(problem: BaseException) -> str:
    if isinstance(problem, KeyError) and not isinstance(problem, CrowdLogicError):
        return f"no {problem}"
    said = str(problem) if isinstance(problem, CrowdLogicError) else (str(problem).splitlines() or [""])[0][:MOST]
    return said.rstrip(".") or type(problem).__name__


def needed(value: Any, kind: type | tuple[type, ...], name: str) -> Any:
    """A value of a file, if it is of its kind.

    Args:
        value: What stands there.
        kind: What should stand there.
        name: What to call it.
    """
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise TypeError(f"{name} is {value!r:.80}")
    return value


def numbers(noted: Any, name: str) -> dict[str, Any]:
    """A mapping of numbers, where what JSON had no number for is again what is not a number.

    Args:
        noted: What stands in the file.
        name: What to call it.
    """
    return {
        key: float("nan") if value is None else needed(value, (int, float), f"{name}: {key}")
        for key, value in needed(noted, Mapping, name).items()
    }
