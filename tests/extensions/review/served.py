"""A review that is served by a process of its own, as a user starts it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PRINTED = re.compile(r"(http://([\d.]+|\[::1\]|localhost):(\d+)/)(?:#token=(\S+))?")


@dataclass
class Served:
    """A running server: its address, its token, and what it said so far."""

    process: subprocess.Popen[str]
    address: str
    port: int
    token: str
    said: list[str] = field(default_factory=list)

    def url(self, reviewer: str = "ann") -> str:
        """What a reviewer opens."""
        return f"{self.address}#token={self.token}&reviewer={reviewer}"

    def ask(self, path: str, body: Any = None, *, headers: dict[str, str] | None = None, seconds: float = 30) -> Any:
        """The answer of an endpoint as data."""
        data = None if body is None else json.dumps(body).encode()
        sent = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json", **(headers or {})}
        request = urllib.request.Request(f"{self.address}api/{path}", data, sent)
        with urllib.request.urlopen(request, timeout=seconds) as answer:
            return json.loads(answer.read())

    def kill(self) -> None:
        """End it as a power cut would."""
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.communicate()

    def stop(self) -> str:
        """Interrupt it, as Ctrl-C does; what it said last."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        rest, _ = self.process.communicate(timeout=60)
        self.said += rest.splitlines()
        return "\n".join(self.said)


def start(*arguments: str | Path, port: int = 0) -> Served:
    """Start `crowdlogic review` with these arguments."""
    command = [sys.executable, "-m", "crowdlogic", "review", *map(str, arguments), "--no-browser", "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    said: list[str] = []
    assert process.stdout is not None
    for line in process.stdout:
        said.append(line.rstrip())
        found = PRINTED.search(line)
        if found:
            served = Served(process, found[1], int(found[3]), found[4] or "", said)
            _wait(served)
            return served
    process.stdout.close()
    process.wait()
    raise RuntimeError("\n".join(said))


def _wait(served: Served) -> None:
    """Wait until it answers."""
    for _ in range(200):
        try:
            urllib.request.urlopen(served.address, timeout=5).close()
            return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.05)
    raise TimeoutError("The server does not answer.")


@contextmanager
def serving(*arguments: str | Path) -> Iterator[Served]:
    """A server for a while."""
    served = start(*arguments)
    try:
        yield served
    finally:
        served.stop()
