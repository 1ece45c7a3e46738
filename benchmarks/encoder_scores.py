"""Measure the pre-trained encoder on the paper's sentences: run a resumable grid, then write the tables of the docs.

    python -m benchmarks.encoder_scores run [--seeds 5] [--rows "logic-lncl;gold"]
    python -m benchmarks.encoder_scores tables

Every row uses the preset sentiment-encoder. Gold is only used by the row `gold`: all epochs are run, and the last one
is kept. Each finished run is a line of benchmarks/results/learning/sentiment-encoder.jsonl and is not run again. Needs
CROWDLOGIC_DATA and crowdlogic[encoder].
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from crowdlogic.extensions.paper import methods
from crowdlogic.extensions.paper.benchmarks import load_benchmark
from crowdlogic.extensions.paper.jobs import Job, run_jobs
from crowdlogic.extensions.paper.results import (
    FinishedRuns,
    RunResult,
    fill_section,
    format_table,
    paired_difference,
    read_runs,
)
from crowdlogic.extensions.paper.runs import score_answers
from crowdlogic.extensions.paper.tables import format_cell, percentages
from crowdlogic.learning.method import TrainingData
from crowdlogic.registry import PRESETS

TASK = "sentiment-encoder"
RESULTS, PAGE = Path("benchmarks/results/learning"), Path("docs/evidence/encoder.md")
Runs = Sequence[RunResult]
ROWS: dict[str, methods.Builder] = {
    "logic-lncl": methods.logic_lncl,
    "without rules": methods.without_rules,
    "gold": methods.gold,
}
KIM = {"logic-lncl": "logic-lncl, k 0.2", "without rules": "aggnet", "gold": "gold"}
"""Rows of the task sentiment with Kim-CNN instead of the encoder."""
NOTHING = "No run of the encoder is finished yet."
AGAINST = (("student", "student"), ("teacher", "student"), ("inference", "inference"))
"""Parts of Logic-LNCL, and the parts without rules with which they are compared by seed."""
NAMES = {"logic-lncl": "Logic-LNCL", "without rules": "AggNet", "gold": "Gold"}


def run_encoder_job(job: Job) -> RunResult:
    """Fit a row with a seed, and score it on the test sentences and, for inference, on the training sentences."""
    data, task = load_benchmark("sentiment_mturk", split="clean"), PRESETS.load("sentiment-encoder")()
    method, rules = ROWS[job.row](task, job.seed)
    begin, processor = time.perf_counter(), time.process_time()
    learned = method.learn(TrainingData(corpus=data.corpus, labels=data.labels, rules=rules))
    times = {"seconds": time.perf_counter() - begin, "processor_seconds": time.process_time() - processor}
    test: Any = data.test
    items = test.with_classes(learned.task.labels.classes)
    student = learned.classifier.predict_proba(items)
    answers = {
        "student": (items, student),
        "teacher": (items, learned.teacher.predict(items, learned.classifier, student)),
        "inference": (learned.task.corpus, learned.epoch.q_f),
        "inference before the rule": (learned.task.corpus, learned.epoch.q_a),
    }
    scores = {name: score_answers(corpus, beliefs) for name, (corpus, beliefs) in answers.items()}
    history = [{"epoch": row.epoch, "loss": row.loss, "scores": dict(row.scores)} for row in learned.history]
    return asdict(job) | times | {"chosen": learned.chosen, "scores": scores, "history": history}


def encoder_table(runs: FinishedRuns) -> str:
    """Return the table of encoder and Kim-CNN: student, teacher, inference, and CPU time of a fit."""
    lines: list[list[object]] = []
    for row, name in NAMES.items():
        for model, own in (("Kim-CNN", runs.row_runs("sentiment", KIM[row])), ("encoder", runs.row_runs(TASK, row))):
            parts = [format_cell(percentages(own, part, "accuracy")) for part in ("student", "teacher", "inference")]
            times = [run["processor_seconds"] for run in own if "processor_seconds" in run]
            if own:
                lines.append([name, model, len(own), *parts, f"{np.mean(times):.0f}" if times else ""])
    columns = ["method", "classifier", "seeds", "student", "teacher", "inference", "processor seconds"]
    return format_table(columns, lines)


def rule_table(runs: FinishedRuns) -> str:
    """Return the gain from the rule within a run, and over the run of the same seed without it: paired differences."""
    own = runs.row_runs(TASK, "logic-lncl")
    if not own:
        return NOTHING
    plain = {run["seed"]: run for run in runs.row_runs(TASK, "without rules")}
    both = [run for run in own if run["seed"] in plain]
    others = [plain[run["seed"]] for run in both]
    lines = [
        _difference("teacher", own, "student of the same run", own),
        _difference("inference", own, "inference before the rule", own),
        *(_difference(part, both, f"{other} of AggNet", others) for part, other in AGAINST if both),
    ]
    return format_table(["Logic-LNCL", "against", "seeds", "difference", "t", "p (one-sided)"], lines)


def _difference(part: str, runs: Runs, against: str, others: Runs) -> list[object]:
    other = against.removesuffix(" of the same run").removesuffix(" of AggNet")
    found = paired_difference(percentages(runs, part, "accuracy"), percentages(others, other, "accuracy"))
    tested = [f"{found.mean:+.2f} ± {found.half_width:.2f}", f"{found.t:.1f}", f"{found.p:.4f}"]
    return [part, against, found.count, *(tested if found.count > 1 else [f"{found.mean:+.2f}", "", ""])]


def render_page(page: str, runs: FinishedRuns) -> str:
    """Return the page with both tables filled in."""
    return fill_section(fill_section(page, "encoder", encoder_table(runs)), "encoder rule", rule_table(runs))


def print_progress(job: Job, done: int, todo: int) -> None:
    """Print which run has finished."""
    print(f"{done}/{todo} {job.row}, seed {job.seed}", flush=True)


def main() -> None:
    """Run the grid, or write the tables."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("what", choices=("run", "tables"))
    options.add_argument("--rows", default=";".join(ROWS), help="Rows, separated by semicolons.")
    options.add_argument("--seeds", type=int, default=5)
    chosen = options.parse_args()
    if chosen.what == "run":
        jobs = [Job(TASK, row, seed) for row in chosen.rows.split(";") for seed in range(chosen.seeds)]
        run_jobs(jobs, run_encoder_job, RESULTS, progress=print_progress)
        sys.exit()
    PAGE.write_text(render_page(PAGE.read_text(encoding="utf-8"), read_runs(RESULTS)), encoding="utf-8")


if __name__ == "__main__":
    main()
