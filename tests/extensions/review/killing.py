"""A server that is killed at random moments while a script decides: what it acknowledged must be there, once."""

from __future__ import annotations

import contextlib
import http.client
import random
import time
import urllib.error
from pathlib import Path
from threading import Thread

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


def kill_repeatedly(
    data: Path, folder: Path, *, kills: int, seed: int
) -> tuple[dict[str, int], list[dict[str, object]]]:
    """What was acknowledged over so many kills, and the log at the end."""
    chance = random.Random(seed)
    scripts = [Script(f"r{n}", seed + n) for n in range(REVIEWERS)]
    for _ in range(kills):
        served = start(data / "labels.csv", "-o", folder, "--refit-every", "5")
        threads = [Thread(target=script.work, args=(served,)) for script in scripts]
        for thread in threads:
            thread.start()
        time.sleep(chance.uniform(0.0, 0.6))
        served.kill()
        for thread in threads:
            thread.join()
    served = start(data / "labels.csv", "-o", folder)
    log: list[dict[str, object]] = []
    while more := served.ask(f"decisions?most=1000&after={log[-1]['number'] if log else 0}"):
        log += more
    served.stop()
    return {request: number for script in scripts for request, number in script.acknowledged.items()}, log


def check_kills(data: Path, folder: Path, *, kills: int, seed: int = 0) -> None:
    """Every decision that was acknowledged is there under its number, and none is there twice."""
    acknowledged, log = kill_repeatedly(data, folder, kills=kills, seed=seed)
    numbers = {line["request"]: line["number"] for line in log}

    assert len(acknowledged) > kills
    assert len(numbers) == len(log)
    assert {request: numbers.get(request) for request in acknowledged} == acknowledged
    assert len(set(numbers) - set(acknowledged)) <= REVIEWERS  # at most what was under way at the end
