from __future__ import annotations

from pathlib import Path

import pytest
from tests.extensions.networks.small_runs import train_reviews

from crowdlogic import Linear
from crowdlogic.errors import OptionError
from crowdlogic.extensions.networks.export import MODEL_FORMATS, export_run


def test_a_folder_that_is_there_is_left_alone(tmp_path: Path) -> None:
    train_reviews(tmp_path / "run", Linear())
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")

    with pytest.raises(OptionError, match=r"out: already exists\. Choose another folder, or remove it\."):
        export_run(tmp_path / "run", tmp_path / "out", to="onnx")

    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine.txt"]


def test_what_was_written_is_said(tmp_path: Path) -> None:
    train_reviews(tmp_path / "run", Linear())

    done = export_run(tmp_path / "run", tmp_path / "deep" / "out", to="onnx")

    assert done.files == ("manifest.json", "model.onnx", "predict.py")
    assert done.message == f"onnx: manifest.json, model.onnx, predict.py -> {tmp_path / 'deep' / 'out'}"


def test_an_unknown_format_is_refused_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"No format of a model is called 'onx'\. Did you mean 'onnx'\?"):
        export_run(tmp_path, tmp_path / "out", to="onx")
    assert MODEL_FORMATS.names() == ("onnx", "hf")
