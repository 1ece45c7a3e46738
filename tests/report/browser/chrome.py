"""A real browser for tests: Chromium without a window, spoken to over a pipe by the DevTools protocol.

The pipe needs no package and no port: messages are JSON, ended by a zero byte, on the child's descriptors 3 and 4.
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")

OPTIONS = (
    "--headless", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-extensions", "--disable-dev-shm-usage", "--mute-audio",
    "--hide-scrollbars", "--remote-debugging-pipe",
)  # fmt: skip

MOVING = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(one), fcntl.F_DUPFD, 20) for one in sys.argv[1:3]]
os.dup2(ends[0], 3)
os.dup2(ends[1], 4)
os.execvp(sys.argv[3], sys.argv[3:])
"""
"""The browser reads from descriptor 3 and writes to 4, whatever numbers our pipes have: put them there, then become it."""


def installed() -> str | None:
    """The browser's path; None where there is none."""
    return next((path for path in map(shutil.which, NAMES) if path), None)


class Chrome:
    """One browser with one page, and everything that it reported."""

    def __init__(self, process: subprocess.Popen[bytes], write: int, read: int) -> None:
        self.process, self._write, self._read = process, write, read
        self._buffer, self._last, self._session = b"", 0, None
        self.events: list[dict[str, Any]] = []
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """Ask and wait for the answer."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._write, data) :]
        while True:
            answer = self._receive(120.0)
            if answer.get("id") == self._last:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def _receive(self, seconds: float) -> dict[str, Any]:
        end = time.monotonic() + seconds
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(end - time.monotonic(), 0))
            if not ready:
                raise TimeoutError(f"Chromium said nothing for {seconds:g} s.")
            part = os.read(self._read, 1 << 20)
            if not part:
                raise RuntimeError("Chromium ended.")
            self._buffer += part
        message, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(message)

    def evaluate(self, script: str) -> Any:
        """The value of an expression in the page."""
        found = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"]["exception"].get("description", "failed"))
        return found["result"].get("value")

    def open(self, path: Path, *, width: int = 1280, height: int = 900, dark: bool = False) -> float:
        """Open a file as a user would; the seconds until its script has made it usable."""
        return self.visit(path.resolve().as_uri(), width=width, height=height, dark=dark)

    def visit(self, url: str, *, width: int = 1280, height: int = 900, dark: bool = False) -> float:
        """Open an address as a user would; the seconds until its script has made it usable."""
        self.resize(width, height)
        scheme = "dark" if dark else "light"
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.send("Page.navigate", url="about:blank")
        self.events.clear()
        began = time.monotonic()
        self.send("Page.navigate", url=url)
        while not self.evaluate("document.documentElement?.dataset.ready === 'true'"):
            if time.monotonic() - began > 120:
                raise TimeoutError(f"The page did not become ready: {self.complaints()}")
            time.sleep(0.02)
        return time.monotonic() - began

    def busy(self) -> float:
        """Seconds of processor time that the page's own thread has spent: the same on a loaded machine as on an idle one."""
        self.send("Performance.enable", timeDomain="threadTicks")
        return next(
            one["value"] for one in self.send("Performance.getMetrics")["metrics"] if one["name"] == "TaskDuration"
        )

    def resize(self, width: int, height: int = 900) -> None:
        """Make the window so large."""
        self.send(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )

    def picture(self, *, whole: bool = True) -> bytes:
        """A PNG of the page, the whole of it or what is seen."""
        found = self.send(
            "Page.captureScreenshot", captureBeyondViewport=whole, **({} if not whole else {"clip": self._all()})
        )
        return base64.b64decode(found["data"])

    def _all(self) -> dict[str, float]:
        size = self.send("Page.getLayoutMetrics")["cssContentSize"]
        return {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 8000), "scale": 1}

    def complaints(self) -> list[str]:
        """Console errors, exceptions and what the policy refused."""
        self.evaluate("new Promise(done => setTimeout(done, 50))")
        found = []
        for event in self.events:
            params = event.get("params", {})
            match event.get("method"):
                case "Runtime.exceptionThrown":
                    found.append(params["exceptionDetails"].get("exception", {}).get("description", "exception"))
                case "Runtime.consoleAPICalled" if params["type"] in ("error", "warning", "assert"):
                    found.append(str(params["args"]))
                case "Log.entryAdded" if params["entry"]["level"] in ("error", "warning"):
                    found.append(params["entry"]["text"])
        return found

    def requests(self) -> list[str]:
        """Everything that the page asked for beside itself."""
        self.evaluate("new Promise(done => setTimeout(done, 50))")
        asked = [e["params"]["request"]["url"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]
        return [url for url in asked if not url.startswith(("file:", "data:"))] + asked[1:]


@contextmanager
def chrome() -> Iterator[Chrome]:
    """Start a browser with an empty profile of its own; end it and remove the profile."""
    profile = tempfile.mkdtemp(prefix="crowdlogic-browser-")
    to_child, from_us = os.pipe()
    from_child, to_us = os.pipe()
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    command = [installed() or "chromium", *OPTIONS, *sandbox, f"--user-data-dir={profile}", "about:blank"]
    moved = [sys.executable, "-c", MOVING, str(to_child), str(to_us), *command]
    process = subprocess.Popen(moved, pass_fds=(to_child, to_us), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(to_child)
    os.close(to_us)
    try:
        yield Chrome(process, from_us, from_child)
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        os.close(from_us)
        os.close(from_child)
        shutil.rmtree(profile, ignore_errors=True)
