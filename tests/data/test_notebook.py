from __future__ import annotations

import polars as pl

from crowdlogic.data.corpus import documents, sentences
from crowdlogic.data.frames import from_arrays, from_sequences
from crowdlogic.data.wording import LONGEST_CELL, SHOWN_COLUMNS, SHOWN_ROWS, html_table


def test_a_table_shows_its_first_rows_and_counts_the_others() -> None:
    html = html_table("Things", "20 things", pl.DataFrame({"n": range(20)}), 20)

    assert html.count("<tr>") == 1 + SHOWN_ROWS
    assert f"... {20 - SHOWN_ROWS} more rows" in html


def test_everything_from_data_is_escaped() -> None:
    html = html_table("T", "<b>", pl.DataFrame({"<script>": ["<img src=x>"]}), 1)

    assert "<script>" not in html
    assert "<img" not in html
    assert "&lt;img src=x&gt;" in html
    assert "&lt;b&gt;" in html


def test_long_cells_and_many_columns_are_cut() -> None:
    frame = pl.DataFrame({f"c{k}": ["x" * 500] for k in range(40)})

    html = html_table("T", "", frame, 1)

    assert html.count("<td>") == SHOWN_COLUMNS
    assert "<th>...</th>" in html
    assert "x" * LONGEST_CELL not in html


def test_missing_cells_are_empty_and_numbers_short() -> None:
    html = html_table("T", "", pl.DataFrame({"a": [1 / 3], "b": [None]}), 1)

    assert "<td>0.333</td><td></td>" in html


def test_labels_show_their_size_and_first_rows() -> None:
    html = from_arrays(["<u>"] * 30, [f"w{n}" for n in range(30)], ["x"] * 30)._repr_html_()

    assert "30 labels, 1 item, 30 annotators, 1 class" in html
    assert "&lt;u&gt;" in html
    assert "... 22 more rows" in html


def test_documents_and_sentences_show_themselves() -> None:
    texts = documents(["d"], ["a <i>text</i>"], gold=["x"])._repr_html_()
    tokens = sentences(["s"], [["New", "York"]])._repr_html_()

    assert "a &lt;i&gt;text&lt;/i&gt;" in texts
    assert "1 item, gold for 1" in texts
    assert "<td>York</td>" in tokens
    assert "1 sequence, 2 tokens" in tokens


def test_labels_of_sequences_have_a_row_per_token() -> None:
    frame = from_sequences([("s", "a", ["B-X", "O"]), ("s", "b", ["?", "O"])]).to_frame()

    assert frame.columns == ["item", "token", "annotator", "label"]
    assert frame.rows() == [("s", 0, "a", "B-X"), ("s", 1, "a", "O"), ("s", 1, "b", "O")]


def test_a_frame_of_labels_has_what_else_is_known() -> None:
    labels = from_arrays(["u", "v"], ["a", "b"], [1, 0], weight=[0.5, 2.0])

    assert labels.to_frame().to_dict(as_series=False) == {
        "item": ["u", "v"],
        "annotator": ["a", "b"],
        "label": [1, 0],
        "weight": [0.5, 2.0],
    }
    assert labels.to_pandas()["label"].tolist() == [1, 0]


def test_a_frame_of_a_corpus_has_text_and_gold() -> None:
    texts = documents(["d", "e"], ["one", "two"], gold=["x", None]).to_frame()
    tokens = sentences(["s", "t"], [["New", "York"], ["is"]], gold=[["B-X", "I-X"], ["O"]]).to_frame()

    assert texts.rows() == [("d", "one", "x"), ("e", "two", None)]
    assert tokens.columns == ["item", "token", "text", "label"]
    assert tokens.rows()[1:] == [("s", 1, "York", "I-X"), ("t", 0, "is", "O")]
