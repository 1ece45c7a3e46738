"""`crowdlogic reproduce`: run the paper's experiments and write its tables and figures."""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from crowdlogic.cli.console import Output, list_written, say, show_lines, show_output, summary
from crowdlogic.cli.options import JsonOption
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import OptionError
from crowdlogic.extensions.paper.jobs import Job, build_jobs, run_jobs, unfinished_jobs
from crowdlogic.extensions.paper.published import QUICK
from crowdlogic.extensions.paper.reproduction import REHEARSAL, select_rows, study_rows, write_results
from crowdlogic.extensions.paper.results import read_runs
from crowdlogic.extensions.paper.runs import load_task, run_job
from crowdlogic.extensions.paper.tables import methods_table
from crowdlogic.workflows.inputs import check_outputs


class PaperTask(StrEnum):
    """The paper's two tasks."""

    sentiment = "sentiment"
    ner = "ner"


STUDIES = ", ".join(study_rows(PaperTask.sentiment))
"""Names of the studies of the paper."""

TaskArgument = Annotated[PaperTask, typer.Argument(help="The paper's task.")]
OutOption = Annotated[
    str, typer.Option("--out", "-o", metavar="DIR", help="Output folder; finished runs in it are not repeated.")
]
MethodsOption = Annotated[
    list[str] | None,
    typer.Option("--methods", help=f"{STUDIES}, or a method such as aggnet. Repeatable."),
]
SeedsOption = Annotated[int | None, typer.Option("--seeds", min=1, help="Number of seeds; 5 by default.")]
SeedOption = Annotated[int, typer.Option("--seed", min=0, help="First seed; choose one that was not used for tuning.")]
JobsOption = Annotated[int, typer.Option("--jobs", min=1, help="Number of processes, each with one thread.")]
QuickOption = Annotated[bool, typer.Option("--quick", help="Test run of a few minutes on simulated data.")]


@dataclass(frozen=True, kw_only=True)
class ReproduceOutput(Output):
    """JSON output of `crowdlogic reproduce`.

    Attributes:
        task: The task: sentiment or ner, with the prefix quick- for a test run on simulated data.
        runs: Number of runs in the tables.
        done_before: Number of runs that were already finished.
    """

    task: str
    runs: int
    done_before: int


OUTPUTS = {"reproduce": ReproduceOutput}


def command(
    task: TaskArgument,
    out: OutOption,
    *,
    methods: MethodsOption = None,
    seeds: SeedsOption = None,
    seed: SeedOption = 0,
    jobs: JobsOption = 2,
    quick: QuickOption = False,
    json: JsonOption = False,
) -> None:
    """Run the paper's methods over several seeds and write its tables and figures."""
    name = f"{QUICK}{task}" if quick else str(task)
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise OptionError(f"{out}: is a file. Choose a folder.")
    check_outputs((folder,))
    rows = select_rows(name, methods or ())
    if quick:
        say(REHEARSAL)
    if find_spec("torch") is None:
        raise OptionError("The paper's networks need torch, which is not installed. Install crowdlogic[torch].")
    load_task(name)  # raises an error for missing data before anything is written
    wanted = build_jobs(name, rows, seeds or (2 if quick else 5), first=seed)
    todo = len(unfinished_jobs(wanted, folder))
    say(f"{pluralise(len(wanted), 'run')}: {len(wanted) - todo:,} finished, {todo:,} to run.")
    begin = time.monotonic()

    def report(job: Job, done: int, todo: int) -> None:
        """Print a line after each job, with an estimate of the remaining time."""
        left = (time.monotonic() - begin) / done * (todo - done)
        say(f"{done:,} of {todo:,}: {job.row}, seed {job.seed}; about {max(round(left / 60), 1):,} min left")

    run_jobs(wanted, run_job, folder, processes=jobs, progress=report)
    figures = write_results(folder, name)
    with summary():
        if json:
            paths = list_written(folder / f"{name}.md", folder / f"{name}.jsonl", folder / "figures")
            notices = (*([REHEARSAL] if quick else []), *([figures.missing] if figures.missing else []))
            before = len(wanted) - todo
            show_output(
                ReproduceOutput(
                    command="reproduce",
                    notices=notices,
                    written=paths,
                    task=name,
                    runs=len(wanted),
                    done_before=before,
                )
            )
        else:
            show_lines([REHEARSAL, ""] if quick else [])
            show_lines([methods_table(read_runs(folder), name)])
    say(f"tables -> {folder / f'{name}.md'}; runs -> {folder / f'{name}.jsonl'}; figures -> {folder / 'figures'}")
    if figures.missing:
        say(figures.missing)
