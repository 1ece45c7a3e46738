"""Measure the calibration of confidences on public data sets and simulated crowds.

    python -m benchmarks.calibration [--fresh]

Needs CROWDLOGIC_DATA. The tables are printed and written into docs/evidence/confidence.md. Slow figures are kept in
benchmarks/results/calibration.json, so an interrupted benchmark continues where it stopped.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.calibration.annotators import reliability_table
from benchmarks.calibration.cost import measure_cost
from benchmarks.calibration.default_method import simulated_table, thinned_table, whole_sets_table
from benchmarks.calibration.diagrams import draw
from benchmarks.calibration.known_items import known_items_table
from benchmarks.calibration.learning import learning_table
from benchmarks.calibration.left_out import check_parameters, leave_one_out, scores_table, sets_table
from benchmarks.calibration.panel import panel_paragraph
from benchmarks.calibration.sets import load_sets
from benchmarks.calibration.spans import spans_table
from benchmarks.figures_file import FiguresFile
from benchmarks.machine import describe_machine
from crowdlogic.extensions.paper.results import write_section

PAGE = Path("docs/evidence/confidence.md")
RESULTS = Path("benchmarks/results/calibration.json")


def main() -> None:
    """Measure what is missing, print the tables and write them."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--fresh", action="store_true", help="Ignore earlier figures.")
    file = FiguresFile(RESULTS, fresh=options.parse_args().fresh)
    sets = load_sets()
    left_out = leave_one_out(sets)
    draw(sets, left_out)
    sections = {
        "left out": f"{scores_table(sets, left_out)}\n\n{check_parameters(sets)}",
        "sets": sets_table(sets, left_out),
        "panel": panel_paragraph(),
        "whole sets": whole_sets_table(sets, file),
        "simulated": simulated_table(file),
        "thinned": thinned_table(sets, file),
        "known items": known_items_table(sets, left_out, file),
        "learning": learning_table(file),
        "annotators": reliability_table(sets, file),
        "spans": spans_table(file),
        "cost": "\n".join(f"- {name}: {value}" for name, value in file.get("cost", measure_cost).items()),
    }
    for marker, text in sections.items():
        print(f"\n## {marker}\n\n{text}", flush=True)
        write_section(PAGE, f"calibration {marker}", f"{text}\n\nMeasured {describe_machine()}.")


if __name__ == "__main__":
    main()
