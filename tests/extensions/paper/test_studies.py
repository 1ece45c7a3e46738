"""Studies of made-up runs: every figure worked out by hand."""

import pytest
from tests.extensions.paper.conftest import finished, make_runs

from crowdlogic.extensions.paper.results import run_digest
from crowdlogic.extensions.paper.tables import (
    FEW_LABELS,
    patience_table,
    reliability_correlation,
    reliability_table,
    run_list,
    sample_table,
    sensitivity_table,
    time_table,
)


def test_fewer_samples_stand_beside_the_whole():
    runs = finished(
        make_runs("ner", "logic-lncl", (72, 73, 80)),
        make_runs("ner", "logic-lncl, 4900 samples", (70, 71, 78)),
        make_runs("ner", "aggnet, 4900 samples", (68, 68, 75)),
    )

    table = sample_table(runs, "ner")

    assert "| 4,900 | 1/1 | 70.00 | 71.00 | 78.00 / 78.58 | 68.00 | 75.00 |" in table
    assert "| 5,985 | 1/0 | 72.00 | 73.00 | 80.00 |  |  |" in table


def test_a_row_without_patience_stands_beside_the_row():
    runs = finished(
        make_runs("ner", "cl mw", (68, 68, 73)),
        make_runs("ner", "cl mw, all epochs", (70, 70, 76)),
    )

    table = patience_table(runs, "ner", "cl mw")

    assert "| patience 5 | 1 | 1.0 | 68.00 | 73.00 |" in table
    assert "| all epochs | 1 | 1.0 | 70.00 | 76.00 |" in table


def test_annotators_with_few_labels_are_left_out_of_the_correlation():
    pairs = [(10, 0.5, 0.5), (20, 0.7, 0.8), (9, 0.9, 0.9), (5, 0.1, 1.0), (30, None, 0.4)]
    each = [{"name": "w", "labels": n, "estimated": a, "real": b} for n, a, b in pairs]
    runs = finished(make_runs("sentiment", "annotators", (1, 1, 1), annotators={"each": each}))

    table = reliability_table(runs, ("sentiment",))

    assert "| sentiment | 1 | 3 | 0.961" in table
    assert reliability_correlation(each[:2]) == pytest.approx(1.0)


def test_the_time_of_one_seed_is_the_sum_of_its_rows():
    runs = finished(
        make_runs("sentiment", "aggnet", (1, 1, 1), (1, 1, 1)),
        make_runs("sentiment", "gold", (1, 1, 1)),
    )

    assert "| sentiment | 2 | 2.0 |" in time_table(runs, ("sentiment",))


def test_annotators_with_five_labels_are_left_out_as_in_the_paper():
    assert FEW_LABELS == 5


def test_other_values_of_c_and_k_stand_below_those_of_table_2():
    runs = [
        run | {"scores": run["scores"] | {"dev student": {"accuracy": 0.7}, "dev teacher": {"accuracy": 0.71}}}
        for row in ("logic-lncl", "logic-lncl, C 2", "logic-lncl, k 1 - 0.98^t")
        for run in make_runs("sentiment", row, (78, 79, 91))
    ]

    table = sensitivity_table(finished(runs), "sentiment").splitlines()

    assert table[2:] == [
        "| as in Table 2 | 1 | 70.00 | 71.00 | 91.00 |",
        "| C 2 | 1 | 70.00 | 71.00 | 91.00 |",
        "| k 1 - 0.98^t | 1 | 70.00 | 71.00 | 91.00 |",
    ]


def test_every_run_is_listed_with_its_scores_and_the_hash_of_its_line():
    runs = make_runs("ner", "aggnet", (70, 71, 72), (73, 74, 75.12345678))

    first, second = run_list(finished(runs), "ner")

    assert (first["seed"], first["row"], first["seconds"], second["student f1"]) == (0, "aggnet", 60.0, 0.73)
    assert second["inference f1"] == 0.751235
    assert [first["sha256"], second["sha256"]] == [run_digest(run) for run in runs]
