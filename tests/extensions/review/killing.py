"""A server that is killed at random moments while a script decides: what it acknowledged must be there, once."""

from __future__ import annotations

import contextlib
import http.client
import random
import signal
import time
import urllib.error
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Thread
from typing import Any

from tests.extensions.review.served import Served, start

REVIEWERS = 3


class Script:
    """A reviewer who decides as quickly as the server answers, and asks again what was not answered."""

    def __init__(self, name: str, seed: int) -> None:
        self.name, self.random, self.acknowledged = name, random.Random(seed), dict[str, int]()
        self.pending: dict[str, object] | None = None
        self.count = 0

    def work(self, served: Served) -> None:
        """Decide until the server is gone."""
        with contextlib.suppress(urllib.error.URLError, ConnectionError, http.client.HTTPException, OSError):
            while True:
                self.step(served)

    def step(self, served: Served) -> None:
        if self.pending is None:
            self.count += 1
            self.pending = {
                "request": f"{self.name}-{self.count}",
                "item": self.random.randrange(120),
                "reviewer": self.name,
                "answer": self.random.choice(["positive", "negative"]),
            }
        answer = served.ask("decisions", self.pending, seconds=10)
        self.acknowledged[str(self.pending["request"])] = answer["number"]
        self.pending = None


def stop_repeatedly(
    data: Path, folder: Path, signals: Sequence[signal.Signals], *, stops: int, seed: int
) -> Iterator[tuple[list[str], signal.Signals]]:
    """Stop a server at random moments while three reviewers decide, with signals in turns.

    After each stop the log holds every acknowledged decision once, under the number that was acknowledged.

    Yields:
        What was wrong, and the signal.
    """
    chance = random.Random(seed)
    scripts = [Script(f"r{n}", seed + n) for n in range(REVIEWERS)]
    for number in range(stops):
        which = signals[number % len(signals)]
        served = start(data / "labels.csv", "-o", folder, "--refit-every", "5")
        threads = [Thread(target=script.work, args=(served,)) for script in scripts]
        for thread in threads:
            thread.start()
        time.sleep(chance.uniform(0.0, 0.6))
        served.process.send_signal(which)
        said, _ = served.process.communicate(timeout=60)
        for thread in threads:
            thread.join()
        expected = {signal.SIGKILL: -9, signal.SIGTERM: 143, signal.SIGINT: 0}[which]  # Ctrl-C is how a review ends
        problems = [] if served.process.returncode == expected else [f"ended with {served.process.returncode}"]
        problems += [f"said {said[-300:]!r}"] if "Traceback" in said else []
        yield problems + _log_problems(scripts, _read_log(data, folder)), which


def _read_log(data: Path, folder: Path) -> list[dict[str, Any]]:
    """Open the review again and return all of its decisions."""
    served = start(data / "labels.csv", "-o", folder)
    log: list[dict[str, Any]] = []
    while more := served.ask(f"decisions?most=1000&after={log[-1]['number'] if log else 0}"):
        log += more
    served.stop()
    return log


def _log_problems(scripts: Sequence[Script], log: Sequence[dict[str, Any]]) -> list[str]:
    """Return what is wrong with a log beside what was acknowledged."""
    acknowledged = {request: number for script in scripts for request, number in script.acknowledged.items()}
    numbers = {line["request"]: line["number"] for line in log}
    problems = [f"{request} is lost" for request in acknowledged if numbers.get(request) != acknowledged[request]]
    if len(numbers) != len(log):
        problems.append("a decision is there twice")
    if len(set(numbers) - set(acknowledged)) > REVIEWERS:  # at most what was under way at the end
        problems.append("there are decisions that nobody made")
    return problems


def check_kills(data: Path, folder: Path, *, kills: int, seed: int = 0) -> None:
    """Every decision that was acknowledged is there under its number, and none is there twice."""
    for problems, _ in stop_repeatedly(data, folder, [signal.SIGKILL], stops=kills, seed=seed):
        assert problems == []
    assert len(_read_log(data, folder)) > kills
