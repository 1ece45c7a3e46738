"""`crowdlogic aggregate` with every method and option."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.cli.conftest import CSV

from crowdlogic.data.frames import from_arrays, from_sequences
from crowdlogic.data.reading import read_table
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.registry import TRUTH_METHODS
from crowdlogic.store.estimates import load_estimate
from crowdlogic.truth.dawid_skene import DawidSkene
from crowdlogic.truth.methods import choose_method, needs_sequences

Run = Callable[..., Any]


def write_crowd(path: str, *, items: int = 60, annotators: int = 6, seed: int = 0) -> list[str]:
    """A table of labels in which annotator 0 knows everything and the last one nothing; the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(["x", "y"], size=items)
    right = np.linspace(1.0, 0.5, annotators)
    rows = [
        (f"i{i}", f"w{j}", truth[i] if rng.random() < right[j] else rng.choice(["x", "y"]))
        for i in range(items)
        for j in range(annotators)
    ]
    pl.DataFrame(rows, schema=["item", "annotator", "label"], orient="row").write_csv(path)
    return truth.tolist()


def write_sentences(path: str, *, count: int = 40) -> None:
    lines = []
    for s in range(count):
        tags = ["O", "B-X", "I-X", "O"] if s % 2 else ["B-Y", "O", "O", "O"]
        lines += [f"t{s}{i}\t{tag}\t{tag}\t{tag if s % 5 else 'I-Y'}" for i, tag in enumerate(tags)] + [""]
    Path(path).write_text("\n".join(lines) + "\n")


def test_the_help_names_every_method(run: Run) -> None:
    shown = re.sub(r"-\s+", "-", run("aggregate", "--help").out)  # a name may be broken at its hyphen

    assert set(TRUTH_METHODS) <= {word.strip(",.") for word in shown.split()}


@pytest.mark.parametrize("name", [name for name in TRUTH_METHODS if not needs_sequences(name)])
def test_every_method_answers_on_the_command_line(run: Run, name: str) -> None:
    truth = write_crowd("l.csv")

    done = run("aggregate", "l.csv", "-m", name, "-o", "o.csv")

    assert done.code == 0, done.err
    assert done.err.startswith(f"{name}: 60 items, 6 annotators")
    answers = pl.read_csv("o.csv")["label"].to_list()
    assert np.mean([a == b for a, b in zip(answers, truth, strict=True)]) > 0.8


@pytest.mark.parametrize("name", ["hmm-crowd", "bsc-seq"])
def test_sentences_are_recognised_by_their_shape(run: Run, name: str) -> None:
    write_sentences("a.conll")

    done = run("aggregate", "a.conll", "-m", name, "-o", "o.conll")

    assert done.code == 0, done.err
    assert "40 sentences, 160 tokens, 3 annotators" in done.err
    assert Path("o.conll").read_text().startswith("t00 B-Y\nt01 O\n")


def test_a_sequence_method_on_single_items_is_one_line(run: Run) -> None:
    write_crowd("l.csv")

    done = run("aggregate", "l.csv", "-m", "bsc-seq", "-o", "o.csv")

    assert done.code == 2
    assert done.err.startswith("crowdlogic: bsc-seq is for sequences: tags of the tokens of sentences.")
    assert not Path("o.csv").exists()


def test_without_a_method_the_pool_is_chosen_and_the_reason_is_said(run: Run) -> None:
    write_crowd("l.csv", items=40, annotators=4, seed=1)

    done = run("aggregate", "l.csv", "-o", "o.csv")

    first, second = done.err.splitlines()
    assert first == (
        "pool (chosen because on average it was more accurate than counting votes on public crowds and panels): 40 items, 4 annotators -> o.csv"
    )
    assert re.fullmatch(
        r"About \d+ of 40 labels are likely wrong: \d+ if annotators err independently, \d+ if they share their mistakes\.",
        second,
    )


def test_labelling_some_items_at_random_is_advised(run: Run) -> None:
    write_crowd("l.csv", items=400, annotators=4)

    done = run("aggregate", "l.csv", "-o", "o.csv")

    assert re.fullmatch(
        r"About \d+ of 400 labels are likely wrong: \d+ if annotators err independently, \d+ if they share their mistakes\. "
        r"Label 100 items at random and give them with --anchors to know it within 10 points\.",
        done.err.splitlines()[-1],
    )


def test_without_dependence_the_confidence_is_the_methods_own(run: Run) -> None:
    write_crowd("l.csv")

    done = run("aggregate", "l.csv", "-m", "dawid-skene", "-o", "o.csv", "--dependence", "none", "--save", "kept")
    run("aggregate", "l.csv", "-m", "dawid-skene", "-o", "stated.csv")

    own, stated = pl.read_csv("o.csv"), pl.read_csv("stated.csv")
    assert own["label"].to_list() == stated["label"].to_list()
    assert own["confidence"].mean() > stated["confidence"].mean()
    assert "likely wrong" not in done.err
    assert load_estimate("kept").calibration is None


def test_a_saved_estimate_keeps_what_its_confidence_rests_on(run: Run) -> None:
    write_crowd("l.csv")

    run("aggregate", "l.csv", "-o", "o.csv", "--save", "kept")

    calibration = load_estimate("kept").calibration
    assert calibration is not None
    assert (calibration.source, calibration.anchors) == ("eleven public data sets", 0)
    assert 0 < calibration.correlation < 1


def test_enough_anchors_fit_the_scale_of_this_data(run: Run) -> None:
    truth = write_crowd("l.csv", items=200)
    known = [f"i{i},{truth[i]}" for i in range(40)]
    Path("g.csv").write_text("item,label\n" + "\n".join(known) + "\n")

    done = run("aggregate", "l.csv", "-o", "o.csv", "--anchors", "g.csv")

    assert "judging by 40 items labelled at random" in done.err
    answers = pl.read_csv("o.csv").filter(pl.col("item").is_in([f"i{i}" for i in range(40)]))
    assert answers["confidence"].to_list() == [1.0] * 40


def test_the_rule_knows_sentences_and_many_classes() -> None:
    tags = ["O", "B-X", "I-X"] * 20
    few, many = (from_sequences([(s, "w", tags[:length]) for s in range(3)]) for length in (6, 60))
    classes = from_arrays(np.arange(9000), ["w"] * 9000, np.arange(9000) % 8000)

    assert choose_method(few)[0] == "hmm-crowd"
    assert choose_method(many)[0] == "bsc-seq"
    assert choose_method(classes.take(np.zeros(20000, dtype=int)))[0] == "mace"


def test_all_methods_are_compared_in_one_table(run: Run) -> None:
    truth = write_crowd("l.csv")
    pl.DataFrame({"item": [f"i{i}" for i in range(60)], "label": truth}).write_csv("g.csv")

    done = run("aggregate", "l.csv", "--methods", "all", "--gold", "g.csv", "--json")
    figures = json.loads(done.out)["methods"]
    shown = run("aggregate", "l.csv", "--methods", "majority,ibcc", "--gold", "g.csv").out

    assert list(figures) == [name for name in TRUTH_METHODS if not needs_sequences(name)]
    assert figures["dawid-skene"]["accuracy"] > 0.9
    assert figures["dawid-skene"]["agreement"]["dawid-skene"] == 1.0
    assert figures["ibcc"]["agreement"]["glad"] == figures["glad"]["agreement"]["ibcc"] <= 1.0
    assert all(one["seconds"] > 0 for one in figures.values())
    assert "ibcc" in shown
    assert "agrees with others" in shown
    assert f"{100 * figures['ibcc']['accuracy']:.2f}" in shown


def test_sentences_are_compared_by_both_schemes(run: Run) -> None:
    write_sentences("a.conll")
    run("aggregate", "a.conll", "-m", "majority", "--ties", "first", "-o", "g.conll")

    figures = json.loads(run("aggregate", "a.conll", "--methods", "all", "--gold", "g.conll", "--json").out)["methods"]

    assert list(figures) == list(TRUTH_METHODS)
    assert figures["bsc-seq"]["F1 conll"] == figures["bsc-seq"]["F1 strict"] == 1.0
    assert run("aggregate", "a.conll", "-m", "pool", "-o", "pool.conll").code == 0


def test_gold_scores_a_single_method_too(run: Run) -> None:
    truth = write_crowd("l.csv")
    pl.DataFrame({"item": [f"i{i}" for i in range(60)], "label": truth}).write_csv("g.csv")

    figures = json.loads(run("aggregate", "l.csv", "-m", "glad", "-o", "o.csv", "--gold", "g.csv", "--json").out)

    assert figures["method"] == "glad"
    assert figures["accuracy"] > 0.9


def test_annotators_are_written_as_a_table(run: Run) -> None:
    write_crowd("l.csv", items=200)

    run("aggregate", "l.csv", "-m", "dawid-skene", "-o", "o.csv", "--annotators", "a.csv")
    table = pl.read_csv("a.csv")

    assert table.columns == [
        "annotator",
        "verdict",
        "labels",
        "items",
        "reliability",
        "reliability_low",
        "reliability_high",
        "expected_accuracy",
        "informativeness",
        "confused_truth",
        "confused_label",
        "confused_count",
        "weight",
        "reason",
    ]
    assert table["labels"].to_list() == [200] * 6
    assert table["reliability"].arg_max() == 0
    assert table["informativeness"][0] > 0.8
    assert table["informativeness"][5] < 0.3
    assert table["verdict"].to_list()[0] == "ok"


def test_anchors_decide_their_items(run: Run) -> None:
    truth = write_crowd("l.csv")
    wrong = {"x": "y", "y": "x"}[truth[0]]
    Path("k.csv").write_text(f"item,label\ni0,{wrong}\n")

    run("aggregate", "l.csv", "-m", "dawid-skene", "-o", "o.csv", "--anchors", "k.csv")
    refused = run("aggregate", "l.csv", "-m", "pm", "-o", "p.csv", "--anchors", "k.csv")

    assert pl.read_csv("o.csv")["label"][0] == wrong
    assert (refused.code, refused.err.split(".")[0]) == (2, "crowdlogic: pm does not support anchors")


def test_anchors_of_sentences_are_tags(run: Run) -> None:
    write_sentences("a.conll")

    done = run("aggregate", "a.conll", "-m", "bsc-seq", "-o", "o.jsonl")
    first = json.loads(Path("o.jsonl").read_text().splitlines()[0])["item"]
    Path("k.jsonl").write_text(json.dumps({"item": first, "tags": ["O", "B-X", "O", "O"]}) + "\n")
    anchored = run("aggregate", "a.conll", "-m", "bsc-seq", "-o", "o.jsonl", "--anchors", "k.jsonl")

    assert (done.code, anchored.code) == (0, 0), anchored.err
    assert json.loads(Path("o.jsonl").read_text().splitlines()[0])["tags"] == ["O", "B-X", "O", "O"]


@pytest.mark.parametrize(("least", "sure"), [(0.75, ["u"]), (0.7500001, [])])
def test_an_answer_exactly_at_the_threshold_is_kept(run: Run, least: float, sure: list[str]) -> None:
    Path("l.csv").write_text("item,annotator,label\nu,a,x\nu,b,x\nu,c,x\nu,d,y\n")

    run("aggregate", "l.csv", "-m", "majority", "-o", "o.csv", "--min-confidence", least, "--dependence", "none")

    assert pl.read_csv("o.csv")["item"].to_list() == sure
    assert len(pl.read_csv("o.relabel.csv")) == 1 - len(sure)


def test_items_below_the_least_confidence_are_written_apart(run: Run) -> None:
    write_crowd("l.csv", annotators=3)

    done = run("aggregate", "l.csv", "-m", "dawid-skene", "-o", "o.csv", "--min-confidence", "0.9")
    sure, unsure = pl.read_csv("o.csv"), pl.read_csv("o.relabel.csv")

    assert sure["confidence"].min() >= 0.9 > unsure["confidence"].max()
    assert len(sure) + len(unsure) == 60
    assert f"-> o.csv ({len(sure)} items), o.relabel.csv ({len(unsure)} items to label again, below 0.9)" in done.err


def test_an_item_without_an_answer_is_to_be_labelled_again(run: Run) -> None:
    Path("l.csv").write_text("item,annotator,label\nu,a,x\nu,b,x\nv,a,\n")

    run("aggregate", "l.csv", "-m", "majority", "-o", "o.csv", "--min-confidence", "0.5")

    assert pl.read_csv("o.csv")["item"].to_list() == ["u"]
    assert pl.read_csv("o.relabel.csv")["item"].to_list() == ["v"]


def test_a_sentence_is_as_sure_as_its_least_sure_token(run: Run) -> None:
    write_sentences("a.conll")

    run("aggregate", "a.conll", "-m", "majority", "--ties", "first", "-o", "o.jsonl", "--min-confidence", "0.9")
    sure, unsure = (Path(name).read_text().splitlines() for name in ("o.jsonl", "o.relabel.jsonl"))

    assert (len(sure), len(unsure)) == (32, 8)
    assert all(min(json.loads(line)["confidence"]) >= 0.9 for line in sure)


@pytest.mark.extension("compat")
@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["-"], "Say where to write with -o FILE, or compare methods with --methods all.\n"),
        (
            ["l.csv", "-o", "o.csv", "--methods", "all"],
            "-o cannot be combined with --methods, which shows a comparison and writes nothing. Name one method instead: -m METHOD.\n",
        ),
        (
            ["l.csv", "--methods", "glda"],
            "No truth method is called 'glda'. Did you mean 'glad'? There are pool, ensemble, majority, wawa, dawid-skene, one-coin, ibcc, ebcc, glad, mace, pm, catd, hmm-crowd, bsc-seq, zero-based-skill, kos, m-msr.\n",
        ),
        (
            ["l.csv", "-m", "ibcc", "--ties", "first", "-o", "o.csv"],
            "--ties and --order require majority; ibcc weighs the labels, which rarely leaves ties.\n",
        ),
        (
            ["l.csv", "-m", "ibcc", "-o", "-", "--min-confidence", "0.5"],
            "--min-confidence writes two files; name one with -o FILE.\n",
        ),
        (
            ["l.csv", "-m", "ibcc", "-o", "o.csv", "--min-confidence", "2"],
            "--min-confidence must be a probability from 0 to 1, got 2.\n",
        ),
        (
            ["l.csv", "-m", "ibcc", "-o", "o.csv", "--annotators", "no/a.csv"],
            "no/a.csv: the folder no does not exist. Create it first.\n",
        ),
    ],
)
def test_options_that_do_not_go_together_are_one_line(run: Run, words: list[str], line: str) -> None:
    write_crowd("l.csv")

    done = run("aggregate", *words)

    assert (done.code, done.out, done.err) == (2, "", f"crowdlogic: {line}")
    assert [path.name for path in Path().iterdir()] == ["l.csv"]


class Hasty(DawidSkene):
    """A method that gives up after two iterations."""

    def __init__(self) -> None:
        super().__init__(convergence=Convergence(max_iterations=2))


def test_a_fit_that_did_not_converge_is_said(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    write_crowd("l.csv")
    monkeypatch.setitem(TRUTH_METHODS._places, "hasty", f"{__name__}:Hasty")

    done = run("aggregate", "l.csv", "-m", "hasty", "-o", "o.csv")

    assert done.code == 0
    assert done.err.splitlines()[0].startswith(
        "dawid-skene stopped after 2 iterations before it converged; the last one gained"
    )


def test_threads_and_a_checkpoint_change_nothing(run: Run) -> None:
    write_crowd("l.csv")

    run("aggregate", "l.csv", "-m", "ibcc", "-o", "one.csv")
    run("aggregate", "l.csv", "-m", "ibcc", "-o", "two.csv", "--threads", "2", "--checkpoint", "fit.safetensors")

    one, two = (pl.read_csv(name) for name in ("one.csv", "two.csv"))
    np.testing.assert_allclose(one["confidence"], two["confidence"], rtol=1e-6)
    assert not Path("fit.safetensors").exists()


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["-o", "l.csv"], "crowdlogic: l.csv: this command reads l.csv and would overwrite it. Name another output.\n"),
        (
            ["-o", "o.csv", "--annotators", "o.csv"],
            "crowdlogic: o.csv: this command would write it twice. Name two different outputs.\n",
        ),
        (
            ["-o", "o.csv", "--min-confidence", "0.9", "--annotators", "o.relabel.csv"],
            "crowdlogic: o.relabel.csv: this command would write it twice. Name two different outputs.\n",
        ),
        (
            ["--methods", "all", "--annotators", "a.csv"],
            "crowdlogic: --annotators cannot be combined with --methods, which shows a comparison and writes nothing. "
            "Name one method instead: -m METHOD.\n",
        ),
        (["--methods", ""], "crowdlogic: --methods: no method is named. Pass all, or names separated by commas.\n"),
        (
            ["-o", "-", "--json", "--gold", "g.csv"],
            "crowdlogic: --json and -o - both print to standard output. Write the result to a file with -o FILE.\n",
        ),
        (
            ["-o", "o.csv", "--min-confidence", "90"],
            "crowdlogic: --min-confidence must be a probability from 0 to 1, got 90.\n",
        ),
        (
            ["-o", "-", "--min-confidence", "0.9"],
            "crowdlogic: --min-confidence writes two files; name one with -o FILE.\n",
        ),
        (
            ["-o", "o.csv", "-m", "dawid-skene", "--order", "x,y"],
            "crowdlogic: --ties and --order require majority; dawid-skene weighs the labels, which rarely leaves ties.\n",
        ),
        (["-o", "o.csv", "--checkpoint", "."], "crowdlogic: .: is a folder. Name a file for the checkpoint.\n"),
        (
            ["-o", "o.csv", "--anchors", "g.csv"],
            "crowdlogic: g.csv: item 'zz' has no labels (1 such items). Leave them out.\n",
        ),
        (
            ["-o", "o.csv", "--gold", "z.csv"],
            "crowdlogic: z.csv: none of its items has labels (labelled are u, v, ...).\n",
        ),
    ],
)
def test_options_that_would_be_ignored_or_lose_data_are_refused(run: Run, words: list[str], line: str) -> None:
    labels = "item,annotator,label\nu,a,x\nu,b,x\nv,a,y\nv,b,x\n"
    Path("l.csv").write_text(labels)
    Path("g.csv").write_text("item,label\nu,x\nzz,y\n")
    Path("z.csv").write_text("item,label\nzz,y\n")

    done = run("aggregate", "l.csv", *words)

    assert (done.code, done.out, done.err) == (2, "", line)
    assert Path("l.csv").read_text() == labels
    assert sorted(p.name for p in Path().iterdir()) == ["g.csv", "l.csv", "z.csv"]


def test_with_anchors_a_method_is_chosen_that_can_use_them(run: Run) -> None:
    Path("l.csv").write_text("item,annotator,label\nu,a,x\nu,b,y\nv,a,y\nv,b,x\n")
    Path("g.csv").write_text("item,label\nu,y\n")

    done = run("aggregate", "l.csv", "-o", "o.csv", "--anchors", "g.csv")

    assert done.code == 0
    assert done.err.startswith(
        "pool (chosen because on average it was more accurate than counting votes on public crowds and panels): "
    )


@pytest.mark.parametrize(
    ("out", "apart"),
    [
        ("o.csv", "o.relabel.csv"),
        ("v1.2.csv", "v1.2.relabel.csv"),
        (".x.csv", ".x.relabel.csv"),
        ("o.csv.gz", "o.relabel.csv.gz"),
    ],
)
def test_items_to_label_again_go_beside_the_answers(run: Run, out: str, apart: str) -> None:
    Path("l.csv").write_text("item,annotator,label\nu,a,x\nu,b,x\nv,a,y\nv,b,x\n")

    run("aggregate", "l.csv", "-m", "majority", "-o", out, "--min-confidence", "0.9")

    assert {out, apart} < {p.name for p in Path().iterdir()}


def test_a_saved_estimate_is_whole_and_makes_a_report(run: Run) -> None:
    write_crowd("labels.csv")

    done = run("aggregate", "labels.csv", "-m", "dawid-skene", "-o", "answers.csv", "--save", "kept")

    assert done.code == 0
    kept = load_estimate("kept")
    table = pl.read_csv("answers.csv")
    assert kept.answer_names() == table["label"].to_list()
    assert kept.confusion is not None
    assert run("report", "kept", "--labels", "labels.csv", "-o", "page.html").code == 0
    assert "dawid-skene" in Path("page.html").read_text()


def test_a_folder_that_holds_something_is_not_saved_into(run: Run) -> None:
    write_crowd("labels.csv")
    Path("kept").mkdir()
    Path("kept/mine.txt").write_text("mine")

    done = run("aggregate", "labels.csv", "-o", "answers.csv", "--save", "kept")

    assert (done.code, Path("answers.csv").exists()) == (2, False)
    assert "--save: kept exists already" in done.err


def test_aggregate_writes_the_stable_table_and_says_one_line(run: Run) -> None:
    Path("l.csv").write_text(CSV)

    done = run("aggregate", "l.csv", "-m", "majority", "--ties", "first", "-o", "o.csv")

    assert (done.code, done.out, done.err) == (0, "", "majority: 2 items, 3 annotators, 1 tie -> o.csv\n")
    header, first, second = Path("o.csv").read_text().splitlines()
    assert header == "item,label,confidence,p_x,p_y"
    assert first.startswith("u,x,0.5")  # two votes of three, in a file whose labels agree no more than chance
    assert second == "v,x,0.5,0.5,0.5"


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
        "1 of 7 rows has no label and was left out.",
        "1 row repeats an item and annotator: the last label was used (duplicates = last).",
        "If empty cells are answers, such as 'none of these', name their class: --empty-label NAME (in Python "
        'empty_label="NAME").',
        "majority: 3 items, 3 annotators, 1 without labels and so without an answer -> o.csv",
    ]


def test_a_file_without_any_label_gives_a_file_without_answers(run: Run) -> None:
    Path("n.csv").write_text("item,annotator,label\n1,a,\n2,b,\n")

    done = run("aggregate", "n.csv", "-o", "o.csv")

    assert done.code == 0
    assert Path("o.csv").read_text() == "item,label,confidence\n1,,\n2,,\n"


def test_tags_go_to_standard_output_in_the_layout_asked_for(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"Ann B-PER\nran O\n")))

    assert run("aggregate", "-", "--format", "conll", "-o", "-", "--to", "conll").out == "Ann B-PER\nran O\n"


@pytest.mark.data
def test_the_papers_tie_order_gives_the_papers_majority_vote(run: Run, data_root: Path) -> None:
    ner = data_root / "ner_conll_mturk"
    order = "I-MISC,I-ORG,B-ORG,I-PER,B-PER,I-LOC,B-LOC,B-MISC,O"

    run("aggregate", ner / "train.answers.conll.gz", "--ties", "order", "--order", order, "-o", "mv.conll")

    ours = [line for line in Path("mv.conll").read_text().splitlines() if line]
    theirs = [line for line in (ner / "train.mv.conll").read_text().splitlines() if line.strip()]
    assert ours == theirs


def test_accuracies_of_aggregate_and_evaluate_agree_where_items_have_no_answer_or_a_tie(run: Run) -> None:
    """Of 5 items with gold, w and z have no answer; u is right, v wrong, and t is a tie."""
    Path("l.csv").write_text("item,annotator,label\nu,a,x\nu,b,x\nv,a,y\nt,a,x\nt,b,y\nw,a,\n")
    Path("g.csv").write_text("item,label\nu,x\nv,x\nt,x\nw,x\nz,y\n")

    summary = json.loads(run("aggregate", "l.csv", "-m", "majority", "-o", "o.csv", "--gold", "g.csv", "--json").out)
    compared = json.loads(run("aggregate", "l.csv", "--methods", "majority", "--gold", "g.csv", "--json").out)
    scores = json.loads(run("evaluate", "o.csv", "g.csv", "--json").out)

    tie_is_right = pl.read_csv("o.csv").filter(pl.col("item") == "t")["label"].item() == "x"
    right = 1 + int(tie_is_right)
    expected = {"coverage": 0.6, "accuracy": right / 3, "accuracy_all": right / 5}
    for found in (summary, compared["methods"]["majority"], scores):
        assert {name: found[name] for name in expected} == pytest.approx(expected)


@pytest.mark.data
@pytest.mark.parametrize("ties", ["random", "first", "soft", "order"])
def test_sentiment_majority_vote_scores_as_published(run: Run, data_root: Path, ties: str) -> None:
    home = data_root / "sentiment_mturk"

    order = ["--order", "1,0"] if ties == "order" else []
    run("aggregate", home / "labels.csv", "--ties", ties, *order, "-o", "mv.csv")
    plain = json.loads(run("evaluate", "mv.csv", home / "gold.csv", "--json").out)["accuracy"]
    half = json.loads(run("evaluate", "mv.csv", home / "gold.csv", "--json", "--ties", "half").out)[
        "accuracy_ties_half"
    ]

    assert 0.882 <= plain <= 0.890
    assert round(100 * half, 2) == 88.59


def test_items_to_label_again_come_with_their_text_and_votes(run: Run) -> None:
    Path("l.csv").write_text(CSV)
    Path("i.csv").write_text("item,text\nu,one\nv,two\n")

    done = run("aggregate", "l.csv", "-m", "majority", "-o", "t.csv", "--items", "i.csv", "--min-confidence", 0.51)

    relabel = pl.read_csv("t.relabel.csv")
    assert done.code == 0
    assert relabel.select("item", "text", "votes").rows() == [("v", "two", "a: y; b: x")]
    assert pl.read_csv("t.csv")["item"].to_list() == ["u"]


def test_a_corrected_list_of_doubtful_items_is_no_random_sample(run: Run) -> None:
    """Known truths of the least sure items must not tell how good all answers are."""
    wrong = {"a": 7, "b": 5, "c": 3}  # every seventh, fifth, third label
    rows = [f"i{n},{who},{'xy'[(n + (n % step == 0)) % 2]}" for n in range(160) for who, step in wrong.items()]
    Path("l.csv").write_text("item,annotator,label\n" + "\n".join(rows) + "\n")
    run("aggregate", "l.csv", "-o", "t.csv", "--min-confidence", 1)
    doubtful = pl.read_csv("t.relabel.csv").head(40)
    doubtful.write_csv("doubtful.csv")
    doubtful.drop("chosen").write_csv("sample.csv")

    listed = run("aggregate", "l.csv", "-o", "again.csv", "--anchors", "doubtful.csv")
    sampled = run("aggregate", "l.csv", "-o", "other.csv", "--anchors", "sample.csv")

    assert (listed.code, sampled.code) == (0, 0)
    assert "judging by 40 items labelled at random" in sampled.err
    assert "judging by" not in listed.err


def test_columns_named_for_the_labels_hold_for_the_gold_that_has_them(run: Run) -> None:
    Path("l.csv").write_text(CSV.replace("item,", "ticket,"))
    Path("g.csv").write_text("ticket,label\nu,x\nv,y\n")

    done = run("aggregate", "l.csv", "-o", "t.csv", "--column", "item=ticket", "--gold", "g.csv", "--anchors", "g.csv")

    assert done.code == 0
    assert "accuracy" in done.out


@pytest.mark.parametrize("words", [("--annotators", "p.conll"), ("--annotators", "no/p.csv"), ("--save", "t.csv/x")])
def test_nothing_is_written_when_one_of_several_outputs_cannot_be(run: Run, words: tuple[str, ...]) -> None:
    Path("l.csv").write_text(CSV)

    done = run("aggregate", "l.csv", "-o", "t.csv", *words)

    assert done.code == 2
    assert len(done.err.splitlines()) == 1
    assert [path.name for path in Path().iterdir()] == ["l.csv"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_full_disk_is_named_and_nothing_else_is_written(run: Run) -> None:
    Path("l.csv").write_text(CSV)

    done = run("aggregate", "l.csv", "-o", "/dev/full", "--to", "csv", "--annotators", "p.csv")

    assert done.code == 2
    assert done.err == "crowdlogic: /dev/full: No space left on device. Check the path and the disk.\n"
    assert [path.name for path in Path().iterdir()] == ["l.csv"]


@pytest.mark.parametrize(
    ("labels", "out"),
    [("l.csv", "l.truth.csv"), ("sub/l.v2.csv", "sub/l.v2.truth.csv"), ("l.tsv", "l.truth.tsv"), ("l.parquet", "l.truth.parquet")],
)  # fmt: skip
def test_without_out_the_answers_go_beside_the_labels_and_are_renewed(run: Run, labels: str, out: str) -> None:
    Path("sub").mkdir()
    Path("in.csv").write_text(CSV)
    run("convert", "in.csv", labels)

    first = run("aggregate", labels, "-m", "majority", "--ties", "first")
    second = run("aggregate", labels, "-m", "majority", "--ties", "first")

    assert (first.code, second.code) == (0, 0)
    assert f"-> {out}" in first.err
    assert read_labelled(out) == {"u": "x", "v": "x"}


def test_tags_in_csv_go_into_jsonl(run: Run) -> None:
    Path("l.csv").write_text("item,annotator,tags\ns,a,B-PER O\ns,b,B-PER O\n")

    assert run("aggregate", "l.csv", "-m", "majority").code == 0
    assert json.loads(Path("l.truth.jsonl").read_text())["tags"] == ["B-PER", "O"]


def test_a_file_that_aggregate_did_not_write_is_not_replaced(run: Run) -> None:
    Path("l.csv").write_text(CSV)
    Path("l.truth.csv").write_text("item,label\nu,x\n")

    done = run("aggregate", "l.csv")

    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "l.truth.csv: this file exists and was not written by aggregate. Name another file with -o FILE." in done.err
    assert Path("l.truth.csv").read_text() == "item,label\nu,x\n"


def test_a_missing_file_is_what_is_complained_about(run: Run) -> None:
    assert "nofile.csv: no such file" in run("aggregate", "nofile.csv").err


def test_texts_that_are_not_used_are_pointed_out(run: Run) -> None:
    Path("l.csv").write_text("item,annotator,label,text\nu,a,x,good\nu,b,x,good\nv,a,y,bad\n")
    Path("plain.csv").write_text(CSV)
    Path("items.csv").write_text("item,text\nu,good\nv,bad\n")

    assert "crowdlogic train --labels l.csv -o run" in run("aggregate", "l.csv", "-o", "t.csv").err
    beside = run("aggregate", "plain.csv", "--items", "items.csv", "-o", "t.csv")
    assert "crowdlogic train --labels plain.csv --items items.csv -o run" in beside.err
    assert "crowdlogic train" not in run("aggregate", "plain.csv", "-o", "t.csv").err


def read_labelled(path: str) -> dict[str, str]:
    """The answers of a file by item."""
    table = read_table(path)[0]
    return dict(zip(table["item"], table["label"], strict=True))
