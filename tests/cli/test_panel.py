"""`crowdlogic panel` as a user would call it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.cli.conftest import Result
from tests.confidence.planted_crowds import judges, with_noise

import crowdlogic
from crowdlogic.errors import DataError, OptionError

Run = Callable[..., Result]


def write_panel(table: np.ndarray, truth: np.ndarray, *, gold: int, names: list[str] | None = None) -> None:
    """labels.csv of a panel, and gold.csv of its first items."""
    names = names or [f"judge{j}" for j in range(table.shape[1])]
    rows = [f"i{i},{names[j]},{label:g}" for (i, j), label in np.ndenumerate(table)]
    Path("labels.csv").write_text("\n".join(["item,annotator,label", *rows]) + "\n")
    known = [f"i{i},{truth[i]}" for i in range(gold)]
    Path("gold.csv").write_text("\n".join(["item,label", *known]) + "\n")


def test_a_panel_with_copies_and_gold(run: Run) -> None:
    table, truth = judges(0, skills=[0.6, 0.65, 0.7, 0.55, 0.8], items=500)
    table = np.column_stack([table, with_noise(table[:, 0], 0.05, 1), table[:, 0]])
    write_panel(table, truth, gold=100)

    done = run("panel", "labels.csv", "--gold", "gold.csv", "-o", "answers.csv")

    assert done.code == 0
    assert "7 judges, worth about 5.0 votes." in done.err
    assert "judge0, judge5 and judge6 are near-copies" in done.err
    assert "Of the 100 gold items, the panel answers" in done.err
    assert "judging by 100 items labelled at random" in done.err
    assert len(Path("answers.csv").read_text().splitlines()) == 501


def test_the_figures_are_true_ones(run: Run) -> None:
    table, truth = judges(1, skills=[0.7, 0.75, 0.8, 0.6], items=600)
    write_panel(table, truth, gold=120)

    figures = json.loads(run("panel", "labels.csv", "--gold", "gold.csv", "--json", "-o", "answers.csv").out)

    answers = [int(row.split(",")[1]) for row in Path("answers.csv").read_text().splitlines()[1:]]
    wrong = np.count_nonzero(np.array(answers)[120:] != truth[120:])
    assert figures["mistakes"]["low"] <= wrong <= figures["mistakes"]["high"]
    assert figures["judges"][2]["right_on_gold"] == np.count_nonzero(table[:120, 2] == truth[:120])
    assert max(figures["judges"], key=lambda judge: judge["reliability"])["name"] == "judge2"


def test_finer_scores_are_cut_into_the_classes_of_the_gold(run: Run) -> None:
    rng = np.random.default_rng(2)
    latent = rng.normal(size=400)
    scores = np.clip(np.round(4.5 + 2 * (latent[:, None] + 0.6 * rng.normal(size=(400, 4))), 1), 0, 9)
    write_panel(scores, (latent > 0).astype(int), gold=100)

    figures = json.loads(run("panel", "labels.csv", "--gold", "gold.csv", "--json").out)

    assert figures["gold"]["mistakes"] / 100 < 0.25


def test_judges_of_one_group_count_once(run: Run) -> None:
    table, truth = judges(3, skills=[0.7] * 6, items=200)
    write_panel(table, truth, gold=0)
    Path("groups.csv").write_text("annotator,group\njudge0,a\njudge1,a\njudge2,a\n")

    figures = json.loads(run("panel", "labels.csv", "--groups", "groups.csv", "--json").out)

    assert figures["effective_votes"] == pytest.approx(4.0, abs=0.3)


@pytest.mark.parametrize(
    ("gold", "said"),
    [
        ("item,label\nnobody,1\n", "nobody labelled item 'nobody'"),
        ("item,label\ni0,1\n", "too few to learn from"),
        ("item,label\n" + "".join(f"i{i},1\n" for i in range(30)), "of one class"),
    ],
)
def test_gold_that_does_not_help_is_explained(run: Run, gold: str, said: str) -> None:
    table, truth = judges(4, skills=[0.7, 0.8, 0.6], items=100)
    write_panel(table, truth, gold=0)
    Path("gold.csv").write_text(gold)

    assert said in run("panel", "labels.csv", "--gold", "gold.csv").err


def test_odd_judges_are_named(run: Run) -> None:
    table, truth = judges(5, skills=[0.7, 0.8, 0.6, 0.7], items=100)
    table[:, 3] = 1
    write_panel(table, truth, gold=40, names=["gpt", "GPT", "llama", "constant"])

    done = run("panel", "labels.csv", "--gold", "gold.csv")

    assert "differ only in case or spaces; they are treated as different annotators: gpt, GPT" in done.err
    assert "one answer only" in " ".join(done.out.split())


def test_gold_made_by_a_judge_is_suspicious(run: Run) -> None:
    table, truth = judges(6, skills=[0.7, 0.8, 0.6], items=100)
    write_panel(table, table[:, 1], gold=40)

    done = run("panel", "labels.csv", "--gold", "gold.csv")
    other = run("aggregate", "labels.csv", "--anchors", "gold.csv", "-o", "truth.csv")

    assert "the gold equals the labels of judge1 on every item" in done.err
    assert "the gold equals the labels of judge1 on every item" in other.err
    assert len(truth) == 100


def test_a_stray_grade_and_groups_of_nobody_are_refused(run: Run) -> None:
    table, truth = judges(7, skills=[0.7, 0.8, 0.6], items=200)
    table[3, 1] = 110
    write_panel(table, truth, gold=0)
    Path("groups.csv").write_text("annotator,group\njudge9,a\n")

    stray = run("panel", "labels.csv")
    table[3, 1] = 1
    write_panel(table, truth, gold=0)
    nobody = run("panel", "labels.csv", "--groups", "groups.csv")

    assert (stray.code, nobody.code) == (2, 2)
    assert "'judge1' gives item 'i3' the grade 110, but nearly all grades are in the range 0 to 2" in stray.err
    assert "expected annotators of the labels (judge0, judge1, judge2), found 'judge9', ..." in nobody.err


def test_judges_are_tested_against_people(run: Run) -> None:
    table, truth = judges(5, skills=[0.8, 0.8, 0.8, 0.85, 0.35], items=200)
    write_panel(table[:, 3:], truth, gold=0, names=["good", "poor"])
    rows = [f"i{i},person{j},{label}" for (i, j), label in np.ndenumerate(table[:, :3])]
    Path("people.csv").write_text("\n".join(["item,annotator,label", *rows]) + "\n")
    Path("others.csv").write_text("item,annotator,label\nx,a,1\n")

    done = run("panel", "labels.csv", "--people", "people.csv", "--json")
    wrong = run("panel", "labels.csv", "--people", "others.csv")

    assert [judge["winning_rate"] for judge in json.loads(done.out)["judges"]] == [1.0, 0.0]
    assert "a person may be replaced by: good." in done.err
    assert wrong.code == 2
    assert "others.csv: no item is among those of the judges" in wrong.err


def score(answers: str, truth: np.ndarray, *, known: int) -> float:
    """The share of right answers among the items whose truth was not given."""
    rows = [row.split(",")[:2] for row in Path(answers).read_text().splitlines()[1:]]
    return float(np.mean([int(label) == truth[int(item[1:])] for item, label in rows if int(item[1:]) >= known]))


def test_every_command_learns_the_same_from_gold_and_groups(run: Run) -> None:
    table, truth = judges(8, skills=[0.45, 0.5, 0.8, 0.55, 0.6, 0.5], items=400)
    write_panel(table, truth, gold=60)
    known = [f"i{i},{truth[i]}" for i in range(400)]
    Path("all.csv").write_text("\n".join(["item,label", *known]) + "\n")
    Path("groups.csv").write_text("annotator,group\njudge0,a\njudge1,a\n")
    given = ("--groups", "groups.csv", "--ordered")

    run("panel", "labels.csv", "--gold", "gold.csv", *given, "-o", "panel.csv")
    run("aggregate", "labels.csv", "--anchors", "gold.csv", *given, "-o", "truth.csv")
    run("aggregate", "labels.csv", "--anchors", "gold.csv", "-o", "alone.csv")
    compared = run(
        "aggregate", "labels.csv", "--anchors", "gold.csv", *given, "--methods", "pool", "--gold", "all.csv", "--json"
    )
    page = run("report", "labels.csv", "--anchors", "gold.csv", *given)

    assert Path("panel.csv").read_text() == Path("truth.csv").read_text()
    assert Path("truth.csv").read_text() != Path("alone.csv").read_text()
    right = score("truth.csv", truth, known=0)
    assert json.loads(compared.out)["methods"]["pool"]["accuracy"] == pytest.approx(right)
    assert page.code == 0


def test_the_python_function_takes_groups_and_order(run: Run) -> None:
    table, truth = judges(8, skills=[0.45, 0.5, 0.8, 0.55, 0.6, 0.5], items=400)
    write_panel(table, truth, gold=60)
    Path("groups.csv").write_text("annotator,group\njudge0,a\njudge1,a\n")
    anchors = {f"i{i}": int(truth[i]) for i in range(60)}

    estimate = crowdlogic.aggregate("labels.csv", anchors=anchors, groups={"judge0": "a", "judge1": "a"}, ordered=True)
    run("aggregate", "labels.csv", "--anchors", "gold.csv", "--groups", "groups.csv", "--ordered", "-o", "truth.csv")

    written = [float(row.split(",")[2]) for row in Path("truth.csv").read_text().splitlines()[1:]]
    assert written == pytest.approx(estimate.confidence.tolist(), abs=1e-5)
    with pytest.raises(DataError, match="groups: no annotator is called 'judge9'"):
        crowdlogic.aggregate("labels.csv", groups={"judge0": "a", "judge9": "a"})
    with pytest.raises(OptionError, match="only supported by the method pool for single items, not by dawid-skene"):
        crowdlogic.aggregate("labels.csv", "dawid-skene", groups={"judge0": "a"})


def test_groups_and_orders_that_cannot_be_used_are_refused(run: Run) -> None:
    table, truth = judges(9, skills=[0.7, 0.8, 0.6], items=100)
    write_panel(table, truth, gold=30)
    names = np.array(["poor", "fair", "good"])
    rows = [f"i{i},judge{j},{names[label]}" for (i, j), label in np.ndenumerate(table)]
    Path("words.csv").write_text("\n".join(["item,annotator,label", *rows]) + "\n")
    Path("two.csv").write_text("annotator,group\njudge0,a\njudge0,b\n")

    two = run("panel", "labels.csv", "--groups", "two.csv")
    unknown = run("aggregate", "words.csv", "--ordered", "-o", "truth.csv")
    listed = run("aggregate", "words.csv", "--ordered", "--classes", "poor,fair,good", "-o", "truth.csv")

    assert (two.code, unknown.code, listed.code) == (2, 2, 0)
    assert "two.csv: annotator 'judge0' is in several groups" in two.err
    assert "--ordered: the order of the classes" in unknown.err
    assert "--classes NAMES" in unknown.err


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("model", "some-model", "column 'model' says that a model made this gold"),
        ("kind", "llm", "column 'kind' says that a model made this gold"),
        ("annotator", "judge1", "the gold is by judge1, whose labels it judges"),
    ],
)
def test_gold_made_by_a_model_is_pointed_out(run: Run, column: str, value: str, said: str) -> None:
    table, truth = judges(10, skills=[0.7, 0.8, 0.6], items=100)
    write_panel(table, truth, gold=0)
    rows = [f"i{i},{truth[i]},{value}" for i in range(30)]
    Path("gold.csv").write_text("\n".join([f"item,label,{column}", *rows]) + "\n")

    panel = run("panel", "labels.csv", "--gold", "gold.csv")
    answers = run("aggregate", "labels.csv", "--anchors", "gold.csv", "-o", "truth.csv")

    assert said in panel.err
    assert said in answers.err


def test_two_versions_of_a_judge_are_compared(run: Run) -> None:
    table, truth = judges(11, skills=[0.7, 0.8, 0.6], items=200)
    newer = table[:, 0].copy()
    newer[:40] = truth[:40]  # the new version is right on the first 40 items, and otherwise the same
    write_panel(np.column_stack([table, newer]), truth, gold=60, names=["v1", "b", "c", "v2"])
    wrong = table[:40, 0] != truth[:40]

    done = run("panel", "labels.csv", "--gold", "gold.csv", "--versions", "v1,v2", "--json")
    unknown = run("panel", "labels.csv", "--versions", "v1,v3")
    single = run("panel", "labels.csv", "--versions", "v1")

    change = json.loads(done.out)["change"]
    assert (change["common"], change["changed"], change["gold"]) == (200, wrong.sum(), 60)
    assert (change["better"], change["worse"]) == (wrong.sum(), 0)
    assert change["p_value"] == pytest.approx(2.0 ** (1 - wrong.sum()))  # all changes go one way
    assert "From v1 to v2" in done.err
    assert (unknown.code, single.code) == (2, 2)
    assert "No annotator is called 'v3'" in unknown.err
    assert "--versions takes two judges" in single.err
