from __future__ import annotations

from pathlib import Path

import pytest

from crowdlogic.errors import (
    DataError,
    FormatError,
    OptionError,
    RuleError,
    did_you_mean,
    name_list,
    require_kind,
    shorten,
)


def test_hints_and_lists_for_messages() -> None:
    assert did_you_mean("Aftr", ["After", "Before"]) == " Did you mean 'After'?"
    assert did_you_mean("zzz", ["After"]) == ""
    assert name_list(range(12), most=3) == "0, 1, 2, ... (12 in all)"


def test_a_message_is_short_whatever_it_quotes() -> None:
    value = "x" * 1_000_000

    for kind in (DataError, FormatError, OptionError, RuleError):
        assert len(str(kind(f"f.csv, row 3: {value} is no label. Correct it."))) <= 1000
        assert str(kind(f"f.csv, row 3: {value} is no label. Correct it.")).startswith("f.csv, row 3: xxx")
        assert str(kind(f"f.csv, row 3: {value} is no label. Correct it.")).endswith("x is no label. Correct it.")
    assert shorten("a" * 1000) == "a" * 1000


def test_another_kind_than_expected_is_one_sentence() -> None:
    require_kind("run", (str, Path), "load_run", "Name the folder.")

    with pytest.raises(OptionError, match=r"^load_run: int cannot be used here\. Name the folder\.$"):
        require_kind(7, (str, Path), "load_run", "Name the folder.")
