from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from tests.cli.conftest import Result

Run = Callable[..., Result]
CSV = "item,annotator,label\nu,a,x\nu,b,x\nu,c,y\nv,a,y\nv,b,x\n"


def test_aggregate_writes_the_stable_table_and_says_one_line(run: Run) -> None:
    Path("l.csv").write_text(CSV)

    done = run("aggregate", "l.csv", "-m", "majority", "--ties", "first", "-o", "o.csv")

    assert (done.code, done.out, done.err) == (0, "", "majority: 2 items, 3 annotators, 1 ties -> o.csv\n")
    assert Path("o.csv").read_text().splitlines() == [
        "item,label,confidence,p_x,p_y",
        "u,x,0.6666666666666666,0.6666666666666666,0.3333333333333333",
        "v,x,0.5,0.5,0.5",
    ]


def test_standard_input_and_output_make_a_pipe(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(CSV.encode())))

    done = run("aggregate", "-", "-o", "-", "--ties", "order", "--order", "y,x")

    assert done.code == 0
    assert [line.split(",")[:2] for line in done.out.splitlines()] == [["item", "label"], ["u", "x"], ["v", "y"]]


def test_random_ties_follow_the_seed(run: Run) -> None:
    Path("l.csv").write_text("item,annotator,label\n" + "".join(f"u{i},a,x\nu{i},b,y\n" for i in range(40)))

    answers = []
    for seed in (1, 1, 2):
        run("aggregate", "l.csv", "-m", "majority", "--seed", seed, "-o", "o.csv")
        answers.append(pl.read_csv("o.csv")["label"].to_list())

    assert answers[0] == answers[1] != answers[2]
    assert {"x", "y"} == set(answers[0])


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["aggregate", "no.csv", "-o", "o.csv"], "crowdlogic: no.csv: no such file. Beside it are: bad.csv, l.csv.\n"),
        (
            ["aggregate", "bad.csv", "-o", "o.csv"],
            "crowdlogic: bad.csv, row 3: 2 fields where the header has 3. Correct the row; a field that holds ',' or a line break must be quoted.\n",
        ),
        (
            ["aggregate", "l.csv", "-o", "no/o.csv"],
            "crowdlogic: no/o.csv: the folder no does not exist. Make it first.\n",
        ),
        (
            ["aggregate", "l.csv", "-o", "o.xyz"],
            "crowdlogic: o.xyz: the suffix '.xyz' says no format. Use .csv, .tsv, .tab, .parquet, .pq, .jsonl, .ndjson, .conll, .bio, .iob, or give --format.\n",
        ),
        (
            ["aggregate", "l.csv", "-o", "o.csv", "--classes", "x,z"],
            "crowdlogic: l.csv, row 4: the label 'y' is not among the classes x, z. Correct the label, or add it to the classes. (1 more such row: 5)\n",
        ),
        (
            ["aggregate", "l.csv", "-o", "o.csv", "--ties", "order"],
            "crowdlogic: ties = order: no order does not name each class once. The classes are x, y.\n",
        ),
        (
            ["aggregate", "l.csv", "-o", "o.csv", "--column", "item"],
            "crowdlogic: --column 'item': write role=name, such as item=task_number.\n",
        ),
        (
            ["evaluate", "l.csv", "l.csv"],
            "crowdlogic: l.csv, row 3: item 'u' appears again. Answers have one row per item. A file of labels must be aggregated first. (2 more such rows: 4, 6)\n",
        ),
        (["frobnicate"], "crowdlogic: No such command 'frobnicate'. See crowdlogic --help.\n"),
        (
            ["datasets", "truth/temp", "--root", "."],
            "crowdlogic: truth/temp: truth/temp/labels.csv is not in .. Get it from dirkhovy/MACE on GitHub.\n",
        ),
    ],
)
def test_bad_input_is_one_line_exit_code_2_and_nothing_written(run: Run, words: list[str], line: str) -> None:
    Path("l.csv").write_text(CSV)
    Path("bad.csv").write_text("item,annotator,label\nu,a,x\nu,b\n")

    done = run(*words)

    assert (done.code, done.out, done.err) == (2, "", line)
    assert sorted(p.name for p in Path().iterdir()) == ["bad.csv", "l.csv"]


def test_a_control_character_in_the_data_does_not_reach_the_terminal(run: Run) -> None:
    Path("l.csv").write_text('item,annotator,label\n"\x1b[31mred",a,x\n"\x1b[31mred",a,y\n')

    done = run("aggregate", "l.csv", "-o", "o.csv")

    assert done.code == 2
    assert "\x1b" not in done.err
    assert "\\x1b[31mred" in done.err


def test_dropped_and_repeated_rows_are_said(run: Run) -> None:
    Path("l.csv").write_text(CSV + "v,a,x\nw,a,\n")

    done = run("aggregate", "l.csv", "-o", "o.csv", "--duplicates", "last", "--ties", "first")

    assert done.err.splitlines() == [
        "1 of 7 rows have no label and were left out.",
        "1 rows repeat an item and annotator: the last label was taken (duplicates = last).",
        "majority: 3 items, 3 annotators, 1 without labels and so without an answer -> o.csv",
    ]


def test_evaluate_prints_one_object_for_documents(run: Run) -> None:
    Path("p.csv").write_text("item,label\nu,x\nv,y\nw,x\n")
    Path("g.csv").write_text("item,label\nw,x\nv,x\nu,x\nz,y\n")

    done = run("evaluate", "p.csv", "g.csv", "--json")

    assert done.code == 0
    figures = json.loads(done.out)
    assert figures["n"] == 4
    assert figures["accuracy"] == 0.5
    assert figures["macro_f1"] == pytest.approx((2 * 2 / (2 * 2 + 1 + 0) + 0) / 2, abs=1e-12)
    assert done.err == "1 units have gold and no answer; they count as wrong.\n"


def test_ties_count_half_when_asked(run: Run) -> None:
    Path("l.csv").write_text(CSV)
    Path("g.csv").write_text("item,label\nu,x\nv,y\n")
    run("aggregate", "l.csv", "--ties", "soft", "-o", "o.csv")

    figures = json.loads(run("evaluate", "o.csv", "g.csv", "--ties", "half", "--json").out)

    assert figures["accuracy"] == 0.75


@pytest.mark.parametrize(("scheme", "expected"), [("conll", (0.5, 0.5, 0.5)), ("strict", (1.0, 0.5, 2 / 3))])
def test_evaluate_prints_one_object_for_tags(run: Run, scheme: str, expected: tuple[float, float, float]) -> None:
    Path("p.conll").write_text("Ann B-PER\nLee O\n\nof O\nParis I-LOC\n")
    Path("g.conll").write_text("Ann B-PER\nLee O\n\nof O\nParis B-ORG\n")

    figures = json.loads(run("evaluate", "p.conll", "g.conll", "--scheme", scheme, "--json").out)

    assert (figures["precision"], figures["recall"], figures["f1"]) == pytest.approx(expected)
    assert figures["accuracy"] == 0.75


def test_tags_that_are_no_spans_are_scored_by_accuracy(run: Run) -> None:
    Path("p.conll").write_text("a DET\nb NOUN\n")
    Path("g.conll").write_text("a DET\nb VERB\n")

    figures = json.loads(run("evaluate", "p.conll", "g.conll", "--json").out)

    assert figures["accuracy"] == 0.5
    assert "f1" not in figures


@pytest.mark.parametrize("kind", ["sentiment", "ner", "labels"])
def test_a_simulation_can_be_aggregated_and_evaluated(run: Run, kind: str) -> None:
    suffix = "conll" if kind == "ner" else "csv"

    made = run("simulate", kind, "-o", "sim", "--items", 60, "--annotators", 8, "--seed", 3)
    run("aggregate", f"sim/labels.{suffix}", "-o", f"mv.{suffix}")
    figures = json.loads(run("evaluate", f"mv.{suffix}", f"sim/gold.{suffix}", "--json").out)

    assert made.code == 0
    assert "simulated" in made.err
    assert "simulated" in Path("sim/README.txt").read_text()
    assert 0.3 < figures["accuracy"] <= 1


def test_the_same_seed_simulates_the_same_files(run: Run) -> None:
    for name, seed in (("one", 5), ("two", 5), ("three", 6)):
        run("simulate", "sentiment", "-o", name, "--items", 30, "--seed", seed)

    texts = {name: (Path(name) / "labels.csv").read_bytes() for name in ("one", "two", "three")}
    assert texts["one"] == texts["two"] != texts["three"]


def test_agreement_prints_every_coefficient(run: Run) -> None:
    Path("l.csv").write_text(CSV)

    figures = json.loads(run("agreement", "l.csv", "--json", "--replicates", 50).out)

    assert set(figures) == {"observed", "alpha", "fleiss", "ac1", "cohen"}
    assert figures["observed"]["value"] == pytest.approx((1 / 3 + 0) / 2)


def test_agreement_that_is_undefined_says_why(run: Run) -> None:
    Path("l.csv").write_text("item,annotator,label\nu,a,x\n")

    done = run("agreement", "l.csv")

    assert done.code == 0
    assert "Krippendorff's alpha is undefined: no unit has two labels." in done.err


@pytest.mark.parametrize("suffix", ["tsv", "jsonl", "parquet", "csv.gz"])
def test_converted_labels_come_back_the_same(run: Run, suffix: str) -> None:
    Path("l.csv").write_text(CSV)

    run("convert", "l.csv", "-o", f"m.{suffix}")
    run("convert", f"m.{suffix}", "-o", "n.csv")

    assert Path("n.csv").read_text() == CSV


def test_converted_items_come_back_the_same(run: Run) -> None:
    Path("g.conll").write_text("Ann B-PER\nLee I-PER\n\nhi O\n")

    run("convert", "g.conll", "-o", "g.jsonl", "--items")
    run("convert", "g.jsonl", "-o", "h.conll", "--items")

    assert Path("h.conll").read_text() == "Ann B-PER\nLee I-PER\n\nhi O\n"


def test_datasets_are_listed_whether_here_or_not(run: Run) -> None:
    rows = json.loads(run("datasets", "--root", ".", "--json").out)

    assert {row["name"] for row in rows} >= {"sentiment_mturk", "ner_conll_mturk", "pico", "weak/sms", "truth/rte"}
    assert not any(row["here"] for row in rows)


def test_the_demo_shows_a_crowd_on_which_majority_vote_fails(run: Run) -> None:
    figures = json.loads(run("demo", "--json").out)

    scores = {row["method"]: row["accuracy"] for row in figures["methods"]}
    assert scores["majority"] < 0.85
    assert scores["dawid-skene"] > scores["majority"] + 0.1
    assert "simulated" in figures["simulated"]


@pytest.mark.parametrize("seed", [0, 1])
def test_the_demo_shows_what_the_classifier_and_the_rule_buy(run: Run, seed: int) -> None:
    figures = json.loads(run("demo", "--seed", seed, "--json").out)

    by = {row["method"]: row for row in figures["methods"]}
    with_rule, without = by["logic-lncl"], by["logic-lncl without rules"]
    assert by["dawid-skene"]["new"] is None
    assert figures["bought"]["classifier"] == without["accuracy"] - by["dawid-skene"]["accuracy"] > 0.02
    assert figures["bought"]["rule"] == with_rule["accuracy"] - without["accuracy"] > 0
    assert figures["bought"]["rule_on_new"] == with_rule["new"] - without["new"] > 0.02


def test_the_demo_says_in_words_what_its_table_shows(run: Run) -> None:
    done = run("demo", "--items", 300)

    lines = done.err.splitlines()
    assert "logic-lncl without rules" in done.out
    assert [line.split(":")[0] for line in lines[-5:-2]] == [
        "A model of the annotators (dawid-skene over majority)",
        "A classifier that reads the reviews beside it",
        "The rule that in 'A but B' B decides",
    ]
    assert lines[-1].endswith("-> crowdlogic-demo/report.html (report.json beside it)")


def test_the_demo_writes_its_data_and_a_run_when_asked(run: Run) -> None:
    done = run("demo", "--items", 50, "-o", "out")

    names = {p.name for p in Path("out").iterdir()}
    assert {"labels.csv", "gold.csv", "majority.csv", "contrast.rules", "run"} <= names
    said = done.err.splitlines()[-2]
    item = said.split()[-1]
    assert said == f"data, answers and a run -> out; next: crowdlogic explain out/run {item}"
    assert run("explain", "out/run", item).code == 0
    assert run("demo", "-o", "out").err == "crowdlogic: out: holds a run already. Name another folder, or remove it.\n"


@pytest.mark.data
@pytest.mark.parametrize(("scheme", "expected"), [("conll", [79.12, 58.50, 67.27]), ("strict", [81.49, 58.64, 68.20])])
def test_the_papers_majority_vote_gets_the_papers_scores(
    run: Run, data_root: Path, scheme: str, expected: list[float]
) -> None:
    ner = data_root / "ner_conll_mturk"

    figures = json.loads(
        run("evaluate", ner / "train.mv.conll", ner / "train.gold.conll", "--scheme", scheme, "--json").out
    )

    assert [round(100 * figures[name], 2) for name in ("precision", "recall", "f1")] == expected


@pytest.mark.data
def test_the_papers_tie_order_gives_the_papers_majority_vote(run: Run, data_root: Path) -> None:
    ner = data_root / "ner_conll_mturk"
    order = "I-MISC,I-ORG,B-ORG,I-PER,B-PER,I-LOC,B-LOC,B-MISC,O"

    run("aggregate", ner / "train.answers.conll.gz", "--ties", "order", "--order", order, "-o", "mv.conll")

    ours = [line for line in Path("mv.conll").read_text().splitlines() if line]
    theirs = [line for line in (ner / "train.mv.conll").read_text().splitlines() if line.strip()]
    assert ours == theirs


@pytest.mark.data
@pytest.mark.parametrize("ties", ["random", "first", "soft", "order"])
def test_sentiment_majority_vote_scores_as_published(run: Run, data_root: Path, ties: str) -> None:
    home = data_root / "sentiment_mturk"

    order = ["--order", "1,0"] if ties == "order" else []
    run("aggregate", home / "labels.csv", "--ties", ties, *order, "-o", "mv.csv")
    plain = json.loads(run("evaluate", "mv.csv", home / "gold.csv", "--json").out)["accuracy"]
    half = json.loads(run("evaluate", "mv.csv", home / "gold.csv", "--json", "--ties", "half").out)["accuracy"]

    assert 0.882 <= plain <= 0.890
    assert round(100 * half, 2) == 88.59


def test_a_file_without_any_label_gives_a_file_without_answers(run: Run) -> None:
    Path("n.csv").write_text("item,annotator,label\n1,a,\n2,b,\n")

    done = run("aggregate", "n.csv", "-o", "o.csv")

    assert done.code == 0
    assert Path("o.csv").read_text() == "item,label,confidence\n1,,\n2,,\n"


def test_tags_go_to_standard_output_in_the_layout_asked_for(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"Ann B-PER\nran O\n")))

    assert run("aggregate", "-", "--format", "conll", "-o", "-", "--to", "conll").out == "Ann B-PER\nran O\n"


def test_files_of_nothing_but_o_are_still_scored_as_spans(run: Run) -> None:
    Path("g.conll").write_text("a O\n")

    assert json.loads(run("evaluate", "g.conll", "g.conll", "--json").out)["f1"] == 0.0


@pytest.mark.parametrize(
    "words",
    [
        ["aggregate", "l.csv", "-o", "l.csv/x.csv"],
        ["simulate", "labels", "-o", "l.csv/x"],
        ["aggregate", "x" * 300 + ".csv", "-o", "o.csv"],
        ["aggregate", "l.csv", "-o", "x" * 300 + ".csv"],
    ],
)
def test_paths_that_cannot_be_are_one_line(run: Run, words: list[str]) -> None:
    Path("l.csv").write_text(CSV)

    done = run(*words)

    assert done.code == 2
    assert done.err.startswith("crowdlogic: ")
    assert done.err.count("\n") == 1
