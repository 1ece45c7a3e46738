"""Several truth methods side by side."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from crowdlogic.registry import TRUTH_METHODS
from crowdlogic.workflows.method_comparison import CompareOptions, compare_truth_methods

CSV = "item,annotator,label\nu,a,x\nu,b,x\nu,c,y\nv,a,y\nv,b,x\nw,a,\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder with labels and gold."""
    monkeypatch.chdir(tmp_path)
    Path("l.csv").write_text(CSV)
    Path("g.csv").write_text("item,label\nu,x\nv,y\n")


def test_methods_that_differ_from_the_default_on_many_answers_are_named() -> None:
    rng = np.random.default_rng(0)
    rows = [f"i{i},w{j},{'xy'[int(rng.integers(2))]}" for i in range(60) for j in range(3)]
    Path("noise.csv").write_text("item,annotator,label\n" + "\n".join(rows) + "\n")

    compared = compare_truth_methods(CompareOptions(labels="noise.csv", methods=["all"]))

    apart = {one.name: (1 - row[0]) for one, row in zip(compared.results, compared.agreement, strict=True)}
    assert compared.table().rows[0][0] == "pool (default)"
    assert compared.figures()["pool"]["default"] is True
    assert compared.notices[-1].startswith("Methods differ from pool on many answers: ")
    for name, share in apart.items():
        assert (f" {name} on " in compared.notices[-1].partition(":")[2]) == (share > 0.1)


def test_methods_side_by_side_agree_as_often_as_their_answers_do() -> None:
    compared = compare_truth_methods(CompareOptions(labels="l.csv", methods=["majority", "dawid-skene"], gold="g.csv"))

    first, second = (one.estimate for one in compared.results)
    both = first.answered & second.answered
    same = (first.answer[both] == second.answer[both]).mean()
    np.testing.assert_allclose(compared.agreement, [[1, same], [same, 1]], rtol=1e-12)
    table = compared.table()
    assert table.columns == [
        "method", "accuracy", "agrees with others", "with majority", "iterations", "converged", "seconds",
    ]  # fmt: skip
    assert [row[0] for row in table.rows] == list(compared.figures()) == ["majority", "dawid-skene"]
    assert table.rows[1][2] == f"{100 * same:.2f} %"


def test_a_method_of_another_package_that_is_not_there_is_left_out_with_a_notice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    everything = [one.name for one in compare_truth_methods(CompareOptions(labels="l.csv", methods=["all"])).results]
    monkeypatch.setitem(TRUTH_METHODS._places, "shares", "statistics:Shares")

    compared = compare_truth_methods(CompareOptions(labels="l.csv", methods=["all"]))

    assert [one.name for one in compared.results] == everything
    assert compared.notices[0] == (
        "The truth method 'shares' was added as statistics:Shares, but statistics has no Shares. Correct its place. "
        "It is left out."
    )
