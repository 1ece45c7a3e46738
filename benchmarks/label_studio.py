"""From a large export of Label Studio to a consensus: the whole command, and its peak of memory.

    python -m benchmarks.label_studio [--tasks 100000] [--annotations 5] [--spans] [--repeats 2]

Tasks, annotations and results have the fields that Label Studio writes. `crowdlogic aggregate EXPORT -m dawid-skene`
runs in a process of its own, so start-up, reading, fitting and writing all count. Memory is also measured on a part of
the export of about 20 MB, above that of an idle process: the limit is ten times the file.
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
    # in KiB, of this process alone; resource.getrusage would begin with that of the process which started it
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
"""
IDLE = f"{MOST_MEMORY}\nimport crowdlogic.workflows.aggregate\nprint(most_memory())"
SMALL_TASKS = 6_500
"""About 20 MB with five annotations each."""


def result(rng: np.random.Generator, text: str, truth: int, *, spans: bool) -> list[dict[str, Any]]:
    """What an annotator says, right in three of four cases."""
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
    """Tasks as Label Studio exports them."""
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
    """An annotation with the fields of an export."""
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
    """An array with a task a line."""
    with path.open("w", encoding="utf-8") as file:
        for at, task in enumerate(found):
            file.write(("[" if at == 0 else ",\n") + json.dumps(task))
        file.write("]\n")


def measure(path: Path) -> tuple[float, float]:
    """Seconds of the whole command, and its peak of memory in MiB."""
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
    """The peak of memory of a process that has only loaded the command, in MiB."""
    done = subprocess.run([sys.executable, "-c", IDLE], capture_output=True, text=True, check=True)
    return float(done.stdout) / 1024


def main() -> None:
    """Generate, measure and print."""
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
