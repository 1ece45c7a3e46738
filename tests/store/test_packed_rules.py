"""Rules, facts and word lists travel with the run."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.rules.written_rules import project_rules, write_rules

from crowdlogic.errors import FormatError
from crowdlogic.rules.packing import pack_rules, unpack_rules
from crowdlogic.store.files import InvalidValueError
from crowdlogic.store.runs import PackedRules, get_rules, put_rules


def files_in(folder: Path) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]


def test_rules_mean_the_same_in_a_run_that_was_moved(tmp_path: Path) -> None:
    rules, vocabulary = write_rules(tmp_path / "given")
    before = project_rules(rules, vocabulary)
    (tmp_path / "run").mkdir()

    noted = json.loads(json.dumps(put_rules(tmp_path / "run", pack_rules(rules, vocabulary))[0]))
    shutil.rmtree(tmp_path / "given")
    (tmp_path / "run").rename(tmp_path / "elsewhere")

    after = project_rules(*unpack_rules(get_rules(tmp_path / "elsewhere", noted, files_in(tmp_path / "elsewhere"))))
    np.testing.assert_array_equal(after, before)
    assert sorted(f.name for f in (tmp_path / "elsewhere" / "words").iterdir()) == ["words-2.txt", "words.txt"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("include '{outside}'\n", "its rules cannot be read"),
        ("1: InList(S, '{outside}') -> Label(S, 'neg')\n", "which is not among its own"),
        (
            "1: InList(S, '../secret.txt') -> Label(S, 'neg')\n",
            "the word list '../secret.txt', which is not among its own",
        ),
        ("1: InList(S, 'words/../../secret.txt') -> Label(S, 'neg')\n", "which is not among its own"),
        ("$L = {{'../secret.txt'}}\n1: inlist(S, $L) -> Label(S, 'neg')\n", "which is not among its own"),
    ],
)
def test_nothing_outside_the_run_is_read(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "secret.txt").write_text("a secret\n")
    (tmp_path / "run" / "words").mkdir(parents=True)
    outside = tmp_path / "secret.txt"
    noted = {"source": "r", "text": text.format(outside=outside), "tables": {}, "functions": []}

    with pytest.raises(FormatError) as refused:
        unpack_rules(get_rules(tmp_path / "run", noted, files_in(tmp_path / "run")), where=str(tmp_path / "run"))

    assert str(refused.value).startswith(f"{tmp_path / 'run'}: the run is damaged (")
    assert said in str(refused.value)
    assert "a secret" not in str(refused.value)


def test_a_link_among_the_word_lists_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("a secret\n")
    (tmp_path / "run" / "words").mkdir(parents=True)
    (tmp_path / "run" / "words" / "link.txt").symlink_to(tmp_path / "secret.txt")
    noted = {"source": "r", "text": "", "tables": {}, "functions": []}

    with pytest.raises(FormatError, match=r"words/link\.txt: is a symbolic link"):
        get_rules(tmp_path / "run", noted, ["words/link.txt"])


@pytest.mark.parametrize("folder", ["words", "tables"])
def test_nothing_is_written_through_a_link(tmp_path: Path, folder: str) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / folder).symlink_to(tmp_path / "outside")

    with pytest.raises(FormatError, match=rf"{folder} in it is a symbolic link"):
        put_rules(tmp_path / "run", PACKED)

    assert list((tmp_path / "outside").iterdir()) == []


PACKED = PackedRules(
    text="1: Near(A, B) & InList(A, 'w.txt') -> Label(B, 'neg')\n",
    source="my.rules",
    tables={"Near": pl.DataFrame({"1": ["a"], "2": ["b"]})},
    table_sources={"Near": "near.csv"},
    word_lists={"w.txt": "née\n".encode(), "v.txt": b"\xff"},
    functions=("Shouting",),
)


def test_packed_rules_are_read_as_they_were_written(tmp_path: Path) -> None:
    found = get_rules(tmp_path, json.loads(json.dumps(put_rules(tmp_path, PACKED)[0])), files_in(tmp_path))

    for name in ("text", "source", "table_sources", "word_lists", "functions"):
        assert getattr(found, name) == getattr(PACKED, name)
    assert found.tables.keys() == {"Near"}
    assert found.tables["Near"].equals(PACKED.tables["Near"])


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"tables": {"../../secret": "x"}}, "'../../secret' is not a valid table name"),
        ({"tables": {"Near": 3}}, "rules: Near is 3"),
        ({"tables": 3}, "rules: tables is 3"),
        ({"functions": [3]}, "rules: functions is 3"),
        ({"functions": "Shouting"}, "rules: functions is 'Shouting'"),
        ({"text": None}, "rules: text is None"),
        ({"source": None}, "rules: source is None"),
    ],
)
def test_rules_that_do_not_fit_are_refused(tmp_path: Path, change: dict[str, Any], line: str) -> None:
    noted, _ = put_rules(tmp_path, PACKED)

    with pytest.raises(InvalidValueError) as refused:
        get_rules(tmp_path, noted | change, files_in(tmp_path))

    assert str(refused.value) == line
