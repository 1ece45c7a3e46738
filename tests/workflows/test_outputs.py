"""Places to write to."""

from __future__ import annotations

from pathlib import Path

import pytest

from crowdlogic.errors import OptionError
from crowdlogic.workflows.inputs import answer_format, check_outputs, check_writable, relabel_path, require_folder


@pytest.mark.parametrize(
    ("out", "expected"),
    [("o.csv", "o.relabel.csv"), ("v1.2.csv", "v1.2.relabel.csv"), (".x.csv", ".x.relabel.csv"), ("a/o.csv.gz", "a/o.relabel.csv.gz")],
)  # fmt: skip
def test_items_to_label_again_go_beside_the_answers(out: str, expected: str) -> None:
    assert relabel_path(out) == Path(expected)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with a file l.csv, in which the test works."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "l.csv").write_text("item,annotator,label\n")
    return tmp_path


def test_an_output_beside_the_inputs_is_accepted(here: Path) -> None:
    check_outputs(("o.csv", None, "-", "-", here / "other.csv"), read=("l.csv", None, "-", "missing.csv"))
    check_outputs(("/dev/null", "/dev/null"), read=("/dev/null",))


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("path", ["l.csv", "./l.csv", "sub/../l.csv", "soft.csv", "hard.csv", "linked/l.csv"])
def test_an_input_is_not_overwritten_under_any_name(path: str) -> None:
    Path("sub").mkdir()
    Path("soft.csv").symlink_to("l.csv")
    Path("hard.csv").hardlink_to("l.csv")
    Path("linked").symlink_to(".", target_is_directory=True)

    for read, written in (("l.csv", path), (path, "l.csv")):
        with pytest.raises(OptionError, match=r"would overwrite it"):
            check_outputs((written,), read=(read,))


@pytest.mark.usefixtures("here")
def test_a_file_that_does_not_exist_yet_is_not_written_twice() -> None:
    Path("sub").mkdir()
    Path("soft").symlink_to("sub", target_is_directory=True)
    Path("dangling.csv").symlink_to("sub/o.csv")

    for again in ("sub/o.csv", "soft/o.csv", "sub/../sub/o.csv", "dangling.csv", Path("sub/o.csv").absolute()):
        with pytest.raises(OptionError, match=r"would write it twice"):
            check_outputs(("sub/o.csv", again))


@pytest.mark.usefixtures("here")
def test_files_of_a_folder_or_pattern_of_inputs_are_not_overwritten() -> None:
    Path("sub").mkdir()
    Path("sub/o.csv").touch()

    with pytest.raises(OptionError, match=r"sub/o\.csv: this command reads sub, which contains it"):
        check_outputs(("sub/o.csv",), read=("sub",))
    with pytest.raises(OptionError, match=r"would overwrite it"):
        check_outputs(("sub/new.csv",), read=("sub/*.csv",))


@pytest.mark.usefixtures("here")
def test_nothing_is_written_into_a_run_but_by_the_command_that_owns_it() -> None:
    Path("run/tables").mkdir(parents=True)
    Path("run/config.json").write_text('{"version": 3, "status": "done"}')
    Path("link").symlink_to("run", target_is_directory=True)
    Path("project").mkdir()
    Path("project/config.json").write_text('{"version": 3}')

    for path in ("run", "run/o.csv", "run/model.safetensors", "run/tables/o.csv", "link/o.csv"):
        with pytest.raises(OptionError, match=r"contains a run or a saved estimate"):
            check_outputs((path,))
    check_outputs(("run", "run/truth.csv"), own=Path("run"))
    check_outputs(("project/o.csv",))  # the config.json of another program


def test_a_place_that_cannot_be_written_to_is_refused(tmp_path: Path) -> None:
    check_writable(None)
    check_writable("-")
    check_writable(str(tmp_path / "o.csv"))
    with pytest.raises(OptionError, match=r"the folder .*no does not exist"):
        require_folder(tmp_path / "no" / "o.csv")
    with pytest.raises(OptionError, match=r"no format has the suffix '\.xyz'"):
        check_writable(str(tmp_path / "o.xyz"))


def test_answers_go_back_into_the_sources_own_format_only_with_its_usual_suffix(tmp_path: Path) -> None:
    tagged = tmp_path / "t.conll"
    tagged.write_text("Ann B-PER O\n")

    def chosen(out: str, named: str | None = None) -> str | None:
        return answer_format(str(tagged), out, read_as=None, named=named)

    assert chosen("o.conll") == "conll"
    assert chosen("o.conll.gz") == "conll"
    assert chosen("o.jsonl") is None
    assert chosen("o.bio") is None
    assert chosen("o.conll", named="conll2003") == "conll2003"
    assert chosen("-") is None
