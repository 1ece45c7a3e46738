"""docs/evidence/encoder.md says what the committed runs of the encoder say."""

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch is not installed: pip install crowdlogic[torch]")

from benchmarks.encoder_scores import PAGE, RESULTS, encoder_table, render_page, rule_table

from crowdlogic.extensions.paper.results import FinishedRuns, read_runs

ROOT = Path(__file__).parents[2]


def make_run(row: str, seed: int, **scores: float) -> dict[str, object]:
    scored = {name.replace("_", " "): {"accuracy": score} for name, score in scores.items()}
    return {"task": "sentiment-encoder", "row": row, "seed": seed, "processor_seconds": 100.0, "scores": scored}


RUNS = FinishedRuns(
    {
        "sentiment-encoder": [
            make_run("logic-lncl", 0, student=0.8, teacher=0.81, inference=0.9, inference_before_the_rule=0.9),
            make_run("logic-lncl", 1, student=0.8, teacher=0.83, inference=0.9, inference_before_the_rule=0.9),
            make_run("without rules", 1, student=0.79, teacher=0.79, inference=0.9, inference_before_the_rule=0.9),
        ]
    }
)


def test_every_table_is_what_the_committed_runs_give() -> None:
    page = (ROOT / PAGE).read_text(encoding="utf-8")

    assert render_page(page, read_runs(ROOT / RESULTS)) == page


def test_a_line_for_each_method_and_classifier_with_runs() -> None:
    lines = encoder_table(RUNS).splitlines()

    assert len(lines) == 2 + 2
    assert lines[2].startswith("| Logic-LNCL | encoder | 2 | 80.00 ± 0.00 (0.00) | 82.00 ± ")
    assert lines[2].endswith("| 100 |")
    assert lines[3].startswith("| AggNet | encoder | 1 | 79.00 |")


def test_without_runs_nothing_is_claimed() -> None:
    assert rule_table(FinishedRuns({})) == "No run of the encoder is finished yet."
    assert len(encoder_table(FinishedRuns({})).splitlines()) == 2


def test_the_rule_is_compared_within_a_run_and_by_seed() -> None:
    lines = rule_table(RUNS).splitlines()[2:]

    assert lines[0].startswith("| teacher | student of the same run | 2 | +2.00 ± ")
    assert lines[3] == "| teacher | student of AggNet | 1 | +4.00 |  |  |"
