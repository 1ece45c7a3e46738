"""The tables of docs/reproduction.md, from the files that `crowdlogic reproduce` keeps in benchmarks/results/learning.

crowdlogic reproduce sentiment -o benchmarks/results/learning      # hours; what is done is not done again
crowdlogic reproduce ner -o benchmarks/results/learning
python -m benchmarks.reproduction                                  # a second
"""

from __future__ import annotations

from pathlib import Path

from crowdlogic.experiments.markdown import filled
from crowdlogic.experiments.paper import NER, SENTIMENT
from crowdlogic.experiments.reproduce import parts_of, write_results
from crowdlogic.experiments.studies import patience_table, reliability_table, time_table
from crowdlogic.experiments.tables import ablation_table, against_aggnet

RESULTS = Path("benchmarks/results/learning")
PAGE = Path("docs/reproduction.md")
TASKS = (SENTIMENT, NER)


def rendered(page: str, results: Path) -> str:
    """The page with every table in its place."""
    for task in TASKS:
        parts = parts_of(results, task)
        for name in ("methods", "order", "samples", "sensitivity"):
            page = filled(page, f"{task} {name}", parts[name])
    both = {
        "ablations": ablation_table(results),
        "tests": against_aggnet(results),
        "annotators": reliability_table(results, TASKS),
        "time": time_table(results, TASKS),
        "patience": patience_table(results, NER, "cl mw"),
    }
    for name, table in both.items():
        page = filled(page, name, table)
    return page


def main() -> None:
    """Write the lists of runs, the figures and the page."""
    for task in TASKS:
        write_results(RESULTS, task)
    PAGE.write_text(rendered(PAGE.read_text(encoding="utf-8"), RESULTS), encoding="utf-8")


if __name__ == "__main__":
    main()
