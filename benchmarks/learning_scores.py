"""Measure learning methods on the real data sets: run a resumable grid, then write the tables of the docs.

    python -m benchmarks.learning_scores run [--only ner] [--rows "aggnet;logic-lncl, paper"] [--seeds 5] [--jobs 2]
    python -m benchmarks.learning_scores tables

Each finished run is a line of benchmarks/results/learning/TASK.jsonl and is not run again. Needs CROWDLOGIC_DATA.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.learning_tables import render_page, render_tagger
from crowdlogic.extensions.paper.jobs import Job, run_jobs
from crowdlogic.extensions.paper.results import read_runs
from crowdlogic.extensions.paper.runs import run_job
from crowdlogic.learning.presets import READINGS

RESULTS = Path("benchmarks/results/learning")
PAGE = Path("docs/evidence/learning.md")
NER = (
    "gold", "majority", "dawid-skene", "aggnet", "without rules", "logic-lncl",
    *(f"logic-lncl, {name}" for name in READINGS if name != "released"),
)  # fmt: skip
SENTIMENT = ("gold", "aggnet", "logic-lncl", "logic-lncl, k 0.2")
STOPPING = ("gold-free items{}", "gold-free without a mean{}", "gold-free annotations{}", "logic-lncl{}, all epochs")
"""Rows for stopping criteria; the braces are replaced by the option of the preset."""
WEAK = ("gold", "majority", "dawid-skene", "aggnet", "aggnet with silence")
TAGGER = "logic-lncl-bilstm-crf"
BEYOND = (
    TAGGER, "aggnet-bilstm-crf", "gold-bilstm-crf", f"gold-free {TAGGER}",
    *(f"{TAGGER}, {change}" for change in (
        "correlation 0", "correlation 0.65", "halving 0", "warm-up 1", "start majority", "start majority, warm-up 1",
        "annotators confusion", "annotators variational", "no rules",
    )),
)  # fmt: skip
"""Tagger of `--preset ner`, and variants without one of its parts; only run if named by --rows."""
GRID = {
    "ner": (*NER, *(row.format("") for row in STOPPING)),
    "sentiment": ("majority", "dawid-skene", "glad", *SENTIMENT, *(row.format(", k 0.2") for row in STOPPING)),
    "sentiment-published": SENTIMENT,
    "weak-youtube": (*WEAK, *(f"{row}, kim-cnn" for row in WEAK)),
    "weak-sms": (*WEAK, *(f"{row}, kim-cnn" for row in WEAK)),
    "labelme": ("gold", "majority", "dawid-skene", "aggnet"),
}
SEEDS = {"ner": 10, "sentiment": 20, "sentiment-published": 10, "weak-youtube": 10, "weak-sms": 10, "labelme": 10}


def select_jobs(only: str | None, rows: str | None, seeds: int | None) -> list[Job]:
    """Return the grid, or the named rows, seed by seed, so that an interrupted run has all rows of the first seeds."""
    chosen = [task for task in GRID if only is None or task in only.split(",")]
    found = [
        Job(task, row, seed)
        for task in chosen
        for seed in range(seeds or SEEDS[task])
        for row in (GRID[task] if rows is None else rows.split(";"))
    ]
    return sorted(found, key=lambda job: job.seed)


def print_progress(job: Job, done: int, todo: int) -> None:
    """Print which run has finished."""
    print(f"{done}/{todo} {job.task}: {job.row}, seed {job.seed}", flush=True)


def main() -> None:
    """Run the grid, or write the tables."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("what", choices=("run", "tables"))
    options.add_argument("--only", default=None, help="Tasks, comma-separated.")
    options.add_argument("--rows", default=None, help="Rows, separated by semicolons.")
    options.add_argument("--seeds", type=int, default=None)
    options.add_argument("--jobs", type=int, default=2)
    chosen = options.parse_args()
    if chosen.what == "tables":
        page = PAGE.read_text(encoding="utf-8")
        runs = read_runs(RESULTS)
        page = render_tagger(render_page(page, runs, GRID, SEEDS), runs, BEYOND, SEEDS["ner"])
        PAGE.write_text(page, encoding="utf-8")
        sys.exit()
    jobs = select_jobs(chosen.only, chosen.rows, chosen.seeds)
    run_jobs(jobs, run_job, RESULTS, processes=chosen.jobs, progress=print_progress)


if __name__ == "__main__":
    main()
