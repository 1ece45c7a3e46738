from __future__ import annotations

from crowdlogic.errors import did_you_mean, name_list


def test_hints_and_lists_for_messages() -> None:
    assert did_you_mean("Aftr", ["After", "Before"]) == " Did you mean 'After'?"
    assert did_you_mean("zzz", ["After"]) == ""
    assert name_list(range(12), most=3) == "0, 1, 2, ... (12 in all)"
