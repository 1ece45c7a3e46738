"""Tables from files of made-up runs: every figure worked out by hand."""

import json

import pytest
from scipy import stats

from crowdlogic.errors import FormatError
from crowdlogic.experiments.jobs import Job, keep
from crowdlogic.experiments.markdown import filled, markdown
from crowdlogic.experiments.studies import (
    correlation,
    file_table,
    patience_table,
    reliability_table,
    sample_table,
    time_table,
)
from crowdlogic.experiments.tables import ablation_table, against_aggnet, order_table, results_table


def put(folder, task, row, *scores, **more):
    """Runs of a row: (student, teacher, inference) of each seed, in percent."""
    names = ("precision", "recall", "f1", "strict f1") if "ner" in task else ("accuracy",)
    for seed, (student, teacher, inference) in enumerate(scores):
        parts = {"student": student, "teacher": teacher, "inference": inference}
        found = {part: dict.fromkeys(names, value / 100) for part, value in parts.items() if value is not None}
        history = [{"scores": {"inference": (inference + rise) / 100}} for rise in (0, 1)] if student else []
        result = {"task": task, "row": row, "seed": seed, "seconds": 60.0, "chosen": 1, "scores": found}
        keep(Job(task, row, seed), result | {"history": history} | more, folder)


def cells(table, name):
    """The cells of a line of a table."""
    line = next(line for line in table.splitlines() if f"| {name}" in line)
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_a_line_has_mean_interval_deviation_and_the_papers_figure(tmp_path):
    put(tmp_path, "sentiment", "aggnet", (78, 78, 91), (80, 80, 92), (79, 79, 93))

    line = cells(results_table(tmp_path, "sentiment"), "AggNet")

    half = stats.t.ppf(0.975, 2) * 1.0 / 3**0.5
    assert line[:3] == ["one-stage", "AggNet", "3"]
    assert line[3] == f"79.00 ± {half:.2f} (1.00) / 78.47"
    assert line[4] == f"92.00 ± {half:.2f} (1.00) / 91.63"
    assert line[5].startswith("85.50 ±")
    assert line[5].endswith("/ 85.05")
    assert line[6].startswith("93.00")  # the oracle's epoch is a point better
    assert line[7] == "60.0"


def test_the_vote_of_a_two_stage_method_is_that_of_its_own_row(tmp_path):
    put(tmp_path, "sentiment", "majority", (78, 78, 50))
    put(tmp_path, "sentiment", "truth majority", (None, None, 88.6))

    line = cells(results_table(tmp_path, "sentiment"), "MV-Classifier")

    assert line[4] == "88.60 / 88.58"
    assert line[5] == "83.30 / 83.33"


def test_what_was_not_run_is_a_dash_beside_the_papers_figure(tmp_path):
    table = results_table(tmp_path, "ner")

    assert cells(table, "CRF-MA (quoted)")[3:6] == ["- / 49.40", "- / 85.60", "- / 62.60"]
    assert cells(table, "DL-DN (quoted)")[6:9] == ["", "", ""]


def test_the_ablation_averages_four_columns(tmp_path):
    put(tmp_path, "sentiment", "majority rule", (70, 71, 80), (72, 73, 82))
    put(tmp_path, "ner", "majority rule", (50, 51, 60))

    line = cells(ablation_table(tmp_path), "MV-Rule")

    assert line[1] == "2/1"
    assert line[6] == f"{(71 + 81 + 50 + 60) / 4:.2f} / 69.17"


def test_the_test_against_aggnet_is_paired_and_one_sided(tmp_path):
    own, other = [(80, 81, 92), (79, 82, 93), (82, 83, 94)], [(78, 78, 91), (78.5, 79, 91), (79, 80, 90)]
    put(tmp_path, "sentiment", "logic-lncl", *own)
    put(tmp_path, "sentiment", "aggnet", *other, (99, 99, 99))

    line = cells(against_aggnet(tmp_path, ("sentiment",)), "sentiment | teacher")

    wanted = stats.ttest_rel([81, 82, 83], [78, 78.5, 79], alternative="greater")
    assert line[2] == "3"
    assert line[4] == f"{wanted.statistic:.2f}"
    assert line[5] == f"{wanted.pvalue:.2g}"
    assert line[6] == "t = 5.7, p < 0.01"


def test_only_clear_differences_that_are_turned_round_are_listed(tmp_path):
    put(tmp_path, "ner", "aggnet", (70, 70, 70))  # the paper: 60.09
    put(tmp_path, "ner", "logic-lncl", (69, 71, 75))  # 62.69 and 64.06
    put(tmp_path, "ner", "cl vw", (71, 71, 69))  # 59.32: less than a point below AggNet

    table = order_table(tmp_path, "ner")

    assert "| prediction | Logic-LNCL-student | AggNet | +2.60 | -1.00 |" in table
    assert "| AggNet | CL (VW, 5) |" not in table
    assert "teacher | AggNet" not in table


def test_an_order_that_agrees_is_said_in_words(tmp_path):
    put(tmp_path, "sentiment", "aggnet", (70, 70, 91))
    put(tmp_path, "sentiment", "logic-lncl", (71, 71, 92))

    assert "order is the same" in order_table(tmp_path, "sentiment")


def test_fewer_samples_stand_beside_the_whole(tmp_path):
    put(tmp_path, "ner", "logic-lncl", (72, 73, 80))
    put(tmp_path, "ner", "logic-lncl, 4900 samples", (70, 71, 78))
    put(tmp_path, "ner", "aggnet, 4900 samples", (68, 68, 75))

    table = sample_table(tmp_path, "ner")

    assert "| 4,900 | 1/1 | 70.00 | 71.00 | 78.00 / 78.58 | 68.00 | 75.00 |" in table
    assert "| 5,985 | 1/0 | 72.00 | 73.00 | 80.00 |  |  |" in table


def test_a_row_without_patience_stands_beside_the_row(tmp_path):
    put(tmp_path, "ner", "cl mw", (68, 68, 73))
    put(tmp_path, "ner", "cl mw, all epochs", (70, 70, 76))

    table = patience_table(tmp_path, "ner", "cl mw")

    assert "| patience 5 | 1 | 1.0 | 68.00 | 73.00 |" in table
    assert "| all epochs | 1 | 1.0 | 70.00 | 76.00 |" in table


def test_annotators_with_few_labels_are_left_out_of_the_correlation(tmp_path):
    pairs = [(10, 0.5, 0.5), (20, 0.7, 0.8), (9, 0.9, 0.9), (5, 0.1, 1.0), (30, None, 0.4)]
    each = [{"name": "w", "labels": n, "estimated": a, "real": b} for n, a, b in pairs]
    put(tmp_path, "sentiment", "annotators", (1, 1, 1), annotators={"each": each})

    table = reliability_table(tmp_path, ("sentiment",))

    assert "| sentiment | 1 | 3 | 0.961" in table
    assert correlation(each[:2]) == pytest.approx(1.0)


def test_the_time_of_one_seed_is_the_sum_of_its_rows(tmp_path):
    put(tmp_path, "sentiment", "aggnet", (1, 1, 1), (1, 1, 1))
    put(tmp_path, "sentiment", "gold", (1, 1, 1))

    assert "| sentiment | 2 | 2.0 |" in time_table(tmp_path, ("sentiment",))


def test_every_file_is_listed_with_its_hash(tmp_path):
    put(tmp_path, "ner", "aggnet", (70, 71, 72), (73, 74, 75))

    first, second = file_table(tmp_path, "ner")
    again = file_table(tmp_path, "ner")
    path = Job("ner", "aggnet", 1).path(tmp_path)
    path.write_text(json.dumps(json.loads(path.read_text()) | {"seconds": 61}))
    changed = file_table(tmp_path, "ner")

    assert (first["seed"], second["student f1"], first["row"]) == (0, 0.73, "aggnet")
    assert [first, second] == again
    assert (changed[0]["sha256"] == first["sha256"], changed[1]["sha256"] == second["sha256"]) == (True, False)


def test_a_page_is_filled_at_its_marks():
    page = "a\n<!-- t -->\nold\n<!-- end t -->\nb"

    assert filled(page, "t", "new") == "a\n<!-- t -->\n\nnew\n\n<!-- end t -->\nb"
    with pytest.raises(FormatError, match="no place for 'u'"):
        filled(page, "u", "new")


def test_a_table_in_markdown():
    assert markdown(["a", "b"], [(1, None)]) == "| a | b |\n|---|---|\n| 1 |  |"
