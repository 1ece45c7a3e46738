from pathlib import Path

import pytest

from crowdlogic.errors import FormatError
from crowdlogic.extensions.paper.results import fill_section, format_table, write_section

PAGE = "a\n<!-- t -->\nold\n<!-- end t -->\nb"


def test_a_table_has_a_header_and_empty_cells_for_none() -> None:
    assert format_table(["a", "b"], [(1, None)]) == "| a | b |\n|---|---|\n| 1 |  |"


def test_a_section_is_replaced_between_its_marks() -> None:
    assert fill_section(PAGE, "t", "new") == "a\n<!-- t -->\n\nnew\n\n<!-- end t -->\nb"


def test_a_page_without_the_section_is_an_error() -> None:
    with pytest.raises(FormatError) as problem:
        fill_section(PAGE, "u", "new")

    assert str(problem.value) == "The page has no section 'u'. Insert <!-- u --> and <!-- end u --> where it belongs."


def test_a_section_is_written_into_the_file(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text(PAGE)

    write_section(path, "t", "± 1")

    assert path.read_text(encoding="utf-8") == fill_section(PAGE, "t", "± 1")
