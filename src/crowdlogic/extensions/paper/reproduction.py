"""Reproduction of the paper: the rows to run, and the files written when they are finished.

The folder contains `TASK.jsonl` with one line per finished run, `TASK.csv` with the scores of each run and the SHA-256
of its line, `TASK.md` with the tables, and `figures/`. Finished runs are not repeated.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from crowdlogic.data.files import write_bytes
from crowdlogic.data.reading import write_table
from crowdlogic.errors import OptionError, did_you_mean, name_list
from crowdlogic.extensions.paper.figures import build_figures
from crowdlogic.extensions.paper.published import (
    NER,
    QUICK,
    SENTIMENT,
    beyond_rows,
    is_simulated,
    sample_rows,
    sensitivity_rows,
    table_rows,
)
from crowdlogic.extensions.paper.results import FinishedRuns, read_runs
from crowdlogic.extensions.paper.tables import (
    ablation_table,
    drop_intervals,
    methods_table,
    order_table,
    reliability_table,
    run_list,
    sample_table,
    sensitivity_table,
    significance_table,
    time_table,
)
from crowdlogic.reporting.figures import WrittenFigures, write_plots


def study_rows(task: str) -> dict[str, tuple[str, ...]]:
    """Return the rows of each study of the paper, in the order in which they are run."""
    return {
        "tables": table_rows(task),
        "annotators": ("annotators",),
        "samples": sample_rows(task),
        "sensitivity": sensitivity_rows(),
        "beyond": beyond_rows(task),
    }


def select_rows(task: str, wanted: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the rows to run.

    Args:
        task: The task.
        wanted: Names of studies (see `study_rows`) or of rows; empty for all.
    """
    studies = study_rows(task)
    known = list(dict.fromkeys(row for rows in studies.values() for row in rows))
    if not wanted:
        return tuple(known)
    chosen: list[str] = []
    for name in wanted:
        if name not in studies and name not in known:
            raise OptionError(
                f"--methods: {name!r} is not a method of the tables on {task}.{did_you_mean(name, [*studies, *known])} "
                f"Choose from {name_list([*studies, *known], most=60)}."
            )
        chosen += studies.get(name, (name,))
    return tuple(dict.fromkeys(chosen))


def build_tables(runs: FinishedRuns, task: str) -> dict[str, str]:
    """Return the tables of a task in Markdown by name, from the finished runs."""
    both = (QUICK + SENTIMENT, QUICK + NER) if task.startswith(QUICK) else (SENTIMENT, NER)
    return {
        "methods": methods_table(runs, task),
        "order": order_table(runs, task),
        "ablations": ablation_table(runs, both),
        "tests": significance_table(runs, (task,)),
        "samples": sample_table(runs, task),
        "sensitivity": sensitivity_table(runs, task),
        "annotators": reliability_table(runs, (task,)),
        "time": time_table(runs, (task,)),
    }


REHEARSAL = (
    "This is a test run on small simulated data with small networks, to check that everything works. The scores are "
    "too noisy to be meaningful or compared with the paper's; without --quick, the paper's data are used."
)
"""Notice before the results of a quick run."""

HEADINGS = {
    "methods": "Methods: ours ± 95 % interval (standard deviation) / the paper's",
    "order": "Pairs of methods whose order differs",
    "ablations": "Ablations",
    "tests": "Logic-LNCL against AggNet",
    "samples": "Fewer samples",
    "sensitivity": "Other C and k, on the dev set",
    "annotators": "Estimated against real reliability of annotators",
    "time": "Time of one seed",
}


def build_page(runs: FinishedRuns, task: str) -> str:
    """Return all tables of a task as one page in Markdown."""
    tables = build_tables(runs, task)
    parts = {name: drop_intervals(table) if is_simulated(task) else table for name, table in tables.items()}.items()
    first = f"{REHEARSAL}\n\n" if is_simulated(task) else ""
    return f"# {task}\n\n{first}" + "\n\n".join(f"## {HEADINGS[name]}\n\n{table}" for name, table in parts) + "\n"


def write_results(folder: Path, task: str) -> WrittenFigures:
    """Write the list of runs, the page and the figures of a task."""
    runs = read_runs(folder)
    found = run_list(runs, task)
    if found:
        write_table(folder / f"{task}.csv", pl.DataFrame(found, infer_schema_length=None))
    write_bytes(folder / f"{task}.md", build_page(runs, task).encode())
    return write_plots(build_figures(runs, task), folder / "figures")
