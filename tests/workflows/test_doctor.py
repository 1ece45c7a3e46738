"""What `doctor` finds in files: labels, labels that need an option, answers, items, and nothing readable."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.data.formats.exports import annotation, choice, task, write_json

from crowdlogic.data.formats.conll import Conll
from crowdlogic.data.frames import from_frame
from crowdlogic.data.reading import write_labels
from crowdlogic.errors import MissingDataError, OptionError
from crowdlogic.workflows.doctor import Diagnosis, DoctorOptions, diagnose
from crowdlogic.workflows.inputs import InputOptions


def look(folder: Path, content: str, name: str = "f.csv", **options: object) -> Diagnosis:
    path = folder / name
    path.write_text(content)
    return diagnose(DoctorOptions(file=str(path), input=InputOptions(**options)))  # type: ignore[arg-type]


def test_a_sound_file_has_no_problem_and_commands_to_begin_with(tmp_path: Path) -> None:
    found = look(tmp_path, "item,annotator,label\nu,a,x\nu,b,y\nv,a,\n")

    assert found.problem is None
    assert found.contents == "labels of documents by 2 annotators"
    assert found.notices[0] == "1 of 3 rows has no label and was left out."
    assert found.first[1].startswith(f"crowdlogic aggregate {tmp_path}/f.csv -o truth.csv")


def test_options_that_were_given_are_in_the_commands(tmp_path: Path) -> None:
    found = look(tmp_path, "i d,annotator,label\nu,a,x\nu,b,y\n", columns={"item": "i d"})

    assert found.first[0] == f"crowdlogic agreement {tmp_path}/f.csv --column 'item=i d'"


def test_duplicates_are_a_problem_with_a_remedy(tmp_path: Path) -> None:
    found = look(tmp_path, "item,annotator,label\nu,a,x\nu,a,y\nu,b,y\n")

    assert found.problem is not None
    assert "labels item 'u' again" in found.problem
    assert found.contents == "labels of documents by 2 annotators, if read with --duplicates last"
    assert found.first[0].endswith("f.csv --duplicates last")


def test_a_wide_table_is_recognised(tmp_path: Path) -> None:
    found = look(tmp_path, "item,ann,bob\nu,x,y\nv,y,y\n")

    assert found.contents == "labels of documents by 2 annotators, if read with --wide"
    assert found.facts is not None
    assert found.facts.labels == 4


@pytest.mark.parametrize(
    ("content", "contents"),
    [
        ("item,label\nu,x\nv,y\n", "one answer for each of 2 items, without annotators"),
        ("item,text\nu,one\nv,two\n", "2 items without labels by annotators"),
        ("", "empty"),
        ('item,annotator,label\nu,"a,x\n', "cannot be read as it is"),
    ],
    ids=["answers", "items", "empty", "damaged"],
)
def test_what_is_no_file_of_labels_is_named(tmp_path: Path, content: str, contents: str) -> None:
    found = look(tmp_path, content)

    assert found.problem is not None
    assert found.contents == contents
    assert found.facts is None
    assert found.first


def test_single_labels_are_pointed_to_training_and_label_issues(tmp_path: Path) -> None:
    alone = look(tmp_path, "item,annotator,label\nu,a,x\n")
    apart = look(tmp_path, "item,annotator,label\nu,a,x\nv,b,x\n")

    for found in (alone, apart):
        assert found.first[0].startswith("Every item has one label")
        assert found.first[1].startswith("crowdlogic train --labels")
        assert "find_label_issues" in found.first[2]


def test_a_file_that_is_not_there_and_standard_input_are_errors(tmp_path: Path) -> None:
    with pytest.raises(MissingDataError, match="no such file"):
        diagnose(DoctorOptions(file=str(tmp_path / "absent.csv")))
    with pytest.raises(OptionError, match="needs a file"):
        diagnose(DoctorOptions(file="-"))


@pytest.mark.extension("tools")
def test_an_export_says_what_was_left_out_and_comes_back_in_its_own_shape(tmp_path: Path) -> None:
    tasks = [
        task(1, "one", annotation("ann", choice("x")), annotation("bob", choice("y"))),
        task(2, "two", annotation("ann", choice("x"), was_cancelled=True)),
    ]
    path = write_json(tmp_path / "export.json", tasks)

    found = diagnose(DoctorOptions(file=str(path)))

    assert found.title == "Label Studio's export"
    assert [(one.count, one.what) for one in found.left_out] == [(1, "annotation")]
    assert found.first[1].startswith(f"crowdlogic aggregate {path} -o consensus.json")


@pytest.mark.extension("tools")
def test_a_folder_that_cannot_be_read_has_a_problem(tmp_path: Path) -> None:
    labels = from_frame({"item": ["u"], "annotator": ["a"], "label": ["x"]})
    write_labels(tmp_path / "d.hf", labels)
    (tmp_path / "d.hf" / "state.json").write_text("{}")

    found = diagnose(DoctorOptions(file=str(tmp_path / "d.hf")))

    assert found.contents == "cannot be read as it is"
    assert found.problem == f"{tmp_path}/d.hf: state.json lists no data files. Save the dataset again."


def test_the_columns_of_a_table_are_named_with_what_they_were_taken_for(tmp_path: Path) -> None:
    found = look(tmp_path, "nr,agent,verdict,body,shift\n1,a,x,hi,3\n1,b,x,hi,3\n2,a,y,ho,3\n", columns={"item": "nr"})

    assert found.columns == {"item": "nr", "annotator": "agent", "label": "verdict", "text": "body"}
    assert found.unused == ("shift",)
    assert found.tables()[0].title == "Which column is what"
    assert found.tables()[0].rows[0] == ("item", "nr")
    assert found.tables()[0].rows[-1] == ("not used", "shift")
    assert (found.figures()["columns"]["label"], found.figures()["unused_columns"]) == ("verdict", ["shift"])


def test_the_columns_of_a_wide_table_are_named(tmp_path: Path) -> None:
    found = look(tmp_path, "item,ann,bob\n1,x,x\n2,y,x\n", wide=True)

    assert (found.columns, found.unused) == ({"item": "item", "annotators": "ann, bob"}, ())


def functions_table(text: str = "text") -> str:
    """A wide table of three labelling functions with one class each; -1 where they abstain."""
    rows = [f'{i},"this is the text of item number {i}",{i % 2},{i % 2 or -1},{i % 2 - 1},-1' for i in range(30)]
    return "\n".join([f"item,{text},label,lf0,lf1,lf2", *rows, "30,another long text of an item,1,-1,-1,1", ""])


def test_labelling_functions_are_recognised_with_the_value_that_means_no_label(tmp_path: Path) -> None:
    found = look(tmp_path, functions_table())

    words = f"{tmp_path}/f.csv --wide --abstain -1"
    assert found.contents == "labels of documents by 3 labelling functions, if read with --wide --abstain -1"
    assert found.facts is not None
    assert (found.facts.classes, found.facts.functions, found.facts.gold) == (("0", "1"), 3, 31)
    assert found.columns == {"item": "item", "text": "text", "gold": "label", "annotators": "lf0, lf1, lf2"}
    assert found.first[0] == f"crowdlogic train --labels {words} -o run"


def test_a_text_column_of_any_name_is_found_in_a_wide_table(tmp_path: Path) -> None:
    found = look(tmp_path, functions_table("body_of_mail"))

    assert found.contents.endswith("if read with --column text=body_of_mail --wide --abstain -1")
    assert found.columns["text"] == "body_of_mail"


def test_an_abstention_that_is_read_as_a_class_is_a_problem(tmp_path: Path) -> None:
    found = look(tmp_path, functions_table(), wide=True)

    assert found.problem == "the cells '-1' are read as a class. Give --abstain -1."
    assert look(tmp_path, functions_table(), wide=True, abstain="-1").problem is None


def test_a_minus_one_that_people_chose_is_a_class(tmp_path: Path) -> None:
    rows = [f"{i},{i % 3 - 1},{(i + (i % 5 == 0)) % 3 - 1},{i % 3 - 1}" for i in range(30)]

    found = look(tmp_path, "\n".join(["item,ann,bob,eve", *rows, ""]))

    assert found.contents == "labels of documents by 3 annotators, if read with --wide"
    assert found.facts is not None
    assert found.facts.classes == ("-1", "0", "1")


def test_columns_of_unknown_names_are_guessed_by_what_they_hold(tmp_path: Path) -> None:
    rows = [f"V{i},W{j},{'ja' if i % 2 or j == 2 else 'nein'}" for i in range(12) for j in range(3)]
    found = look(tmp_path, "\n".join(["Vorgang,Wer,Urteil", *rows, ""]), name="tickets.csv")

    assert found.problem is not None
    assert found.first[0] == (
        f"Judging by the contents of the columns, this may work: crowdlogic doctor {tmp_path}/tickets.csv --column item=Vorgang "
        f"--column annotator=Wer --column label=Urteil"
    )


@pytest.mark.parametrize(
    ("names", "is_panel"), [(("gpt-4o", "claude-3"), True), (("ann", "bob"), False), (("ann", "gpt-4o"), False)]
)
def test_judges_are_sent_to_the_panel_command(names: tuple[str, str], is_panel: bool, tmp_path: Path) -> None:
    rows = "".join(f"i{i},{name},{'xy'[i % 2]}\n" for i in range(4) for name in names)

    found = look(tmp_path, f"item,annotator,label\n{rows}")

    assert (f"crowdlogic panel {tmp_path}/f.csv" in found.first) == is_panel


def test_a_file_beyond_a_limit_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reads = []
    monkeypatch.setattr(Conll, "read_corpus", lambda *_: reads.append(1))

    found = look(tmp_path, "t" + " O" * 9_000, name="f.conll")

    assert "9,001 columns or fields, but at most 8,192 are supported" in str(found.problem)
    assert (found.contents, reads) == ("cannot be read as it is", [])
