"""Definition of a page of the report.

A page is a module with an entry in `crowdlogic.registry.PAGES` that names its `Page`. The module contains the findings
of the page (frozen dataclasses with the attribute `findings`), a function that computes them from a Context, and a
function that draws the plots. Next to the module are its template, such as `rules.html.j2`, which can use the variables
report, found, plots, data, units and highlights, and optionally a script, such as `labels.js`, which can use `data`.

The order of the pages, the navigation, the JSON and the files of the figures are derived from the registry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from crowdlogic.numerics.arrays import Ints
from crowdlogic.registry import PAGES
from crowdlogic.reporting.charts import Plot
from crowdlogic.reporting.findings import PageFindings, TaskKind
from crowdlogic.reporting.inputs import Context

F = TypeVar("F", bound=PageFindings)


@dataclass(frozen=True, kw_only=True)
class Tile:
    """A large number on the overview, with the name of what it counts and a remark."""

    figure: str
    name: str
    note: str = ""


@dataclass(frozen=True)
class Highlights:
    """Contribution of a page to the overview: large numbers, and plots with unique names."""

    tiles: Sequence[Tile] = ()
    plots: Sequence[Plot] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class Page(Generic[F]):
    """One page of a report.

    Attributes:
        title: Title of the page, which is also shown in the navigation.
        module: Name of the page's module.
        compute: Function that returns its findings, or None to leave the page out.
        draw: Function that returns its plots, in named groups for the template.
        evidence_units: Function that returns the units whose evidence it shows, in `Context.evidence`.
        highlight: Function that returns its contribution to the overview.
        script_data: Function that returns the data of its script, which must be convertible to JSON.
    """

    title: str
    module: str
    compute: Callable[[Context], F | None]
    draw: Callable[[F, TaskKind], Mapping[str, Sequence[Plot]]]
    evidence_units: Callable[[Context], Ints] = lambda _: np.zeros(0, dtype=np.int64)
    highlight: Callable[[F, TaskKind], Highlights] = lambda *_: Highlights()
    script_data: Callable[[F], Mapping[str, Any]] = lambda _: {}


def load_pages() -> dict[str, Page[Any]]:
    """Return every registered page by name, in order."""
    return {name: PAGES.load(name) for name in PAGES}
