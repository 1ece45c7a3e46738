"""Agreement, called from Python."""

from __future__ import annotations

from pathlib import Path

import pytest

from crowdlogic.workflows.agreement import AgreementOptions, measure_agreement


def test_coefficients_come_with_intervals_and_reasons(tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text("item,annotator,label\nu,a,x\nu,b,x\nu,c,y\nv,a,y\nv,b,x\n")
    (tmp_path / "one.csv").write_text("item,annotator,label\nu,a,x\n")

    found = measure_agreement(AgreementOptions(labels=str(tmp_path / "l.csv"), replicates=20, level=0.9))
    undefined = measure_agreement(AgreementOptions(labels=str(tmp_path / "one.csv"), replicates=20))

    assert found.figures()["observed"]["value"] == pytest.approx((1 / 3 + 0) / 2)
    assert found.table().columns == ["coefficient", "value", "from (90%)", "to"]
    assert [notice.split(" is undefined")[0] for notice in found.notices] == ["Cohen's kappa, mean of pairs"]
    assert "Krippendorff's alpha is undefined: no item has two labels." in undefined.notices
