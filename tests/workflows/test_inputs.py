"""How input files are read, one at a time and several at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from crowdlogic.errors import LabelError, OptionError
from crowdlogic.workflows.inputs import InputOptions, parse_columns, parse_names, read_vocabulary


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """Labels, items and tags whose columns have names of their own."""
    texts = {
        "labels.csv": "task,who,tag\nu,a,x\nu,b,y\n",
        "items.csv": "task,body\nu,good\n",
        "dev.csv": "item,text,tag\nv,bad,y\n",
        "gold.conll": "Ann B-PER\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return {name: str(tmp_path / name) for name in texts}


def test_pairs_and_names_are_read_from_texts() -> None:
    assert parse_columns(["item=task", "text=a=b"]) == {"item": "task", "text": "a=b"}
    assert parse_columns(None) == {}
    assert parse_names(" y, x ,,") == ("y", "x")
    assert parse_names(None) is None


@pytest.mark.parametrize("text", ["item", "item=", "=task"])
def test_a_text_that_is_no_pair_is_refused(text: str) -> None:
    with pytest.raises(OptionError) as caught:
        parse_columns([text])

    assert str(caught.value) == f"--column {text!r}: write role=name, such as item=task_number."


def test_a_column_goes_to_the_files_that_have_it(files: dict[str, str]) -> None:
    columns = {"item": "task", "annotator": "who", "label": "tag", "text": "body"}
    options = InputOptions(columns=columns, classes=("x", "y"))

    by_file = options.by_file(files["labels.csv"], files["items.csv"], None, files["dev.csv"], files["gold.conll"])

    assert by_file[files["labels.csv"]].columns == {"item": "task", "annotator": "who", "label": "tag"}
    assert by_file[files["items.csv"]].columns == {"item": "task", "text": "body"}
    assert by_file[files["dev.csv"]].columns == {"label": "tag"}
    assert by_file[files["gold.conll"]].columns == {}
    assert {one.classes for one in by_file.values()} == {("x", "y")}


def test_what_the_options_say_is_what_is_read(files: dict[str, str]) -> None:
    options = InputOptions(columns={"item": "task", "annotator": "who", "label": "tag"}, classes=("y", "x"))

    labels = options.read_crowd(files["labels.csv"]).labels

    assert labels.classes == ("y", "x")
    assert labels.items.to_list() == ["u"]
    assert labels.annotators.to_list() == ["a", "b"]


def test_a_format_goes_to_files_whose_suffix_does_not_tell(files: dict[str, str]) -> None:
    by_file = InputOptions(format="conll").by_file("labels.txt", "dev.txt", files["items.csv"])

    assert {path: one.format for path, one in by_file.items()} == {
        "labels.txt": "conll",
        "dev.txt": "conll",
        files["items.csv"]: None,
    }


def test_a_column_that_no_file_has_is_refused_with_the_nearest_one(files: dict[str, str]) -> None:
    with pytest.raises(OptionError) as caught:
        InputOptions(columns={"item": "tasks"}).by_file(files["labels.csv"], files["items.csv"])

    assert str(caught.value) == (
        f"--column item=tasks: no column 'tasks' in {files['items.csv']}, {files['labels.csv']}. Did you mean 'task'?"
    )


def test_a_single_file_is_read_as_it_is_told_to_be(files: dict[str, str]) -> None:
    options = InputOptions(columns={"item": "nothing"})

    assert options.by_file(files["labels.csv"]) == {files["labels.csv"]: options}


def test_facts_become_predicates(tmp_path: Path) -> None:
    (tmp_path / "near.csv").write_text("a,b\nu,v\n")

    vocabulary = read_vocabulary([f"Near={tmp_path / 'near.csv'}"])

    assert list(vocabulary.tables) == ["near"]  # names of predicates are matched whatever their case
    with pytest.raises(OptionError, match=r"--table 'Near': write Name=file, such as Similar=similar\.csv\."):
        read_vocabulary(["Near"])


def test_several_columns_may_be_named_at_once() -> None:
    assert parse_columns(["item=task,annotator=who", "label=yes, or no"]) == {
        "item": "task",
        "annotator": "who",
        "label": "yes, or no",
    }


def test_columns_that_no_list_knows_are_suggested_by_what_they_hold(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("doc,who,verdict\n1,a,x\n1,b,x\n2,a,y\n2,b,x\n3,a,y\n3,b,y\n")
    words = "--column item=doc --column label=verdict --column annotator=who"

    with pytest.raises(LabelError, match=f" Judging by their contents, these columns may fit: {words}$"):
        InputOptions().read_crowd(str(path))
    with pytest.raises(LabelError, match=r'columns=\{"annotator": "NAME"\}\)\.$'):
        InputOptions().read_crowd_plainly(str(path))

    named = InputOptions(columns={"item": "doc", "label": "verdict", "annotator": "who"})
    assert named.read_crowd(str(path)).labels.n_labels == 6


def test_a_mistyped_role_in_a_list_of_columns_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("ticket,who,answer,comment\n1,a,x,good\n")

    columns = parse_columns(["item=ticket,annotator=who,label=answer,txt=comment"])
    with pytest.raises(OptionError, match="txt") as refused:
        InputOptions(columns=columns).read_crowd(str(path))

    assert columns == {"item": "ticket", "annotator": "who", "label": "answer", "txt": "comment"}
    assert "text" in str(refused.value)
    assert parse_columns(["label=yes, or no=maybe"]) == {"label": "yes, or no=maybe"}
