from __future__ import annotations

import pytest

from crowdlogic.data.folders import (
    LIMIT_VARIABLE,
    UNPACKED_LIMIT,
    describe_size,
    parse_size,
    parsed_limit,
    require_parsable,
    require_unpackable,
    set_unpacked_limit,
    unpacked_limit,
)
from crowdlogic.errors import FormatError, OptionError


def test_a_small_file_may_unpack_to_the_limit_and_a_large_one_to_25_times_its_size() -> None:
    assert unpacked_limit(1_000) == UNPACKED_LIMIT == 512 << 20
    assert unpacked_limit(2**30) == 25 * 2**30


def test_a_limit_that_was_set_holds_for_files_of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(LIMIT_VARIABLE, "1G")

    set_unpacked_limit("3M")

    assert unpacked_limit(10) == unpacked_limit(2**40) == 3 * 2**20


@pytest.mark.parametrize(("text", "size"), [("12", 12), ("5k", 5 << 10), ("500M", 500 << 20), (" 8 GiB ", 8 << 30)])
def test_sizes_are_read_with_their_units(text: str, size: int) -> None:
    assert parse_size(text, "x") == size


@pytest.mark.parametrize("text", ["", "many", "-1", "1.5G", "G", "9" * 5000])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(OptionError, match=r"^--max-unpacked: .+ is not a size\. Write a number of bytes, such as 500M"):
        set_unpacked_limit(text)


def test_sizes_are_described_in_words() -> None:
    assert [describe_size(size) for size in (12, 2048, 20 << 20, 2 << 30)] == ["12 bytes", "2 KiB", "20 MiB", "2 GiB"]


def test_only_what_exceeds_the_limit_is_refused() -> None:
    require_unpackable(10, 10, "f")

    with pytest.raises(FormatError, match=r"^f: decompresses to more than 10 bytes"):
        require_unpackable(11, 10, "f")


def test_a_table_of_too_many_cells_or_columns_is_refused_with_the_option_that_raises_the_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    require_parsable("f", rows=100_000_000, columns=1)
    require_parsable("f", rows=10_000, columns=8_000)

    for rows, columns in ((1, 8_193), (20_000, 8_000)):
        with pytest.raises(
            FormatError, match=r"^f: .+ columns or fields.+raise the limit: crowdlogic --max-unpacked 4G"
        ):
            require_parsable("f", rows=rows, columns=columns)

    monkeypatch.setenv(LIMIT_VARIABLE, "4G")
    assert parsed_limit() == 16 << 30
    require_parsable("f", rows=20_000, columns=20_000)
