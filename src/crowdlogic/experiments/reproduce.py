"""The whole paper in one command: which runs it takes, and what is written when they are done.

In the folder: `TASK/ROW/seedN.json` for every finished run, `TASK.csv` with one line per run and the hash of its file,
`TASK.md` with the tables, `figures/` with the figures. What is finished is not run again.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from crowdlogic.data.files import write_bytes
from crowdlogic.data.writing import write_table
from crowdlogic.errors import OptionError, did_you_mean, name_list
from crowdlogic.experiments.figures import figures_of
from crowdlogic.experiments.jobs import Job
from crowdlogic.experiments.paper import NER, SENTIMENT, sample_rows, sensitivity_rows, table_rows
from crowdlogic.experiments.studies import (
    file_table,
    reliability_table,
    sample_table,
    sensitivity_table,
    time_table,
)
from crowdlogic.experiments.tables import ablation_table, against_aggnet, order_table, results_table
from crowdlogic.experiments.tasks import QUICK
from crowdlogic.report.figures import Written, write_plots

STUDIES = ("tables", "annotators", "samples", "sensitivity")
"""The parts of the paper, by name, in the order in which they are run."""


def rows_of(task: str, wanted: Sequence[str] = ()) -> tuple[str, ...]:
    """The rows to run: all, or those that are named, by themselves or as a study.

    Args:
        task: The task.
        wanted: Names of studies or of rows; none for everything.
    """
    studies = {
        "tables": table_rows(task),
        "annotators": ("annotators",),
        "samples": sample_rows(task),
        "sensitivity": sensitivity_rows(),
    }
    known = list(dict.fromkeys(row for rows in studies.values() for row in rows))
    if not wanted:
        return tuple(known)
    chosen: list[str] = []
    for name in wanted:
        if name not in studies and name not in known:
            raise OptionError(
                f"--methods: {name!r} is no method of the tables on {task}.{did_you_mean(name, [*studies, *known])} "
                f"There are {name_list([*studies, *known], most=60)}."
            )
        chosen += studies.get(name, (name,))
    return tuple(dict.fromkeys(chosen))


def jobs_of(task: str, rows: Sequence[str], seeds: int) -> list[Job]:
    """Every row with every seed, seed by seed: what is stopped early has all rows of the first seeds."""
    return [Job(task, row, seed) for seed in range(seeds) for row in rows]


def parts_of(folder: Path, task: str) -> dict[str, str]:
    """The tables of a task in Markdown by name, from the runs that are there."""
    both = (QUICK + SENTIMENT, QUICK + NER) if task.startswith(QUICK) else (SENTIMENT, NER)
    return {
        "methods": results_table(folder, task),
        "order": order_table(folder, task),
        "ablations": ablation_table(folder, both),
        "tests": against_aggnet(folder, (task,)),
        "samples": sample_table(folder, task),
        "sensitivity": sensitivity_table(folder, task),
        "annotators": reliability_table(folder, (task,)),
        "time": time_table(folder, (task,)),
    }


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


def page_of(folder: Path, task: str) -> str:
    """The same as one page."""
    parts = parts_of(folder, task).items()
    return f"# {task}\n\n" + "\n\n".join(f"## {HEADINGS[name]}\n\n{table}" for name, table in parts) + "\n"


def write_results(folder: Path, task: str) -> Written:
    """Write the table of runs, the page and the figures."""
    found = file_table(folder, task)
    if found:
        write_table(folder / f"{task}.csv", pl.DataFrame(found, infer_schema_length=None))
    write_bytes(folder / f"{task}.md", page_of(folder, task).encode())
    return write_plots(figures_of(folder, task), folder / "figures")
