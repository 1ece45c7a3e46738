"""Measure how fast a review of many items responds, how long its refits take, and its memory.

    python -m benchmarks.review_speed                     # 100,000 items, 500,000 labels, Dawid-Skene, simulated

A server is started with the command, and one client decides item after item over HTTP: it requests the next item and
its evidence, then decides. Every tenth decision starts a refit in the background, while the client continues.
Milliseconds are wall-clock time, which a reviewer waits for. Seconds of refits are CPU time, which depends little on
the load of the machine: for the refit of the method alone, and including everything computed from it (the order of the
queue, the verdicts on annotators, the changes).
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.machine import best_seconds, describe_machine
from crowdlogic.data.simulate import simulate_crowd
from crowdlogic.extensions.review.material import ReviewFit, ReviewMaterial, TruthFitter
from crowdlogic.extensions.review.session import NewDecision, open_review
from crowdlogic.truth.dawid_skene import DawidSkene

WORDS = ("the", "plot", "is", "slow", "but", "grand", "and", "nobody", "would", "leave", "before", "its", "end")
TEXT_LENGTH = 40


def write_crowd(folder: Path, *, items: int, labels: int, annotators: int) -> None:
    """Write a simulated crowd with texts."""
    rng = np.random.default_rng(0)
    crowd = simulate_crowd(rng, units=items, annotators=annotators, classes=3, labels_per_unit=labels / items)
    crowd.labels.to_frame().write_csv(folder / "labels.csv")
    words = rng.integers(0, len(WORDS), (items, TEXT_LENGTH)).tolist()
    with (folder / "items.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["item", "text"])
        for name, line in zip(crowd.labels.items.to_list(), words, strict=True):
            rows.writerow([name, " ".join(WORDS[w] for w in line)])


class Client:
    """Client of the server that acts as one reviewer."""

    def __init__(self, address: str, token: str) -> None:
        self.address, self.headers = address, {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def ask(self, path: str, body: Any = None) -> Any:
        """Return the response of an endpoint."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.address}api/{path}", data, self.headers)
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.loads(answer.read())


def start_server(folder: Path) -> tuple[subprocess.Popen[str], Client, float]:
    """Start the server; return it, a client, and the seconds until it listened."""
    files = [str(folder / "labels.csv"), "--items", str(folder / "items.csv"), "-o", str(folder / "review")]
    command = [sys.executable, "-m", "crowdlogic", "review", *files, "-m", "dawid-skene", "--no-browser", "--port", "0"]
    began = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    for line in process.stdout or ():
        found = re.search(r"(http://[^/]+/)#token=(\S+)", line)
        if found:
            return process, Client(found[1], found[2]), time.monotonic() - began
    raise SystemExit("The server did not start.")


def decide_many(client: Client, count: int) -> dict[str, list[float]]:
    """Return the milliseconds of every request, by kind."""
    found: dict[str, list[float]] = {"next item": [], "evidence": [], "decision": []}

    def timed(kind: str, path: str, body: Any = None) -> Any:
        began = time.perf_counter()
        answer = client.ask(path, body)
        found[kind].append(1000 * (time.perf_counter() - began))
        return answer

    for n in range(count):
        (item,) = timed("next item", "queue?reviewer=bench&most=1")["items"]
        timed("evidence", f"items/{item['item']}/evidence")
        body = {"request": f"r{n}", "item": item["item"], "reviewer": "bench", "answer": item["shares"][0]["name"]}
        timed("decision", "decisions", {**body, "revision": item["revision"], "chosen": item["chosen"]})
    return found


def peak_memory(pid: int) -> float:
    """Return the peak memory of a process in GiB."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) / 2**20 if found else float("nan")


def refit_seconds(folder: Path, *, items: int, labels: int, annotators: int) -> tuple[float, float]:
    """Return the best CPU seconds of a refit of Dawid-Skene with 100 decisions: alone, and with everything else."""
    rng = np.random.default_rng(0)
    crowd = simulate_crowd(rng, units=items, annotators=annotators, classes=3, labels_per_unit=labels / items)
    fitter = TruthFitter(DawidSkene(), crowd.labels)
    material = ReviewMaterial(
        title="", labels=crowd.labels, corpus=None, fit=ReviewFit(estimate=fitter.infer()), fitter=fitter
    )
    with open_review(material, folder / "timed") as session:
        for s in range(100):
            answer = str(crowd.labels.classes[int(crowd.truth[s])])
            session.record(NewDecision(request=f"{s}", item=s, reviewer="bench", answer=answer))
        decisions, fit = session.decisions(), session.moment.fit
        alone = best_seconds(lambda: fitter.refit(fit, decisions), repeats=3, clock=time.process_time)
        return alone, best_seconds(session.refit, repeats=3, clock=time.process_time)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--labels", type=int, default=500_000)
    parser.add_argument("--annotators", type=int, default=500)
    parser.add_argument("--decisions", type=int, default=300)
    given = parser.parse_args()
    size = {"items": given.items, "labels": given.labels, "annotators": given.annotators}
    with tempfile.TemporaryDirectory(prefix="crowdlogic-review-") as home:
        write_crowd(Path(home), **size)
        process, client, started = start_server(Path(home))
        try:
            times = decide_many(client, given.decisions)
            while client.ask("progress")["is_fitting"]:
                time.sleep(0.2)
            last, memory = client.ask("progress")["last"], peak_memory(process.pid)
        finally:
            process.terminate()
            process.wait()
        alone, whole = refit_seconds(Path(home), **size)
    print(f"{given.items:,} items, {given.labels:,} labels, {given.annotators} annotators; {describe_machine()}")
    print(f"served after {started:.1f} s; peak memory {memory:.2f} GiB; {last['number']} refits in the background")
    for kind, milliseconds in times.items():
        middle, most = np.percentile(milliseconds, [50, 95])
        print(f"{kind}: median {middle:.1f} ms, 95th percentile {most:.1f} ms, slowest {max(milliseconds):.1f} ms")
    print(f"a refit of Dawid-Skene: {alone:.2f} s of CPU time; including order and verdicts: {whole:.2f} s")
    print(f"the last refit in the server, during the client's requests: {last['seconds']:.2f} s of wall-clock time")


if __name__ == "__main__":
    main()
