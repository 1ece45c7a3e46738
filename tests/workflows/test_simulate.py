"""Simulations in files."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from crowdlogic.data import files
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

    with pytest.raises(OptionError, match=r"expected a folder, found a file\. Name a folder\."):
        simulate(SimulateOptions(kind=SimulationKind.labels, out=str(tmp_path / "sim"), items=5))


@pytest.mark.parametrize("occupied", [True, False])
def test_a_disk_that_fills_up_leaves_the_folder_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, occupied: bool
) -> None:
    folder = tmp_path / "sim"
    if occupied:
        folder.mkdir()
        (folder / "labels.csv").write_text("mine")
    made, written = files._make_draft, []

    def fill(target: Path) -> Path:
        written.append(target)
        if len(written) == 3:
            raise OSError(errno.ENOSPC, "No space left on device", str(target))
        return made(target)

    monkeypatch.setattr(files, "_make_draft", fill)
    with pytest.raises(OSError, match="No space left") as caught:
        simulate(SimulateOptions(kind=SimulationKind.labels, out=str(folder), items=5))

    assert str(caught.value.filename).startswith(str(folder))
    assert [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")] == ["sim", "sim/labels.csv"] * occupied
