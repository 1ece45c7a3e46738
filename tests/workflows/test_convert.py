"""Conversions, called from Python."""

from __future__ import annotations

from pathlib import Path

from crowdlogic.workflows.convert import ConvertOptions, convert_items, convert_labels
from crowdlogic.workflows.inputs import InputOptions


def test_labels_and_items_come_back_as_they_were(tmp_path: Path) -> None:
    text, tags = "item,annotator,label\nu,a,x\nu,b,y\nv,a,x\n", "Ann B-PER\nran O\n\nhi O\n"
    (tmp_path / "l.csv").write_text(text)
    (tmp_path / "g.conll").write_text(tags)

    for source, between, out, convert in (
        ("l.csv", "m.jsonl", "n.csv", convert_labels),
        ("g.conll", "g.jsonl", "h.conll", convert_items),
    ):
        convert(ConvertOptions(source=str(tmp_path / source), out=str(tmp_path / between)))
        convert(ConvertOptions(source=str(tmp_path / between), out=str(tmp_path / out)))
        assert (tmp_path / out).read_text() == (tmp_path / source).read_text()


def test_a_value_that_means_no_label_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "w.csv").write_text("item,a,b\nu,1,-1\nv,0,1\n")
    options = ConvertOptions(
        source=str(tmp_path / "w.csv"), out=str(tmp_path / "l.csv"), input=InputOptions(wide=True, abstain="-1")
    )

    labels = convert_labels(options)

    assert labels.n_labels == 3
    assert (tmp_path / "l.csv").read_text() == "item,annotator,label\nu,a,1\nv,a,0\nv,b,1\n"
