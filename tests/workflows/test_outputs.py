"""Places to write to."""

from __future__ import annotations

from pathlib import Path

import pytest

from crowdlogic.errors import OptionError
from crowdlogic.workflows.outputs import answer_format, check_distinct, check_writable, relabel_path, require_folder


@pytest.mark.parametrize(
    ("out", "expected"),
    [("o.csv", "o.relabel.csv"), ("v1.2.csv", "v1.2.relabel.csv"), (".x.csv", ".x.relabel.csv"), ("a/o.csv.gz", "a/o.relabel.csv.gz")],
)  # fmt: skip
def test_items_to_label_again_go_beside_the_answers(out: str, expected: str) -> None:
    assert relabel_path(out) == Path(expected)


def test_a_file_is_neither_written_twice_nor_over_an_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    check_distinct(read=("l.csv", None, "-"), written=("o.csv", None, "-"))
    for read, written in ((("l.csv",), ("./l.csv",)), ((), ("o.csv", str(tmp_path / "o.csv")))):
        with pytest.raises(OptionError, match=r"is used twice, and would be written over\. Name another file\."):
            check_distinct(read=read, written=written)


def test_a_place_that_cannot_be_written_to_is_refused(tmp_path: Path) -> None:
    check_writable(None)
    check_writable("-")
    check_writable(str(tmp_path / "o.csv"))
    with pytest.raises(OptionError, match=r"the folder .*no does not exist"):
        require_folder(tmp_path / "no" / "o.csv")
    with pytest.raises(OptionError, match=r"the suffix '\.xyz' says no format"):
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
