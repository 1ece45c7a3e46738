from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from crowdlogic.data.reading import read_labels, read_table, write_table
from crowdlogic.data.simulate import simulate_sentiment
from crowdlogic.reporting.figures import BROWSERS
from crowdlogic.store.estimates import save_estimate
from crowdlogic.truth.methods import truth_method

Run = Callable[..., object]


@pytest.fixture
def estimate(run: Run) -> Path:
    """An estimate in a folder, with labels, items and gold beside it, as files."""
    run("simulate", "sentiment", "-o", "made", "--items", 60, "--seed", 1)
    save_estimate("kept", truth_method("dawid-skene").infer(read_labels("made/labels.csv")))
    return Path("kept")


def test_an_estimate_with_its_labels_becomes_a_page_and_figures(run: Run, estimate: Path) -> None:
    done = run(
        "report",
        estimate,
        "--labels",
        "made/labels.csv",
        "--items",
        "made/gold.csv",
        "-o",
        "r.html",
        "--compare",
        "majority,wawa",
    )

    figures = json.loads(Path("r.json").read_text())
    assert (done.code, done.out) == (0, "")
    assert done.err.endswith(" -> r.html (r.json beside it)\n")
    assert done.err.count("\n") == 1
    assert (figures["title"], figures["overview"]["n_items"], figures["overview"]["n_gold"]) == ("kept", 60, 60)
    assert {row["name"] for row in figures["comparison"]["methods"]} == {"majority", "wawa", "dawid-skene"}
    assert figures["labels"]["doubts"][0]["text"]
    assert Path("r.html").read_text().startswith("<!doctype html>")


def test_gold_can_come_by_itself(run: Run, estimate: Path) -> None:
    gold = pl.read_csv("made/gold.csv").select("item", pl.col("label"))[:7]
    gold.write_csv("some.csv")

    done = run("report", estimate, "--labels", "made/labels.csv", "--gold", "some.csv", "-o", "r.html")

    figures = json.loads(Path("r.json").read_text())
    assert done.code == 0
    assert figures["overview"]["n_gold"] == 7
    assert figures["labels"]["doubts"][0]["text"] is None


def test_plots_are_written_where_asked(run: Run, estimate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")  # no browser to draw PNG files with

    done = run("report", estimate, "--labels", "made/labels.csv", "-o", "r.html", "--figures", "plots")

    names = sorted(path.suffix for path in Path("plots").iterdir())
    assert done.code == 0
    assert names == [".svg"] * len(names)
    assert f"{len(names)} plots -> plots; no PNG: " in done.err
    assert len(names) > 3


@pytest.mark.heavy
@pytest.mark.skipif(not any(map(shutil.which, BROWSERS)), reason="there is no chromium; `make browser` installs it")
def test_plots_are_drawn_as_png_where_there_is_a_browser(run: Run, estimate: Path) -> None:
    done = run("report", estimate, "--labels", "made/labels.csv", "-o", "r.html", "--figures", "plots")

    svg, png = (sorted(Path("plots").glob(f"*.{kind}")) for kind in ("svg", "png"))
    assert done.code == 0
    assert done.err.endswith(f"{len(svg)} plots -> plots\n")
    assert [path.stem for path in png] == [path.stem for path in svg]
    for drawing, picture in zip(svg, png, strict=True):
        data = picture.read_bytes()
        width = float(re.search(r'width="([\d.]+)" height="[\d.]+" role="img">', drawing.read_text())[1])  # type: ignore[index]
        assert data.startswith(b"\x89PNG\r\n")
        assert int.from_bytes(data[16:20]) == pytest.approx(2 * width, abs=2)  # twice as sharp as the drawing
        assert len(set(data)) > 50


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            ["report", "kept", "-o", "r.html"],
            "crowdlogic: kept: an estimate does not contain the labels. Pass them: --labels FILE.\n",
        ),
        (
            ["report", "made", "-o", "r.html"],
            "crowdlogic: made: this folder contains neither a run nor an estimate. Name a file of labels, or a folder that `train` or `aggregate --save` wrote.\n",
        ),
        (
            ["report", "kept", "--labels", "made/labels.csv", "-o", "r.pdf"],
            "crowdlogic: r.pdf: a report is a page with its figures beside it. Name an .html file.\n",
        ),
        (
            ["report", "kept", "--labels", "made/labels.csv", "-o", "no/r.html"],
            "crowdlogic: no/r.html: the folder no does not exist. Create it first.\n",
        ),
        (
            ["report", "kept", "--labels", "made/labels.csv", "-o", "r.html", "--compare", ","],
            "crowdlogic: --compare: no method is named. Pass all, or names separated by commas.\n",
        ),
    ],
)
def test_bad_input_is_one_line_and_nothing_written(run: Run, estimate: Path, words: list[str], line: str) -> None:
    done = run(*words)

    assert (done.code, done.out, done.err) == (2, "", line)
    assert sorted(p.name for p in Path().iterdir()) == ["kept", "made"]


def test_columns_of_labels_and_of_items_are_each_found_in_their_own_file(run: Run) -> None:
    run("simulate", "sentiment", "-o", "made", "--items", 40, "--seed", 1)
    pl.read_csv("made/labels.csv").rename({"annotator": "agent", "label": "verdict"}).write_csv("labels.csv")
    pl.read_csv("made/gold.csv").rename({"text": "body"}).drop("label").write_csv("items.csv")
    columns = [word for pair in ("annotator=agent", "label=verdict", "text=body") for word in ("--column", pair)]
    run("aggregate", "labels.csv", "-o", "t.csv", "--save", "kept", *columns[:4])

    done = run("report", "kept", "--labels", "labels.csv", "--items", "items.csv", "-o", "r.html", *columns)

    assert (done.code, done.out) == (0, "")
    assert json.loads(Path("r.json").read_text())["labels"]["doubts"][0]["text"]


def test_labels_alone_become_a_report_in_one_go(run: Run) -> None:
    run("simulate", "sentiment", "-o", "made", "--items", 60, "--seed", 1)

    done = run("report", "made/labels.csv", "--items", "made/gold.csv", "-o", "r.html")
    chosen = run("aggregate", "made/labels.csv", "-o", "t.csv")

    figures = json.loads(Path("r.json").read_text())
    method = figures["overview"]["method"]
    assert done.code == 0
    assert any(line.startswith(f"{method} (chosen") for line in chosen.err.splitlines())
    assert any(line.startswith(f"made/labels.csv: aggregated by {method}") for line in done.err.splitlines())
    assert (figures["title"], figures["overview"]["n_items"], figures["overview"]["n_gold"]) == ("labels.csv", 60, 60)


def test_tagged_sentences_alone_become_a_report_too(run: Run) -> None:
    run("simulate", "ner", "-o", "made", "--items", 30, "--seed", 1)

    done = run("report", "made/labels.conll", "-o", "r.html")

    assert done.code == 0
    assert json.loads(Path("r.json").read_text())["overview"]["n_items"] == 30


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (
            ["no.csv"],
            "crowdlogic: no.csv: no such file. The folder contains: l.csv.\n",
        ),
        (
            ["l.csv", "--labels", "l.csv"],
            "crowdlogic: l.csv: this is already a file of labels. Leave --labels out, or name an estimate.\n",
        ),
        (["-"], "crowdlogic: A report needs a file of labels, not standard input.\n"),
        (
            ["nothing"],
            "crowdlogic: nothing: this folder contains neither a run nor an estimate. Name a file of labels, or a folder that `train` "
            "or `aggregate --save` wrote.\n",
        ),
    ],
)
def test_a_report_of_what_is_no_labels_is_one_line(run: Run, words: list[str], line: str) -> None:
    Path("l.csv").write_text("item,annotator,label\nu,a,x\nu,b,y\n")

    done = run("report", *words, "-o", "r.html")

    assert (done.code, done.out, done.err) == (2, "", line)
    assert not Path("r.html").exists()


def test_a_workbook_with_its_own_column_names_becomes_a_report_and_a_list_of_items_to_check(
    run: Run,
) -> None:
    made = simulate_sentiment(2, items=60, annotators=7, labels_per_item=3)
    texts = pl.DataFrame({"item": made.corpus.items, "body": made.corpus.texts})
    table = made.labels.to_frame().join(texts, on="item", how="left")
    write_table("tickets.xlsx", table.rename({"item": "ticket", "annotator": "agent", "label": "verdict"}))
    pairs = ("item=ticket", "annotator=agent", "label=verdict", "text=body")
    columns = [word for pair in pairs for word in ("--column", pair)]

    report = run("report", "tickets.xlsx", *columns)
    listed = run("aggregate", "tickets.xlsx", *columns, "-o", "truth.xlsx", "--min-confidence", 0.9)

    assert (report.code, listed.code) == (0, 0)
    assert Path("report.html").is_file()
    assert "Traceback" not in report.err + listed.err
    relabel = read_table("truth.relabel.xlsx")[0]
    assert relabel.columns[:5] == ["item", "text", "label", "confidence", "votes"]
    assert relabel["confidence"].cast(pl.Float64).is_sorted()


def test_known_truths_fit_the_report_of_labels(run: Run) -> None:
    """What the page advises, the command takes."""
    run("simulate", "sentiment", "-o", "made", "--items", 120, "--seed", 1)
    pl.read_csv("made/gold.csv").select("item", "label")[:40].write_csv("known.csv")

    done = run("report", "made/labels.csv", "--anchors", "known.csv", "-o", "r.html")
    plain = run("report", "made/labels.csv", "-o", "plain.html")

    assert (done.code, plain.code) == (0, 0)
    sources = [json.loads(Path(page).read_text())["overview"]["confidence_source"] for page in ("r.json", "plain.json")]
    assert sources[0] == "judging by 40 items labelled at random"
    assert "judging by" not in sources[1]


def test_known_truths_come_too_late_for_answers_that_are_made(run: Run, estimate: Path) -> None:
    done = run("report", estimate, "--labels", "made/labels.csv", "--anchors", "made/gold.csv", "-o", "r.html")

    assert (done.code, done.err) == (
        2,
        "crowdlogic: kept: --anchors applies to labels only, and this folder contains answers. Pass it to `aggregate`.\n",
    )
    assert not Path("r.html").exists()
