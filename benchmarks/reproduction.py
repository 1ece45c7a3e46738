"""Write the tables of docs/evidence/reproduction.md from the runs in benchmarks/results/learning.

crowdlogic reproduce sentiment -o benchmarks/results/learning      # hours; finished runs are not run again
crowdlogic reproduce ner -o benchmarks/results/learning
python -m benchmarks.reproduction                                  # seconds
"""

from __future__ import annotations

from pathlib import Path

from crowdlogic.extensions.paper.published import NER, SENTIMENT
from crowdlogic.extensions.paper.reproduction import build_tables, write_results
from crowdlogic.extensions.paper.results import FinishedRuns, fill_section, read_runs
from crowdlogic.extensions.paper.tables import (
    ablation_table,
    patience_table,
    reliability_table,
    significance_table,
    time_table,
)

RESULTS = Path("benchmarks/results/learning")
PAGE = Path("docs/evidence/reproduction.md")
TASKS = (SENTIMENT, NER)


def render_page(page: str, runs: FinishedRuns) -> str:
    """Return the page with every table filled in."""
    for task in TASKS:
        tables = build_tables(runs, task)
        for name in ("methods", "order", "samples", "sensitivity"):
            page = fill_section(page, f"{task} {name}", tables[name])
    of_both_tasks = {
        "ablations": ablation_table(runs),
        "tests": significance_table(runs),
        "annotators": reliability_table(runs, TASKS),
        "time": time_table(runs, TASKS),
        "patience": patience_table(runs, NER, "cl mw"),
    }
    for name, table in of_both_tasks.items():
        page = fill_section(page, name, table)
    return page


def main() -> None:
    """Write the lists of runs, the figures and the page."""
    for task in TASKS:
        write_results(RESULTS, task)
    PAGE.write_text(render_page(PAGE.read_text(encoding="utf-8"), read_runs(RESULTS)), encoding="utf-8")


if __name__ == "__main__":
    main()
