"""The README's picture of a report: `python -m tests.report.browser.pictures docs/images` makes the demo and takes it."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.report.browser.chrome import Chrome, chrome

from crowdlogic.workflows.demo import DemoOptions, run_demo

WIDTH, HEIGHT = 1160, 1780
"""The overview, down to its plots."""


def picture_report(browser: Chrome, page: Path, out: Path) -> None:
    """Take a picture of the top of a report."""
    browser.open(page, width=WIDTH, height=HEIGHT)
    out.write_bytes(browser.picture(whole=False))


def main() -> None:
    """Make the demo and take the picture of its report."""
    out = Path(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="crowdlogic-pictures-") as home, chrome() as browser:
        run_demo(DemoOptions(out=f"{home}/demo"))
        picture_report(browser, Path(home) / "demo" / "report.html", out / "report.png")


if __name__ == "__main__":
    main()
