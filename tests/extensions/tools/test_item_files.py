"""Texts of known items in the data files of a project."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.data.formats.exports import write_json, write_lines

from crowdlogic.data.folders import open_folder
from crowdlogic.extensions.tools.potato import find_texts


def test_the_first_file_in_which_every_item_has_a_text_is_taken(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", [{"id": "u", "text": "part"}])
    (tmp_path / "b.csv").write_text("id,body,source\nu,A long text,web\nv,Another one,web\n")
    write_lines(tmp_path / "c.jsonl", [{"id": "u", "text": "late"}, {"id": "v", "text": "late"}])
    (tmp_path / "d.json").write_text("{broken")

    folder = open_folder(tmp_path)

    assert find_texts(folder, ["d.json", *folder.names], {"u", "v"}) == {"u": "A long text", "v": "Another one"}
    assert find_texts(folder, folder.names, {"u", "w"}) == {}
    assert find_texts(folder, folder.names, set()) == {}


@pytest.mark.parametrize("number", [1, "1"])
def test_numbers_are_names_too(number: int | str, tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", [{"id": number, "content": "text", "longer": "a much longer field"}])

    assert find_texts(open_folder(tmp_path), ["a.json"], {"1"}) == {"1": "text"}
