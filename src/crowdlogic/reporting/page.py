"""The contract of a page.

A page is a module with an entry in `crowdlogic.registry.PAGES` that names its `Page`. The module holds what the page
says (frozen dataclasses with `findings`), the function that computes it from a Context, and the one that draws its
plots. Beside the module lie files with its name: the template (`rules.html.j2`; given report, found, plots, data, units
and highlights) and, where needed, a script (`labels.js`; it runs inside the report's script, with its data as `data`).

Order, navigation, JSON and figure files come from the registry.
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
    """A large figure on the overview: the figure, what it counts, and a remark."""

    figure: str
    name: str
    note: str = ""


@dataclass(frozen=True)
class Highlights:
    """Contribution of a page to the overview: large figures and plots with unique names."""

    tiles: Sequence[Tile] = ()
    plots: Sequence[Plot] = ()


def needs_no_evidence(context: Context) -> Ints:  # noqa: ARG001 (the signature is the contract's)
    """No units."""
    return np.zeros(0, dtype=np.int64)


def no_highlights(found: Any, task: TaskKind) -> Highlights:  # noqa: ARG001
    """Nothing for the overview."""
    return Highlights()


def no_data(found: Any) -> Mapping[str, Any]:  # noqa: ARG001
    """No data for a script."""
    return {}


@dataclass(frozen=True, eq=False, kw_only=True)
class Page(Generic[F]):
    """One page of a report.

    Attributes:
        title: Its title, also in the navigation.
        module: The page's module; its template and, if any, its script lie beside it (rules.html.j2, labels.js).
        compute: Its findings; None where there is nothing to say, and then the page is left out.
        draw: Its plots, in named groups for the template.
        evidence_units: The units whose evidence it shows; `Context.evidence` has it when `compute` is called.
        highlight: What it contributes to the overview.
        script_data: Data for its script, as JSON can hold it.
    """

    title: str
    module: str
    compute: Callable[[Context], F | None]
    draw: Callable[[F, TaskKind], Mapping[str, Sequence[Plot]]]
    evidence_units: Callable[[Context], Ints] = needs_no_evidence
    highlight: Callable[[F, TaskKind], Highlights] = no_highlights
    script_data: Callable[[F], Mapping[str, Any]] = no_data


def load_pages() -> dict[str, Page[Any]]:
    """Return every registered page by name, in order."""
    return {name: PAGES.load(name) for name in PAGES}
