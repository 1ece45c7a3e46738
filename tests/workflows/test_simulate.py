"""Simulations in files."""

from __future__ import annotations

from pathlib import Path

import pytest

from crowdlogic.data.reading import read_corpus, read_labels
from crowdlogic.errors import OptionError
from crowdlogic.workflows.simulate import SimulateOptions, SimulationKind, simulate


@pytest.mark.parametrize("kind", SimulationKind)
def test_what_was_simulated_is_what_is_in_the_files(tmp_path: Path, kind: SimulationKind) -> None:
    made = simulate(SimulateOptions(kind=kind, out=str(tmp_path / "sim"), items=20, annotators=5, seed=1))

    suffix = "conll" if kind is SimulationKind.ner else "csv"
    labels = read_labels(tmp_path / "sim" / f"labels.{suffix}")
    assert (labels.n_labels, set(labels.annotators)) == (made.labels.n_labels, set(made.labels.annotators))
    assert "simulated" in (tmp_path / "sim" / "README.txt").read_text()
    if kind is not SimulationKind.labels:
        assert len(read_corpus(tmp_path / "sim" / f"gold.{suffix}").items) == 20


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "sim").write_text("")

    with pytest.raises(OptionError, match=r"is a file\. Name a folder\."):
        simulate(SimulateOptions(kind=SimulationKind.labels, out=str(tmp_path / "sim"), items=5))
