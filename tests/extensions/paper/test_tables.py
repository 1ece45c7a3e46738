"""Tables of made-up runs: every figure worked out by hand."""

from scipy import stats
from tests.extensions.paper.conftest import finished, make_runs

from crowdlogic.extensions.paper.tables import (
    ablation_table,
    format_cell,
    methods_table,
    oracle_inference,
    order_table,
    pair_by_seed,
    significance_table,
)


def cells(table, name):
    """The cells of a line of a table."""
    line = next(line for line in table.splitlines() if f"| {name}" in line)
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_a_line_has_mean_interval_deviation_and_the_papers_figure():
    runs = finished(make_runs("sentiment", "aggnet", (78, 78, 91), (80, 80, 92), (79, 79, 93)))

    line = cells(methods_table(runs, "sentiment"), "AggNet")

    half = stats.t.ppf(0.975, 2) * 1.0 / 3**0.5
    assert line[:3] == ["one-stage", "AggNet", "3"]
    assert line[3] == f"79.00 ± {half:.2f} (1.00) / 78.47"
    assert line[4] == f"92.00 ± {half:.2f} (1.00) / 91.63"
    assert line[5].startswith("85.50 ±")
    assert line[5].endswith("/ 85.05")
    assert line[6].startswith("93.00")  # the oracle's epoch is a point better
    assert line[7] == "60.0"


def test_the_vote_of_a_two_stage_method_is_that_of_its_own_row():
    runs = finished(
        make_runs("sentiment", "majority", (78, 78, 50)),
        make_runs("sentiment", "truth majority", (None, None, 88.6)),
    )

    line = cells(methods_table(runs, "sentiment"), "MV-Classifier")

    assert line[4] == "88.60 / 88.58"
    assert line[5] == "83.30 / 83.33"


def test_what_was_not_run_is_a_dash_beside_the_papers_figure():
    table = methods_table(finished(), "ner")

    assert cells(table, "CRF-MA (quoted)")[3:6] == ["- / 49.40", "- / 85.60", "- / 62.60"]
    assert cells(table, "DL-DN (quoted)")[6:9] == ["", "", ""]


def test_the_ablation_averages_four_columns():
    runs = finished(
        make_runs("sentiment", "majority rule", (70, 71, 80), (72, 73, 82)),
        make_runs("ner", "majority rule", (50, 51, 60)),
    )

    line = cells(ablation_table(runs), "MV-Rule")

    assert line[1] == "2/1"
    assert line[6] == f"{(71 + 81 + 50 + 60) / 4:.2f} / 69.17"


def test_the_test_against_aggnet_is_paired_and_one_sided():
    own, other = [(80, 81, 92), (79, 82, 93), (82, 83, 94)], [(78, 78, 91), (78.5, 79, 91), (79, 80, 90)]
    runs = finished(
        make_runs("sentiment", "logic-lncl", *own),
        make_runs("sentiment", "aggnet", *other, (99, 99, 99)),
    )

    line = cells(significance_table(runs, ("sentiment",)), "sentiment | teacher")

    wanted = stats.ttest_rel([81, 82, 83], [78, 78.5, 79], alternative="greater")
    assert line[2] == "3"
    assert line[4] == f"{wanted.statistic:.2f}"
    assert line[5] == f"{wanted.pvalue:.2g}"
    assert line[6] == "t = 5.7, p < 0.01"


def test_only_clear_differences_that_are_turned_round_are_listed():
    runs = finished(
        make_runs("ner", "aggnet", (70, 70, 70)),  # the paper: 60.09
        make_runs("ner", "logic-lncl", (69, 71, 75)),  # 62.69 and 64.06
        make_runs("ner", "cl vw", (71, 71, 69)),  # 59.32: less than a point below AggNet
    )

    table = order_table(runs, "ner")

    assert "| prediction | Logic-LNCL-student | AggNet | +2.60 | -1.00 |" in table
    assert "| AggNet | CL (VW, 5) |" not in table
    assert "teacher | AggNet" not in table


def test_an_order_that_agrees_is_said_in_words():
    runs = finished(
        make_runs("sentiment", "aggnet", (70, 70, 91)),
        make_runs("sentiment", "logic-lncl", (71, 71, 92)),
    )

    assert "have the same order here" in order_table(runs, "sentiment")


def test_a_cell_without_runs_is_a_dash_only_beside_the_papers_score():
    assert (format_cell([], 78.47), format_cell([]), format_cell([71.239])) == ("- / 78.47", "", "71.24")


def test_the_oracle_is_only_asked_where_inference_is_learnt():
    learnt = make_runs("sentiment", "aggnet", (78, 78, 91))
    fixed = [run | {"history": 2 * [{"scores": {"inference": 0.9}}]} for run in learnt]

    assert oracle_inference(learnt) == [92.0]
    assert oracle_inference(fixed) == []


def test_runs_are_paired_by_their_seeds():
    first, second = make_runs("ner", "a", *3 * [(1, 1, 1)]), make_runs("ner", "b", *4 * [(2, 2, 2)])

    own, other = pair_by_seed(first[1:], second[::-1])

    assert [run["seed"] for run in own] == [run["seed"] for run in other] == [1, 2]
