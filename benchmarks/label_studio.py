"""Measure time and peak memory of the command that aggregates a large Label Studio export.

    python -m benchmarks.label_studio [--tasks 100000] [--annotations 5] [--spans] [--repeats 2]

Tasks, annotations and results have the fields written by Label Studio. `crowdlogic aggregate EXPORT -m dawid-skene`
runs in a separate process, so the time includes start-up, reading, fitting and writing. Memory in excess of an idle
process is also measured on a part of the export of about 20 MB: the limit is ten times the size of the file.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import describe_machine

WORDS = tuple("the committee in Paris heard on Monday that Acme will open an office near Rome next year".split())  # noqa: SIM905
MOMENT = "2026-11-17T10:{:02d}:{:02d}.893565Z"
MOST_MEMORY = """
def most_memory():
    # in KiB, of this process only; resource.getrusage includes the peak of the parent process before exec
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
"""
IDLE = f"{MOST_MEMORY}\nimport crowdlogic.workflows.aggregate\nprint(most_memory())"
SMALL_TASKS = 6_500
"""Number of tasks in the part: about 20 MB with five annotations each."""


def result(rng: np.random.Generator, text: str, truth: int, *, spans: bool) -> list[dict[str, Any]]:
    """Return an annotator's result, which is right in three of four cases."""
    given = truth if rng.random() < 0.75 else int(rng.integers(3))
    base = {"id": "qd1jIVAq1h", "to_name": "text", "origin": "manual"}
    if not spans:
        label = ["negative", "neutral", "positive"][given]
        return [{**base, "type": "choices", "from_name": "sentiment", "value": {"choices": [label]}}]
    place = text.find("Ann Lee")
    if place < 0 or given == 0:
        return []
    value = {"start": place, "end": place + 7, "text": "Ann Lee", "labels": [["ORG", "PER"][given - 1]]}
    return [{**base, "type": "labels", "from_name": "ner", "value": value}]


def tasks(count: int, annotations: int, *, spans: bool, seed: int = 0) -> Iterator[dict[str, Any]]:
    """Yield tasks as exported by Label Studio."""
    rng = np.random.default_rng(seed)
    for number in range(count):
        text = " ".join(rng.choice(WORDS, size=30)) + " Ann Lee"
        truth = int(rng.integers(3))
        yield {
            "id": number,
            "annotations": [
                annotation(who, result(rng, text, truth, spans=spans), number)
                for who in rng.choice(200, size=annotations, replace=False).tolist()
            ],
            "file_upload": "reviews.json",
            "drafts": [],
            "predictions": [],
            "data": {"text": text},
            "meta": {},
            "created_at": MOMENT.format(1, 2),
            "updated_at": MOMENT.format(3, 4),
            "inner_id": number + 1,
            "total_annotations": annotations,
            "cancelled_annotations": 0,
            "total_predictions": 0,
            "comment_count": 0,
            "project": 29,
            "updated_by": 1,
            "comment_authors": [],
        }


def annotation(who: int, results: list[dict[str, Any]], number: int) -> dict[str, Any]:
    """Return an annotation with the fields of an export."""
    moment = MOMENT.format(number // 60 % 60, number % 60)
    return {
        "id": number,
        "completed_by": {"id": who, "email": f"annotator{who}@example.org", "first_name": "", "last_name": ""},
        "result": results,
        "was_cancelled": False,
        "ground_truth": False,
        "created_at": moment,
        "updated_at": moment,
        "draft_created_at": moment,
        "lead_time": 8.65,
        "prediction": {},
        "result_count": 1,
        "unique_id": "3bc9da85-967f-47a1-bfa8-410206e54cf9",
        "import_id": None,
        "last_action": None,
        "task": number,
        "project": 29,
        "updated_by": who,
        "parent_prediction": None,
        "parent_annotation": None,
        "last_created_by": None,
    }


def write_export(path: Path, found: Iterator[dict[str, Any]]) -> None:
    """Write a JSON array with one task per line."""
    with path.open("w", encoding="utf-8") as file:
        for at, task in enumerate(found):
            file.write(("[" if at == 0 else ",\n") + json.dumps(task))
        file.write("]\n")


def measure(path: Path) -> tuple[float, float]:
    """Return the time of the whole command in seconds, and its peak memory in MiB."""
    script = f"""
{MOST_MEMORY}
import sys
from crowdlogic.cli.app import main
sys.argv = ["crowdlogic", "aggregate", {str(path)!r}, "-m", "dawid-skene", "-o", {str(path.with_suffix(".parquet"))!r}]
try:
    main()
finally:
    print(most_memory() / 1024)
"""
    begin = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return time.perf_counter() - begin, float(done.stdout.splitlines()[-1])


def idle_memory() -> float:
    """Return the peak memory in MiB of a process that only imports the command."""
    done = subprocess.run([sys.executable, "-c", IDLE], capture_output=True, text=True, check=True)
    return float(done.stdout) / 1024


def main() -> None:
    """Generate the export, measure and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--tasks", type=int, default=100_000)
    options.add_argument("--annotations", type=int, default=5)
    options.add_argument("--spans", action="store_true")
    options.add_argument("--repeats", type=int, default=2)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for count, repeats in ((chosen.tasks, chosen.repeats), (SMALL_TASKS, 1)):
            path = Path(folder) / f"export-{count}.json"
            write_export(path, tasks(count, chosen.annotations, spans=chosen.spans))
            size = path.stat().st_size / 2**20
            seconds, memory = min(measure(path) for _ in range(repeats))
            above = (memory - idle_memory()) / size
            kind = "spans" if chosen.spans else "choices"
            print(f"{count:,} tasks x {chosen.annotations} annotations ({kind}), {size:.0f} MiB ({describe_machine()})")
            print(f"  {seconds:.1f} s, peak {memory / 1024:.2f} GiB, {above:.1f} times the file above an idle process")


if __name__ == "__main__":
    main()
