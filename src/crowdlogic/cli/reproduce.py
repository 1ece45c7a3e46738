"""`crowdlogic reproduce`: the paper's tables and figures, run by run, as far as the machine's time goes."""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from crowdlogic.cli.console import say, show_lines
from crowdlogic.errors import OptionError
from crowdlogic.experiments.jobs import Job, run_jobs


class PaperTask(StrEnum):
    """The paper's two tasks."""

    sentiment = "sentiment"
    ner = "ner"


def command(
    task: Annotated[PaperTask, typer.Argument(help="The paper's task.")],
    out: Annotated[str, typer.Option("--out", "-o", metavar="DIR", help="The folder; what is done there stays done.")],
    methods: Annotated[
        list[str] | None,
        typer.Option(
            "--methods", help="tables, annotators, samples, sensitivity, or a method such as aggnet. May repeat."
        ),
    ] = None,
    seeds: Annotated[int | None, typer.Option("--seeds", min=1, help="Seeds 0 to N - 1; 5 if not given.")] = None,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Processes, each with one thread.")] = 2,
    quick: Annotated[bool, typer.Option("--quick", help="Minutes, on simulated data: does it all run?")] = False,
) -> None:
    """Run the paper's methods over several seeds; write its tables and figures with ours beside them."""
    # Loaded late: their statistics take a second to load, and every other command would wait for them.
    from crowdlogic.experiments.reproduce import jobs_of, rows_of, write_results
    from crowdlogic.experiments.rows import run
    from crowdlogic.experiments.tables import results_table
    from crowdlogic.experiments.tasks import QUICK, task_named

    name = f"{QUICK}{task}" if quick else str(task)
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise OptionError(f"{out}: is a file. Name a folder.")
    rows = rows_of(name, methods or ())
    _check_torch()
    task_named(name)  # missing data is told of before anything is written
    wanted = jobs_of(name, rows, seeds or (2 if quick else 5))
    todo = sum(not job.path(folder).is_file() for job in wanted)
    say(f"{len(wanted):,} runs: {len(wanted) - todo:,} are done, {todo:,} to do.")
    run_jobs(wanted, run, folder, processes=jobs, hear=_teller())
    figures = write_results(folder, name)
    show_lines([results_table(folder, name)])
    say(f"tables -> {folder / f'{name}.md'}; runs -> {folder / f'{name}.csv'}; figures -> {folder / 'figures'}")
    if figures.missing:
        say(figures.missing)


def _check_torch() -> None:
    if find_spec("torch") is None:
        raise OptionError("The paper's networks need torch, which is not installed. Install crowdlogic[torch].")


def _teller() -> Callable[[Job, int, int], None]:
    """Says what is done and how long the rest may take."""
    begin = time.monotonic()

    def hear(job: Job, done: int, todo: int) -> None:
        left = (time.monotonic() - begin) / done * (todo - done)
        say(f"{done:,} of {todo:,}: {job.row}, seed {job.seed}; about {max(round(left / 60), 1):,} min left")

    return hear
