"""Measure how long a report of many labels takes, the size of its page, and how soon a browser shows it.

    python -m benchmarks.report_speed                                  # 100,000 items, 500,000 labels, simulated
    CROWDLOGIC_DATA=... python -m benchmarks.report_speed --benchmark ner_conll_mturk

Seconds are CPU time, which depends little on the load of the machine. The browser's times are wall-clock times reported
by the browser, and need an installed Chromium.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np

from crowdlogic.data.corpus import documents
from crowdlogic.data.simulate import simulate_crowd
from crowdlogic.extensions.paper.benchmarks import load_benchmark
from crowdlogic.reporting.figures import BROWSERS
from crowdlogic.reporting.html import to_html
from crowdlogic.reporting.inputs import ReportInputs, inputs_from_estimate
from crowdlogic.reporting.page import load_pages
from crowdlogic.reporting.report import make_report, to_json
from crowdlogic.truth.methods import truth_method

WORDS = ("the", "plot", "is", "slow", "but", "grand", "and", "nobody", "would", "leave", "before", "its", "end")
"""Vocabulary of simulated texts."""
TEXT_LENGTH = 60

T = TypeVar("T")

LOOKING = """
addEventListener("load", () => setTimeout(() => {
  const made = performance.getEntriesByType("navigation")[0];
  document.title = `usable ${performance.now().toFixed(0)} parsed ${made.domInteractive.toFixed(0)}`;
}, 0));
"""


def simulate_inputs(items: int, labels: int, annotators: int) -> ReportInputs:
    """Return a simulated crowd with texts, gold and the estimate of Dawid-Skene."""
    rng = np.random.default_rng(0)
    crowd = simulate_crowd(rng, units=items, annotators=annotators, classes=3, labels_per_unit=labels / items)
    words = rng.integers(0, len(WORDS), (items, TEXT_LENGTH))
    texts = [" ".join(WORDS[w] for w in line) for line in words.tolist()]
    names = crowd.labels.items.to_list()
    gold = [crowd.labels.classes[k] for k in crowd.truth.tolist()]
    corpus = documents(names, texts, gold=gold)
    return inputs_from_estimate(truth_method("dawid-skene").infer(crowd.labels), crowd.labels, corpus)


def load_inputs(name: str) -> ReportInputs:
    """Return a data set of the paper with the estimate of Dawid-Skene."""
    given = load_benchmark(name)
    return inputs_from_estimate(truth_method("dawid-skene").infer(given.labels), given.labels, given.corpus)


def with_seconds(work: Callable[[], T]) -> tuple[T, float]:
    """Return the result of a call, and its CPU seconds."""
    began = time.process_time()
    return work(), time.process_time() - began


def usable_after(page: str) -> dict[str, float] | None:
    """Return the browser's milliseconds until the page is parsed, and until its script has run; None without one."""
    browser = next((path for path in map(shutil.which, BROWSERS) if path), None)
    if browser is None:
        return None
    policy = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
    with tempfile.TemporaryDirectory(prefix="crowdlogic-speed-", ignore_cleanup_errors=True) as home:
        file = Path(home) / "page.html"
        # The measuring script comes last, so that it runs after that of the page; the security policy would block it.
        file.write_text(policy.sub("", page).replace("</body>", f"<script>{LOOKING}</script></body>"), encoding="utf-8")
        sandbox = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        options = ["--headless", "--disable-gpu", "--no-first-run", "--timeout=60000", "--dump-dom"]
        command = [browser, *options, *sandbox, f"--user-data-dir={home}/profile", file.as_uri()]
        done = subprocess.run(command, capture_output=True, timeout=300, check=False)
    found = re.search(rb"<title>usable (\d+) parsed (\d+)</title>", done.stdout)
    return None if found is None else {"usable": float(found[1]), "parsed": float(found[2])}


def main() -> None:
    """Compute the report, its page and its JSON; open the page."""
    wanted = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    wanted.add_argument("--items", type=int, default=100_000)
    wanted.add_argument("--labels", type=int, default=500_000)
    wanted.add_argument("--annotators", type=int, default=1000)
    wanted.add_argument("--benchmark", help="use a data set in CROWDLOGIC_DATA instead")
    given = wanted.parse_args()
    load_pages()  # do not measure imports
    made = (
        load_inputs(given.benchmark)
        if given.benchmark
        else simulate_inputs(given.items, given.labels, given.annotators)
    )
    report, findings = with_seconds(lambda: make_report(made, title="speed", made_at="2026-01-01T00:00:00+00:00"))
    text, as_data = with_seconds(lambda: to_json(report))
    page, drawing = with_seconds(lambda: to_html(report))
    print(
        f"{len(made.labels.items):,} items, {made.labels.n_labels:,} labels, {len(made.labels.annotators):,} annotators"
    )
    print(f"findings {findings:6.2f} s of processor time")
    print(f"json     {as_data:6.2f} s, {len(text.encode()) / 1e6:.2f} MB")
    print(f"page     {drawing:6.2f} s, {len(page.encode()) / 1e6:.2f} MB")
    opened = usable_after(page)
    if opened is None:
        print("browser: there is no Chromium to open the page with")
    else:
        print(f"browser  parsed after {opened['parsed']:.0f} ms, usable after {opened['usable']:.0f} ms")


if __name__ == "__main__":
    main()
